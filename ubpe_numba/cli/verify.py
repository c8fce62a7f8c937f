"""`ubpe-numba verify`: the comparison with plain references, as a table or as JSON."""

from __future__ import annotations

import json
from argparse import Namespace

from ubpe_numba.verification.verify import verify


def run(options: Namespace) -> int:
    """Compare, print, and return the exit code: 0 if something was compared and nothing differed, 1 otherwise."""
    progress = False if options.quiet else "auto"
    found = verify(seed=options.seed, seconds=options.seconds, fresh=options.fresh, progress=progress)
    print(json.dumps(found.to_dict()) if options.json else found)
    return 0 if found.passed else 1
