"""The settings of the installation: one page for admins."""

from dataclasses import dataclass, replace
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.catalog.translation import reason_text
from benchweb.common.formatting import Quantity, quantity
from benchweb.notifications.channels import mail_test
from benchweb.ops import copies, sample
from benchweb.ops.backups.nightly import backup_state, is_nightly, is_tested
from benchweb.ops.removal.tiers import DETAILS, INTERVALS, Tier, TierLosses, losses
from benchweb.site.installation import is_copy_now
from benchweb.site.values import chosen, site_setting
from benchweb.web.shared.zones import zone_names
from benchweb.web.site.forms import DaysForm, SiteSettingsForm


@dataclass(frozen=True)
class TierPreview:
    """What keeping something of old runs for some days would remove, as a part of the page."""

    key: str
    title: str
    help: str
    url: str
    form: DaysForm
    losses: TierLosses | None = None

    @property
    def size(self) -> Quantity:
        """Return about how much space comes back."""
        return quantity(self.losses.size_bytes if self.losses else None, "B")


@needs(Permission.ADMIN)
@require_http_methods(["GET", "POST"])
def site_settings(request: HttpRequest) -> HttpResponse:
    """Show the settings in force; on POST store those that the environment leaves free."""
    form = SiteSettingsForm(request.POST) if request.method == "POST" else SiteSettingsForm.of_now()
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved. Every process follows within 5 seconds."))
        return redirect("web:site_settings")
    return render(request, "site/settings.html", _context(form))


@needs(Permission.ADMIN)
@require_GET
def intervals_preview(request: HttpRequest) -> HttpResponse:
    """Show what keeping intervals for some days would remove now; nothing is removed by it."""
    return _preview_answer(request, _intervals(DaysForm(request.GET, auto_id="intervals_%s")), INTERVALS)


@needs(Permission.ADMIN)
@require_GET
def details_preview(request: HttpRequest) -> HttpResponse:
    """Show what keeping details for some days would remove now; nothing is removed by it."""
    return _preview_answer(request, _details(DaysForm(request.GET, auto_id="details_%s")), DETAILS)


def _preview_answer(request: HttpRequest, preview: TierPreview, tier: Tier) -> HttpResponse:
    if preview.form.is_valid():
        preview = replace(preview, losses=losses(tier, preview.form.cleaned_data["days"]))
    if request.headers.get("HX-Request"):
        return render(request, "site/partials/tier_answer.html", {"preview": preview})
    context = _context(SiteSettingsForm.of_now())
    context["previews"] = [preview if each.key == preview.key else each for each in context["previews"]]
    return render(request, "site/settings.html", context)


def _intervals(form: DaysForm) -> TierPreview:
    text = _("The course of each trial takes most of the space. Figures and histograms stay for ever.")
    return TierPreview("intervals", _("Intervals"), text, reverse("web:intervals_preview"), form)


def _details(form: DaysForm) -> TierPreview:
    text = _(
        "What engines told beside figures: flows, counters, the evidence of limits, intervals, and the raw result. "
        "Figures and histograms stay for ever."
    )
    return TierPreview("details", _("Details"), text, reverse("web:details_preview"), form)


@needs(Permission.ADMIN)
@require_POST
def mail_test_send(request: HttpRequest) -> HttpResponse:
    """Mail the reader by the stored server, and show what that one answered within ten seconds."""
    # Saved a moment ago, perhaps by another process.
    chosen.read_now()
    to = cast(User, request.user).email
    answer = mail_test(to=to) if to else None
    context = {"answer": answer, "error": reason_text(answer.error) if answer else "", "to": to}
    if request.headers.get("HX-Request"):
        return render(request, "site/partials/mail_answer.html", context)
    return render(request, "site/settings.html", _context(SiteSettingsForm.of_now()) | context)


@needs(Permission.ADMIN)
@require_POST
def original_make(request: HttpRequest) -> HttpResponse:
    """Let a copy be the original from now on."""
    if is_copy_now():
        copies.original_make()
        messages.success(request, _("This is the original now: it measures, and sends messages."))
    else:
        messages.info(request, _("This is the original already."))
    return redirect("web:site_settings")


@needs(Permission.ADMIN)
@require_POST
def sample_make(request: HttpRequest) -> HttpResponse:
    """Have the sample environment made; a second one isn't."""
    if sample.request():
        messages.success(request, _("The sample is being made: it is there in a minute or two."))
    else:
        messages.error(request, _("No worker can be reached: try again later."))
    return redirect("web:site_settings")


@needs(Permission.ADMIN)
@require_POST
def sample_remove(request: HttpRequest) -> HttpResponse:
    """Remove all that is made up; what is more than a sample only a command removes."""
    data = sample.there()
    if data and not data.is_removable:
        messages.error(request, _("There is more than a sample: manage.py sample --remove removes it."))
    else:
        runs = sample.remove()
        told = ngettext(
            "The sample is removed, with its {runs} run.", "The sample is removed, with its {runs} runs.", runs
        )
        messages.success(request, told.format(runs=f"{runs:,}"))
    return redirect("web:overview")


def _context(form: SiteSettingsForm) -> dict[str, Any]:
    backups = backup_state()
    return {
        "form": form,
        "has_mail": bool(site_setting("EMAIL_HOST")),
        "suggestions": {"zones": zone_names()},
        "sample": sample.there(),
        "previews": [
            _intervals(DaysForm(initial={"days": site_setting("INTERVAL_DAYS") or 90}, auto_id="intervals_%s")),
            _details(DaysForm(initial={"days": site_setting("DETAIL_DAYS") or 365}, auto_id="details_%s")),
        ],
        "backups": backups,
        "backup_size": quantity(backups.made.size_bytes if backups.made else None, "B"),
        "is_nightly": is_nightly(),
        "is_tested": is_tested(),
        "backup_folder": settings.BACKUP_DIR,
        "backups_kept": settings.BACKUP_KEEP,
    }
