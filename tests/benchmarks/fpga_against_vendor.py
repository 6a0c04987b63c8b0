"""FPGA labels of our designs beside a vendor's estimates for the same kernels under the same directives.

    python -m tests.benchmarks.fpga_against_vendor --designs FILE --kernels FILE --results FILE.jsonl
        [--rows 6] [--most-operations 400] [--seconds 1200]

Vendor rows are the estimates of Vitis HLS for designs that Merlin transformed: on-chip copies of arrays,
bursts, and an interface to DDR. Our designs have none of these, and their arrays stay outside. So ranks are
compared and no values: Spearman's correlation over all designs, and within each kernel with four designs and
more. Of each kernel, rows are drawn by seed from those with resources whose directives give our synthesis at
most `--most-operations` operations and accesses; rows that give one design are one. A count of 0 flip-flops
beside thousands of LUTs is a share that was rounded to 0 %, so it is not ranked.
"""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from scipy.stats import spearmanr

from pipelines.base.tools import stopwatch
from pipelines.c import HlsError
from pipelines.cyclemodel import count_cycles
from pipelines.dataset.vendor import read_merlin
from pipelines.hls import HlsOptions, compile_program
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.search.directives import hls_directives
from pipelines.pragmas.search.evaluators import banked_size
from pipelines.programs import draw_data
from pipelines.schemas import VendorDesignRow
from pipelines.silicon.synthesis import synthesize_for_fpga
from tests.benchmarks.harness import KeptRows, Row, options_parser, print_header, print_row
from tests.support.vendor_kernels import configuration_of_row, vendor_kernel

FIGURES = {"lut": "lut_count", "ff": "ff_count", "dsp": "dsp_count", "cycles": "latency_cycles"}
"""Our name of each figure, and the vendor's column."""
FEWEST = 4
"""Designs of a kernel that are ranked within it."""


def drawn_rows(
    designs: Path, kernels: Path, *, count: int, most_operations: int
) -> Iterator[tuple[VendorDesignRow, HlsOptions]]:
    """Rows and the options of our design: the first of each kernel, then the second ones, and so on."""
    by_kernel: dict[str, list[VendorDesignRow]] = defaultdict(list)
    for row in read_merlin(designs, kernels=kernels).designs:
        if row.status == "ok" and row.lut_count and row.ff_count and row.latency_cycles:
            by_kernel[row.kernel].append(row)
    chosen: dict[str, list[tuple[VendorDesignRow, HlsOptions]]] = {}
    for name, rows in sorted(by_kernel.items()):
        random.Random(0).shuffle(rows)
        chosen[name] = _small_designs(name, rows, count, most_operations)
    for place in range(count):
        yield from (rows[place] for rows in chosen.values() if place < len(rows))


def _small_designs(
    name: str, rows: Sequence[VendorDesignRow], count: int, most_operations: int
) -> list[tuple[VendorDesignRow, HlsOptions]]:
    kernel = vendor_kernel(name)
    try:
        summary = summarise(kernel.source, kernel.top, relaxed=True)
    except PragmaError:
        return []
    different: dict[HlsOptions, VendorDesignRow] = {}
    for row in rows:
        configuration = configuration_of_row(kernel, row.directives, row.directives_by_loop)
        if len(different) < count and banked_size(summary, configuration) <= most_operations:
            options = HlsOptions(
                memory_read_delay_cycles=2,
                memory_write_delay_cycles=2,
                directives=hls_directives(summary, configuration),
            )
            different.setdefault(options, row)
    return [(row, options) for options, row in different.items()]


def measured(row: VendorDesignRow, options: HlsOptions) -> Row:
    """Our figures of a row's design beside the vendor's; without ours when it cannot be made."""
    kernel, start = vendor_kernel(row.kernel), stopwatch()
    result: Row = {"kernel": row.kernel, "tool": row.tool, "directives": row.directives}
    result["vendor"] = {name: getattr(row, column) for name, column in FIGURES.items()}
    try:
        compiled = compile_program(kernel.source, top=kernel.top, options=options)
        data = draw_data(compiled.interface, "{}", seed=0)
        with tempfile.TemporaryDirectory() as folder:
            cycles = count_cycles(compiled, data, folder=Path(folder), cycle_limit=500_000_000)
            start = stopwatch()
            fpga = synthesize_for_fpga(
                compiled.verilog, top=compiled.module, folder=Path(folder) / "fpga", timeout_s=120
            )
    except HlsError as error:
        return {**result, "reason": str(error)}
    result |= {"reason": fpga.reason or cycles.reason, "synthesis_s": stopwatch() - start}
    if fpga.status != "ok" or cycles.status != "ok":
        return result
    own = (fpga.lut_count, fpga.flip_flop_count, fpga.dsp_count, cycles.latency_cycles)
    return {**result, "own": dict(zip(FIGURES, own, strict=True))}


def correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's rank correlation; None where one side is constant."""
    own, vendor = [a for a, _ in pairs], [b for _, b in pairs]
    if len(pairs) < FEWEST or min(len(set(own)), len(set(vendor))) < 2:
        return None
    return float(spearmanr(own, vendor)[0])


def report(results: Sequence[Row]) -> None:
    """Print the table of correlations, and what could not be made."""
    made = [r for r in results if "own" in r]
    kernels = {r["kernel"] for r in made}
    seconds = [r["synthesis_s"] for r in made]
    print(f"{len(made)} designs of {len(kernels)} kernels; {len(results) - len(made)} rows without a design")
    print(f"seconds of synthesis per design, median and most: {median(seconds):.1f}, {max(seconds):.1f}")
    print_header("figure | all designs | medians of kernels | within a kernel: median, kernels")
    for name in FIGURES:
        groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for r in (r for r in made if r["vendor"][name]):
            groups[r["kernel"]].append((r["own"][name], r["vendor"][name]))
        pairs = [pair for group in groups.values() for pair in group]
        middles = [(median(a for a, _ in g), median(b for _, b in g)) for g in groups.values()]
        within = [c for c in map(correlation, groups.values()) if c is not None]
        inner = f"{median(within):.2f}, {len(within)}" if within else "none"
        print_row(name, correlation(pairs), correlation(middles), inner)
    for r in results:
        if "own" not in r:
            print(f"{r['kernel']} {r['directives']}: {r['reason']}")


def main() -> None:
    """Measure until the time is over, then report on all results of the file."""
    parser = options_parser(__doc__)
    parser.add_argument("--designs", type=Path, required=True)
    parser.add_argument("--kernels", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=6)
    parser.add_argument("--most-operations", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=1200.0)
    chosen, start = parser.parse_args(), stopwatch()
    kept = KeptRows(chosen.results, lambda row: (row["kernel"], row["tool"], row["directives"]))
    drawn = drawn_rows(
        chosen.designs, chosen.kernels, count=chosen.rows, most_operations=chosen.most_operations
    )
    for row, options in drawn:
        if stopwatch() - start > chosen.seconds:
            break
        kept.measured((row.kernel, row.tool, row.directives), lambda row=row, own=options: measured(row, own))
    report(list(kept.rows.values()))


if __name__ == "__main__":
    main()
