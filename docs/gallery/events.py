"""A log of events."""

import dis
import json.decoder
import types

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

functions = [
    f
    for module in (json.decoder, dis, types)
    for f in vars(module).values()
    if isinstance(f, types.FunctionType)
]
# what Python does
logs = [[event.opname.lower() for event in dis.get_instructions(function)] for function in functions]
tok = BPE(200).fit(logs, progress=False)
SkylineDisplay.from_document(tok, logs[0], stop=16)
