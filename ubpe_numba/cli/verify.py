"""`ubpe-numba verify`: the comparison with digests of references, as a table or as JSON."""

from __future__ import annotations

import json
from argparse import Namespace

from ubpe_numba.verification.verify import verify


def run(options: Namespace) -> int:
    """Compare, print, and return the exit code: 0 if nothing differed, 1 otherwise."""
    found = verify(fresh=options.fresh, progress=False if options.quiet else "auto")
    print(json.dumps(found.to_dict()) if options.json else found)
    return 0 if found.passed else 1
