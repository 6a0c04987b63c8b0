"""Statements, generated from the end of a block to its start.

Source: Barany 2017, "Liveness-Driven Random Program Generation" (LOPSTR, arXiv 1709.04421): a statement is
generated only for a variable that is live after it. Differs: the variables that a loop carries are chosen
before its body, as sums and as variables that are updated from themselves, instead of by a fixed point;
arrays are live as a whole until a nest overwrites every element; loops have bounds and variables have ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pipelines.base.summation import ordered_sum
from pipelines.c.signature import INT32, ScalarType
from pipelines.programs.ast import operations as op
from pipelines.programs.ast.expressions import ExpressionWriter
from pipelines.programs.ast.options import CONTROLS
from pipelines.programs.ast.scope import Frame, Scope, domain_of
from pipelines.programs.ast.tree import (
    Array,
    Assign,
    Binary,
    Declare,
    DeclareArray,
    Element,
    Expression,
    Extent,
    For,
    If,
    Leave,
    Read,
    Return,
    Statement,
    Switch,
    Variable,
    While,
)

Body = tuple[Statement, ...]
Root = Callable[[], Body]
_EXTRA = 0.4
_NOT_COMPOUND = (*op.COMPARISONS, "&&", "||")
_MOST_DEFINITIONS = 60
_MOST_VALUES = 16


class StatementWriter:
    """Blocks of a function; every method returns statements that precede those generated so far."""

    def __init__(self, scope: Scope, expressions: ExpressionWriter) -> None:
        self.scope = scope
        self.random = scope.random
        self.expressions = expressions

    # ---- blocks -------------------------------------------------------------------------------------

    def block(self, frame: Frame, root: Root) -> Body:
        """Return a block that ends with the statements of `root`, after definitions of their variables."""
        scope = self.scope
        scope.frames.append(frame)
        body = root()
        while scope.budget > 0 and scope.chance(_EXTRA):
            body = (*self.extra(), *body)
        if frame.leaves and scope.chance(scope.options.control_share):
            body = (*self.guard(frame), *body)
        body = (*self.definitions(frame), *body)
        scope.frames.pop()
        return body

    def definitions(self, frame: Frame) -> Body:
        """Return the definitions of everything that is pending in a block."""
        scope = self.scope
        body: Body = ()
        while frame.pending or (len(scope.frames) == 1 and scope.local_arrays):
            if frame.pending:
                body = (*self.definition(frame, self.random.choice(frame.pending)), *body)
            else:
                body = (*self.array_definition(scope.local_arrays[-1]), *body)
            if len(body) > _MOST_DEFINITIONS:
                scope.budget = 0
        return body

    def guard(self, frame: Frame) -> Body:
        """Return `if (condition) continue;`, `break;` or `return` in a loop."""
        if self.scope.draws("early_returns", 0.4):
            return self.early_return()
        weights = [self.weight(word) for word in frame.leaves]
        if ordered_sum(weights) == 0:
            return ()
        word = self.random.choices(frame.leaves, weights)[0]
        conditions = self.expressions.conditions
        condition = conditions.rare_condition() if word == "break" else conditions.data_condition()
        return () if condition is None else (If(condition=condition, then=(Leave(word=word),)),)

    def early_return(self) -> Body:
        """Return `if (condition) return` of a value that the function may have as its result."""
        condition = self.expressions.conditions.rare_condition()
        if condition is None:
            return ()
        returned = self.scope.returned
        value = None if returned is None else self.expressions.assigned(op.read(returned), depth=1)
        return (If(condition=condition, then=(Return(value=value),)),)

    def weight(self, control: str) -> float:
        """Return the weight of a kind of control flow."""
        return self.scope.options.control_weights[CONTROLS.index(control)]

    # ---- definitions of variables -------------------------------------------------------------------

    def definition(self, frame: Frame, variable: Variable) -> Body:
        """Return the statements that change or define a pending variable; a change leaves it pending."""
        scope = self.scope
        levels = scope.demanded.pop(variable.name, 0)
        if levels:
            return self.reduction(variable, levels)
        if variable.name not in scope.locked and variable.name not in scope.sums and scope.budget > 0:
            chosen = self.controlled_definition(frame, variable)
            if chosen is not None:
                scope.budget -= 1
                return chosen
        frame.pending.remove(variable)
        return (Declare(variable=variable, value=self.first_value(variable)),)

    def first_value(self, variable: Variable) -> Expression:
        """Return the initial value of a variable; of a sum at most the remaining magnitude."""
        if variable.name in self.scope.sums:
            return self.first_of_sum(variable)
        place = op.read(variable)
        depth = 1 if self.scope.budget <= 0 else 0
        return self.expressions.assigned(place, depth=depth)

    def first_of_sum(self, variable: Variable) -> Expression:
        """Return 0, or a value within the remaining magnitude."""
        room = int(self.scope.sums[variable.name]) - 1
        if room < 64 or self.scope.chance(0.7):
            return op.constant(0.0 if variable.type.floating else 0, domain_of(variable.type))
        leaf = self.expressions.into(domain_of(variable.type), self.expressions.leaf(variable.type))
        return self.expressions.stored(leaf, variable.type, -room, room)

    def controlled_definition(self, frame: Frame, variable: Variable) -> Body | None:
        """Return a definition or change with control flow, or None for a plain one."""
        scope = self.scope
        if not scope.chance(scope.options.control_share):
            return None
        forms: list[tuple[float, Callable[[Frame, Variable], Body | None]]] = [
            (self.weight("if"), self.branches),
            (self.weight("if"), self.conditional_change),
            (self.weight("switch"), self.switch_definition),
            (self.weight("while"), self.halving_loop),
            (self.weight("while"), self.search),
        ]
        if not any(w for w, _ in forms):
            return None
        return self.random.choices([f for _, f in forms], [w for w, _ in forms])[0](frame, variable)

    def branches(self, frame: Frame, variable: Variable) -> Body:
        """Declare a variable without a value, and set it in both branches."""
        frame.pending.remove(variable)
        place = op.read(variable)
        then, other = self.alternatives([lambda: (self.assignment(place),)] * 2)
        split = If(condition=self.expressions.conditions.condition(), then=then, otherwise=other)
        return Declare(variable=variable, value=None), split

    def conditional_change(self, _frame: Frame, variable: Variable) -> Body:
        """Return `if` without `else`: the value from before lives on."""
        body = self.block(Frame(), lambda: (self.update(op.read(variable)),))
        return (If(condition=self.expressions.conditions.condition(), then=body),)

    def switch_definition(self, frame: Frame, variable: Variable) -> Body | None:
        """Declare a variable without a value, and set it in every case of a switch."""
        frame.pending.remove(variable)
        selector, count = self.selector()
        if selector is None:
            frame.pending.append(variable)
            return None
        place = op.read(variable)
        labels: list[int | None] = [*range(count - 1), None]
        bodies = self.alternatives([lambda: (self.assignment(place),)] * count)
        cases = tuple(zip(labels, bodies, strict=True))
        falls = frozenset(n for n in range(count - 1) if self.scope.draws("fall_through", 0.4))
        return Declare(variable=variable, value=None), Switch(selector=selector, cases=cases, falls=falls)

    def selector(self) -> tuple[Expression | None, int]:
        """Return a value 0 .. n - 1, and n: 3 or 4."""
        leaf = self.expressions.conditions.selector()
        low_bits = op.binary("&", leaf, op.integer(3))
        if low_bits is not None and self.scope.chance(0.3) and leaf.low >= 0:
            return op.binary("%", leaf, op.integer(3)) or low_bits, 3
        return low_bits, 4

    def alternatives(self, roots: Sequence[Root]) -> list[Body]:
        """Return the alternative blocks: variables that only one of them reads are not live in the others."""
        scope = self.scope
        live, locked = scope.live_names(), len(scope.locked)
        bodies: list[Body] = []
        for root in roots:
            bodies.append(self.block(Frame(), root))
            scope.locked[locked:] = sorted(scope.live_names() - live)
        del scope.locked[locked:]
        return bodies

    def halving_loop(self, _frame: Frame, variable: Variable) -> Body | None:
        """Return `while (bits > 0)` over the digits of a number, which change the variable."""
        scope = self.scope
        bits = self.random.randint(3, 6)
        if scope.loops >= scope.depth or scope.trips * bits > scope.options.max_iterations:
            return None
        counter = Variable(name=scope.names.new("bits"), type=INT32, low=0, high=(1 << bits) - 1)
        scope.frame.pending.append(counter)
        scope.locked.append(counter.name)
        place = op.read(counter)
        step = Assign(target=place, operator=">>=", value=op.integer(1), control=True)
        frame = Frame(loop=counter, trips=bits, is_loop=True, leaves=("break",))
        body = self.block(frame, lambda: (self.update(op.read(variable), [place]), step))
        condition = op.compare(">", place, op.integer(0))
        return (While(condition=op.possible(condition), trips=bits, body=body),)

    def search(self, frame: Frame, variable: Variable) -> Body | None:
        """Set a variable to the length of a run of elements: `while (v < N && a[v] < t) v++`."""
        scope = self.scope
        extent = scope.loop_extent()
        fits = not variable.type.floating and variable.low <= 0 and extent.value <= variable.high
        if not fits or not scope.can_loop() or scope.trips * extent.value > scope.options.max_iterations:
            return None
        inside = Variable(name=variable.name, type=variable.type, low=0, high=extent.value - 1)
        place = op.read(variable)
        scope.frames.append(Frame(loop=inside, extent=extent, trips=extent.value, is_loop=True))
        frame.pending.remove(variable)
        condition_inside = self.expressions.conditions.condition_on(inside)
        scope.frames.pop()
        frame.pending.append(variable)
        limit = op.compare("<", place, op.extent_value(extent))
        if condition_inside is None or limit is None:
            return None
        frame.pending.remove(variable)
        condition = op.possible(op.binary("&&", limit, condition_inside))
        step = Assign(target=place, operator="+=", value=op.integer(1), control=True)
        start = Declare(variable=variable, value=op.constant(0, INT32))
        return start, While(condition=condition, trips=extent.value, body=(step,))

    # ---- loops --------------------------------------------------------------------------------------

    def reduction(self, variable: Variable, levels: int) -> Body:
        """Return a nest of `levels` loops that adds to a variable, perfect or with sums of its own inside."""
        outer = self.random.randint(1, levels)
        plain = self.scope.chance(0.35)
        outer = levels if plain else outer

        def root() -> Body:
            required = self.inner_sum(levels - outer, domain_of(variable.type))
            return self.controlled(lambda: (self.update(op.read(variable), required),))

        return (self.nest([self.scope.loop_extent() for _ in range(outer)], root),)

    def inner_sum(self, levels: int, domain: ScalarType) -> list[Expression]:
        """Return a new sum over `levels` loops inside the current block, as a leaf; none for 0."""
        return [op.read(self.scope.new_sum(domain, levels))] if levels > 0 else []

    def nest(self, extents: Sequence[Extent], root: Root, *, covering: bool = False) -> Statement:
        """Return the loops around each other over given lengths, with a root in the innermost."""
        extent, rest = self.fitting(extents[0]) if not covering else extents[0], extents[1:]
        name = self.scope.loop_name()
        header = self.header(name, extent, covering=covering)
        leaves = () if covering else ("continue", "break")
        frame = Frame(
            loop=header.variable,
            extent=extent,
            trips=header.trips,
            covering=covering,
            is_loop=True,
            leaves=leaves,
        )
        inner: Root = root if not rest else lambda: (self.nest(rest, root, covering=covering),)
        body = self.block(frame, inner)
        return For(
            variable=header.variable,
            start=header.start,
            relation=header.relation,
            bound=header.bound,
            step=header.step,
            trips=header.trips,
            body=body,
        )

    def fitting(self, extent: Extent) -> Extent:
        """Return a length, or a shorter one when the enclosing loops leave no room for it."""
        if self.scope.trips * extent.value <= self.scope.options.max_iterations:
            return extent
        return self.scope.loop_extent()

    def header(self, name: str, extent: Extent, *, covering: bool) -> For:
        """Return head of a loop over a length: up, down, in steps, with a margin, or bounded by a loop."""
        last = op.constant(extent.value - 1, INT32, f"{extent.text} - 1")
        zero, whole = op.integer(0), op.extent_value(extent)
        form = self.random.random()
        outer = [v for v, _ in self.scope.counters() if v.low == 0 and v.high < extent.value]
        if form < 0.06:
            return _head(name, 0, extent.value - 1, (last, ">=", zero, -1), extent.value)
        if not covering and form < 0.14 and extent.value >= 6:
            return _head(name, 0, extent.value - 1, (zero, "<", whole, 2), (extent.value + 1) // 2)
        if not covering and form < 0.24 and extent.value >= 5:
            return _head(name, 1, extent.value - 2, (op.integer(1), "<", last, 1), extent.value - 2)
        share = self.scope.options.control_share * self.weight("triangular") * 0.3
        if not covering and outer and self.scope.chance(min(share, 0.5)):
            bound = self.random.choice(outer)
            return _head(name, 0, int(bound.high), (zero, "<=", op.read(bound), 1), int(bound.high) + 1)
        return _head(name, 0, extent.value - 1, (zero, "<", whole, 1), extent.value)

    # ---- arrays -------------------------------------------------------------------------------------

    def array_definition(self, array: Array) -> Body:
        """Return a local array and the nest that sets every element, or the array with values."""
        scope = self.scope
        short = len(array.shape) == 1 and array.shape[0].value <= _MOST_VALUES
        if short and scope.draws("local_values", 0.6):
            scope.local_arrays.remove(array)
            values = scope.initial_values(array.type, array.drawn, array.shape)
            return (DeclareArray(array=replace(array, values=values)),)
        levels = 1 if scope.depth > len(array.shape) and scope.chance(0.4) else 0
        return DeclareArray(array=array), self.cover(array, levels)

    def cover(self, array: Array, levels: int) -> Statement:
        """Return a nest that sets every element of an array, dead before, with sums over `levels` loops."""
        scope = self.scope
        scope.barred.append(array.name)

        def root() -> Body:
            counters = [op.read(v) for v in scope.loop_variables()]
            place = op.element(array, tuple(counters[-len(array.shape) :]))
            return self.stores(place, self.inner_sum(levels, domain_of(array.type)))

        nest = self.nest(array.shape, root, covering=True)
        scope.barred.remove(array.name)
        if array in scope.local_arrays:
            scope.local_arrays.remove(array)
        else:
            scope.closed.append(array.name)
        return nest

    def stores(self, place: Element, required: list[Expression]) -> Body:
        """Set an element, in one statement or in both branches of a condition."""
        scope = self.scope
        required = [*required, *([] if required else self.expressions.places.innermost_leaf())]
        if scope.budget > 0 and scope.chance(scope.options.control_share * 0.6) and self.weight("if"):
            scope.budget -= 1
            root: Root = lambda: (self.assignment(place, required),)  # noqa: E731
            then, other = self.alternatives([root, root])
            return (If(condition=self.expressions.conditions.condition(), then=then, otherwise=other),)
        stored = self.assignment(place, required)
        if scope.draws("dead_stores", 0.2):
            return (self.assignment(place), stored)
        return (stored,)

    def accumulation(self, array: Array, levels: int) -> Statement:
        """Return a nest of `levels` loops that updates elements of an array in place."""
        scope = self.scope
        extents = [*array.shape, *(scope.loop_extent() for _ in range(levels - len(array.shape)))]
        self.random.shuffle(extents)
        outer = self.random.randint(len(array.shape), max(levels, len(array.shape)))

        def root() -> Body:
            required = self.inner_sum(levels - outer, domain_of(array.type))
            place = self.expressions.places.updated(array)
            return self.controlled(lambda: (self.update(place, required),))

        return self.nest(extents[:outer], root)

    # ---- single statements --------------------------------------------------------------------------

    def controlled(self, root: Root) -> Body:
        """Return a change of a live variable or element, perhaps under a condition."""
        scope = self.scope
        if self.weight("if") and scope.chance(scope.options.control_share * 0.5):
            body = self.block(Frame(), root)
            return (If(condition=self.expressions.conditions.condition(), then=body),)
        return root()

    def assignment(self, place: Read | Element, required: Sequence[Expression] = ()) -> Assign:
        """Set a place to a new value."""
        room = self.scope.sums.get(place.array.name) if isinstance(place, Element) else None
        if room is None:
            return Assign(target=place, operator="=", value=self.expressions.assigned(place, required))
        value = self.expressions.value(domain_of(place.type), required)
        value = self.expressions.stored(value, place.type, *_both(room, place.type))
        return Assign(target=place, operator="=", value=value)

    def update(self, place: Read | Element, required: Sequence[Expression] = ()) -> Assign:
        """Change a place from its own value."""
        scope = self.scope
        name = place.variable.name if isinstance(place, Read) else place.array.name
        domain = domain_of(place.type)
        leaves = [*required, *([] if required else self.expressions.places.innermost_leaf())]
        if name not in scope.sums:
            value = self.expressions.changed(place, leaves)
            if isinstance(value, Binary) and value.left == place and value.operator not in _NOT_COMPOUND:
                return Assign(target=place, operator=f"{value.operator}=", value=value.right)
            return Assign(target=place, operator="=", value=value)
        room = scope.sums[name] / 2 / scope.trips_within(name)
        if not place.type.floating:
            room = float(int(room))
        term = self.expressions.value(domain, leaves, avoided=[place])
        term = self.expressions.stored(term, place.type, *_both(room, place.type))
        scope.sums[name] -= max(abs(term.low), abs(term.high)) * scope.trips_within(name) * 1.0001
        operators = ("+=", "+=", "+=", "-=" if "-" in scope.options.operators else "+=")
        return Assign(target=place, operator=self.random.choice(operators), value=term)

    def extra(self) -> Body:
        """Return a further change of a live variable or element, for the budget."""
        scope = self.scope
        scope.budget -= 1
        variables = [v for v in scope.updatable() if scope.sums.get(v.name, 1e9) > 1e6]
        arrays = [a for a in scope.writable_arrays() if scope.sums.get(a.name, 1e9) > 1e6]
        if scope.counters() and arrays and scope.chance(0.4) and not self.inside_cover():
            array = self.random.choice(arrays)
            place = self.expressions.places.updated(array)
            return self.controlled(lambda: (self.update(place),))
        if not variables:
            return ()
        variable = self.random.choice(variables)
        if scope.can_loop() and scope.chance(0.3) and not self.inside_cover():
            return self.reduction(variable, 1)
        return self.controlled(lambda: (self.update(op.read(variable)),))

    def inside_cover(self) -> bool:
        """Tell whether a nest around the current point sets an array as a whole."""
        return any(f.covering for f in self.scope.frames)


def _both(room: float, kind: ScalarType) -> tuple[float | int, float | int]:
    return (-room, room) if kind.floating else (-int(room), int(room))


def _head(
    name: str,
    low: int,
    high: int,
    header: tuple[Expression, str, Expression, int],
    trips: int,
) -> For:
    start, relation, bound, step = header
    variable = Variable(name=name, type=INT32, low=low, high=high)
    return For(
        variable=variable, start=start, relation=relation, bound=bound, step=step, trips=trips, body=()
    )
