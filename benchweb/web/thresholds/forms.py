"""The forms of a threshold: all of it when it is added, what may change later."""

from typing import Any, Self

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchweb.catalog import Metric, catalog
from benchweb.common.rows import row_id
from benchweb.hosts.models import Environment, Pair
from benchweb.hosts.pairs import pair_choices
from benchweb.plans.models import Plan
from benchweb.regressions.models import Alert, Threshold
from benchweb.regressions.thresholds.rules import (
    MOST_RUNS_IN_ROW,
    ThresholdValues,
    limit_read,
    limit_text,
    limit_unit,
)
from benchweb.regressions.transitions import AlertError
from benchweb.results.models import Series
from benchweb.web.shared.forms import PageForm, text_field
from benchweb.web.tags.show import params_text

# With more there is no list of pairs to choose from: a pair's own page or an alert names it.
MOST_PAIRS = 200
_SEPARATOR = ":"


class ThresholdChangeForm(PageForm):
    """What may change of a threshold that there is."""

    name = text_field(gettext_lazy("Name"), required=True, max_length=100)
    limit = text_field(gettext_lazy("Limit"), required=True, max_length=60)
    severity = forms.ChoiceField(
        label=gettext_lazy("Severity"), choices=Alert.Severity.choices, initial=Alert.Severity.WARNING
    )

    runs_in_row = forms.IntegerField(
        label=gettext_lazy("Runs in a row"),
        min_value=1,
        max_value=MOST_RUNS_IN_ROW,
        initial=1,
        required=False,
        help_text=gettext_lazy("So many must break the limit before it alerts, and keep it before the alert ends."),
    )

    @classmethod
    def of(cls, threshold: Threshold) -> Self:
        """Return the form with a threshold's values."""
        metric = catalog().metrics.get(threshold.metric)
        unit = limit_unit(threshold.relation, metric) if metric else ""
        limit = limit_text(threshold.limit, unit)
        values = {name: getattr(threshold, name) for name in ("name", "severity", "runs_in_row")}
        return cls(initial=values | {"limit": limit})

    def clean_runs_in_row(self) -> int:
        """Return how many runs; one where nothing is said."""
        return self.cleaned_data["runs_in_row"] or 1

    def limit_value(self, relation: str, metric: Metric) -> float:
        """Return the limit in its unit; raise AlertError where it can't be read."""
        return limit_read(self.cleaned_data["limit"], limit_unit(relation, metric))


class ThresholdForm(ThresholdChangeForm):
    """All of a threshold."""

    field_order = (
        "name",
        "figure",
        "test",
        "relation",
        "limit",
        "runs_in_row",
        "severity",
        "environment",
        "pair",
        "plan",
    )
    figure = forms.ChoiceField(label=gettext_lazy("Figure"))
    # Of the series where one came from: its test alone, such as one message size.
    test = forms.ChoiceField(label=gettext_lazy("Test"), required=False)
    series = forms.CharField(required=False, widget=forms.HiddenInput)
    relation = forms.ChoiceField(
        label=gettext_lazy("Alert when the median of a run is"), choices=Threshold.Relation.choices, initial="below"
    )
    environment = forms.ModelChoiceField(
        label=gettext_lazy("Environment"),
        queryset=Environment.objects.filter(archived_at=None),
        required=False,
        empty_label=gettext_lazy("all environments"),
    )
    pair = forms.ChoiceField(label=gettext_lazy("Pair"), required=False)
    plan = forms.ModelChoiceField(
        label=gettext_lazy("Plan"),
        queryset=Plan.objects.filter(archived_at=None),
        required=False,
        empty_label=gettext_lazy("all plans"),
    )

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        chosen = row_id(str(self.data.get("pair") or self.initial.get("pair") or "")) or 0
        pairs = [(str(pk), name) for pk, name in pair_choices(most=MOST_PAIRS, chosen=chosen)]
        self.fields["figure"].choices = _figures()  # type: ignore[attr-defined]
        self.fields["pair"].choices = [("", _("all pairs")), *pairs]  # type: ignore[attr-defined]
        self.series_from = _series(self.data.get("series") or self.initial.get("series"))
        if self.series_from is None:
            del self.fields["test"]
        else:
            test = params_text(self.series_from.kind, self.series_from.identity)
            self.fields["test"].choices = [(self.series_from.identity_digest, test), ("", _("all of this kind"))]  # type: ignore[attr-defined]
        self.fields["limit"].help_text = _("With its unit, such as 5 Gbit/s, 200 µs or 1 %; of a baseline a share.")
        if len(pairs) <= 1:
            self.fields["pair"].help_text = _("To choose one of many, begin on the pair's page or at an alert.")

    def clean_pair(self) -> Pair | None:
        """Return the pair that is chosen."""
        text = self.cleaned_data["pair"]
        pair = Pair.objects.filter(pk=row_id(text) or 0, archived_at=None).first() if text else None
        if text and pair is None:
            raise ValidationError(_("The pair has been archived: choose another."))
        return pair

    def refuse(self, field: str, message: str, url: str = "") -> None:
        """Show a refusal; kind and metric are one field."""
        super().refuse("figure" if field in ("kind", "metric") else field, message, url)

    def values(self) -> ThresholdValues:
        """Return what the form says, for the service; raise AlertError where the limit can't be read."""
        data = dict(self.cleaned_data)
        kind, _colon, metric = data.pop("figure").partition(_SEPARATOR)
        limit = self.limit_value(data["relation"], catalog().metrics[metric])
        data.pop("series")
        test = data.pop("test", "")
        if test and self.series_from is not None and self.series_from.kind != kind:
            raise AlertError("test", _("This test is of another kind: choose all of this kind, or that figure."))
        return ThresholdValues(**data | {"kind": kind, "metric": metric, "limit": limit, "identity_digest": test})


def figure_value(kind: str, metric: str) -> str:
    """Return the value of a figure among the choices; the kind's headline where the metric isn't one of its own."""
    known = catalog().kinds.get(kind)
    if known is None:
        return ""
    return _SEPARATOR.join([kind, metric if metric in known.metrics else known.headline])


def _series(text: Any) -> Series | None:
    return Series.objects.filter(pk=row_id(str(text or "")) or 0).first()


def _figures() -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (kind.label, [(figure_value(kind.name, metric.key), metric.label) for metric in kind.metrics.values()])
        for kind in catalog().kinds.values()
    ]
