"""The bound beside latencies that a vendor's tools measured: `python -m tests.benchmarks.vendor_bounds`.

    python -m tests.benchmarks.vendor_bounds --designs FILE --kernels FILE [--kernel NAME] [--figure FILE.svg]

Prints for each kernel: rows with a latency, the share with bound <= measured, the median of measured over
bound, Spearman's rank correlation of the two; and, over designs that fit, walked in the order of their bounds
until the bound exceeds the best so far, after what share of them the best is reached. Rows whose latency no
design can have, for fewer cycles than the data need through their ports, are counted apart (`refuted`): they
are no latencies, so `valid` is stated with them and without, and nothing else counts them. Then what an
outermost loop's COARSE does: pairs of rows that differ in it alone, where overlap of all transfers with
computation would lower the bound by a twentieth and more; and how near to their bound rows with it are. Then
every violation, with its reason.
With --figure, all rows by their measured latency, as Figure 4 of NLP-DSE.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from scipy.stats import spearmanr

from pipelines.dataset.vendor import read_merlin
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Bound, bound, complete, impossible, read_target
from pipelines.pragmas.bound.composition import staged
from pipelines.pragmas.summary import ROOT
from tests.benchmarks.harness import options_parser
from tests.support.vendor_kernels import configuration_of_row, vendor_kernel

TARGETS = {"vitis-2021.1": "u200-2021.1"}
"""Targets of toolchains; `u200` holds for all."""
OVERLAP_GAIN, FASTER, NEAR = 0.05, 1.01, 1.02
"""Shares of a bound; of a latency, beyond which one is faster; and of a bound, what is near it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A row with a latency, and its bound.

    Attributes:
        refuted: why no design can have that latency.
        stages: COARSE of an outermost loop makes stages, whose double buffers might overlap transfers.
    """

    kernel: str
    toolchain: str
    directives: str
    bound: Bound
    measured_cycles: int
    fits: bool
    refuted: str | None
    stages: bool

    @property
    def bound_cycles(self) -> float:
        """The bound of the latency."""
        return self.bound.latency_cycles

    @property
    def overlap_gain(self) -> float:
        """By what share the bound would be lower with all transfers beside computation."""
        return 1 - max(self.bound.computation_cycles, self.bound.transfer_cycles) / self.bound_cycles


def points(designs: Path, kernels: Path, only: str | None = None) -> list[Point]:
    """Rows with a latency and their bounds."""
    targets = {name: read_target(name) for name in ("u200", *TARGETS.values())}
    summaries = {}
    found: list[Point] = []
    for row in read_merlin(designs, kernels=kernels).designs:
        if row.latency_cycles is None or (only is not None and row.kernel != only):
            continue
        kernel = vendor_kernel(row.kernel)
        if row.kernel not in summaries:
            summaries[row.kernel] = summarise(kernel.source, kernel.top, relaxed=True)
        summary, target = summaries[row.kernel], targets[TARGETS.get(row.toolchain, "u200")]
        configuration = configuration_of_row(kernel, row.directives, row.directives_by_loop)
        completed = complete(summary, configuration, target)
        found.append(
            Point(
                kernel=row.kernel,
                toolchain=row.toolchain,
                directives=row.directives,
                bound=bound(summary, configuration, target),
                measured_cycles=row.latency_cycles,
                fits=bool(row.fits),
                refuted=impossible(summary, target, row.latency_cycles),
                stages=any(staged(summary, completed, name) for name in summary.child_loops(ROOT)),
            )
        )
    return found


def walk(rows: Sequence[Point]) -> tuple[bool, float] | None:
    """Designs in the order of their bounds, equal bounds shuffled, until the bound exceeds the best so far.

    Returns: whether the best was met, and the share of designs evaluated until it was, averaged over
        shuffles; None without designs that fit.
    """
    valid = [row for row in rows if row.fits]
    if not valid:
        return None
    best = min(row.measured_cycles for row in valid)
    shares: list[float] = []
    met = True
    for seed in range(20):
        order = sorted(random.Random(seed).sample(valid, len(valid)), key=lambda row: row.bound_cycles)
        least = float("inf")
        for n, row in enumerate(order, start=1):
            if row.bound_cycles > least:
                break
            if row.measured_cycles == best:
                shares.append(n / len(valid))
                break
            least = min(least, row.measured_cycles)
        met = met and len(shares) == seed + 1
        if not met:
            return False, float("nan")
    return True, fmean(shares)


def figures(rows: Sequence[Point]) -> tuple[float, float, float]:
    """Share of valid bounds, median of measured over bound, rank correlation."""
    valid = fmean(row.bound_cycles <= row.measured_cycles for row in rows)
    ratio = median(row.measured_cycles / max(1.0, row.bound_cycles) for row in rows)
    bounds = [row.bound_cycles for row in rows]
    constant = len(set(bounds)) == 1
    rank = 0.0 if constant else float(spearmanr(bounds, [row.measured_cycles for row in rows])[0])
    return valid, ratio, rank


def coarse_pairs(rows: Sequence[Point]) -> list[tuple[Point, Point]]:
    """Rows of one kernel and tool that differ in COARSE of an outermost loop alone: with it, without it."""
    found: list[tuple[Point, Point]] = []
    by_directives = {(row.kernel, row.toolchain, row.directives): row for row in rows}
    for row in rows:
        asked: dict[str, int | str] = json.loads(row.directives)
        for name in (name for name, value in asked.items() if value == "" and row.stages):
            off = json.dumps(asked | {name: "off"}, separators=(",", ":"))
            other = by_directives.get((row.kernel, row.toolchain, off))
            if other is not None and not other.stages:
                found.append((row, other))
    return found


def print_coarse(rows: Sequence[Point]) -> None:
    """Whether transfers and computation take turns where an outermost loop is COARSE."""
    pairs = [pair for pair in coarse_pairs(rows) if pair[0].overlap_gain >= OVERLAP_GAIN]
    gains = [(other.measured_cycles / row.measured_cycles, row) for row, other in pairs]
    faster = sorted((gain, row.kernel) for gain, row in gains if gain > FASTER)
    print(
        f"COARSE of an outermost loop: {len(pairs)} pairs of rows, {len(pairs) - len(faster)} no faster for "
        f"it, {len(faster)} faster: {', '.join(f'{name} {gain:.2f}' for gain, name in faster)}"
    )
    staged_rows = [row for row in rows if row.stages and row.overlap_gain > 0]
    near = [row for row in staged_rows if row.measured_cycles <= NEAR * row.bound_cycles]
    print(
        f"rows with it: {len(staged_rows)}, below their bound "
        f"{sum(row.measured_cycles < row.bound_cycles for row in staged_rows)}, at most {NEAR} times it "
        f"{len(near)} ({', '.join(sorted({row.kernel for row in near}))})"
    )


def draw(rows: Sequence[Point], path: Path) -> None:
    """Bound and measured latency of every row, in the order of the latter, as SVG without a date."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "simfoundry"
    import matplotlib.pyplot as plt

    ranked = sorted(rows, key=lambda row: (row.measured_cycles, row.bound_cycles))
    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for name, cycles in (
        ("measured", [row.measured_cycles for row in ranked]),
        ("bound", [max(1.0, row.bound_cycles) for row in ranked]),
    ):
        axes.semilogy(cycles, ".", label=name, markersize=2, rasterized=True)
    axes.set(xlabel="rows by measured latency", ylabel="cycles", title="Bound and measured: a vendor's tools")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None}, dpi=150)
    plt.close(figure)


def main() -> None:
    """Print the table."""
    parser = options_parser(__doc__)
    parser.add_argument("--designs", type=Path, required=True)
    parser.add_argument("--kernels", type=Path, required=True)
    parser.add_argument("--kernel", help="of this kernel alone")
    parser.add_argument("--figure", type=Path, help="SVG of all rows")
    arguments = parser.parse_args()
    found = points(arguments.designs, arguments.kernels, arguments.kernel)
    by_kernel: dict[str, list[Point]] = defaultdict(list)
    for point in found:
        by_kernel[point.kernel].append(point)
    print(
        f"{'kernel':18} {'rows':>5} {'refuted':>8} {'valid %':>8} {'ratio':>8} {'rank':>6} {'designs':>8} "
        f"{'best %':>7}"
    )
    ranks, shares = list[float](), list[float]()
    for kernel, reported in sorted(by_kernel.items()):
        rows = [row for row in reported if row.refuted is None]
        valid, ratio, rank = figures(rows)
        walked = walk(rows)
        share = (
            "pruned" if walked is not None and not walked[0] else f"{100 * walked[1]:.1f}" if walked else "-"
        )
        ranks.append(rank)
        if walked is not None and walked[0]:
            shares.append(walked[1])
        fitting = sum(row.fits for row in rows)
        print(
            f"{kernel:18} {len(reported):5} {len(reported) - len(rows):8} {100 * valid:8.2f} {ratio:8.2f} "
            f"{rank:6.2f} {fitting:8} {share:>7}",
            flush=True,
        )
    sound = [row for row in found if row.refuted is None]
    valid, ratio, _ = figures(sound)
    print(
        f"{'all':18} {len(found):5} {len(found) - len(sound):8} {100 * valid:8.2f} {ratio:8.2f} "
        f"{fmean(ranks):6.3f} (mean of kernels)"
    )
    print(f"valid of all rows as reported: {100 * figures(found)[0]:.2f} %")
    print(f"the best design is reached after {100 * median(shares):.1f} % of a kernel's designs (median)")
    print_coarse(sound)
    for point in found:
        if point.bound_cycles > point.measured_cycles:
            print(
                f"violation: {point.kernel} {point.directives} bound {point.bound_cycles:.0f} "
                f"measured {point.measured_cycles}" + (f": {point.refuted}" if point.refuted else "")
            )
    if arguments.figure is not None:
        draw(sound, arguments.figure)


if __name__ == "__main__":
    main()
