"""Answers as JSON, with times to the microsecond."""

import json
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja.renderers import BaseRenderer
from ninja.responses import NinjaJSONEncoder

from benchweb.charts.moments import rfc3339


class MicrosecondRenderer(BaseRenderer):
    """Ninja's JSON, whose encoder would cut times to milliseconds."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> str:
        return json.dumps(data, cls=_Encoder, ensure_ascii=False)


class _Encoder(NinjaJSONEncoder):
    def default(self, o: Any) -> Any:
        return rfc3339(o) if isinstance(o, datetime) else super().default(o)
