"""What a simulated engine answers: the real examples of engine/schema, with the facts of a simulated host."""

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parents[2] / "engine" / "schema"
VERSION = "0.1.0+simulated"
# A host measured twice never gives the same figure; two percent is what a quiet one does.
SPREAD = 0.02


@dataclass(frozen=True)
class Kind:
    """What the simulation needs of a test kind."""

    name: str
    headline: str
    exclusive: bool
    exclusive_when: str
    products_seconds: list[list[str | float]]
    defaults: dict[str, Any]

    def is_exclusive(self, params: dict[str, Any]) -> bool:
        return self.exclusive or bool(self.exclusive_when and params.get(self.exclusive_when))

    def duration_seconds(self, params: dict[str, Any]) -> float:
        """Return how long the measuring takes, by the trial's own parameters, as the catalog's slot has it."""
        total = 0.0
        for names in self.products_seconds:
            product = 1.0
            for name in names:
                given = name if isinstance(name, float) else params.get(name, self.defaults.get(name, 0))
                product *= float(given or 0)
            total += product
        return total


@cache
def kinds() -> dict[str, Kind]:
    """Return the kinds that have an example to answer with."""
    catalog = json.loads((SCHEMA / "catalog.json").read_text())
    by_name = {}
    for name, entry in catalog["kinds"].items():
        if not (SCHEMA / "examples" / f"{name}.json").exists():
            continue
        by_name[name] = Kind(
            name=name,
            headline=entry["headline"],
            exclusive=entry["exclusivity"] == "exclusive",
            exclusive_when=entry.get("exclusive_when", ""),
            products_seconds=entry["slot"]["products_seconds"],
            defaults=_example(name)["params"],
        )
    return by_name


@cache
def catalog_version() -> int:
    """Return the version of the catalog that the fleet was started with."""
    return int(json.loads((SCHEMA / "catalog.json").read_text())["version"])


def facts_of(number: int, boot_id: str, address: str) -> dict[str, Any]:
    """Return facts that nobody can take for a machine's."""
    real = _example("tcp_rr")["source"]
    return {
        **real,
        "hostname": f"simulated-{number:04}",
        "boot_id": boot_id,
        "virtualisation": "simulated",
        "cpu": {"model": "simulated: no machine, no traffic", "logical": 1, "governor": None},
        "interfaces": [{**real["interfaces"][0], "name": "simulated0", "driver": "simulated", "addresses": [address]}],
        "engine_version": VERSION,
        "missing": ["everything: this engine is simulated, its figures are copies of an example with a random factor"],
    }


def result_of(
    kind: Kind,
    params: dict[str, Any],
    started_at: datetime,
    elapsed_seconds: float,
    facts: dict[str, Any],
    share: float = 1.0,
) -> dict[str, Any]:
    """Return a whole RESULT of the real shape, at a share of the usual figure; `facts` holds source and sink."""
    example = _example(kind.name)
    factor = share * random.uniform(1 - SPREAD, 1 + SPREAD)
    metrics = {**example["metrics"], kind.headline: example["metrics"][kind.headline] * factor}
    return {
        **example,
        **facts,
        "params": {**example["params"], **params},
        "metrics": metrics,
        "intervals": intervals_of(kind, elapsed_seconds, metrics[kind.headline]),
        "window": {**example["window"], "started_at": stamp(started_at), "elapsed_seconds": elapsed_seconds},
        "flags": [],
        "engine": {"source_version": VERSION, "sink_version": VERSION},
    }


def intervals_of(kind: Kind, elapsed_seconds: float, value: float) -> list[dict[str, Any]]:
    """Return intervals of a second, the last as long as is left."""
    starts = range(max(1, round(elapsed_seconds + 0.49)))
    return [
        {
            "start_seconds": float(start),
            "end_seconds": min(float(start + 1), elapsed_seconds),
            "metrics": {kind.headline: value},
            "warmup": False,
        }
        for start in starts
    ]


def stamp(at: datetime) -> str:
    """Spell a time as the protocol does."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@cache
def _example(kind: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((SCHEMA / "examples" / f"{kind}.json").read_text())
    return document
