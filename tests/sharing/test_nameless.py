"""A share without names tells none, whatever text of a run, its hosts, facts, results and events it stands in."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import models
from django.test import Client

from benchweb.catalog.document import CATALOG_FILE
from benchweb.catalog.reasons import Reason, joined, reason_fields
from benchweb.documents.hidden import hidden_reason, tagged
from benchweb.documents.known_words import SYSCTLS
from benchweb.documents.nameless import nameless_document, nameless_params
from benchweb.hosts.models import Endpoint, Environment, Facts, Host
from benchweb.ops.setup.steps import ENGINE
from benchweb.plans.models import Plan, PlanVersion
from benchweb.results.models import Result
from benchweb.runs.events import event_add
from benchweb.runs.models import Run, RunEvent, Trial
from tests.sharing.scene import named, shared, texts_of, told_run
from tests.web.hostile.planted import text_fields

EXAMPLES = sorted(CATALOG_FILE.with_name("examples").glob("*.json"))
NAMES = ["quartz", "Müller-Süd", "10.77.1.2", "2001:db8:77::2", "52:54:00:77:77:77", "77 rack"]
MODELS: list[type[models.Model]] = [Host, Endpoint, Environment, Facts, Plan, PlanVersion, Run, Trial, RunEvent, Result]
# What is looked up by; the trials' kinds and a result's flags and limits are planted one by one.
KEPT = {"digest", "name_key", "kind", "confidence", "flags", "limits"}


def example(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def planted(value: Any, name: str) -> Any:
    """Write a name behind every text but a reason's code, into every list of texts, and as members of every object."""
    match value:
        case str():
            return f"{value} {name}".lstrip()
        case list():
            return [planted(item, name) for item in value] + [name] * (dict not in map(type, value))
        case dict():
            named = {key: item if key == "code" else planted(item, name) for key, item in value.items()}
            return named | {name: name, f"{name}s": 7}
        case _:
            return value


def plant_everywhere(name: str) -> None:
    """Plant a name in each text of each row of the models that a run is told by."""
    for model in MODELS:
        fields = [field for field in text_fields(model) if field.name not in KEPT]
        for row in model._default_manager.all():
            for field in fields:
                value = planted(getattr(row, field.attname), name)
                setattr(row, field.attname, value[-(field.max_length or 1000) :] if isinstance(value, str) else value)
            row.save()


def told_with(name: str) -> Run:
    """Make a run that tells a name wherever it can."""
    run = told_run()
    Facts.objects.update(document=example(EXAMPLES[0])["source"] | {"missing": [name]})
    reason = Reason("host_unreachable", host="", since="12:00 UTC")
    event_add(run_id=run.pk, text=reason)
    Run.objects.filter(pk=run.pk).update(**reason_fields("reason", reason))
    plant_everywhere(name)
    Trial.objects.filter(run=run, index=3).update(kind=name)
    Result.objects.update(flags=[name], limits=[{"direction": name, "by": name, "summary": name}])
    return named(run)


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_in_every_text_of_a_run_is_in_nothing_that_its_share_without_names_opens(name: str) -> None:
    run = told_with(name)
    # The scene does tell it: in the page, and in both exports.
    told = texts_of(shared(run)[1], Client())
    assert all(told[part].count(name) > 10 for part in ("", "/results.csv", "/results.json"))
    for part, text in texts_of(shared(run, anonymise=True)[1], Client()).items():
        for form in {name, json.dumps(name)[1:-1]}:
            at = text.lower().find(form.lower())
            assert at == -1, (part, text[max(0, at - 200) : at + 100])


def figures(value: Any) -> list[Any]:
    """Return the numbers of a document in their order, but those that a tool printed."""
    match value:
        case dict():
            return [each for key, item in value.items() if key != "tool_document" for each in figures(item)]
        case list():
            return [each for item in value for each in figures(item)]
        case str() | None:
            return []
        case _:
            return [value]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_of_an_engines_document_every_figure_is_kept(path: Path) -> None:
    """A member that is added to the engine's schema is kept by itself."""
    assert figures(nameless_document(example(path))) == figures(example(path))


def test_of_a_hosts_facts_what_explains_figures_is_kept() -> None:
    facts = example(EXAMPLES[-1])["source"] | {"kernel": "6.1.0-18-quartz", "missing": ["no /etc/quartz"]}
    kept = nameless_document(facts)
    for same in ("architecture", "congestion_control", "sysctls", "virtualisation", "clock_source", "engine_version"):
        assert kept[same] == facts[same], same
    assert (kept["kernel"], kept["operating_system"], kept["missing"]) == ("6.1.0", "Debian GNU/Linux 12", [])
    assert kept["hostname"] == tagged("machine", "source.example")
    assert kept["interfaces"][0]["addresses"] == [tagged("address", "192.0.2.1")]
    assert (kept["interfaces"][0]["name"], kept["interfaces"][0]["driver"]) == ("eth0", "virtio_net")


def test_parameters_are_words_of_the_catalog_or_tagged_so_that_unlike_ones_stay_apart() -> None:
    params = {"flows": 2, "direction": "reverse", "congestion_control": "bbr", "source_cpus": "0,2-3", "nodelay": True}
    assert nameless_params("tcp_stream", params) == params
    urls = [nameless_params("http_load", {"url": f"http://{host}.example/"})["url"] for host in ("a", "b", "a")]
    assert urls == [tagged("value", f"http://{host}.example/") for host in ("a", "b", "a")]
    load = {"kind": "tcp_stream", "params": {"flows": 2, "congestion_control": "quartz"}}
    kept = nameless_params("ping", {"load": load})["load"]
    tag = tagged("value", "quartz")
    assert kept == {"kind": "tcp_stream", "params": {"flows": 2, "congestion_control": tag}}
    assert nameless_params("quartz", {"quartz": 1}) == {}


def test_a_reason_keeps_its_numbers_times_and_the_names_that_have_pseudonyms() -> None:
    pseudonyms = {"alpha": "host-abcde"}
    gone = Reason("host_unreachable", host="alpha", since="12:30 UTC")
    other = Reason("host_unreachable", host="quartz", since="quartz")
    failed = Reason("trials_failed", failed=1, total=12)
    assert hidden_reason(gone, pseudonyms) == "host host-abcde has given no valid answer since 12:30 UTC"
    assert hidden_reason(other, pseudonyms) == "host … has given no valid answer since …"
    both = joined([failed, "quartz said so", gone], "; ")
    assert hidden_reason(both, pseudonyms) == f"{failed}; …; {hidden_reason(gone, pseudonyms)}"
    assert hidden_reason("quartz refused", pseudonyms) == "…"
    run = Reason("waiting_for_late_run", resource=Reason("host", host="alpha"), run=4711)
    assert hidden_reason(run, pseudonyms) == "waiting for host host-abcde: run …, which takes longer than planned"


def test_of_a_limit_its_word_and_figures_are_kept_and_no_sentence() -> None:
    evidence = {"what": "loss on the way to quartz", "value": 0.1, "unit": "ratio", "threshold": 0.01}
    said = {"summary": "quartz loses packets", "summary_data": {"code": "limited_by_loss", "params": {"end": "quartz"}}}
    kept = nameless_document({"limits": [{"direction": "forward", "by": "path", "evidence": [evidence], **said}]})
    figures_kept = {"value": 0.1, "unit": "ratio", "threshold": 0.01}
    assert kept == {"limits": [{"direction": "forward", "by": "path", "evidence": [figures_kept]}]}


def test_every_sysctl_that_engines_read_is_known() -> None:
    source = (ENGINE / "crates/kinds/src/facts/mod.rs").read_text()
    listed = re.search(r"const SYSCTLS: \[&str; \d+\] = \[(.*?)\];", source, re.DOTALL)
    assert listed and set(re.findall(r'"([^"]+)"', listed[1])) == SYSCTLS
