"""What mbw, STREAM, sysbench and fio print becomes tests of the catalog, told apart by what was measured."""

from pathlib import Path

import pytest

from benchweb.imports.trials import ImportedTrial, trials_of
from benchweb.results.models import Result, Series
from benchweb.toolformats.document import read_bytes, read_text
from tests.api.conftest import ApiClient
from tests.factories import make_endpoint, make_environment

FOLDER = Path(__file__).parents[1] / "toolformats"
MEBI = 2**20


def trials(path: str) -> list[ImportedTrial]:
    return trials_of(read_bytes((FOLDER / path).read_bytes()))[0]


def test_mbw_gives_the_mean_that_it_prints_and_the_best_of_its_rows_but_the_first() -> None:
    memcpy, *others = trials("outputs/mbw.txt")
    assert (memcpy.kind, memcpy.params["kernel"], memcpy.params["tool"]) == ("memory_bandwidth", "memcpy", "mbw")
    assert memcpy.metrics["memory_mean_bytes_per_second"] == pytest.approx(2699.511 * MEBI)
    assert memcpy.metrics["memory_bytes_per_second"] >= memcpy.metrics["memory_least_bytes_per_second"]
    assert {each.params["kernel"] for each in others} == {"dumb", "mcblock"}


def test_each_kernel_of_stream_is_a_test_and_its_rate_is_the_best_one() -> None:
    text = (
        "STREAM version $Revision: 5.10 $\nArray size = 100000000 (elements), Offset = 0 (elements)\n"
        "Number of Threads counted = 16\n"
        "Function    Best Rate MB/s  Avg time     Min time     Max time\n"
        "Copy:           11866.7     0.134832     0.134831     0.134834\n"
        "Triad:          13210.9     0.181671     0.181669     0.181675\n"
    )
    copy, triad = trials_of(read_text(text))[0]
    assert copy.params == {"tool": "stream", "kernel": "copy", "cores": 16, "array_bytes": 800_000_000}
    assert triad.metrics == {"memory_bytes_per_second": 13210.9e6}


def test_sysbench_writes_one_block_again_and_again() -> None:
    (memory,) = trials("outputs/sysbench_memory.txt")
    assert (memory.params["kernel"], memory.params["tool"]) == ("write", "sysbench")
    assert memory.metrics == {"memory_mean_bytes_per_second": pytest.approx(2144.77 * MEBI)}


def test_fio_s_mixed_job_is_one_test_with_reads_and_writes_apart() -> None:
    text = """{"fio version": "fio-3.33", "global options": {"rw": "randrw", "bs": "4k", "iodepth": "4", "direct": "1"},
      "jobs": [{"jobname": "j", "job options": {},
        "read": {"total_ios": 900, "iops": 300.0, "bw_bytes": 1228800, "lat_ns": {"mean": 8000000.0, "max": 9}},
        "write": {"total_ios": 300, "iops": 100.0, "bw_bytes": 409600, "lat_ns": {"mean": 16000000.0, "max": 9}}}]}"""
    (mixed,) = trials_of(read_text(text))[0]
    assert mixed.params == {
        "tool": "fio",
        "pattern": "randrw",
        "block_size_bytes": 4096,
        "depth": 4,
        "jobs": 1,
        "direct": True,
        "file_size_bytes": None,
    }
    assert (mixed.metrics["iops"], mixed.metrics["write_iops"], mixed.flags) == (400, 100, [])
    assert mixed.metrics["latency_mean_seconds"] == pytest.approx(0.01)


@pytest.mark.django_db
def test_a_published_baseline_is_imported_on_one_host_and_its_mixed_rows_are_flagged(api: ApiClient) -> None:
    endpoint, lab = make_endpoint(), make_environment()
    made = api.post("/pairs", {"source": endpoint.pk, "environment": lab.pk})
    assert (made.status_code, made.json()["is_one_host"]) == (201, True)
    text = (FOLDER / "published/server_baseline.md").read_text()
    imported = api.post("/imports", {"pair": made.json()["id"], "text": text, "at": "2021-05-01T00:00:00Z"})
    assert imported.status_code == 201, imported.json()
    results = Result.objects.filter(trial__run=imported.json()["run"]).select_related("trial")
    disks = {
        (each.trial.params["pattern"], each.trial.params["block_size_bytes"], each.trial.params["depth"]): each
        for each in results
        if each.trial.kind == "disk_io"
    }
    assert len(disks) == 14
    assert disks["randwrite", 4096, 1].metrics["iops"] == 317.55
    assert {key for key, each in disks.items() if each.flags == ["littles_law"]} == {
        ("randrw", 4096, 1),
        ("randrw", 4096, 32),
        ("randrw", 32768, 32),
        ("randrw", 65536, 64),
    }
    assert disks["randrw", 4096, 1].document["littles_law"] == {
        "in_flight": pytest.approx(172.4, abs=0.1),
        "depth": 1.0,
    }
    memory = Series.objects.filter(kind="memory_bandwidth", identity__tool="stream", identity__kernel="triad")
    # One core is the default, which an identity leaves out; "multi-threaded" is all of them.
    assert [series.identity.get("cores") for series in memory.order_by("id")] == [None, 0]
