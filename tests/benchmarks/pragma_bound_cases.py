"""Random kernels with directives: SCIP's bound <= composed bound <= measured cycles, many cases.

    python -m tests.benchmarks.pragma_bound_cases --keep FILE [--from 0] [--count 5000]

The cases of tests/pragmas/test_bound_property.py, further ones. One JSON line per case is kept in FILE, so
that an interrupted run goes on. A case whose figures do not stand in this order, or that fails, is printed
and makes the exit status 1; `--show SEED` prints its program and directives.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.harness import KeptRows, Row, options_parser

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pragmas"))

from bound_cases import draw_case, figures_of


def _case(seed: int) -> Row:
    case = draw_case(seed)
    intervals = [choice.interval for choice in case.configuration.loops.values()]
    with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
        figures = figures_of(case, Path(folder))
    return {"seed": seed, "holds": figures.holds, "interval": max(intervals, default=1), **asdict(figures)}


def _show(seed: int) -> None:
    case = draw_case(seed)
    print(case.source)
    print("ordered sums" if case.ordered else "unsafe math")
    print("\n".join(str(directive) for directive in case.directives))
    print(_case(seed))


def main() -> int:
    """Measure the cases that are not kept yet and print the figures of all."""
    parser = options_parser(__doc__)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    if options.show is not None:
        _show(options.show)
        return 0
    if options.keep is None:
        parser.error("--keep FILE is needed")
    kept = KeptRows(options.keep, lambda row: row["seed"])
    seeds = range(options.first, options.first + options.count)
    done = [kept.measured(seed, lambda s=seed: _case(s)) for seed in seeds]
    failed = [row for row in done if not row["holds"]]
    for row in failed:
        print(row)
    known = sum(row["at_design"] is not None for row in done)
    longer = sum(row["interval"] > 1 for row in done)
    ratio = statistics.median(row["measured"] / max(1.0, row["composed"]) for row in done)
    print(
        f"{len(done)} cases, {longer} with an interval above 1, {known} with SCIP's objective at the design"
    )
    print(f"{len(failed)} above; median of measured over bound {ratio:.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
