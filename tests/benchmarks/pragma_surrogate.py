"""Algorithm 1 beside a search by the graph network of directives, on our own synthesis, in equal time.

    python -m tests.benchmarks.pragma_surrogate --searches FOLDER/searches --folder FOLDER [--folds 6]
        [--size small] [--type float] [--budget 20] [--hls-timeout 6] [--area 300] [--asking 5]

FOLDER/searches are those of pragma_search.py with the same options. The network learns from all designs that
were measured there, of every kernel but those of its fold, so that it has not seen the kernel it searches;
HARP in NLP-DSE's Table 10 was trained on these kernels. It is asked for --asking seconds, which count, and
the designs that it predicts to be the fastest are measured, best first, until the budget ends. Training does
not count. Table: throughput beside that of Algorithm 1, as Table 10 of NLP-DSE.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import geometric_mean

import torch

from models.pragma_gnn import FitOptions
from models.pragma_gnn.data import MeasuredDesign
from models.pragma_gnn.predictor import PragmaGnnPredictor
from models.pragma_gnn.train import fit_pragma_gnn
from pipelines.pragmas import Summary
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, bound, read_target
from pipelines.pragmas.configuration import configuration_of_key
from pipelines.pragmas.search import (
    NLP_DSE,
    PREDICTED,
    BaselineOptions,
    Predictor,
    explore_predicted,
)
from pipelines.pragmas.search.budgets import FINE_COPIES
from pipelines.schemas import OK
from tests.benchmarks.harness import options_parser, print_header, print_row, timed
from tests.benchmarks.pragma_search import (
    Search,
    evaluator_of,
    read_search,
    search_of,
    sized_program,
    spearman,
)
from tests.benchmarks.pragma_splits import folds_of_programs

FAMILIES = {"2mm": "mm", "3mm": "mm", "gemm": "mm", "syrk": "syrk", "syr2k": "syrk"}
TOOL = "simfoundry"
OPTIONS = FitOptions(members=3, epochs=20, steps=20, patience=8, validation_share=0.2, validate_programs=True)
"""Stopped by programs that the network has not seen either."""


def read_searches(folder: Path) -> dict[tuple[str, str], Search]:
    """All searches of pragma_search.py, by kernel and method."""
    found = [read_search(json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]
    return {(search.kernel, search.method): search for search in found if search.method != PREDICTED}


def measured_designs(
    searches: Mapping[tuple[str, str], Search], summaries: Mapping[str, Summary], target: Target
) -> list[MeasuredDesign]:
    """Every configuration that was measured, once."""
    found: dict[tuple[str, str], MeasuredDesign] = {}
    for (kernel, _), search in searches.items():
        for tried in search.measured():
            if tried.cycles and tried.configuration is not None:
                configuration = configuration_of_key(tried.configuration)
                found[kernel, tried.configuration] = MeasuredDesign(
                    program=kernel,
                    tool=TOOL,
                    configuration=configuration,
                    bound=bound(summaries[kernel], configuration, target),
                    latency_cycles=tried.cycles,
                    fits=tried.status == OK,
                )
    return list(found.values())


def searched(
    kernel: str, summary: Summary, network: PragmaGnnPredictor, target: Target, options: argparse.Namespace
) -> Search:
    """The search of one kernel, remembered in the folder."""
    path = options.folder / "surrogate" / f"{kernel}-{options.size}-{options.budget}-{options.area}.json"
    if path.is_file():
        return read_search(json.loads(path.read_text()))
    program = sized_program(kernel, options.size, options.type)
    own = evaluator_of(program, summary, options)
    surrogate = network.surrogate(summary)
    predictor = Predictor(
        predict=lambda configurations, bounds: surrogate.predict(configurations, bounds, tool=TOOL).tolist(),
        most_copies=FINE_COPIES * own.most_copies,
        size=own.size,
        seconds=options.asking,
    )
    found = explore_predicted(summary, target, own, predictor, BaselineOptions(budget_s=options.budget))
    search = search_of(kernel, summary, found)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(search)))
    return search


def trained(
    designs: Sequence[MeasuredDesign], fold: Sequence[str], summaries: Mapping[str, Summary], target: Target
) -> PragmaGnnPredictor:
    """A network of all kernels but those of a fold, and what it knows of these."""
    training = [design for design in designs if design.program not in fold]
    network, spent = timed(
        lambda: fit_pragma_gnn(training, summaries, target, OPTIONS, seed=0, about="own synthesis")
    )
    ranks: list[str] = []
    for name in fold:
        asked = [design for design in designs if design.program == name]
        if len(asked) > 3:
            answers = network.surrogate(summaries[name]).predict(
                [d.configuration for d in asked], [d.bound for d in asked], tool=TOOL
            )
            rank = spearman([(a, d.latency_cycles) for a, d in zip(answers.tolist(), asked, strict=True)])
            alone = spearman([(d.bound.latency_cycles, d.latency_cycles) for d in asked])
            ranks.append(f"{name} {rank:.2f} (bound {alone:.2f})")
    print(
        f"{len(training)} designs learned in {spent.wall_s:.0f} s; ranks of the others: {', '.join(ranks)}",
        flush=True,
    )
    return network


def table(ours: Mapping[str, Search], others: Mapping[str, Search]) -> None:
    print()
    print_header("kernel | Algorithm 1 | surrogate | s to best | designs | timeouts, too large | throughput")
    gains: list[float] = []
    for kernel, other in others.items():
        best, least = ours[kernel].best(), other.best()
        failed = [sum(t.status == s for t in other.measured()) for s in ("timeout", "infeasible")]
        if best is None or least is None:
            print(f"| {kernel} | no valid design by {NLP_DSE if best is None else PREDICTED} |" + " |" * 5)
            continue
        gains.append(least / best)
        print_row(
            f"{kernel} | {ours[kernel].gflops(best):.3f} | {other.gflops(least):.3f}",
            f"{other.seconds_to(least):.1f} | {len(other.measured())} | {failed[0]}, {failed[1]}",
            f"{gains[-1]:.2f}x",
        )
    print_row(f"geometric mean of {len(gains)}", "", "", "", "", "", f"{geometric_mean(gains):.2f}x (1.21x)")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--searches", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=6)
    parser.add_argument("--size", default="small")
    parser.add_argument("--type", default="float")
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--hls-timeout", type=float, default=6.0)
    parser.add_argument("--area", type=float, default=300.0)
    parser.add_argument("--asking", type=float, default=5.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message=".*LeafSpec.*")
    target = replace(read_target(TOOL), dsp_available=int(options.area * 1000))
    searches = read_searches(options.searches)
    ours = {kernel: search for (kernel, method), search in searches.items() if method == NLP_DSE}
    summaries: dict[str, Summary] = {}
    for kernel in ours:
        program = sized_program(kernel, options.size, options.type)
        summaries[kernel] = summarise(program.source, program.top, file=kernel)
    designs = measured_designs(searches, summaries, target)
    print(f"{len(designs)} designs of {len(ours)} kernels\n", flush=True)
    others: dict[str, Search] = {}
    for fold in folds_of_programs(designs, options.folds, FAMILIES):
        network = trained(designs, fold, summaries, target)
        for kernel in fold:
            others[kernel] = searched(kernel, summaries[kernel], network, target, options)
    table(ours, dict(sorted(others.items())))


if __name__ == "__main__":
    main()
