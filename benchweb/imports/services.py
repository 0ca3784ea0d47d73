"""Import a text: one transaction that makes a run with its trials, results and points, or nothing."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog.parts import TOOL
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
from benchweb.toolformats.document import read_bytes
from benchweb.toolformats.plain_text import MAX_INFLATED_BYTES, Patience, text_of
from benchweb.toolformats.readings import ToolDocument


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
    def digest(self) -> str:
        """Return what the text is known by, as SHA-256."""
        return hashlib.sha256(self.content).hexdigest()


def preview(content: bytes, patience: Patience | None = None) -> ImportPreview:
    """Read a file without importing it; raise ToolFormatError for what can't be read at all."""
    document = read_bytes(content, patience)
    return ImportPreview(content, document, *trials_of(document))


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
    if not read.trials:
        raise ImportRefused(_("Nothing in this text can be imported: no result of a test that benchweb knows."))
    _refuse_again(pair, read.digest)
    began_at = (
        at or min((reading.began_at for reading in read.document if reading.began_at), default=None) or timezone.now()
    )
    if began_at > timezone.now():
        raise ImportRefused(_("{at} is in the future: when was it measured?").format(at=began_at.isoformat()))
    try:
        return _written(read, pair, began_at, file_name, user, is_judged=is_judged)
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
    read: ImportPreview, pair: Pair, began_at: datetime, file_name: str, user: User | None, *, is_judged: bool
) -> Import:
    by = Definer(user, pair.environment)
    trials = [_defined(trial, by) for trial in read.trials]
    if any(trial.definitions for trial in trials):
        definitions.read_now()
    run = run_write(version=_version(read), trials=trials, pair=pair, at=began_at, user=user, is_judged=is_judged)
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
