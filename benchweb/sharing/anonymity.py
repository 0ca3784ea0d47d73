"""A run's content with pseudonyms for what it names, without free texts and without the ids of this dashboard."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from benchweb.catalog import catalog
from benchweb.catalog.reasons import reason_fields
from benchweb.charts.run.export import Content
from benchweb.documents.hidden import LEFT_OUT, hidden_reason, host_pseudonym, tagged
from benchweb.hosts.addresses import AddressError, control_address
from benchweb.hosts.models import Endpoint, Pair
from benchweb.plans.models import PlanVersion
from benchweb.results.models import Result
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import Run
from benchweb.sharing.frozen import RunContent
from benchweb.sharing.nameless import (
    address_pseudonym,
    nameless_document,
    nameless_kind,
    nameless_params,
    nameless_steps,
)


def anonymised(content: RunContent) -> RunContent:
    """Return the same content for a stranger; no query. An event in free text is left out."""
    run = _run(content.run)
    pseudonyms = _pseudonyms(content.run, run)
    run.why = hidden_reason(content.run.why, pseudonyms)
    trials = [_trial(row, pseudonyms) for row in content.trials]
    source, sink = content.facts
    events = ((at, hidden_reason(text, pseudonyms)) for at, text in content.events)
    return RunContent(
        run=run,
        trials=trials,
        facts=(nameless_document(source), nameless_document(sink)),
        events=[(at, text) for at, text in events if text != LEFT_OUT],
        exported=_Exported(content, trials).content,
    )


class _Exported:
    """A run's rows without names and ids: trials go by their places in it, facts are numbered as they come."""

    def __init__(self, real: RunContent, trials: list[TrialRow]) -> None:
        self._stored = real.exported
        self._trials = {row.index: row.id for row in real.trials}
        self._facts: dict[int, int] = {}
        self.content = Content(
            trials=lambda: trials, results=self._results, facts=self._facts_documents, intervals=self._intervals
        )

    def _results(self, indexes: Sequence[int]) -> dict[int, Result]:
        results = self._stored.results([self._trials[index] for index in indexes])
        indexed = ((index, results.get(self._trials[index])) for index in indexes)
        return {index: self._result(index, result) for index, result in indexed if result is not None}

    def _result(self, index: int, result: Result) -> Result:
        hidden = copy(result)
        hidden.document = nameless_document(result.document)
        hidden.source_facts_id = self._number(result.source_facts_id)
        hidden.sink_facts_id = self._number(result.sink_facts_id)
        hidden.trial_id = index
        return hidden

    def _intervals(self, index: int) -> Iterator[list[dict[str, Any]]]:
        for part in self._stored.intervals(self._trials[index]):
            yield [nameless_document(interval) for interval in part]

    def _number(self, facts_id: int | None) -> int | None:
        return None if facts_id is None else self._facts.setdefault(facts_id, len(self._facts) + 1)

    def _facts_documents(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        ids = {pk: number for pk, number in self._facts.items() if number in set(numbers)}
        documents = self._stored.facts(list(ids))
        return {ids[pk]: nameless_document(document) for pk, document in documents.items()}


def _run(run: Run) -> Run:
    hidden = copy(run)
    hidden.pk = None
    hidden.pair = _pair(run.pair)
    hidden.plan_version = _version(run.plan_version)
    return hidden


def _pair(pair: Pair) -> Pair:
    hidden, environment = copy(pair), copy(pair.environment)
    environment.pk, environment.name = None, tagged("environment", environment.name)
    hidden.pk = None
    hidden.environment = environment
    hidden.source, hidden.sink = _endpoint(pair.source), _endpoint(pair.sink)
    return hidden


def _endpoint(endpoint: Endpoint) -> Endpoint:
    hidden, host = copy(endpoint), copy(endpoint.host)
    host.pk, host.name = None, host_pseudonym(endpoint.host_id)
    hidden.pk = None
    hidden.host = host
    hidden.name = ""
    mode = endpoint.network_mode
    hidden.network_mode = mode if mode == "host" else tagged("mode", mode)
    hidden.fingerprint = ""
    hidden.control_address = _control_pseudonym(endpoint.control_address)
    # The same as the control address says nothing more; a pseudonym can't be looked up by the command anyway.
    is_same = endpoint.control_address.strip("[]").startswith(endpoint.data_address)
    hidden.data_address = "" if is_same else address_pseudonym(endpoint.data_address)
    return hidden


def _control_pseudonym(text: str) -> str:
    try:
        host, port = control_address(text)
    except AddressError:
        return address_pseudonym(text)
    return f"{address_pseudonym(host)}:{port}"


def _version(version: PlanVersion) -> PlanVersion:
    hidden, plan = copy(version), copy(version.plan)
    plan.pk, plan.name = None, tagged("plan", plan.name)
    hidden.pk = None
    hidden.plan = plan
    hidden.steps = nameless_steps(version.steps)
    return hidden


def _pseudonyms(run: Run, hidden: Run) -> dict[str, str]:
    """Map the names that reasons of a run may have as parameters to the pseudonyms of what they name."""
    names = {run.plan_version.plan.name: hidden.plan_version.plan.name}
    names[run.pair.environment.name] = hidden.pair.environment.name
    for end, its in ((run.pair.source, hidden.pair.source), (run.pair.sink, hidden.pair.sink)):
        names |= {str(end): str(its), end.host.name: its.host.name, end.control_address: its.control_address}
        names |= {end.data_address: address_pseudonym(end.data_address)} if end.data_address else {}
        names |= {end.host.uplink: tagged("uplink", end.host.uplink)} if end.host.uplink else {}
    return names


def _trial(row: TrialRow, pseudonyms: Mapping[str, str]) -> TrialRow:
    metrics, flags = catalog().metrics, catalog().flags
    # Trials go by their place in the run: their ids would tell how much else was measured here.
    return replace(
        row,
        id=row.index,
        kind=nameless_kind(row.kind),
        params=nameless_params(row.kind, row.params),
        metrics={key: value for key, value in row.metrics.items() if key in metrics},
        flags=[flag for flag in row.flags if flag in flags],
        limits=[{"by": "unknown", **nameless_document(limit), "summary": ""} for limit in row.limits],
        **reason_fields("reason", hidden_reason(row.why, pseudonyms)),
    )
