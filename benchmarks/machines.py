"""What `ubpe_numba.distributed` costs: messages, the driver, a fit and an encode on processes of this machine; Markdown tables.

Rows `protocol`, `driver` and `replay` have hosts in this process and count exactly; `fit`, `encode`,
`latency` and `recovery` start clusters of Dask with two processes or more, of one thread each.
"""

from __future__ import annotations

import argparse

import clusters
import hosts

ROWS = {
    row.__name__: row
    for row in (
        hosts.protocol, hosts.driver, clusters.latency, clusters.fit, clusters.encode, clusters.recovery, hosts.replay,
    )
}  # fmt: skip


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="some of %(default)s")
    parser.add_argument("--quick", action="store_true", help="smaller data, for a first look")
    options = parser.parse_args()
    rows = options.rows.split(",")
    if unknown := set(rows) - set(ROWS):
        parser.error(f"--rows: expected some of {', '.join(ROWS)}, got {', '.join(sorted(unknown))}")
    for row in rows:
        print(f"\n**{row}**\n", flush=True)
        ROWS[row](options.quick)


if __name__ == "__main__":
    main()
