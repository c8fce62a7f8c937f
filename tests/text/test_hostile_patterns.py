"""Patterns that can be tried in very many ways come to an end, and Ctrl-C ends them before."""

import os
import pathlib
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from tables import refuses

from ubpe_numba import BPE
from ubpe_numba.text import pretokenizer
from ubpe_numba.text.pretokenizer import Pretokenizer, PythonPattern

pytest.importorskip("regex")

# the last letter is there so that the engine does not see at once that nothing can match
HOSTILE = "a" * 100_000 + "!b"


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (pretokenizer._SECONDS, pretokenizer._PER_CHARACTER) == (10, 1e-4), "as the docstring says"
    monkeypatch.setattr(pretokenizer, "_SECONDS", 0.15)
    monkeypatch.setattr(pretokenizer, "_PER_CHARACTER", 5e-7)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(?:(?=(?:(a+)+\\z))a|q)+"])
def test_a_pretokenizer_comes_to_an_end(pattern: str) -> None:
    shown = re.escape(repr(pattern))
    told = f"^pretokenizer: {shown} takes more than 0.2 s of processor time on 'a{{16}}\\.{{3}}, 100002 characters"
    tok = BPE.for_text(300, pretokenizer=pattern)
    refuses(ValueError, told, tok.fit, [HOSTILE], progress=False)
    tok.fit(["aab", "aab", "b!"], progress=False)
    for call in (
        tok.encode,
        lambda doc: tok.encode_batch([doc] * 3),
        lambda doc: list(tok.encode_iter([doc])),
    ):
        refuses(ValueError, told, call, HOSTILE)
    assert tok.decode(tok.encode("aab!")) == "aab!"


@pytest.mark.usefixtures("soon")
def test_a_pattern_of_a_file_or_of_few_repeats_comes_to_an_end(tmp_path: pathlib.Path) -> None:
    for pattern in (r"[A-Z]*[A-Z]*x", r"A*b|A*c"):
        with pytest.raises(ValueError, match="takes more than 0.2 s of processor time"):
            Pretokenizer(pattern).split(
                np.frombuffer(b"A" * 100_000 + b"!xbc", np.uint8), np.array([0, 100_004])
            )
    BPE.for_text(300, pretokenizer="(a+)+$").fit(["aab"], progress=False).save(tmp_path / "model.json")
    refuses(ValueError, "takes more than 0.2 s", lambda: BPE.load(tmp_path / "model.json").encode(HOSTILE))


def test_a_pattern_of_re_warns() -> None:
    with pytest.warns(RuntimeWarning, match="may be tried in very many ways") as caught:
        made = PythonPattern("(?:a+)+b|.")
    assert caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="very many ways"):
        assert pickle.loads(pickle.dumps(made)) == made
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PythonPattern(r"'s| ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("pattern, call", [
    ("Pretokenizer('a+[b$]')", "tok.encode_batch([doc] * 9)"),
    ("PythonPattern('(?:a+)+b|a|[^a]+')", "p.split(np.frombuffer(doc.encode(), np.uint8), np.array([0, len(doc)]))"),
])  # fmt: skip
def test_control_c_ends_a_pattern(pattern: str, call: str) -> None:
    lines = [
        "import signal, warnings, numpy as np; from ubpe_numba import BPE",
        "from ubpe_numba.text.pretokenizer import Pretokenizer, PythonPattern; warnings.simplefilter('ignore')",
        f"p = {pattern}; doc = 'a' * 3_000_000 + '!b'; signal.signal(signal.SIGALRM, signal.default_int_handler)",
        "tok = BPE.for_text(260, pretokenizer=p, n_threads=2).fit(['aab'], progress=False); tok.encode_batch(['aab'] * 9)",
        # a thread would not come to send it: re lets no other one run
        "signal.setitimer(signal.ITIMER_REAL, 0.3)",
        f"try: {call}",
        "except KeyboardInterrupt: print('stopped')",
    ]
    out = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=100, check=False
    )
    assert out.stdout == "stopped\n", out.stderr
