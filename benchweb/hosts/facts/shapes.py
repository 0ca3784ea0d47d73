"""The facts that pages read, and the types that they rely on."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchweb.common.storable import MAXIMUM_NUMBER

_Figure = Annotated[float, Field(ge=0, le=MAXIMUM_NUMBER)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Interface(_Shape):
    name: str | None = None
    driver: str | None = None
    mtu: int | None = None
    speed_bps: _Figure | None = None
    physical: list[str] | None = None
    offloads: dict[str, Any] | None = None
    addresses: list[str] | None = None


class _ControlGroup(_Shape):
    cpu_quota: _Figure | None = None
    cpuset: str | None = None
    memory_limit_bytes: _Figure | None = None


class _Facts(_Shape):
    hostname: str | None = None
    kernel: str | None = None
    boot_id: str | None = None
    engine_version: str | None = None
    memory_bytes: _Figure | None = None
    control_group: _ControlGroup | None = None
    cpu: dict[str, Any] | None = None
    congestion_controls_available: list[str] | None = None
    sysctls: dict[str, Any] | None = None
    interfaces: list[_Interface] | None = None
    missing: list[str] | None = None
    missing_data: list[dict[str, Any] | None] | None = None


def facts_fault(document: Any) -> str:
    """Say which fact is not what pages rely on, or nothing."""
    try:
        _Facts.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return ""
