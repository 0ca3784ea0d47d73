"""What a plan's version measures, as series know it: kinds and digests of identities."""

from collections.abc import Iterable

from benchweb.catalog import catalog
from benchweb.kept import keep
from benchweb.plans.expansion import expanded
from benchweb.plans.models import PlanVersion
from benchweb.results.ingest import identity_digest

Keys = frozenset[tuple[str, str]]

# Versions never change, so what was worked out once holds; a plan may have thousands of trials.
_MOST_KEPT = 500
_kept: dict[int, Keys] = {}


def keys_of_versions(version_ids: Iterable[int]) -> dict[int, Keys]:
    """Give the keys of versions by id; one query when one of them is new to this process."""
    wanted = set(version_ids)
    found = {pk: keys for pk in wanted if (keys := _kept.get(pk)) is not None}
    missing = wanted - found.keys()
    return found | (keys_of(PlanVersion.objects.filter(pk__in=missing)) if missing else {})


def keys_of(versions: Iterable[PlanVersion]) -> dict[int, Keys]:
    """Give the keys of versions by id."""
    return {version.pk: _keys(version) for version in versions}


def _keys(version: PlanVersion) -> Keys:
    keys = _kept.get(version.pk)
    if keys is None:
        kinds = catalog().kinds
        # A kind may have left the catalog since: its trials are in no series that could be drawn.
        steps = [step for step in version.steps if step["kind"] in kinds]
        keys = frozenset(
            (trial.kind, identity_digest(kinds[trial.kind].identity(trial.params)))
            for trial in expanded(steps, 1, "interleaved")
        )
        keep(_kept, version.pk, keys, most=_MOST_KEPT)
    return keys
