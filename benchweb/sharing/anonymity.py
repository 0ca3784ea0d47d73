"""A run's content with pseudonyms for its hosts and addresses, and without the ids of this dashboard."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from benchweb.catalog.reasons import reason_fields
from benchweb.charts.run.export import Content
from benchweb.hosts.models import Endpoint, Pair
from benchweb.plans.models import PlanVersion
from benchweb.results.models import Result
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import Run
from benchweb.sharing.frozen import RunContent
from benchweb.sharing.pseudonyms import Pseudonyms
from benchweb.sharing.real_names import host_pseudonym, real_names


def anonymised(content: RunContent) -> RunContent:
    """Return the same content for a stranger; four queries, for the names of all hosts: a text may name any of them."""
    names = Pseudonyms(real_names(content))
    trials = [_trial(row, names) for row in content.trials]
    source, sink = content.facts
    return RunContent(
        run=_run(content.run, names),
        trials=trials,
        facts=(names.deep(source), names.deep(sink)),
        events=[(at, names.reason(text)) for at, text in content.events],
        exported=_Exported(content, trials, names).content,
    )


class _Exported:
    """A run's rows without names and ids: trials go by their places in it, facts are numbered as they come."""

    def __init__(self, real: RunContent, trials: list[TrialRow], names: Pseudonyms) -> None:
        self._stored = real.exported
        self._trials = {row.index: row.id for row in real.trials}
        self._facts: dict[int, int] = {}
        self._names = names
        self.content = Content(
            trials=lambda: trials, results=self._results, facts=self._facts_documents, intervals=self._intervals
        )

    def _results(self, indexes: Sequence[int]) -> dict[int, Result]:
        results = self._stored.results([self._trials[index] for index in indexes])
        indexed = ((index, results.get(self._trials[index])) for index in indexes)
        return {index: self._result(index, result) for index, result in indexed if result is not None}

    def _result(self, index: int, result: Result) -> Result:
        hidden = copy(result)
        hidden.document = self._names.deep(result.document)
        hidden.source_facts_id = self._number(result.source_facts_id)
        hidden.sink_facts_id = self._number(result.sink_facts_id)
        hidden.trial_id = index
        return hidden

    def _intervals(self, index: int) -> Iterator[list[dict[str, Any]]]:
        for part in self._stored.intervals(self._trials[index]):
            yield self._names.deep(part)

    def _number(self, facts_id: int | None) -> int | None:
        return None if facts_id is None else self._facts.setdefault(facts_id, len(self._facts) + 1)

    def _facts_documents(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        ids = {pk: number for pk, number in self._facts.items() if number in set(numbers)}
        documents = self._stored.facts(list(ids))
        return {ids[pk]: self._names.deep(document) for pk, document in documents.items()}


def _run(run: Run, names: Pseudonyms) -> Run:
    hidden = copy(run)
    hidden.pk = None
    hidden.why = names.reason(run.why)
    hidden.pair = _pair(run.pair, names)
    hidden.plan_version = _version(run.plan_version, names)
    return hidden


def _pair(pair: Pair, names: Pseudonyms) -> Pair:
    hidden, environment = copy(pair), copy(pair.environment)
    environment.pk, environment.name = None, names.text(environment.name)
    hidden.pk = None
    hidden.environment = environment
    hidden.source, hidden.sink = _endpoint(pair.source, names), _endpoint(pair.sink, names)
    return hidden


def _endpoint(endpoint: Endpoint, names: Pseudonyms) -> Endpoint:
    hidden, host = copy(endpoint), copy(endpoint.host)
    host.pk, host.name = None, host_pseudonym(endpoint.host_id)
    hidden.pk = None
    hidden.host = host
    hidden.name = ""
    hidden.network_mode = names.text(endpoint.network_mode)
    hidden.fingerprint = ""
    hidden.control_address = names.text(endpoint.control_address)
    # The same as the control address says nothing more; a pseudonym can't be looked up by the command anyway.
    is_same = endpoint.control_address.strip("[]").startswith(endpoint.data_address)
    hidden.data_address = "" if is_same else names.text(endpoint.data_address)
    return hidden


def _version(version: PlanVersion, names: Pseudonyms) -> PlanVersion:
    hidden, plan = copy(version), copy(version.plan)
    plan.pk, plan.name = None, names.text(plan.name)
    hidden.pk = None
    hidden.plan = plan
    hidden.steps = names.deep(version.steps)
    return hidden


def _trial(row: TrialRow, names: Pseudonyms) -> TrialRow:
    # Trials go by their place in the run: their ids would tell how much else was measured here.
    return replace(
        row,
        id=row.index,
        params=names.deep(row.params),
        **reason_fields("reason", names.reason(row.why)),
        limits=names.deep(row.limits),
    )
