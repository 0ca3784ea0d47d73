"""`python -m bench.fleet --engines 1000 --folder DIR`: simulate until SIGTERM; prints one JSON line when all listen.

Commands come as JSON lines over the socket FOLDER/fleet.sock: {"fault": NAME, "engine": N}, {"cut": [N, M], "is_cut":
true}, {"slow": N, "share": 0.6}, {"report": true}; each is answered by one line.
"""

import argparse
import asyncio
import json
import resource
import secrets
import signal
from pathlib import Path
from typing import Any

from bench.fleet.engine import FAULTS
from bench.fleet.fleet import Fleet

SOCKET_NAME = "fleet.sock"
# Two connections for each session of a few hundred runs at once, beside a listener an engine.
DESCRIPTORS = 16_000


async def obey(fleet: Fleet, command: dict[str, Any]) -> dict[str, Any]:
    """Carry out one command."""
    if "fault" in command:
        if command["fault"] not in FAULTS:
            return {"error": f"faults are {', '.join(FAULTS)}"}
        await fleet.suffer(int(command["engine"]), command["fault"])
        return {}
    if "cut" in command:
        one, other = command["cut"]
        fleet.cut(one, other, is_cut=bool(command["is_cut"]))
        return {}
    if "slow" in command:
        fleet.slow(int(command["slow"]), float(command["share"]))
        return {}
    return fleet.report()


async def simulate(arguments: argparse.Namespace) -> None:
    """Listen, say where, and go on until told to stop."""
    token = secrets.token_hex(32)
    fleet = Fleet(arguments.engines, arguments.network, token)
    fingerprint = await fleet.listen(arguments.port, arguments.folder / "engine.pem")

    async def commands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(json.dumps(await obey(fleet, json.loads(line))).encode() + b"\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(commands, arguments.folder / SOCKET_NAME)
    engines = [f"{engine.address}:{engine.port}" for engine in fleet.engines]
    announcement = {"engines": engines, "fingerprint": fingerprint, "token": token}
    print(json.dumps(announcement), flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    house = asyncio.create_task(fleet.keep_house())
    await stop.wait()
    house.cancel()
    server.close()
    for engine in fleet.engines:
        engine.cut_off()
    # Their connections' tasks end by it, and none is left for the loop's end to cancel aloud.
    await asyncio.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=int, default=10)
    parser.add_argument("--network", default="127.80.0.0/16", help="loopback addresses that the engines count up from")
    parser.add_argument("--port", type=int, default=0, help="0: a free one each")
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    asyncio.run(simulate(arguments))


if __name__ == "__main__":
    main()
