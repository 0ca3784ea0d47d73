"""Why an engine doesn't replace its token or certificate is said in the reader's language."""

from django.utils import translation

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.translation import reason_text


def test_a_refusal_is_said_with_what_could_not_be_written_and_why() -> None:
    told = (
        "the new token can't be written to the engine's state folder (No space left on device), so nothing was changed"
    )
    with translation.override("zh-hans"):
        said = reason_text(engine_reason(told))
    assert said == "无法将新令牌写入引擎的状态文件夹（No space left on device），因此没有任何更改"
