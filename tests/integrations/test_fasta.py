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


def sequences() -> list[str]:
    """Twenty contigs, two of them masked in part, one with a gap."""
    packed = np.fromfile(BASES, np.uint8)[:10_000]
    codes = (packed[:, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).ravel()
    text = np.frombuffer(b"ACGT", np.uint8)[codes].tobytes().decode()
    parts = [text[i : i + 2_000] for i in range(0, 40_000, 2_000)]
    parts[3] = parts[3][:500].lower() + parts[3][500:]
    parts[4] = parts[4].lower()
    parts[7] = parts[7][:1_000] + "N" * 50 + parts[7][1_050:]
    return parts


DOCS = sequences()


def fitted(alphabet: Any, docs: Any, **params: Any) -> BPE:
    return BPE(300, alphabet=alphabet, **arguments_of(params)).fit(docs, progress=False)


def test_pyfastx_and_biopython_give_the_same_ids(tmp_path: pathlib.Path) -> None:
    pyfastx, seq_io = needed("pyfastx"), needed("Bio.SeqIO")
    fasta, packed = tmp_path / "contigs.fa", tmp_path / "contigs.fa.gz"
    lines = (f">c{i} of twenty\n" + "\n".join(s[j : j + 60] for j in range(0, len(s), 60)) for i, s in enumerate(DOCS))
    fasta.write_text("\n".join(lines) + "\n")
    packed.write_bytes(gzip.compress(fasta.read_bytes()))
    with open(fasta) as file:
        in_bytes = [bytes(record.seq) for record in seq_io.parse(file, "fasta")]
    assert [record.decode() for record in in_bytes] == DOCS
    for path in (fasta, packed):
        assert [sequence for _, sequence in pyfastx.Fasta(str(path), build_index=False)] == DOCS
    data = fitted({base.encode(): i for base, i in CASES.items()}, in_bytes)
    assert fitted(CASES, DOCS).encode_batch(DOCS) == data.encode_batch(in_bytes)


def test_masking_has_no_influence_on_tokens_and_is_lost() -> None:
    tok, upper = fitted(CASES, DOCS), [doc.upper() for doc in DOCS]
    assert tok.fingerprint == fitted(CASES, upper).fingerprint and not tok.is_lossless
    ids = tok.encode_batch(DOCS)
    assert ids == tok.encode_batch(upper) and tok.decode_batch(ids) == upper != DOCS
    apart = fitted("ACGTNacgtn", DOCS)
    assert apart.is_lossless and apart.decode_batch(apart.encode_batch(DOCS)) == DOCS


def test_gaps_stand_alone_from_a_file_too(tmp_path: pathlib.Path, suffix: str) -> None:
    tok, n = fitted(CASES, DOCS, break_tokens=["N", "n"]), CASES["N"]
    assert all(n not in tok._model.vocabulary.sequence(t) for t in range(5, len(tok._model.vocabulary)))
    assert (tok.encode(DOCS[7]) == n).sum() == DOCS[7].count("N") == 50
    tok.save(tmp_path / f"dna{suffix}")
    again = BPE.load(tmp_path / f"dna{suffix}")
    assert again.fingerprint == tok.fingerprint and again.encode_batch(DOCS) == tok.encode_batch(DOCS)


def test_a_letter_that_is_no_base_is_named() -> None:
    with pytest.raises(UnknownSymbolError, match=r"document 1, position 4: symbol 'R'"):
        fitted(CASES, DOCS).encode_batch(["ACGT", "ACGTRACGT"])
    folded = fitted(CASES | dict.fromkeys("RYSWKMBDHV", CASES["N"]), DOCS)
    assert folded.decode(folded.encode("ACGTRACGT")) == "ACGTNACGT"
