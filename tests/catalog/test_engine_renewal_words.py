"""Why an engine doesn't replace its token or certificate is said in the reader's language."""

import re
from pathlib import Path

from django.utils import translation

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.messages.engine_sentences import MESSAGES
from benchweb.catalog.translation import reason_text

RENEWAL = Path(__file__).parents[2] / "engine/crates/agent/src/serve/control/renewal.rs"


def test_a_refusal_is_said_with_what_could_not_be_written_and_why() -> None:
    told = (
        "the new token can't be written to the engine's state folder (No space left on device), so nothing was changed"
    )
    with translation.override("zh-hans"):
        said = reason_text(engine_reason(told))
    assert said == "无法将新令牌写入引擎的状态文件夹（No space left on device），因此没有任何更改"


def test_every_refusal_of_the_engine_is_known() -> None:
    """The engine's source is read: a sentence that is worded anew there would stay English, without a word."""
    source = RENEWAL.read_text()
    told = re.findall(r'(?:message = |"token", |unwritable\(|format!\(\s*)"([^"]+)"', source)
    known = {text for code, text in MESSAGES.items() if code.startswith("renewal_")}
    assert {text.replace("{TOKENS_AT_MOST}", "{count}") for text in told} == known
    assert len(known) == 6
