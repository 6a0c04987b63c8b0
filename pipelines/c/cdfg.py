"""The control/data-flow graph: basic blocks of operations, joined by jumps and branches.

Inside a block a value is the index of the operation that computes it. Between blocks values travel in
variables: `read` gives a variable's value at the block's start, `write` sets it for the following blocks. A
block that branches to itself is one iteration of a loop and may be pipelined.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.c.arithmetic import evaluate, wrap
from pipelines.c.errors import HlsError
from pipelines.c.ir import COMPARISONS, Array, Function, NestLevel, Variable
from pipelines.c.signature import INT32, ScalarType

MEMORY_OPCODES = ("load", "store")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a block.

    Attributes:
        index: position in the block; operands have smaller indices.
        opcode: `const`, `read`, `write`, `load`, `store`, `select`, `neg`, `not`, `abs`, `sqrt`, `cast` (to
            `type`, by value), `bits` (to `type`, the bits stay), `divc` (integer division by a constant), or
            a binary operator of the IR.
        operands: indices of the operations whose values it uses. load: the address; store: address, value;
            write: value; select: condition, if true, if false.
        predicate: index of the value that enables a load or store when it is not zero.
        type: type of the value; None for store and write. Before narrowing it is the C type and a
            comparison is an INT32; after narrowing an integer type is the smallest that holds every value
            the operation can give, so that the number stays the same; where only some low bits are used, it
            is an unsigned type of that many bits.
        symbol: the variable of read and write, the array of load and store.
        value: the constant of const (bits when floating), the divisor of divc.
        subscripts: for load and store, the index value of each dimension.
        cut_from: the type that holds the whole number, when `type` holds only the low bits that are used;
            subscripts are whole numbers.
        line: line in the C source.
    """

    index: int
    opcode: str
    operands: tuple[int, ...]
    type: ScalarType | None
    line: int
    predicate: int | None = None
    symbol: Variable | Array | None = None
    value: int | None = None
    subscripts: tuple[int, ...] = ()
    cut_from: ScalarType | None = None

    @property
    def inputs(self) -> tuple[int, ...]:
        """Every value the operation needs when it starts."""
        return self.operands if self.predicate is None else (*self.operands, self.predicate)

    @property
    def name(self) -> str:
        """Name of the variable or array, empty when there is none."""
        return self.symbol.name if self.symbol is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jump:
    """Continue with another block."""

    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Continue with one of two blocks, chosen by a value of this block."""

    condition: int
    if_true: int
    if_false: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The function ends; `value` is the operation whose value it returns."""

    value: int | None


Terminator = Jump | Branch | Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A basic block.

    Attributes:
        index: position in the graph; names: `b0`, `b1`, ….
        loop: name of the innermost loop around the block.
        interval: requested initiation interval when the block is a pipelined loop, else None.
        trip_count: iterations of a loop block when known.
        nest: the loops a flattened loop block stands for, outermost first; else empty.
    """

    index: int
    operations: tuple[Operation, ...]
    terminator: Terminator
    loop: str | None
    line: int
    interval: int | None = None
    trip_count: int | None = None
    nest: tuple[NestLevel, ...] = ()

    @property
    def name(self) -> str:
        """Name of the block in reports and Verilog."""
        return f"b{self.index}"

    @property
    def successors(self) -> tuple[int, ...]:
        """Indices of the blocks that may follow."""
        match self.terminator:
            case Jump():
                return (self.terminator.target,)
            case Branch():
                return (self.terminator.if_true, self.terminator.if_false)
            case Finish():
                return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdfg:
    """A whole function; block 0 is where it starts."""

    function: Function
    blocks: tuple[Block, ...]

    @property
    def loaded_arrays(self) -> frozenset[str]:
        """Names of the arrays some operation loads."""
        return frozenset(o.name for b in self.blocks for o in b.operations if o.opcode == "load")

    @property
    def stored_arrays(self) -> frozenset[str]:
        """Names of the arrays some operation stores."""
        return frozenset(o.name for b in self.blocks for o in b.operations if o.opcode == "store")

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Variables that need a register, in order of first write."""
        by_name: dict[str, Variable] = {}
        for block in self.blocks:
            for operation in block.operations:
                if operation.opcode in ("read", "write") and isinstance(operation.symbol, Variable):
                    by_name.setdefault(operation.symbol.name, operation.symbol)
        return tuple(by_name.values())


_COMMUTATIVE = ("add", "mul", "and", "or", "xor", "eq", "ne")
_SAME_WITH_ZERO = ("add", "sub", "or", "xor", "shl", "shr")


@dataclass(slots=True)
class BlockBuilder:
    """A block that is being filled.

    Attributes:
        known: index of the operation by what it computes; values: of variables in this block so far; written:
            variable, value and line of the last assignment per variable.
    """

    index: int
    loop: str | None
    line: int
    operations: list[Operation] = field(default_factory=list[Operation])
    known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])
    values: dict[str, int] = field(default_factory=dict[str, int])
    written: dict[str, tuple[Variable, int, int]] = field(
        default_factory=dict[str, tuple[Variable, int, int]]
    )
    memory_epoch: dict[str, int] = field(default_factory=dict[str, int])
    terminator: Terminator | None = None
    interval: int | None = None
    trip_count: int | None = None
    nest: tuple[NestLevel, ...] = ()

    def fall_through(self, after: BlockBuilder) -> None:
        """Continue with another block unless this one already has a terminator."""
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
        symbol: Variable | Array | None = None,
        value: int | None = None,
        subscripts: tuple[int, ...] = (),
    ) -> int:
        """Append an operation, or return the equal one that the block already has."""
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

    # ---- values -----------------------------------------------------------------------------------

    def type(self, index: int) -> ScalarType:
        """Return the type of a value."""
        return self.operations[index].type or INT32

    def constant(self, index: int) -> int | None:
        """Return the number of a constant integer value, None for any other value."""
        operation = self.operations[index]
        return operation.value if operation.opcode == "const" and not self.type(index).floating else None

    def number(self, value: int, kind: ScalarType, line: int) -> int:
        """Return a constant."""
        return self.add("const", (), kind, line, value=value)

    def binary(self, opcode: str, left: int, right: int, line: int) -> int:
        """Return a binary operator; integers are folded for constant operands and identity elements."""
        kind = self.type(left)
        result = INT32 if opcode in COMPARISONS else kind
        if kind.floating:
            return self.add(opcode, (left, right), result, line)
        a, b = self.constant(left), self.constant(right)
        if a is not None and b is not None:
            value = evaluate(opcode, a, b, result)
            if value is not None:
                return self.number(value, result, line)
        if opcode in _COMMUTATIVE and (a is not None or (b is None and left > right)):
            left, right, a, b = right, left, b, a
        if b is not None:
            if b == 0 and opcode in _SAME_WITH_ZERO:
                return left
            if opcode in ("mul", "and") and b == 0:
                return right
            if opcode in ("mul", "div") and b == 1:
                return left
            if opcode in ("div", "rem") and b == 0:
                raise HlsError("a constant divisor must not be zero", "0", line=line)
            if opcode in ("div", "rem"):
                return self._constant_quotient(opcode, left, b, line)
        return self.add(opcode, (left, right), result, line)

    def unary(self, opcode: str, operand: int, line: int) -> int:
        """Return a unary operator, folded for integers."""
        kind, value = self.type(operand), self.constant(operand)
        if value is not None and opcode in ("neg", "not"):
            return self.number(wrap(-value if opcode == "neg" else ~value, kind), kind, line)
        return self.add(opcode, (operand,), kind, line)

    def cast(self, operand: int, kind: ScalarType, line: int) -> int:
        """Return a value converted to a type; an integer to an integer wraps."""
        if self.type(operand) == kind:
            return operand
        value = self.constant(operand)
        if value is not None and not kind.floating:
            return self.number(wrap(value, kind), kind, line)
        return self.add("cast", (operand,), kind, line)

    def select(self, condition: int, if_true: int, if_false: int, line: int) -> int:
        """Return a selection between two values of one type."""
        value = self.constant(condition)
        if value is not None:
            return if_true if value else if_false
        if if_true == if_false:
            return if_true
        return self.add("select", (condition, if_true, if_false), self.type(if_true), line)

    # ---- division by constants --------------------------------------------------------------------

    def _constant_quotient(self, opcode: str, left: int, divisor: int, line: int) -> int:
        """Return quotient or remainder by a constant: shifts for a power of two, else a unit of its own."""
        if abs(divisor) & (abs(divisor) - 1) == 0:
            return self._by_power_of_two(opcode, left, divisor, line)
        kind = self.type(left)
        quotient = self.add("divc", (left,), kind, line, value=divisor)
        if opcode == "div":
            return quotient
        product = self.binary("mul", quotient, self.number(divisor, kind, line), line)
        return self.binary("sub", left, product, line)

    def _by_power_of_two(self, opcode: str, left: int, divisor: int, line: int) -> int:
        """Divide by a power of two, toward zero: add 2^k - 1 to a negative dividend before dropping bits."""
        kind, shift = self.type(left), abs(divisor).bit_length() - 1
        mask = self.number(wrap((1 << shift) - 1, kind), kind, line)
        bias = self.number(0, kind, line)
        if kind.signed:
            sign = self.binary("shr", left, self.number(kind.width_bits - 1, kind, line), line)
            bias = self.binary("and", sign, mask, line)
        biased = self.binary("add", left, bias, line)
        if opcode == "rem":
            return self.binary("sub", self.binary("and", biased, mask, line), bias, line)
        quotient = self.binary("shr", biased, self.number(shift, kind, line), line)
        return self.unary("neg", quotient, line) if divisor < 0 else quotient

    # ---- the result -------------------------------------------------------------------------------

    def finish(self) -> Block:
        """Return the finished block, with a write of each variable that it assigned."""
        for variable, value, line in self.written.values():
            self.add("write", (value,), None, line, symbol=variable)
        assert self.terminator is not None
        return Block(
            index=self.index,
            operations=tuple(self.operations),
            terminator=self.terminator,
            loop=self.loop,
            line=self.line,
            interval=self.interval,
            trip_count=self.trip_count,
            nest=self.nest,
        )
