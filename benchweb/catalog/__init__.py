"""Test kinds, parameters and metrics: the Python side of engine/schema/catalog.json. No ORM."""

from benchweb.catalog.document import Catalog, Kind, catalog
from benchweb.catalog.equivalents import Equivalent, equivalent_named, equivalents
from benchweb.catalog.nested import nested_text, nested_words, storable_json
from benchweb.catalog.parts import Chart, Metric, Parameter
from benchweb.catalog.translation import value_text
from benchweb.catalog.validation import ParameterError, validated_params

__all__ = [
    "Catalog",
    "Chart",
    "Equivalent",
    "Kind",
    "Metric",
    "Parameter",
    "ParameterError",
    "catalog",
    "equivalent_named",
    "equivalents",
    "nested_text",
    "nested_words",
    "storable_json",
    "validated_params",
    "value_text",
]
