"""Structured IR to the control/data-flow graph.

A loop is rotated: its condition is tested once before, then at the end of the body, so that a body without
inner control flow is one block that branches to itself. An address is the row-major element number; a
dimension of 2^k elements takes the low k bits of its index, so that such addresses need no adders. A local
memory has no reset: loops at the start of the function store its initial values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary
from pipelines.c.cdfg import BlockBuilder, Branch, Cdfg, Finish, Jump
from pipelines.c.signature import INT32, ScalarType
from pipelines.hls.cleanup import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filling:
    """Statements that fill one array."""

    statements: tuple[ir.Statement, ...]
    loop: str
    table: ir.Array | None


def store_initial_values(function: ir.Function) -> tuple[ir.Function, tuple[str, ...]]:
    """Replace the initial values of stored arrays by loops that store them.

    Returns: the function, and the names of the new innermost loops.
    """
    stored = ir.stored_arrays(function.body)
    arrays: list[ir.Array] = []
    tables: list[ir.Array] = []
    before: list[ir.Statement] = []
    loops: list[str] = []
    names = set(ir.all_names(function))
    for array in function.arrays:
        if array.external or array.initial is None or array.name not in stored:
            arrays.append(array)
            continue
        arrays.append(replace(array, initial=None))
        filling = _fill(array, names)
        before += filling.statements
        loops.append(filling.loop)
        tables += [filling.table] if filling.table is not None else []
    if not before:
        return function, ()
    plain = {a.name: a for a in arrays}
    body = _with_arrays(function.body, plain)
    whole = replace(function, arrays=(*arrays, *tables), body=(*_with_arrays(tuple(before), plain), *body))
    return whole, tuple(loops)


def _fresh(stem: str, names: set[str]) -> str:
    name, number = stem, 0
    while name in names:
        number += 1
        name = f"{stem}_{number}"
    names.add(name)
    return name


def _fill(array: ir.Array, names: set[str]) -> _Filling:
    """Return a loop nest that stores every initial value of an array; missing ones are zero."""
    initial = array.initial or ()
    values = initial + (0,) * (array.element_count - len(initial))
    table = None
    if len(set(values)) > 1:
        table = replace(array, name=_fresh(f"{array.name}_start", names), initial=values)
    variables = [ir.Variable(name=_fresh(f"{array.name}_{k}", names)) for k in range(len(array.shape))]
    indices = tuple(ir.Read(variable=v) for v in variables)
    value: ir.Expression = ir.Constant(value=values[0], type=array.type)
    if table is not None:
        value = ir.Load(array=table, indices=indices, line=0)
    statement: ir.Statement = ir.Store(array=array, indices=indices, value=value, line=0)
    innermost = ""
    for variable, size in reversed(list(zip(variables, array.shape, strict=True))):
        name = _fresh(f"fill_{array.name}", names)
        innermost = innermost or name
        statement = ir.For(
            name=name,
            body=(statement,),
            line=0,
            variable=variable,
            lower=ir.Constant(value=0),
            comparison="lt",
            upper=ir.Constant(value=size, type=INT32),
            step=1,
        )
    return _Filling(statements=(statement,), loop=innermost, table=table)


def _with_arrays(body: tuple[ir.Statement, ...], arrays: dict[str, ir.Array]) -> tuple[ir.Statement, ...]:
    """Return the body with its loads and stores referring to the new arrays."""

    def present(part: ir.Expression) -> ir.Expression:
        if isinstance(part, ir.Load) and part.array.name in arrays:
            return replace(part, array=arrays[part.array.name])
        return part

    def visit(statement: ir.Statement) -> tuple[ir.Statement, ...]:
        if isinstance(statement, ir.Store) and statement.array.name in arrays:
            statement = replace(statement, array=arrays[statement.array.name])
        return (ir.map_own_expressions(statement, lambda e: ir.map_expression(e, present)),)

    return ir.map_statements(body, visit)


@dataclass(slots=True)
class _Lowering:
    function: ir.Function
    intervals: Mapping[str, int]
    blocks: list[BlockBuilder] = field(default_factory=list[BlockBuilder])
    loops: list[str] = field(default_factory=list[str])
    exits: dict[str, int] = field(default_factory=dict[str, int])
    names: set[str] = field(init=False)
    stored: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = set(ir.all_names(self.function))
        self.stored = ir.stored_arrays(self.function.body)

    # ---- blocks -----------------------------------------------------------------------------------

    def new_block(self, line: int) -> BlockBuilder:
        loop = self.loops[-1] if self.loops else None
        block = BlockBuilder(index=len(self.blocks), loop=loop, line=line)
        self.blocks.append(block)
        return block

    def run(self) -> Cdfg:
        block = self.lower_body(self.function.body, self.new_block(0))
        if block.terminator is None:
            block.terminator = Finish(value=None)
        return Cdfg(function=self.function, blocks=tuple(b.finish() for b in self.blocks))

    # ---- statements -------------------------------------------------------------------------------

    def lower_body(self, body: tuple[ir.Statement, ...], block: BlockBuilder) -> BlockBuilder:
        """Lower statements into a block; returns the block where control continues."""
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

    def lower_block(self, statement: ir.Block, block: BlockBuilder) -> BlockBuilder:
        after = self.new_block(statement.line)
        self.exits[statement.label] = after.index
        end = self.lower_body(statement.body, block)
        end.fall_through(after)
        return after

    def assign(self, block: BlockBuilder, variable: ir.Variable, value: ir.Expression, line: int) -> None:
        index = self.value(block, value, line)
        block.values[variable.name] = index
        block.written[variable.name] = (variable, index, line)

    def store(self, block: BlockBuilder, store: ir.Store) -> None:
        subscripts = tuple(self.value(block, i, store.line) for i in store.indices)
        value = self.value(block, store.value, store.line)
        when = None if store.predicate is None else self.value(block, store.predicate, store.line)
        if when is not None and block.constant(when) is not None:
            if block.constant(when) == 0:
                return
            when = None
        block.add(
            "store",
            (self.address(block, store.array, subscripts, store.line), value),
            None,
            store.line,
            predicate=when,
            symbol=store.array,
            subscripts=subscripts,
        )

    def lower_if(self, statement: ir.If, block: BlockBuilder) -> BlockBuilder:
        condition = self.value(block, statement.condition, statement.line)
        then = self.new_block(statement.line)
        then_end = self.lower_body(statement.then, then)
        otherwise = self.new_block(statement.line) if statement.otherwise else None
        otherwise_end = self.lower_body(statement.otherwise, otherwise) if otherwise is not None else None
        after = self.new_block(statement.line)
        then_end.fall_through(after)
        if otherwise_end is not None:
            otherwise_end.fall_through(after)
        skip = after if otherwise is None else otherwise
        block.terminator = Branch(condition=condition, if_true=then.index, if_false=skip.index)
        return after

    def lower_for(self, loop: ir.For, block: BlockBuilder) -> BlockBuilder:
        upper = self.settled_bound(loop, block)
        self.assign(block, loop.variable, loop.lower, loop.line)
        read = ir.Read(variable=loop.variable)
        step = ir.Assign(
            variable=loop.variable,
            value=make_binary("add", read, ir.Constant(value=loop.step, type=loop.variable.type)),
            line=loop.line,
        )
        trips = loop.trip_count
        comparison = loop.comparison
        if comparison == "ne" and trips is not None:
            comparison = "lt" if loop.step > 0 else "gt"  # the bound is met exactly; an order shows it
        again = make_binary(comparison, read, upper)
        if trips == 0:
            return block
        return self.rotated(
            loop, (*loop.body, step), again, block, guard=None if trips else again, trips=trips
        )

    def settled_bound(self, loop: ir.For, block: BlockBuilder) -> ir.Expression:
        """Return the bound, computed once before the loop unless it is a constant or a variable."""
        if isinstance(loop.upper, ir.Constant | ir.Read):
            return loop.upper
        bound = ir.Variable(name=_fresh(f"{loop.variable.name}_end", self.names), type=ir.type_of(loop.upper))
        self.assign(block, bound, loop.upper, loop.line)
        return ir.Read(variable=bound)

    def lower_while(self, loop: ir.While, block: BlockBuilder) -> BlockBuilder:
        guard = loop.condition if loop.test_first else None
        return self.rotated(loop, loop.body, loop.condition, block, guard=guard, trips=None)

    def rotated(
        self,
        loop: ir.For | ir.While,
        body: tuple[ir.Statement, ...],
        again: ir.Expression,
        block: BlockBuilder,
        *,
        guard: ir.Expression | None,
        trips: int | None,
    ) -> BlockBuilder:
        """Return `if (guard) do body while (again)`."""
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

    def value(self, block: BlockBuilder, expression: ir.Expression, line: int) -> int:
        """Return the index of the operation that computes an expression; operands first, each object once."""
        done: dict[int, int] = {}
        stack = [expression]
        while stack:
            part = stack[-1]
            children = ir.child_expressions(part)
            waiting = [c for c in children if id(c) not in done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if id(part) not in done:
                done[id(part)] = self.computed(block, part, tuple(done[id(c)] for c in children), line)
        return done[id(expression)]

    def computed(
        self, block: BlockBuilder, expression: ir.Expression, parts: tuple[int, ...], line: int
    ) -> int:
        """Return the operation of an expression whose operands are values of the block."""
        match expression:
            case ir.Constant():
                return block.number(expression.value, expression.type, line)
            case ir.Read():
                return self.read(block, expression.variable, line)
            case ir.Load():
                return self.load(block, expression, parts)
            case ir.Unary():
                return block.unary(expression.operator, parts[0], line)
            case ir.Cast() if expression.bits:
                return block.add("bits", parts, expression.type, line)
            case ir.Cast():
                return block.cast(parts[0], expression.type, line)
            case ir.Binary():
                return block.binary(expression.operator, parts[0], parts[1], line)
            case ir.Select():
                return block.select(parts[0], parts[1], parts[2], line)

    def read(self, block: BlockBuilder, variable: ir.Variable, line: int) -> int:
        if variable.name not in block.values:
            block.values[variable.name] = block.add("read", (), variable.type, line, symbol=variable)
        return block.values[variable.name]

    def load(self, block: BlockBuilder, load: ir.Load, parts: tuple[int, ...]) -> int:
        subscripts = parts[: len(load.indices)]
        when = None if load.predicate is None else parts[-1]
        address = self.address(block, load.array, subscripts, load.line)
        known = self.table_value(block, load.array, address)
        if known is not None:
            return block.number(known, load.array.type, load.line)
        if when is not None and block.constant(when):
            when = None
        return block.add(
            "load",
            (address,),
            load.array.type,
            load.line,
            predicate=when,
            symbol=load.array,
            subscripts=subscripts,
        )

    def table_value(self, block: BlockBuilder, array: ir.Array, address: int) -> int | None:
        """Return an element of a table of constants at a constant position; zero past the initial values."""
        place = block.constant(address)
        if place is None or array.initial is None or array.name in self.stored:
            return None
        return array.initial[place] if place < len(array.initial) else 0

    def address(self, block: BlockBuilder, array: ir.Array, subscripts: tuple[int, ...], line: int) -> int:
        """Return row-major element number of subscripts that are in bounds, as wide as the array needs."""
        total: int | None = None
        for size, subscript in zip(array.shape, subscripts, strict=True):
            index = block.cast(subscript, INT32, line)
            if size & (size - 1) == 0:
                bits = size.bit_length() - 1
                kind = ScalarType(width_bits=max(1, bits), signed=False)
                low = (
                    block.cast(block.cast(index, kind, line), INT32, line)
                    if bits
                    else block.number(0, INT32, line)
                )
                total = low if total is None else self._appended(block, total, low, bits, line)
            elif total is None:
                total = index
            else:
                row = block.binary("mul", total, block.number(size, INT32, line), line)
                total = block.binary("add", row, index, line)
        bits = max(1, (array.element_count - 1).bit_length())
        return block.cast(total or 0, ScalarType(width_bits=bits, signed=False), line)

    def _appended(self, block: BlockBuilder, high: int, low: int, bits: int, line: int) -> int:
        raised = block.binary("shl", high, block.number(bits, INT32, line), line)
        return block.binary("or", raised, low, line)


def lower(function: ir.Function, intervals: Mapping[str, int]) -> Cdfg:
    """Lower a function to its control/data-flow graph.

    Args:    intervals: requested initiation interval of each loop to be pipelined, by loop name. Only
             loops whose body becomes one block take it; the caller checks which did.
    Returns: the graph, without unreachable blocks, dead operations and dead variables.
    """
    prepared, own_loops = store_initial_values(function)
    requested = {**dict.fromkeys(own_loops, 1), **intervals}
    return clean(_Lowering(function=prepared, intervals=requested).run())
