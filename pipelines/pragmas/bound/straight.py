"""Straight-line code: critical paths of statements, trees of associative operations, recurrences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.summary import WRITE, Operation, Statement, Summary

ASSOCIATIVE = {"add": "sum", "sub": "sum", "mul": "product"}
"""Kinds that may be reordered among each other when the target says so."""


def critical_path(statement: Statement, target: Target, copies: int = 1) -> int:
    """Return the least cycles of a statement's operation graph, the paths weighted by latency (theorems 6.6
    and 6.7).

    Resources are unlimited: what they limit is in the interval of pipelines and in equation 15.

    Args: copies: instances whose reduction is combined in one tree (theorem 6.12), 1 for the statement alone.
    """
    ready: dict[int, int] = {}
    return max(
        (_ready(statement, target, n, copies, ready) for n in range(len(statement.operations))), default=0
    )


def tree_latency(leaves: Mapping[int, int], latency: int) -> int:
    """Return the least cycles to combine values two by two (theorem 6.12, with times of arrival).

    A tree of leaf depths d exists if and only if the sum of 2^-d is at most 1 (Kraft). A leaf that arrives at
    cycle a can have depth (T - a) / latency at most.

    Args: leaves: number of values by cycle of arrival; latency: cycles of one operation.
    """
    if sum(leaves.values()) <= 1 or latency == 0:
        return max(leaves, default=0)
    time = max(leaves) + latency
    while _overfull(leaves, latency, time):
        time += 1
    return time


def _overfull(leaves: Mapping[int, int], latency: int, time: int) -> bool:
    depths = Counter[int]()
    for arrival, count in leaves.items():
        depths[(time - arrival) // latency] += count
    deepest = max(depths)
    return sum(count << (deepest - depth) for depth, count in depths.items()) > 1 << deepest


def _ready(statement: Statement, target: Target, index: int, copies: int, ready: dict[int, int]) -> int:
    """Return the cycle in which an operation's result is ready."""
    if index not in ready:
        ready[index] = 0  # a cycle among operands is no operation graph; it must not hang
        operation = statement.operations[index]
        summed = is_sum(statement, index)
        many = copies if summed and target.tree_reduction else 1
        latency = target.cost(operation.kind, operation.type).latency_cycles
        inputs = chain_leaves(statement, index) if target.tree_reduction else operation.operands
        own = {n for n in inputs if reads_itself(statement, n)} if many > 1 else set[int]()
        times = Counter(_ready(statement, target, n, copies, ready) for n in inputs if n not in own)
        leaves = {time: count * many for time, count in times.items()}
        chained = target.tree_reduction and operation.kind in ASSOCIATIVE
        start = max(leaves, default=0) + latency
        ready[index] = tree_latency(leaves, latency) if chained and sum(leaves.values()) > 1 else start
        if summed and not target.tree_reduction:
            ready[index] += latency * (copies - 1)
    return ready[index]


def chain_leaves(statement: Statement, index: int) -> tuple[int, ...]:
    """Return the operands of the largest group of reorderable operations that ends in one."""
    root = statement.operations[index]
    family = ASSOCIATIVE.get(root.kind)
    leaves: list[int] = []
    for operand in root.operands:
        inner = statement.operations[operand]
        if family is not None and ASSOCIATIVE.get(inner.kind) == family and inner.type == root.type:
            leaves.extend(chain_leaves(statement, operand))
        else:
            leaves.append(operand)
    return tuple(leaves)


def reads_itself(statement: Statement, index: int) -> bool:
    """Tell whether an operation loads the element that the statement writes."""
    access = statement.operations[index].access
    if access is None:
        return False
    loaded = statement.accesses[access]
    return (
        any(
            a.kind == WRITE and a.array == loaded.array and a.subscripts == loaded.subscripts
            for a in statement.accesses
        )
        and loaded.kind != WRITE
    )


def is_sum(statement: Statement, index: int) -> bool:
    """Tell whether an operation is the associative one of a reduction.

    This holds for a conditional statement too: tools schedule it as if it always ran, and choose the result.
    """
    operation = statement.operations[index]
    if operation.reduction or statement.always:
        return operation.reduction
    return operation.kind in ASSOCIATIVE and any(reads_itself(statement, n) for n in operation.operands)


def sum_loops(summary: Summary, statement: Statement) -> frozenset[str]:
    """Return the loops that carry a statement's reduction, of a conditional statement as if it always ran."""
    if statement.always or not any(is_sum(statement, n) for n in range(len(statement.operations))):
        return statement.sum_loops
    written = next(a for a in statement.accesses if a.kind == WRITE)
    named = {name for subscript in written.subscripts for name, _ in subscript.terms}
    alone = (loop for loop in statement.loops if _writers(summary, loop, written.array) == 1)
    return statement.sum_loops | {loop for loop in alone if loop not in named}


def _writers(summary: Summary, loop: str, array: str) -> int:
    return sum(
        loop in s.loops and any(a.kind == WRITE and a.array == array for a in s.accesses)
        for s in summary.statements
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Operations of a statement from a load to its result.

    Attributes:
        cycles: of all of them; first_cycles: of the first one that takes any.
        first, last: families of reorderable operations of the first and the last one that take cycles; None:
            not reorderable, or there is no such operation.
    """

    cycles: int = 0
    first_cycles: int = 0
    first: str | None = None
    last: str | None = None

    def cycles_after(self, family: str | None) -> int:
        """Return the cycles where an operation of a family made the loaded value: an engine that reorders may
        combine all other operands of both before.
        """
        return self.cycles - (self.first_cycles if family is not None and family == self.first else 0)


_REORDERABLE = ASSOCIATIVE | {"mul_constant": "product", "compare": "extreme"}
"""Families whose operations an engine may reorder from one statement to another."""


def path_from(statement: Statement, target: Target, array: str) -> Path:
    """Return the slowest operations from a load of an array to the statement's result.

    The load that carries a dependence may be any of them, so the shortest counts; in a group of reorderable
    operations the late operand enters last.
    """
    if not statement.operations:
        return Path()
    last = len(statement.operations) - 1
    loads = [
        n
        for n, o in enumerate(statement.operations)
        if o.access is not None
        and statement.accesses[o.access].array == array
        and statement.accesses[o.access].kind != WRITE
    ]
    paths = [_slowest_to(statement, target, last, load, {}) for load in loads]
    reached = [_described(statement, target, path) for path in paths if path is not None]
    return min(reached, key=lambda path: path.cycles, default=Path())


def _described(statement: Statement, target: Target, path: tuple[int, ...]) -> Path:
    timed = [(statement.operations[n].kind, _latency(statement, target, n)) for n in path]
    timed = [(kind, cycles) for kind, cycles in timed if cycles]
    if not timed:
        return Path()
    return Path(
        cycles=sum(cycles for _, cycles in timed),
        first_cycles=timed[0][1],
        first=_REORDERABLE.get(timed[0][0]),
        last=_REORDERABLE.get(timed[-1][0]),
    )


def _latency(statement: Statement, target: Target, index: int) -> int:
    operation = statement.operations[index]
    return target.cost(operation.kind, operation.type).latency_cycles


def _slowest_to(
    statement: Statement, target: Target, index: int, load: int, known: dict[int, tuple[int, ...] | None]
) -> tuple[int, ...] | None:
    """Return the operations after a load up to one, along the slowest path; None when none leads there."""
    if index == load:
        return ()
    if index not in known:
        known[index] = None
        operation: Operation = statement.operations[index]
        inputs = chain_leaves(statement, index) if target.tree_reduction else operation.operands
        paths = [_slowest_to(statement, target, n, load, known) for n in inputs]
        reached = [p for p in paths if p is not None]
        slowest = max(reached, key=lambda p: sum(_latency(statement, target, n) for n in p), default=None)
        known[index] = None if slowest is None else (*slowest, index)
    return known[index]
