"""The forms of a sensitivity: all of it when it is added, its two values later."""

from typing import Any, Self

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.catalog import catalog
from benchweb.hosts.models import Environment
from benchweb.plans.models import Plan
from benchweb.regressions.deciding import LARGEST_FLOOR_RATIO, LEAST_NOISE_TIMES, MOST_NOISE_TIMES
from benchweb.regressions.judging.sensitivity import SeriesSensitivity as Usual
from benchweb.regressions.judging.watched import watched_metric
from benchweb.regressions.models import Sensitivity
from benchweb.regressions.thresholds.rules import RATIO, limit_read
from benchweb.regressions.thresholds.sensitivities import SensitivityScope
from benchweb.regressions.transitions import AlertError
from benchweb.statistics.deciding import LEAST_CHANGE_RATIO
from benchweb.web.shared.forms import PageForm, text_field


class SensitivityChangeForm(PageForm):
    """What may change of a sensitivity that there is."""

    floor_ratio = text_field(gettext_lazy("Smallest change"), max_length=40, placeholder="5 %")
    noise_times = forms.FloatField(
        label=gettext_lazy("Noise multiple"),
        required=False,
        min_value=LEAST_NOISE_TIMES,
        max_value=MOST_NOISE_TIMES,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        usual = Usual()
        self.fields["floor_ratio"].help_text = _(
            "Smaller changes don't alert. From {least} to {most}. Empty for the default: {usual}, and {suspect} for a "
            "single run to be measured again."
        ).format(
            least=share_text(LEAST_CHANGE_RATIO),
            most=share_text(LARGEST_FLOOR_RATIO),
            usual=share_text(usual.floor_ratio),
            suspect=share_text(usual.suspect_floor_ratio),
        )
        self.fields["noise_times"].help_text = _(
            "How many times its usual noise a run must be off to be measured again, from {least:g} to {most:g}. Empty "
            "for the default, {usual:g}."
        ).format(least=LEAST_NOISE_TIMES, most=MOST_NOISE_TIMES, usual=usual.noise_times)

    @classmethod
    def of(cls, sensitivity: Sensitivity) -> Self:
        """Return the form with a sensitivity's values."""
        floor = "" if sensitivity.floor_ratio is None else share_text(sensitivity.floor_ratio)
        return cls(initial={"floor_ratio": floor, "noise_times": sensitivity.noise_times})

    def values(self) -> dict[str, Any]:
        """Return what it says, for the service."""
        return {name: self.cleaned_data[name] for name in ("floor_ratio", "noise_times")}

    def clean_floor_ratio(self) -> float | None:
        """Return the share that is written, such as 5 %; None for none."""
        text = self.cleaned_data["floor_ratio"]
        if not text:
            return None
        try:
            ratio = limit_read(text, RATIO)
        except AlertError:
            raise ValidationError(_("Enter a share of the level with %, such as 5 %.")) from None
        if not LEAST_CHANGE_RATIO <= ratio <= LARGEST_FLOOR_RATIO:
            bounds = {"least": share_text(LEAST_CHANGE_RATIO), "most": share_text(LARGEST_FLOOR_RATIO)}
            raise ValidationError(_("Enter a share from {least} to {most}.").format(**bounds))
        return ratio


class SensitivityForm(SensitivityChangeForm):
    """All of a sensitivity."""

    field_order = ("plan", "environment", "kind", "metric", "floor_ratio", "noise_times")
    plan = forms.ModelChoiceField(
        label=gettext_lazy("Plan"),
        queryset=Plan.objects.filter(archived_at=None),
        required=False,
        empty_label=gettext_lazy("all plans"),
    )
    environment = forms.ModelChoiceField(
        label=gettext_lazy("Environment"),
        queryset=Environment.objects.filter(archived_at=None),
        required=False,
        empty_label=gettext_lazy("all environments"),
    )
    kind = forms.ChoiceField(label=gettext_lazy("Test kind"), required=False)
    metric = forms.ChoiceField(label=gettext_lazy("Metric"), required=False)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        kinds = [(kind.name, kind.label) for kind in catalog().kinds.values()]
        self.fields["kind"].choices = [("", _("all kinds")), *kinds]  # type: ignore[attr-defined]
        self.fields["metric"].choices = [("", _("all metrics")), *_metrics()]  # type: ignore[attr-defined]

    def scope(self) -> SensitivityScope:
        """Return what it is said of, for the service."""
        return SensitivityScope(**{name: self.cleaned_data[name] for name in ("plan", "environment", "kind", "metric")})


def share_text(ratio: float) -> str:
    """Return a share as people write it: 0.5 %."""
    return f"{ratio * 100:.12g} %"


def _metrics() -> list[tuple[str, str]]:
    """Return the metrics that are judged, of any kind."""
    judged = {key for kind in catalog().kinds.values() for key in kind.metrics if watched_metric(kind.name, key)}
    return [(metric.key, metric.label) for metric in catalog().metrics.values() if metric.key in judged]
