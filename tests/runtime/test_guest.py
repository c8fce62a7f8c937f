"""A good guest in the user's process: nothing of it is replaced, what its code raises arrives once, it may end at any moment."""

import os
import pathlib
from collections.abc import Iterable
from fnmatch import fnmatch

import pytest
from processes import FORKS, python

TESTS = pathlib.Path(__file__).parents[1]
POSIX = hasattr(os, "fork")
IGNORE = ("-W", "ignore:This process:DeprecationWarning")

#: What every script begins with: a tokenizer of integers and what it gives.
MODEL = """
import codecs, gc, os, pickle, sys, threading, time, weakref
import numpy as np
from ubpe_numba import BPE
DOCS, DOC = [[0, 1, 2, 0, 1, 2, 1, 0] * 3] * 3, [0, 1, 2, 0, 1, 2, 1, 0, 0, 1, 0, 1]

def fitted(n=8):
    return BPE(n).fit(DOCS, progress=False)

def plain(tok, doc):
    "The ids of a document, by Python alone."
    ids = list(doc)
    for new, (a, b) in enumerate(tok.vocabulary.merges.tolist(), 3):
        i, out = 0, []
        while i < len(ids):
            pair = ids[i : i + 2] == [a, b]
            out.append(new if pair else ids[i])
            i += 1 + pair
        ids = out
    return ids

def right(tok, doc=DOC):
    return tok.encode(doc).tolist() == plain(tok, doc) and tok.decode(plain(tok, doc)).tolist() == doc

tok = fitted()
assert all(right(tok) for _ in range(20))
"""

#: What changes in other packages by their own doing, or since they are asked to by a public call; each with
#: its reason.
EXPECTED = {
    "ctypes._pointer_type_cache()": "ctypes keeps a pointer type of every type",
    "llvmlite.ir.*Type._instance_cache()": "llvmlite keeps types of integers",
    "*._StringReferenceCaching__cached_refstr": "llvmlite keeps the text of a constant",
    "logging.Logger.manager.loggerDict()": "loggers by their names",
    "numba.*registry.*()": "numba's extension API fills its registries",
    "numba.core.compiler_machinery._pass_registry.*": "numba numbers the passes that are registered with it",
    "numba.core.pythonapi._*boxers.functions()": "numba's extension API: how arguments are read",
    "numba.core.*_cache()": "numba keeps structures of types",
    "numba.core.environment.Environment._memo.data()": "numba keeps an environment of each compiled function",
    "numba.core.errors.loc_info()": "where numba was last",
    "numba.core.runtime.nrt._finalize._registry()": "finalizers of Python",
    "numba.core.types.abstract._typecache()": "numba keeps its types",
    "*.__slotnames__*": "copyreg keeps which slots a class has",
    "threading._threading_atexits()": "what concurrent.futures calls at the end",
    "threading._*": "threads that are alive",
    "typing._overload_registry()": "overloads that modules declare",
    "weakref.finalize._registry()": "finalizers of Python",
}

USE = """
import importlib, sys, threading
import numba, numpy as np

@numba.njit
def warm(a):
    return a.sum() + a.std()

warm(np.ones(3))
for name in sys.argv[1:]:
    importlib.import_module(name)
import process_state as state
modules, before, settings, moved = {*sys.modules}, state.look(), state.settings(), set()
done = threading.Event()

def watch():
    while not done.wait(0.001):
        now = state.settings()
        moved.update(f"{name}: {settings[name]} -> {now[name]}"[:200] for name in settings if now[name] != settings[name])

@numba.njit
def user(k, doc, out):
    return k.encode_into(doc, out)

watcher = threading.Thread(target=watch)
watcher.start()
from ubpe_numba import BPE
tok = BPE(8).fit([[0, 1, 2, 0, 1, 2, 1, 0] * 3] * 3, progress=False)
ours = state.classes_of("ubpe_numba")
for _ in range(20):
    ids = tok.encode([0, 1, 2])
for _ in range(20):
    tok.decode(ids)
assert user(tok.kernels, np.array([0, 1, 2]), np.zeros(3, np.int32)) == ids.size
done.set()
watcher.join()
after = state.look()
for line in [*state.differences(before, after), *state.differences(ours, state.classes_of("ubpe_numba"))]:
    print("changed", line.replace("\\n", " "))
for path in state.strangers(after):
    print("stranger", path)
for line in moved:
    print("meanwhile", line.replace("\\n", " "))
print("modules", *sorted(name for name in {*sys.modules} - modules if state.is_theirs(name)))
"""


def test_nothing_of_the_process_is_replaced(tmp_path: pathlib.Path) -> None:
    """Import, fit, 20 encodes, 20 decodes, a kernel of a user: in a cold cache, and with other modules imported before."""
    modules: list[str] = []
    for cache in ("cold", "warm"):
        out = python(
            USE, *modules, path=TESTS, UBPE_CACHE_DIR=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path)
        ).splitlines()
        modules = out.pop().split()[1:]
        changed = [
            line for line in out if not any(fnmatch(line.split()[1].rstrip(":"), path) for path in EXPECTED)
        ]
        assert not changed, (cache, changed)
        assert cache == "cold" or not modules, "modules were imported that the first process did not import"


def test_what_changed_is_seen() -> None:
    """The comparison finds an attribute of a module, of a class, of an object, an item of a list, and settings."""
    script = """
import gc, sys
import numba
from llvmlite.binding import ffi
import process_state as state
before, settings = state.look(), state.settings()
numba.core.entrypoints.init_all = lambda: None
numba.core.base.BaseContext.refresh = lambda self: None
ffi.lib._lock._cblist = []
sys.meta_path.append(None)
gc.disable()
for line in state.differences(before, state.look()):
    print(line.partition(":")[0])
print(*[name for name, value in state.settings().items() if value != settings[name]], sep=";")
"""
    *paths, settings = python(script, path=TESTS).splitlines()
    assert {"numba.core.entrypoints.init_all", "numba.core.base.BaseContext.refresh", "sys.meta_path()"} <= {
        *paths
    }
    assert settings.split(";") == ["gc.isenabled", "entry points", "llvmlite's callbacks"]


def test_methods_are_the_same_from_the_first_call_to_the_last() -> None:
    """What tools remember of a method holds: its object, source, overloads, signature, hash; a wrapper sees every call."""
    python(f"""{MODEL}
import inspect, typing
from unittest import mock
from ubpe_numba import UBPE, WordPiece

def look(cls, name):
    method = getattr(cls, name)
    return (
        id(method), type(method), inspect.getsource(method), len(typing.get_overloads(method)), method.__doc__, hash(method),
        inspect.get_annotations(method), str(inspect.signature(method)), method.__code__, pickle.dumps(method), method.__module__,
    )

classes, names = (BPE, UBPE, WordPiece), ("encode", "decode", "encode_batch", "decode_batch", "__call__", "fit")
tok = BPE(8)
before = [look(cls, name) for cls in classes for name in names if hasattr(cls, name)]
bound = {{name: weakref.WeakMethod(getattr(tok, name)) for name in ("encode", "decode")}}
early = tok.encode, tok.decode
tok.fit(DOCS, progress=False)
for i in range(20):
    assert right(tok) and [look(cls, name) for cls in classes for name in names if hasattr(cls, name)] == before, i
    assert bound["encode"]() == tok.encode == early[0] and bound["decode"]() == tok.decode == early[1]
    assert "encode" not in vars(tok) and "decode" not in vars(tok)
with mock.patch.object(BPE, "encode", autospec=True, side_effect=BPE.encode) as seen:
    new = fitted()
    for _ in range(30):
        new.encode(DOC)
    assert seen.call_count == 30 and BPE.encode is seen
""")


FIRST = """
from concurrent.futures import ThreadPoolExecutor
from ubpe_numba import UBPE

def work(i):
    t = make(i)
    barrier.wait()
    return sum(right(t) for _ in range(40))

n = 8
barrier = threading.Barrier(n)
with ThreadPoolExecutor(n) as pool:
    assert [*pool.map(work, range(n))] == [40] * n
"""


@pytest.mark.parametrize("make", [
    "toks = [BPE(4 + i % 5).fit(DOCS, progress=False) for i in range(8)]; make = lambda i: toks[i]",
    "data = pickle.dumps(BPE(8).fit(DOCS, progress=False)); make = lambda i: pickle.loads(data)",
    "import copy; one = BPE(8).fit(DOCS, progress=False); make = lambda i: [copy.copy, copy.deepcopy][i % 2](one)",
    "make = lambda i: BPE(8).fit(DOCS, progress=False)",
    "one = BPE(8).fit(DOCS, progress=False); make = lambda i: one",
    "one = BPE(8).fit(DOCS, progress=False); make = lambda i: one.truncate(4 + i % 4)",
])  # fmt: skip
def test_first_calls_of_many_models_come_from_threads(make: str) -> None:
    """Models of their own, pickles, copies, fits: none has been called before; several times, since it is a race."""
    cold = MODEL[: MODEL.index("tok = fitted()")]
    for _ in range(3):
        python(f"{cold}{make}\n{FIRST}")


def test_first_calls_come_from_threads_where_nothing_is_compiled(tmp_path: pathlib.Path) -> None:
    cold = MODEL[: MODEL.index("tok = fitted()")]
    python(
        f"{cold}make = lambda i: BPE(4 + i % 5).fit(DOCS, progress=False)\n{FIRST}",
        UBPE_CACHE_DIR=str(tmp_path),
    )


@pytest.mark.parametrize(
    "kind", ["KeyboardInterrupt", "SystemExit", "ValueError", "UnicodeDecodeError", "Own"]
)
def test_what_a_handler_of_a_codec_raises_arrives_once(kind: str) -> None:
    """The handler is called once; the error is the object that it raised, for each form of `decode`."""
    python(f"""{MODEL}
class Own(BaseException): pass
text, calls = BPE.for_text(257).fit(["low low"], progress=False), []
raised = UnicodeDecodeError("utf-8", b"x", 0, 1, "own") if {kind!r} == "UnicodeDecodeError" else {kind}("own")

def handler(error):
    calls.append(error)
    raise raised

codecs.register_error("guest", handler)
bad = [108, 255, 111]
forms = [
    lambda: text.decode(bad, errors="guest"),
    lambda: text.decode(np.array(bad, np.int32), errors="guest"),
    lambda: text.decode_batch([bad], errors="guest"),
]
for i in range(40):
    calls.clear()
    try:
        forms[i % 3]()
    except BaseException as error:
        assert error is raised, error
    else:
        raise AssertionError("nothing was raised")
    assert len(calls) == 1, (i, len(calls))
    assert text.decode([108, 111]) == "lo" and text.decode(bad) == "l\\ufffdo"
""")


#: Documents whose own code raises: the object, by the number of calls of its code that are allowed.
OBJECTS = """
class Own(BaseException): pass
raised, calls = Own("own"), []

def fail(*_):
    calls.append(1)
    raise raised

class Index:
    __index__ = __int__ = fail

class Sized(list):
    __len__ = fail

class Iterated(list):
    __iter__ = __getitem__ = __len__ = fail

class AsArray:
    __array__ = fail

class Iterator:
    def __iter__(self): return self
    __next__ = fail

class Column:
    __arrow_c_array__ = __arrow_c_stream__ = __array__ = fail
"""


def test_what_a_document_raises_arrives_once() -> None:
    """Items with an `__index__`, lists of a class of the user, arrays: their own code raises, and it is not asked again."""
    python(f"""{MODEL}{OBJECTS}
docs = [[0, 1, Index()], (0, Index()), Iterated(DOC), AsArray(), Column()]
text = BPE.for_text(257).fit(["low low"], progress=False)
for call in (tok.encode, tok.decode, lambda d: tok.encode_batch([d]), lambda d: tok.decode_batch([d]), text.decode):
    for doc in docs:
        for i in range(12):
            calls.clear()
            try:
                call(doc)
            except Own as error:
                assert error is raised and len(calls) == 1, (call, doc, i, len(calls))
            except (TypeError, ValueError):
                assert not calls, (call, type(doc), i, "what the user raised is lost")
            else:
                assert not calls, (call, type(doc), i, "what the user raised is lost")
assert right(tok)
""")


def test_objects_that_change_while_they_are_read() -> None:
    """An item whose `__index__` empties, fills or shortens its list; another thread that does.

    Never a crash or another's ids.
    """
    python(f"""{MODEL}
class Changes:
    def __init__(self, change): self.change = change
    def __index__(self):
        self.change(self.doc)
        return 1

changes = [list.clear, lambda d: d.extend([2] * 1000), lambda d: d.__setitem__(slice(1, None), []), lambda d: gc.collect(),
           lambda d: d.__setitem__(0, Changes(list.clear)), lambda d: tok.encode(DOC), lambda d: tok.fit(DOCS, progress=False)]
for change in changes:
    for call in (tok.encode, tok.decode, lambda d: tok.encode_batch([d, DOC])):
        for _ in range(12):
            item = Changes(change)
            item.doc = [0, 1, item, 2, 1, 0, item, 1] * 3
            try:
                call(item.doc)
            except (TypeError, ValueError, IndexError, RuntimeError) as error:
                pass
            del item.doc
assert right(tok)

doc, end, ids = [0, 1, 2] * 200, time.monotonic() + 1.5, set()
whole = [tok.encode(d).tolist() for d in ([0, 1, 2] * 200, [2, 1] * 50, [])]
def write():
    while time.monotonic() < end:
        doc[:] = [2, 1] * 50
        doc.clear()
        doc[:] = [0, 1, 2] * 200
writer = threading.Thread(target=write)
writer.start()
while time.monotonic() < end:
    found = tok.encode(doc).tolist()
    assert found in whole or set(found) <= set(range(8)), found
writer.join()
""")


if POSIX:

    def test_a_signal_during_short_calls_is_raised_once() -> None:
        """A timer per round: its handler runs once, and what it raises ends the calls, wherever they are."""
        python(f"""{MODEL}
import signal, random
class Own(Exception): pass
handled, caught, rng = [], 0, random.Random(1)

def handler(*_):
    handled.append(1)
    raise Own

def until_handled(call):
    # a function: the jump back of a loop in the try block itself is outside that block for Python 3.13.0
    before = len(handled)
    while len(handled) == before:
        call()

signal.signal(signal.SIGALRM, handler)
text = BPE.for_text(257).fit(["low low"], progress=False)
calls = [lambda: tok.encode(DOC), lambda: tok.decode([0, 1, 2]), lambda: text.encode("lower"), lambda: text.decode([108, 255])]
for call in calls * 20:
    call()  # first calls start threads, which what a handler raises would leave half made
for n in range(300):
    before = len(handled)
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 2e-3))
        until_handled(calls[n % 4])
    except Own:
        caught += 1
    assert len(handled) == before + 1 and caught == len(handled), (n, caught, len(handled))
assert right(tok)
""")


@pytest.mark.parametrize("deletion", [
    "tok.__dict__.clear()", "tok.fit(DOCS[:1], progress=False)", "tok.n_tokens = 6", "tok.set_params(unknown='skip')",
    "tok.__dict__.pop('_made_plans', None)", "globals().pop('tok', None)",
])  # fmt: skip
def test_what_is_deleted_during_a_call(deletion: str) -> None:
    """By the handler of a codec, which runs in the middle of `decode`, and by another thread; memory is kept until it ends."""
    python(f"""{MODEL}
def delete():
    {deletion}
    gc.collect()

def handler(error):
    delete()
    trash = [bytes(1000) for _ in range(1000)]
    return "?", error.end

codecs.register_error("guest", handler)
make = lambda: BPE.for_text(257).fit(["low low"], progress=False)
for n in range(12):
    tok = make()
    DOCS = ["low low"]
    for _ in range(n):
        tok.decode(tok.encode("low"))
    call = tok.decode
    assert call([108, 255, 111, 255], errors="guest") == "l?o?", n
""")


def test_a_model_that_is_deleted_while_threads_call_it() -> None:
    python(f"""{MODEL}
shared, wrong, stop = [tok], [], threading.Event()

def work():
    while not stop.is_set():
        t = shared[0]
        for _ in range(20):
            if not right(t): wrong.append(1)
        del t

threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
alive = []
for n in range(200):
    alive.append(weakref.ref(shared[0]))
    shared[0] = fitted(4 + n % 5)
    del tok
    tok = shared[0]
    gc.collect() if n % 20 == 0 else None
stop.set()
for t in threads: t.join()
gc.collect()
assert not wrong and sum(ref() is not None for ref in alive) == 0
""")


ENDS = {
    "daemons": "for _ in range(6): threading.Thread(target=loop, daemon=True).start()\ntime.sleep(0.2)",
    "daemons that begin": "for _ in range(6): threading.Thread(target=loop, args=(True,), daemon=True).start()",
    "threads": "for i in range(4): threading.Thread(target=lambda: [right(tok) for _ in range(3000)]).start()",
    "atexit": "import atexit\natexit.register(lambda: print(right(tok), right(fitted())))",
    "atexit, registered before numba's": "print(right(tok), right(fitted()))",
    "finalizers": "class Keep: pass\nkeep = Keep()\n"
    "weakref.finalize(keep, lambda t=tok: print(right(t), right(pickle.loads(pickle.dumps(t)))))",
    "teardown": "class Last:\n    def __init__(self): self.call = tok.encode, tok.decode\n    def __del__(self):\n"
    "        try: self.call[1](self.call[0]([0, 1, 2])); os.write(1, b'True True')\n"
    "        except Exception: os.write(1, b'True True')\nlast = Last()",
    "teardown in a cycle": "class Last:\n    def __del__(self, t=tok):\n        try: t.decode(t.encode([0, 1, 2])); fitted()\n"
    "        except Exception: pass\nlast = Last(); last.me = last; last.tok = tok",
    "kept by a builtin's attribute": "import builtins\nbuiltins.kept = tok, tok.encode, tok.decode, tok.kernels",
    "exit in a thread": "threading.Thread(target=loop, daemon=True).start()\n"
    "t = threading.Thread(target=lambda: (right(tok), sys.exit(3)))\nt.start()",
    "pool": "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(4)\n"
    "fs = [pool.submit(right, tok) for _ in range(500)]",
    "error": "threading.Thread(target=loop, daemon=True).start()\nraise SystemExit(0)",
}  # fmt: skip
LOOP = """
def loop(new=False):
    t = fitted() if new else tok
    while True:
        t.decode(t.encode(DOC))
"""


@pytest.mark.parametrize("name", ENDS)
def test_the_interpreter_ends_in_any_order(name: str) -> None:
    """With threads that call, at exit, in finalizers, while modules are taken apart: exit code 0, nothing on standard error."""
    first = (
        "import atexit\natexit.register(lambda: print(right(tok), right(fitted())))\n"
        if "before" in name
        else ""
    )
    for _ in range(2):
        out = python(f"{first}{MODEL}{LOOP}\n{ENDS[name]}")
        assert out in ("", "True True", "True True\nTrue True"), out


def test_the_interpreter_ends_while_a_kernel_is_compiled(tmp_path: pathlib.Path) -> None:
    script = (
        "import threading, time\nfrom ubpe_numba import BPE\n"
        "n = lambda: BPE(8).fit([[0, 1, 0, 1]], progress=False).encode([0])\n"
    )
    for i, delay in enumerate((0.0, 0.3, 1.0, 2.0)):
        python(
            f"{script}threading.Thread(target=n, daemon=True).start()\ntime.sleep({delay})",
            UBPE_CACHE_DIR=str(tmp_path / str(i)),
        )


def test_subinterpreters_are_right_or_refused() -> None:
    """Whatever another interpreter of the process gets, an error or ids, this one goes on, and the process ends."""
    python(f"""{MODEL}
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import warnings
code = '''
import warnings
warnings.simplefilter("ignore")
try:
    from ubpe_numba import BPE
    tok = BPE(8).fit([[0, 1, 2, 0, 1, 2, 1, 0] * 3] * 3, progress=False)
    results = {{tuple(tok.decode(tok.encode([0, 1, 2]))) for _ in range(20)}}
except Exception as error:
    results = {{(0, 1, 2)}}
assert results == {{(0, 1, 2)}}, results
'''
for _ in range(2):
    other = interpreters.create()
    failure = interpreters.run_string(other, code)
    assert failure is None, failure
    assert right(tok)
    interpreters.destroy(other)
assert all(right(tok) and right(fitted()) for _ in range(20))
""")


def test_an_interpreter_without_a_lock_gives_the_same() -> None:
    """Where Python says that it has no lock, kernels do not speak its interface: one patched function stands for the build."""
    python(f"import sys\nsys._is_gil_enabled = lambda: False\n{MODEL}")


if POSIX:

    def test_a_fork_in_calls_has_what_is_loaded() -> None:
        """Children of a process whose threads call: encode, decode, fit again, in a bounded time."""
        python(
            f"""{MODEL}{FORKS}
text, stop, wrong = BPE.for_text(257).fit(["low low"], progress=False), threading.Event(), []

def work():
    while not stop.is_set():
        if not right(tok) or text.decode(text.encode("low low")) != "low low": wrong.append(1)

def check():
    assert all(right(tok) and text.decode(text.encode("low")) == "low" for _ in range(20)) and right(fitted())

threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
codes = [wait(child(check)) for _ in range(15)]
stop.set()
for t in threads: t.join()
assert not wrong and set(codes) == {{0}}, codes

def handler(error):
    pid = child(lambda: (check(), os._exit(0)))
    return str(wait(pid)), error.end

codecs.register_error("guest", handler)
assert [text.decode([108, 255], errors="guest") for _ in range(12)] == ["l0"] * 12
""",
            options=IGNORE,
        )

    #: A function of a user that another thread compiles until `released` is set, which a timer does after
    #: half a minute.
    COMPILES = """
from numba import njit, types
from numba.extending import overload

begun, released = threading.Event(), threading.Event()
timer = threading.Timer(30, released.set)
timer.daemon = True

def slow(x): ...

@overload(slow)
def _slow(x):
    begun.set()
    released.wait(60)
    return lambda x: x + 1

users = njit(lambda x: slow(x))
thread = threading.Thread(target=lambda: users(1), daemon=True)
"""

    def test_a_fork_does_not_wait_for_what_a_user_compiles(tmp_path: pathlib.Path) -> None:
        """It would wait for half a minute; the child uses kernels that are loaded, or says what it cannot do, and ends."""
        python(
            f"""{MODEL}{FORKS}{COMPILES}
thread.start()
assert begun.wait(60)
timer.start()
pids = [child(lambda: right(tok) or os._exit(7)) for _ in range(3)]
assert not released.is_set(), "the fork waited for the user's compile"
assert [wait(pid, 25) for pid in pids] == [0] * 3
assert not released.is_set(), "the child waited for the user's compile"
released.set()
thread.join(60)
assert users(1) == 2 and right(tok)
""",
            options=IGNORE,
        )

    def test_a_fork_does_not_wait_for_an_import_of_the_user(tmp_path: pathlib.Path) -> None:
        (tmp_path / "slow_import.py").write_text(
            "import threading\nthreading.begun.set()\nthreading.released.wait(60)\n"
        )
        python(
            f"""{MODEL}{FORKS}
threading.begun, threading.released = threading.Event(), threading.Event()
thread = threading.Thread(target=lambda: __import__("slow_import"), daemon=True)
thread.start()
assert threading.begun.wait(60)
timer = threading.Timer(30, threading.released.set)
timer.start()
pid = child(lambda: right(tok) or os._exit(7))
assert not threading.released.is_set(), "the fork waited for the user's import"
assert wait(pid, 25) == 0
timer.cancel()
threading.released.set()
thread.join(60)
""",
            path=tmp_path,
            options=IGNORE,
        )

    def test_a_fork_while_we_compile_is_bounded_and_told(tmp_path: pathlib.Path) -> None:
        """A compile of this library that lasts half a minute: the fork gives up before it ends, warns, and nobody hangs."""
        python(
            f"""
import warnings
{MODEL}{FORKS}
from numba.core import event

begun, released = threading.Event(), threading.Event()

class Hold(event.Listener):
    def on_start(self, e):
        begun.set()
        released.wait(60)
    def on_end(self, e): pass

event.register("numba:compile", Hold())
thread = threading.Thread(target=lambda: tok.encode(DOC, sample=0.5, seed=1), daemon=True)
thread.start()
assert begun.wait(60)
timer = threading.Timer(30, released.set)
timer.daemon = True
timer.start()

def needs_another():
    try:
        tok.encode(DOC, sample=0.5, seed=1)
    except Exception as error:
        os._exit(5)
    os._exit(6)

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    pids = child(lambda: right(tok) or os._exit(7)), child(needs_another)
assert not released.is_set(), "the fork waited for the compile without a bound"
assert any("fork" in str(w.message) for w in told), [str(w.message) for w in told]
assert wait(pids[0], 20) == 0 and wait(pids[1], 20) in (5, 6)
released.set()
thread.join(100)
assert right(tok)
""",
            options=IGNORE,
            UBPE_CACHE_DIR=str(tmp_path),
        )


#: Private names that were seen to move, by the object that has them: hidden from this library alone, others
#: still find them.
NAMES = {
    "entrypoints.init_all": "numba.core.entrypoints init_all", "CacheLocator": "numba.core.caching _CacheLocator",
    "FunctionCache": "numba.core.caching FunctionCache", "CompileResultCacheImpl": "numba.core.caching CompileResultCacheImpl",
    "the compiler's lock": "numba.core.compiler_lock global_compiler_lock", "llvmlite's lock": "llvmlite.binding.ffi lib",
    "PreLowerStripPhis": "numba.core.typed_passes PreLowerStripPhis", "Lower": "numba.core.lowering Lower",
    "peep_hole_list_to_tuple": "numba.core.interpreter peep_hole_list_to_tuple",
    "_ARRAY_API": "numpy._core._multiarray_umath _ARRAY_API", "module locks": "importlib._bootstrap _module_locks",
    "JITCodeLibrary": "numba.core.codegen JITCodeLibrary", "acquire_lock": "_imp acquire_lock",
}  # fmt: skip
HIDE = """
import importlib, sys, types
import numba

class Hides(types.ModuleType):
    def __getattribute__(self, name):
        if name in HIDDEN.get(object.__getattribute__(self, "__name__"), ()):
            if sys._getframe(1).f_globals.get("__name__", "").startswith("ubpe_numba"):
                raise AttributeError(f"module has no attribute {name!r}")
        return object.__getattribute__(self, name)

HIDDEN = {}
for line in sys.argv[1:]:
    module, name = line.split()
    HIDDEN.setdefault(module, set()).add(name)
    importlib.import_module(module).__class__ = Hides
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import numpy as np
    from ubpe_numba import BPE
    tok = BPE(8).fit([[0, 1, 2, 0, 1, 2, 1, 0] * 3] * 3, progress=False)
    ids = [tok.encode([0, 1, 2, 2]).tolist() for _ in range(12)]
    docs = [tok.decode(i).tolist() for i in ids]

    @numba.njit
    def user(k, doc, out):
        return k.encode_into(doc, out)

    n = user(tok.kernels, np.array([0, 1, 2, 2]), np.zeros(4, np.int32))
ours = [str(w.message) for w in told if "ubpe_numba" in str(w.message) or w.filename.find("ubpe_numba") >= 0]
assert len({*map(tuple, ids)}) == 1 and docs == [[0, 1, 2, 2]] * 12 and n == len(ids[0]), (ids, docs, n)
# of the compiler at the first kernel, and of short calls when there is a way for them
assert len(ours) <= 2 and all("numba" in message for message in ours), ours
print(tok.fingerprint, ids[0])
"""


def hidden(names: Iterable[str], cache: pathlib.Path, **extra: str) -> str:
    return python(HIDE, *names, UBPE_CACHE_DIR=str(cache), **extra)


def test_without_any_private_name_all_goes_on(tmp_path: pathlib.Path) -> None:
    """As with a much later numba, llvmlite, NumPy and Python: import, fit, encode, decode, a kernel of a user; ids equal."""
    assert hidden(NAMES.values(), tmp_path) == hidden((), tmp_path / "all")


@pytest.mark.parametrize("name", NAMES)
def test_without_one_private_name_all_goes_on(name: str, tmp_path: pathlib.Path) -> None:
    assert hidden([NAMES[name]], tmp_path) == hidden((), tmp_path / "all")
