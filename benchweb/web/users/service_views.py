"""Service accounts: list them and add one; roles, teams and deactivation are those of any user."""

from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchweb.accounts.permissions import Permission, with_grants
from benchweb.accounts.roles.grants import RoleError
from benchweb.accounts.roles.needs import needs
from benchweb.accounts.roles.service_accounts import service_account_create, service_accounts
from benchweb.web.access.once import once
from benchweb.web.users.forms import ServiceForm
from benchweb.web.users.page import user_rows

# More than anybody reads; those beyond are found by their names in the audit log and on the page of all tokens.
_MOST_SHOWN = 500


@needs(Permission.ADMIN)
@once
@require_http_methods(["GET", "POST"])
def service_list(request: HttpRequest) -> HttpResponse:
    """List service accounts; on POST add one and lead on to its tokens."""
    form = ServiceForm(request.POST) if request.method == "POST" else ServiceForm()
    if request.method == "POST" and form.is_valid():
        environment = form.cleaned_data["environment"]
        try:
            user = service_account_create(
                name=form.cleaned_data["name"],
                role=form.cleaned_data["role"],
                environment_id=environment.pk if environment else None,
            )
        except RoleError as error:
            form.refuse(error.field, error.message)
        else:
            messages.success(request, _("Added: {name}. Create a token for its script.").format(name=user.username))
            return redirect(f"{reverse('web:tokens')}?service={user.pk}")
    in_use = Q(api_tokens__revoked_at=None)
    accounts = service_accounts().annotate(tokens=Count("api_tokens", in_use), used_at=Max("api_tokens__last_used_at"))
    rows = user_rows(list(with_grants(accounts).prefetch_related("teams")[:_MOST_SHOWN]))
    return render(request, "users/services.html", {"form": form, "rows": rows})
