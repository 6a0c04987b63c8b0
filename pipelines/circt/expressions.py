"""Expressions of the structured IR as operations of MLIR's arith and memref dialects.

MLIR's integers have no sign: the type of the IR chooses the operation. Arrays are one-dimensional; the
address of an element is computed with shifts and additions where its extents have few bits set, because a
product costs both flows whole cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.c import ir
from pipelines.c.signature import INT32, ScalarType


class NotLowered(ValueError):
    """A program has a construct that is not lowered to MLIR; the message is `<rule>, got <value> (line)`."""

    def __init__(self, rule: str, got: str, *, line: int | None = None) -> None:
        place = "" if line is None else f" (line {line})"
        super().__init__(f"{rule}, got {got}{place}")


MAXIMUM_SHIFTS = 3
"""Maximum terms of the sum that replaces a product with a constant extent."""

_SAME = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
    "shl": "shli",
}
_BY_SIGN = {
    "div": ("divsi", "divui"),
    "rem": ("remsi", "remui"),
    "shr": ("shrsi", "shrui"),
}
_PREDICATES = {
    "eq": ("eq", "eq"),
    "ne": ("ne", "ne"),
    "lt": ("slt", "ult"),
    "le": ("sle", "ule"),
    "gt": ("sgt", "ugt"),
    "ge": ("sge", "uge"),
}


def type_text(kind: ScalarType) -> str:
    """Return MLIR's name of a type.

    Raises: NotLowered: a floating type.
    """
    if kind.floating:
        rule = "a program for CIRCT must have integers only (its flows legalise no floating operation)"
        raise NotLowered(rule, kind.c_name)
    return f"i{kind.width_bits}"


def memory_size(array: ir.Array) -> int:
    """Return the elements of the memory of an array: at least two, so that its address has a bit."""
    return max(2, array.element_count)


def memory_type(array: ir.Array) -> str:
    """Return MLIR's type of an array."""
    return f"memref<{memory_size(array)}x{type_text(array.type)}>"


@dataclass(slots=True)
class Values:
    """Lines of operations, with a new name for each value.

    Attributes:
        memories: name of the value of each array's memory, by the array's name.
        swapped_quotients: the flow takes `divsi` for the unsigned quotient and `divui` for the signed one.
        values: the current value of each variable.
    """

    memories: Mapping[str, str]
    swapped_quotients: bool = False
    values: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def fresh(self) -> str:
        """Return a new name."""
        self.count += 1
        return f"%v{self.count}"

    def line(self, text: str) -> None:
        """Add one line."""
        self.lines.append(text)

    def new(self, operation: str) -> str:
        """Return a value that an operation gives."""
        name = self.fresh()
        self.line(f"{name} = {operation}")
        return name

    # ---- leaves -----------------------------------------------------------------------------------

    def constant(self, value: int, kind: ScalarType) -> str:
        """Return an integer constant."""
        signed = value - (1 << kind.width_bits) if value >> (kind.width_bits - 1) > 0 else value
        return self.new(f"arith.constant {signed} : {type_text(kind)}")

    def truth(self, value: bool) -> str:
        """Return a constant of one bit."""
        return self.new(f"arith.constant {'true' if value else 'false'}")

    def variable(self, variable: ir.Variable) -> str:
        """Return the current value; zero when it was never set."""
        if variable.name not in self.values:
            self.values[variable.name] = self.constant(0, variable.type)
        return self.values[variable.name]

    # ---- operators --------------------------------------------------------------------------------

    def value(self, expression: ir.Expression) -> str:
        """Return the value of an expression."""
        match expression:
            case ir.Constant():
                return self.constant(expression.value, expression.type)
            case ir.Read():
                return self.variable(expression.variable)
            case ir.Load():
                return self.load(expression)
            case ir.Cast():
                return self.cast(
                    self.value(expression.operand), ir.type_of(expression.operand), expression.type
                )
            case ir.Unary():
                return self.unary(expression)
            case ir.Binary():
                return self.binary(expression)
            case ir.Select():
                chosen = self.condition(expression.condition)
                values = f"{self.value(expression.if_true)}, {self.value(expression.if_false)}"
                return self.new(f"arith.select {chosen}, {values} : {type_text(expression.type)}")

    def condition(self, expression: ir.Expression) -> str:
        """Return one bit: the value is not zero."""
        if isinstance(expression, ir.Binary) and expression.operator in ir.COMPARISONS:
            return self.comparison(expression)
        kind = ir.type_of(expression)
        value = self.value(expression)
        return self.new(f"arith.cmpi ne, {value}, {self.constant(0, kind)} : {type_text(kind)}")

    def comparison(self, expression: ir.Binary) -> str:
        """Return one bit: the comparison holds."""
        kind = ir.type_of(expression.left)
        predicate = _PREDICATES[expression.operator][0 if kind.signed else 1]
        operands = f"{self.value(expression.left)}, {self.value(expression.right)}"
        return self.new(f"arith.cmpi {predicate}, {operands} : {type_text(kind)}")

    def binary(self, expression: ir.Binary) -> str:
        """Return the value of a binary operator; a comparison gives 0 or 1."""
        operator, kind = expression.operator, expression.type
        if operator in ir.COMPARISONS:
            return self.new(f"arith.extui {self.comparison(expression)} : i1 to {type_text(kind)}")
        name = _SAME.get(operator) or _BY_SIGN[operator][0 if kind.signed else 1]
        left, right = self.value(expression.left), self.value(expression.right)
        if self.swapped_quotients:
            name = {"divsi": "divui", "divui": "divsi"}.get(name, name)
        return self.new(f"arith.{name} {left}, {right} : {type_text(kind)}")

    def unary(self, expression: ir.Unary) -> str:
        """Return `neg` and `not` of an integer."""
        kind = type_text(expression.type)
        operand = self.value(expression.operand)
        if expression.operator == "neg":
            return self.new(f"arith.subi {self.constant(0, expression.type)}, {operand} : {kind}")
        return self.new(f"arith.xori {operand}, {self.constant(-1, expression.type)} : {kind}")

    def cast(self, value: str, source: ScalarType, target: ScalarType) -> str:
        """Return an integer of another width; a change of sign alone changes no bit."""
        before, after = type_text(source), type_text(target)
        if source.width_bits == target.width_bits:
            return value
        narrower = source.width_bits > target.width_bits
        name = "trunci" if narrower else "extsi" if source.signed else "extui"
        return self.new(f"arith.{name} {value} : {before} to {after}")

    # ---- memory -----------------------------------------------------------------------------------

    def address(self, access: ir.Load | ir.Store) -> str:
        """Return the address of an element."""
        offset = self.value(access.indices[0])
        for extent, index in zip(access.array.shape[1:], access.indices[1:], strict=True):
            inner = self.value(index)
            offset = self.new(f"arith.addi {self.scaled(offset, extent)}, {inner} : i32")
        if isinstance(access, ir.Load) and access.predicate is not None:
            # the element is read anyway, but from an address in range
            holds = self.condition(access.predicate)
            offset = self.new(f"arith.select {holds}, {offset}, {self.constant(0, INT32)} : i32")
        return self.new(f"arith.index_cast {offset} : i32 to index")

    def scaled(self, value: str, extent: int) -> str:
        """Return a value times the extent of a dimension."""
        shifts = [k for k in range(extent.bit_length()) if extent >> k & 1]
        if len(shifts) > MAXIMUM_SHIFTS:
            return self.new(f"arith.muli {value}, {self.constant(extent, INT32)} : i32")
        terms = [
            value if k == 0 else self.new(f"arith.shli {value}, {self.constant(k, INT32)} : i32")
            for k in shifts
        ]
        total = terms[0]
        for term in terms[1:]:
            total = self.new(f"arith.addi {total}, {term} : i32")
        return total

    def load(self, access: ir.Load) -> str:
        """Load the value of an element."""
        memory = self.memories[access.array.name]
        address = self.address(access)
        return self.new(f"memref.load {memory}[{address}] : {memory_type(access.array)}")

    def store(self, access: ir.Store) -> None:
        """Give an element a value."""
        value = self.value(access.value)
        memory = self.memories[access.array.name]
        address = self.address(access)
        self.line(f"memref.store {value}, {memory}[{address}] : {memory_type(access.array)}")
