"""The members of an engine's result that pages and charts read, and the types that they rely on."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchweb.common.storable import MAXIMUM_NUMBER

Figure = Annotated[float, Field(strict=True, ge=-MAXIMUM_NUMBER, le=MAXIMUM_NUMBER)]
Document = dict[str, Any]


# The least and the greatest.
_Extremes = Annotated[list[Figure], Field(min_length=2, max_length=2)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Counted(_Shape):
    name: str
    rx_packets: int = 0
    tx_packets: int = 0
    rx_bytes: int = 0
    tx_bytes: int = 0


class _Interval(_Shape):
    start_seconds: Figure
    end_seconds: Figure
    metrics: dict[str, Figure | None] | None = None
    counts: dict[str, int] | None = None
    interfaces: dict[str, _Counted | None] | None = None
    parts: int | None = None
    extremes: dict[str, _Extremes] | None = None


class _Addresses(_Shape):
    family: str
    source: str
    sink: str
    source_seen_by_sink: str | None = None
    sink_own: str | None = None


class _Flow(_Shape):
    source_tcp: Document | None = None
    sink_tcp: Document | None = None
    granted: Document | None = None


class _Interface(_Shape):
    name: str


class _Host(_Shape):
    background: Document | None = None
    cpu_frequency_hertz: list[Figure | None] | None = None
    cores: list[Document] | None = None
    interfaces: list[_Interface] | None = None


class _Evidence(_Shape):
    what: str
    value: Figure | str | bool | None
    unit: str | None = None
    threshold: Figure | None = None


class _Limit(_Shape):
    direction: str
    by: str
    summary: str
    evidence: list[_Evidence] | None = None


class _Outage(_Shape):
    from_seconds: Figure
    until_seconds: Figure


class _CoreRate(_Shape):
    cpu: int
    bytes_per_second: Figure


class _MemoryUse(_Shape):
    array_bytes: int
    pass_bytes: int
    pass_seconds: list[Figure]
    cores: list[_CoreRate]
    cache_bytes: int | None = None


class _DiskUse(_Shape):
    path: str
    filesystem: str
    size_bytes: int


class _HostTest(_Shape):
    variant: Annotated[str, Field(max_length=60)]
    memory: _MemoryUse | None = None
    disk: _DiskUse | None = None


class _Result(_Shape):
    params: Document | None = None
    intervals: list[_Interval] | None = None
    outages: list[_Outage] | None = None
    addresses: _Addresses | None = None
    reply_addresses: list[str] | None = None
    largest_payload_bytes: int | None = None
    largest_reverse_payload_bytes: int | None = None
    unanswered_hellos: int | None = None
    flows: list[_Flow] | None = None
    hosts: dict[str, _Host | None] | None = None
    window: Document | None = None
    limits: list[_Limit] | None = None
    flags: list[str] | None = None
    host_test: _HostTest | None = None


def result_fault(document: Document) -> str:
    """Say which member of a result is not what pages rely on, or nothing."""
    try:
        _Result.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return ""
