"""API tokens: make one and see its secret once, list one's own, revoke."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchweb.accounts import services
from benchweb.accounts.models import ApiToken
from benchweb.web.account.forms import TokenForm


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """List the reader's own tokens; on POST make one and show its secret, this once."""
    user = cast(User, request.user)
    form = TokenForm(request.POST) if request.method == "POST" else TokenForm()
    secret = ""
    if request.method == "POST" and form.is_valid():
        _token, secret = services.token_create(user=user, name=form.cleaned_data["name"])
        form = TokenForm()
    context = {
        "form": form,
        "secret": secret,
        "example": f'curl -H "Authorization: Bearer {secret}" {request.build_absolute_uri("/api/v1/runs")}',
        "tokens": ApiToken.objects.filter(user=user, revoked_at=None),
        "revoked": ApiToken.objects.filter(user=user).exclude(revoked_at=None),
    }
    return render(request, "account/tokens.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Ask, then revoke one of the reader's own tokens; somebody else's does not exist here."""
    user = cast(User, request.user)
    if request.method == "GET":
        token = get_object_or_404(ApiToken, pk=token_id, user=user, revoked_at=None)
        return render(request, "account/token_revoke.html", {"token": token, "back": reverse("web:tokens")})
    if not services.token_revoke(user=user, token_id=token_id):
        raise Http404(_("No such token"))
    messages.success(request, _("The token is revoked. Calls with it are refused from now on."))
    return redirect("web:tokens")
