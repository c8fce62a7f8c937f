"""The same with tokenizers: records become text in one case, and the initial alphabet has to be known."""

import pathlib

import numpy as np
import pyfastx
from tokenizers import Tokenizer, models, trainers


def write_fasta(path: pathlib.Path) -> None:
    """The bases that ship with the repository as a file in 100 records, of which parts are masked and unknown."""
    packed = np.fromfile(pathlib.Path(__file__).parents[2] / "data" / "ecoli_536.2bit", np.uint8)
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

records = [sequence.upper() for _, sequence in pyfastx.Fasta(str(path), build_index=False)]
tok = Tokenizer(models.BPE())
tok.train_from_iterator(
    records, trainers.BpeTrainer(vocab_size=512, initial_alphabet=list("ACGNT"), show_progress=False)
)
ids = [encoding.ids for encoding in tok.encode_batch(records)]

total = sum(map(len, ids))
print(f"{len(records)} records, {sum(map(len, records)) / total:.2f} bases a token, lossless but for masking")
print(total, ids[30][:8])
