"""Records of FASTA files as documents, read by the packages that people read them with."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

import numpy as np
import pytest
from flat_arguments import arguments_of
from integrations.conftest import needed

from ubpe_numba import BPE
from ubpe_numba.errors import UnknownSymbolError

BASES = pathlib.Path(__file__).parents[2] / "docs" / "data" / "ecoli_536.2bit"
CASES = {base: i for i, base in enumerate("ACGTN")} | {base: i for i, base in enumerate("acgtn")}
IN_BYTES = {base.encode(): i for base, i in CASES.items()}


def sequences() -> list[str]:
    """Twenty contigs, two of them masked in part, one with a gap."""
    packed = np.fromfile(BASES, np.uint8)[:10_000]
    text = (
        np.frombuffer(b"ACGT", np.uint8)[(packed[:, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).ravel()].tobytes().decode()
    )
    parts = [text[i : i + 2_000] for i in range(0, 40_000, 2_000)]
    parts[3] = parts[3][:500].lower() + parts[3][500:]
    parts[4] = parts[4].lower()
    parts[7] = parts[7][:1_000] + "N" * 50 + parts[7][1_050:]
    return parts


@pytest.fixture
def fasta(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "contigs.fa"
    lines = (f">c{i} of twenty\n" + "\n".join(s[j : j + 60] for j in range(0, len(s), 60)) for i, s in enumerate(sequences()))
    path.write_text("\n".join(lines) + "\n")
    return path


def fitted(alphabet: Any, docs: Any, **params: Any) -> BPE:
    return BPE(300, alphabet=alphabet, **arguments_of(params)).fit(docs, progress=False)


def test_pyfastx_and_biopython_give_the_same_ids(fasta: pathlib.Path) -> None:
    pyfastx, seq_io = needed("pyfastx"), needed("Bio.SeqIO")
    records = [sequence for _, sequence in pyfastx.Fasta(str(fasta), build_index=False)]
    with open(fasta) as file:
        in_bytes = [bytes(record.seq) for record in seq_io.parse(file, "fasta")]
    assert records == sequences() == [record.decode() for record in in_bytes]
    text, data = fitted(CASES, records), fitted(IN_BYTES, in_bytes)
    assert text.encode_batch(records) == data.encode_batch(in_bytes)
    assert len(text._model.vocabulary) == 300


def test_compressed_files_are_read_by_pyfastx(fasta: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pyfastx = needed("pyfastx")
    packed = tmp_path / "contigs.fa.gz"
    packed.write_bytes(gzip.compress(fasta.read_bytes()))
    assert [sequence for _, sequence in pyfastx.Fasta(str(packed), build_index=False)] == sequences()


def test_masking_has_no_influence_on_tokens_and_is_lost() -> None:
    needed("pyfastx")
    docs = sequences()
    tok = fitted(CASES, docs)
    assert tok.fingerprint == fitted(CASES, [doc.upper() for doc in docs]).fingerprint
    ids = tok.encode_batch(docs)
    assert ids == tok.encode_batch([doc.upper() for doc in docs])
    assert tok.decode_batch(ids) == [doc.upper() for doc in docs] != docs
    assert not tok.is_lossless


def test_cases_that_are_kept_apart_come_back() -> None:
    docs = sequences()
    tok = fitted("ACGTNacgtn", docs)
    assert tok.is_lossless and tok.decode_batch(tok.encode_batch(docs)) == docs


def test_gaps_stand_alone() -> None:
    docs = sequences()
    tok = fitted(CASES, docs, break_tokens=["N", "n"])
    n = CASES["N"]
    assert all(n not in tok._model.vocabulary.sequence(t) for t in range(5, len(tok._model.vocabulary)))
    assert (tok.encode(docs[7]) == n).sum() == docs[7].count("N") == 50
    together = fitted(CASES, docs)
    assert (together.encode(docs[7]) == n).sum() < 50


def test_a_letter_that_is_no_base_is_named() -> None:
    tok = fitted(CASES, sequences())
    with pytest.raises(UnknownSymbolError, match=r"document 1, position 4: symbol 'R'"):
        tok.encode_batch(["ACGT", "ACGTRACGT"])
    folded = fitted(CASES | dict.fromkeys("RYSWKMBDHV", CASES["N"]), sequences())
    assert folded.decode(folded.encode("ACGTRACGT")) == "ACGTNACGT"


def test_a_model_in_a_file_folds_too(tmp_path: pathlib.Path, suffix: str) -> None:
    tok = fitted(CASES, sequences(), break_tokens=["N", "n"])
    path = tmp_path / f"dna{suffix}"
    tok.save(path)
    again = BPE.load(path)
    assert again.fingerprint == tok.fingerprint and again.encode_batch(sequences()) == tok.encode_batch(sequences())
