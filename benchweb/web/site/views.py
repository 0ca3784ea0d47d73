"""The settings of the installation: one page for admins."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.site.values import site_settings_save
from benchweb.web.shared.zones import zone_names
from benchweb.web.site.forms import SiteSettingsForm


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def site_settings(request: HttpRequest) -> HttpResponse:
    """Show the settings in force; on POST store those that the environment leaves free."""
    form = SiteSettingsForm(request.POST) if request.method == "POST" else SiteSettingsForm.of_now()
    if request.method == "POST" and form.is_valid():
        site_settings_save(form.values())
        messages.success(request, _("Saved. Every process follows within 5 seconds."))
        return redirect("web:site_settings")
    context = {
        "form": form,
        "mail_server": f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}" if settings.EMAIL_HOST else "",
        "mail_from": settings.DEFAULT_FROM_EMAIL,
        "suggestions": {"zones": zone_names()},
    }
    return render(request, "site/settings.html", context)
