"""Check a pair's data path before a test does: do TCP and UDP pass, which packets, how fast."""

import logging
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar

from benchweb.catalog.reasons import Reason, joined, reason_of_error
from benchweb.hosts.models import Pair
from benchweb.hosts.path_checks import Passage, PathFound, PathOutcome, PathSize, path_record
from benchweb.site.secrets import SecretUnreadable
from workers.engine_client import EngineClient, EngineError, EngineRefused
from workers.engine_client.messages import PathLook, PathPassage
from workers.engines.connections import let_database_go
from workers.engines.ends import client_of, paths_of
from workers.engines.paths import EnginePath

Answer = TypeVar("Answer")
_log = logging.getLogger(__name__)


def check(pair_id: int) -> None:
    """Check one pair's path and record what was found."""
    pairs = Pair.objects.select_related("source__host", "sink__host")
    pair = pairs.filter(pk=pair_id, archived_at=None).first()
    if pair is None or pair.is_one_host:
        return
    path_record(pair=pair, outcome=_outcome(pair))
    let_database_go()


def _outcome(pair: Pair) -> PathOutcome:
    try:
        with ExitStack() as stack:
            source, sink = client_of(pair.source, stack), client_of(pair.sink, stack)
            paths = paths_of(pair.source, pair.sink, source, sink)
            let_database_go()
            return _checked_paths(pair, source, sink, paths)
    except (EngineError, SecretUnreadable) as error:
        return PathOutcome(Pair.Path.UNCHECKED, reason_of_error(error))
    except Exception as error:
        # A pair whose check ends without a word would be shown as it was before.
        _log.exception("The check of the path of pair %s broke off", pair.pk)
        reason = Reason("check_broke_off", name=type(error).__name__, error=str(error))
        return PathOutcome(Pair.Path.UNCHECKED, reason)


def _checked_paths(pair: Pair, source: EngineClient, sink: EngineClient, paths: list[EnginePath]) -> PathOutcome:
    """Look at every path; tell of the first that carries both protocols, else of the first, which a run tries first."""
    looks = [_look(pair, source, sink, path) for path in paths]
    chosen = next((look for look in looks if look.is_whole), looks[0])
    checked = PathFound(
        address=chosen.path.sink,
        data_port=chosen.data_port,
        tcp=_passage(chosen.seen.tcp),
        udp=_passage(chosen.seen.udp),
        forward=_size(chosen.seen.forward),
        backward=_size(chosen.seen.backward),
        dead=[look.path.sink for look in looks if look is not chosen and not look.is_whole],
    )
    names = {"source": str(pair.source), "sink": str(pair.sink)}
    status, reason = path_verdict(checked, udp_arrived=chosen.udp_arrived, **names)
    return PathOutcome(status, reason, checked)


@dataclass(frozen=True)
class _Look:
    path: EnginePath
    data_port: int
    seen: PathLook
    udp_arrived: int

    @property
    def is_whole(self) -> bool:
        return self.seen.tcp.passes and self.seen.udp.passes


def _look(pair: Pair, source: EngineClient, sink: EngineClient, path: EnginePath) -> _Look:
    cookie = secrets.token_hex(32)
    opened = _answer_of_new_engine(sink, lambda: sink.open_path(cookie))
    known = pair.sink.data_port
    if known is not None and opened.data_port != known:
        ports = {"data_port": opened.data_port, "known": known}
        raise EngineRefused(Reason("engine_data_port_changed", engine=sink.name, **ports), code="data_port")
    bind = {"address": path.source, "device": pair.source.bind_device}
    peer = {"address": path.sink, "data_port": opened.data_port}
    bound = {key: value for key, value in bind.items() if value} or None
    look = _answer_of_new_engine(source, lambda: source.look_at_path(cookie, peer, bound))
    return _Look(path, opened.data_port, look, sink.open_path(cookie).udp)


def _answer_of_new_engine(client: EngineClient, ask: Callable[[], Answer]) -> Answer:
    """Ask for a part of the check; raise EngineRefused that says so where the engine is too old for it."""
    try:
        return ask()
    except EngineRefused as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        raise EngineRefused(Reason("engine_too_old_for_path", engine=client.name), code="too_old") from error


def _passage(passage: PathPassage) -> Passage:
    return Passage(passes=passage.passes, round_trip_seconds=passage.round_trip_seconds, fault=passage.fault or None)


def _size(way: tuple[int, bool] | None) -> PathSize | None:
    return None if way is None else PathSize(mtu_bytes=way[0], is_silent=way[1])


_REFUSED = "refused"
_NO_ANSWER = "no_answer"


def path_verdict(checked: PathFound, *, source: str, sink: str, udp_arrived: int) -> tuple[str, str]:
    """Return the status of a pair's path, and what to do about it; `udp_arrived` is how many hellos the sink saw."""
    blocked = _blocked_text(checked, source, sink, udp_arrived)
    if blocked:
        return Pair.Path.BLOCKED, blocked
    narrow = joined(
        _narrow_text(size, begin, end)
        for size, begin, end in ((checked.forward, source, sink), (checked.backward, sink, source))
        if size is not None and size.is_silent
    )
    return (Pair.Path.NARROW, narrow) if narrow else (Pair.Path.PASSES, "")


def _blocked_text(checked: PathFound, source: str, sink: str, udp_arrived: int) -> str:
    tcp, udp, port, address = checked.tcp, checked.udp, checked.data_port, checked.address
    places = {"port": port, "address": address, "source": source, "sink": sink}
    if tcp.fault == _NO_ANSWER:
        return Reason("path_wrong_listener", **places)
    if not tcp.passes and not udp.passes:
        return Reason("path_refused" if tcp.fault == _REFUSED else "path_blocked", **places)
    if not tcp.passes:
        return Reason("path_tcp_blocked", **places)
    return _udp_blocked(udp, checked, source, sink, udp_arrived)


def _udp_blocked(udp: Passage, checked: PathFound, source: str, sink: str, udp_arrived: int) -> str:
    places = {"port": checked.data_port, "source": source, "sink": sink}
    if udp.passes:
        return ""
    if udp_arrived:
        return Reason("path_udp_one_way", udp_arrived=udp_arrived, **places)
    return Reason("path_udp_blocked", address=checked.address, **places)


def _narrow_text(size: PathSize, begin: str, end: str) -> str:
    return Reason("path_mtu", mtu_bytes=size.mtu_bytes, begin=begin, end=end)
