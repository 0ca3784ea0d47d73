"""Say what speaks for and against a possible cause, in words that are the same on pages, in shares and in the API."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.common.formatting import quantity
from benchweb.regressions.alert_texts import signed_percent
from benchweb.regressions.why.evidence import Evidence, Why


def conclusion_text(why: Why) -> str:
    """Say what all of it comes to."""
    if why.is_unknown:
        return _("Too few runs before it: how far the pairs fell beside others can't be told yet.")
    looked_at = ngettext(
        "{count:,} change of facts, plan versions and notes in three months was looked at, on {pairs:,} pairs.",
        "{count:,} changes of facts, plan versions and notes in three months were looked at, on {pairs:,} pairs.",
        why.happened,
    ).format(count=why.happened, pairs=why.pairs)
    if not why.is_explained:
        return f"{_('Nothing that is known explains it.')} {looked_at}"
    return f"{_('What goes together with it need not be its cause.')} {looked_at}"


def evidence_text(evidence: Evidence, unit: str) -> str:
    """Say which pairs with it and without it got worse, and what it did at other times."""
    sentences = [f"{_exposed_text(evidence, unit)}; {_unexposed_text(evidence)}."]
    if evidence.elsewhere:
        sentences.append(_elsewhere_text(evidence))
    return " ".join(sentences)


def chance_text(evidence: Evidence, unit: str) -> str:
    """Say the difference to the pairs without it, and how often chance alone does as well."""
    parts = []
    if evidence.unexposed.pairs:
        parts.append(_("{change} beside the others").format(change=_change(evidence.change, unit)))
    if evidence.interval is not None:
        low, high = (_change(each, unit) for each in evidence.interval)
        parts.append(_("95 % interval {low} to {high}").format(low=low, high=high))
    parts.append(_("p < 0.001") if evidence.p < 0.001 else _("p = {p:.3f}").format(p=evidence.p))
    return " · ".join(parts)


def _exposed_text(evidence: Evidence, unit: str) -> str:
    fell, pairs = evidence.exposed.fell, evidence.exposed.pairs
    if fell == 0:
        return ngettext(
            "The {pairs:,} pair with it did not get worse", "None of {pairs:,} pairs with it got worse", pairs
        ).format(pairs=pairs)
    sentence = (
        ngettext("The {pairs:,} pair with it got worse", "All {pairs:,} pairs with it got worse", pairs)
        if fell == pairs
        else _("{fell:,} of {pairs:,} pairs with it got worse")
    )
    text = sentence.format(fell=fell, pairs=pairs)
    if evidence.extremes is None:
        return text
    low, high = (_change(each, unit) for each in evidence.extremes)
    by = low if low == high else _("{low} to {high}").format(low=low, high=high)
    return _("{sentence}, {by}").format(sentence=text, by=by)


def _unexposed_text(evidence: Evidence) -> str:
    fell, pairs = evidence.unexposed.fell, evidence.unexposed.pairs
    if pairs == 0:
        return _("there is no pair without it to compare with")
    if fell == 0:
        return ngettext(
            "the {pairs:,} pair without it did not", "none of {pairs:,} pairs without it did", pairs
        ).format(pairs=pairs)
    return _("{fell:,} of {pairs:,} pairs without it did too").format(fell=fell, pairs=pairs)


def _elsewhere_text(evidence: Evidence) -> str:
    if evidence.elsewhere_unchanged == evidence.elsewhere:
        return ngettext(
            "It came to {count:,} other host or time, and nothing got worse there.",
            "It came to {count:,} other hosts or times, and nothing got worse there.",
            evidence.elsewhere,
        ).format(count=evidence.elsewhere)
    return _("Of {count:,} other hosts or times that it came to, nothing got worse at {unchanged:,}.").format(
        count=evidence.elsewhere, unchanged=evidence.elsewhere_unchanged
    )


def _change(change: float, unit: str) -> str:
    """Say a share of the level in per cent, else a difference in its unit."""
    if not unit:
        return signed_percent(change)
    return f"{'−' if change < 0 else '+'}{quantity(abs(change), unit)}"
