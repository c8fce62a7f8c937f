"""Python."""

import inspect
import json.decoder
import textwrap

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

# of the standard library
sources = [inspect.getsource(module) for module in (json, json.decoder, inspect, textwrap)]
tok = BPE.for_text(2048).fit(sources, progress=False)
SkylineDisplay.from_document(tok, "def decode(self, s):\n    obj, end = self.raw_decode(s)\n    return obj\n")
