"""ab, hey and oha: what each prints of a load, and what became of its requests; worked out by hand from each text."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchweb.imports.trials import trials_of
from benchweb.toolformats.document import read_bytes, read_text
from benchweb.toolformats.readings import Reading

FOLDER = Path(__file__).parent / "outputs"
MEBI = 2**20
AB = (FOLDER / "ab.txt").read_text()
HEY = (FOLDER / "hey.txt").read_text()
OHA: dict[str, Any] = json.loads((FOLDER / "oha.json").read_text())
# Of ab's lines from this one on.
RESULTS = AB[AB.index("Server Software:") :]


def one(text: str) -> Reading:
    [reading] = read_text(text)
    return reading


def of_file(name: str) -> Reading:
    document = read_bytes((FOLDER / name).read_bytes())
    [reading] = document
    assert document.unread == ()
    assert reading.kind == "http_load"
    return reading


@pytest.mark.parametrize(
    ("name", "parameters", "figures"),
    [
        (
            "ab.txt",
            {"url": "http://127.0.0.1:3000/ping.txt", "connections": 10, "duration_seconds": 1.324,
             "response_size_bytes": 5162},
            {"requests_per_second": 377.57, "requests": 500, "received_bytes": 2769783, "errors": 0,
             "received_bytes_per_second": 2042.55 * 1024, "failed_responses": 0, "latency_min_seconds": 7e-3,
             "latency_mean_seconds": 26e-3, "latency_stddev_seconds": 25.7e-3, "latency_p50_seconds": 19e-3,
             "latency_p99_seconds": 183e-3, "latency_max_seconds": 183e-3, "seconds_per_request": 26.485e-3},
        ),
        (
            # Of five requests both a receive error and an exception: five had no answer, three were other than 2xx.
            "ab_failed.txt",
            {"url": "https://10.0.0.2/upload", "connections": 5},
            {"failed_responses": 8, "errors": 5, "read_errors": 5, "length_errors": 3, "kept_alive_requests": 92,
             "latency_mean_seconds": 0.668, "latency_max_seconds": 0.898, "latency_p50_seconds": None},
        ),
        (
            "hey.txt",
            {"url": "http://10.0.0.2:8080/ping.txt", "connections": 20, "response_size_bytes": 1000},
            {"requests_per_second": 242.4661, "requests": 2425, "failed_responses": 100, "errors": 0,
             "received_bytes": 2425000, "received_bytes_per_second": 2425000 / 10.0014,
             "latency_mean_seconds": 0.0828, "latency_min_seconds": 0.0053, "latency_max_seconds": 0.1948,
             "latency_p50_seconds": 0.0790, "latency_p99_seconds": 0.1636},
        ),
        (
            # What was on its way when the time was over is no failure; percentiles of 2xx alone are a part.
            "oha.txt",
            {"duration_seconds": 1.2452186},
            {"requests_per_second": 80307.1842, "requests": 99980, "failed_responses": 0, "errors": 0,
             "received_bytes": 153.67 * MEBI, "received_bytes_per_second": 15.37 * MEBI,
             "latency_mean_seconds": 0.6194e-3, "latency_p50_seconds": 0.551e-3, "latency_p999_seconds": 3.4462e-3},
        ),
        (
            "oha.json",
            {"duration_seconds": 10.0, "response_size_bytes": 1000},
            {"requests_per_second": 2767.3, "requests": 27653, "failed_responses": 0, "errors": 0,
             "received_bytes": 27653000, "received_bytes_per_second": 2765300, "latency_mean_seconds": 0.01,
             "latency_p50_seconds": 0.009, "latency_p999_seconds": 0.05, "latency_p9999_seconds": None},
        ),
    ],
)  # fmt: skip
def test_a_load_has_the_figures_of_its_text(
    name: str, parameters: dict[str, object], figures: dict[str, float | None]
) -> None:
    reading = of_file(name)
    assert (reading.tool, reading.error) == (name.partition(".")[0].partition("_")[0], "")
    assert parameters.items() <= reading.parameters.items()
    found = {metric: reading.value(metric) for metric in figures}
    assert found == {metric: value if value is None else pytest.approx(value) for metric, value in figures.items()}


def test_a_size_that_is_a_mean_is_no_size() -> None:
    assert "response_size_bytes" not in of_file("oha.txt").parameters
    assert "response_size_bytes" not in one(HEY.replace("2425000", "2425300")).parameters
    # Documents that differ in length, or of which some are other than 2xx.
    assert "response_size_bytes" not in of_file("ab_failed.txt").parameters


def test_what_ab_says_beside_its_figures_is_remarked() -> None:
    remarks = of_file("ab.txt").remarks
    assert remarks == [
        "WARNING: The median and mean for the total time are not within a normal deviation",
        "Each request opened a connection of its own: none was kept alive.",
    ]
    assert of_file("ab_failed.txt").remarks == [
        "5 requests without an answer are in the rate: counted as failed responses.",
        "3 documents differ from the first in length: ab alone calls them failed.",
    ]


def test_ab_is_read_without_its_head_and_one_test_after_the_other() -> None:
    for head in ("Server Hostname:", "Document Path:", "Concurrency Level:"):
        reading = one(AB[AB.index(head) :])
        assert (reading.error, reading.value("requests_per_second")) == ("", 377.57)
    assert [each.value("requests") for each in read_text(AB + AB)] == [500, 500]
    assert [each.value("requests") for each in read_text(RESULTS + RESULTS)] == [500, 500]


def test_another_tool_s_summary_is_none_of_ab_s() -> None:
    weed = (
        "Concurrency Level:      16\nTime taken for tests:   88.796 seconds\nComplete requests:      1048576\n"
        "Requests per second:    11808.87 [#/sec]\n"
    )
    document = read_text(weed)
    assert document.readings == ()
    assert [each.line for each in document.unread] == [4]
    assert len(read_text(AB + "\n" + weed).readings) == 1
    ghz = "Summary:\n  Count:\t200\n  Total:\t181.57 ms\n  Slowest:\t69.60 ms\n  Requests/sec:\t1101.53\n"
    assert read_text(ghz).readings == ()


def test_percentiles_that_ab_wrote_by_e() -> None:
    reading = one("Percentage served,Time in ms\n0,0.123\n50,1.500\n99,7.250\n100,9.001\n")
    assert {figure.metric: figure.value for figure in reading.figures} == pytest.approx(
        {
            "latency_min_seconds": 0.123e-3,
            "latency_p50_seconds": 1.5e-3,
            "latency_p99_seconds": 7.25e-3,
            "latency_max_seconds": 9.001e-3,
        }
    )
    assert "cut off" in one("Percentage served,Time in ms\n0,0.123\n50,1.500\n").error


BANNER = "This is ApacheBench, Version 2.3 <$Revision: 1879490 $>\n\n"
ALL_FAILED = "All {} responses were errors, other than 2xx and 3xx: their rate measures nothing."
FAULTS = {
    "ab whose server didn't answer": (
        BANNER + "Benchmarking 10.0.0.2 (be patient)...apr_pollset_poll: The timeout specified has expired (70007)\n"
        "Total of 6 requests completed\n",
        "apr_pollset_poll: The timeout specified has expired (70007)",
    ),
    "ab that was refused": (
        BANNER + "Benchmarking 10.0.0.2 (be patient)\n\nTest aborted after 10 failures\n\n"
        "apr_socket_connect(): Connection refused (111)\n",
        "apr_socket_connect(): Connection refused (111)",
    ),
    "ab whose complaint is all that was kept": (
        "apr_sockaddr_info_get() for nowhere.invalid: Name or service not known (670002)\n",
        "apr_sockaddr_info_get() for nowhere.invalid: Name or service not known (670002)",
    ),
    "ab that was called wrongly": (
        "ab: Cannot use concurrency level greater than total number of requests\n",
        "Cannot use concurrency level greater than total number of requests",
    ),
    "ab that was cut off": (
        AB[: AB.index("Transfer rate")],
        "The test has no summary: it was cut off.",
    ),
    "ab that was interrupted": (
        AB.replace("Finished 500 requests\n", "^C\n"),
        "The test was interrupted before its last request.",
    ),
    "ab that was interrupted early": (
        BANNER + "Benchmarking 127.0.0.1 (be patient)...^C\n\n" + RESULTS,
        "The test was interrupted before its last request.",
    ),
    "ab of which all are other than 2xx": (
        AB.replace("Failed requests:        0\n", "Failed requests:        0\nNon-2xx responses:      500\n"),
        "All 500 responses were other than 2xx: their rate measures nothing.",
    ),
    "ab without a byte": (
        AB.replace("2769783 bytes", "0 bytes").replace("2042.55", "0.00"),
        "No byte of an answer arrived: the rate measures nothing.",
    ),
    "hey that was refused": (
        (FOLDER / "hey_refused.txt").read_text(),
        'Get "http://localhost:8080/": dial tcp [::1]:8080: connect: connection refused',
    ),
    "hey of which all are errors": (
        HEY.replace("[200]\t2325", "[404]\t2325"),
        ALL_FAILED.format("2,425"),
    ),
    "hey that was interrupted": (
        HEY.replace("-z 10s", "-z 1m"),
        "The test ended after 10.0014 of 60 seconds: it was interrupted.",
    ),
    "hey that was cut off": (
        HEY[: HEY.index("  Requests/sec")],
        "The output ends before Requests/sec: the test was cut off.",
    ),
    "oha whose time was over before an answer": (
        "Summary:\n  Success rate:\tNaN%\n  Total:\t611658.0000 ns\n  Slowest:\t-inf ns\n  Fastest:\tinf ns\n"
        "  Average:\tNaN ns\n  Requests/sec:\t1634.9005\n\n  Total data:\t0 B\n  Size/request:\tNaN\n"
        "  Size/sec:\t0 B\n\nStatus code distribution:\n\nError distribution:\n  [1] aborted due to deadline\n",
        "aborted due to deadline",
    ),
    "oha's JSON of errors": (
        json.dumps(OHA | {"statusCodeDistribution": {"503": 27653}}),
        ALL_FAILED.format("27,653"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_load_that_failed_says_why(name: str) -> None:
    text, error = FAULTS[name]
    reading = one(text)
    assert reading.error == error
    assert reading.kind == "http_load"
    assert all(trial.error for trial in trials_of(read_text(text))[0])


def test_a_file_of_ab_s_standard_output_alone_has_no_progress() -> None:
    assert one(BANNER + "Benchmarking 127.0.0.1 (be patient)\n\n\n" + RESULTS).error == ""
    assert one(BANNER + "Benchmarking 127.0.0.1 (be patient).....done\n\n\n" + RESULTS).error == ""


def test_over_one_per_cent_of_failed_requests_is_flagged() -> None:
    flags = [trials_of(read_text(text))[0][0].flags for text in (HEY, (FOLDER / "ab_failed.txt").read_text())]
    assert flags == [["responses_failed"], ["responses_failed"]]
    few = json.dumps(OHA | {"statusCodeDistribution": {"200": 27633, "500": 20}})
    assert trials_of(read_text(few))[0][0].flags == []
    unanswered = OHA | {"errorDistribution": {"connection closed before message completed": 553}}
    unanswered["summary"] = OHA["summary"] | {"successRate": 27653 / 28206, "requestsPerSec": 2820.6}
    [trial] = trials_of(read_text(json.dumps(unanswered)))[0]
    assert (trial.flags, trial.metrics["failed_responses"], trial.metrics["errors"]) == (["responses_failed"], 553, 553)


def test_a_test_that_was_over_at_once_is_flagged_by_its_counts() -> None:
    text = (
        (FOLDER / "ab_failed.txt")
        .read_text()
        .replace("13.862 seconds", "0.014 seconds")
        .replace("7.21 [#", "7139.80 [#")
    )
    [trial] = trials_of(read_text(text))[0]
    assert trial.flags == ["responses_failed"]
    assert "duration_seconds" not in trial.params


def test_a_rate_without_the_unanswered_doesn_t_count_them() -> None:
    reading = one(HEY.rstrip() + '\n\nError distribution:\n  [300]\tGet "http://10.0.0.2/": EOF\n')
    assert (reading.value("requests"), reading.value("failed_responses"), reading.value("errors")) == (2425, 100, 300)


def test_figures_that_don_t_fit_are_remarked() -> None:
    assert one(AB.replace("377.57", "977.57")).remarks[-1] == (
        "977.57 requests/s are printed beside 500 requests in 1.324 s: they don't fit."
    )
    # Of 60 requests 20 were on their way when the time was over: they are in the rate.
    late = OHA["summary"] | {"requestsPerSec": 6.0}
    assert one(json.dumps(OHA | {"summary": late, "statusCodeDistribution": {"200": 40}})).remarks == []
    share = json.dumps(OHA | {"errorDistribution": {"connection error": 27653}})
    assert one(share).remarks[0].startswith("100 % is printed beside 27653/55306, which is 50 %")


def test_statuses_that_aren_t_printed_may_hide_failures() -> None:
    reading = one(HEY[: HEY.index("Response time histogram")])
    assert (reading.error, reading.value("failed_responses")) == ("", None)
    assert reading.remarks == ["How the requests were answered isn't printed: they may have failed."]


@pytest.mark.parametrize(
    ("command", "connections"),
    [
        ("$ hey -z 10s http://10.0.0.2/", 50),
        ("# /usr/local/bin/hey -c 8 http://10.0.0.2/", 8),
        ("$ hey -c $C http://10.0.0.2/", None),
        ("oh hey there", None),
        ("", None),
    ],
)
def test_connections_are_what_the_command_tells(command: str, connections: int | None) -> None:
    reading = one(command + HEY[HEY.index("\n") :])
    assert reading.parameters.get("connections") == connections


def test_an_unknown_number_of_connections_is_unknown() -> None:
    [trial] = trials_of(read_bytes((FOLDER / "oha.json").read_bytes()))[0]
    # As fast as it can, which is the catalog's default too.
    assert (trial.params["connections"], trial.params["url"], "rate_rps" in trial.params) == (None, None, False)
    [limited] = trials_of(read_text(HEY.replace("-c 20", "-c 20 -q 100")))[0]
    assert limited.params["rate_rps"] is None


def test_what_follows_a_pipe_is_none_of_the_command() -> None:
    url = "http://10.0.0.2/?a=1&b=2"
    parameters = one(f"$ hey -c 5 '{url}' 2>&1 | tee -c 9 out > x\n{HEY.partition(chr(10))[2]}").parameters
    assert (parameters["url"], parameters["connections"]) == (url, 5)
