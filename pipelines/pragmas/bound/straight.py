"""Straight-line code: critical paths of statements, trees of associative operations, recurrences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.summary import WRITE, Operation, Statement, Summary

ASSOCIATIVE = {"add": "sum", "sub": "sum", "mul": "product"}
"""Kinds that may be reordered among each other when the target says so."""


def critical_path(statement: Statement, target: Target, copies: int = 1) -> int:
    """Least cycles of a statement's operation graph, the paths weighted by latency (theorems 6.6 and 6.7).

    Resources are unlimited: what they limit is in the interval of pipelines and in equation 15.

    Args: copies: instances whose reduction is combined in one tree (theorem 6.12), 1 for the statement alone.
    """
    ready: dict[int, int] = {}
    return max(
        (_ready(statement, target, n, copies, ready) for n in range(len(statement.operations))), default=0
    )


def tree_latency(leaves: Mapping[int, int], latency: int) -> int:
    """Least cycles to combine values two by two (theorem 6.12, with times of arrival).

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
    """Cycle in which an operation's result is ready."""
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
    """Operands of the largest group of reorderable operations that ends in one."""
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
    """Whether an operation loads the element that the statement writes."""
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
    """Whether an operation is the associative one of a reduction.

    Of a conditional statement too: tools schedule it as if it always ran, and choose the result.
    """
    operation = statement.operations[index]
    if operation.reduction or statement.always:
        return operation.reduction
    return operation.kind in ASSOCIATIVE and any(reads_itself(statement, n) for n in operation.operands)


def sum_loops(summary: Summary, statement: Statement) -> frozenset[str]:
    """Loops that carry a statement's reduction, of a conditional statement as if it always ran."""
    if statement.always or not any(is_sum(statement, n) for n in range(len(statement.operations))):
        return statement.reduction_loops
    written = next(a for a in statement.accesses if a.kind == WRITE)
    named = {name for subscript in written.subscripts for name, _ in subscript.terms}
    alone = (loop for loop in statement.loops if _writers(summary, loop, written.array) == 1)
    return statement.reduction_loops | {loop for loop in alone if loop not in named}


def _writers(summary: Summary, loop: str, array: str) -> int:
    return sum(
        loop in s.loops and any(a.kind == WRITE and a.array == array for a in s.accesses)
        for s in summary.statements
    )


def path_from(statement: Statement, target: Target, array: str) -> int:
    """Least cycles from a load of an array to the statement's result; 0 when no operation is between.

    The load that carries a dependence may be any of them, so the shortest counts; in a group of reorderable
    operations the late operand enters last.
    """
    if not statement.operations:
        return 0
    last = len(statement.operations) - 1
    loads = [
        n
        for n, o in enumerate(statement.operations)
        if o.access is not None
        and statement.accesses[o.access].array == array
        and statement.accesses[o.access].kind != WRITE
    ]
    paths = [_longest_to(statement, target, last, load, {}) for load in loads]
    return min((p for p in paths if p is not None), default=0)


def _longest_to(
    statement: Statement, target: Target, index: int, load: int, known: dict[int, int | None]
) -> int | None:
    """Cycles from a load to an operation's result along the slowest path, None when it does not reach it."""
    if index == load:
        return 0
    if index not in known:
        known[index] = None
        operation: Operation = statement.operations[index]
        inputs = chain_leaves(statement, index) if target.tree_reduction else operation.operands
        paths = [_longest_to(statement, target, n, load, known) for n in inputs]
        reached = [p for p in paths if p is not None]
        latency = target.cost(operation.kind, operation.type).latency_cycles
        known[index] = max(reached) + latency if reached else None
    return known[index]
