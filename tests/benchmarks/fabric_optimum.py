"""Placements of small graphs against the proven optimum of their steady throughput.

    python -m tests.benchmarks.fabric_optimum [--graphs 78] [--solver-nodes 2000] [--only gemm]

Draws layers (GEMM, perceptron, attention, feed-forward and gated feed-forward) and random graphs (`drawn`) of
4 to 16 operations, on small fabrics that differ from `conf/fabric/present.yaml` in the grid and the width
of links. Graphs whose median random placement (`random`, of 20) reaches more than 85 % of the
throughput that the constant bounds allow are left out: any placement is good for them.

Every graph is placed by 8 chains under the heuristic, 16,000 moves together, the best of their ends by
simulation (`heuristic`). `routed`: the same with the cost model that routes every move; `both`: 8 chains of
each with half of the moves, as `simfoundry place` does. These are throughputs over 512 steady samples, as
shares of the proven upper bound, which is the optimum when `proof` is not "none"; `best` is that of the best
decision known. Exit status 1: the mean shortfall of `both` is above 3 %.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pipelines.fabric import (
    Edge,
    Fabric,
    FabricError,
    Graph,
    HeuristicCost,
    Measured,
    Node,
    Operation,
    Schedule,
    anneal,
    lower,
    measure,
    random_placements,
    read_fabric,
)
from pipelines.fabric.families import Layer, ffn, gemm, mlp
from pipelines.fabric.heuristic import RoutedCost
from tests.benchmarks.harness import options_parser, print_header, print_row, timed
from tests.support.fabric_bounds import least_intervals
from tests.support.fabric_optimum import (
    Optimum,
    OptimumOptions,
    find_optimum,
    require_small,
    steady_interval,
)

PRESENT = Path(__file__).resolve().parents[2] / "conf" / "fabric" / "present.yaml"
SHAPES = ((4, 4), (3, 4), (3, 3), (2, 5), (2, 4))
LINK_WORDS = (1.0, 2.0, 4.0)
FAMILIES = ("gemm", "mlp", "attention", "ffn", "gated", "drawn")
LEAST_NODES, CHAINS, MOVES, RANDOM, DRAWS = 4, 8, 2000, 20, 10_000
EASY = 0.85
SEARCHES = ("heuristic", "routed", "both")
GOAL = 0.03
HEADER = (
    "graph | fabric | words | operations | edges | bound | over constants | proof | solver nodes",
    "random | best | heuristic | routed | both | s",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """An optimum, and throughputs over that of its bound: by search, and of random placements (median)."""

    optimum: Optimum
    shares: Mapping[str, float]
    random: float

    def shortfall(self, search: str) -> float:
        """Rounding of the window can bring a share above 1."""
        return max(0.0, 1 - self.shares[search])


def attention(tokens: int, width: int, heads: int) -> list[Operation]:
    """The core of attention, its projection and residual; query, key and value are inputs."""
    layer = Layer(tokens)
    query, key, value = (layer.input(name, width) for name in ("query", "key", "value"))
    squares = heads * tokens * tokens
    scores = layer.add("scores", "matmul", tokens * tokens * width, squares, query, key)
    shares = layer.add("softmax", "softmax", squares, squares, scores)
    context = layer.add("context", "matmul", tokens * tokens * width, tokens * width, shares, value)
    layer.each("add", "residual", width, layer.gemm("projection", context, width, width), query)
    return layer.operations


def gated(tokens: int, width: int, hidden: int) -> list[Operation]:
    """A gated feed-forward network: the product of two branches."""
    layer = Layer(tokens)
    start = layer.input("input", width)
    gate = layer.each("elementwise", "silu", hidden, layer.gemm("gate", start, width, hidden))
    product = layer.each("mul", "product", hidden, gate, layer.gemm("up", start, width, hidden))
    layer.gemm("down", product, hidden, width)
    return layer.operations


def draw_layer(family: str, rng: random.Random) -> list[Operation]:
    """Operations of a small layer; sizes are near each other, so that many edges have like loads."""
    tokens, width, times = 64 * rng.randint(1, 4), 64 * rng.randint(1, 8), rng.randint(1, 4)
    if family == "gemm":
        return gemm(tokens, width, 64 * rng.randint(1, 8))
    if family == "mlp":
        return mlp(tokens, [64 * rng.randint(1, 8) for _ in range(rng.randint(3, 5))])
    if family == "attention":
        return attention(tokens, width, rng.choice((1, 2, 4)))
    return (gated if family == "gated" else lambda *sizes: ffn(sizes[0], width=sizes[1], hidden=sizes[2]))(
        tokens, width, width * times
    )


def draw_dataflow(rng: random.Random) -> Graph:
    """A random graph whose edges have loads of 1 to 3 units and most operations one of 2 units."""
    count = rng.randint(6, 16)
    kinds = [rng.choice(("gemm", "buffer")) for _ in range(count)]
    rates = {"gemm": 512.0, "buffer": 32.0}
    nodes = [
        Node(name=f"n{k}", kind=kind, stage=k, work=2048 * rates[kind] * rng.uniform(0.5, 2))
        for k, kind in enumerate(kinds)
    ]
    pairs = {(rng.randrange(end), end) for end in range(1, count)}
    pairs |= {(a, b) for a, b in (sorted(rng.sample(range(count), 2)) for _ in range(count // 2))}
    edges = [Edge(source=f"n{a}", target=f"n{b}", words=4096.0 * rng.randint(1, 3)) for a, b in sorted(pairs)]
    return Graph(name="drawn", nodes=tuple(nodes), edges=tuple(edges))


def draw_fabric(rng: random.Random) -> Fabric:
    """The present fabric with a small grid and another width of links."""
    (rows, columns), width = rng.choice(SHAPES), rng.choice(LINK_WORDS)
    base = {**read_fabric(PRESENT).model_dump(), "rows": rows, "columns": columns, "link_words": width}
    return Fabric.model_validate({**base, "name": f"{rows}x{columns}"})


def draw_graph(family: str, number: int) -> tuple[Graph, Fabric] | None:
    """A graph and its fabric, or None when it is too small, too large or does not fit.

    Operations of a layer become up to four parts.
    """
    rng = random.Random(f"{family} {number}")
    fabric = draw_fabric(rng)
    try:
        if family == "drawn":
            graph = draw_dataflow(rng)
        else:
            operations = draw_layer(family, rng)
            longest = max(each.work / fabric.operation(each.kind).rate for each in operations)
            parts = {"stage_cycles": 1.001 * longest / rng.randint(1, 4)}
            fabric = Fabric.model_validate({**fabric.model_dump(), **parts})
            graph = lower(family, operations, fabric)
        graph = graph.model_copy(update={"name": f"{family}{number}"})
        require_small(graph, fabric)
    except FabricError:
        return None
    return (graph, fabric) if len(graph.nodes) >= LEAST_NODES else None


def draw_graphs(families: Sequence[str], count: int, engines: Path) -> Iterator[tuple[Graph, Fabric, float]]:
    """As many graphs of every family, each with the throughput of random placements over the constants'."""
    for place, family in enumerate(families):
        left = (count - place - 1) // len(families) + 1
        for number in range(DRAWS):
            drawn = draw_graph(family, number) if left > 0 else None
            share = 1.0 if drawn is None else random_share(*drawn, engines)
            if drawn is not None and share <= EASY:
                left -= 1
                yield *drawn, share


def random_share(graph: Graph, fabric: Fabric, engines: Path) -> float:
    """Median throughput of random placements over that which the constant bounds allow."""
    drawn = random_placements(graph, fabric, RANDOM, seed=1).tolist()
    measured = measure(graph, fabric, drawn, engine_folder=engines)
    intervals = [m.simulated.interval_cycles for m in measured if m.throughput is not None]
    return max(least_intervals(graph, fabric).values()) / statistics.median(intervals)


def placed(graph: Graph, fabric: Fabric, engines: Path) -> dict[str, float]:
    """Steady interval of what each search answers with."""
    heuristic, routed = HeuristicCost(graph, fabric), RoutedCost(graph, fabric, engine_folder=engines)
    searches = {"heuristic": {heuristic: MOVES}, "routed": {routed: MOVES}}
    searches |= {"both": {heuristic: MOVES // 2, routed: MOVES // 2}}
    answers: list[Measured] = []
    for models in searches.values():
        ends: list[list[int]] = []
        for model, moves in models.items():
            ends += anneal(graph, fabric, model, [Schedule(moves=moves)] * CHAINS, seed=0).units.tolist()
        answers.append(fastest(measure(graph, fabric, ends, engine_folder=engines)))
    routes = [answer.routing.routes for answer in answers]
    intervals = steady_interval(graph, fabric, routes, engine_folder=engines)
    return dict(zip(searches, intervals, strict=True))


def fastest(measured: Sequence[Measured]) -> Measured:
    return max(measured, key=lambda end: end.throughput or 0.0)


def compare(
    graph: Graph, fabric: Fabric, constant_share: float, options: OptimumOptions, engines: Path
) -> Compared:
    optimum = find_optimum(graph, fabric, engine_folder=engines, options=options)
    bound, intervals = optimum.bound_cycles, placed(graph, fabric, engines)
    return Compared(
        optimum=optimum,
        shares={name: bound / interval for name, interval in intervals.items()},
        random=constant_share * bound / optimum.constant_cycles,
    )


def print_compared(graph: Graph, fabric: Fabric, compared: Compared, wall_s: float) -> None:
    optimum = compared.optimum
    sizes = (f"{fabric.link_words:.0f}", len(graph.nodes), len(graph.edges))
    bound = (f"{optimum.bound_cycles:.0f}", f"{optimum.bound_cycles / optimum.constant_cycles:.3f}")
    proof = (optimum.proof, optimum.solver_nodes)
    shares = (f"{compared.shares[name]:.4f}" for name in SEARCHES)
    found = (f"{compared.random:.3f}", f"{1 / (1 + optimum.gap):.4f}", *shares)
    print_row(graph.name, fabric.name, *sizes, *bound, *proof, *found, f"{wall_s:.1f}")


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--graphs", type=int, default=78)
    parser.add_argument("--solver-nodes", type=int, default=2000, help="of branch and bound per graph")
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    chosen = parser.parse_args()
    options = OptimumOptions(solver_nodes=chosen.solver_nodes)
    print_header(*HEADER)
    compared: list[Compared] = []
    with tempfile.TemporaryDirectory() as engines:
        for graph, fabric, share in draw_graphs(chosen.only, chosen.graphs, Path(engines)):
            work = partial(compare, graph, fabric, share, options, Path(engines))
            found, spent = timed(work)
            compared.append(found)
            print_compared(graph, fabric, found, spent.wall_s)
    return summarise(compared)


def summarise(compared: Sequence[Compared]) -> int:
    """Print counts and shortfalls; 1 when the goal is missed."""
    proofs = [each.optimum.proof for each in compared]
    counts = ", ".join(f"{kind} {proofs.count(kind)}" for kind in ("constants", "solver", "none"))
    print(f"\nproof: {counts}; shortfall against the bound")
    for search in SEARCHES:
        shortfalls = [each.shortfall(search) for each in compared]
        missed = sum(shortfall > GOAL for shortfall in shortfalls)
        mean, worst = statistics.mean(shortfalls), max(shortfalls)
        print(f"{search:18}mean {mean:6.2%}  worst {worst:6.2%}  above {GOAL:.0%}: {missed}")
    print(f"random placements, median: mean {1 - statistics.mean(c.random for c in compared):.1%}")
    return int(statistics.mean(each.shortfall("both") for each in compared) > GOAL)


if __name__ == "__main__":
    sys.exit(main())
