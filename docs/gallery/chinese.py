"""Chinese."""

import warnings

import matplotlib.pyplot as plt
from babel import Locale

from ubpe_numba import BPE
from ubpe_numba.plot import SkylineDisplay

warnings.filterwarnings("ignore", message="Glyph")  # the reader's browser has the characters
plt.rcParams["svg.fonttype"] = "none"
locale = Locale("zh")  # names of currencies, countries, languages and scripts, bundled with Babel
names = [
    name
    for part in ("currencies", "territories", "languages", "scripts")
    for name in getattr(locale, part).values()
]
text = "、".join(name for name in names if "群岛" in name or "共和国" in name)[:48]
tok = BPE(2000).fit([*names, "、"], progress=False)
SkylineDisplay.from_document(tok, text)
