"""Rules that simplify expressions without changing their values.

No rule changes a floating value; integer rules hold modulo 2^width, because arithmetic wraps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.c import ir
from pipelines.c.arithmetic import (
    make_binary,
    make_bit_cast,
    make_cast,
    make_select,
    make_unary,
    value_range,
    wrap,
)
from pipelines.c.signature import INT32, ScalarType

Interval = tuple[int, int]

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_ZERO = ir.Constant(value=0)


def is_bit(expression: ir.Expression, ranges: Mapping[str, Interval]) -> bool:
    """Tell whether a value is provably 0 or 1; `ranges`: of variables."""
    match expression:
        case ir.Binary():
            if expression.operator in ir.COMPARISONS:
                return True
            return expression.operator in ("and", "or", "xor") and all(
                is_bit(e, ranges) for e in (expression.left, expression.right)
            )
        case ir.Constant():
            return not expression.type.floating and expression.value in (0, 1)
        case ir.Read():
            low, high = ranges.get(expression.variable.name, (0, 2))
            return low >= 0 and high <= 1
        case ir.Select():
            return is_bit(expression.if_true, ranges) and is_bit(expression.if_false, ranges)
        case _:
            return False


def bit_variables(function: ir.Function) -> dict[str, Interval]:
    """Return the range (0, 1) of each variable that is only assigned 0 or 1."""
    values: dict[str, list[ir.Expression]] = {}
    excluded = {p.name for p in function.parameters}
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.Assign):
            values.setdefault(statement.variable.name, []).append(statement.value)
        elif isinstance(statement, ir.For):
            excluded.add(statement.variable.name)
    bits = {name: (0, 1) for name in values if name not in excluded}
    users: dict[str, set[str]] = {}
    for name in bits:
        for value in values[name]:
            for part in ir.walk_expressions(value):
                if isinstance(part, ir.Read):
                    users.setdefault(part.variable.name, set()).add(name)
    pending = list(bits)
    while pending:
        name = pending.pop()
        if name in bits and not all(is_bit(value, bits) for value in values[name]):
            del bits[name]
            pending.extend(sorted(users.get(name, ())))
    return bits


def is_same(left: ir.Expression, right: ir.Expression) -> bool:
    """Tell whether two expressions are the same variable, constant or object; deep equality is not tested."""
    if left is right:
        return not isinstance(left, ir.Load)
    if isinstance(left, ir.Read) and isinstance(right, ir.Read):
        return left.variable.name == right.variable.name
    return isinstance(left, ir.Constant) and left == right


# ---- ranges -------------------------------------------------------------------------------------------


def interval_of(expression: ir.Expression, ranges: Mapping[str, Interval]) -> Interval | None:
    """Return the smallest and largest value of an integer expression; None for a floating one.

    Args: ranges: of variables; other variables may have any value of their type.
    """
    kind = ir.type_of(expression)
    if kind.floating:
        return None
    interval = _computed_interval(expression, ranges)
    low, high = value_range(kind)
    return interval if interval is not None and low <= interval[0] and interval[1] <= high else (low, high)


def _computed_interval(expression: ir.Expression, ranges: Mapping[str, Interval]) -> Interval | None:
    match expression:
        case ir.Constant():
            return expression.value, expression.value
        case ir.Read():
            return ranges.get(expression.variable.name)
        case ir.Cast() if not expression.bits:
            return interval_of(expression.operand, ranges)
        case ir.Binary():
            return _binary_interval(expression, ranges)
        case ir.Select():
            return _select_interval(expression, ranges)
        case _:
            return None


def _select_interval(select: ir.Select, ranges: Mapping[str, Interval]) -> Interval | None:
    true, false = interval_of(select.if_true, ranges), interval_of(select.if_false, ranges)
    if true is None or false is None:
        return None
    low, high = min(true[0], false[0]), max(true[1], false[1])
    test = select.condition
    if isinstance(test, ir.Binary) and (test.left, test.right) == (select.if_true, select.if_false):
        if test.operator in ("lt", "le"):
            high = min(true[1], false[1])
        elif test.operator in ("gt", "ge"):
            low = max(true[0], false[0])
    return low, high


def _binary_interval(binary: ir.Binary, ranges: Mapping[str, Interval]) -> Interval | None:
    if binary.operator in ir.COMPARISONS:
        return 0, 1
    left, right = interval_of(binary.left, ranges), interval_of(binary.right, ranges)
    if left is None or right is None:
        return None
    match binary.operator:
        case "add":
            return left[0] + right[0], left[1] + right[1]
        case "sub":
            return left[0] - right[1], left[1] - right[0]
        case "mul":
            corners = [a * b for a in left for b in right]
            return min(corners), max(corners)
        case "and" if right[0] >= 0 or left[0] >= 0:
            return 0, min(b for a, b in (left, right) if a >= 0)
        case "rem" if right[0] == right[1] and right[0] > 0:
            most = right[0] - 1
            return max(-most, min(left[0], 0)), min(most, max(left[1], 0))
        case "div" if right[0] == right[1] and right[0] > 0:
            return _quotient(left[0], right[0]), _quotient(left[1], right[0])
        case "shr" if right[0] == right[1] and 0 <= right[0] < binary.type.width_bits:
            return left[0] >> right[0], left[1] >> right[0]
        case _:
            return None


def _quotient(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)


def decided(operator: str, left: Interval, right: Interval) -> bool | None:
    """Return the result of a comparison for all values in two ranges, None when it depends on the values."""
    if operator in ("gt", "ge"):
        operator, left, right = _MIRRORED[operator], right, left
    apart = left[1] < right[0] or right[1] < left[0]
    match operator:
        case "lt":
            return True if left[1] < right[0] else False if left[0] >= right[1] else None
        case "le":
            return True if left[1] <= right[0] else False if left[0] > right[1] else None
        case "eq":
            return False if apart else None
        case _:
            return True if apart else None


# ---- sums ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Sum:
    """Multiples of terms and a constant, modulo 2^width; `terms` in order of first appearance."""

    kind: ScalarType
    constant: int = 0
    terms: dict[ir.Expression, int] = field(default_factory=dict[ir.Expression, int])

    def add(self, expression: ir.Expression, factor: int) -> None:
        """Add a multiple of an expression of the sum's type."""
        match expression:
            case ir.Constant():
                self.constant += factor * expression.value
            case ir.Binary(operator="add" | "sub"):
                self.add(expression.left, factor)
                self.add(expression.right, factor if expression.operator == "add" else -factor)
            case ir.Binary(operator="mul", right=ir.Constant(value=value)):
                self.add(expression.left, factor * value)
            case ir.Binary(operator="shl", right=ir.Constant(value=amount)) if 0 <= amount < 32:
                self.add(expression.left, factor << amount)
            case ir.Unary(operator="neg"):
                self.add(expression.operand, -factor)
            case ir.Cast() if self.passes(expression):
                self.add_cast(expression.operand, factor)
            case _:
                self.terms[expression] = self.terms.get(expression, 0) + factor

    def passes(self, cast: ir.Cast) -> bool:
        """Tell whether a conversion preserves a sum: from an integer at least as wide."""
        source = ir.type_of(cast.operand)
        return not cast.bits and not source.floating and source.width_bits >= self.kind.width_bits

    def add_cast(self, operand: ir.Expression, factor: int) -> None:
        inner = _Sum(kind=ir.type_of(operand))
        inner.add(operand, 1)
        self.constant += factor * inner.constant
        for term, multiple in inner.terms.items():
            converted = fold_cast(term, self.kind)
            if isinstance(converted, ir.Cast):
                self.terms[converted] = self.terms.get(converted, 0) + factor * multiple
            else:
                self.add(converted, factor * multiple)

    def expression(self) -> ir.Expression:
        """Return the sum: positive multiples first, variables by name, the constant last."""
        width = self.kind.width_bits
        signed = ScalarType(width_bits=width)
        factors = {term: wrap(multiple, signed) for term, multiple in self.terms.items()}
        ordered = sorted(
            (t for t, f in factors.items() if f),
            key=lambda t: (
                factors[t] < 0,
                -abs(factors[t]),
                t.variable.name if isinstance(t, ir.Read) else "~",
            ),
        )
        total: ir.Expression = ir.Constant(value=0, type=self.kind)
        for term in ordered:
            scaled = make_binary("mul", term, self._constant(abs(factors[term])))
            total = make_binary("add" if factors[term] > 0 else "sub", total, scaled)
        constant = wrap(self.constant, signed)
        return make_binary("add" if constant >= 0 else "sub", total, self._constant(abs(constant)))

    def _constant(self, value: int) -> ir.Constant:
        return ir.Constant(value=wrap(value, self.kind), type=self.kind)


def canonical_sum(expression: ir.Expression) -> ir.Expression:
    """Return an integer expression as one sum of multiples, so that equal sums are equal expressions.

    For indices only: products with constants are distributed, which may cost data arithmetic more.
    """
    if isinstance(expression, ir.Constant | ir.Read | ir.Load):
        return expression
    total = _Sum(kind=ir.type_of(expression))
    total.add(expression, 1)
    canonical = total.expression()
    return expression if canonical == expression else canonical


# ---- operators ----------------------------------------------------------------------------------------


def fold_binary(
    operator: str, left: ir.Expression, right: ir.Expression, ranges: Mapping[str, Interval]
) -> ir.Expression:
    """Return a binary expression, simplified where a rule applies; `ranges`: of variables."""
    kind = ir.type_of(left)
    folded = make_binary(operator, left, right)
    if kind.floating or folded is left or folded is right or not isinstance(folded, ir.Binary):
        return folded
    if operator in ir.COMPARISONS:
        return _fold_comparison(folded, ranges)
    if isinstance(folded.right, ir.Constant):
        return _fold_with_constant(folded, folded.right, ranges)
    if is_same(folded.left, folded.right):
        if operator in ("sub", "xor"):
            return ir.Constant(value=0, type=kind)
        if operator in ("and", "or"):
            return folded.left
    return folded


def _fold_with_constant(
    binary: ir.Binary, right: ir.Constant, ranges: Mapping[str, Interval]
) -> ir.Expression:
    """Return the rules for `x operator constant`."""
    kind, left, operator = binary.type, binary.left, binary.operator
    zero = ir.Constant(value=0, type=kind)
    inner = left if isinstance(left, ir.Binary) and isinstance(left.right, ir.Constant) else None
    constant = inner.right if inner is not None and isinstance(inner.right, ir.Constant) else zero
    match operator:
        case "add" | "sub" if inner is not None and inner.operator in ("add", "sub"):
            sign, inner_sign = (1 if o == "add" else -1 for o in (operator, inner.operator))
            return plus_constant(inner.left, sign * right.value + inner_sign * constant.value)
        case "add" if kind.signed and -(1 << (kind.width_bits - 1)) < right.value < 0:
            return plus_constant(left, right.value)
        case "sub" if kind.signed and right.value < 0:
            return plus_constant(left, -right.value)
        case "mul" | "and" if right.value == 0:
            return zero
        case "mul" | "and" | "or" | "xor" if inner is not None and inner.operator == operator:
            return make_binary(operator, inner.left, make_binary(operator, constant, right))
        case "and" if right.value == wrap(-1, kind) or (right.value == 1 and is_bit(left, ranges)):
            return left
        case "or" if right.value == 1 and is_bit(left, ranges):
            return right
        case "rem" if right.value == 1:
            return zero
        case _:
            return binary


def plus_constant(expression: ir.Expression, amount: int) -> ir.Expression:
    """Return an integer expression plus a constant, as a sum or difference with a positive constant."""
    kind = ir.type_of(expression)
    amount = wrap(amount, ScalarType(width_bits=kind.width_bits))
    operator = "add" if amount >= 0 else "sub"
    return make_binary(operator, expression, ir.Constant(value=wrap(abs(amount), kind), type=kind))


def _fold_comparison(comparison: ir.Binary, ranges: Mapping[str, Interval]) -> ir.Expression:
    left, right, operator = comparison.left, comparison.right, comparison.operator
    if isinstance(left, ir.Constant):
        left, right, operator = right, left, _MIRRORED[operator]
        comparison = ir.Binary(operator=operator, left=left, right=right)
    if is_same(left, right):
        return ir.Constant(value=int(operator in ("le", "ge", "eq")))
    first, second = interval_of(left, ranges), interval_of(right, ranges)
    if first is not None and second is not None:
        answer = decided(operator, first, second)
        if answer is not None:
            return ir.Constant(value=int(answer))
    if (
        isinstance(right, ir.Constant)
        and right.type == INT32
        and operator in ("eq", "ne")
        and is_bit(left, ranges)
    ):
        if right.value in (0, 1):
            return left if (operator == "ne") == (right.value == 0) else negate(left)
        return ir.Constant(value=int(operator == "ne"))
    return comparison


def negate(condition: ir.Expression) -> ir.Expression:
    """Return 1 when an INT32 condition is 0, else 0; the opposite comparison for a comparison."""
    if isinstance(condition, ir.Binary):
        operator = condition.operator
        floating = ir.type_of(condition.left).floating
        if operator in ("eq", "ne") or (operator in _NEGATED and not floating):
            return ir.Binary(operator=_NEGATED[operator], left=condition.left, right=condition.right)
    return make_binary("eq", condition, _ZERO)


def fold_cast(operand: ir.Expression, kind: ScalarType, *, bits: bool = False) -> ir.Expression:
    """Return a conversion; an inner conversion that loses nothing is skipped."""
    if bits:
        return make_bit_cast(operand, kind)
    if isinstance(operand, ir.Cast) and not operand.bits:
        source, middle = ir.type_of(operand.operand), operand.type
        if not (source.floating or middle.floating or kind.floating) and (
            middle.width_bits >= kind.width_bits or _holds_all(middle, source)
        ):
            return fold_cast(operand.operand, kind)
    return make_cast(operand, kind)


def _holds_all(kind: ScalarType, of: ScalarType) -> bool:
    low, high = value_range(of)
    smallest, largest = value_range(kind)
    return smallest <= low and high <= largest


def fold_unary(operator: str, operand: ir.Expression) -> ir.Expression:
    """Return a unary expression; `neg` and `not` applied twice cancel."""
    if isinstance(operand, ir.Unary) and operand.operator == operator and operator in ("neg", "not"):
        return operand.operand
    return make_unary(operator, operand)


def fold_select(
    condition: ir.Expression,
    if_true: ir.Expression,
    if_false: ir.Expression,
    ranges: Mapping[str, Interval],
) -> ir.Expression:
    """Return a selection, simplified where a rule applies; `ranges`: of variables."""
    if isinstance(condition, ir.Binary) and condition.right == _ZERO and condition.operator in ("eq", "ne"):
        if condition.operator == "eq":
            if_true, if_false = if_false, if_true
        condition = condition.left
    if isinstance(if_true, ir.Select) and is_same(if_true.condition, condition):
        if_true = if_true.if_true
    if isinstance(if_false, ir.Select) and is_same(if_false.condition, condition):
        if_false = if_false.if_false
    if is_same(if_true, if_false):
        return if_true
    selected = make_select(condition, if_true, if_false)
    if isinstance(selected, ir.Select) and selected.type == INT32 and is_bit(condition, ranges):
        values = tuple(v.value if isinstance(v, ir.Constant) else None for v in (if_true, if_false))
        if values == (1, 0):
            return condition
        if values == (0, 1):
            return negate(condition)
    return selected
