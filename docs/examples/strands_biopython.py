"""A genome from a FASTA file, and tokens that are the same on both strands."""

import pathlib

import numpy as np
from Bio import SeqIO

from ubpe_numba import UBPE, Preprocessing

packed = np.fromfile(pathlib.Path(__file__).parents[1] / "data" / "ecoli_536.2bit", np.uint8)
bases = np.frombuffer(b"ACGT", np.uint8)[packed[:, None] >> np.arange(0, 8, 2) & 3].tobytes().decode()
pathlib.Path("ecoli.fa").write_text(f">ecoli 536\n{bases}\n")

sequence = next(SeqIO.parse("ecoli.fa", "fasta")).seq
tok = UBPE(
    2048, alphabet="ACGT", objective="shortest", preprocessing=Preprocessing(mirror={"A": "T", "C": "G"})
)
tok.fit([str(sequence)])
here, there = tok.encode_batch([str(sequence), str(sequence.reverse_complement())])
assert np.array_equal(tok.vocabulary.mirror[there[::-1]], here)
print(f"{len(sequence) / here.size:.2f} bases a token on either strand")
