"""Displays of tokens, motifs and vocabularies, similar to scikit-learn's.

They need the extra `plot` (matplotlib). A display holds arrays. Its methods ``from_...`` compute and plot
them; ``plot`` plots them again, on given axes or on a new figure of pyplot. The arrays stay as attributes.
``ax_`` (or ``axes_``) and ``figure_`` are the axes and figure of the last plot. Every display takes
``theme="light"`` or ``"dark"``. A token has the same hue in all of them, unless its neighbor already has that
hue.
"""

from ubpe_numba.tokenizers.skyline import skyline
from ubpe_numba.views.displays.compression import CompressionDisplay
from ubpe_numba.views.displays.motifs import MotifsDisplay
from ubpe_numba.views.displays.skyline import SkylineDisplay
from ubpe_numba.views.displays.tokens import TokensDisplay
from ubpe_numba.views.displays.tree import TreeDisplay

__all__ = ["CompressionDisplay", "MotifsDisplay", "SkylineDisplay", "TokensDisplay", "TreeDisplay", "skyline"]
