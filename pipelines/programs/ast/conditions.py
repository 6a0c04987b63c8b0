"""Conditions that are true for some data and false for other.

A threshold is drawn within the range that an input is drawn from, so that both branches are taken; of other
integers the lowest bits decide.
"""

from __future__ import annotations

from pipelines.interface import INT32, UINT32, UINT64, ScalarType
from pipelines.programs.ast import operations as op
from pipelines.programs.ast.places import PlaceWriter
from pipelines.programs.ast.scope import Scope
from pipelines.programs.ast.tree import Array, Constant, Element, Expression, Number, Read, Variable

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
        """A condition; sometimes two of them joined."""
        for _ in range(_TRIES):
            found = self._comparison()
            if found is None:
                continue
            other = self._comparison() if self.scope.chance(0.1) else None
            if other is not None and other != found:
                return op.possible(op.binary(self.random.choice(("&&", "||")), found, other))
            return found
        return self._of_argument()

    def rare_condition(self) -> Expression | None:
        """A condition that is true for few values of an input; None when there is no input."""
        leaf = self._input_element()
        return None if leaf is None else self.threshold(leaf, leaf.array.drawn, _RARE)

    def data_condition(self) -> Expression | None:
        """A condition on an input or on loop variables; None when there is neither."""
        variables = self.scope.loop_variables()
        leaf = None if variables and self.scope.chance(0.2) else self._input_element()
        if leaf is not None:
            return self._of_data(leaf, leaf.array.drawn)
        return self._of_loops(variables) if variables else None

    def selector(self) -> Expression:
        """An integer whose lowest bits differ from time to time: an element, a loop variable, an argument."""
        integers = [a for a in (*self.scope.inputs, *self.scope.tables) if not a.type.floating]
        if integers and not self.scope.fixed_arguments:
            array = self.random.choice(integers)
            return op.element(array, self.places.subscripts(array))
        variables = self.scope.loop_variables()
        if variables:
            return op.read(variables[-1])
        found = [v for v in self.scope.arguments if not v.type.floating]
        return op.read(self.random.choice(found) if found else self.scope.new_argument(INT32))

    def condition_on(self, variable: Variable) -> Expression | None:
        """A comparison of an element that a loop variable selects."""
        leaf = self.places.element_leaf(variable)
        if not isinstance(leaf, Element):
            return None
        return self.threshold(leaf, leaf.array.drawn, _BALANCED)

    def threshold(
        self, leaf: Expression, drawn: tuple[Number, Number], share: tuple[float, float]
    ) -> Expression | None:
        """A comparison that holds for a share of the values between two bounds."""
        part = self.random.uniform(*share)
        above = self.scope.chance(0.5)
        low, high = drawn
        edge = low + (high - low) * (1 - part if above else part)
        if leaf.type.floating:
            return op.compare(">" if above else "<", leaf, op.constant(round(float(edge), 2), leaf.type))
        operators = (">", ">=") if above else ("<", "<=")
        return op.compare(self.random.choice(operators), leaf, like(leaf, int(edge)))

    def parity(self, value: Expression) -> Expression | None:
        """A test of the lowest bits of an integer."""
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
        """An element of an array that is only read; of a new one when there is none."""
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
        """The lowest bits of a computed integer, or the sign of a number."""
        scope = self.scope
        found: list[Expression] = [op.read(v) for v in scope.pending() if v.name not in scope.sums]
        arrays = [a for a in scope.readable_arrays() if not self._is_constant(a)]
        if arrays and scope.counters():
            array = self.random.choice(arrays)
            place = op.element(array, self.places.subscripts(array))
            if array in scope.outputs and array.type.floating:
                return self.threshold(place, array.drawn, _BALANCED)
            found.append(place)
        if not found:
            return None
        value = self.random.choice(found)
        if value.type.floating:
            return op.compare(self.random.choice("<>"), value, op.constant(0.0, value.type))
        return self.parity(value)


def like(value: Expression, number: int) -> Constant:
    """A constant that is combined with a value: unsigned beside an unsigned one, wide when it must be."""
    kind: ScalarType = op.promoted(value.type)
    if kind.floating:
        return op.constant(float(number), kind)
    if kind.signed or number < 0:
        return op.integer(number)
    return op.constant(number, UINT32 if number < 1 << 32 else UINT64)


def is_leaf(value: Expression) -> bool:
    """Whether a value is a constant, a variable or an element."""
    return isinstance(value, Read | Constant | Element)
