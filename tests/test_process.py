"""Processes, threads, forks, signals, limits, and the cache on disk: each situation in interpreters of its own."""

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
from processes import FORKS

import ubpe_numba
from ubpe_numba.runtime.compiler.cache import directory, kernel_sources

PACKAGE = pathlib.Path(ubpe_numba.__file__).parent
POSIX = sys.platform != "win32"
LINUX = sys.platform.startswith("linux")
ROOT_USER = POSIX and os.getuid() == 0
HANG = 180  # seconds: nothing here takes a quarter of it

PRELUDE = (
    FORKS
    + """
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
"""
)


class Little(NamedTuple):
    """A cache of the few kernels that a tokenizer without a fit needs, and what the process printed that filled it."""

    cache: pathlib.Path
    printed: str


def start(
    script: str, cache: pathlib.Path | None = None, path: pathlib.Path = PACKAGE.parent, **extra: str
) -> Popen[str]:
    """Start an interpreter on the prelude and a script, with the cache of this run; warnings are errors, but of forks."""
    drop = ("UBPE_CACHE", "UBPE_CACHE_DIR", "UBPE_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_BOUNDSCHECK")
    environment = {k: v for k, v in os.environ.items() if k not in drop}
    environment |= {"PYTHONPATH": str(path), "UBPE_CACHE_DIR": str(cache or directory())}
    code = PRELUDE + textwrap.dedent(script)
    command = [
        sys.executable,
        "-P",
        "-W",
        "error",
        "-W",
        "ignore:This process:DeprecationWarning",
        "-c",
        code,
    ]
    return Popen(command, env=environment | extra, stdout=PIPE, stderr=PIPE, text=True)


def finish(process: Popen[str]) -> str:
    """Wait for a process; what it printed. AssertionError if it failed, hung or wrote to standard error."""
    try:
        out, err = process.communicate(timeout=HANG)
    except TimeoutExpired:
        process.kill()
        raise AssertionError(f"hangs: {process.communicate()}") from None
    assert (process.returncode, err) == (0, ""), (
        f"exit code {process.returncode}\n{out[-2000:]}\n{err[-4000:]}"
    )
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
    found = run(EIGHT + "print(*[digest(t.fit(docs), docs) for t in three(n_threads=1)])\n").split()
    assert found[:8] == [found[8 + i % 3] for i in range(8)] and len(set(found)) == 3


#: What a script does at its end; the batches are made in a thread that outlives the main one, and at exit.
BATCHES = """
    import atexit
    def work():
        if threading.current_thread() is not threading.main_thread():
            threading.main_thread().join()
        print("done" if tokenizer.encode_batch(docs) == expected else "other ids", flush=True)
    atexit.register(work)
    threading.Thread(target=work).start()
"""
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
    "with batches, without threads from before": BATCHES,
    "with batches, and threads from before": f"    tokenizer.encode_batch(docs){BATCHES}",
}


@pytest.mark.parametrize("how", EXITS)
def test_the_interpreter_exits_cleanly(how: str) -> None:
    setup = """
        docs = corpus(400_000, 50)
        tokenizer = BPE(100, n_threads=2).fit(docs[:5])
        expected = BPE(100, n_threads=1).fit(docs[:5]).encode_batch(docs)
        threading.excepthook = lambda _: None
    """
    assert set(run(textwrap.dedent(setup) + textwrap.dedent(EXITS[how])).split()) == {"done"}


if POSIX:

    def test_fork_after_the_pool_has_started() -> None:
        """Of children and grandchildren, while the pool works and while a thread compiles."""
        run("""
            import numba
            docs = corpus(300_000, 40)
            tokenizer = BPE(200, n_threads=2).fit(docs)
            expected = tokenizer.encode_batch(docs)
            assert thread_pool._groups
            def work():
                ids = tokenizer.encode_batch(docs)
                assert np.array_equal(ids.values, expected.values) and np.array_equal(ids.offsets, expected.offsets)
                assert list(thread_pool._groups) == [2]
            def grandchild():
                work()
                assert wait(child(work)) == 0
            assert wait(child(work)) == 0
            assert wait(child(grandchild)) == 0
            def learn():
                digest(UBPE(200, 20, n_threads=2).fit(corpus()), corpus())
            learn()  # children have these kernels: while a user compiles they could load none
            stop = threading.Event()
            def compile_on():
                while not stop.is_set():
                    numba.njit(lambda x: x + 1)(1)
            busy = [threading.Thread(target=lambda: [tokenizer.encode_batch(docs) for _ in range(40)]),
                    threading.Thread(target=compile_on)]
            [thread.start() for thread in busy]  # forks while the pool works and a thread compiles
            codes = []
            for i in range(6):
                time.sleep(0.013 * i)
                codes.append(wait(child((work, learn)[i % 2])))
            stop.set()
            [thread.join() for thread in busy]
            assert codes == [0] * 6, codes
            work()
        """)

    def test_a_child_that_is_forked_in_the_middle_of_a_compile_compiles_itself(
        tmp_path: pathlib.Path,
    ) -> None:
        out = run(
            """
            found = []
            thread = threading.Thread(target=lambda: found.append(small_digest()))
            thread.start()
            time.sleep(0.2)
            assert thread.is_alive() and wait(child(small_digest), 120) == 0
            thread.join()
            assert found == [small_digest()]
            print(found[0])
            """,
            tmp_path / "cold",
        )
        before = intact(tmp_path / "cold")
        assert run("print(small_digest())", tmp_path / "cold") == out and intact(tmp_path / "cold") == before

    def test_ctrl_c_during_a_fork_that_waits_for_the_compiler_is_raised_after_it(little: Little) -> None:
        run(
            """
            from numba.core.compiler_lock import global_compiler_lock
            from ubpe_numba.runtime.forks import busy
            held, go = threading.Event(), threading.Event()
            def hold():
                with busy(), global_compiler_lock:
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
    return ids.values.tobytes(), ids.offsets.tobytes(), tokenizer.fingerprint, list(thread_pool._groups)

if __name__ == "__main__":
    from joblib import Parallel, delayed
    from ubpe_numba import BPE, UBPE
    docs = np.array_split(np.minimum(np.random.default_rng(0).zipf(1.4, 240_000), 40), 30)
    tokenizers = [BPE(100, n_threads=3).fit(docs), UBPE(100, 20, n_threads=3).fit(docs)]
    expected = [work(tokenizer, docs) for tokenizer in tokenizers]
    assert [sizes for *_, sizes in expected] == [[3], [3]]
    jobs = [(tokenizer, docs) for tokenizer in pickle.loads(pickle.dumps(tokenizers))]
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.starmap(work, jobs, 1) == expected, method
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
    caches = [tmp_path / "file", tmp_path / ("x" * 300)]
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
    home = {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "xdg"),
        "LOCALAPPDATA": str(tmp_path / "local"),
    }
    run(WARNED + script, **home)
    assert sorted(tmp_path.rglob("*")) == before


if POSIX:

    def test_without_a_home_kernels_are_kept_in_the_folder_for_temporary_files(
        tmp_path: pathlib.Path,
    ) -> None:
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


#: A helper that a kernel of another folder calls, and a kernel, each defined once more at the end of its
#: file, in another way.
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
    found = {
        file.relative_to(PACKAGE)
        for file in PACKAGE.rglob("*.py")
        if compiled.search(file.read_text(encoding="utf-8"))
    }
    assert found and found <= known


def test_changed_files_are_compiled_anew(tmp_path: pathlib.Path) -> None:
    """In a new process and with the same cache; once the files are as before, the first kernels are used again."""
    shutil.copytree(PACKAGE, tmp_path / "copy" / "ubpe_numba", ignore=shutil.ignore_patterns("__pycache__"))
    files = {tmp_path / "copy" / "ubpe_numba" / name: change for name, change in CHANGED.items()}
    originals = {file: file.read_text() for file in files}

    def printed() -> list[str]:
        out = run(
            PRINTS.format(str(tmp_path)), tmp_path / "cache", tmp_path / "copy", PYTHONDONTWRITEBYTECODE="1"
        )
        return out.splitlines()

    assert printed() == ["0 3 7 13", "0 1 0 1"]
    kernels = intact(tmp_path / "cache")
    for file, change in files.items():
        file.write_text(
            f"{originals[file]}\n\nfrom ubpe_numba.runtime.compiler import helper, kernel\n\n\n{change}\n"
        )
    assert printed() == ["0 3 4 7 8 13", "0 0 0 0"]
    more = intact(tmp_path / "cache")
    assert kernels.items() < more.items()
    for file, original in originals.items():
        file.write_text(original)
    assert printed() == ["0 3 7 13", "0 1 0 1"] and intact(tmp_path / "cache") == more


SIGNATURES = """
import base64, importlib, math, re
import ubpe_numba
sys.path.append(os.environ["TESTS"])
from digests import cases
from kernel_modules import kernel_modules
from numba.core.types import BaseTuple
from remote_fits import InProcess, remotely
from ubpe_numba import FitRules, bounds
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.runtime.compiler.cache import Cache
from ubpe_numba.signals import SignalTokenizer
from ubpe_numba.text import count_words, cut as scan
warnings.simplefilter("ignore")

def check(*without):
    kernels = {}
    for full_name in kernel_modules():
        module = importlib.import_module(full_name) if not full_name.startswith(without) else math
        for name, value in vars(module).items():
            if isinstance(getattr(value, "_cache", None), Cache) and value.py_func.__module__ == module.__name__:
                # what may be None makes kernels of its own
                members = [[kind if isinstance(kind, BaseTuple) else [kind] for kind in s] for s in value.signatures]
                signatures = [{(i, j): str(kind) for i, m in enumerate(s) for j, kind in enumerate(m)} for s in members]
                none = {at for s in signatures for at, kind in s.items() if kind == "none"}
                forms = {tuple(kind for at, kind in s.items() if none.isdisjoint([at, (at[0], 0)])) for s in signatures}
                if full_name.startswith("ubpe_numba.fitting.kernels."):  # cells are as narrow as they can be
                    forms = {tuple(re.sub("u?int(8|16)", "int32", kind) for kind in s) for s in forms}
                kernels[full_name + "." + name] = len(forms)
    assert len(kernels) > 20
    # short calls go by C, or where that is off by these
    for name in ("encode_integers", "encode_bytes", "decode_ids"):
        assert kernels.pop(f"ubpe_numba.coding.kernels.short.{name}") == 0
    if not without:  # of weights that are whole, and that are not
        assert kernels.pop("ubpe_numba.bounds.kernels.symbol_prices.sum_up") == 2
    assert set(kernels.values()) == {1}, {k: v for k, v in kernels.items() if v != 1}

ubpe_numba.warmup()
check("ubpe_numba.distributed.", "ubpe_numba.bounds.", "ubpe_numba.signals.", "ubpe_numba.views.")  # compiled by who imports them
for case in cases().values():
    case()
base = np.concatenate(corpus(6000, top=100))
offsets = np.arange(0, 6001, 300)
forms = [base.astype(name) for name in "int8 uint8 int16 uint16 int32 uint32 int64 uint64 >i2 >u4 >i8 >u8".split()]
readonly = base.astype(np.int32); readonly.flags.writeable = False
base.astype("<i4").tofile("raw")
wide = np.zeros((6000, 3), np.int32); wide[:, 1] = base
forms += [readonly, np.memmap("raw", "<i4", "r"), wide[:, 1], np.repeat(base, 2)[::2], base[::-1].copy()[::-1]]
forms.append(np.frombuffer(b"\\0" + base.astype(np.int32).tobytes(), np.int32, offset=1))  # unaligned
batch = UBPEClassic(200, 20, rules=FitRules(encode="batch"))
for tokenizer in (BPE(200, n_threads=2), batch, UBPE(200, 20), UBPE(200, 20, objective="additive", n_threads=2)):
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
        tokenizer.decode(frozen, out=np.empty(base.size, np.int32))
        prints.add((tokenizer.fingerprint, ids.values.tobytes(), ids.offsets.tobytes(), one.tobytes()))
        if isinstance(tokenizer, UBPE):
            tokenizer.encode_nbest(x[:200], 3)
        if isinstance(tokenizer, UBPE) and tokenizer.objective == "tfidf":
            bounds.encode_nbest(tokenizer, x[:20], 3, [0, 20], exact=True)
            bounds.encode_nbest(tokenizer, x[:300], 2, o[:2], distinct="bag", guided=True)
    assert len(prints) == 1 and all(np.array_equal(x, base) for x in forms), tokenizer
    tokenizer.encode_batch([x[:100], x[100:]], out=np.empty(base.size, np.int32))
    for empty in ([], [[]], np.empty(0, np.uint16), np.empty((0, 4), np.int8), np.empty((4, 0), np.int64)):
        tokenizer.decode_batch(tokenizer.encode_batch(empty))
    tokenizer.save("m.npz")
    for other in (pickle.loads(pickle.dumps(tokenizer)), type(tokenizer).load("m.npz"), tokenizer.truncate(150)):
        other.decode_batch(other.encode_batch(base, offsets))
refined = UBPE(200, 20, objective="shortest").fit(base, offsets=offsets).refine(base, offsets=offsets, objective="likelihood")
likely = refined.reweight(base, offsets=offsets)
bounds.boundary_probabilities(likely, base)
likely.usage(base, offsets)
signal = SignalTokenizer(40, step=1).fit(base)
signal.decode(signal.encode(base))
likely.set_params(objective="sentencepiece").encode_batch(base, offsets)
heavy = UBPE(200, 20, objective="additive").fit(base, offsets=offsets)
heavy.set_params(objective=np.full(len(heavy._model.vocabulary), 1e6)).encode(np.tile(base, 3))
atoms = BPE(120, preprocessing=Preprocessing(known_words=[[1, 2], [3]]))
for x in forms:
    assert atoms.fit(x, offsets=offsets).decode(atoms.encode(x)).tolist() == base.tolist()
assert BPE.from_merges([[3, 0], [0, 1]], alphabet=2).decode([2]).tolist() == [0, 1, 0]  # a parent that comes later
doubled = [[0, 0], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]
uneven = np.where(np.arange(10_000) % 9, 8, 0)  # where a sample tells little about the size of the output
assert BPE.from_merges(doubled, alphabet=2).decode(uneven).size == 128 * int((uneven == 8).sum()) + int((uneven == 0).sum())
long = np.random.default_rng(1).integers(0, 3000, 60_000)  # too many tokens for a dense table of counts
BPE(3500).fit([long, long])
UBPEClassic(6000, 20).fit([long, long, np.arange(5000)])
BPE(120).fit(ubpe_numba.count_documents(np.tile(base, 4).reshape(-1, 300)))
BPE(3200).fit([long, long], sample_weight=[1, 2])
BPE(120, n_threads=2).fit([np.tile(base, 200)])
BPE(3010, n_threads=2).fit([np.tile(long, 20)])
encoder = WordEncoder(PairEncoder(BPE(300, alphabet=256).fit([b"12 123 12 123 3"])._model.vocabulary, batch=False))
frozen = np.frombuffer(b" ".join(b"%d" % i for i in range(30_000)), np.uint8)
for text in (frozen, frozen.copy(), frozen[::2], frozen[:5]):
    for cut in np.array([0, 3, text.size]), np.array([0, text.size]):
        for pattern in scan.PATTERNS:
            cuts = scan.scan(text, cut, pattern)
            for way in (pattern, cuts):
                encoder.encode(np.ascontiguousarray(text), cut.copy(), way, 2)
            cuts.flags.writeable = cut.flags.writeable = False
            for way in (pattern, cuts):
                count_words.count_words(text, cut, way, 2)
load(({"a": 0, "aa": 1, "aaa": 2}, "a a\\na aa\\naa a\\n"), kind="str")
ranks = [base64.b64encode(bytes([i])) + b" %d" % i for i in range(256)] + [b"YWE= 256", b"YWFh 257", b"YWFhYWFh 258"]
assert load(b"\\n".join(ranks), pretokenizer="gpt2").encode("aaaaaa").tolist() == [258]  # found as a whole word only
from ubpe_numba.distributed.host import Host
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.fitting.fit import Settings
plan = Settings(30, 1, FitRules(), 2, n_shards=2)
for weight in (None, [2]):  # of two hosts, one of which takes a token over from the other
    engine = InProcess([Host(as_corpus([half], sample_weight=weight), 1) for half in ([0, 1] * 9, [1, 0] * 9)])
    remotely(engine, [(False, False), (True, True)], 4, plan)
bounds.lower_bound(BPE(320, alphabet=300).fit(base, offsets=offsets), [base[:900]], seconds=20, progress=False)
few = [base[:900].tolist()]
ubpe_numba.compare(few, {"few": BPE(150).fit(few)}, held_out=few)
check()
"""


def test_every_kernel_has_one_signature(tmp_path: pathlib.Path) -> None:
    """After a warm-up, which compiles all that other processes do not, and after calls of every form."""
    run(
        "os.chdir(os.environ['FOLDER'])\n" + SIGNATURES,
        TESTS=str(pathlib.Path(__file__).parent),
        FOLDER=str(tmp_path),
    )


if POSIX:

    def test_control_c_while_kernels_are_compiled(tmp_path: pathlib.Path) -> None:
        """Numba and LLVM do not bear an interruption: it ended in a crash, or in an error at some later call."""
        out = run(
            """
            signal.signal(signal.SIGINT, signal.default_int_handler)
            stopped = 0
            for delay in (0.02, 0.1, 0.3, 0.7):
                timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
                end = time.monotonic() + delay + 1
                timer.start()
                try:
                    while time.monotonic() < end:
                        small_digest()
                except KeyboardInterrupt:
                    stopped += 1
                timer.join()
            assert stopped > 1, stopped
            print(small_digest())
            """,
            tmp_path / "cold",
        )
        before = intact(tmp_path / "cold")
        assert run("print(small_digest())", tmp_path / "cold") == out and intact(tmp_path / "cold") == before

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
        # either model was found, and a save was killed in its middle
        assert out.splitlines() == ["[0, 1] True"] * 2


if LINUX:

    def test_failing_calls_leave_no_memory_behind(tmp_path: pathlib.Path) -> None:
        """A kernel that raised would keep the arrays of its caller."""
        run(f"""
            os.chdir({str(tmp_path)!r})
            docs = corpus()
            tokenizer = UBPE(200, 20, n_threads=2).fit(docs)
            tokenizer.save("m.npz")
            pathlib.Path("cut.npz").write_bytes(pathlib.Path("m.npz").read_bytes()[:-999])
            calls = [
                (UnknownSymbolError, lambda: tokenizer.encode_batch([*docs, np.array([1, 2, 99_999])])),
                (UnknownTokenError, lambda: tokenizer.decode_batch([[0, 1] * 500, [2**31 - 1]])),
                (ModelFormatError, lambda: UBPE.load("cut.npz")),
            ]
            def held_after(n):
                for i in range(n):
                    error, call = calls[i % 3]
                    try:
                        call()
                    except error:
                        continue
                    raise AssertionError(i % 3)
                return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
            before = held_after(600)
            assert held_after(3_000) - before < 20e6
        """)

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
