"""Structured IR to the control/data-flow graph.

Belongs here: blocks, loop rotation, value numbering inside a block, address arithmetic, removal of dead
variables. Does not: timing.

A loop is rotated: its condition is tested once before, then at the end of the body, so that a body without
inner control flow is one block that branches to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary
from pipelines.hls.cdfg import Block, Branch, Cdfg, Finish, Jump, Operation, Terminator
from pipelines.interface import ScalarType


@dataclass(slots=True)
class _BlockBuilder:
    """A block that is being filled; `known` maps an operation's identity to its index."""

    index: int
    loop: str | None
    line: int
    operations: list[Operation] = field(default_factory=list[Operation])
    known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])
    values: dict[str, int] = field(default_factory=dict[str, int])
    written: dict[str, tuple[ir.Variable, int]] = field(default_factory=dict[str, tuple[ir.Variable, int]])
    memory_epoch: dict[str, int] = field(default_factory=dict[str, int])
    terminator: Terminator | None = None
    interval: int | None = None
    trip_count: int | None = None
    nest: tuple[ir.NestLevel, ...] = ()

    def go_on(self, after: _BlockBuilder) -> None:
        """Go on with another block unless control already went elsewhere."""
        if self.terminator is None:
            self.terminator = Jump(target=after.index)

    def add(
        self,
        opcode: str,
        operands: tuple[int, ...],
        kind: ScalarType | None,
        line: int,
        *,
        predicate: int | None = None,
        symbol: ir.Variable | ir.Array | None = None,
        value: int | None = None,
        subscripts: tuple[int, ...] = (),
    ) -> int:
        """Append an operation, or find the equal one that is already there."""
        name = symbol.name if symbol is not None else ""
        epoch = self.memory_epoch.get(name, 0)
        identity = (opcode, operands, kind, predicate, name, value, epoch)
        if opcode not in ("store", "write") and identity in self.known:
            return self.known[identity]
        operation = Operation(
            index=len(self.operations),
            opcode=opcode,
            operands=operands,
            type=kind,
            line=line,
            predicate=predicate,
            symbol=symbol,
            value=value,
            subscripts=subscripts,
        )
        self.operations.append(operation)
        self.known[identity] = operation.index
        if opcode == "store":
            self.memory_epoch[name] = epoch + 1
        return operation.index


@dataclass(slots=True)
class _Lowering:
    function: ir.Function
    intervals: Mapping[str, int]
    blocks: list[_BlockBuilder] = field(default_factory=list[_BlockBuilder])
    loops: list[str] = field(default_factory=list[str])
    exits: dict[str, int] = field(default_factory=dict[str, int])

    # ---- blocks -----------------------------------------------------------------------------------

    def new_block(self, line: int) -> _BlockBuilder:
        loop = self.loops[-1] if self.loops else None
        block = _BlockBuilder(index=len(self.blocks), loop=loop, line=line)
        self.blocks.append(block)
        return block

    def run(self) -> Cdfg:
        block = self.lower_body(self.function.body, self.new_block(0))
        if block.terminator is None:
            block.terminator = Finish(value=None)
        built = tuple(self.finish(b) for b in self.blocks)
        return Cdfg(function=self.function, blocks=built)

    def finish(self, block: _BlockBuilder) -> Block:
        for variable, value in block.written.values():
            block.add("write", (value,), None, block.line, symbol=variable)
        assert block.terminator is not None
        return Block(
            index=block.index,
            operations=tuple(block.operations),
            terminator=block.terminator,
            loop=block.loop,
            line=block.line,
            interval=block.interval,
            trip_count=block.trip_count,
            nest=block.nest,
        )

    # ---- statements -------------------------------------------------------------------------------

    def lower_body(self, body: tuple[ir.Statement, ...], block: _BlockBuilder) -> _BlockBuilder:
        """Lower statements into a block; returns the block where control goes on."""
        for statement in body:
            match statement:
                case ir.Assign():
                    self.assign(block, statement.variable, statement.value, statement.line)
                case ir.Store():
                    self.store(block, statement)
                case ir.If():
                    block = self.lower_if(statement, block)
                case ir.For():
                    block = self.lower_for(statement, block)
                case ir.While():
                    block = self.lower_while(statement, block)
                case ir.Return():
                    value = statement.value
                    result = None if value is None else self.value(block, value, statement.line)
                    block.terminator = Finish(value=result)
                case ir.Block():
                    block = self.lower_block(statement, block)
                case ir.Leave():
                    block.terminator = Jump(target=self.exits[statement.label])
            if block.terminator is not None:
                break
        return block

    def lower_block(self, statement: ir.Block, block: _BlockBuilder) -> _BlockBuilder:
        after = self.new_block(statement.line)
        self.exits[statement.label] = after.index
        end = self.lower_body(statement.body, block)
        end.go_on(after)
        return after

    def assign(self, block: _BlockBuilder, variable: ir.Variable, value: ir.Expression, line: int) -> None:
        index = self.value(block, value, line)
        block.values[variable.name] = index
        block.written[variable.name] = (variable, index)

    def store(self, block: _BlockBuilder, store: ir.Store) -> None:
        subscripts = tuple(self.value(block, i, store.line) for i in store.indices)
        address = self.address(block, store.array, store.indices, store.line)
        value = self.value(block, store.value, store.line)
        predicate = store.predicate
        when = None if predicate is None else self.value(block, predicate, store.line)
        block.add(
            "store",
            (address, value),
            None,
            store.line,
            predicate=when,
            symbol=store.array,
            subscripts=subscripts,
        )

    def lower_if(self, statement: ir.If, block: _BlockBuilder) -> _BlockBuilder:
        condition = self.value(block, statement.condition, statement.line)
        then = self.new_block(statement.line)
        then_end = self.lower_body(statement.then, then)
        otherwise = self.new_block(statement.line) if statement.otherwise else None
        otherwise_end = self.lower_body(statement.otherwise, otherwise) if otherwise is not None else None
        after = self.new_block(statement.line)
        then_end.go_on(after)
        if otherwise_end is not None:
            otherwise_end.go_on(after)
        skip = after if otherwise is None else otherwise
        block.terminator = Branch(condition=condition, if_true=then.index, if_false=skip.index)
        return after

    def lower_for(self, loop: ir.For, block: _BlockBuilder) -> _BlockBuilder:
        self.assign(block, loop.variable, loop.lower, loop.line)
        read = ir.Read(variable=loop.variable)
        step = ir.Assign(
            variable=loop.variable,
            value=make_binary("add", read, ir.Constant(value=loop.step, type=loop.variable.type)),
            line=loop.line,
        )
        again = make_binary(loop.comparison, read, loop.upper)
        trips = loop.trip_count
        if trips == 0:
            return block
        return self.rotated(
            loop, (*loop.body, step), again, block, guard=None if trips else again, trips=trips
        )

    def lower_while(self, loop: ir.While, block: _BlockBuilder) -> _BlockBuilder:
        guard = loop.condition if loop.test_first else None
        return self.rotated(loop, loop.body, loop.condition, block, guard=guard, trips=None)

    def rotated(
        self,
        loop: ir.For | ir.While,
        body: tuple[ir.Statement, ...],
        again: ir.Expression,
        block: _BlockBuilder,
        *,
        guard: ir.Expression | None,
        trips: int | None,
    ) -> _BlockBuilder:
        """`if (guard) do body while (again)`."""
        guard_value = None if guard is None else self.value(block, guard, loop.line)
        self.loops.append(loop.name)
        first = self.new_block(loop.line)
        last = self.lower_body(body, first)
        self.loops.pop()
        after = self.new_block(loop.line)
        if last.terminator is None:
            condition = self.value(last, again, loop.line)
            last.terminator = Branch(condition=condition, if_true=first.index, if_false=after.index)
        if last is first:
            first.interval = self.intervals.get(loop.name)
            first.trip_count = trips
            first.nest = loop.nest
        if guard_value is None:
            block.terminator = Jump(target=first.index)
        else:
            block.terminator = Branch(condition=guard_value, if_true=first.index, if_false=after.index)
        return after

    # ---- expressions ------------------------------------------------------------------------------

    def value(self, block: _BlockBuilder, expression: ir.Expression, line: int) -> int:
        """Index of the operation that computes an expression."""
        match expression:
            case ir.Constant():
                return block.add("const", (), expression.type, line, value=expression.value)
            case ir.Read():
                return self.read(block, expression.variable, line)
            case ir.Load():
                return self.load(block, expression)
            case ir.Unary():
                operand = self.value(block, expression.operand, line)
                return block.add(expression.operator, (operand,), expression.type, line)
            case ir.Cast():
                operand = self.value(block, expression.operand, line)
                return block.add("bits" if expression.bits else "cast", (operand,), expression.type, line)
            case ir.Binary():
                return self.binary(block, expression, line)
            case ir.Select():
                parts = (expression.condition, expression.if_true, expression.if_false)
                operands = tuple(self.value(block, p, line) for p in parts)
                return block.add("select", operands, expression.type, line)

    def read(self, block: _BlockBuilder, variable: ir.Variable, line: int) -> int:
        if variable.name not in block.values:
            block.values[variable.name] = block.add("read", (), variable.type, line, symbol=variable)
        return block.values[variable.name]

    def load(self, block: _BlockBuilder, load: ir.Load) -> int:
        subscripts = tuple(self.value(block, i, load.line) for i in load.indices)
        address = self.address(block, load.array, load.indices, load.line)
        when = None if load.predicate is None else self.value(block, load.predicate, load.line)
        return block.add(
            "load",
            (address,),
            load.array.type,
            load.line,
            predicate=when,
            symbol=load.array,
            subscripts=subscripts,
        )

    def binary(self, block: _BlockBuilder, expression: ir.Binary, line: int) -> int:
        left = self.value(block, expression.left, line)
        right = expression.right
        if expression.operator in ("div", "rem") and isinstance(right, ir.Constant):
            quotient = block.add("divc", (left,), expression.type, line, value=right.value)
            if expression.operator == "div":
                return quotient
            divisor = self.value(block, right, line)
            product = block.add("mul", (quotient, divisor), expression.type, line)
            return block.add("sub", (left, product), expression.type, line)
        return block.add(expression.operator, (left, self.value(block, right, line)), expression.type, line)

    def address(
        self, block: _BlockBuilder, array: ir.Array, indices: tuple[ir.Expression, ...], line: int
    ) -> int:
        """Row-major element number."""
        total = indices[0]
        for size, index in zip(array.shape[1:], indices[1:], strict=True):
            scaled = make_binary("mul", total, ir.Constant(value=size))
            total = make_binary("add", scaled, index)
        return self.value(block, total, line)


def lower(function: ir.Function, intervals: Mapping[str, int]) -> Cdfg:
    """Lower a function to its control/data-flow graph.

    Args:    intervals: requested initiation interval of each loop to be pipelined, by loop name. Only
             loops whose body becomes one block take it; the caller checks which did.
    Returns: the graph, without unreachable blocks, dead operations and dead variables.
    """
    return remove_dead(thread_jumps(_Lowering(function=function, intervals=intervals).run()))


def _is_empty(block: Block) -> bool:
    return not block.operations and isinstance(block.terminator, Jump)


def thread_jumps(graph: Cdfg) -> Cdfg:
    """Skip blocks that only jump, and drop the blocks nothing reaches."""

    def final(index: int) -> int:
        seen: set[int] = set()
        while _is_empty(graph.blocks[index]) and index not in seen:
            seen.add(index)
            index = graph.blocks[index].successors[0]
        return index

    order: dict[int, int] = {}
    stack = [final(0)]
    while stack:
        index = stack.pop()
        if index not in order:
            order[index] = 0
            stack.extend(final(s) for s in reversed(graph.blocks[index].successors))
    kept = [final(0), *sorted(i for i in order if i != final(0))]
    number = {old: new for new, old in enumerate(kept)}

    def retarget(terminator: Terminator) -> Terminator:
        match terminator:
            case Jump():
                return Jump(target=number[final(terminator.target)])
            case Branch():
                return Branch(
                    condition=terminator.condition,
                    if_true=number[final(terminator.if_true)],
                    if_false=number[final(terminator.if_false)],
                )
            case Finish():
                return terminator

    blocks = tuple(
        replace(graph.blocks[old], index=new, terminator=retarget(graph.blocks[old].terminator))
        for old, new in number.items()
    )
    return Cdfg(function=graph.function, blocks=blocks)


def live_out(graph: Cdfg) -> list[frozenset[str]]:
    """Names of the variables whose value is needed after each block (backward data flow)."""
    reads = [{o.name for o in b.operations if o.opcode == "read"} for b in graph.blocks]
    writes = [{o.name for o in b.operations if o.opcode == "write"} for b in graph.blocks]
    out: list[frozenset[str]] = [frozenset() for _ in graph.blocks]
    changed = True
    while changed:
        changed = False
        for block in reversed(graph.blocks):
            needed = frozenset(
                name
                for successor in block.successors
                for name in reads[successor] | (out[successor] - writes[successor])
            )
            if needed != out[block.index]:
                out[block.index] = needed
                changed = True
    return out


def remove_dead(graph: Cdfg) -> Cdfg:
    """Drop writes of variables nobody reads later, and operations nobody uses, to a fixed point."""
    while True:
        live = live_out(graph)
        blocks = tuple(_prune(b, live[b.index]) for b in graph.blocks)
        if blocks == graph.blocks:
            return graph
        graph = Cdfg(function=graph.function, blocks=blocks)


def _prune(block: Block, live: frozenset[str]) -> Block:
    needed: set[int] = set()
    match block.terminator:
        case Branch():
            needed.add(block.terminator.condition)
        case Finish() if block.terminator.value is not None:
            needed.add(block.terminator.value)
        case _:
            pass
    for operation in reversed(block.operations):
        rooted = operation.opcode == "store" or (operation.opcode == "write" and operation.name in live)
        if rooted:
            needed.add(operation.index)
        if operation.index in needed:
            needed.update(operation.inputs)
            needed.update(operation.subscripts)
    return _renumber(block, needed)


def _renumber(block: Block, needed: set[int]) -> Block:
    kept = [o for o in block.operations if o.index in needed]
    number = {o.index: new for new, o in enumerate(kept)}
    operations = tuple(
        replace(
            o,
            index=number[o.index],
            operands=tuple(number[i] for i in o.operands),
            predicate=None if o.predicate is None else number[o.predicate],
            subscripts=tuple(number[i] for i in o.subscripts),
        )
        for o in kept
    )
    terminator = block.terminator
    if isinstance(terminator, Branch):
        terminator = replace(terminator, condition=number[terminator.condition])
    elif isinstance(terminator, Finish) and terminator.value is not None:
        terminator = Finish(value=number[terminator.value])
    return replace(block, operations=operations, terminator=terminator)
