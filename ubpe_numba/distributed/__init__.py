"""The same fit, counts and encoding on many machines, by Dask (``pip install 'ubpe-numba[dask]'``).

Without a `client` the functions start a cluster of processes on this machine and close it again. A script that relies on that has
to stand under ``if __name__ == "__main__":``, since the processes import it.
"""

from ubpe_numba.distributed.cluster import require_dask

require_dask()

from ubpe_numba.distributed.counting import count  # noqa: E402  # only where Dask is
from ubpe_numba.distributed.decoding import decode  # noqa: E402
from ubpe_numba.distributed.encoding import encode  # noqa: E402
from ubpe_numba.distributed.fitting import fit  # noqa: E402
from ubpe_numba.distributed.memory import register_sizes  # noqa: E402

register_sizes()

__all__ = ["count", "decode", "encode", "fit"]
