"""What a fit did merge by merge: kept, cut, continued, and checked when it is loaded."""

import json
import pickle
from pathlib import Path
from typing import Any

from fit_cases import CLASSES, check_history, make, rows
from reference import fit as reference
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic, export
from ubpe_numba.errors import ModelFormatError, NotFittedError
from ubpe_numba.fitting.history import History
from ubpe_numba.vocabulary.vocabulary import Vocabulary

DOCS = [[0, 1, 2, 0, 1, 2, 0, 1, 1, 1], [], [2, 0, 1, 2, 0, 2, 2, 1, 1], [0, 0, 2, 0, 0, 2], [0, 1, 2, 2]]


@each("cls", CLASSES)
def test_order_of_creation_also_where_ids_were_rearranged(cls: Any) -> None:
    by_creation = make(cls, 8, 2, alphabet=3).fit(DOCS, progress=False)
    by_idf = make(cls, 8, 2, alphabet=3, rules=FitRules(order="idf")).fit(DOCS, progress=False)
    assert by_idf._model.vocabulary.counts.tolist() != by_creation._model.vocabulary.counts.tolist()
    assert rows(by_idf) == rows(by_creation)


@each("cls", CLASSES)
def test_where_there_is_no_history(cls: Any) -> None:
    assert not hasattr(cls(9), "history_")
    other = cls.load(export(make(cls, 8, 2, alphabet=3).fit(DOCS, progress=False), "ubpe"))
    assert not hasattr(other, "history_")
    refuses(NotFittedError, "history", lambda: other.history_)


@each("cls", [BPE, UBPE])
def test_pickles_and_refits(cls: Any) -> None:
    """A pickle keeps the history, a refit replaces it, a fit that fails leaves it, a shorter vocabulary has its beginning."""
    tok = make(cls, 8, 2, alphabet=3).fit(DOCS, progress=False)
    before = rows(tok)
    assert rows(pickle.loads(pickle.dumps(tok))) == before
    refuses(ValueError, "symbol 9", tok.fit, [[9, 9]], progress=False)
    assert rows(tok) == before
    other = [[1, 1, 1, 1], [2, 1, 1]]
    check_history(
        tok.fit(other, progress=False), other, 3, reference.fit(other, 3, 8, 1 if cls is BPE else 2)[0], {}
    )
    assert rows(tok.fit(DOCS, progress=False).truncate(5)) == [column[:2] for column in before]
    assert not hasattr(tok.truncate(5, by="idf"), "history_")


@each("suffix", [".json", ".npz"])
@each("rules", [FitRules(), FitRules(order="idf", trim="closed")])
@each("cls", [BPE, UBPE])
def test_files_keep_it(cls: Any, rules: FitRules, suffix: str, tmp_path: Path) -> None:
    """And with it the curve; a fit goes on from a file as if it had never been written."""
    tok = make(cls, 8, 2, alphabet=3, rules=rules).fit(DOCS, progress=False)
    tok.save(tmp_path / f"m{suffix}")
    again = cls.load(tmp_path / f"m{suffix}")
    assert rows(again) == rows(tok) and again.history_.last_round == tok.history_.last_round
    assert all(
        ours.dtype == theirs.dtype for ours, theirs in zip(again.history_[:4], tok.history_[:4], strict=True)
    )
    if rules.order == "creation":
        more, longer = (one.fit_more([[0, 1, 2] * 9, [1, 1]], 12, progress=False) for one in (again, tok))
        assert more.fingerprint == longer.fingerprint and rows(more) == rows(longer)
        more.save(tmp_path / f"n{suffix}")  # of two corpora
        assert (
            cls.load(tmp_path / f"n{suffix}").history_.n_symbols.tolist() == tok.history_.n_symbols.tolist()
        )


GOOD: dict[str, Any] = {"last_round": 1, "corpora": [[2, 9]], "lengths": [5, 3]}


@each("changes, message", [
    ({"last_round": 3}, r"history: last_round: expected an integer in 0\.\.2, got 3"),
    ({"corpora": [[1, 9]]}, "history: corpora: expected 2 merges in all"),
    ({"corpora": [[2, 9], *[[2**62, 9]] * 4]}, "history: corpora: expected 2 merges in all"),
    ({"corpora": [2, 9]}, "history: corpora: expected rows of 2"),
    ({"lengths": [5]}, "history: lengths: expected 2 values, as many as counts, got 1"),
    ({"lengths": [5, -3]}, "history: lengths: expected integers of at least 0, got -3"),
    ({"lengths": [[5, 3]]}, "history: lengths: expected a list"),
    ({"counts": [5, 2]}, "history: the field 'document_frequencies' is missing"),
    ({"counts": [5], "document_frequencies": [1], "lengths": [5], "corpora": [[1, 9]]}, "at least 2 values, one a token, got 1"),
    ({"more": 1}, "history: unexpected field 'more'"),
])  # fmt: skip
def test_a_file_that_lies(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    v = Vocabulary.from_merges(1, [[0, 0], [1, 1]], counts=[5, 2], document_frequencies=[1, 1])
    assert History.from_state(GOOD, v).n_symbols.tolist() == [9, 9]
    refuses(ModelFormatError, message, History.from_state, GOOD | changes, v)
    BPE(4, alphabet=1).fit([[0] * 9], progress=False).save(tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    model["history"] |= {"last_round": -1}
    (tmp_path / "m.json").write_text(json.dumps(model))
    refuses(ModelFormatError, r"m\.json: history: last_round", lambda: BPE.load(tmp_path / "m.json"))


def test_a_history_of_more_merges_than_the_vocabulary_has_is_not_continued(tmp_path: Path) -> None:
    """As of a fit by idf whose rules were changed later, or of a file that lies."""
    tok = UBPEClassic(5, 3, alphabet=3).fit(DOCS, progress=False)
    tok.save(tmp_path / "m.json")
    model = json.loads((tmp_path / "m.json").read_text())
    ones = dict.fromkeys(("lengths", "counts", "document_frequencies"), [1] * 9)
    model["history"] = {"last_round": 9, "corpora": [[9, 90]], **ones}
    (tmp_path / "m.json").write_text(json.dumps(model))
    again = UBPEClassic.load(tmp_path / "m.json").fit_more(DOCS, 7, progress=False)
    del tok.history_
    assert again.fingerprint == tok.fit_more(DOCS, 7, progress=False).fingerprint and not hasattr(
        again, "history_"
    )
