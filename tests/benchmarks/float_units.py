"""Floating-point units in Verilator against native C, on many vectors.

    python -m tests.benchmarks.float_units [--vectors 10000000] [--only 'double div'] [--json FILE]

Each operation is a simulator of its own, built and run in turn; operands are drawn by rules that meet the
corners of the formats (`tests/hls/unit_vectors.hpp`). A result must equal that of gcc's code in every bit, a
NaN's sign and payload too (counted apart). Ends with status 1 when one does not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.harness import options_parser, write_json

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))
from unit_bench import Check, Outcome, build_bench, run_bench
from unit_checks import arithmetic_checks, comparison_checks, conversion_checks


def measure(check: Check, vectors: int, seed: int, runtime_folder: Path) -> Outcome:
    """One operation on a number of vectors; seconds are those of the run, without the build."""
    with tempfile.TemporaryDirectory() as folder:
        program = build_bench([check], Path(folder), runtime_folder, optimize="-O2")
        cycles = (vectors + check.unit.latency_cycles) * check.unit.busy_cycles
        (outcome,) = run_bench(program, [check], cycles, seed)
        return outcome


def measured(options: argparse.Namespace) -> Iterator[Outcome]:
    """Every operation that was asked for."""
    checks = [*arithmetic_checks(), *comparison_checks(), *conversion_checks()]
    with tempfile.TemporaryDirectory() as runtime:
        for check in checks:
            if options.only in check.name:
                yield measure(check, options.vectors, options.seed, Path(runtime))


def main() -> int:
    """Print a line an operation; write them as JSON when asked."""
    parser = options_parser(__doc__)
    parser.add_argument("--vectors", type=int, default=10_000_000, help="for each operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="operations whose name contains this")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    print(f"{'operation':18}{'vectors':>12}{'mismatches':>12}{'NaN bits':>10}{'seconds':>9}")
    for outcome in measured(options):
        outcomes.append(outcome)
        sys.stdout.write(
            f"{outcome.name:18}{outcome.vectors:12}{outcome.mismatches:12}{outcome.nan_bits:10}"
            f"{outcome.seconds:9.1f} {outcome.examples}\n"
        )
        sys.stdout.flush()
    write_json(options.json, [asdict(o) for o in outcomes])
    return int(any(o.mismatches or o.nan_bits for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
