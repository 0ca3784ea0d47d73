"""Say what speaks for and against a possible cause, in words that are the same on pages, in shares and in the API."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchweb.common.formatting import quantity, signed_percent
from benchweb.regressions.why.evidence import Evidence, Why


def conclusion_text(why: Why) -> str:
    """Say what all of it comes to."""
    match why.unknown:
        case "unjudged":
            return _("Changes of this measure aren't judged, so its pairs aren't compared with others.")
        case "too_few":
            return _("Too few runs before it: how far these pairs moved can't be told.")
        case "no_fall":
            return _("Its pairs are no worse than in the runs before, so there is no fall to explain.")
    sentence = (
        _("What goes together with it need not be its cause.")
        if why.is_explained
        else _("Nothing that is known explains it.")
    )
    more = [_("There were more fact changes: the newest were weighed.")] if why.is_cut else []
    return " ".join([sentence, _looked_at(why), *more])


def evidence_text(evidence: Evidence, why: Why) -> str:
    """Say which pairs with it and without it got worse, and what it did at other times."""
    sentences = [f"{_exposed_text(evidence, why)}; {_unexposed_text(evidence)}."]
    if evidence.elsewhere:
        sentences.append(_elsewhere_text(evidence))
    return " ".join(sentences)


def chance_text(evidence: Evidence, why: Why) -> str:
    """Say the difference to the pairs without it, and how often chance alone does as well."""
    parts = []
    if evidence.unexposed.pairs:
        parts.append(_("{change} relative to the other pairs").format(change=_change(evidence.change, why)))
        if evidence.interval is not None:
            low, high = (_change(each, why) for each in evidence.interval)
            parts.append(_("95 % interval {low} to {high}").format(low=low, high=high))
    parts.append(_("p < 0.001") if evidence.p < 0.001 else _("p = {p:.3f}").format(p=evidence.p))
    return " · ".join(parts)


def _looked_at(why: Why) -> str:
    happened = ngettext(
        "{count:,} fact change, plan version, note, maintenance window or load of that time was weighed,",
        "{count:,} fact changes, plan versions, notes, maintenance windows and loads of that time were weighed,",
        why.happened,
    ).format(count=why.happened)
    pairs = ngettext("on {pairs:,} pair.", "on {pairs:,} pairs.", why.pairs).format(pairs=why.pairs)
    return f"{happened} {pairs}"


def _exposed_text(evidence: Evidence, why: Why) -> str:
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
    low, high = (_change(each, why) for each in evidence.extremes)
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
            "The {count:,} other time that it came, nothing got worse.",
            "The {count:,} other times that it came, nothing got worse.",
            evidence.elsewhere,
        ).format(count=evidence.elsewhere)
    return ngettext(
        "The {count:,} other time that it came, pairs got worse too.",
        "Of the {count:,} other times that it came, nothing got worse {unchanged:,} times.",
        evidence.elsewhere,
    ).format(count=evidence.elsewhere, unchanged=evidence.elsewhere_unchanged)


def _change(change: float, why: Why) -> str:
    """Say a share of the level in per cent, else a difference in its unit."""
    if why.is_share:
        return signed_percent(change)
    return f"{'−' if change < 0 else '+'}{quantity(abs(change), why.unit)}"
