"""Removal of unreachable blocks, dead operations and dead variables from the control/data-flow graph."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from pipelines.c.cdfg import Block, Branch, Cdfg, Finish, Jump, Operation, Terminator
from pipelines.c.ir import Array


def clean(graph: Cdfg) -> Cdfg:
    """Return the graph without unreachable blocks, dead operations and dead variables."""
    return remove_dead(join_blocks(thread_jumps(graph)))


# ---- blocks ---------------------------------------------------------------------------------------


def _is_empty(block: Block) -> bool:
    return not block.operations and isinstance(block.terminator, Jump)


def retargeted(terminator: Terminator, number: dict[int, int]) -> Terminator:
    """Return the terminator with other block numbers; a branch to one block becomes a jump."""
    match terminator:
        case Jump():
            return Jump(target=number[terminator.target])
        case Branch():
            taken, other = number[terminator.if_true], number[terminator.if_false]
            if taken == other:
                return Jump(target=taken)
            return replace(terminator, if_true=taken, if_false=other)
        case Finish():
            return terminator


def _final_targets(graph: Cdfg) -> dict[int, int]:
    """Return the block at which control arrives when it goes to a block, past those that only jump."""
    targets: dict[int, int] = {}
    for block in graph.blocks:
        path: list[int] = []
        index = block.index
        while index not in targets and index not in path and _is_empty(graph.blocks[index]):
            path.append(index)
            index = graph.blocks[index].successors[0]
        end = targets.get(index, index)
        targets.update(dict.fromkeys(path, end))
        targets.setdefault(index, end)
    return targets


def thread_jumps(graph: Cdfg) -> Cdfg:
    """Skip blocks that only jump, and drop the blocks nothing reaches."""
    final = _final_targets(graph)
    return _renumbered(graph, _in_program_order(graph, final), final)


def _in_program_order(graph: Cdfg, final: dict[int, int]) -> list[int]:
    """Return the reachable blocks in reverse postorder, so that a loop's body precedes what follows it."""
    finished: list[int] = []
    seen = {final[0]}
    stack: list[tuple[int, list[int]]] = [(final[0], _successors(graph, final, final[0]))]
    while stack:
        index, waiting = stack[-1]
        if not waiting:
            stack.pop()
            finished.append(index)
            continue
        following = waiting.pop()
        if following not in seen:
            seen.add(following)
            stack.append((following, _successors(graph, final, following)))
    return finished[::-1]


def _successors(graph: Cdfg, final: dict[int, int], index: int) -> list[int]:
    """Return the successors of a block; the last one is visited first."""
    return [final[s] for s in graph.blocks[index].successors]


def _renumbered(graph: Cdfg, kept: list[int], final: dict[int, int]) -> Cdfg:
    number = {old: new for new, old in enumerate(kept)}
    target = {old: number[end] for old, end in final.items() if end in number}
    blocks = tuple(
        _settled(
            replace(graph.blocks[old], index=new, terminator=retargeted(graph.blocks[old].terminator, target))
        )
        for old, new in number.items()
    )
    return Cdfg(function=graph.function, blocks=blocks)


def _settled(block: Block) -> Block:
    """Return the block without its interval when it no longer branches to itself."""
    if block.interval is not None and not (
        isinstance(block.terminator, Branch) and block.index in block.successors
    ):
        return replace(block, interval=None, trip_count=None, nest=())
    return block


def join_blocks(graph: Cdfg) -> Cdfg:
    """Join a block to its only predecessor when it is that block's only successor."""
    predecessors: dict[int, list[int]] = defaultdict(list)
    for block in graph.blocks:
        for successor in dict.fromkeys(block.successors):
            predecessors[successor].append(block.index)
    joined: dict[int, int] = {}
    blocks = dict(enumerate(graph.blocks))
    for index in range(1, len(graph.blocks)):
        before = predecessors[index]
        if len(before) != 1:
            continue
        head = before[0]
        while head in joined:
            head = joined[head]
        if head != index and isinstance(blocks[head].terminator, Jump):
            blocks[head] = _joined(blocks[head], blocks.pop(index))
            joined[index] = head
    if not joined:
        return graph
    same = {i: i for i in range(len(graph.blocks))}
    return _renumbered(
        replace(graph, blocks=tuple(blocks.get(i, b) for i, b in enumerate(graph.blocks))),
        sorted(blocks),
        same,
    )


def _joined(first: Block, second: Block) -> Block:
    """Return two consecutive blocks as one: the second reads the values that the first writes."""
    operations = list(first.operations)
    written = {o.name: o for o in operations if o.opcode == "write"}
    known = {o.name: o.index for o in operations if o.opcode == "read"}
    known |= {name: o.operands[0] for name, o in written.items()}
    number: dict[int, int] = {}
    rewritten = {o.name for o in second.operations if o.opcode == "write"}
    for operation in second.operations:
        if operation.opcode == "read" and operation.name in known:
            number[operation.index] = known[operation.name]
            continue
        number[operation.index] = len(operations)
        operations.append(moved(operation, len(operations), number))
    whole = replace(
        first,
        operations=tuple(operations),
        terminator=with_values(second.terminator, number),
        line=first.line or second.line,
    )
    overtaken = {o.index for n, o in written.items() if n in rewritten}
    return restrict_block(whole, set(range(len(operations))) - overtaken)


# ---- operations -----------------------------------------------------------------------------------


def moved(operation: Operation, index: int, number: dict[int, int]) -> Operation:
    """Return an operation with another index and its values renumbered."""
    return replace(
        operation,
        index=index,
        operands=tuple(number[i] for i in operation.operands),
        predicate=None if operation.predicate is None else number[operation.predicate],
        subscripts=tuple(number[i] for i in operation.subscripts),
    )


def with_values(terminator: Terminator, number: dict[int, int]) -> Terminator:
    """Return the terminator with its values renumbered."""
    match terminator:
        case Branch():
            return replace(terminator, condition=number[terminator.condition])
        case Finish() if terminator.value is not None:
            return Finish(value=number[terminator.value])
        case _:
            return terminator


def restrict_block(block: Block, needed: set[int]) -> Block:
    """Return the block restricted to some of its operations, which use no others."""
    number: dict[int, int] = {}
    operations: list[Operation] = []
    for operation in block.operations:
        if operation.index in needed:
            number[operation.index] = len(operations)
            operations.append(moved(operation, len(operations), number))
    return replace(block, operations=tuple(operations), terminator=with_values(block.terminator, number))


@dataclass(slots=True)
class _Marking:
    """Needed operations, marked backwards from stores, branches and results through variables."""

    graph: Cdfg
    needed: list[set[int]] = field(init=False)
    writes: list[dict[str, int]] = field(init=False)
    before: list[list[int]] = field(init=False)
    waiting: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    live_in: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])

    def __post_init__(self) -> None:
        blocks = self.graph.blocks
        self.needed = [set() for _ in blocks]
        self.writes = [{o.name: o.index for o in b.operations if o.opcode == "write"} for b in blocks]
        self.before = [[] for _ in blocks]
        for block in blocks:
            for successor in dict.fromkeys(block.successors):
                self.before[successor].append(block.index)

    def need(self, block: int, operation: int) -> None:
        if operation not in self.needed[block]:
            self.needed[block].add(operation)
            self.waiting.append((block, operation))

    def need_variable(self, block: int, name: str) -> None:
        """Mark every write that may give a variable its value at a block's start."""
        stack = [block]
        while stack:
            index = stack.pop()
            if (index, name) in self.live_in:
                continue
            self.live_in.add((index, name))
            for earlier in self.before[index]:
                write = self.writes[earlier].get(name)
                if write is None:
                    stack.append(earlier)
                else:
                    self.need(earlier, write)

    def run(self) -> None:
        loaded = self.graph.loaded_arrays
        for block in self.graph.blocks:
            match block.terminator:
                case Branch():
                    self.need(block.index, block.terminator.condition)
                case Finish() if block.terminator.value is not None:
                    self.need(block.index, block.terminator.value)
                case _:
                    pass
            for operation in block.operations:
                if operation.opcode == "store" and _is_seen(operation, loaded):
                    self.need(block.index, operation.index)
        while self.waiting:
            block, index = self.waiting.pop()
            operation = self.graph.blocks[block].operations[index]
            for source in (*operation.inputs, *operation.subscripts):
                self.need(block, source)
            if operation.opcode == "read":
                self.need_variable(block, operation.name)


def _is_seen(store: Operation, loaded: frozenset[str]) -> bool:
    """Tell whether any load or caller can observe a store."""
    return store.name in loaded or not (isinstance(store.symbol, Array) and not store.symbol.external)


def remove_dead(graph: Cdfg) -> Cdfg:
    """Drop writes that no read sees, stores that nothing observes, and operations that only these used."""
    marking = _Marking(graph=graph)
    marking.run()
    blocks = tuple(
        b if len(kept) == len(b.operations) else restrict_block(b, kept)
        for b, kept in zip(graph.blocks, marking.needed, strict=True)
    )
    return replace(graph, blocks=blocks)


def live_in(graph: Cdfg) -> set[tuple[int, str]]:
    """Return (block, name) of every variable that is live at the block's start."""
    marking = _Marking(graph=graph)
    marking.run()
    return marking.live_in
