"""Elements of arrays at the current point of a program, with subscripts that are in range."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.interface import INT32
from pipelines.programs.ast import operations as op
from pipelines.programs.ast.scope import Scope
from pipelines.programs.ast.tree import Array, Expression, Extent, Variable

_MOST_INPUTS = 5


class PlaceWriter:
    """Elements that may be read or written at the current point of a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.random = scope.random

    def element_leaf(self, must: Variable | None = None) -> Expression | None:
        """An element of an array in scope or of a new one, by loop variables; with one that it must use."""
        scope = self.scope
        if scope.fixed_arguments:
            return None
        counters = scope.counters()
        if not counters and (scope.loops or not scope.readable_arrays()):
            return self._first_elements()
        found = [a for a in scope.readable_arrays() if must is None or _indexable(a, must)]
        room = len(scope.inputs) < _MOST_INPUTS
        if counters and room and (not found or scope.chance(0.3)):
            return self._new_array_element(must)
        if not found:
            return None
        array = self.random.choice(found)
        return op.element(array, self.subscripts(array, must))

    def innermost_leaf(self) -> list[Expression]:
        """An element that depends on the innermost loop, or its variable, so that iterations differ."""
        scope = self.scope
        variable = next((f.loop for f in reversed(scope.frames) if f.is_loop), None)
        if variable is None:
            return []
        if any(v == variable for v, _ in scope.counters()) and scope.chance(0.9):
            found = self.element_leaf(variable)
            if found is not None:
                return [found]
        return [op.read(variable)]

    def subscripts(self, array: Array, must: Variable | None = None) -> tuple[Expression, ...]:
        """Subscripts in range for every dimension; one of them is a variable that must be used."""
        fitting = [d for d, e in enumerate(array.shape) if must is not None and must.high < e.value]
        place = self.random.choice(fitting) if fitting else None
        used: list[str] = [] if must is None else [must.name]
        found: list[Expression] = []
        for dimension, extent in enumerate(array.shape):
            if dimension == place and must is not None:
                found.append(self._near(must, extent))
            else:
                found.append(self.subscript(extent, used))
        return tuple(found)

    def subscript(self, extent: Extent, used: list[str]) -> Expression:
        """A subscript below an extent, by a loop variable that the others do not use if there is one."""
        counters = [v for v, _ in self.scope.counters() if v.low >= 0 and v.high < extent.value]
        fresh = [v for v in counters if v.name not in used] or counters
        if fresh and not self.scope.chance(0.08):
            same = [v for v in fresh if v.high == extent.value - 1] or fresh
            variable = self.random.choice(same)
            used.append(variable.name)
            return self._near(variable, extent)
        return self.wrapped_subscript(extent)

    def wrapped_subscript(self, extent: Extent) -> Expression:
        """A subscript from data or from a loop variable of any range, wrapped into an extent."""
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
            found = op.binary("&", value, mask)
        elif value.low >= 0:
            found = op.binary("%", value, op.extent_value(extent))
        else:
            size = op.binary("&", value, op.integer(255))
            found = None if size is None else op.binary("%", size, op.extent_value(extent))
        return found if found is not None else op.integer(self.random.randrange(extent.value))

    def _near(self, variable: Variable, extent: Extent) -> Expression:
        """A loop variable, one beside it, or from the other end, in range."""
        plain = op.read(variable)
        if self.scope.chance(0.72):
            return plain
        step = op.integer(self.random.choice((1, 1, 2)))
        last = op.constant(extent.value - 1, INT32, f"{extent.text} - 1")
        if variable.high == extent.value - 1 and self.scope.chance(0.3):
            found = op.binary("-", last, plain)
        else:
            found = op.binary(self.random.choice("+-"), plain, step)
        if found is None:
            return plain
        if found.low >= 0 and found.high < extent.value:
            return found
        if found.low >= 0 and self.scope.chance(0.4):
            return self._wrapped(found, extent)
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
        """Extents and subscripts of a new array; two loops may slide over one dimension."""
        if len(counters) >= 2 and self.scope.chance(0.25):
            (a, first), (b, second) = counters[0], counters[1]
            joined = Extent(text=f"{first.text} + {second.text} - 1", value=first.value + second.value - 1)
            place = op.possible(op.binary("+", op.read(a), op.read(b)))
            rest = counters[2:]
            return (joined, *(e for _, e in rest)), (place, *(op.read(v) for v, _ in rest))
        return tuple(e for _, e in counters), tuple(op.read(v) for v, _ in counters)

    def _first_elements(self) -> Expression | None:
        """An element by a constant subscript, of a new array, where there is no loop."""
        scope = self.scope
        if scope.loops or scope.depth > 0 or len(scope.inputs) >= 2:
            return None
        array = scope.new_array("input", (self.random.choice(scope.extents),))
        return op.element(array, (op.integer(self.random.randrange(array.shape[0].value)),))


def _indexable(array: Array, variable: Variable) -> bool:
    return any(variable.low >= 0 and variable.high < e.value for e in array.shape)
