"""How much placement matters on a fabric, and how fast the simulator is.

    python -m tests.benchmarks.fabric_spread [--fabric past] [--placements 500]

Throughput of random legal placements of the subgraphs of a BERT-large layer: best over median. Then
placements per second of one core, routed and simulated, by family, at the median size of the family's graphs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipelines.fabric import TRAINING_FAMILIES, family_graphs, measure, random_placements, read_fabric
from tests.benchmarks.harness import options_parser, print_header, print_row, timed

ENGINES = Path("data/cache/engines")
DRAWS = 9
"""Layers of a family, of which the graph of median size is timed."""


def main() -> None:
    """Print both tables."""
    parser = options_parser(__doc__)
    parser.add_argument("--fabric", default="present")
    parser.add_argument("--placements", type=int, default=500)
    options = parser.parse_args()
    fabric = read_fabric(Path("conf/fabric") / f"{options.fabric}.yaml")
    print_header("graph | operations | edges | median | best | best / median")
    for graph in family_graphs("bert_large", fabric):
        units = random_placements(graph, fabric, options.placements, seed=5).tolist()
        measured = measure(graph, fabric, units, engine_folder=ENGINES)
        values = np.array([result.throughput or 0.0 for result in measured])
        median, best = float(np.median(values)), float(values.max())
        sizes = f"{len(graph.nodes)} | {len(graph.edges)}"
        print_row(f"{graph.name} | {sizes} | {median:.3f} | {best:.3f} | {best / median:.2f}")
    print()
    print_header("family | operations | edges | placements per second | samples simulated")
    for family in TRAINING_FAMILIES:
        graphs = [graph for seed in range(DRAWS) for graph in family_graphs(family, fabric, seed=seed)[:1]]
        graph = sorted(graphs, key=lambda graph: len(graph.edges))[len(graphs) // 2]
        units = random_placements(graph, fabric, 60, seed=6).tolist()
        measured, spent = timed(
            lambda own=graph, drawn=units: measure(own, fabric, drawn, engine_folder=ENGINES)
        )
        samples = float(np.mean([result.simulated.complete for result in measured]))
        sizes = f"{len(graph.nodes)} | {len(graph.edges)}"
        print_row(family, sizes, f"{len(units) / spent.wall_s:.0f}", f"{samples:.0f}")


if __name__ == "__main__":
    main()
