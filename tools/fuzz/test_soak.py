"""A slice of the soak in a process of its own, and that it finds what it looks for."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("the soak needs limits, forks and /proc of Linux", allow_module_level=True)

from random import Random

from fuzz import soak, soak_faults, soak_work
from fuzz.soak import Sample, Workers, leaks
from fuzz.soak_faults import FAULTS, Place, after, fork, wait_for
from fuzz.soak_work import JOBS, Work

import ubpe_numba
from ubpe_numba import BPE

ROOT = pathlib.Path(ubpe_numba.__file__).parents[1]


@pytest.fixture(scope="module")
def work() -> Work:
    return soak_work.prepare(5)


@pytest.fixture
def place(work: Work, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place without a file system of its own: this process goes on after the test."""
    monkeypatch.setattr("fuzz.soak_faults.mount", lambda folder, size: False)
    return Place(work, tmp_path, 5)


def test_twenty_seconds_without_a_finding() -> None:
    command = [sys.executable, str(pathlib.Path(soak.__file__)), "--minutes", "0.35", "--seed", "7"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    told = process.stdout + process.stderr
    assert process.returncode == 0, told
    assert "0 findings" in told
    for kind in FAULTS:
        assert f"\n{kind.name} " in told or (kind.name == "disk" and os.getuid() != 0), (
            f"{kind.name} was left out: {told}"
        )
    if os.getuid() != 0:
        pytest.skip("a full disk needs root: it was left out; the other faults were there, without a finding")


@pytest.mark.parametrize("job", dict.fromkeys(JOBS), ids=lambda job: job.__name__)
def test_every_job_passes(work: Work, place: Place, job: soak_work.Job) -> None:
    for seed in range(3):
        job(work, Random(seed), place.models)


def spoilt(work: Work) -> Work:
    """Shared tokenizers are smaller than those that what is known comes from, and no fingerprint is right."""
    known = [
        k._replace(
            shared=tuple(t.truncate(len(t._model.vocabulary) - 3) for t in k.shared),
            fingerprint="",
            refined=k.refined and "",
        )
        for k in work.known
    ]
    refitted = [k._replace(fingerprints=("", "")) for k in work.refitted]
    return work._replace(
        known=known, fingerprints=dict.fromkeys(work.fingerprints, frozenset()), refitted=refitted
    )


#: Jobs that compare nothing: others meet what they leave, or they see whether the process lives.
_NO_RESULT = (
    soak_work.save,
    soak_work.references,
    soak_work.fit_again,
    soak_work.write,
    soak_work.read_written,
)


@pytest.mark.parametrize("job", [job for job in dict.fromkeys(JOBS) if job not in _NO_RESULT])
def test_a_wrong_result_is_found(
    work: Work, place: Place, job: soak_work.Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = spoilt(work)
    if job is soak_work.count:
        monkeypatch.setattr(soak_work, "count_documents", lambda docs: ubpe_numba.count_documents(docs[:-1]))
    if job is soak_work.fit_fewer:
        wrong = wrong._replace(known=[k._replace(docs=k.docs[: len(k.docs) // 2]) for k in work.known])

    def ten_times() -> None:
        for seed in range(10):
            job(wrong, Random(seed), place.models)

    with pytest.raises((AssertionError, ubpe_numba.errors.UnknownTokenError)):
        ten_times()


def test_files_left_behind_half_written_or_of_another_model_are_found(work: Work, place: Place) -> None:
    after(place)
    assert place.findings == []
    (place.models / ".BPE-0.npz.0123.tmp").write_bytes(b"")
    after(place)
    assert place.findings == ["files: models: .BPE-0.npz.0123.tmp was left behind"]
    (place.models / ".BPE-0.npz.0123.tmp").unlink()
    whole = (place.models / "UBPE-1.npz").read_bytes()
    (place.models / "UBPE-1.npz").write_bytes(whole[:-100])
    BPE.from_merges([[0, 1]], alphabet=2).save(place.small / "BPE-0.json")
    after(place)
    assert "UBPE-1.npz: ModelFormatError" in place.findings[1]
    assert place.findings[2:] == ["files: small: BPE-0.json is of a model that was never saved"]


def test_children_that_fail_crash_or_hang_are_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AssertionError("of no use")

    wait_for(fork(lambda: None, place), "one", place)
    assert place.findings == []
    wait_for(fork(fail, place), "one", place)
    assert "one ended with 1: Traceback" in place.findings[0] and "of no use" in place.findings[0]
    wait_for(fork(lambda: os.kill(os.getpid(), signal.SIGKILL), place), "two", place)
    assert place.findings[1].startswith(f"two ended with {-signal.SIGKILL}")
    monkeypatch.setattr(soak_faults, "CHILD_SECONDS", 0.2)
    wait_for(fork(lambda: time.sleep(100), place), "three", place)
    assert place.findings[2].startswith("three hangs")


def test_errors_that_a_fault_does_not_explain_are_found(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def job(*_: object) -> None:
        time.sleep(0.01)
        raise MemoryError

    monkeypatch.setattr(soak, "JOBS", [job])
    for fault, found in ((soak_faults.Memory(place), False), (soak_faults.Forks(place), True)):
        workers = Workers(place, 1, fault)
        time.sleep(0.1)
        workers.pause()
        workers.end()
        assert any("MemoryError" in finding for finding in place.findings) == found
        assert sum(counter.total() for counter in workers.failed) > 0


def test_a_job_that_hangs_is_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(soak, "JOBS", [lambda *_: go.wait()])
    monkeypatch.setattr(soak, "HANGS", 0.1)
    workers = Workers(place, 1, soak_faults.Fault(place))
    time.sleep(0.2)
    try:
        with pytest.raises(TimeoutError, match="has been running"):
            workers.pause()
    finally:
        go.set()
        workers.end()


def test_a_question_for_the_time_of_day_is_found(place: Place) -> None:
    space = {"__name__": "ubpe_numba.runtime.nothing", "time": time}
    asks = threading.Timer(0.1, exec, ("time.time()", space))
    asks.start()
    soak_faults.Clock(place).disturb(time.monotonic() + 0.3)
    asks.join()
    assert place.findings == ["clock: ubpe_numba.runtime.nothing asks for the time of day"]
    assert time.time.__name__ == "time" and abs(time.time() - place.models.stat().st_mtime) < 600


def test_what_grows_is_found() -> None:
    few = [Sample(i, "none", 10**8, 5, 9) for i in range(40)]
    assert leaks(few) == []
    assert leaks([s._replace(rss=10**8 + 10**6 * i) for i, s in enumerate(few)]) == [
        "memory: from 100 to 128 MiB"
    ]
    assert leaks([s._replace(rss=10**8 + 10**6 * i) for i, s in enumerate(few)], of_memory=False) == []
    assert leaks([s._replace(threads=9 + i // 10) for i, s in enumerate(few)]) == ["threads: from 9 to 12"]
    assert leaks([s._replace(descriptors=5 + i % 2) for i, s in enumerate(few)]) == []
