"""The surrogate of directives beside latencies that a vendor's tools measured.

    python -m tests.benchmarks.pragma_gnn --designs FILE --kernels FILE [--folds N] [--seed N]
        [--only seen held search]

Three tables. Seen: a fifth of each kernel's configurations held out, two tools' results of one together. Held
out: kernels in folds, variants of one kernel in one fold, so that no answer is from a network that saw the
kernel in any size. Both give the root mean square error and the mean absolute error of the logarithm of the
latency, the error of the latency (its mean and its median over designs), and Spearman's rank correlation, the
mean over kernels; of the network, the same network without the bound, and the bound alone (times the
geometric mean of measured over bound in training).

Search: each kernel's designs that fit, one after the other: of those whose bound is within a tolerance of the
least bound left, the one that is predicted to be the fastest, by a network that has not seen the kernel. A
design whose bound exceeds the best so far is pruned without being measured. How many are measured until the
best is, as a share of the kernel's designs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

from models.pragma_gnn import FitOptions
from models.pragma_gnn.data import MeasuredDesign
from models.pragma_gnn.train import fit_pragma_gnn
from pipelines.dataset.vendor import read_merlin
from pipelines.pragmas.bound import Target, read_target
from pipelines.pragmas.summary import Summary
from tests.benchmarks.harness import options_parser, print_header, print_row, timed
from tests.benchmarks.pragma_splits import (
    folds_of_programs,
    split_by_configuration,
    vendor_designs,
    vendor_summaries,
)

FAMILIES = {
    "atax-medium": "atax",
    "gemm-blocked": "gemm",
    "gemm-ncubed": "gemm",
    "gemm-p": "gemm",
    "gemm-p-large": "gemm",
    "spmv-crs": "spmv",
    "spmv-ellpack": "spmv",
    "symm-opt": "symm",
    "symm-opt-medium": "symm",
}
BOTH = "surrogate, half trusted"
"""The geometric mean of the surrogate's and the bound's answer, for kernels that nothing is known of."""

SEEN, HELD, SEARCH = "seen", "held", "search"
SPLIT_SEED = 7
"""Of the configurations that are held out where `--seed` is 0."""

TOLERANCES = (1.0, 1.1, 2.0, 4.0, 16.0, float("inf"))
SHUFFLES = 20
ORDERS = (
    ("bound, equal ones shuffled", None, 1.0),
    *(("surrogate", "surrogate", tolerance) for tolerance in TOLERANCES),
    *((BOTH, BOTH, tolerance) for tolerance in TOLERANCES[1:]),
    ("network without the bound", "without the bound", 1.0),
    ("network without the bound", "without the bound", float("inf")),
)
"""Of a search: its name, whose predictions decide (None: chance), and the tolerance."""
SEEN_OPTIONS = FitOptions(
    width=48,
    climbs=3,
    epochs=50,
    learning_rate=4e-3,
    dropout=0.0,
    weight_decay=1e-3,
    loss_width=0.1,
    patience=25,
    validation_share=0.05,
)
"""Where kernels are known there is more to learn and less to guess."""

HELD_OPTIONS = FitOptions(
    members=3, epochs=20, steps=20, patience=8, validation_share=0.2, validate_programs=True
)
"""Stopped by programs that the network has not seen either."""

Values = NDArray[np.float64]


def read_designs(
    designs: Path, kernels: Path, target: Target
) -> tuple[list[MeasuredDesign], dict[str, Summary]]:
    """Rows with a latency, and the summaries of their kernels."""
    rows = [row for row in read_merlin(designs, kernels=kernels).designs if row.latency_cycles]
    summaries = vendor_summaries(row.kernel for row in rows)
    return vendor_designs(rows, summaries, target), summaries


def measured_logs(designs: Iterable[MeasuredDesign]) -> Values:
    return np.log([float(design.latency_cycles) for design in designs])


def bound_logs(designs: Iterable[MeasuredDesign]) -> Values:
    return np.log([max(1.0, design.bound.latency_cycles) for design in designs])


def answers(
    training: Sequence[MeasuredDesign],
    asked: Sequence[MeasuredDesign],
    summaries: Mapping[str, Summary],
    target: Target,
    options: FitOptions,
    seed: int,
) -> Values:
    """Predicted logarithms of designs by a network of others. (asked,)"""
    predictor, spent = timed(
        lambda: fit_pragma_gnn(training, summaries, target, options, seed=seed * options.members, about="")
    )
    found = np.zeros(len(asked))
    for name in sorted({design.program for design in asked}):
        surrogate = predictor.surrogate(summaries[name])
        for tool in sorted({design.tool for design in asked if design.program == name}):
            rows = [n for n, d in enumerate(asked) if (d.program, d.tool) == (name, tool)]
            picked = [asked[n] for n in rows]
            found[rows] = np.log(
                surrogate.predict([d.configuration for d in picked], [d.bound for d in picked], tool=tool)
            )
    print(
        f"({len(training)} designs, {options.members} networks, bound {options.with_bound}: "
        f"{spent.processor_s:.0f} s of one core, {spent.wall_s:.0f} s elapsed)",
        flush=True,
    )
    return found


def bound_answers(training: Sequence[MeasuredDesign], asked: Sequence[MeasuredDesign]) -> Values:
    """The bound times the geometric mean of measured over bound."""
    return bound_logs(asked) + float(np.mean(measured_logs(training) - bound_logs(training)))


def rank(predicted: Values, measured: Values, *, kendall: bool = False) -> float:
    """Spearman's correlation, 0 where all is predicted the same, not a number where all measured the same; or
    Kendall's, by which HARP is measured."""
    if np.ptp(measured) == 0:
        return float("nan")
    if np.ptp(predicted) == 0:
        return 0.0
    return float((kendalltau if kendall else spearmanr)(predicted, measured)[0])


def ranks(designs: Sequence[MeasuredDesign], predicted: Values, *, kendall: bool = False) -> dict[str, float]:
    """Rank correlation of each kernel of at least 4 designs that differ."""
    programs = np.array([design.program for design in designs])
    measured = measured_logs(designs)
    rows = {name: programs == name for name in sorted(set(programs.tolist()))}
    found = {n: rank(predicted[r], measured[r], kendall=kendall) for n, r in rows.items() if r.sum() >= 4}
    return {name: value for name, value in found.items() if np.isfinite(value)}


def figures(designs: Sequence[MeasuredDesign], predicted: Values) -> list[str]:
    """Errors and ranks as columns of a table."""
    errors = predicted - measured_logs(designs)
    relative = np.abs(np.expm1(errors))
    of_kernels = list(ranks(designs, predicted).values())
    taus = list(ranks(designs, predicted, kendall=True).values())
    return [
        f"{np.sqrt(np.mean(errors**2)):.2f}",
        f"{np.mean(np.abs(errors)):.2f}",
        f"{100 * np.mean(np.abs(errors) / measured_logs(designs)):.1f} %",
        f"{100 * np.mean(relative):.0f} %",
        f"{100 * np.median(relative):.1f} %",
        f"{np.mean(of_kernels):.3f}",
        f"{np.median(of_kernels):.3f}",
        f"{np.min(of_kernels):.2f}",
        f"{np.mean(taus):.3f}",
    ]


COLUMNS = (
    "RMSE of log",
    "MAE of log",
    "MAPE of log",
    "MAPE",
    "median APE",
    "rank, mean",
    "rank, median",
    "rank, least",
    "Kendall's, mean",
)


def table(designs: Sequence[MeasuredDesign], predicted: Mapping[str, Values]) -> None:
    """Print figures, and ranks by kernel."""
    print()
    print_header("", *COLUMNS)
    for name, found in predicted.items():
        print_row(name, *figures(designs, found))
    by_kernel = {name: ranks(designs, found) for name, found in predicted.items()}
    print()
    print_header("kernel", "designs", *predicted)
    for kernel in sorted({design.program for design in designs}):
        columns = " | ".join(f"{found.get(kernel, float('nan')):.2f}" for found in by_kernel.values())
        print_row(kernel, sum(d.program == kernel for d in designs), columns)
    print(flush=True)


def seen_kernels(
    designs: Sequence[MeasuredDesign],
    summaries: Mapping[str, Summary],
    target: Target,
    options: FitOptions,
    seed: int,
) -> None:
    """The first table."""
    training, apart = split_by_configuration(designs, 0.2, seed=SPLIT_SEED + seed)
    print(f"## Seen kernels: {len(training)} designs to learn from, {len(apart)} held out\n")
    without = replace(options, with_bound=False)
    found = {
        "surrogate": answers(training, apart, summaries, target, options, seed),
        "without the bound": answers(training, apart, summaries, target, without, seed),
        "bound alone": bound_answers(training, apart),
    }
    table(apart, found)


def held_out_kernels(
    designs: Sequence[MeasuredDesign],
    summaries: Mapping[str, Summary],
    target: Target,
    options: FitOptions,
    folds: int,
    seed: int,
) -> dict[str, Values]:
    """Predictions of every design by networks that have not seen its kernel."""
    made = folds_of_programs(designs, folds, FAMILIES)
    found = {name: np.zeros(len(designs)) for name in ("surrogate", "without the bound", "bound alone")}
    for fold in made:
        print(f"fold of {', '.join(fold)}", flush=True)
        rows = [n for n, design in enumerate(designs) if design.program in fold]
        asked = [designs[n] for n in rows]
        training = [design for design in designs if design.program not in fold]
        found["surrogate"][rows] = answers(training, asked, summaries, target, options, seed)
        without = replace(options, with_bound=False)
        found["without the bound"][rows] = answers(training, asked, summaries, target, without, seed)
        found["bound alone"][rows] = bound_answers(training, asked)
    found[BOTH] = (found["surrogate"] + found["bound alone"]) / 2
    return found


def walk(bounds: Values, predicted: Values, measured: Values, tolerance: float) -> tuple[bool, int, int]:
    """Designs in the order of the search.

    Args: all logarithms. (designs,) tolerance: of bounds that are taken for equal.

    Returns: whether the best was measured, how many were until then, and how many until the proof: the end.
    """
    best, least, count, reached = measured.min(), np.inf, 0, 0
    left = np.ones(len(bounds), np.bool_)
    while (left & (bounds <= least)).any():
        open_ = np.flatnonzero(left & (bounds <= least))
        near = open_[bounds[open_] <= bounds[open_].min() + np.log(tolerance) + 1e-9]
        chosen = near[np.argmin(predicted[near])]
        left[chosen] = False
        count += 1
        least = min(least, measured[chosen])
        if reached == 0 and measured[chosen] == best:
            reached = count
    return reached > 0, reached, count


def search(designs: Sequence[MeasuredDesign], predicted: Mapping[str, Values]) -> None:
    """The table of searches: a row an order, a column a tolerance."""
    programs = np.array([design.program for design in designs])
    fits = np.array([design.fits for design in designs])
    measured, bounds = measured_logs(designs), bound_logs(designs)
    kernels = [name for name in sorted(set(programs.tolist())) if (fits & (programs == name)).any()]
    rows = {name: np.flatnonzero(fits & (programs == name)) for name in kernels}
    invalid = int((bounds[fits] > measured[fits]).sum())
    print(
        f"\n## Search: {len(kernels)} kernels, {fits.sum()} designs that fit, {invalid} below their bound\n"
    )
    print_header(
        "order | tolerance | median share | mean share | median measured | best pruned | until proof"
    )
    random = np.random.default_rng(0)
    by_row: list[dict[str, Search]] = []
    for order, source, tolerance in ORDERS:
        found = {
            name: repeated(
                bounds[place],
                [predicted[source][place]] if source else random.random((SHUFFLES, len(place))),
                measured[place],
                tolerance,
            )
            for name, place in rows.items()
        }
        by_row.append(found)
        met = [one for one in found.values() if not one.pruned]
        pruned = ", ".join(name for name, one in found.items() if one.pruned) or "none"
        share, until_proof = [one.share for one in met], [one.proof_share for one in met]
        print_row(
            f"{order} | {tolerance:g} | {100 * np.median(share):.1f} % | {100 * np.mean(share):.1f} %",
            f"{np.median([one.measured for one in met]):.0f}",
            pruned,
            f"{100 * np.median(until_proof):.0f} %",
        )
    print("\nShare of its designs in per cent, in the order of the rows above:\n")
    for name, place in rows.items():
        columns = (f"{100 * found[name].share:.1f}" for found in by_row)
        print_row(name, len(place), *columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One kernel's: the mean of repetitions. pruned: the best was not reached in one of them."""

    pruned: bool
    measured: float
    share: float
    proof_share: float


def repeated(bounds: Values, orders: Sequence[Values] | Values, measured: Values, tolerance: float) -> Search:
    """Searches by several orders."""
    walks = [walk(bounds, order, measured, tolerance) for order in orders]
    count = float(np.mean([reached for _, reached, _ in walks]))
    return Search(
        pruned=not all(met for met, _, _ in walks),
        measured=count,
        share=count / len(bounds),
        proof_share=float(np.mean([proof for _, _, proof in walks])) / len(bounds),
    )


def speed(designs: Sequence[MeasuredDesign], summaries: Mapping[str, Summary], target: Target) -> None:
    """Configurations a second, with bounds and features that are there already and without."""
    name = max(summaries, key=lambda n: len(summaries[n].loops))
    asked = [design for design in designs if design.program == name] * 5
    options = FitOptions(epochs=1, steps=1)
    surrogate = fit_pragma_gnn(asked, summaries, target, options, seed=0, about="").surrogate(summaries[name])
    from models.pragma_gnn.choices import describe_choices

    configurations, bounds = [d.configuration for d in asked], [d.bound for d in asked]
    choices = describe_choices(summaries[name], configurations, target, bounds)
    works = (
        lambda: surrogate.log_latency(choices),
        lambda: surrogate.predict(configurations, bounds),
        lambda: surrogate.predict(configurations),
    )
    rates = [len(asked) / max(1e-9, timed(work)[1].processor_s) for work in works]
    print(
        f"\n{name}, {len(summaries[name].loops)} loops, one network, configurations a second of one core: "
        f"{rates[0]:.0f} by the network, {rates[1]:.0f} with features, {rates[2]:.0f} with bounds"
    )


def main() -> None:
    """Print the tables."""
    parser = options_parser(__doc__)
    parser.add_argument("--designs", type=Path, required=True)
    parser.add_argument("--kernels", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=6)
    parser.add_argument("--only", nargs="*", choices=(SEEN, HELD, SEARCH), default=(SEEN, HELD, SEARCH))
    parser.add_argument("--members", type=int, default=HELD_OPTIONS.members, help="networks averaged")
    parser.add_argument("--epochs", type=int, default=HELD_OPTIONS.epochs, help="of held-out kernels")
    parser.add_argument(
        "--seed", type=int, default=0, help="of trainings, and of what is held out of seen kernels"
    )
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message=".*LeafSpec.*")
    target = read_target("u200")
    designs, summaries = read_designs(chosen.designs, chosen.kernels, target)
    print(f"{len(designs)} designs of {len(summaries)} kernels\n", flush=True)
    speed(designs, summaries, target)
    if {HELD, SEARCH} & set(chosen.only):
        options = replace(HELD_OPTIONS, members=chosen.members, epochs=chosen.epochs)
        print(f"\n## Held-out kernels, {chosen.folds} folds\n")
        found = held_out_kernels(designs, summaries, target, options, chosen.folds, chosen.seed)
        if HELD in chosen.only:
            table(designs, found)
        if SEARCH in chosen.only:
            search(designs, found)
    if SEEN in chosen.only:
        options = replace(SEEN_OPTIONS, members=chosen.members)
        seen_kernels(designs, summaries, target, options, chosen.seed)


if __name__ == "__main__":
    main()
