"""What a test kind consists of: parameters, metrics, charts, and the parts of a trial's time."""

from dataclasses import dataclass, field
from typing import Any, Literal

# The one of django.utils.translation reads the settings at once; processes without Django import the catalog too.
from django.utils.translation.trans_null import gettext_noop

from benchweb.catalog.translation import TranslatedText

Params = dict[str, Any]
Exclusivity = Literal["exclusive", "normal", "background"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a kind; `schema` is JSON Schema with type, default and bounds."""

    name: str
    label: TranslatedText = TranslatedText()
    help: TranslatedText = TranslatedText()
    schema: dict[str, Any]
    unit: str
    identity: bool
    advanced: bool
    # Another parameter that must have its default when this one doesn't.
    excludes: str = ""

    @property
    def default(self) -> Any:
        return self.schema.get("default")

    @property
    def is_number(self) -> bool:
        return self.schema["type"] in ("integer", "number")

    @property
    def is_size(self) -> bool:
        """Say whether it is how many bytes a message, a request or a response has."""
        return self.identity and not self.advanced and self.unit == "B"

    @property
    def is_test(self) -> bool:
        """Say whether a value is a test of its own, with a kind and parameters."""
        return self.schema.get("format") == "test"


# What tells an imported series from the engine's own, which name no tool; no test has it as a parameter.
TOOL = Parameter(
    name="tool",
    label="Tool",
    help="",
    schema={"type": "string", "default": "benchweb"},
    unit="",
    identity=True,
    advanced=False,
)
# How many sources tested one sink at once; results of runs that start together have it.
SOURCES = Parameter(
    name="sources",
    label=gettext_noop("Sources at once"),
    help="",
    schema={"type": "integer", "default": 1},
    unit="",
    identity=True,
    advanced=False,
)
# What results add to the parameters of their trials: no engine is asked for it.
ADDED = frozenset({TOOL.name, SOURCES.name})


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a trial may give: an SI unit, which direction is better, and how repetitions combine."""

    key: str
    label: TranslatedText = TranslatedText()
    unit: str
    better: Literal["higher", "lower", "neutral"]
    combine: Literal["median"]
    quantity: TranslatedText = TranslatedText()

    @property
    def is_loss(self) -> bool:
        """Say whether it tells what was lost: by the catalog's own word, which `quantity` says in another language."""
        return bool(self.__dict__["_quantity"] == "loss")


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart that a kind asks for: metrics swept over a parameter, or side by side as percentiles."""

    id: str
    title: TranslatedText = TranslatedText()
    form: Literal["sweep", "percentiles"]
    metrics: list[str]
    x: str = ""
    x_scale: Literal["linear", "log2"] = "linear"
    y_from_zero: bool = True
    # Metrics that are drawn as a horizontal line each, such as a ceiling.
    lines: list[str] = field(default_factory=list)
    # The parameter that has to be set for any of its metrics to be measured.
    needs: str = ""


@dataclass(frozen=True)
class SlotPart:
    """A part of a trial's time: products of parameters in seconds, and what set-up and drain take beside them."""

    # Names of parameters, and seconds that one of what they count takes.
    products: list[list[str | float]]
    overhead_seconds: float
