"""The size of the house: each figure of `budgets.py` is within its limit, agreed, or set where it then was.

Whoever needs more raises a limit beside a removal in the same folder, in one commit that says what was bought
and what was sold.
"""

from pathlib import Path

import budgets
import pytest
from budgets import concepts_of, measured, private_uses

#: Limits that were agreed for what a user meets, wherever below them it is.
AGREED = {
    "names of the package": 16,
    "names of BPE": 35,
    "names of UBPE": 37,
    "names of WordPiece": 30,
    "parameters of a constructor": 8,
    "lines of help(BPE)": 700,
    "lines of the README": 220,
    "words of the README": 1_300,
    "phrases to stumble over": 640,
    "sentences of more than 30 words": 180,
}
LIMITS: dict[str, float] = AGREED | {
    "tokens of other modules": 1_324,
    "tokens of bounds/": 8_977,
    "tokens of cli/": 13_912,
    "tokens of coding/": 62_230,
    "tokens of distributed/": 25_415,
    "tokens of documents/": 23_407,
    "tokens of fitting/": 45_085,
    "tokens of formats/": 48_839,
    "tokens of inside/": 3_400,
    "tokens of integrations/": 9_364,
    "tokens of runtime/": 20_772,
    "tokens of signals/": 20_951,
    "tokens of text/": 23_993,
    "tokens of tokenizers/": 27_871,
    "tokens of verification/": 4_130,
    "tokens of views/": 20_540,
    "tokens of vocabulary/": 27_601,
    "tokens of the core": 230_959,
    "tokens of the wings": 156_852,
    "tokens": 387_811,
    "tokens of the explorer's pages": 70_236,
    "tokens of the largest file": 6_624,
    "tokens per line of code": 10.3,
    "functions": 2_442,
    "classes": 205,
    "modules": 222,
    "functions of ten arguments and more": 60,
    "raises": 1_174,
    "vague names": 10,
    "constraint lines": 320,
    "private uses in wings": 10,
    "tokens of tests": 372_770,
    "tokens per line of tests": 12.9,
    "files of a fit": 14,
    "crossings of a fit": 29,
    "files of a first encode": 14,
    "calls of a first encode": 43,
    "files of a first decode": 12,
    "modules of text loaded for integers": 0,
    "modules loaded for integers": 63,
    "tokens loaded for integers": 95_135,
    "circles of modules": 0,
    "layers": 12,
    "phrases to reword": 0,
}


def test_every_figure_is_within_a_budget_that_is_near() -> None:
    figures = measured()
    assert figures.keys() == LIMITS.keys()
    assert not {name: (figures[name], limit) for name, limit in LIMITS.items() if figures[name] > limit}
    near = {name: limit for name, limit in LIMITS.items() if name not in AGREED and limit > 20}
    assert not {name: figures[name] for name, limit in near.items() if figures[name] < 0.94 * limit}, (
        "lower these limits"
    )


def test_packing_lines_and_prose_are_free_of_charge(tmp_path: Path) -> None:
    spread = tmp_path / "spread.py"
    packed = tmp_path / "packed.py"
    spread.write_text(
        '"""Prose."""\n\n# more\ndef f(\n    a,\n    b,\n):\n    """Prose."""\n    return a + b\n'
    )
    packed.write_text("def f(a, b,): return a + b\n")
    assert concepts_of(spread)["tokens"] == concepts_of(packed)["tokens"] == 13
    assert concepts_of(spread)["lines of code"] == 5


def test_private_names_of_others_are_found_however_they_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, outside = tmp_path / "coding", tmp_path / "views"
    core.mkdir()
    outside.mkdir()
    (core / "plan.py").write_text("plan._of_the_core = other._anything\n")
    (outside / "page.py").write_text(
        "from coding.plan import _hidden\n"
        "class Page:\n"
        "    def _own(self): return self._own, self._inherited, page._own\n"
        "tok._model, row._replace(a=1), row.__class__, getattr(tok, '_plan', None)\n"
    )
    monkeypatch.setattr(budgets, "PACKAGE", tmp_path)
    monkeypatch.setattr(budgets, "ROOT", tmp_path)
    monkeypatch.setattr(budgets, "sources", lambda folder=tmp_path: sorted(folder.rglob("*.py")))
    uses = ["_hidden", "_model", "_plan", "_inherited"]
    assert sorted(use.split(": ")[1] for use in private_uses()) == sorted(uses)
