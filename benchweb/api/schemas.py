"""What all resources' bodies and answers share."""

from datetime import UTC, datetime
from typing import Annotated, Any

from django.http import HttpRequest
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, FailFast, Field

from benchweb.api.parser import MAXIMUM_INTEGER
from benchweb.common.addresses import site_path
from benchweb.common.names import text_fault

Identifier = Annotated[int, Field(ge=1, le=MAXIMUM_INTEGER)]


class Body(BaseModel):
    """A request's body: unknown fields are refused, and "5" is no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Item(BaseModel):
    """An answer, built field by field, never straight from a row."""

    model_config = ConfigDict(frozen=True)


class Created(Item):
    """What a creating POST answers at least."""

    id: int


def _one_line(text: str) -> str:
    if fault := text_fault(text):
        raise ValueError(fault)
    return text


def _moment_in_utc(moment: datetime) -> datetime:
    """Take UTC where no offset is told; PostgreSQL knows none of 16 hours or more, so none is left."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("There is no such time in UTC.") from None


# Bounds of length are the services', which say more; these only keep a name printable on one line.
Name = Annotated[str, AfterValidator(_one_line)]
Description = Annotated[str, Field(max_length=10_000)]
# What one label holds is the services', which say more.
Labels = Annotated[list[str], Field(max_length=1000), FailFast()]
Moment = Annotated[datetime, AfterValidator(_moment_in_utc)]


def _moment(text: Any) -> datetime:
    if not isinstance(text, str):
        raise ValueError("A time is a text as in RFC 3339, such as 2026-12-24T02:00:00+08:00.")
    try:
        return _moment_in_utc(datetime.fromisoformat(text))
    except ValueError:
        raise ValueError(f"{text[:60]!r} is no time as in RFC 3339, such as 2026-12-24T02:00:00+08:00.") from None


# In bodies, which are strict: a number is no time.
MomentText = Annotated[datetime, BeforeValidator(_moment)]


def _requested_moment(text: Any) -> Any:
    if text == "":
        return None
    # Seconds since 1970, which only an address may have.
    if not isinstance(text, str) or text.lstrip("-").replace(".", "", 1).isdigit():
        return text
    try:
        return _moment(text)
    except ValueError as error:
        hint = " The + of an offset is written %2B in an address." if " " in text else ""
        raise ValueError(f"{error}{hint}") from None


# In addresses, where an empty one is none.
RequestedMoment = Annotated[Moment | None, BeforeValidator(_requested_moment)]
RequestedIdentifier = Annotated[Identifier | None, BeforeValidator(lambda text: None if text == "" else text)]


def given(body: Body) -> dict[str, Any]:
    """Return the fields that a PATCH names."""
    return {name: getattr(body, name) for name in body.model_fields_set}


def run_url(request: HttpRequest, run_id: int) -> str:
    """Return a run's permalink, absolute; the path is part of the contract."""
    return request.build_absolute_uri(site_path(f"/runs/{run_id}"))
