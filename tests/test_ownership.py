"""Whose memory it is: nothing that a user writes to, what was given or what came out, changes a later result of a tokenizer."""

import contextlib
import copy
import inspect
import pickle
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import each

import ubpe_numba
from ubpe_numba import BPE, UBPE, Counts, Preprocessing, Ragged, UBPEClassic, WordPiece, count_documents

DOCS = [[0, 1, 2, 0, 1, 2, 1, 0], [1, 2, 0, 1], [2, 2, 0, 1, 2, 0]]
TEXTS = ["low lower lowest", "newer low", "low"]
FLAT, CUTS = np.array([v for doc in DOCS for v in doc]), np.array([0, 8, 12, 18])
WEIGHTS = np.array([1, 1, 1, 9, 9, 9.0])


def arrays_of(made: Any, depth: int = 4) -> Iterator[np.ndarray]:
    """All arrays that a user can reach from an object by public names."""
    if isinstance(made, np.ndarray):
        yield made
    elif (depth and isinstance(made, (dict, tuple, list))) or hasattr(made, "__next__"):
        for part in made.values() if isinstance(made, dict) else made:
            yield from arrays_of(part, depth - 1)
    if (
        not depth
        or isinstance(made, (np.ndarray, type))
        or not type(made).__module__.startswith("ubpe_numba")
    ):
        return
    for name in dir(type(made)):
        found = inspect.getattr_static(type(made), name)
        lazy = isinstance(found, (property, types.MemberDescriptorType)) or hasattr(found, "attrname")
        if lazy and not name.startswith("_"):
            with contextlib.suppress(Exception):
                yield from arrays_of(getattr(made, name), depth - 1)
    for name, value in vars(made).items() if hasattr(made, "__dict__") else ():
        if not name.startswith("_"):
            yield from arrays_of(value, depth - 1)


def write(made: Any) -> int:
    """Write to every array of an object that can be written to; how many there are."""
    arrays = [array for array in arrays_of(made) if array.flags.writeable]
    for array in arrays:
        array[...] = 77
    return len(arrays)


def text_of(made: Any) -> str:
    """A result as text, equal for equal ones."""
    if isinstance(made, (list, tuple)) and type(made) in (list, tuple):
        return f"{list(map(text_of, made))}"
    return str([array.tolist() for array in arrays_of(made)] or made)


#: Methods of tokenizers that give arrays, or what holds arrays, by name.
GIVES: dict[str, Callable[[Any, Any], Any]] = {
    "encode": lambda tok, docs: [tok.encode(docs[0]), tok.encode(docs[0], return_offsets="spans")],
    "encode_batch": lambda tok, docs: [tok.encode_batch(docs), tok.encode_batch(docs * 300)],
    "__call__": lambda tok, docs: [tok.encode_batch(docs, return_offsets=True), tok(docs)],
    "encode_iter": lambda tok, docs: list(tok.encode_iter(docs)), "encode_nbest": lambda tok, docs: tok.encode_nbest(docs, 2),
    "boundary_probabilities": lambda tok, docs: tok.boundary_probabilities(docs[0]),
    "transform": lambda tok, docs: tok.transform(docs),
    "fit_transform": lambda tok, docs: copy.deepcopy(tok).fit_transform(docs),
    "stream": lambda tok, docs: list(tok.stream(frame=3).over(docs)),
    "decode": lambda tok, docs: tok.decode(tok.encode(docs[0])),
    "decode_batch": lambda tok, docs: tok.decode_batch(tok.encode_batch(docs)),
    "decode_iter": lambda tok, docs: list(tok.decode_iter(tok.encode_batch(docs).to_lists())),
    "decode_stream": lambda tok, docs: tok.decode_stream().push(tok.encode(docs[0])),
    "inverse_transform": lambda tok, docs: tok.inverse_transform(tok.encode_batch(docs)),
    "count": lambda tok, docs: tok.count(docs),
    "index": lambda tok, docs: [(index := tok.index(tok.encode_batch(docs))), list(index)],
    "spans": lambda tok, docs: tok.spans(docs), "usage": lambda tok, docs: tok.usage(docs),
    "followers": lambda tok, docs: [tok.followers(), tok.followers([0, 1])],
    "vocabulary": lambda tok, docs: [tok.vocabulary, tok.vocabulary[3]],
    "tree of a token": lambda tok, docs: tok.vocabulary.tree(3), "history_": lambda tok, docs: getattr(tok, "history_", None),
    "get_params": lambda tok, docs: tok.get_params(),
    "kernels": lambda tok, docs: [tok.kernels.encode(np.array(docs[0])), tok.kernels],
}  # fmt: skip
#: Those that give no arrays, or another tokenizer.
OTHERS = {
    "explore", "export", "fingerprint", "fit", "fit_more", "for_text", "from_merges", "get_vocab", "id_to_token", "is_lossless",
    "load", "pieces", "prefix", "refine", "reweight", "save", "set_params", "token_to_id", "train", "truncate", "vocab_size",
    "with_objective",
}  # fmt: skip


def seen(tok: Any, docs: Any) -> dict[str, str]:
    """All that a tokenizer gives, as text."""
    found = {"fingerprint": tok.fingerprint}
    for name, call in GIVES.items():
        with contextlib.suppress(ValueError, TypeError, AttributeError):  # not of this tokenizer
            found[name] = text_of(call(tok, docs))
    return found


def fitted(cls: Any, *args: Any, **options: Any) -> Any:
    return cls(*args, **options).fit(DOCS, progress=False)


MADE: dict[str, tuple[Callable[[], Any], Any]] = {
    "BPE": (lambda: fitted(BPE, 8), DOCS), "classic": (lambda: fitted(UBPEClassic, 8), DOCS),
    "tfidf": (lambda: fitted(UBPE, 8), DOCS), "weights": (lambda: fitted(UBPE, 6, objective=WEIGHTS.copy()), DOCS),
    "likelihood": (lambda: fitted(UBPE, 8, objective="likelihood"), DOCS),
    "symbols": (lambda: BPE(8, alphabet=np.array([2, 1, 0])).fit(DOCS, progress=False), DOCS),
    "break": (lambda: fitted(BPE, 8, preprocessing=Preprocessing(break_tokens=np.array([1]))), DOCS),
    "text": (lambda: BPE.for_text(262, special_tokens=["<end>"]).fit(TEXTS, progress=False), TEXTS),
    "characters": (lambda: BPE(20).fit(TEXTS, progress=False), TEXTS),
    "pieces": (lambda: WordPiece(["[UNK]", "low", "##er", "##est"], preprocessing=Preprocessing("BertPreTokenizer")), TEXTS),
}  # fmt: skip


def loaded(tok: Any, folder: Path) -> Any:
    tok.save(folder / "model.npz" if not isinstance(tok, WordPiece) else folder / "model.json")
    return type(tok).load(next(folder.iterdir()))


@pytest.mark.parametrize("name", MADE)
@each("way", [lambda tok, _: tok, lambda tok, _: pickle.loads(pickle.dumps(tok)), loaded])
def test_what_comes_out_may_be_written_to(name: str, way: Callable[[Any, Path], Any], tmp_path: Path) -> None:
    make, docs = MADE[name]
    tok = way(make(), tmp_path)
    before, n = seen(tok, docs), 0
    for given, call in GIVES.items():
        if given in before:
            n += write(call(tok, docs))
    assert n > 20 and before.keys() >= {"encode", "decode", "vocabulary"}
    again = pickle.loads(pickle.dumps(tok))
    write(tok)
    assert seen(tok, docs) == seen(again, docs) == before
    for fixed in (tok.vocabulary, getattr(tok, "history_", None), *tok.get_params().values()):
        assert not any(array.flags.writeable for array in arrays_of(fixed))


def test_every_public_name_is_looked_at() -> None:
    names = {
        name for cls in (BPE, UBPE, UBPEClassic, WordPiece) for name in dir(cls) if not name.startswith("_")
    }
    params = {p for cls in (BPE, UBPE, UBPEClassic, WordPiece) for p in inspect.signature(cls).parameters}
    assert names - params == (GIVES.keys() | OTHERS) & (names | {"history_"}) - {"history_"} - params


IDENTITY = BPE.from_merges(np.zeros((0, 2), int), 3)  # ids are symbols
#: What is made of arrays of the user's: arrays, and the call.
TAKES: dict[str, tuple[list[np.ndarray], Callable[..., Any]]] = {
    "documents": ([np.array(doc) for doc in DOCS], lambda *docs: BPE(8).fit([*docs], progress=False)),
    "int32": ([np.array(doc, np.int32) for doc in DOCS], lambda *docs: BPE(8).fit([*docs], progress=False)),
    "flat": ([FLAT, CUTS], lambda flat, cuts: BPE(8).fit(flat, offsets=cuts, progress=False)),
    "weights of documents": (
        [np.array([1, 2, 3])],
        lambda w: BPE(8).fit(DOCS, sample_weight=w, progress=False),
    ),
    "Ragged": ([FLAT.astype(np.int32), CUTS], lambda v, c: BPE(8).fit(Ragged(v, c), progress=False)),
    "alphabet": ([np.array([2, 1, 0])], lambda a: BPE(8, alphabet=a).fit(DOCS, progress=False)),
    "merges": ([np.array([[0, 1], [3, 2]])], lambda m: BPE.from_merges(m, 3)),
    "merges of int32": ([np.array([[0, 1], [3, 2]], np.int32)], lambda m: BPE.from_merges(m, 3)),
    "idf": ([np.array([[0, 1], [3, 2]]), np.ones(2)], lambda m, w: BPE.from_merges(m, 3, w)),
    "objective": ([WEIGHTS], lambda w: fitted(UBPE, 6, objective=w)),
    "objective that is set": (
        [WEIGHTS],
        lambda w: fitted(UBPE, 6, objective="additive").set_params(objective=w),
    ),
    "break tokens": ([np.array([1])], lambda b: fitted(BPE, 8, preprocessing=Preprocessing(break_tokens=b))),
    "counts": ([FLAT, CUTS], lambda f, c: count_documents(f, offsets=c)),
    "weights of counts": ([np.array([1, 2, 3])], lambda w: count_documents(DOCS, sample_weight=w)),
    "offsets": ([CUTS], lambda c: Ragged(FLAT.astype(np.int32), c)),
    "lengths": ([np.diff(CUTS)], lambda n: Ragged.from_lengths(FLAT.astype(np.int32), n)),
    "ids of the identity": (
        [FLAT.astype(np.int32)],
        lambda doc: [IDENTITY.encode(doc), IDENTITY.encode_batch([doc])],
    ),
    "symbols of the identity": (
        [FLAT.astype(np.int32)],
        lambda ids: [IDENTITY.decode(ids), IDENTITY.decode_batch([ids])],
    ),
}


@each("name", TAKES)
def test_what_was_given_may_be_written_to(name: str) -> None:
    given, make = TAKES[name]
    mine = [array.copy() for array in given]
    made = make(*mine)
    look: Callable[[Any], Any] = (lambda tok: seen(tok, DOCS)) if hasattr(made, "encode") else text_of
    before = look(made)
    assert all(array.flags.writeable for array in mine)  # they are the user's still
    for array in mine:
        array[...] = array.flat[0]
    again = pickle.loads(pickle.dumps(made))
    assert look(made) == look(again) == before
    if isinstance(made, Counts):
        assert not any(
            array.flags.writeable
            for found in (made, again)
            for array in arrays_of((found.flat, found.weights))
        )


def test_a_list_of_weights_is_the_tokenizers_own() -> None:
    weights = WEIGHTS.tolist()
    tok = fitted(UBPE, 6, objective=weights)
    before = seen(tok, DOCS)
    weights[:] = [-1.0] * 6
    assert seen(tok, DOCS) == before
    tok.set_params(objective=(other := WEIGHTS[::-1].copy()))
    assert tok.fingerprint != before["fingerprint"] and other.flags.writeable


def test_the_package_has_no_arrays_of_its_own() -> None:
    for name in ubpe_numba.__all__:
        assert not any(array.flags.writeable for array in arrays_of(getattr(ubpe_numba, name)))
