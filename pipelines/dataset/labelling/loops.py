"""Iterations of loops and branches taken in a run, from the executions of blocks of a scheduled design."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.c import cdfg


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCount:
    """Columns of table `loop_runs`; the others say which run."""

    loop: str
    iterations: int
    entries: int
    branches: int
    branches_taken: int | None


@dataclass(slots=True, kw_only=True)
class _Loop:
    """Blocks of a loop; a loop may have several blocks that lead back to its first one."""

    header: int
    latches: set[int]
    body: set[int]


def loop_counts(graph: cdfg.Cdfg, visits: Mapping[str, int]) -> list[LoopCount]:
    """Return the counts of every loop of a graph, in order of their first blocks.

    Args: visits: executions of each block by its name, see `CycleResult`.
    """
    counts = [visits[block.name] for block in graph.blocks]
    taken = _taken(graph, counts)
    loops = _natural_loops(graph)
    tests = _loop_tests(graph, loops)
    return [
        _counted(name, loop, graph, counts, taken, tests)
        for name, loop in sorted(loops.items(), key=lambda item: item[1].header)
    ]


def _counted(
    name: str,
    loop: _Loop,
    graph: cdfg.Cdfg,
    counts: Sequence[int],
    taken: Mapping[int, int | None],
    tests: set[int],
) -> LoopCount:
    own_header = graph.blocks[loop.header].loop == name
    outside = [b.index for b in graph.blocks if loop.header in b.successors and b.index not in loop.body]
    own = [b for b in taken if graph.blocks[b].loop == name and b not in tests]
    known = [taken[b] for b in own]
    return LoopCount(
        loop=name,
        iterations=counts[loop.header] if own_header else sum(counts[latch] for latch in loop.latches),
        entries=sum(counts[b] for b in outside) + (loop.header == 0),
        branches=sum(counts[b] for b in own),
        branches_taken=None if None in known else sum(n for n in known if n is not None),
    )


# ---- loops of a graph ----------------------------------------------------------------------------------


def _natural_loops(graph: cdfg.Cdfg) -> dict[str, _Loop]:
    """Return loops by name. In a reducible graph an edge to a block still on the search path leads back."""
    loops: dict[str, _Loop] = {}
    before = _predecessors(graph)
    for latch, header in _back_edges(graph):
        name = graph.blocks[latch].loop or graph.blocks[header].loop or graph.blocks[header].name
        loop = loops.setdefault(name, _Loop(header=header, latches=set(), body={header}))
        loop.latches.add(latch)
        waiting = [latch]
        while waiting:
            block = waiting.pop()
            if block not in loop.body:
                loop.body.add(block)
                waiting += before[block]
    return loops


def _predecessors(graph: cdfg.Cdfg) -> Mapping[int, list[int]]:
    before: defaultdict[int, list[int]] = defaultdict(list)
    for block in graph.blocks:
        for successor in block.successors:
            before[successor].append(block.index)
    return before


def _back_edges(graph: cdfg.Cdfg) -> list[tuple[int, int]]:
    edges: list[tuple[int, int]] = []
    seen, open_blocks = {0}, {0}
    stack = [(0, iter(graph.blocks[0].successors))]
    while stack:
        block, successors = stack[-1]
        successor = next(successors, None)
        if successor is None:
            stack.pop()
            open_blocks.discard(block)
        elif successor in open_blocks:
            edges.append((block, successor))
        elif successor not in seen:
            seen.add(successor)
            open_blocks.add(successor)
            stack.append((successor, iter(graph.blocks[successor].successors)))
    return edges


def _loop_tests(graph: cdfg.Cdfg, loops: Mapping[str, _Loop]) -> set[int]:
    """Return the blocks whose branch decides whether a loop goes on or is entered."""
    tests = {latch for loop in loops.values() for latch in loop.latches}
    for loop in loops.values():
        tests |= {b.index for b in graph.blocks if loop.header in b.successors and b.index not in loop.body}
    return tests


# ---- executions of edges -------------------------------------------------------------------------------


def _taken(graph: cdfg.Cdfg, counts: Sequence[int]) -> dict[int, int | None]:
    """Count how often each branch was true, by block; None where the equations leave it open.

    A block is executed as often as the edges that lead to it. Equations with one unknown are solved until
    none is left; the two edges of a branch are one unknown, for their sum is known.
    """
    branches = {b.index: b.terminator for b in graph.blocks if isinstance(b.terminator, cdfg.Branch)}
    taken: dict[int, int | None] = {
        k: 0 if counts[k] == 0 or t.if_true == t.if_false else None for k, t in branches.items()
    }
    before = _predecessors(graph)
    changed = True
    while changed:
        changed = False
        for block in graph.blocks:
            target, unknown = block.index, {p for p in before[block.index] if taken.get(p, 0) is None}
            if len(unknown) == 1 or counts[target] == 0:
                branch = next(iter(unknown), None)
                if branch is None:
                    continue
                rest = counts[target] - (target == 0) - _arrivals(graph, counts, taken, before, target)
                is_true = branches[branch].if_true == target
                taken[branch] = rest if is_true else counts[branch] - rest
                changed = True
    return taken


def _arrivals(
    graph: cdfg.Cdfg,
    counts: Sequence[int],
    taken: Mapping[int, int | None],
    before: Mapping[int, list[int]],
    target: int,
) -> int:
    """Return the executions of the edges to a block that are known."""
    total = 0
    for block in set(before[target]):
        match graph.blocks[block].terminator:
            case cdfg.Branch(if_true=first, if_false=second) if first != second:
                true = taken[block]
                if true is not None:
                    total += true if first == target else counts[block] - true
            case _:
                total += counts[block]
    return total
