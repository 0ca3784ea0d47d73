"""The commands that repeat a trial, as the engine's command line takes them."""

import shlex

from benchweb.charts.run.reproduce import TrialCommand, engine_command, run_commands
from benchweb.hosts.models import Endpoint, Pair
from benchweb.runs.models import Run
from tests.charts.rows import trial

FINGERPRINT = "sha256:" + "ab" * 32


def test_a_command_names_peer_addresses_pin_and_every_given_parameter() -> None:
    sink = Endpoint(control_address="192.0.2.2:7410", data_address="198.51.100.2", fingerprint=FINGERPRINT)
    params = {"message_size_bytes": 1024, "nodelay": True, "duration_seconds": 1.5}
    assert engine_command(pair=Pair(sink=sink), kind="tcp_stream", params=params) == (
        "benchweb-engine run tcp_stream --peer 192.0.2.2:7410 --token-file TOKEN-FILE --data-address 198.51.100.2"
        f" --peer-fingerprint {FINGERPRINT}"
        " --set message_size_bytes=1024 --set nodelay=true --set duration_seconds=1.5"
    )


def test_what_is_not_known_of_the_sink_is_left_out() -> None:
    sink = Endpoint(control_address="[2001:db8::2]:7410")
    assert shlex.split(engine_command(pair=Pair(sink=sink), kind="tcp_rr", params={})) == [
        "benchweb-engine", "run", "tcp_rr", "--peer", "[2001:db8::2]:7410", "--token-file", "TOKEN-FILE",
    ]  # fmt: skip


def test_a_host_name_for_test_traffic_is_looked_up_by_the_shell() -> None:
    command = engine_command(
        pair=Pair(sink=Endpoint(control_address="b:1", data_address="b.lab")), kind="tcp_rr", params={}
    )
    assert "--data-address \"$(getent ahosts b.lab | awk 'NR == 1 { print $1 }')\"" in command


def test_a_value_with_shell_characters_stays_one_word() -> None:
    sink = Endpoint(control_address="192.0.2.2:7410")
    command = engine_command(pair=Pair(sink=sink), kind="tcp_stream", params={"source_cpus": "0,2-3; rm -rf $HOME"})
    assert shlex.split(command)[-1] == "source_cpus=0,2-3; rm -rf $HOME"


def test_repetitions_share_one_command() -> None:
    run = Run(pair=Pair(sink=Endpoint(control_address="b:1")))
    rows = [trial(flows=1), trial(flows=2), trial(flows=1)]
    one, two = run_commands(run, rows)
    assert one == TrialCommand(
        "benchweb-engine run tcp_stream --peer b:1 --token-file TOKEN-FILE --set flows=1",
        [rows[0].index, rows[2].index],
    )
    assert two.trials == [rows[1].index]
