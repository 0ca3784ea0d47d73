"""A run's content with pseudonyms for its hosts and addresses, and without the ids of this dashboard."""

from collections.abc import Iterable
from copy import copy
from dataclasses import replace

from benchweb.hosts.models import Endpoint, Facts, Pair
from benchweb.plans.models import PlanVersion
from benchweb.results.models import Result
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import Run
from benchweb.sharing.frozen import FrozenEvent, RunContent
from benchweb.sharing.pseudonyms import Pseudonyms
from benchweb.sharing.real_names import host_pseudonym, real_names


def anonymised(content: RunContent) -> RunContent:
    """Give the same content for a stranger; four queries, for the names of all hosts: a text may name any of them."""
    names = Pseudonyms(real_names(content))
    facts = _facts(content.results, names)
    return RunContent(
        run=_run(content.run, names),
        trials=[_trial(row, names) for row in content.trials],
        results=[_result(result, facts, names) for result in content.results],
        events=[FrozenEvent(at=event.at, text=names.text(event.text)) for event in content.events],
    )


def _run(run: Run, names: Pseudonyms) -> Run:
    hidden = copy(run)
    hidden.pk = None
    hidden.reason = names.text(run.reason)
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
        reason=names.text(row.reason),
        limits=names.deep(row.limits),
    )


def _facts(results: Iterable[Result], names: Pseudonyms) -> dict[int, Facts]:
    """Give each facts row once, numbered from 1."""
    rows = {
        facts.pk: facts for result in results for facts in (result.source_facts, result.sink_facts) if facts is not None
    }
    return {pk: Facts(pk=place, document=names.deep(row.document)) for place, (pk, row) in enumerate(rows.items(), 1)}


def _result(result: Result, facts: dict[int, Facts], names: Pseudonyms) -> Result:
    hidden = copy(result)
    hidden.document = names.deep(result.document)
    hidden.source_facts = facts[result.source_facts_id] if result.source_facts_id else None
    hidden.sink_facts = facts[result.sink_facts_id] if result.sink_facts_id else None
    hidden.trial_id = result.trial.index
    return hidden
