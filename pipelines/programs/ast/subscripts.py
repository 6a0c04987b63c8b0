"""Elements of arrays with subscripts in range, and conditions that are true for some data only.

A threshold is drawn within the range that an input is drawn from, so that both branches are taken;
conditions on other integers test the lowest bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.c.signature import INT32, UINT32, UINT64, ScalarType, promoted
from pipelines.programs.ast import operations as op
from pipelines.programs.ast.scope import Scope
from pipelines.programs.ast.tree import Array, Constant, Element, Expression, Extent, Number, Read, Variable

_MOST_INPUTS = 5


class PlaceWriter:
    """Elements that may be read or written at the current point of a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.random = scope.random

    def element_leaf(self, must: Variable | None = None) -> Expression | None:
        """Return an element of an existing or new array, indexed by loop variables; it uses `must`."""
        scope = self.scope
        if scope.fixed_arguments:
            return None
        counters = scope.counters()
        if not counters and (scope.loops or not scope.readable_arrays()):
            return self._first_elements()
        arrays = [a for a in scope.readable_arrays() if must is None or _indexable(a, must)]
        room = len(scope.inputs) < _MOST_INPUTS
        if counters and room and (not arrays or scope.chance(0.3)):
            return self._new_array_element(must)
        if not arrays:
            return None
        array = self.random.choice(arrays)
        return op.element(array, self.subscripts(array, must))

    def innermost_leaf(self) -> list[Expression]:
        """Return an element that depends on the innermost loop, or its variable: iterations differ."""
        scope = self.scope
        variable = next((f.loop for f in reversed(scope.frames) if f.is_loop), None)
        if variable is None:
            return []
        if any(v == variable for v, _ in scope.counters()) and scope.chance(0.9):
            leaf = self.element_leaf(variable)
            if leaf is not None:
                return [leaf]
        return [op.read(variable)]

    def subscripts(self, array: Array, must: Variable | None = None) -> tuple[Expression, ...]:
        """Return the subscripts in range for every dimension; one of them is a variable that must be used."""
        fitting = [d for d, e in enumerate(array.shape) if must is not None and must.high < e.value]
        place = self.random.choice(fitting) if fitting else None
        used: list[str] = [] if must is None else [must.name]
        indices: list[Expression] = []
        for dimension, extent in enumerate(array.shape):
            if dimension == place and must is not None:
                indices.append(self._near(must, extent))
            else:
                indices.append(self.subscript(extent, used))
        return tuple(indices)

    def updated(self, array: Array) -> Element:
        """Return an element of an array to be updated."""
        if self.scope.draws("computed_stores", 0.3):
            return op.element(array, tuple(self.wrapped_subscript(e) for e in array.shape))
        return op.element(array, self.subscripts(array))

    def subscript(self, extent: Extent, used: list[str]) -> Expression:
        """Return a subscript below an extent, by a loop variable that the others do not use, if any."""
        counters = [v for v, _ in self.scope.counters() if v.low >= 0 and v.high < extent.value]
        fresh = [v for v in counters if v.name not in used] or counters
        if fresh and not self.scope.chance(0.08):
            same = [v for v in fresh if v.high == extent.value - 1] or fresh
            variable = self.random.choice(same)
            used.append(variable.name)
            return self._near(variable, extent)
        return self.wrapped_subscript(extent)

    def wrapped_subscript(self, extent: Extent) -> Expression:
        """Return a subscript from data or from a loop variable of any range, wrapped into an extent."""
        integers = [v for v in [*self.scope.loop_variables(), *self.scope.pending()] if not v.type.floating]
        arrays = [a for a in self.scope.inputs if not a.type.floating and len(a.shape) == 1]
        by_loop = [
            (a, v)
            for a in arrays
            for v, _ in self.scope.counters()
            if v.low >= 0 and v.high < a.shape[0].value
        ]
        if by_loop and self.scope.chance(0.4):
            inner, variable = self.random.choice(by_loop)
            value: Expression = op.element(inner, (op.read(variable),))
        elif integers:
            value = op.read(self.random.choice(integers))
        else:
            return op.integer(self.random.randrange(extent.value))
        return self._wrapped(value, extent)

    def _wrapped(self, value: Expression, extent: Extent) -> Expression:
        if value.low >= 0 and value.high < extent.value:
            return value
        if extent.value & (extent.value - 1) == 0:
            mask = op.constant(extent.value - 1, INT32, f"{extent.text} - 1")
            wrapped = op.binary("&", value, mask)
        elif value.low >= 0:
            wrapped = op.binary("%", value, op.extent_value(extent))
        else:
            size = op.binary("&", value, op.integer(255))
            wrapped = None if size is None else op.binary("%", size, op.extent_value(extent))
        return wrapped if wrapped is not None else op.integer(self.random.randrange(extent.value))

    def _near(self, variable: Variable, extent: Extent) -> Expression:
        """Return a loop variable, plus or minus an offset, or counted from the other end, in range."""
        plain = op.read(variable)
        if self.scope.chance(0.72):
            return plain
        step = op.integer(self.random.choice((1, 1, 2)))
        last = op.constant(extent.value - 1, INT32, f"{extent.text} - 1")
        if variable.high == extent.value - 1 and self.scope.chance(0.3):
            shifted = op.binary("-", last, plain)
        else:
            shifted = op.binary(self.random.choice("+-"), plain, step)
        if shifted is None:
            return plain
        if shifted.low >= 0 and shifted.high < extent.value:
            return shifted
        if shifted.low >= 0 and self.scope.chance(0.4):
            return self._wrapped(shifted, extent)
        return plain

    def _new_array_element(self, must: Variable | None) -> Expression:
        scope = self.scope
        counters = scope.counters()
        names = [v.name for v, _ in counters]
        most = min(scope.options.array_dimensions, len(counters))
        count = self.random.choice([1, 1, 2, 2, 3][: 2 * most])
        chosen = [] if must is None else [names.index(must.name)]
        others = [n for n in range(len(counters)) if n not in chosen]
        chosen = sorted([*chosen, *self.random.sample(others, min(count - len(chosen), len(others)))])
        if not chosen:
            chosen = [self.random.randrange(len(counters))]
        dimensions, subscripts = self._dimensions([counters[n] for n in chosen])
        array = scope.new_array(self._role(dimensions), dimensions)
        return op.element(array, subscripts)

    def _role(self, shape: tuple[Extent, ...]) -> str:
        scope = self.scope
        small = len(shape) == 1 and shape[0].value <= 16
        if small and scope.chance(0.12):
            return "table"
        if (
            scope.budget >= 3
            and len(shape) <= scope.depth
            and len(scope.local_arrays) < 2
            and scope.chance(0.15)
        ):
            scope.budget -= 3
            return "local"
        return "input"

    def _dimensions(
        self, counters: Sequence[tuple[Variable, Extent]]
    ) -> tuple[tuple[Extent, ...], tuple[Expression, ...]]:
        """Return the extents and subscripts of a new array; two loops may slide over one dimension."""
        if len(counters) >= 2 and self.scope.chance(0.25):
            (a, first), (b, second) = counters[0], counters[1]
            joined = Extent(text=f"{first.text} + {second.text} - 1", value=first.value + second.value - 1)
            place = op.possible(op.binary("+", op.read(a), op.read(b)))
            rest = counters[2:]
            return (joined, *(e for _, e in rest)), (place, *(op.read(v) for v, _ in rest))
        return tuple(e for _, e in counters), tuple(op.read(v) for v, _ in counters)

    def _first_elements(self) -> Expression | None:
        """Return an element by a constant subscript, of a new array, where there is no loop."""
        scope = self.scope
        if scope.loops or scope.depth > 0 or len(scope.inputs) >= 2:
            return None
        array = scope.new_array("input", (self.random.choice(scope.extents),))
        return op.element(array, (op.integer(self.random.randrange(array.shape[0].value)),))


def _indexable(array: Array, variable: Variable) -> bool:
    return any(variable.low >= 0 and variable.high < e.value for e in array.shape)


_TRIES = 6
_BALANCED = (0.3, 0.7)
_RARE = (0.04, 0.12)


class ConditionWriter:
    """Conditions at the current point of a scope."""

    def __init__(self, scope: Scope, places: PlaceWriter) -> None:
        self.scope = scope
        self.random = scope.random
        self.places = places

    def condition(self) -> Expression:
        """Return a condition; sometimes two of them joined, or its opposite."""
        condition = self._joined()
        return op.opposite(condition) if self.scope.draws("negation", 0.25) else condition

    def _joined(self) -> Expression:
        for _ in range(_TRIES):
            comparison = self._comparison()
            if comparison is None:
                continue
            other = self._comparison() if self.scope.chance(0.1) else None
            if other is not None and other != comparison:
                return op.possible(op.binary(self.random.choice(("&&", "||")), comparison, other))
            return comparison
        return self._of_argument()

    def rare_condition(self) -> Expression | None:
        """Return a condition that is true for few values of an input; None when there is no input."""
        leaf = self._input_element()
        return None if leaf is None else self.threshold(leaf, leaf.array.drawn, _RARE)

    def data_condition(self) -> Expression | None:
        """Return a condition on an input or on loop variables; None when there is neither."""
        variables = self.scope.loop_variables()
        leaf = None if variables and self.scope.chance(0.2) else self._input_element()
        if leaf is not None:
            return self._of_data(leaf, leaf.array.drawn)
        return self._of_loops(variables) if variables else None

    def selector(self) -> Expression:
        """Return an integer whose lowest bits vary: an element, a loop variable, an argument."""
        integers = [a for a in (*self.scope.inputs, *self.scope.tables) if not a.type.floating]
        if integers and not self.scope.fixed_arguments:
            array = self.random.choice(integers)
            return op.element(array, self.places.subscripts(array))
        variables = self.scope.loop_variables()
        if variables:
            return op.read(variables[-1])
        scalars = [v for v in self.scope.arguments if not v.type.floating]
        return op.read(self.random.choice(scalars) if scalars else self.scope.new_argument(INT32))

    def condition_on(self, variable: Variable) -> Expression | None:
        """Return a comparison of an element that a loop variable selects."""
        leaf = self.places.element_leaf(variable)
        if not isinstance(leaf, Element):
            return None
        return self.threshold(leaf, leaf.array.drawn, _BALANCED)

    def threshold(
        self, leaf: Expression, drawn: tuple[Number, Number], share: tuple[float, float]
    ) -> Expression | None:
        """Return a comparison that holds for a share of the values between two bounds."""
        part = self.random.uniform(*share)
        above = self.scope.chance(0.5)
        low, high = drawn
        edge = low + (high - low) * (1 - part if above else part)
        if leaf.type.floating:
            return op.compare(">" if above else "<", leaf, op.constant(round(float(edge), 2), leaf.type))
        operators = (">", ">=") if above else ("<", "<=")
        return op.compare(self.random.choice(operators), leaf, like(leaf, int(edge)))

    def parity(self, value: Expression) -> Expression | None:
        """Return a test of the lowest bits of an integer."""
        mask = self.random.choice((1, 1, 3))
        low = op.binary("&", value, like(value, mask))
        if low is None:
            return None
        return op.compare(self.random.choice(("==", "!=")), low, like(low, self.random.randint(0, mask)))

    def _comparison(self) -> Expression | None:
        variables = self.scope.loop_variables()
        form = self.random.random()
        if form < 0.15 and variables:
            return self._of_loops(variables)
        if form < 0.7:
            leaf = self._input_element()
            if leaf is not None:
                return self._of_data(leaf, leaf.array.drawn)
        if form < 0.8 and self.scope.arguments:
            return self._of_argument()
        return self._of_computed()

    def _input_element(self) -> Element | None:
        """Return an element of an array that is only read; of a new one when there is none."""
        constant = [*self.scope.inputs, *self.scope.tables]
        counters = [v for v, _ in self.scope.counters()]
        if self.scope.fixed_arguments or not (constant or counters):
            return None
        if not constant or (counters and self.scope.chance(0.15)):
            leaf = self.places.element_leaf(counters[-1] if counters else None)
            return leaf if isinstance(leaf, Element) and self._is_constant(leaf.array) else None
        array = self.random.choice(constant)
        return op.element(array, self.places.subscripts(array))

    def _is_constant(self, array: Array) -> bool:
        return array in self.scope.inputs or array in self.scope.tables

    def _of_data(self, leaf: Expression, drawn: tuple[Number, Number]) -> Expression | None:
        if not leaf.type.floating and self.scope.chance(0.35):
            return self.parity(leaf)
        return self.threshold(leaf, drawn, _BALANCED)

    def _of_argument(self) -> Expression:
        scope = self.scope
        few = not scope.arguments and not scope.fixed_arguments
        argument = op.read(scope.new_argument(INT32) if few else self.random.choice(scope.arguments))
        if scope.fixed_arguments and not argument.type.floating:
            return self.parity(argument) or self._of_argument()
        known = (-1.0, 1.0) if scope.fixed_arguments else (argument.low, argument.high)
        return self.threshold(argument, known, _BALANCED) or self._of_argument()

    def _of_loops(self, variables: list[Variable]) -> Expression | None:
        first, second = (op.read(self.random.choice(variables)) for _ in range(2))
        if first != second:
            return op.compare(self.random.choice(("<", ">", "<=", "!=")), first, second)
        return self.parity(first)

    def _of_computed(self) -> Expression | None:
        """Return the lowest bits of a computed integer, or the sign of a number."""
        scope = self.scope
        candidates: list[Expression] = [op.read(v) for v in scope.pending() if v.name not in scope.sums]
        arrays = [a for a in scope.readable_arrays() if not self._is_constant(a)]
        if arrays and scope.counters():
            array = self.random.choice(arrays)
            place = op.element(array, self.places.subscripts(array))
            if array in scope.outputs and array.type.floating:
                return self.threshold(place, array.drawn, _BALANCED)
            candidates.append(place)
        if not candidates:
            return None
        value = self.random.choice(candidates)
        if value.type.floating:
            return op.compare(self.random.choice("<>"), value, op.constant(0.0, value.type))
        return self.parity(value)


def like(value: Expression, number: int) -> Constant:
    """Return a constant to combine with a value: unsigned beside an unsigned one, wide if it must be."""
    kind: ScalarType = promoted(value.type)
    if kind.floating:
        return op.constant(float(number), kind)
    if kind.signed or number < 0:
        return op.integer(number)
    return op.constant(number, UINT32 if number < 1 << 32 else UINT64)


def is_leaf(value: Expression) -> bool:
    """Tell whether a value is a constant, a variable or an element."""
    return isinstance(value, Read | Constant | Element)
