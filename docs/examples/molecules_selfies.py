"""Molecules as words: RDKit reads SMILES, SELFIES cuts them into symbols, and any tokens are a molecule again."""

import selfies
from rdkit import Chem

from ubpe_numba import BPE

with open("drugs.smi", "w") as file:
    file.write(
        "CC(=O)Oc1ccccc1C(=O)O aspirin\nCC(C)Cc1ccc(cc1)C(C)C(=O)O ibuprofen\nCC(=O)Nc1ccc(O)cc1 paracetamol\n"
    )
    file.write(
        "OC(=O)c1ccccc1O salicylic\nCN1C=NC2=C1C(=O)N(C(=O)N2C)C caffeine\nCN1C(=O)c2[nH]cnc2N(C)C1=O theophylline\n"
    )

molecules = [Chem.MolToSmiles(molecule) for molecule in Chem.SmilesMolSupplier("drugs.smi", titleLine=False)]
docs = [list(selfies.split_selfies(selfies.encoder(smiles))) for smiles in molecules]
tok = BPE(60).fit(docs)
ids = tok.encode_batch(docs)
for smiles, words in zip(molecules, tok.decode_batch(ids), strict=True):
    assert Chem.CanonSmiles(selfies.decoder("".join(words))) == Chem.CanonSmiles(smiles)
longest = max(tok.vocabulary, key=len)
print(f"{sum(map(len, docs))} symbols are {ids.total} tokens; the longest is {''.join(longest)}")
