"""What engines say: the sentences of engine/schema/reasons.json, from which engines make them."""

import json
from pathlib import Path

REASONS_FILE = Path(__file__).resolve().parents[3] / "engine" / "schema" / "reasons.json"
# Engines don't say it any more; facts that they told before have it still.
FORMER = {"missing_speed_bound": "speed of {interface}: the one that the driver tells bounds nothing"}

MESSAGES: dict[str, str] = {**json.loads(REASONS_FILE.read_text(encoding="utf-8")), **FORMER}
