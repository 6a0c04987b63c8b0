"""Sizes of pointer arguments that the program does not give: as many elements as its accesses reach.

The program is run once on intervals instead of numbers. A loop runs as often as its bounds or its condition
allow for the drawn values of the arguments; where neither ends it, its variables have any value of their
type. Both branches of an undecided condition are followed, each with what the condition says. Where that has
no bound, as for `n - 1` of an unsigned `n` that may be 0, each scalar argument has its highest value.

Source: Cousot and Cousot 1977, as in `ranges`. Differs in that loops are run through instead of widened, so
        that a pointer that moves along a counted loop has a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.intervals import (
    BOOLEAN,
    OPPOSITE,
    TURNED,
    Range,
    binary_range,
    join,
    limited,
    meet,
    selected_range,
    wrapped,
)
from pipelines.c.arithmetic import value_range
from pipelines.c.errors import HlsError, UnsizedArgument
from pipelines.c.frontend import read_function
from pipelines.c.signature import ScalarType

LARGEST_SIZES = (1 << 16, 1 << 8, 1 << 4)
"""Most elements that an argument gets without being told; fewer for large elements."""

MAXIMUM_RUN = 100_000
"""Statements run; after them loops have variables of any value. Some 2 s."""

_MODES = ((False, False), (True, False), (True, True))
"""Whether elements of arrays have drawn values, not any; whether scalar arguments have the highest ones."""

Drawn = Callable[[str, ScalarType], Range]
"""Range of an argument's drawn values, by its name and type."""

_State = dict[str, Range]


def derive_sizes(source: str, *, top: str, drawn: Drawn, file: str = "program.c") -> dict[str, int]:
    """Return the elements of the top function's pointer arguments that need a size and have none.

    Args:    drawn: range of an integer argument's values, or of an array argument's elements.
    Returns: the smallest sizes that hold every access; an argument whose accesses have no bound is left out.
    Raises:  HlsError: outside the accepted subset.
    """
    for limit in LARGEST_SIZES:
        try:
            function, unsized = read_with_sizes(source, top=top, file=file, size=limit)
        except HlsError as error:
            if "elements" in error.rule and limit != LARGEST_SIZES[-1]:
                continue  # an element of the argument is large
            raise
        numbers = {a.name: a.shape[0] // limit for a in function.arrays if a.name in unsized}
        sizes: dict[str, int] = {}
        for of_elements, highest in _MODES if unsized else ():
            body = _reduced(function.body, frozenset(unsized))
            stored = frozenset(ir.stored_arrays(function.body))
            run = _Run(
                function=replace(function, body=body),
                drawn=drawn,
                of_elements=of_elements,
                highest=highest,
                stored=stored,
            )
            reached = run.highest_indices()
            elements = {name: reached.get(name, 0) // numbers[name] + 1 for name in unsized}
            sizes = {name: n for name, n in elements.items() if n <= limit} | sizes
            if len(sizes) == len(unsized):
                break
        return sizes
    raise AssertionError


def read_with_sizes(source: str, *, top: str, file: str, size: int) -> tuple[ir.Function, tuple[str, ...]]:
    """Read the program with one size for all pointer arguments that need one, and their names.

    Raises: HlsError: outside the accepted subset.
    """
    unsized: list[str] = []
    while True:
        try:
            sizes = dict.fromkeys(unsized, size)
            return read_function(source, top=top, file=file, sizes=sizes), tuple(unsized)
        except UnsizedArgument as error:
            unsized.append(error.argument)


def _reduced(body: Sequence[ir.Statement], arrays: frozenset[str]) -> tuple[ir.Statement, ...]:
    """Return the statements that access some arrays, or decide where and whether others do."""
    names: set[str] = set()
    while True:
        before = len(names)
        kept = _relevant_statements(body, arrays, names)
        if len(names) == before:
            return kept


def _relevant_statements(
    body: Sequence[ir.Statement], arrays: frozenset[str], names: set[str]
) -> tuple[ir.Statement, ...]:
    """Return statements that assign a variable, access an array, or leave; add the variables they read."""
    kept: list[ir.Statement] = []
    for statement in body:
        own = [p for e in ir.statement_expressions(statement) for p in ir.walk_expressions(e)]
        inner = [_relevant_statements(part, arrays, names) for part in ir.child_bodies(statement)]
        needed = any(inner) or isinstance(statement, ir.Leave | ir.Return)
        needed = needed or any(isinstance(p, ir.Load) and p.array.name in arrays for p in own)
        if isinstance(statement, ir.Assign):
            needed = needed or statement.variable.name in names
        elif isinstance(statement, ir.Store):
            needed = needed or statement.array.name in arrays
        if needed:
            names.update(p.variable.name for p in own if isinstance(p, ir.Read))
            names.update([statement.variable.name] if isinstance(statement, ir.For) else [])
            kept.append(ir.with_bodies(statement, tuple(inner)) if inner else statement)
    return tuple(kept)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run on intervals.

    Attributes:
        of_elements: elements of arrays that are only read have drawn values, not any.
        highest: scalar arguments have their highest drawn value, not any. stored: arrays that the program
            stores to.
        reached: highest first index of each external array.
        left: state at each block's end that statements inside jump to.
        statements: run so far.
    """

    function: ir.Function
    drawn: Drawn
    of_elements: bool
    highest: bool
    stored: frozenset[str]
    reached: dict[str, int] = field(default_factory=dict[str, int])
    left: dict[str, _State] = field(default_factory=dict[str, _State])
    statements: int = 0
    _elements: dict[str, Range] = field(default_factory=dict[str, Range])

    def highest_indices(self) -> dict[str, int]:
        """Return the highest first index of every external array that is used."""
        stored = self.stored
        for array in self.function.arrays:
            if array.type.floating:
                continue
            if array.initial is not None:
                values = (*array.initial, 0)
                self._elements[array.name] = (min(values), max(values))
            elif self.of_elements and array.external and array.name not in stored and array.structure is None:
                self._elements[array.name] = self.drawn(array.name, array.type)
        state: _State = {
            p.name: self._argument(p)
            for p in self.function.parameters
            if isinstance(p, ir.Variable) and not p.type.floating
        }
        self.run(self.function.body, state)
        return self.reached

    def _argument(self, parameter: ir.Variable) -> Range:
        low, high = self.drawn(parameter.name, parameter.type)
        return (high, high) if self.highest else (low, high)

    # ---- expressions --------------------------------------------------------------------------------

    def value(self, expression: ir.Expression, state: _State) -> Range | None:
        """Return the range of an expression; None for a floating one. Accesses inside are recorded."""
        kind = ir.type_of(expression)
        match expression:
            case ir.Constant():
                return None if kind.floating else (expression.value, expression.value)
            case ir.Read():
                return None if kind.floating else state.get(expression.variable.name, value_range(kind))
            case ir.Load():
                return self._load(expression, state)
            case ir.Cast():
                own = self.value(expression.operand, state)
                if kind.floating:
                    return None
                return value_range(kind) if own is None or expression.bits else wrapped(*own, kind)
            case ir.Unary():
                return self._unary(expression, state)
            case ir.Binary():
                left, right = self.value(expression.left, state), self.value(expression.right, state)
                if left is None or right is None:
                    compared = expression.operator in ir.COMPARISONS
                    return BOOLEAN if compared else None if kind.floating else value_range(kind)
                return binary_range(expression.operator, left, right, kind)
            case ir.Select():
                return self._select(expression, state)

    def _load(self, load: ir.Load, state: _State) -> Range | None:
        self.access(load.array, load.indices, load.predicate, state)
        if load.array.type.floating:
            return None
        return self._elements.get(load.array.name, value_range(load.array.type))

    def _unary(self, expression: ir.Unary, state: _State) -> Range | None:
        own, kind = self.value(expression.operand, state), expression.type
        if kind.floating:
            return None
        if own is None or expression.operator not in ("neg", "not"):
            return value_range(kind)
        low, high = (-own[1], -own[0]) if expression.operator == "neg" else (~own[1], ~own[0])
        return wrapped(low, high, kind)

    def _select(self, expression: ir.Select, state: _State) -> Range | None:
        condition = self.value(expression.condition, state) or BOOLEAN
        values: list[Range | None] = []
        for branch, holds in ((expression.if_true, True), (expression.if_false, False)):
            inside = self.under(expression.condition, holds, state)
            values.append((0, 0) if inside is None else self.value(branch, inside))
        if values[0] is None or values[1] is None:
            return None if expression.type.floating else value_range(expression.type)
        return selected_range(condition, values[0], values[1])

    def access(
        self,
        array: ir.Array,
        indices: Sequence[ir.Expression],
        predicate: ir.Expression | None,
        state: _State,
    ) -> None:
        """Record the elements that an access can reach."""
        if predicate is not None:
            inside = self.under(predicate, True, state)
            if inside is None:
                return
            state = inside
        ranges = [self.value(index, state) for index in indices]
        if array.external and ranges:
            first = ranges[0]
            high = 1 << 31 if first is None else max(0, first[1])
            self.reached[array.name] = max(self.reached.get(array.name, 0), high)

    # ---- conditions ---------------------------------------------------------------------------------

    def under(self, condition: ir.Expression, holds: bool, state: _State) -> _State | None:
        """Return the state where a condition holds or does not; None where it cannot."""
        own = self.value(condition, state)
        if own is not None and limited("ne" if holds else "eq", own, (0, 0)) is None:
            return None
        match condition:
            case ir.Binary() if condition.operator in ir.COMPARISONS:
                operator = condition.operator if holds else OPPOSITE[condition.operator]
                narrowed = self._narrowed(condition.left, operator, condition.right, state)
                if narrowed is None:
                    return None
                return self._narrowed(condition.right, TURNED[operator], condition.left, narrowed)
            case ir.Binary() if condition.operator == ("and" if holds else "or") and _are_booleans(condition):
                left = self.under(condition.left, holds, state)
                return None if left is None else self.under(condition.right, holds, left)
            case ir.Read() | ir.Cast():
                zero = ir.Constant(value=0, type=ir.type_of(condition))
                return self._narrowed(condition, "ne" if holds else "eq", zero, state)
            case _:
                return state

    def _narrowed(
        self, value: ir.Expression, operator: str, other: ir.Expression, state: _State
    ) -> _State | None:
        """Return state where `value operator other` holds, with a smaller range of a variable in `value`."""
        own, bound = self.value(value, state), self.value(other, state)
        if own is None or bound is None:
            return state
        narrower = limited(operator, own, bound)
        if narrower is None:
            return None
        shift = 0
        while True:
            match value:
                case ir.Cast() if not value.bits and self.value(value.operand, state) == own:
                    value = value.operand
                case ir.Binary() if value.operator in ("add", "sub") and isinstance(value.right, ir.Constant):
                    step = value.right.value if value.operator == "add" else -value.right.value
                    inner = self.value(value.left, state)
                    if inner is None or (inner[0] + step, inner[1] + step) != own:
                        return state
                    own, shift, value = inner, shift + step, value.left
                case ir.Read():
                    meeting = meet(own, (narrower[0] - shift, narrower[1] - shift))
                    return None if meeting is None else {**state, value.variable.name: meeting}
                case _:
                    return state

    # ---- statements ---------------------------------------------------------------------------------

    def run(self, body: Sequence[ir.Statement], state: _State | None) -> _State | None:
        """Run statements; the state after them, None when control does not get there."""
        for statement in body:
            if state is None:
                return None
            self.statements += 1
            state = self.step(statement, state)
        return state

    def step(self, statement: ir.Statement, state: _State) -> _State | None:
        match statement:
            case ir.Assign():
                value = self.value(statement.value, state)
                name = statement.variable.name
                return state if value is None else {**state, name: value}
            case ir.Store():
                self.value(statement.value, state)
                self.access(statement.array, statement.indices, statement.predicate, state)
                return state
            case ir.If():
                then = self.run(statement.then, self.under(statement.condition, True, state))
                otherwise = self.run(statement.otherwise, self.under(statement.condition, False, state))
                return _joined(then, otherwise)
            case ir.Block():
                after = self.run(statement.body, state)
                return _joined(after, self.left.pop(statement.label, None))
            case ir.Leave():
                there = _joined(state, self.left.get(statement.label))
                assert there is not None
                self.left[statement.label] = there
                return None
            case ir.For():
                return self.counted(statement, state)
            case ir.While():
                return self.conditional(statement, state)
            case ir.Return():
                if statement.value is not None:
                    self.value(statement.value, state)
                return None

    def counted(self, loop: ir.For, state: _State) -> _State | None:
        kind = loop.variable.type
        variable, step = ir.Read(variable=loop.variable), ir.Constant(value=loop.step, type=kind)
        condition = ir.Binary(operator=loop.comparison, left=variable, right=loop.upper)
        after = ir.Binary(operator="add", left=variable, right=step, type=kind)
        lower = self.value(loop.lower, state)
        start = state if lower is None else {**state, loop.variable.name: lower}
        advance = ir.Assign(variable=loop.variable, value=after, line=loop.line)
        whole = ir.While(name=loop.name, body=(*loop.body, advance), line=loop.line, condition=condition)
        return self.conditional(whole, start)

    def conditional(self, loop: ir.While, state: _State) -> _State | None:
        """Return a loop, run until its condition fails or its state repeats."""
        out: _State | None = None
        now: _State | None = state
        first, seen = not loop.test_first, None
        while now is not None and now != seen:
            if self.statements > MAXIMUM_RUN and seen is not None:
                now = self._any_iteration(loop, _joined(seen, now) or now)
                return _joined(out, None if now is None else self.under(loop.condition, False, now))
            seen = now
            if not first:
                out = _joined(out, self.under(loop.condition, False, now))
                now = self.under(loop.condition, True, now)
            first = False
            now = self.run(loop.body, now)
        return out

    def _any_iteration(self, loop: ir.While, state: _State) -> _State | None:
        """Return the state before some iteration of a loop whose variables may have any value."""
        assigned = ir.assigned_variables(loop.body)
        state = {name: own for name, own in state.items() if name not in assigned}
        self.run(loop.body, self.under(loop.condition, True, state) if loop.test_first else state)
        return state


def _are_booleans(condition: ir.Binary) -> bool:
    """Tell whether both parts of a condition are 0 or 1."""
    return all(
        isinstance(part, ir.Binary) and part.operator in (*ir.COMPARISONS, "and", "or")
        for part in (condition.left, condition.right)
    )


def _joined(first: _State | None, second: _State | None) -> _State | None:
    """Join two states: a variable that only one has may have any value."""
    if first is None or second is None:
        return second if first is None else first
    if first == second:
        return first
    return {name: join(own, second[name]) for name, own in first.items() if name in second}


def sizes_text(sizes: Mapping[str, int]) -> str:
    """Return the pragma that gives sizes."""
    return f"#pragma simfoundry size {' '.join(f'{name}={size}' for name, size in sizes.items())}\n"
