"""Pictures of tokens, motifs and vocabularies, after scikit-learn's displays; they need the extra `plot` (matplotlib).

A display holds arrays. Its methods ``from_...`` compute and draw them; ``plot`` draws them again, on given axes or on a new
figure of pyplot. Arrays stay as attributes as they were given; ``ax_`` (``axes_`` for several) and ``figure_`` are what was
drawn on last. Every one takes ``theme="light"`` or ``"dark"``. A token has the same hue in all of them, except where its
neighbour has it already.
"""

from ubpe_numba.tokenizers.skyline import skyline
from ubpe_numba.views.displays.compression import CompressionDisplay
from ubpe_numba.views.displays.counts import CountsDisplay
from ubpe_numba.views.displays.motifs import MotifsDisplay
from ubpe_numba.views.displays.piano_roll import PianoRollDisplay
from ubpe_numba.views.displays.skyline import SkylineDisplay
from ubpe_numba.views.displays.tokens import TokensDisplay
from ubpe_numba.views.displays.tree import TreeDisplay

__all__ = ["CompressionDisplay", "CountsDisplay", "MotifsDisplay", "PianoRollDisplay", "TokensDisplay", "TreeDisplay"]
__all__ += ["SkylineDisplay", "skyline"]
