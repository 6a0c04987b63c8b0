"""A basic block while it is filled: operations, value numbering, folding of constants."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.hls.arithmetic import evaluate, wrap
from pipelines.hls.cdfg import Block, Jump, Operation, Terminator
from pipelines.hls.errors import HlsError
from pipelines.hls.ir import COMPARISONS, Array, NestLevel, Variable
from pipelines.interface import INT32, ScalarType

_COMMUTATIVE = ("add", "mul", "and", "or", "xor", "eq", "ne")
_SAME_WITH_ZERO = ("add", "sub", "or", "xor", "shl", "shr")


@dataclass(slots=True)
class BlockBuilder:
    """A block that is being filled.

    Attributes:
        known: index of the operation that does the same; values: of variables in this block so far;
        written: variable, value and line of the last assignment to each.
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

    def go_on(self, after: BlockBuilder) -> None:
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
        symbol: Variable | Array | None = None,
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

    # ---- values -----------------------------------------------------------------------------------

    def type(self, index: int) -> ScalarType:
        """Type of a value."""
        return self.operations[index].type or INT32

    def constant(self, index: int) -> int | None:
        """The number of a constant integer value, None of any other value."""
        operation = self.operations[index]
        return operation.value if operation.opcode == "const" and not self.type(index).floating else None

    def number(self, value: int, kind: ScalarType, line: int) -> int:
        """A constant."""
        return self.add("const", (), kind, line, value=value)

    def binary(self, opcode: str, left: int, right: int, line: int) -> int:
        """A binary operator; integers are folded where operands are constant or do not change the other."""
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
        """A unary operator, folded for integers."""
        kind, value = self.type(operand), self.constant(operand)
        if value is not None and opcode in ("neg", "not"):
            return self.number(wrap(-value if opcode == "neg" else ~value, kind), kind, line)
        return self.add(opcode, (operand,), kind, line)

    def cast(self, operand: int, kind: ScalarType, line: int) -> int:
        """A value converted to a type; an integer to an integer wraps."""
        if self.type(operand) == kind:
            return operand
        value = self.constant(operand)
        if value is not None and not kind.floating:
            return self.number(wrap(value, kind), kind, line)
        return self.add("cast", (operand,), kind, line)

    def select(self, condition: int, if_true: int, if_false: int, line: int) -> int:
        """One of two values of a type."""
        value = self.constant(condition)
        if value is not None:
            return if_true if value else if_false
        if if_true == if_false:
            return if_true
        return self.add("select", (condition, if_true, if_false), self.type(if_true), line)

    # ---- division by constants --------------------------------------------------------------------

    def _constant_quotient(self, opcode: str, left: int, divisor: int, line: int) -> int:
        """Quotient or remainder by a constant: shifts for a power of two, else a unit of its own."""
        if abs(divisor) & (abs(divisor) - 1) == 0:
            return self._by_power_of_two(opcode, left, divisor, line)
        kind = self.type(left)
        quotient = self.add("divc", (left,), kind, line, value=divisor)
        if opcode == "div":
            return quotient
        product = self.binary("mul", quotient, self.number(divisor, kind, line), line)
        return self.binary("sub", left, product, line)

    def _by_power_of_two(self, opcode: str, left: int, divisor: int, line: int) -> int:
        """C rounds toward zero: 2^k - 1 is added to a negative dividend before its low bits go."""
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
        """The block, with a write of each variable it gave a value."""
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
