"""Accuracy of the placement network on unseen graphs: five folds, large models, ablations.

    python -m tests.benchmarks.pnr_gnn --data releases/fabric-v1 [--fabric past] [--variants bounded,bare]

Trains on building blocks outside a fold (section IV-A of arXiv 2511.01872), answers for those in it and for
the subgraphs of BERT-large and GPT2-XL, which no fold is trained on. Errors: mean relative error and
Spearman's rank correlation over placements; "within" is the mean over graphs of the rank correlation of one
graph's placements. Beside it the heuristic, which does not see routes, and the same rules with the loads of
the real routes.

Variants: bounded (the default network), annotated (without the bound by the most loaded link), bare (no
service times and loads), no-edges, no-nodes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.metrics import spearman
from models.pnr_gnn import FitOptions
from models.pnr_gnn.data import PlacedGraph, read_placed, training_graphs
from models.pnr_gnn.network import PlacementPredictor
from models.pnr_gnn.train import fit_placements
from pipelines.fabric import MODEL_FAMILIES, TRAINING_FAMILIES
from pipelines.fabric.dataset import FOLDS
from tests.benchmarks.harness import options_parser, print_header, print_row

VARIANTS = {
    "bounded": {},
    "annotated": {"bounded": False},
    "bare": {"annotated": False},
    "no-edges": {"edge_features": False},
    "no-nodes": {"node_features": False},
}
Vector = NDArray[np.float64]
Answer = Callable[[PlacedGraph], Vector]


def routed_heuristic(graph: PlacedGraph) -> Vector:
    """The heuristic's rules with the loads of the real routes."""
    highest = np.maximum(graph.routes[:, :, 1], graph.routes[:, :, 4]).max(axis=1)
    return 1.0 / np.maximum(1.0, highest).astype(np.float64)


def figures(graphs: Sequence[PlacedGraph], answer: Answer) -> tuple[float, float, float]:
    """Relative error, rank correlation, mean rank correlation within a graph."""
    answers = [answer(graph) for graph in graphs]
    predicted, actual = np.concatenate(answers), np.concatenate([g.throughput for g in graphs])
    error = float(np.mean(np.abs(predicted / actual - 1.0)))
    within = [
        rank(own, graph.throughput)
        for own, graph in zip(answers, graphs, strict=True)
        if np.ptp(graph.throughput) > 0.02 * graph.throughput.max()
    ]
    return error, rank(predicted, actual), float(np.mean(within)) if within else float("nan")


def rank(predicted: Vector, actual: Vector) -> float:
    """Spearman's correlation; 0 where all answers are the same."""
    return spearman(actual, predicted) if np.ptp(predicted) > 0 else 0.0


def answer_of(predictor: PlacementPredictor) -> Answer:
    """Answers of a network."""
    return lambda graph: predictor.throughput(graph.features, graph.routes)


def main() -> None:
    """Print the tables."""
    parser = options_parser(__doc__)
    parser.add_argument("--data", type=Path, default=Path("releases/fabric-v1"))
    parser.add_argument("--fabric", default="present")
    parser.add_argument("--variants", default="bounded")
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--epochs", type=int, default=15)
    options = parser.parse_args()
    known = read_placed([options.data], fabric=options.fabric)
    blocks = [graph for graph in known if graph.family in TRAINING_FAMILIES]
    models = [graph for graph in known if graph.family in MODEL_FAMILIES]
    count = sum(len(graph.routes) for graph in known)
    print(
        f"{len(blocks)} graphs of blocks, {len(models)} of models, {count} placements on {options.fabric}\n"
    )
    rows: defaultdict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    for variant in options.variants.split(","):
        for fold in range(options.folds):
            fit_options = replace(
                FitOptions(fabric=options.fabric, fold=fold, epochs=options.epochs), **VARIANTS[variant]
            )
            begin = time.perf_counter()
            predictor, _ = fit_placements(training_graphs(known, fold), fit_options, seed=0)
            unseen = [graph for graph in blocks if graph.fold == fold]
            answers: dict[str, Answer] = {variant: answer_of(predictor)}
            if variant == "bounded":
                answers |= {"heuristic": lambda g: g.heuristic, "routed": routed_heuristic}
            for name, answer in answers.items():
                rows[name, "all blocks"].append(figures(unseen, answer))
                for family in TRAINING_FAMILIES:
                    rows[name, family].append(figures([g for g in unseen if g.family == family], answer))
                for family in MODEL_FAMILIES:
                    rows[name, family].append(figures([g for g in models if g.family == family], answer))
            print(f"{variant}, fold {fold}: {time.perf_counter() - begin:.0f} s elapsed", flush=True)
    print()
    print_header("cost model | graphs | relative error | rank correlation | within a graph")
    for (name, graphs), values in rows.items():
        mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        columns = " | ".join(f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True))
        print_row(name, graphs, columns)


if __name__ == "__main__":
    main()
