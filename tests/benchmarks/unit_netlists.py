"""Floating-point units at gate level: netlists of standard cells in Icarus against native C.

    python -m tests.benchmarks.unit_netlists [--vectors 2000] [--only 'float mul'] [--json FILE]

Operations are synthesised and simulated one by one; a result must equal gcc's in every bit. An event-driven
simulation of gates is slow: 3,000 double products take some minutes. Ends with status 1 when one differs.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from pipelines.silicon.synthesis import Target, find_liberty
from tests.benchmarks.harness import options_parser, write_json

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from unit_checks import arithmetic_checks
from unit_netlists import NetlistOutcome, check_netlist


def main() -> int:
    """Print a line an operation; write them as JSON when asked."""
    parser = options_parser(__doc__)
    parser.add_argument("--vectors", type=int, default=2000, help="for each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="operations whose name contains this")
    parser.add_argument("--library", default="osu018")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    target = Target(liberty=find_liberty(options.library), clock_period_ns=8.0)
    outcomes: list[NetlistOutcome] = []
    print(f"{'operation':14}{'cells':>8}{'vectors':>9}{'mismatches':>12}")
    for check in (c for c in arithmetic_checks() if options.only in c.name):
        with tempfile.TemporaryDirectory() as folder:
            outcome = check_netlist(check, options.vectors, target, Path(folder), options.seed)
        outcomes.append(outcome)
        figures = f"{outcome.cells:8}{outcome.vectors:9}{outcome.mismatches:12}"
        print(f"{outcome.name:14}{figures} {outcome.examples}", flush=True)
    write_json(options.json, [asdict(o) for o in outcomes])
    return int(any(o.mismatches for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
