"""A share with pseudonyms hides a host's name in whatever form a text of the run has it."""

import html
import json
import re
import unicodedata
from urllib.parse import quote, unquote

import pytest
from django.test import Client

from benchweb.hosts.models import Environment, Host
from benchweb.plans.models import Plan
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.events import event_add
from benchweb.runs.models import Run, State
from benchweb.sharing.real_names import host_pseudonym
from tests.factories import make_endpoint, make_pair, make_run
from tests.sharing.scene import STEPS, facts, named, shared, texts_of

pytestmark = pytest.mark.django_db
NAME = "Müller-Süd"
FORMS = [
    NAME,
    unicodedata.normalize("NFD", NAME),
    NAME.upper(),
    "Ｍüller－Süd",
    "Mül\u200bler-S\u00adüd",
    "\u041cüll\u0435r-\u0405üd",
    quote(NAME),
    "M&uuml;ller-S&#xfc;d",
    json.dumps(NAME)[1:-1],
]
# What is left of the name when a form was hidden in part only.
PSEUDONYM = re.compile(r"\b(address|host|machine|name)-[a-z2-7]{5}\b")
REST = re.compile(r"m\W{0,2}u?\W{0,3}ller|l\W?l\W?.r|s\W?ud", re.IGNORECASE)


def bare(text: str) -> str:
    """Undo every escape, and leave ASCII of letters with their accents and width; Cyrillic letters become a mark."""
    for _ in range(3):
        text = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), html.unescape(unquote(text)))
    text = unicodedata.normalize("NFKD", text)
    text = re.sub("[\u200b\u00ad\u0308]", "", text)
    return re.sub("[\u0400-\u04ff]", "~", text)


@pytest.fixture(params=FORMS, ids=ascii)
def told(request: pytest.FixtureRequest) -> tuple[Run, str]:
    form: str = request.param
    source = make_endpoint(host_name="placeholder", control_address="10.77.1.2:7410")
    Host.objects.filter(pk=source.host_id).update(name=NAME)
    pair = make_pair(source=source, sink=make_endpoint(host_name="Basalt"))
    run = make_run(pair=pair, steps=STEPS)
    # As names were stored before there was one form for them.
    Environment.objects.filter(pk=pair.environment_id).update(name=f"at {form} now")
    Plan.objects.filter(pk=run.plan_version.plan_id).update(name=f"nightly of {form}")
    for trial in run.trials.order_by("index"):
        is_whole = trial.kind == "tcp_stream"
        document = {
            "kind": trial.kind,
            "metrics": {"throughput_bps": trial.index * 1e9} if is_whole else {},
            "limits": [{"direction": "forward", "by": "path", "summary": f"Limited by {form}."}],
            "intervals": [{"start_seconds": 0, "end_seconds": 1, "metrics": {}, "note": f"from {form}"}],
            "source": facts("machine-1", "10.77.1.2"),
            "sink": facts("basalt", "10.77.1.3"),
        }
        state, reason = (State.FINISHED, "") if is_whole else (State.FAILED, f"{form} refused")
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=state, reason=reason)
    event_add(run_id=run.pk, text=f"Waited for {form}, see https://bench.internal/?q={form}.")
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, reason=f"1 of 3 trials failed: {form} did not answer")
    return named(run), form


def test_title_page_csv_json_embed_and_badge_tell_no_form_of_a_hosts_name(told: tuple[Run, str]) -> None:
    run, form = told
    _, path = shared(run)
    assert form in json.loads(texts_of(path, Client())["/results.json"])["plan"]["name"]
    _, path = shared(run, anonymise=True)
    texts = texts_of(path, Client())
    for part, text in texts.items():
        # Tokens and pseudonyms are chance, and may look like anything.
        left = bare(PSEUDONYM.sub("", text.replace(path, "")))
        assert [left[max(0, found.start() - 30) : found.end() + 30] for found in REST.finditer(left)] == [], part
    pseudonym = host_pseudonym(run.pair.source.host_id)
    title = re.search("<title>(.*?)</title>", texts[""], re.DOTALL)
    assert title
    assert f"nightly of {pseudonym}" in title[1]
    document = json.loads(texts["/results.json"])
    assert document["plan"]["name"] == f"nightly of {pseudonym}"
    assert document["trials"][2]["reason"] == f"{pseudonym} refused"
    assert f"{pseudonym} refused" in texts["/results.csv"]
    assert f"at {pseudonym} now" in texts[""]
    for part in texts:
        headers = "".join(f"{name}: {value}\n" for name, value in Client().get(path + part).headers.items())
        assert not REST.search(bare(headers)), part
