"""Throughput of placements that the annealer finds under each cost model.

    python -m tests.benchmarks.fabric_placement [--fabric past --predictor FOLDER] [--seeds 5] [--moves 24000]

Places the subgraphs of one layer of BERT-large and of GPT2-XL, and MLP and MHA graphs that the network was
not trained on. Every cost model has the same chains and moves; `heuristic, equal time` has as many more moves
as the heuristic is faster. Of the chains the one with the lowest cost is routed and simulated; in rows
`best of 8 simulated` the ends of all chains are, and the fastest one counts, as `simfoundry place` chooses.

Throughput of a model: samples per cycle when its subgraphs take turns. Latency of a graph: cycles until a
batch of 32 samples has left. Cost models that route keep the routes that they judged. Gains are over the
heuristic at equal moves and with as many simulated ends, with the 95 % interval of the mean over seeds. The
last column is the gain of a placement at the constant bound (`least_intervals`) of every subgraph: no
placement gains more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.stats import t as student

from models.pnr_gnn import PREDICTOR
from models.pnr_gnn.cost import LearnedCost
from pipelines.fabric import (
    CostModel,
    Fabric,
    Graph,
    HeuristicCost,
    Schedule,
    anneal,
    family_graphs,
    measure,
    read_fabric,
)
from pipelines.fabric.dataset import fold_of, layer_hash
from pipelines.fabric.families import layer_operations
from pipelines.fabric.heuristic import RoutedCost
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.support.fabric_bounds import least_intervals

CHAINS = 8
ENGINES = Path("data/cache/engines")
BATCH = 32
SIMULATED = f", best of {CHAINS} simulated"
Make = Callable[[Graph], CostModel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Of one graph, cost model and seed: cycles per sample, cycles of a batch, seconds of the annealing."""

    interval: float
    batch: float
    wall_s: float
    moves: int


def place(graph: Graph, fabric: Fabric, model: CostModel, moves: int, seed: int) -> tuple[Result, Result]:
    """The end of the lowest cost, and the fastest of all ends, simulated."""
    schedules = [Schedule(moves=moves // CHAINS, hot=0.05, cold=0.001)] * CHAINS
    annealed = anneal(graph, fabric, model, schedules, seed=seed)
    chain, ends, routings = int(np.argmin(annealed.costs)), annealed.units.tolist(), None
    if isinstance(model, RoutedCost | LearnedCost):  # the decision has the routes that were judged
        chain, ends = int(np.argmin(annealed.last_costs)), annealed.last.tolist()
        routings = [model.router.routing(number) for number in range(CHAINS)]
    measured = measure(graph, fabric, ends, engine_folder=ENGINES, routings=routings)
    fastest = int(np.argmax([end.throughput or 0.0 for end in measured]))
    chosen = [measured[number] for number in (chain, fastest)]
    units, routings = [end.units for end in chosen], [end.routing for end in chosen]
    decisions = {"engine_folder": ENGINES, "routings": routings}
    steady = measure(graph, fabric, units, samples=512, window=96, **decisions)
    batches = measure(graph, fabric, units, samples=BATCH, window=0, **decisions)
    lowest, best = (
        Result(
            interval=end.simulated.interval_cycles,
            batch=float(batch.simulated.finished[-1]),
            wall_s=annealed.wall_s,
            moves=annealed.moves,
        )
        for end, batch in zip(steady, batches, strict=True)
    )
    return lowest, best


def block_graphs(family: str, fabric: Fabric, count: int, fold: int) -> list[Graph]:
    """The first graphs of a family in a fold, one of each layer, that leave the annealer a choice."""
    graphs: list[Graph] = []
    for seed in range(1000):
        if fold_of(layer_hash(layer_operations(family, seed))) == fold:
            graphs += [g for g in family_graphs(family, fabric, seed=seed)[:1] if len(g.nodes) >= 20]
        if len(graphs) >= count:
            break
    return graphs[:count]


def gain(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Mean of theirs / ours - 1 over seeds with its 95 % interval, in per cent."""
    values = 100.0 * (np.array(theirs) / np.array(ours) - 1.0)
    if len(values) < 2:
        return f"{values.mean():+.1f}"
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.1f} ± {half:.1f}"


def main() -> None:
    """Print the table of gains."""
    parser = options_parser(__doc__)
    parser.add_argument("--fabric", default="present")
    parser.add_argument("--predictor", type=Path, default=PREDICTOR.shipped_folder)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--moves", type=int, default=24000)
    parser.add_argument("--blocks", type=int, default=4, help="graphs of MLP and of MHA")
    options = parser.parse_args()
    torch.set_num_threads(1)
    fabric = read_fabric(Path("conf/fabric") / f"{options.fabric}.yaml")
    predictor = PREDICTOR.load(options.predictor)
    makers: dict[str, Make] = {
        "heuristic": lambda graph: HeuristicCost(graph, fabric),
        "routed": lambda graph: RoutedCost(graph, fabric, engine_folder=ENGINES),
        "pnr-gnn": lambda graph: LearnedCost(predictor, graph, fabric, engine_folder=ENGINES),
    }
    cases = {
        "BERT-large": family_graphs("bert_large", fabric),
        "GPT2-XL": family_graphs("gpt2_xl", fabric),
        "MLP": block_graphs("mlp", fabric, options.blocks, 0),
        "MHA": block_graphs("mha", fabric, options.blocks, 0),
    }
    print_header("graphs | cost model | throughput, % | latency, % | moves/s | room, %")
    for case, graphs in cases.items():
        by_model: defaultdict[str, list[list[Result]]] = defaultdict(list)
        for seed in range(options.seeds):
            results = {
                name: [place(g, fabric, make(g), options.moves, seed) for g in graphs]
                for name, make in makers.items()
            }
            results["heuristic, equal time"] = [
                place(
                    g,
                    fabric,
                    makers["heuristic"](g),
                    round(options.moves * slow[0].wall_s / fast[0].wall_s),
                    seed,
                )
                for g, slow, fast in zip(graphs, results["pnr-gnn"], results["heuristic"], strict=True)
            ]
            for name, own in results.items():
                by_model[name].append([lowest for lowest, _ in own])
                by_model[name + SIMULATED].append([best for _, best in own])
        least = sum(max(least_intervals(graph, fabric).values()) for graph in graphs)
        for name, runs in by_model.items():
            base = by_model["heuristic" + (SIMULATED if name.endswith(SIMULATED) else "")]
            room = gain([least] * len(base), [sum(r.interval for r in run) for run in base])
            speed = sum(r.moves for run in runs for r in run) / sum(r.wall_s for run in runs for r in run)
            throughput = gain(
                [sum(r.interval for r in run) for run in runs], [sum(r.interval for r in run) for run in base]
            )
            ratios = [
                float(np.mean([r.batch / b.batch for r, b in zip(run, own, strict=True)]))
                for run, own in zip(runs, base, strict=True)
            ]
            latency = gain([1.0] * len(ratios), ratios)
            print_row(case, name, throughput, latency, f"{speed:.0f}", room)


if __name__ == "__main__":
    main()
