"""Ranges of the values of a control/data-flow graph: interval analysis with branch conditions.

A variable has a range at each block's start, joined over its predecessors under their branch conditions. A
range that grows with a loop's iterations jumps to the next bound that a condition sets for that variable,
then to the limits of its type; two more passes without jumps narrow it again. A local memory has one range
for all its elements.

Source: Cousot and Cousot 1977, "Abstract interpretation: a unified lattice model for static analysis of
        programs" (widening and narrowing of intervals). Differs in jumping to the bounds of conditions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush

from pipelines.c.analysis.intervals import (
    Constraints,
    Limits,
    Range,
    constraints_of,
    join,
    meet,
    operation_range,
    range_under,
    refined_select,
)
from pipelines.c.arithmetic import value_range
from pipelines.c.cdfg import Block, Branch, Cdfg, Operation
from pipelines.c.ir import Variable
from pipelines.hls.cleanup import live_in

Ranges = list[Range | None]
Environment = dict[str, Range]

FREE_VISITS = 2
"""Visits of a loop's first block before growing ranges jump."""

FREE_GROWTHS = 8
"""Times that a memory's range may grow before it becomes that of the type."""

LIMITED_JUMPS = 12
"""Jumps of a variable's range to bounds of conditions; the next jump goes to the limit of its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRanges:
    """Ranges of a graph.

    Attributes:
        values: of each operation of each block; None for floating values and operations without a value.
        variables: of each live integer variable at each block's start.
        cells: of the elements of each local memory of integers that is stored to or has initial values.
        edges: (block, successor) pairs that control can take.
    """

    values: tuple[Ranges, ...]
    variables: tuple[Environment, ...]
    cells: Mapping[str, Range]
    edges: frozenset[tuple[int, int]]


@dataclass(slots=True)
class _Cells:
    """Ranges of the elements of local memories.

    Attributes:
        types: of their elements; loaders: blocks that load each; stale: blocks to be visited again.
    """

    types: dict[str, Range]
    loaders: dict[str, list[int]]
    ranges: dict[str, Range] = field(default_factory=dict[str, Range])
    growths: Counter[str] = field(default_factory=Counter[str])
    stale: set[int] = field(default_factory=set[int])

    def of_load(self, operation: Operation) -> Range | None:
        """Return the range of a load; elements that were never stored are undefined."""
        name = operation.name
        return self.ranges.get(name, (0, 0)) if name in self.types else operation_range(operation, ())

    def store(self, name: str, interval: Range | None) -> None:
        if name not in self.types or interval is None:
            return
        old = self.ranges.get(name)
        new = interval if old is None else join(old, interval)
        if new != old:
            self.growths[name] += 1
            self.ranges[name] = new if self.growths[name] <= FREE_GROWTHS else self.types[name]
            self.stale.update(self.loaders.get(name, ()))


def _local_cells(graph: Cdfg) -> _Cells:
    arrays = [a for a in graph.function.arrays if not a.external and not a.type.floating]
    loaders: dict[str, list[int]] = defaultdict(list)
    for block in graph.blocks:
        for name in dict.fromkeys(o.name for o in block.operations if o.opcode == "load"):
            loaders[name].append(block.index)
    cells = _Cells(types={a.name: value_range(a.type) for a in arrays}, loaders=loaders)
    for array in arrays:
        if array.initial is not None:
            short = len(array.initial) < array.element_count
            values = (*array.initial, 0) if short or not array.initial else array.initial
            cells.ranges[array.name] = (min(values), max(values))
    return cells


@dataclass(slots=True)
class _Analysis:
    graph: Cdfg
    types: dict[str, Range] = field(init=False)
    live: list[list[str]] = field(init=False)
    back: frozenset[tuple[int, int]] = field(init=False)
    before: list[list[int]] = field(init=False)
    entries: list[Environment | None] = field(init=False)
    edges: dict[tuple[int, int], Environment] = field(default_factory=dict[tuple[int, int], Environment])
    values: list[Ranges] = field(init=False)
    visits: list[int] = field(init=False)
    uppers: dict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))
    lowers: dict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))
    jumps: dict[tuple[int, str], int] = field(default_factory=lambda: defaultdict[tuple[int, str], int](int))
    nests: list[Environment] = field(init=False)
    cells: _Cells = field(init=False)

    def __post_init__(self) -> None:
        blocks = self.graph.blocks
        self.types = {v.name: value_range(v.type) for v in self.graph.variables if not v.type.floating}
        self.live = [[] for _ in blocks]
        for block, name in sorted(live_in(self.graph)):
            if name in self.types:
                self.live[block].append(name)
        self.before = [[] for _ in blocks]
        for block in blocks:
            for successor in dict.fromkeys(block.successors):
                self.before[successor].append(block.index)
        self.back = _back_edges(self.graph)
        self.entries = [None] * len(blocks)
        self.values = [[None] * len(b.operations) for b in blocks]
        self.visits = [0] * len(blocks)
        self.nests = [_nest_ranges(b) for b in blocks]
        self.cells = _local_cells(self.graph)

    # ---- blocks -----------------------------------------------------------------------------------

    def start(self) -> Environment:
        """Return the ranges at the function's start: arguments may have any value."""
        names = {p.name for p in self.graph.function.parameters if isinstance(p, Variable)}
        return {name: self.types[name] for name in self.live[0] if name in names}

    def entry(self, index: int, *, back: bool | None = None) -> Environment | None:
        """Return the ranges joined over the edges into a block; None when no edge can be taken.

        Args:    back: only edges that close a loop, or only the others; None for all.
        """
        environment: Environment | None = self.start() if index == 0 and not back else None
        for earlier in self.before[index]:
            edge = self.edges.get((earlier, index))
            if edge is None or (back is not None and back != ((earlier, index) in self.back)):
                continue
            environment = dict(edge) if environment is None else _joined(environment, edge)
        if environment is not None:
            for name, limit in self.nests[index].items():
                if name in environment:
                    environment[name] = meet(environment[name], limit) or limit
        return environment

    def evaluate(self, block: Block, entry: Environment, *, fresh: bool) -> None:
        """Update the ranges of a block's operations: all when fresh, else those after a changed variable."""
        ranges = self.values[block.index]
        operations = block.operations
        changed = [False] * len(operations)
        for operation in operations:
            index, opcode = operation.index, operation.opcode
            if opcode == "read":
                own = entry.get(operation.name, (0, 0)) if operation.name in self.types else None
                changed[index] = fresh or own != ranges[index]
                ranges[index] = own
            elif opcode == "load":
                own = self.cells.of_load(operation)
                changed[index] = fresh or own != ranges[index]
                ranges[index] = own
            elif opcode == "store":
                self.cells.store(operation.name, ranges[operation.operands[1]])
            elif opcode != "write" and (fresh or any(changed[i] for i in operation.operands)):
                # all users are evaluated again, because a selection depends on more than ranges
                ranges[index] = self.evaluated(operation, operations, ranges)
                changed[index] = True

    def evaluated(
        self, operation: Operation, operations: tuple[Operation, ...], ranges: Ranges
    ) -> Range | None:
        own = operation_range(operation, [ranges[i] for i in operation.operands])
        if operation.opcode != "select" or own is None:
            return own
        refined = refined_select(operation, operations, ranges)
        return own if refined is None else meet(own, refined) or own

    def leave(self, block: Block) -> list[int]:
        """Pass a block's ranges to its successors; returns those for which something changed."""
        touched: list[int] = []
        for successor, constraints, limits in self.outgoing(block):
            key = (block.index, successor)
            if constraints is None:
                if self.edges.pop(key, None) is not None:
                    touched.append(successor)
                continue
            edge = self.environment_after(block, successor, constraints, limits)
            if self.edges.get(key) != edge:
                self.edges[key] = edge
                touched.append(successor)
        return touched

    def outgoing(self, block: Block) -> list[tuple[int, Constraints | None, Limits]]:
        """Return successors with the constraints that hold there; None for an edge that is never taken."""
        terminator, ranges = block.terminator, self.values[block.index]
        if not isinstance(terminator, Branch) or terminator.if_true == terminator.if_false:
            return [(successor, {}, {}) for successor in dict.fromkeys(block.successors)]
        targets: list[tuple[int, Constraints | None, Limits]] = []
        for successor, holds in ((terminator.if_true, True), (terminator.if_false, False)):
            limits: Limits = {}
            constraints = constraints_of(block.operations, ranges, terminator.condition, holds, limits)
            targets.append((successor, constraints, limits))
        return targets

    def environment_after(
        self, block: Block, successor: int, constraints: Constraints, limits: Limits
    ) -> Environment:
        """Return the ranges of variables at the start of a successor."""
        ranges, entry = self.values[block.index], self.entries[block.index] or {}
        written = {o.name: o.operands[0] for o in block.operations if o.opcode == "write"}
        read = {o.name: o.index for o in block.operations if o.opcode == "read"}
        environment: Environment = {}
        for name in self.live[successor]:
            source = written.get(name, read.get(name))
            if source is None:
                if name in entry:
                    environment[name] = entry[name]
                continue
            own = range_under(block.operations, ranges, source, constraints)
            if own is not None:
                environment[name] = meet(own, self.types[name]) or self.types[name]
                self.note_bounds(name, ranges[source], environment[name])
                self.note_bounds(name, self.types[name], limits.get(source, self.types[name]))
        return environment

    def note_bounds(self, name: str, free: Range | None, bound: Range) -> None:
        """Record where a condition cuts a variable's range."""
        if free is not None and bound != free:
            if bound[1] < free[1]:
                self.uppers[name].add(bound[1])
            if bound[0] > free[0]:
                self.lowers[name].add(bound[0])

    # ---- fixed point ------------------------------------------------------------------------------

    def widened(self, index: int, base: Environment, again: Environment) -> Environment:
        """Join the ranges of a loop's own iterations, with jumps once they keep growing."""
        widened = dict(base)
        for name, own in again.items():
            grown = join(base[name], own) if name in base else own
            if name in base and grown != base[name] and self.visits[index] >= FREE_VISITS:
                self.jumps[index, name] += 1
                grown = self.jumped(name, base[name], grown, self.jumps[index, name])
            limit = self.nests[index].get(name)
            widened[name] = grown if limit is None else meet(grown, limit) or limit
        return widened

    def jumped(self, name: str, old: Range, new: Range, count: int) -> Range:
        """Return a range that grew, extended to the next known bounds of the variable."""
        (low, high), (first, last) = new, self.types[name]
        limited = count <= LIMITED_JUMPS
        if low < old[0]:
            bounds = [b for b in self.lowers[name] if b <= low] if limited else []
            low = max([*bounds, first + 1 if first < low and limited else first])
        if high > old[1]:
            bounds = [b for b in self.uppers[name] if b >= high] if limited else []
            high = min([*bounds, last - 1 if last > high and limited else last])
        return low, high

    def arrived(self, index: int) -> Environment | None:
        """Return the ranges at a block's start, never smaller than before."""
        old, outer, again = (
            self.entries[index],
            self.entry(index, back=False),
            self.entry(index, back=True),
        )
        known = [e for e in (old, outer) if e is not None]
        if not known:
            return again
        base = known[0] if len(known) == 1 else _joined(known[0], known[1])
        return base if again is None else self.widened(index, base, again)

    def visit(self, index: int) -> list[int]:
        """Propagate ranges through a block; returns the successors to be visited again."""
        block, old, new = self.graph.blocks[index], self.entries[index], self.arrived(index)
        self.visits[index] += 1
        again = index in self.cells.stale
        self.cells.stale.discard(index)
        if new is None or (old == new and not again):
            return []
        self.entries[index] = new
        self.evaluate(block, new, fresh=old is None)
        return self.leave(block)

    def run(self) -> GraphRanges:
        waiting, queued = [0], {0}
        while waiting:
            index = heappop(waiting)
            queued.discard(index)
            for following in sorted({*self.visit(index), *self.cells.stale}):
                if following not in queued:
                    queued.add(following)
                    heappush(waiting, following)
        for _ in range(2):
            for block in self.graph.blocks:
                self.settle(block)
        return GraphRanges(
            values=tuple(self.values),
            variables=tuple(e or {} for e in self.entries),
            cells=self.cells.ranges,
            edges=frozenset(self.edges),
        )

    def settle(self, block: Block) -> None:
        """Evaluate a block once more without jumps, to narrow its ranges."""
        old, new = self.entries[block.index], self.entry(block.index)
        if old is None:
            return
        if new is None:
            new = old
        kept = {name: meet(own, old[name]) or own if name in old else own for name, own in new.items()}
        if kept != old:
            self.entries[block.index] = kept
            self.evaluate(block, kept, fresh=False)
        self.leave(block)


def _nest_ranges(block: Block) -> Environment:
    """Return the ranges of a flattened nest's variables at the start of an iteration."""
    ranges: Environment = {}
    for level in block.nest:
        last = level.lower + level.step * (level.trip_count - 1)
        ranges[level.variable.name] = (min(level.lower, last), max(level.lower, last))
    return ranges


def _joined(first: Environment, second: Environment) -> Environment:
    """Return the joined ranges of two environments; a variable that one lacks is undefined there."""
    joined = dict(first)
    for name, own in second.items():
        joined[name] = join(joined[name], own) if name in joined else own
    return joined


def _back_edges(graph: Cdfg) -> frozenset[tuple[int, int]]:
    """Return the edges to a block on the path of a depth-first search: every cycle has one."""
    edges: set[tuple[int, int]] = set()
    state = [0] * len(graph.blocks)  # 0 not seen, 1 on the path, 2 done
    stack: list[tuple[int, int]] = [(0, 0)]
    state[0] = 1
    while stack:
        index, way = stack.pop()
        successors = graph.blocks[index].successors
        if way == len(successors):
            state[index] = 2
            continue
        stack.append((index, way + 1))
        successor = successors[way]
        if state[successor] == 1:
            edges.add((index, successor))
        elif state[successor] == 0:
            state[successor] = 1
            stack.append((successor, 0))
    return frozenset(edges)


def analyse_ranges(graph: Cdfg) -> GraphRanges:
    """Return the ranges of every integer value of a graph whose operations have their C types."""
    return _Analysis(graph=graph).run()


def variable_ranges(ranges: GraphRanges) -> Mapping[str, Range]:
    """Return the range of each variable over all blocks."""
    whole: dict[str, Range] = {}
    for environment in ranges.variables:
        for name, own in environment.items():
            whole[name] = join(whole[name], own) if name in whole else own
    return whole
