"""Processes, threads, forks, signals, limits, and the cache on disk: each situation in interpreters of its own."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import textwrap
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any, NamedTuple

import pytest

import ubpe_numba
from ubpe_numba.runtime.compiler.cache import directory, kernel_sources

PACKAGE = pathlib.Path(ubpe_numba.__file__).parent
POSIX = sys.platform != "win32"
LINUX = sys.platform.startswith("linux")
ROOT_USER = POSIX and os.getuid() == 0
HANG = 180  # seconds: nothing here takes a quarter of it

PRELUDE = """
import hashlib, os, pathlib, pickle, signal, sys, threading, time, warnings
import numpy as np
from ubpe_numba import BPE, UBPE, Preprocessing, UBPEClassic, load
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError, UnknownTokenError
from ubpe_numba.runtime import thread_pool

def corpus(n=12_000, documents=30, top=40, seed=0):
    x = np.minimum(np.random.default_rng(seed).zipf(1.4, n), top).astype(np.int64)
    return np.array_split(x, documents)

def three(**params):
    return [BPE(200, **params), UBPEClassic(200, 20, **params), UBPE(200, 20, **params)]

def digest(tokenizer, docs):
    ids = tokenizer.encode_batch(docs)
    back = tokenizer.decode_batch(ids)
    assert np.array_equal(back.values, np.concatenate(docs)), "decoding does not give back what was encoded"
    text = tokenizer.fingerprint.encode() + ids.values.tobytes() + ids.offsets.tobytes()
    return hashlib.sha256(text).hexdigest()[:16]

def small():
    "A tokenizer without a fit: few kernels, soon compiled."
    return BPE.from_merges([[0, 1], [2, 0], [3, 2]], alphabet="ab")

def small_digest():
    tokenizer = small()
    ids = tokenizer.encode("abababbaab" * 20)
    assert tokenizer.decode(ids) == "abababbaab" * 20
    return hashlib.sha256(ids.tobytes()).hexdigest()[:16]

def wait(pid, seconds=30):
    "The exit code of a child; -1000 if it hangs, in which case it is killed."
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -1000

def child(function):
    "Fork, call, exit 0; 1 and the error on standard error if it raises. Returns the pid."
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        function()
        code = 0
    except BaseException as error:
        os.write(2, f"child: {error!r}".encode())
    finally:
        os._exit(code)
"""


class Little(NamedTuple):
    """A cache of the few kernels that a tokenizer without a fit needs, and what the process printed that filled it."""

    cache: pathlib.Path
    printed: str


def start(script: str, cache: pathlib.Path | None = None, path: pathlib.Path = PACKAGE.parent, **extra: str) -> Popen[str]:
    """Start an interpreter on the prelude and a script, with the cache of this run; warnings are errors, but of forks."""
    drop = ("UBPE_CACHE", "UBPE_CACHE_DIR", "UBPE_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_BOUNDSCHECK")
    environment = {k: v for k, v in os.environ.items() if k not in drop}
    environment |= {"PYTHONPATH": str(path), "UBPE_CACHE_DIR": str(cache or directory())}
    code = PRELUDE + textwrap.dedent(script)
    command = [sys.executable, "-P", "-W", "error", "-W", "ignore:This process:DeprecationWarning", "-c", code]
    return Popen(command, env=environment | extra, stdout=PIPE, stderr=PIPE, text=True)


def finish(process: Popen[str]) -> str:
    """Wait for a process; what it printed. AssertionError if it failed, hung or wrote to standard error."""
    try:
        out, err = process.communicate(timeout=HANG)
    except TimeoutExpired:
        process.kill()
        raise AssertionError(f"hangs: {process.communicate()}") from None
    assert (process.returncode, err) == (0, ""), f"exit code {process.returncode}\n{out[-2000:]}\n{err[-4000:]}"
    return out.strip()


def run(script: str, *arguments: Any, **extra: Any) -> str:
    """Run a script to its end; what it printed."""
    return finish(start(script, *arguments, **extra))


def intact(cache: pathlib.Path) -> dict[str, bytes]:
    """The checksums of all kernels in a cache; AssertionError for a damaged file or one that is no kernel."""
    sums = {}
    for file in cache.iterdir():
        data = file.read_bytes()
        assert file.suffix == ".nbc" and hashlib.sha256(data[32:]).digest() == data[:32], file.name
        sums[file.name] = data[:32]
    return sums


@pytest.fixture(scope="module")
def little(tmp_path_factory: pytest.TempPathFactory) -> Little:
    cache = tmp_path_factory.mktemp("little") / "cache"
    return Little(cache, run("print(small_digest())", cache))


# -------------------------------------------------------------------------------------------------- threads

EIGHT = """
docs = corpus()
found = [None] * 8
gate = threading.Barrier(8)
def work(i):
    gate.wait()
    found[i] = digest(three(n_threads=1 + i % 2)[i % 3].fit(docs), docs)
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(*found)
"""


def test_eight_threads_fit_and_encode_as_one_does() -> None:
    serial = run("docs = corpus()\nprint(*[digest(t.fit(docs), docs) for t in three(n_threads=1)])").split()
    assert run(EIGHT).split() == [serial[i % 3] for i in range(8)]
    assert len(set(serial)) == 3


def test_the_number_of_threads_changes_nothing() -> None:
    out = run("""
        docs = corpus(240_000, 50)
        for i in range(3):
            found = set()
            for n in (1, 2, 3, 8):
                found.add(digest(three(n_threads=n)[i].fit(docs), docs))
                os.environ["UBPE_NUM_THREADS"] = str(n)
                found.add(digest(three()[i].fit(docs), docs))
            assert len(found) == 1, found
        print(sorted(size for _, size in thread_pool._groups))
    """)
    assert out == "[2, 3, 8]"


EXITS = {
    "with work in a daemon": """
        threading.Thread(target=lambda: [tokenizer.encode_batch(docs) for _ in range(3)], daemon=True).start()
        print('done')
    """,
    "by sys.exit in a thread's work": """
        threading.Thread(target=lambda: thread_pool.run(lambda a, b: time.sleep(0.2), [(0, 1), (1, 2)], 2), daemon=True).start()
        time.sleep(0.1)
        print('done')
        sys.exit(0)
    """,
}


@pytest.mark.parametrize("how", EXITS)
def test_the_interpreter_exits_cleanly(how: str) -> None:
    setup = "docs = corpus(400_000, 50)\ntokenizer = BPE(100, n_threads=2).fit(docs[:5])\nthreading.excepthook = lambda _: None\n"
    assert run(setup + textwrap.dedent(EXITS[how])) == "done"


@pytest.mark.parametrize("used", [True, False])
def test_a_batch_at_the_end_of_the_interpreter(used: bool) -> None:
    """In a thread that outlives the main one, and at exit; with a pool from before and with none."""
    out = run(f"""
        import atexit
        docs = corpus(400_000, 50)
        tokenizer = BPE(100, n_threads=2).fit(docs[:5])
        tokenizer.encode(docs[0])
        expected = tokenizer.encode_batch(docs) if {used} else None
        def work():
            if threading.current_thread() is not threading.main_thread():
                threading.main_thread().join()
            ids = tokenizer.encode_batch(docs)
            print("done" if expected is None or ids == expected else "other ids", flush=True)
        atexit.register(work)
        threading.Thread(target=work).start()
    """)
    assert out.split() == ["done"] * 2


# -------------------------------------------------------------------------------------------------- forks

if POSIX:

    def test_fork_after_the_pool_has_started() -> None:
        run("""
            docs = corpus(300_000, 40)
            tokenizer = BPE(200, n_threads=2).fit(docs)
            expected = tokenizer.encode_batch(docs)
            assert thread_pool._groups
            def work():
                ids = tokenizer.encode_batch(docs)
                assert np.array_equal(ids.values, expected.values) and np.array_equal(ids.offsets, expected.offsets)
                assert list(thread_pool._groups) == [(os.getpid(), 2)]
            def grandchild():
                work()
                assert wait(child(work)) == 0
            assert wait(child(work)) == 0
            assert wait(child(grandchild)) == 0
            busy = threading.Thread(target=lambda: [tokenizer.encode_batch(docs) for _ in range(40)])
            busy.start()  # forks while the pool works
            codes = [wait(child(work)) for _ in range(6)]
            busy.join()
            assert codes == [0] * 6, codes
            work()
        """)

    @pytest.mark.parametrize("first", ["[digest(t.fit(docs), docs) for t in three(n_threads=2)]", "ubpe_numba.warmup()"])
    def test_fork_after_use_or_warmup_while_a_thread_compiles(first: str) -> None:
        run(f"""
            import numba, ubpe_numba
            docs = corpus(300_000, 40)
            {first}
            stop = threading.Event()
            def compile_on():
                while not stop.is_set():
                    numba.njit(lambda x: x + 1)(1)
            def work():
                [digest(t.fit(docs), docs) for t in three(n_threads=2)]
            thread = threading.Thread(target=compile_on)
            thread.start()
            try:
                codes = []
                for i in range(5):
                    time.sleep(0.013 * i)
                    codes.append(wait(child(work), 15))
            finally:
                stop.set()
                thread.join()
            assert codes == [0] * 5, codes
            work()
        """)

    def test_children_that_are_forked_in_the_middle_of_a_compile_compile_themselves(tmp_path: pathlib.Path) -> None:
        out = run(
            """
            found = []
            thread = threading.Thread(target=lambda: found.append(small_digest()))
            thread.start()
            pids = []
            while thread.is_alive():
                time.sleep(0.02)
                pids.append(child(small_digest))
            codes = [wait(pid, 120) for pid in pids]
            assert set(codes) == {0} and len(codes) > 1, codes
            assert found == [small_digest()]
            print(found[0])
            """,
            tmp_path / "cold",
        )
        before = intact(tmp_path / "cold")
        assert run("print(small_digest())", tmp_path / "cold") == out
        assert intact(tmp_path / "cold") == before

    def test_children_that_are_forked_while_kernels_are_loaded_load_them_too() -> None:
        run("""
            docs = corpus(3_000, 5)
            work = lambda: [digest(t.fit(docs), docs) for t in three(n_threads=2)]
            thread = threading.Thread(target=work)
            thread.start()
            pids = []
            while thread.is_alive() and len(pids) < 12:
                time.sleep(0.02)
                pids.append(child(work))
            thread.join()
            codes = [wait(pid, 120) for pid in pids]
            assert set(codes) == {0} and len(codes) > 1, codes
        """)

    def test_ctrl_c_during_a_fork_that_waits_for_the_compiler_is_raised_after_it(little: Little) -> None:
        run(
            """
            from numba.core.compiler_lock import global_compiler_lock
            import ubpe_numba.runtime.compiler
            held, go = threading.Event(), threading.Event()
            def hold():
                with global_compiler_lock:
                    held.set()
                    assert go.wait(60)
            thread = threading.Thread(target=hold)
            thread.start()
            assert held.wait(60)
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            threading.Timer(0.6, go.set).start()
            interrupted = False
            pid = None
            try:
                pid = child(small_digest)
                while True:  # a long sleep would not be woken
                    time.sleep(0.01)
            except KeyboardInterrupt:
                interrupted = True
            assert interrupted and go.is_set() and wait(pid, 120) == 0
            thread.join()
            assert global_compiler_lock._lock.acquire(blocking=False)
            """,
            little.cache,
        )


WORKERS = """
import multiprocessing, os, pickle, sys
import numpy as np

def threads():
    from ubpe_numba.runtime.arrays import resolve_threads
    return resolve_threads(None)

def work(tokenizer, docs):
    ids = tokenizer.encode_batch(docs)
    from ubpe_numba.runtime import thread_pool
    sizes = [size for pid, size in thread_pool._groups if pid == os.getpid()]
    return ids.values.tobytes(), ids.offsets.tobytes(), tokenizer.fingerprint, sizes

if __name__ == "__main__":
    from joblib import Parallel, delayed
    from ubpe_numba import BPE, UBPE
    docs = np.array_split(np.minimum(np.random.default_rng(0).zipf(1.4, 240_000), 40), 30)
    tokenizers = [BPE(100, n_threads=3).fit(docs), UBPE(100, 20, n_threads=3).fit(docs)]
    expected = [work(tokenizer, docs) for tokenizer in tokenizers]
    assert [sizes for *_, sizes in expected] == [[3], [3]]
    jobs = [(tokenizer, docs) for tokenizer in pickle.loads(pickle.dumps(tokenizers))]
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.starmap(work, jobs * 2, 1)
        assert found == expected * 2, (method, [one[2:] for one in found])
    found = Parallel(n_jobs=2)(delayed(work)(*job) for job in jobs * 2)
    assert found == expected * 2, [one[2:] for one in found]
    # joblib gives each worker its share of the processors, by NUMBA_NUM_THREADS: 1 where there are two
    share = max(1, len(os.sched_getaffinity(0)) // 2) if hasattr(os, "sched_getaffinity") else None
    assert share in (None, *Parallel(n_jobs=2)([delayed(threads)()])), share
    print("done")
"""


def test_worker_processes_encode_the_same(tmp_path: pathlib.Path) -> None:
    """Started in every way, and by joblib."""
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr[-3000:]


# -------------------------------------------------------------------------------------------------- the cache

WARNED = """
def warned(*expected):
    "A tokenizer decodes, by modules that are imported anew, as in a process of its own; there are these warnings."
    for name in [n for n in sys.modules if n.startswith("ubpe_numba")]:
        del sys.modules[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from ubpe_numba import BPE
        tokenizer = BPE.from_merges([[0, 1], [2, 0], [3, 2]], alphabet="ab")
        assert (tokenizer.decode([2]), tokenizer.decode([4])) == ("ab", "abaab")
    found = [w.category.__name__ for w in caught]
    assert found == [*expected], found
"""


def test_the_directory_of_the_cache_is_private(little: Little) -> None:
    assert little.cache.stat().st_size and intact(little.cache)
    if POSIX:
        assert stat.S_IMODE(little.cache.stat().st_mode) == 0o700
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in little.cache.iterdir())


def test_caches_that_cannot_be_used_are_one_warning(tmp_path: pathlib.Path) -> None:
    """Without a cache there is none, and no file."""
    (tmp_path / "file").write_bytes(b"x")
    caches = [tmp_path / "file", tmp_path / "file" / "sub", tmp_path / ("x" * 300)]
    if POSIX:
        (tmp_path / "shut").mkdir(mode=0o500)
        (tmp_path / "open").mkdir()
        (tmp_path / "open").chmod(0o777)
        caches += [tmp_path / "shut", tmp_path / "open"]
    if ROOT_USER:  # who may write everywhere
        os.chown(tmp_path / "shut", 12345, 12345)
    before = sorted(tmp_path.rglob("*"))
    script = f"""
for cache in {[*map(str, caches)]}:
    os.environ["UBPE_CACHE_DIR"] = cache
    warned("RuntimeWarning")
os.environ |= {{"UBPE_CACHE": "0", "UBPE_CACHE_DIR": {str(tmp_path / "new")!r}}}
warned()
"""
    if POSIX:
        script += f"""
import resource
del os.environ["UBPE_CACHE"]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
os.environ["UBPE_CACHE_DIR"] = {str(tmp_path / "full")!r}
warned("RuntimeWarning")
os.rmdir({str(tmp_path / "full")!r})
"""
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "xdg"), "LOCALAPPDATA": str(tmp_path / "local")}
    run(WARNED + script, **home)
    assert sorted(tmp_path.rglob("*")) == before


if POSIX:

    def test_without_a_home_kernels_are_kept_in_the_folder_for_temporary_files(tmp_path: pathlib.Path) -> None:
        script = """
import pwd
def nobody(uid):
    raise KeyError(uid)
pwd.getpwuid = nobody
for name in ("HOME", "XDG_CACHE_HOME", "UBPE_CACHE_DIR"):
    os.environ.pop(name, None)
warned()
"""
        run(WARNED + script, TMPDIR=str(tmp_path))
        (folder,) = tmp_path.glob("ubpe_numba-*")
        assert intact(folder) and stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_damaged_files_of_the_cache(little: Little, tmp_path: pathlib.Path) -> None:
    """One is compiled anew and written again, with one warning; a folder stays in the way."""
    cache = tmp_path / "cache"
    shutil.copytree(little.cache, cache)
    run(f"""{WARNED}
cache = pathlib.Path({str(cache)!r})
file = min(cache.glob("vocabulary.arena.*"), key=lambda file: file.stat().st_size)
good = file.read_bytes()
for data in (good[: len(good) // 2], b"", good[:99] + bytes([good[99] ^ 4]) + good[100:], good[:20],
             hashlib.sha256(b"hello").digest() + b"hello", hashlib.sha256(b"N.").digest() + b"N."):  # no pickle, and another
    file.write_bytes(data)
    warned("RuntimeWarning")
    found = file.read_bytes()
    assert found != data and hashlib.sha256(found[32:]).digest() == found[:32]
warned()
file.unlink()
file.mkdir()
warned("RuntimeWarning")
file.rmdir()
""", cache)  # fmt: skip
    assert intact(cache).keys() < intact(little.cache).keys()


def test_threads_of_processes_that_race_on_a_cold_cache(little: Little, tmp_path: pathlib.Path) -> None:
    cache = tmp_path / "cold"
    work = EIGHT.replace("digest(three(n_threads=1 + i % 2)[i % 3].fit(docs), docs)", "small_digest()")
    racers = [start(work, cache, **extra) for extra in ({}, {"NUMBA_CPU_NAME": "generic"})]
    assert [finish(racer).split() for racer in racers] == [[little.printed] * 8] * 2
    before = intact(cache)
    assert len(before) == 2 * len(intact(little.cache))  # each processor has its own
    for extra in ({}, {"NUMBA_CPU_NAME": "generic"}):
        assert run("print(small_digest())", cache, **extra) == little.printed
    assert intact(cache) == before


#: A helper that a kernel of another folder calls, and a kernel, each defined once more at the end of its file, in another way.
CHANGED = {
    "runtime/machine/bytes.py": "def equal(text, *_): return text & 0",  # no byte is a space
    "vocabulary/kernels/arena.py": "@kernel\ndef fill_arena(*args):\n    for i in range(args[-1].size): args[-1][i] = 0",
}
PRINTS = """
import ubpe_numba
from ubpe_numba.text import Pretokenizer
assert ubpe_numba.__file__.startswith({!r})
print(*Pretokenizer('gpt2').split(np.frombuffer(b'low low lower', np.uint8), np.array([0, 13])))
print(*BPE.from_merges([[0, 1]], alphabet=2).decode([2, 2]))
"""


def test_the_hash_is_of_every_compiled_file() -> None:
    known = {file.relative_to(PACKAGE) for file in kernel_sources()}
    compiled = re.compile(r"^@(kernel|helper|section|kernel_with_scratch|intrinsic)\b", re.MULTILINE)
    found = {file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.py") if compiled.search(file.read_text(encoding="utf-8"))}
    assert found and found <= known


def test_changed_files_are_compiled_anew(tmp_path: pathlib.Path) -> None:
    """In a new process and with the same cache; once the files are as before, the first kernels are used again."""
    shutil.copytree(PACKAGE, tmp_path / "copy" / "ubpe_numba", ignore=shutil.ignore_patterns("__pycache__"))
    files = {tmp_path / "copy" / "ubpe_numba" / name: change for name, change in CHANGED.items()}
    originals = {file: file.read_text() for file in files}

    def printed() -> list[str]:
        out = run(PRINTS.format(str(tmp_path)), tmp_path / "cache", tmp_path / "copy", PYTHONDONTWRITEBYTECODE="1")
        return out.splitlines()

    assert printed() == ["0 3 7 13", "0 1 0 1"]
    kernels = intact(tmp_path / "cache")
    for file, change in files.items():
        file.write_text(f"{originals[file]}\n\nfrom ubpe_numba.runtime.compiler import helper, kernel\n\n\n{change}\n")
    assert printed() == ["0 3 4 7 8 13", "0 0 0 0"]
    more = intact(tmp_path / "cache")
    assert kernels.items() < more.items()
    for file, original in originals.items():
        file.write_text(original)
    assert printed() == ["0 3 7 13", "0 1 0 1"]
    assert intact(tmp_path / "cache") == more


def test_every_kernel_has_one_signature(tmp_path: pathlib.Path) -> None:
    """After a warm-up, which compiles all that other processes do not, and after calls of every form."""
    run(f"""
        import base64, importlib, math
        import ubpe_numba
        sys.path.append({str(pathlib.Path(__file__).parent)!r})
        from kernel_modules import kernel_modules
        from ubpe_numba import FitRules, Ragged, bounds
        from ubpe_numba.runtime.compiler.cache import _KernelCache
        def check(*without):
            kernels = {{}}
            for full_name in kernel_modules():
                module = importlib.import_module(full_name) if not full_name.startswith(without) else math
                for name, value in vars(module).items():
                    if isinstance(getattr(value, "_cache", None), _KernelCache) and value.py_func.__module__ == module.__name__:
                        # what may be None makes kernels of its own
                        none = {{i for s in value.signatures for i, kind in enumerate(s) if str(kind) == "none"}}
                        forms = {{tuple(str(kind) for i, kind in enumerate(s) if i not in none) for s in value.signatures}}
                        kernels[full_name + "." + name] = len(forms)
            assert len(kernels) > 20
            if not without:  # of weights that are whole, and that are not
                assert kernels.pop("ubpe_numba.bounds.kernels.symbol_prices.sum_up") == 2
            assert set(kernels.values()) == {{1}}, {{k: v for k, v in kernels.items() if v != 1}}
        ubpe_numba.warmup()
        check("ubpe_numba.distributed.", "ubpe_numba.bounds.")  # compiled by who imports them
        base = np.concatenate(corpus(6000, top=100))
        offsets = np.arange(0, 6001, 300)
        folder = pathlib.Path({str(tmp_path)!r})
        forms = []
        for name in "int8 uint8 int16 uint16 int32 uint32 int64 uint64 >i2 >u4 >i8 >u8".split():
            forms.append(base.astype(name))
        readonly = base.astype(np.int32); readonly.flags.writeable = False
        base.astype("<i4").tofile(folder / "raw")
        wide = np.zeros((6000, 3), np.int32); wide[:, 1] = base
        forms += [readonly, np.memmap(folder / "raw", "<i4", "r"), wide[:, 1], np.repeat(base, 2)[::2], base[::-1].copy()[::-1]]
        rules = [FitRules(), FitRules(encode="batch")]
        for tokenizer in [t for r in rules for t in three(rules=r, n_threads=2)] + [
            UBPE(200, 20, objective="shortest"), UBPE(200, 20, objective="additive", n_threads=2),
        ]:
            prints = set()
            for x in forms:
                o = offsets.astype(">i8") if x is forms[3] else offsets
                tokenizer.fit(x, offsets=o)
                ids = tokenizer.encode_batch(x, o)
                one = tokenizer.encode(x)
                assert tokenizer.decode(one).tolist() == base.tolist()
                for form in (ids.values.astype(">i4"), ids.values.astype(np.uint64), ids.values[::-1].copy()[::-1]):
                    tokenizer.decode_batch(form, ids.offsets)
                frozen = one.copy(); frozen.flags.writeable = False
                tokenizer.decode(frozen)
                prints.add((tokenizer.fingerprint, ids.values.tobytes(), ids.offsets.tobytes(), one.tobytes()))
                if isinstance(tokenizer, UBPE):
                    tokenizer.encode_nbest(x[:200], 3)
                    if tokenizer.objective == "tfidf":
                        bounds.encode_nbest(tokenizer, x[:20], 3, [0, 20], exact=True)
                        bounds.encode_nbest(tokenizer, x[:300], 2, o[:2], distinct="bag", guided=True)
                if x is not forms[0] and x is not readonly:
                    continue  # the rest goes the same way from the border on
                if isinstance(tokenizer, UBPE):
                    tokenizer.refine(x, offsets=o)
                    if tokenizer.objective == "shortest":
                        likely = tokenizer.refine(x, offsets=o, objective="likelihood").reweight(x, offsets=o)
                        likely.encode(x, sample=1.0)
                        bounds.boundary_probabilities(likely, x)
                        likely.usage(x, o)
                        likely.set_params(objective="sentencepiece").encode_batch(x, o)
                elif (tokenizer.rules or FitRules()).encode == "rank":
                    tokenizer.encode_batch(x, o, sample=0.1, seed=5)
                    list(tokenizer.stream().over([x[:3000], x[3000:]]))
                buffer = np.empty(base.size, np.int32)
                tokenizer.decode(one, out=buffer)
                tokenizer.encode_batch([x[:100], x[100:]], out=buffer)
                tokenizer.encode(x, return_offsets=True)
            assert len(prints) == 1, tokenizer
            for empty in ([], [[]], np.empty(0, np.uint16), np.empty((0, 4), np.int8), np.empty((4, 0), np.int64)):
                tokenizer.decode_batch(tokenizer.encode_batch(empty))
            assert tokenizer.encode([]).size == 0 and tokenizer.decode([]).size == 0
            again = pickle.loads(pickle.dumps(tokenizer))
            again.save(folder / "m.npz")
            for other in (again, type(tokenizer).load(folder / "m.npz"), again.truncate(150)):
                assert other.decode(other.encode(readonly)).tolist() == base.tolist()
                ids = other.encode_batch(base, offsets)
                other.decode_batch(Ragged(ids.values, ids.offsets))
        assert ubpe_numba.WordPiece(["[UNK]", "a"]).encode(["a", "b"]).tolist() == [1, 0]
        heavy = UBPE(200, 20, objective="additive").fit(base, offsets=offsets)
        heavy.set_params(objective=np.full(len(heavy._model.vocabulary), 1e6)).encode(np.tile(base, 3))
        atoms = BPE(120, preprocessing=Preprocessing(known_words=[[1, 2], [3]]))
        for x in forms:
            assert atoms.fit(x, offsets=offsets).decode(atoms.encode(x)).tolist() == base.tolist()
        assert BPE.from_merges([[3, 0], [0, 1]], alphabet=2).decode([2]).tolist() == [0, 1, 0]  # a parent that comes later
        pairs = [[0, 0], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]
        uneven = np.where(np.arange(10_000) % 9, 8, 0)  # where a sample tells little about the size of the output
        assert BPE.from_merges(pairs, alphabet=2).decode(uneven).size == 128 * int((uneven == 8).sum()) + int((uneven == 0).sum())
        long = np.random.default_rng(1).integers(0, 3000, 60_000)  # too many tokens for a dense table of counts
        BPE(3500).fit([long, long])
        UBPEClassic(6000, 20).fit([long, long, np.arange(5000)])
        counts = ubpe_numba.count_documents(np.tile(base, 4).reshape(-1, 300))
        BPE(120).fit(counts)
        BPE(3200).fit([long, long], sample_weight=[1, 2])
        BPE(120, n_threads=2).fit([np.tile(base, 200)])
        BPE(3010, n_threads=2).fit([np.tile(long, 20)])
        from ubpe_numba.coding.pair_encoder import PairEncoder
        from ubpe_numba.coding.word_encoder import WordEncoder
        from ubpe_numba.text import count_words, cut as scan
        pairs = PairEncoder(BPE(300, alphabet=256).fit([b"12 123 12 123 3"])._model.vocabulary, batch=False)
        encoder = WordEncoder(pairs)
        digits = b" ".join(b"%d" % i for i in range(30_000))
        frozen = np.frombuffer(digits, np.uint8)
        for text in (frozen, frozen.copy(), frozen[::2], frozen[:5]):
            for cut in np.array([0, 3, text.size]), np.array([0, text.size]):
                for pattern in scan.PATTERNS:
                    cuts = scan.scan(text, cut, pattern)
                    for way in (pattern, cuts):
                        encoder.encode(np.ascontiguousarray(text), cut.copy(), way, 2)
                    cuts.flags.writeable = cut.flags.writeable = False
                    for way in (pattern, cuts):
                        count_words.count_words(text, cut, way, 2)
        load(b"YQ== 0\\nYg== 1\\nYWI= 2\\n", pretokenizer=None)
        load(({{"a": 0, "aa": 1, "aaa": 2}}, "a a\\na aa\\naa a\\n"), kind="str")
        whole = load(b"\\n".join([base64.b64encode(bytes([i])) + b" %d" % i for i in range(256)]
            + [b"YWE= 256", b"YWFh 257", b"YWFhYWFh 258"]), pretokenizer="gpt2")  # the last is found as a whole word only
        assert whole.encode("aaaaaa").tolist() == [258]
        from remote_fits import InProcess, remotely
        from ubpe_numba.distributed.host import Host
        from ubpe_numba.documents.read import as_corpus
        from ubpe_numba.fitting.fit import Settings
        plan = Settings(30, 1, FitRules(), 2, n_shards=2)
        for weight in (None, [2]):  # of two hosts, one of which takes a token over from the other
            engine = InProcess([Host(as_corpus([half], sample_weight=weight), 1) for half in ([0, 1] * 9, [1, 0] * 9)])
            remotely(engine, [(False, False), (True, True)], 4, plan)
        bounds.lower_bound(BPE(320, alphabet=300).fit(base, offsets=offsets), [base[:900]], seconds=20, progress=False)
        check()
    """)


# -------------------------------------------------------------------------------------------------- limits and signals

if POSIX:

    def test_control_c_stops_a_fit_and_changes_nothing() -> None:
        out = run(
            """
            signal.signal(signal.SIGINT, signal.default_int_handler)
            rng = np.random.default_rng(0)
            tokenizer = UBPEClassic(None, 50).fit(corpus())
            before = tokenizer.fingerprint
            docs = [rng.integers(0, 256, 20_000_000, np.uint8)]
            for delay in (0.02, 0.2, 0.7, 1.5):
                sent = []
                def send():
                    sent.append(time.monotonic())
                    os.kill(os.getpid(), signal.SIGINT)
                timer = threading.Timer(delay, send)
                timer.start()
                try:
                    tokenizer.fit(docs)
                except KeyboardInterrupt:
                    took = time.monotonic() - sent[0]
                    assert took < 5, (delay, took)
                    print("stopped")
                else:
                    timer.cancel()
                    print("ended before", delay)
                timer.join()
                assert tokenizer.fingerprint == before
            assert tokenizer.decode(tokenizer.encode([1, 2, 3])).tolist() == [1, 2, 3]
        """
        )
        assert out.split("\n") == ["stopped"] * 4

    def test_control_c_while_kernels_are_compiled(tmp_path: pathlib.Path) -> None:
        """Numba and LLVM do not bear an interruption: it ended in a crash, or in an error at some later call."""
        out = run(
            """
            signal.signal(signal.SIGINT, signal.default_int_handler)
            stopped = 0
            for delay in (0.02, 0.1, 0.1, 0.3, 0.3, 0.3, 0.7, 0.7, 1.5):
                timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
                end = time.monotonic() + delay + 1
                timer.start()
                try:
                    while time.monotonic() < end:
                        small_digest()
                except KeyboardInterrupt:
                    stopped += 1
                timer.join()
            assert stopped > 4, stopped
            print(small_digest())
            """,
            tmp_path / "cold",
        )
        before = intact(tmp_path / "cold")
        assert run("print(small_digest())", tmp_path / "cold") == out
        assert intact(tmp_path / "cold") == before

    def test_a_killed_save_leaves_a_whole_file(tmp_path: pathlib.Path) -> None:
        out = run(f"""
            import random
            models = [BPE(n).fit(corpus(60_000, top=300)) for n in (400, 2000)]
            prints = [m.fingerprint for m in models]
            def save(path):
                while True:
                    models[1].save(path)
                    models[0].save(path)
            for suffix in ("json", "npz"):
                path = pathlib.Path({str(tmp_path)!r}) / suffix / f"model.{{suffix}}"
                path.parent.mkdir()
                models[0].save(path)
                seen = set()
                for i in range(200):
                    pid = child(lambda: save(path))
                    time.sleep(random.Random(i).uniform(0.002, 0.002 * (20 + i)))
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    seen.add(prints.index(BPE.load(path).fingerprint))  # ValueError for a model that is neither
                    unfinished = [file for file in path.parent.iterdir() if file != path]
                    if i >= 20 and len(seen) == 2 and unfinished:
                        break
                models[1].save(path)  # what the killed ones left is in nobody's way
                assert BPE.load(path).fingerprint == prints[1]
                print(sorted(seen), len(unfinished) > 0)
        """)
        assert out.splitlines() == ["[0, 1] True"] * 2  # either model was found, and a save was killed in its middle

    def test_a_full_disk_keeps_the_old_file_and_is_told_by_its_name(tmp_path: pathlib.Path) -> None:
        run(f"""
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            old, new = [BPE(n).fit(corpus(60_000, top=300)) for n in (310, 2000)]
            for suffix in ("json", "npz"):
                path = pathlib.Path({str(tmp_path)!r}) / suffix / f"model.{{suffix}}"
                path.parent.mkdir()
                old.save(path)
                data = path.read_bytes()
                for limit in (0, 1, 4096):
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
                    try:
                        new.save(path)
                    except OSError as error:
                        assert str(error) == f"[Errno 27] File too large: {{str(path)!r}}", error
                    else:
                        raise AssertionError(limit)
                    assert path.read_bytes() == data
                    assert [f.name for f in path.parent.iterdir()] == [path.name]
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                new.save(path)
                assert BPE.load(path).fingerprint == new.fingerprint
        """)


if LINUX:

    def test_failing_calls_leave_no_memory_behind(tmp_path: pathlib.Path) -> None:
        run(
            f"""
            folder = pathlib.Path({str(tmp_path)!r})
            docs = corpus()
            tokenizers = [t.fit(docs) for t in three(n_threads=2)]
            tokenizers[0].save(folder / "good.npz")
            good = (folder / "good.npz").read_bytes()
            (folder / "cut.npz").write_bytes(good[: len(good) // 2])
            (folder / "flip.npz").write_bytes(good[:600] + bytes(200) + good[800:])
            (folder / "bad.json").write_text('{{"format": "ubpe-numba", "version": 1}}')
            strange = [*docs, np.array([1, 2, 99_999])]
            def rss():
                return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
            calls = [
                (UnknownSymbolError, lambda t: t.encode_batch(strange)),
                (UnknownTokenError, lambda t: t.decode_batch([[0, 1] * 500, [2**31 - 1]])),
                (UnknownTokenError, lambda t: t.decode(np.full(5000, 2**40))),
                (ModelFormatError, lambda t: BPE.load(folder / "cut.npz")),
                (ModelFormatError, lambda t: BPE.load(folder / "flip.npz")),
                (ModelFormatError, lambda t: BPE.load(folder / "bad.json")),
                (TypeError, lambda t: t.encode("text")),
                (ValueError, lambda t: type(t)(1).fit(docs)),
                (OSError, lambda t: t.save(folder / "none" / "m.json")),
                (ValueError, lambda t: t.truncate(1)),
            ]
            def fail(n):
                for i in range(n):
                    error, call = calls[i % len(calls)]
                    try:
                        call(tokenizers[i // len(calls) % 3])
                    except error:
                        continue
                    raise AssertionError(i % len(calls))
            fail(600)
            before = rss()
            fail(5_000)
            assert rss() - before < 20e6, (before, rss())
        """
        )

    def test_too_little_memory_is_an_error_and_no_crash() -> None:
        out = run("""
            import ctypes, resource
            rng = np.random.default_rng(0)
            docs = np.array_split(rng.integers(0, 100, 4_000_000, np.int32), 20)
            few = docs[:2]
            tokenizers = [t.fit([d[:20_000] for d in docs]) for t in three(n_threads=2)]
            tokenizers.append(UBPE(200, 20, objective="shortest", n_threads=2).fit([d[:20_000] for d in docs]))
            for t in tokenizers:
                t.n_tokens = 2000
                t.decode_batch(t.encode_batch(few))
            def limited(extra, call):
                def work():
                    ctypes.CDLL(None).malloc_trim(0)  # what was freed would do for some of it
                    now = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
                    resource.setrlimit(resource.RLIMIT_AS, (now + extra, resource.RLIM_INFINITY))
                    try:
                        call()
                    except MemoryError:
                        os._exit(42)
                return work
            sizes = [n << 20 for n in (1, 20, 70, 500)]
            for i, t in enumerate(tokenizers):
                before = t.fingerprint
                jobs = {"encode": lambda: t.encode_batch(docs)}
                if i == 1:
                    jobs["fit"] = lambda: t.fit(docs)
                for name, job in jobs.items():
                    t.n_threads = 1 if name == "fit" else 1 + i % 2
                    codes = [wait(child(limited(size, job))) for size in sizes]
                    assert set(codes) <= {0, 42}, (type(t).__name__, name, codes)
                    print(type(t).__name__, name, codes)
                assert t.fingerprint == before
        """)
        assert "fit" in out and "42" in out
