"""Import a text: one transaction that makes a run with its trials, results and points, or nothing."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog.parts import TOOL
from benchweb.catalog.reasons import Reason
from benchweb.catalog.tool_reasons import tool_reason
from benchweb.common.storable import storable_text
from benchweb.hosts.models import Pair
from benchweb.imports.models import Import
from benchweb.imports.own_kinds import define, definitions
from benchweb.imports.own_rules import Definer, DefinitionForbidden, DefinitionRefused
from benchweb.imports.trials import ImportedTrial, Unusable, imported_plan_name, steps_of, summary, trials_of
from benchweb.imports.writing import run_write
from benchweb.plans.expansion import PlanError
from benchweb.plans.models import PlanVersion
from benchweb.plans.services import one_off_version, reported_version
from benchweb.toolformats.apart import read_apart
from benchweb.toolformats.plain_text import MAX_INFLATED_BYTES, still_wanted, text_of
from benchweb.toolformats.readings import ToolDocument, ToolFormatError

# What a refusal names, so that who pasted another tool's text sees why nothing was found.
TOOLS_READ = (
    "netperf, iperf 2, iperf3, wrk, wrk2, ab, hey, oha, ping, fping, mtr, sar, fio, mbw, STREAM, sysbench, sockperf, "
    "qperf, uperf, nuttcp, ntttcp, perftest, flent"
)
_LONGEST_QUOTE = 80


class ImportRefused(ValueError):
    """A text wasn't imported, for the reason in words; `existing` is the import that has it already."""

    def __init__(self, message: str, existing: Import | None = None) -> None:
        super().__init__(message)
        self.existing = existing


@dataclass(frozen=True)
class ImportPreview:
    """The readings of a text: what would become trials, what would not, and lines that weren't understood."""

    content: bytes
    document: ToolDocument
    trials: list[ImportedTrial]
    unusable: list[Unusable]

    @property
    def failed(self) -> list[ImportedTrial]:
        """Return the trials that are imported as failed: their tools said so, or were cut off."""
        return [trial for trial in self.trials if trial.error]

    @property
    def digest(self) -> str:
        """Return what the text is known by, as SHA-256."""
        return hashlib.sha256(self.content).hexdigest()


def preview(content: bytes, is_wanted: Callable[[], None] = still_wanted) -> ImportPreview:
    """Read a file without importing it; raise ToolFormatError for what can't be read at all."""
    [read] = previews([content], is_wanted)
    if isinstance(read, ToolFormatError):
        raise read
    return read


def previews(
    contents: Sequence[bytes], is_wanted: Callable[[], None] = still_wanted
) -> list[ImportPreview | ToolFormatError]:
    """Read the files of one request in a process of their own; `is_wanted` raises once nobody waits for them."""
    answers = read_apart(contents, is_wanted)
    return [
        answer if isinstance(answer, ToolFormatError) else ImportPreview(content, answer, *trials_of(answer))
        for content, answer in zip(contents, answers, strict=True)
    ]


def import_results(
    read: ImportPreview,
    *,
    pair: Pair,
    at: datetime | None = None,
    file_name: str = "",
    user: User | None = None,
    is_judged: bool = False,
) -> Import:
    """Import what was read on a pair, at a time that the caller or the text names; raise ImportRefused.

    Imported runs hold no hosts, and no change is looked for in them unless `is_judged`.
    """
    if not any(trial.metrics for trial in read.trials):
        raise ImportRefused(nothing_to_import(read))
    _refuse_again(pair, read.digest)
    now = timezone.now()
    # A clock without its zone may be ahead by hours: such a time isn't known.
    told = [reading.began_at for reading in read.document if reading.began_at and reading.began_at <= now]
    told_at = at or min(told, default=None)
    began_at = told_at or now
    if began_at > now:
        raise ImportRefused(_("{at} is in the future: when was it measured?").format(at=began_at.isoformat()))
    try:
        remark = "" if told_at else Reason("import_time_unknown", at=f"{began_at:%Y-%m-%d %H:%M} UTC")
        return _written(read, pair, began_at, file_name, user, is_judged=is_judged, remark=remark)
    except IntegrityError:
        # Somebody else imported it meanwhile.
        _refuse_again(pair, read.digest)
        raise
    except PlanError as error:
        raise ImportRefused(error.message) from error
    except DefinitionRefused as error:
        raise ImportRefused(str(error)) from error
    except DefinitionForbidden as error:
        raise ImportRefused(error.message) from error
    finally:
        if any(trial.definitions for trial in read.trials):
            # Also where it was refused: what was read within the transaction is gone.
            definitions.read_now()


@transaction.atomic
def _written(
    read: ImportPreview,
    pair: Pair,
    began_at: datetime,
    file_name: str,
    user: User | None,
    *,
    is_judged: bool,
    remark: str,
) -> Import:
    by = Definer(user, pair.environment)
    trials = [_defined(trial, by) for trial in read.trials]
    if any(trial.definitions for trial in trials):
        definitions.read_now()
    run = run_write(
        version=_version(read),
        trials=trials,
        pair=pair,
        at=began_at,
        user=user,
        is_judged=is_judged,
        remark=remark,
    )
    return Import.objects.create(
        run=run,
        pair=pair,
        tools=sorted(summary(read.trials)),
        file_name=storable_text(file_name)[:200],
        digest=read.digest,
        text=storable_text(text_of(read.content), MAX_INFLATED_BYTES),
        created_by_id=user.pk if user else None,
    )


def _defined(trial: ImportedTrial, by: Definer) -> ImportedTrial:
    """Define the kind of a trial that the catalog has none for; its parameters are in one spelling then."""
    if not trial.definitions:
        return trial
    own = {name: value for name, value in trial.params.items() if name != TOOL.name}
    tool = trial.params[TOOL.name]
    kind, params = define(name=tool, label=tool, metrics=trial.definitions, params=own, by=by)
    return replace(trial, kind=kind, params={TOOL.name: tool} | params)


def nothing_to_import(read: ImportPreview) -> Reason:
    """Say why a text gives no result: by what its tools said, by its lines that aren't read, else by how it begins."""
    reasons = [trial.error for trial in read.trials if trial.error]
    reasons += [unusable.reason for unusable in read.unusable]
    reasons += [tool_reason(unread.reason) for unread in read.document.unread]
    if reasons:
        return Reason("import_nothing_because", why=reasons[0])
    return Reason("import_nothing", line=read.document.begins[:_LONGEST_QUOTE], tools=TOOLS_READ)


def _refuse_again(pair: Pair, digest: str) -> None:
    if existing := Import.objects.filter(pair=pair, digest=digest).first():
        raise ImportRefused(_("This text is imported already, as run {run}.").format(run=existing.run_id), existing)


def _version(read: ImportPreview) -> PlanVersion:
    """Return a version of the one plan of all that its tools gave; the file's name is a fact of the run."""
    name = imported_plan_name(summary(read.trials))
    steps = steps_of(read.trials)
    if not steps:
        kinds = dict.fromkeys(trial.kind for trial in read.trials)
        return reported_version(name=name, steps=[{"kind": kind, "params": {}} for kind in kinds])
    return one_off_version(
        name=name,
        steps=steps,
        repetitions=1,
        order=PlanVersion.Order.SEQUENTIAL,
    )
