"""Searches for directives on our own high-level synthesis in equal time: Algorithm 1, bottlenecks, random.

    python -m tests.benchmarks.pragma_search --folder FOLDER [--kernels gemm,atax] [--size mini]
        [--type float] [--methods nlp_dse,bottleneck,random] [--budget 60] [--hls-timeout 20] [--area 300]
        [--figures docs/figures]

Every search has the same seconds: solving and measuring, two designs at a time. A design is measured by
high-level synthesis and the cycle model, its outputs equal to native C; it is valid when it is not larger
than --area mm2: by default as many multipliers and adders of floats as an Alveo U200 has, 1,368 of five DSP
blocks there and of 0.22 mm2 here. Throughput is floating operations of the program over measured cycles at
10 ns. Designs are remembered in FOLDER with the seconds they took, so that an interrupted run goes on, and a
second run gives the same table.

Tables: throughput and time beside Table 6 of NLP-DSE; steps to the best design and to the end beside Table 8;
bounds beside measured latencies of every design tried (Figure 4), all and those whose directives were all
applied; with --figures these and the progress of searches (Figure 5) as SVG.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.pragmas import PragmaError, Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, read_target
from pipelines.pragmas.configuration import configuration_key
from pipelines.pragmas.search import (
    AUTODSE,
    EVALUATED,
    NLP_DSE,
    RANDOM,
    BaselineOptions,
    Exploration,
    LadderOptions,
    OwnHls,
    explore,
    explore_bottlenecks,
    explore_randomly,
)
from pipelines.pragmas.search.suite import pragmas_version
from pipelines.programs import POLYBENCH_SIZES, polybench_program
from pipelines.schemas import ProgramRow
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row

KERNELS = (
    *("2mm", "3mm", "atax", "bicg", "covariance", "doitgen", "durbin", "fdtd-2d", "floyd-warshall", "gemm"),
    *("gemver", "gesummv", "gramschmidt", "heat-3d", "jacobi-1d", "jacobi-2d", "lu", "mvt", "seidel-2d"),
    *("symm", "syr2k", "syrk", "trisolv", "trmm"),
)
ORDERED = ("gramschmidt",)
"""Kernels whose floating sums keep their order: the last columns are rounding errors alone, so that reordered
sums give other numbers than native C."""
METHODS = (NLP_DSE, AUTODSE, RANDOM)
CLOCK_NS = 10.0
FLOATING = ("add", "sub", "mul", "div", "sqrt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A design of a search: its bound, measured cycles, key, and seconds of the search when it ended."""

    bound: float | None
    cycles: int | None
    status: str
    applied: bool
    elapsed_s: float
    decision: str
    configuration: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search of one kernel."""

    kernel: str
    method: str
    operations: int
    lower_bound: float | None
    proven: bool
    steps: tuple[Tried, ...]

    def best(self) -> int | None:
        return min((t.cycles for t in self.valid()), default=None)

    def valid(self) -> list[Any]:
        return [t for t in self.steps if t.status == "ok" and t.cycles is not None]

    def measured(self) -> list[Tried]:
        return [t for t in self.steps if t.decision == EVALUATED]

    def seconds_to(self, cycles: int) -> float | None:
        """When the search had a design of at most so many cycles."""
        return next((t.elapsed_s for t in self.valid() if t.cycles <= cycles), None)

    def gflops(self, cycles: int | None) -> float:
        return 0.0 if not cycles else self.operations / (cycles * CLOCK_NS)


def sized_program(kernel: str, size: str, data_type: str) -> ProgramRow:
    """A kernel of PolyBench in any of its sizes, the catalogue having the small ones."""
    if size in POLYBENCH_SIZES:
        return polybench_program(kernel, size=size, data_type=data_type)
    least = polybench_program(kernel, data_type=data_type)
    source = least.source.replace("MINI_DATASET", f"{size.upper()}_DATASET", 1)
    section = source.partition(f"#ifdef {size.upper()}_DATASET")[2].partition("#endif")[0]
    sizes = {name.lower(): int(value) for name, value in re.findall(r"#define (\w+) (\d+)", section)}
    if not sizes:
        raise SystemExit(f"a size must be one of PolyBench's, got {size}")
    inputs = json.loads(least.inputs)
    for name, value in sizes.items():
        if inputs.get(name, {}).get("kind") == "constant":
            inputs[name] = inputs[name] | {"value": value}
    specification = json.dumps(inputs)
    return replace(
        least,
        program_id=content_hash(source, least.top, specification),
        size=size,
        source=source,
        source_bytes=len(source.encode()),
        inputs=specification,
    )


def operations_of(summary: Summary) -> int:
    """Floating operations of one call of the program."""
    total = 0
    for statement in summary.statements:
        runs = 1
        if statement.loops:
            inner = summary.loops[statement.loops[-1]]
            runs = int(inner.executions * inner.trip_count_average)
        total += runs * sum(o.kind in FLOATING for o in statement.operations)
    return total


def searched(kernel: str, method: str, options: argparse.Namespace) -> Search | str:
    """A search, or why the kernel cannot be searched; remembered in the folder."""
    program = sized_program(kernel, options.size, options.type)
    limits = [options.budget, options.hls_timeout, options.area, pragmas_version()]
    name = f"{program.name}-{options.size}-{method}-" + "-".join(map(str, limits))
    path = options.folder / "searches" / f"{name}.json"
    if path.is_file():
        return read_search(json.loads(path.read_text()))
    try:
        summary = summarise(program.source, program.top, file=kernel)
    except PragmaError as error:
        return str(error)
    target = replace(read_target("simfoundry"), dsp_available=int(options.area * 1000))
    target = target.ordered() if kernel in ORDERED else target
    own = evaluator_of(program, summary, options)
    found = searches(options)[method](summary, target, own)
    search = search_of(kernel, summary, found)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(search)))
    return search


def evaluator_of(program: ProgramRow, summary: Summary, options: argparse.Namespace) -> OwnHls:
    """Our own synthesis within the limits of the options."""
    kernel = program.name.rpartition("-")[0]
    return OwnHls(
        program=program,
        summary=summary,
        cache=ContentCache(folder=options.folder / "cache"),
        base=HlsOptions(transforms=TransformOptions(unsafe_math=kernel not in ORDERED)),
        timeout_s=options.hls_timeout,
        most_area_um2=options.area * 1e6,
    )


def searches(options: argparse.Namespace) -> Mapping[str, Callable[[Summary, Target, OwnHls], Exploration]]:
    ladder = LadderOptions(budget_s=options.budget, proof_evaluations=1 << 30)
    rival = BaselineOptions(budget_s=options.budget)
    return {
        NLP_DSE: lambda s, t, e: explore(
            s, t, e, replace(ladder, most_copies=e.most_copies, design_s=e.timeout_s, size=e.size)
        ),
        AUTODSE: lambda s, t, e: explore_bottlenecks(s, t, e, rival),
        RANDOM: lambda s, t, e: explore_randomly(s, t, e, rival),
    }


def search_of(kernel: str, summary: Summary, found: Exploration) -> Search:
    steps = [
        Tried(
            bound=step.bound_cycles,
            cycles=None if step.evaluation is None else step.evaluation.latency_cycles,
            status=step.decision if step.evaluation is None else step.evaluation.status,
            applied=step.evaluation is not None and not step.evaluation.not_applied,
            elapsed_s=step.elapsed_s,
            decision=step.decision,
            configuration=None if step.configuration is None else configuration_key(step.configuration),
        )
        for step in found.steps
    ]
    return Search(
        kernel=kernel,
        method=found.method,
        operations=operations_of(summary),
        lower_bound=found.lower_bound_cycles,
        proven=found.proven,
        steps=tuple(steps),
    )


def read_search(stored: Mapping[str, Any]) -> Search:
    return Search(**{**stored, "steps": tuple(Tried(**step) for step in stored["steps"])})


# ---- tables --------------------------------------------------------------------------------------------


def throughput_table(found: Mapping[tuple[str, str], Search]) -> None:
    print_header(
        "kernel | first valid | full | gap | s to best | designs | bottlenecks | s | designs | random",
        "throughput | time to the same",
    )
    gains, times, whole, never = list[float](), list[float](), list[float](), 0
    for kernel in dict.fromkeys(k for k, _ in found):
        ours, rival, drawn = found[kernel, NLP_DSE], found[kernel, AUTODSE], found.get((kernel, RANDOM))
        best, other = ours.best(), rival.best()
        if best is None or other is None:
            print(f"| {kernel} | no valid design by {NLP_DSE if best is None else AUTODSE} |" + " |" * 10)
            continue
        gains.append(other / best)
        whole.append(rival.steps[-1].elapsed_s / ours.steps[-1].elapsed_s)
        reached, took = ours.seconds_to(other), rival.seconds_to(other)
        never += reached is None
        times.append((took or 0.0) / (reached or ours.steps[-1].elapsed_s))
        gap = best / ours.lower_bound - 1 if ours.lower_bound else math.nan
        cells = [
            f"{ours.gflops(ours.valid()[0].cycles):.3f}",
            f"{ours.gflops(best):.3f}",
            "proven" if ours.proven else f"{gap:.0%}",
            f"{ours.seconds_to(best):.1f}",
            len(ours.measured()),
            f"{rival.gflops(other):.3f}",
            f"{took:.1f}",
            len(rival.measured()),
            "" if drawn is None else f"{drawn.gflops(drawn.best()):.3f}",
            f"{gains[-1]:.2f}x",
            f"{times[-1]:.2f}x" + (", never" if reached is None else ""),
        ]
        print_row(kernel, *cells)
    known = [t for t in times if t > 0]
    print(
        f"| geometric mean of {len(gains)} | | | | | | | | | | {geometric_mean(gains):.2f}x (2.38x) | "
        f"{geometric_mean(known):.2f}x of {len(known)} (3.70x) |\n\n"
        f"The rival's best was never reached in {never}; the whole search counts there.\n"
    )
    print(
        f"Seconds until a search ended by itself or by its budget, the rival's over ours: geometric mean "
        f"{geometric_mean(whole):.2f}, of {sum(w > 1.05 for w in whole)} kernels above 1.05\n"
    )


def steps_table(found: Mapping[tuple[str, str], Search]) -> None:
    print_header("kernel | measured to the best | measured to the end | steps | timeouts, too large")
    bests, ends = list[int](), list[int]()
    for (kernel, method), search in found.items():
        best = search.best()
        if method != NLP_DSE or best is None:
            continue
        measured = search.measured()
        bests.append(1 + next(i for i, t in enumerate(measured) if t.status == "ok" and t.cycles == best))
        ends.append(len(measured))
        failed = [sum(t.status == s for t in measured) for s in ("timeout", "infeasible")]
        print_row(kernel, bests[-1], ends[-1], len(search.steps), f"{failed[0]}, {failed[1]}")
    print(f"| mean (8 and 15) | {sum(bests) / len(bests):.1f} | {sum(ends) / len(ends):.1f} | | |\n")


def bound_table(found: Mapping[tuple[str, str], Search]) -> None:
    print_header("designs | number | bound above measured | median of measured/bound | Spearman over all")
    for name, chosen in bound_points(found).items():
        broken = sum(cycles < bound * (1 - 1e-9) for bound, cycles in chosen)
        ratio = median(cycles / bound for bound, cycles in chosen if bound > 0)
        print_row(name, len(chosen), broken, f"{ratio:.2f}", f"{spearman(chosen):.3f}")
    print()


def bound_points(found: Mapping[tuple[str, str], Search]) -> dict[str, list[tuple[float, int]]]:
    tried = [t for s in found.values() for t in s.measured() if t.cycles is not None and t.bound is not None]
    every = sorted({(t.bound or 0.0, t.cycles or 0, t.applied) for t in tried})
    return {
        "all": [(bound, cycles) for bound, cycles, _ in every],
        "all directives applied": [(bound, cycles) for bound, cycles, applied in every if applied],
    }


def spearman(points: Sequence[tuple[float, int]]) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr([p[0] for p in points], [p[1] for p in points])[0])


# ---- figures -------------------------------------------------------------------------------------------


def draw(found: Mapping[tuple[str, str], Search], folder: Path) -> None:
    """Figures 4 and 5 as SVG, without dates, so that a second run gives the same bytes."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "simfoundry"
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for name, points in bound_points(found).items():
        ranked = sorted(points, key=lambda p: p[1])
        figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
        axes.semilogy([p[1] for p in ranked], ".", label="measured", markersize=3)
        axes.semilogy([max(p[0], 1) for p in ranked], ".", label="bound", markersize=3)
        axes.set(xlabel="designs by measured latency", ylabel="cycles", title=f"Bound and measured: {name}")
        axes.legend()
        figure.savefig(
            folder / f"pragma-bounds-{'applied' if name != 'all' else 'all'}.svg", metadata={"Date": None}
        )
        plt.close(figure)
    draw_progress(found, folder, plt)


def draw_progress(found: Mapping[tuple[str, str], Search], folder: Path, plt: Any) -> None:
    kernels = list(dict.fromkeys(k for k, _ in found))
    columns = 4
    rows = -(-len(kernels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(11, 2.2 * rows), squeeze=False, layout="constrained")
    for axes, kernel in zip(grid.flat, kernels, strict=False):
        for method in (m for m in METHODS if (kernel, m) in found):
            search = found[kernel, method]
            best, line = math.inf, list[tuple[float, float]]()
            for tried in search.valid():
                best = min(best, tried.cycles)
                line.append((tried.elapsed_s, best))
            axes.step([p[0] for p in line], [p[1] for p in line], where="post", label=method)
        axes.set(title=kernel, yscale="log")
    for axes in list(grid.flat)[len(kernels) :]:
        axes.set_axis_off()
    grid[0][0].legend(fontsize="small")
    figure.supxlabel("seconds of the search")
    figure.supylabel("least cycles so far")
    figure.savefig(folder / "pragma-progress.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--size", default="mini")
    parser.add_argument("--type", default="float")
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--hls-timeout", type=float, default=20.0)
    parser.add_argument("--area", type=float, default=300.0)
    parser.add_argument("--methods", default=",".join(METHODS), help="the first two are needed")
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    print_machine()
    found: dict[tuple[str, str], Search] = {}
    for kernel in options.kernels.split(","):
        answers = {method: searched(kernel, method, options) for method in options.methods.split(",")}
        refused = [a for a in answers.values() if isinstance(a, str)]
        if refused:
            print(f"{kernel} is outside the class: {refused[0]}", flush=True)
            continue
        found |= {(kernel, m): a for m, a in answers.items() if isinstance(a, Search)}
    print()
    throughput_table(found)
    steps_table(found)
    bound_table(found)
    if options.figures is not None:
        draw(found, options.figures)


if __name__ == "__main__":
    main()
