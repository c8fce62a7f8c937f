"""A vocabulary of DNA from a FASTA file: lower case is masking, N is unknown, and no record is turned into words."""

import pathlib

import numpy as np
import pyfastx

from ubpe_numba import BPE

ALPHABET = {base: i for i, base in enumerate("ACGNT")} | {base: i for i, base in enumerate("acgnt")}


def write_fasta(path: pathlib.Path) -> None:
    """The bases that ship with the repository as a file in 100 records, of which parts are masked and unknown."""
    packed = np.fromfile(pathlib.Path(__file__).parents[1] / "data" / "ecoli_536.2bit", np.uint8)
    bases = np.frombuffer(b"ACGT", np.uint8)[
        (packed[:, None] >> np.arange(0, 8, 2, dtype=np.uint8) & 3).ravel()
    ].copy()
    bases[5_000:5_040] = ord("N")
    text = bases.tobytes().decode()
    text = text[:60_000] + text[60_000:70_000].lower() + text[70_000:]
    with open(path, "w") as f:
        for i in range(0, len(text), 2_000):
            f.write(f">contig_{i // 2_000}\n")
            f.writelines(text[i : i + 2_000][j : j + 70] + "\n" for j in range(0, 2_000, 70))


path = pathlib.Path("contigs.fa")
write_fasta(path)

records = [sequence for _, sequence in pyfastx.Fasta(str(path), build_index=False)]
tok = BPE(512, alphabet=ALPHABET).fit(records)
ids = tok.encode_batch(records)

print(
    f"{len(records)} records, {sum(map(len, records)) / ids.total:.2f} bases a token, lossless but for masking"
)
print(ids.total, ids[30][:8].tolist())
