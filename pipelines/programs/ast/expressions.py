"""Random expressions: leaves that are in scope, combined from the bottom up.

An operator that could be undefined on its operands is replaced by another; a sum of halved operands is always
defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pipelines.c.signature import FLOAT, INT32, UINT32, ScalarType, common_type, promoted
from pipelines.programs.ast import operations as op
from pipelines.programs.ast.options import DATA_TYPES
from pipelines.programs.ast.scope import Scope, domain_of
from pipelines.programs.ast.subscripts import ConditionWriter, PlaceWriter, is_leaf, like
from pipelines.programs.ast.tree import (
    Call,
    Constant,
    Element,
    Expression,
    Number,
    Read,
    Select,
)

_INTEGER_WEIGHTS = {
    "+": 6,
    "-": 5,
    "*": 5,
    "/": 1,
    "%": 1,
    "&": 0.8,
    "|": 0.6,
    "^": 2.5,
    "<<": 0.7,
    ">>": 1,
    "min": 1,
    "max": 1,
    "?:": 1,
}
_FLOATING_WEIGHTS = {"+": 6, "-": 4, "*": 6, "/": 0.7, "min": 0.7, "max": 0.7, "?:": 0.7}
_UNARY_WEIGHTS = {
    "*": 4,
    "-": 1,
    "+": 2,
    "~": 0.6,
    "abs": 1,
    "sqrt": 1.5,
    ">>": 1,
    "<<": 1,
    "/": 0.7,
    "%": 1,
    "&": 1,
}
_FLOATS = (0.5, 0.25, 1.5, 2.0, 0.75, 0.125, 3.0, 1.25, 0.9, 0.1)
_ODD = (3, 5, 7, 9, 13, 17, 31, 37)
_INTEGERS = (2, 3, 5, 7, 9, 11, 13, 17, 21, 25, 31, 37)
_MODULI = (100, 1000, 1021, 4093, 10_000, 32_749, 65_521, 100_000, 1_000_000)
_LEAF_TRIES = 12


class ExpressionWriter:
    """Expressions at the current point of a scope."""

    def __init__(self, scope: Scope, call_helper: Callable[[ScalarType], Expression | None]) -> None:
        self.scope = scope
        self.random = scope.random
        self.allowed = scope.options.operators
        self.call_helper = call_helper
        self.places = PlaceWriter(scope)
        self.conditions = ConditionWriter(scope, self.places)

    # ---- values -------------------------------------------------------------------------------------

    def value(
        self,
        domain: ScalarType,
        required: Sequence[Expression] = (),
        depth: int = 0,
        avoided: Sequence[Expression] = (),
    ) -> Expression:
        """Return a value that is computed in a domain from all the required leaves and others, each once."""
        depth = depth or self.random.randint(1, self.scope.options.max_expression_depth)
        count = max(len(required), self.random.randint(1, min(5, 1 << (depth - 1)) + 1))
        leaves = [self.into(domain, e) for e in required]
        for _ in range(_LEAF_TRIES):
            if len(leaves) >= count:
                break
            plain = bool(leaves) and not any(isinstance(e, Constant) for e in leaves)
            leaf = self.into(domain, self.leaf(domain, plain=plain))
            if leaf not in leaves and leaf not in avoided:
                leaves.append(leaf)
        if not leaves:
            leaves.append(self.number(domain))
        self.random.shuffle(leaves)
        parts = [(e, 0) for e in leaves]
        if len(parts) == 1 or self.scope.chance(0.25):
            place = self.random.randrange(len(parts))
            if not isinstance(parts[place][0], Constant):
                parts[place] = (self.decorated(parts[place][0], domain), 1)
        while len(parts) > 1:
            parts.sort(key=lambda p: p[1])
            first = self.random.randrange(len(parts) - 1) if parts[-1][1] < depth - 1 else 0
            (left, a), (right, b) = parts.pop(first), parts.pop(first)
            parts.append((self.combined(left, right, domain), max(a, b) + 1))
        return parts[0][0]

    def assigned(
        self, place: Read | Element, required: Sequence[Expression] = (), depth: int = 0
    ) -> Expression:
        """Return a value that may be assigned to a place: within its range and of its type."""
        value = self.value(domain_of(place.type), required, depth)
        return self.stored(value, place.type, place.low, place.high)

    def changed(self, place: Read | Element, required: Sequence[Expression] = ()) -> Expression:
        """Return a new value of a place from its old one, which is used completely and so stays live."""
        domain = domain_of(place.type)
        own = self.into(domain, place)
        rest = self.value(domain, required, avoided=[place])
        if domain.floating:
            factor = self.random.choice((0.5, 0.75, 0.9))
            own = op.possible(op.binary("*", own, op.constant(factor, domain)))
            room = float(place.high) * (1 - factor) * 0.99
            total = op.binary("+", own, self.limited(rest, -room, room))
        else:
            if self.scope.chance(0.3) and "*" in self.allowed:
                own = op.binary("*", own, like(own, self.random.choice(_ODD))) or own
            operators = [o for o in ("+", "+", "-", "^") if o in self.allowed]
            total = op.binary(self.random.choice(operators), own, rest)
        value = total if total is not None else self._halved_sum(own, rest, domain)
        return self.stored(value, place.type, place.low, place.high)

    def stored(self, value: Expression, kind: ScalarType, low: Number, high: Number) -> Expression:
        """Return a value limited to a range of a type, with a conversion only if C needs or implies one."""
        if not kind.floating and not value.type.floating and (low, high) == op.type_range(kind):
            if low <= value.low and value.high <= high:
                return value
            return op.cast(value, kind) or value
        if value.type.floating and not kind.floating:
            return self._whole(value, kind, max(low, -(2**30)), min(high, 2**30))
        return self.limited(value, low, high)

    def limited(self, value: Expression, low: Number, high: Number) -> Expression:
        """Return a value within low .. high; the value itself when it is already inside."""
        if low <= value.low and value.high <= high:
            return value
        if value.type.floating:
            return self._limited_float(value, float(low), float(high))
        return self._limited_integer(value, int(low), int(high))

    def into(self, domain: ScalarType, value: Expression) -> Expression:
        """Return a leaf as an operand of a domain."""
        if domain.floating:
            return value if value.type == domain else op.possible(op.cast(value, domain))
        if value.type.floating:
            return self._whole(value, _signed(domain), -(2**24), 2**24)
        if isinstance(value, Constant) and value.value >= 0:
            return op.constant(value.value, domain if not domain.signed else value.type, value.text)
        if not value.type.signed and value.type.width_bits < domain.width_bits:
            return value
        if common_type(domain, value.type) == domain and domain.signed == promoted(value.type).signed:
            return value
        return op.possible(op.cast(value, domain))

    def _whole(self, value: Expression, kind: ScalarType, low: Number, high: Number) -> Expression:
        """Convert a floating value, limited to a range, to an integer."""
        if "non_finite" in self.scope.forms:
            value = _clamped(value, float(low), float(high), always=True)
        else:
            value = self.limited(value, low, high)
        return op.possible(op.cast(value, kind))

    # ---- operators ----------------------------------------------------------------------------------

    def combined(self, left: Expression, right: Expression, domain: ScalarType) -> Expression:
        """Return two operands under a random operator."""
        weights = {
            o: w
            for o, w in (_FLOATING_WEIGHTS if domain.floating else _INTEGER_WEIGHTS).items()
            if o in self.allowed
        }
        for _ in range(6):
            chosen = self.random.choices(list(weights), list(weights.values()))[0]
            result = self._binary(chosen, left, right, domain)
            if result is not None:
                return result
        return self._halved_sum(left, right, domain)

    def decorated(self, value: Expression, domain: ScalarType) -> Expression:
        """Return an operand under an operator with a constant, or under a unary operator."""
        if self.scope.draws("mixed_types", 0.4):
            return self.into(domain, self._recast(value))
        names = [o for o in _UNARY_WEIGHTS if o in self.allowed]
        for _ in range(4):
            chosen = self.random.choices(names, [_UNARY_WEIGHTS[o] for o in names])[0]
            result = self._unary(chosen, value, domain)
            if result is not None:
                return result
        return value

    def _binary(
        self, chosen: str, left: Expression, right: Expression, domain: ScalarType
    ) -> Expression | None:
        match chosen:
            case "min" | "max":
                simple = self._is_data(left) and self._is_data(right)
                return op.smaller(left, right, larger=chosen == "max") if simple else None
            case "?:":
                return self._selected(left, right)
            case "/" | "%":
                return self._divided(chosen, left, right, domain)
            case "<<" | ">>":
                return self._shifted(chosen, left, right)
            case "*" if domain.width_bits == 64 and not domain.floating:
                return op.binary("*", left, right) or op.binary(
                    "*", op.possible(op.cast(left, domain)), right
                )
            case "&" if min(left.high, right.high) < 8:
                return None
            case _:
                if left == right and chosen != "+":
                    return None
                result = op.binary(chosen, left, right)
                wraps = chosen in ("+", "-", "*") and result is None and self.scope.draws("wrapping", 0.7)
                return op.wrapped(chosen, left, right) if wraps else result

    def _recast(self, value: Expression) -> Expression:
        """Convert a value to a drawn type."""
        kind = DATA_TYPES[self.random.choice(self.scope.options.data_types)]
        if value.type.floating and not kind.floating:
            value = self.into(INT32, value)
        return op.possible(op.cast(value, kind))

    def _selected(self, left: Expression, right: Expression) -> Expression | None:
        known = op.select(op.integer(1), left, right)
        if known is None or isinstance(left, Select) or isinstance(right, Select):
            return None
        return op.select(self.conditions.condition(), left, right)

    def _divided(
        self, chosen: str, left: Expression, right: Expression, domain: ScalarType
    ) -> Expression | None:
        if left == right or not self._is_data(right):
            return None
        direct = op.binary(chosen, left, right)
        if direct is not None and not (isinstance(right, Constant)):
            return direct
        if domain.floating:
            size = op.magnitude(right)
            divisor = None if size is None else op.binary("+", size, op.constant(1.0, domain))
        else:
            mask = self.random.choice((7, 15, 31))
            low = op.binary("&", right, like(right, mask))
            divisor = None if low is None else op.binary("+", low, like(right, 1))
        return None if divisor is None else op.binary(chosen, left, divisor)

    def _shifted(self, chosen: str, left: Expression, right: Expression) -> Expression | None:
        if left.high < 64 or not self._is_data(right):
            return None
        count = op.binary("&", right, like(right, self.random.choice((3, 7))))
        if count is None:
            return None
        return op.binary(chosen, left, count)

    def _is_data(self, value: Expression) -> bool:
        """Tell whether a value is not computed, so that using only a part of it loses little."""
        if isinstance(value, Element):
            return value.array in self.scope.inputs
        return isinstance(value, Read) and value.variable not in self.scope.pending()

    def _unary(self, chosen: str, value: Expression, domain: ScalarType) -> Expression | None:
        match chosen:
            case "-":
                return op.negate(value)
            case "~":
                return op.complement(value)
            case "abs":
                return op.magnitude(value) if value.type.floating or is_leaf(value) else None
            case "sqrt":
                size = op.magnitude(value) if domain.floating else None
                return None if size is None else op.root(size)
            case _:
                return self._with_constant(chosen, value, domain)

    def _with_constant(self, chosen: str, value: Expression, domain: ScalarType) -> Expression | None:
        data = self._is_data(value)
        if domain.floating:
            number = op.constant(self.random.choice((1.5, 3.0) if chosen == "/" else _FLOATS), domain)
            return op.binary(chosen, value, number) if chosen in ("*", "+", "/") else None
        wide = int(max(abs(value.low), abs(value.high)))
        if chosen in (">>", "<<"):
            most = 3 if chosen == "<<" or not data else min(5, max(0, wide.bit_length() - 4))
            return op.binary(chosen, value, op.integer(self.random.randint(1, most))) if most else None
        constants = {"&": (63, 127, 255), "/": (2, 3, 5), "*": _ODD}.get(chosen, _INTEGERS)
        number = self.random.choice(constants)
        if chosen in ("/", "%", "&") and (number * 2 > wide or not (data or chosen == "%")):
            return None
        divides = chosen in ("/", "%") and promoted(value.type).signed
        if divides and self.scope.draws("negative_divisors", 0.4):
            number = -number
        return op.binary(chosen, value, like(value, number))

    def other_than(self, value: Expression) -> Expression:
        """Return a constant of a value's type, in the range of every variable, instead of the value."""
        return like(value, self.random.choice(_ODD))

    def _halved_sum(self, left: Expression, right: Expression, domain: ScalarType) -> Expression:
        low, high = op.type_range(domain)
        if domain.floating:
            low, high = low / 1024, high / 1024
        halves = [self.limited(e, int(low) // 2 + 1, int(high) // 2 - 1) for e in (left, right)]
        return op.binary("+", halves[0], halves[1]) or left

    # ---- ranges -------------------------------------------------------------------------------------

    def _limited_float(self, value: Expression, low: float, high: float) -> Expression:
        if low >= 0:
            value = op.possible(op.magnitude(value))
        reach = max(abs(value.low), abs(value.high))
        bound = high if low >= 0 else min(high, -low)
        scale = 1.0
        while reach * scale > bound * 0.999:
            scale /= 2
        if 1 / 512 <= scale < 1 and value.low * scale >= low:
            scaled = op.binary("*", value, op.constant(scale, value.type))
            if scaled is not None:
                return scaled
        return _clamped(value, low, high)

    def _limited_integer(self, value: Expression, low: int, high: int) -> Expression:
        if value.low < 0 and low < 0:
            room = min(high, -low)
            moduli = [m for m in _MODULI if room // 8 < m <= room]
            narrow = value.type.width_bits < 64 and self.scope.chance(0.3)
            modulus = self.random.choice(moduli if moduli and narrow else [1 << (room.bit_length() - 1)])
            return op.possible(op.binary("%", value, like(value, max(2, modulus))))
        room = high - max(low, 0)
        mask = (1 << (room + 1).bit_length() - 1) - 1
        masked = op.possible(op.binary("&", value, like(value, mask)))
        return masked if low <= 0 else op.possible(op.binary("+", masked, like(value, low)))

    # ---- leaves -------------------------------------------------------------------------------------

    def leaf(self, domain: ScalarType, *, plain: bool = False) -> Expression:
        """Return a leaf in scope; `plain` also allows leaves that do not depend on data."""
        scope = self.scope
        choices: list[tuple[float, Callable[[], Expression | None]]] = [
            (5, self.places.element_leaf),
            (2, lambda: self._pending_leaf(domain)),
            (1.2 if scope.budget > 0 else 0, lambda: self._temporary(domain)),
            (0.8, self._argument),
            (0.8 if plain else 0.1, self._loop_variable),
            (0.8 if plain else 0, lambda: self.number(domain)),
            (9 * scope.options.helper_probability, lambda: self.call_helper(domain)),
            (1.5 if "truth_values" in scope.forms else 0, self.conditions.condition),
        ]
        for _ in range(8):
            chosen = self.random.choices([c for _, c in choices], [w for w, _ in choices])[0]
            expression = chosen()
            if expression is not None:
                return expression
        return self._argument(must=True) or self.number(domain)

    def number(self, domain: ScalarType) -> Constant:
        """Return a constant of a domain."""
        if domain.floating:
            return op.constant(self.random.choice(_FLOATS), domain)
        return op.constant(self.random.choice(_INTEGERS), INT32 if domain.signed else UINT32)

    def _pending_leaf(self, domain: ScalarType) -> Expression | None:
        variables = [v for v in self.scope.pending() if domain.floating or not v.type.floating]
        return op.read(self.random.choice(variables)) if variables else None

    def _temporary(self, domain: ScalarType) -> Expression:
        scope = self.scope
        scope.budget -= 1
        matching = [t for t in scope.palette if t.floating == domain.floating]
        kind = self.random.choice([*matching, domain])
        return op.read(scope.new_temporary(kind))

    def _argument(self, *, must: bool = False) -> Expression | None:
        scope = self.scope
        few = len(scope.arguments) < 3 and not scope.fixed_arguments
        if few and (must or not scope.arguments or scope.chance(0.3)):
            return op.read(scope.new_argument(scope.data_type()))
        return op.read(self.random.choice(scope.arguments)) if scope.arguments else None

    def _loop_variable(self) -> Expression | None:
        variables = self.scope.loop_variables()
        return op.read(self.random.choice(variables)) if variables else None


# ---- predicates ------------------------------------------------------------------------------


def call(function: str, kind: ScalarType, low: Number, high: Number, *arguments: Expression) -> Call:
    """Return a call whose result has a known range."""
    return Call(type=kind, low=low, high=high, function=function, arguments=arguments)


def _round_bound(bound: float) -> float:
    """Return the power of two at or below a bound's magnitude."""
    return 0.0 if bound == 0 else math.copysign(2.0 ** math.floor(math.log2(abs(bound))), bound)


def _clamped(value: Expression, low: float, high: float, *, always: bool = False) -> Expression:
    """Limit a value by calls, both of them with `always`: of NaN they return the bound."""
    suffix = "f" if value.type == FLOAT else ""
    low, high = _round_bound(low), _round_bound(high)
    least, most = (op.constant(v, value.type) for v in (low, high))
    if always or value.high > high:
        value = call(f"fmin{suffix}", value.type, min(value.low, high), high, value, most)
    if always or value.low < low:
        value = call(f"fmax{suffix}", value.type, low, max(value.high, low), value, least)
    return value


def _signed(domain: ScalarType) -> ScalarType:
    return domain if domain.signed else INT32
