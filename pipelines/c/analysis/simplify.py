"""Simplification: propagation of known values and removal of unneeded code.

The forward walk keeps for each variable a constant or another variable it equals. Branches use the same
table; the changes of a branch are undone from a log and joined with those of the other branch, so that the
work is proportional to the changes. At a loop everything that the loop assigns is forgotten first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.copying import Body, map_own
from pipelines.c.analysis.counting import exact_trips, value_at
from pipelines.c.analysis.folding import (
    Interval,
    bit_variables,
    canonical_sum,
    fold_binary,
    fold_cast,
    fold_select,
    fold_unary,
    interval_of,
    negate,
)
from pipelines.c.analysis.liveness import remove_dead_values, remove_unneeded
from pipelines.c.arithmetic import value_range


def simplify(function: ir.Function) -> ir.Function:
    """Propagate constants and copies, fold conditions and loops, remove unneeded code.

    Returns: an equivalent function. Loops that run once or never are removed, as are local arrays that are
             never loaded, with their stores; each index is one sum in canonical order.
    """
    forward = _Forward(tables=_tables(function), ranges=bit_variables(function))
    body, _ = forward.body(function.body)
    return remove_unneeded(replace(function, body=body))


def _tables(function: ir.Function) -> frozenset[str]:
    """Return the names of the local arrays with values that are never stored to."""
    stored = ir.stored_arrays(function.body)
    return frozenset(
        a.name for a in function.arrays if not a.external and a.initial is not None and a.name not in stored
    )


@dataclass(frozen=True, slots=True)
class _Fact:
    """A variable's value: a constant, or another variable while it has this version."""

    value: ir.Constant | ir.Read
    version: int = 0


_State = tuple[_Fact | None, int]
"""The known value of a variable, and its version."""


@dataclass(slots=True)
class _Known:
    """Known values of the variables at one point, with a log of changes per open branch."""

    states: dict[str, _State] = field(default_factory=dict[str, _State])
    logs: list[dict[str, _State]] = field(default_factory=list[dict[str, _State]])
    count: int = 0

    def value(self, variable: ir.Variable) -> ir.Expression | None:
        """Return the constant or other variable that a variable equals here."""
        fact = self.states.get(variable.name, _NOTHING)[0]
        if fact is None or isinstance(fact.value, ir.Constant):
            return None if fact is None else fact.value
        return fact.value if self.version(fact.value.variable.name) == fact.version else None

    def version(self, name: str) -> int:
        return self.states.get(name, _NOTHING)[1]

    def assign(self, name: str, value: ir.Expression | None) -> None:
        """Set the known value of a variable, None when it is unknown."""
        fact = None
        if isinstance(value, ir.Constant):
            fact = _Fact(value)
        elif isinstance(value, ir.Read) and value.variable.name != name:
            fact = _Fact(value, self.version(value.variable.name))
        elif isinstance(value, ir.Read):
            return
        self.count += 1
        self.set(name, (fact, self.count))

    def set(self, name: str, state: _State) -> None:
        if self.logs:
            self.logs[-1].setdefault(name, self.states.get(name, _NOTHING))
        self.states[name] = state

    def forget(self, names: Iterable[str]) -> None:
        """Drop the values of variables that may have changed."""
        for name in sorted(names):
            self.assign(name, None)

    def open(self) -> None:
        self.logs.append({})

    def close(self) -> dict[str, _State]:
        """Return the end a branch: undo its changes and return them."""
        log = self.logs.pop()
        changed = {name: self.states[name] for name in log}
        self.states.update(log)
        return changed

    def join(self, first: dict[str, _State], second: dict[str, _State]) -> None:
        """End a branch: undo its changes and return them."""
        for name in dict.fromkeys((*first, *second)):
            present = self.states.get(name, _NOTHING)
            facts = tuple(branch.get(name, present)[0] for branch in (first, second))
            self.count += 1
            self.set(name, (facts[0] if facts[0] == facts[1] else None, self.count))

    def go_on(self, changes: dict[str, _State]) -> None:
        """Continue with the changes of the only branch that continues."""
        for name, state in changes.items():
            self.set(name, state)


_NOTHING: _State = (None, 0)


@dataclass(slots=True)
class _Forward:
    """The forward walk.

    Attributes:
        ranges: ranges of bits and of the variables of the loops around.
        stepping: variables of flattened nests; their ranges hold until they step.
    """

    tables: frozenset[str]
    known: _Known = field(default_factory=_Known)
    ranges: dict[str, Interval] = field(default_factory=dict[str, Interval])
    stepping: set[str] = field(default_factory=set[str])

    # ---- expressions ------------------------------------------------------------------------------

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """Return expression with known values inserted, simplified; the same object when nothing changes."""
        match expression:
            case ir.Constant():
                return expression
            case ir.Read():
                return self.known.value(expression.variable) or expression
            case ir.Binary():
                left, right = self.expression(expression.left), self.expression(expression.right)
                folded = fold_binary(expression.operator, left, right, self.ranges)
                return expression if _is_shallow_copy(folded, expression) else folded
            case ir.Load():
                return self.load(expression)
            case ir.Cast():
                folded = fold_cast(self.expression(expression.operand), expression.type, bits=expression.bits)
                return expression if _is_shallow_copy(folded, expression) else folded
            case ir.Unary():
                folded = fold_unary(expression.operator, self.expression(expression.operand))
                return expression if _is_shallow_copy(folded, expression) else folded
            case ir.Select():
                parts = (expression.condition, expression.if_true, expression.if_false)
                folded = fold_select(*(self.expression(p) for p in parts), ranges=self.ranges)
                return expression if _is_shallow_copy(folded, expression) else folded

    def load(self, load: ir.Load) -> ir.Expression:
        predicate = None if load.predicate is None else self.expression(load.predicate)
        if isinstance(predicate, ir.Constant):
            if not predicate.value:
                return ir.Constant(value=0, type=load.array.type)
            predicate = None
        indices = tuple(self.index(i) for i in load.indices)
        if predicate is not None and self.is_inside(load.array, indices):
            predicate = None  # an element inside the array may be loaded needlessly
        if load.array.name in self.tables and predicate is None:
            element = _table_element(load.array, indices)
            if element is not None:
                return element
        if predicate is load.predicate and all(a is b for a, b in zip(indices, load.indices, strict=True)):
            return load
        return ir.Load(array=load.array, indices=indices, line=load.line, predicate=predicate)

    def is_inside(self, array: ir.Array, indices: tuple[ir.Expression, ...]) -> bool:
        """Tell whether indices are provably of an element; a bank may have positions past its array."""
        if array.external and array.argument is not None:
            return False
        ranges = [interval_of(i, self.ranges) for i in indices]
        return all(
            own is not None and own[0] >= 0 and own[1] < size
            for own, size in zip(ranges, array.shape, strict=True)
        )

    def index(self, expression: ir.Expression) -> ir.Expression:
        return canonical_sum(self.expression(expression))

    # ---- statements -------------------------------------------------------------------------------

    def body(self, body: Body) -> tuple[Body, bool]:
        """Return a simplified body, and whether control may reach its end."""
        output: list[ir.Statement] = []
        for statement in body:
            if not self.statement(statement, output):
                return tuple(output), False
        return tuple(output), True

    def statement(self, statement: ir.Statement, output: list[ir.Statement]) -> bool:
        """Add a simplified statement; returns whether control may continue after it."""
        match statement:
            case ir.Assign():
                mapped = map_own(statement, self.expression)
                assert isinstance(mapped, ir.Assign)
                self.known.assign(statement.variable.name, mapped.value)
                if statement.variable.name in self.stepping:
                    self.ranges.pop(statement.variable.name, None)
                if not _assigns_itself(mapped):
                    output.append(mapped)
            case ir.Store():
                self.store(statement, output)
            case ir.If():
                return self.condition(statement, output)
            case ir.Block():
                return self.block(statement, output)
            case ir.For():
                return self.counted(statement, output)
            case ir.While():
                return self.conditional(statement, output)
            case ir.Leave() | ir.Return():
                output.append(map_own(statement, self.expression))
                return False
        return True

    def store(self, store: ir.Store, output: list[ir.Statement]) -> None:
        predicate = None if store.predicate is None else self.expression(store.predicate)
        if isinstance(predicate, ir.Constant):
            if not predicate.value:
                return
            predicate = None
        indices, value = tuple(self.index(i) for i in store.indices), self.expression(store.value)
        output.append(
            ir.Store(array=store.array, indices=indices, value=value, line=store.line, predicate=predicate)
        )

    def branch(self, body: Body) -> tuple[Body, dict[str, _State] | None]:
        """Return a branch and its changes, None when control does not continue after it."""
        self.known.open()
        simplified, falls_through = self.body(body)
        changes = self.known.close()
        return simplified, changes if falls_through else None

    def condition(self, statement: ir.If, output: list[ir.Statement]) -> bool:
        condition = self.expression(statement.condition)
        if isinstance(condition, ir.Constant):
            return self.inline(statement.then if condition.value else statement.otherwise, output)
        then, changes = self.branch(statement.then)
        otherwise, other_changes = self.branch(statement.otherwise)
        if not then and not otherwise:
            return True
        if not then:
            then, otherwise, condition = otherwise, then, negate(condition)
        output.append(ir.If(condition=condition, then=then, otherwise=otherwise, line=statement.line))
        if changes is not None and other_changes is not None:
            self.known.join(changes, other_changes)
        elif changes is not None or other_changes is not None:
            self.known.go_on(changes or other_changes or {})
        else:
            return False
        return True

    def inline(self, body: Body, output: list[ir.Statement]) -> bool:
        """Replace a statement by the statements of its body."""
        simplified, falls_through = self.body(body)
        output += simplified
        return falls_through

    def block(self, block: ir.Block, output: list[ir.Statement]) -> bool:
        body, falls_through = self.body(block.body)
        kept = _without_last_leave(body, block.label)
        falls_through = falls_through or kept is not body
        if not any(isinstance(s, ir.Leave) and s.label == block.label for s in ir.walk_statements(kept)):
            if kept is not body:
                self.known.forget(ir.assigned_variables(block.body))
            output += kept
            return falls_through
        self.known.forget(ir.assigned_variables(block.body))
        output.append(replace(block, body=kept))
        return True

    # ---- loops ------------------------------------------------------------------------------------

    def counted(self, loop: ir.For, output: list[ir.Statement]) -> bool:
        bound, lower = loop.upper, self.expression(loop.lower)
        loop = replace(loop, lower=lower, upper=self.expression(bound))
        trips = exact_trips(loop)
        first = ir.Assign(variable=loop.variable, value=lower, line=loop.line)
        if trips == 0:
            return self.statement(first, output)
        if trips is not None and (trips == 1 or not loop.body):
            last = ir.Assign(variable=loop.variable, value=value_at(loop, trips), line=loop.line)
            return self.inline((first, *loop.body, last) if trips == 1 else (last,), output)
        self.known.forget(ir.assigned_variables((loop,)))
        # Substitute again: the value may be a variable that the loop changes.
        loop = replace(loop, upper=self.expression(bound))
        interval = self.loop_interval(loop, trips)
        name = loop.variable.name
        if interval is not None:
            self.ranges[name] = interval
        self.enter_nest(loop)
        body, _ = self.branch(loop.body)
        self.leave_nest(loop)
        self.ranges.pop(name, None)
        if trips is not None:
            self.known.assign(name, value_at(loop, trips))
        output.append(replace(loop, body=body))
        return True

    def enter_nest(self, loop: ir.For | ir.While) -> None:
        """Set the ranges of a flattened nest's variables at the start of an iteration."""
        for level in loop.nest:
            last = level.lower + (level.trip_count - 1) * level.step
            self.ranges[level.variable.name] = (min(level.lower, last), max(level.lower, last))
            self.stepping.add(level.variable.name)

    def leave_nest(self, loop: ir.For | ir.While) -> None:
        """Forget the ranges of a flattened nest's variables."""
        for level in loop.nest:
            self.ranges.pop(level.variable.name, None)
            self.stepping.discard(level.variable.name)

    def loop_interval(self, loop: ir.For, trips: int | None) -> Interval | None:
        """Return the range of a loop's variable in its body, when it does not wrap."""
        if trips is not None:
            ends = (value_at(loop, 0).value, value_at(loop, trips - 1).value)
            return min(ends), max(ends)
        lower, upper = (interval_of(e, self.ranges) for e in (loop.lower, loop.upper))
        if lower is None or upper is None or loop.comparison == "ne":
            return None
        smallest, largest = value_range(loop.variable.type)
        inclusive = loop.comparison in ("le", "ge")
        if loop.step > 0:
            last = upper[1] - (0 if inclusive else 1)
            return (lower[0], last) if last + loop.step <= largest and lower[0] <= last else None
        last = upper[0] + (0 if inclusive else 1)
        return (last, lower[1]) if last + loop.step >= smallest and last <= lower[1] else None

    def conditional(self, loop: ir.While, output: list[ir.Statement]) -> bool:
        if loop.test_first and _is_false(self.expression(loop.condition)):
            return True
        self.known.forget(ir.assigned_variables(loop.body))
        condition = self.expression(loop.condition)
        self.known.open()
        self.enter_nest(loop)
        body, falls_through = self.body(loop.body)
        self.leave_nest(loop)
        if not loop.test_first:
            condition = self.expression(loop.condition)
        changes = self.known.close()
        if not loop.test_first and (not falls_through or _is_false(condition)):
            # The body runs once, so its simplification here is valid.
            output += body
            if falls_through:
                self.known.go_on(changes)
            return falls_through
        output.append(replace(loop, condition=condition, body=body))
        return not (isinstance(condition, ir.Constant) and condition.value)


def _without_last_leave(body: Body, label: str) -> Body:
    """Return the body of a block without a final `Leave` of that block; the same object without one."""
    if not body:
        return body
    last = body[-1]
    if isinstance(last, ir.Leave) and last.label == label:
        return _without_last_leave(body[:-1], label)
    if isinstance(last, ir.If):
        then, otherwise = (_without_last_leave(b, label) for b in (last.then, last.otherwise))
        if then is not last.then or otherwise is not last.otherwise:
            if not then and otherwise:
                then, otherwise, last = otherwise, then, replace(last, condition=negate(last.condition))
            kept = (replace(last, then=then, otherwise=otherwise),) if then else ()
            return (*body[:-1], *kept)
    return body


def _is_false(condition: ir.Expression) -> bool:
    return isinstance(condition, ir.Constant) and not condition.value


def _is_shallow_copy(new: ir.Expression, old: ir.Expression) -> bool:
    """Tell whether an expression equals another with identical operand objects."""
    if type(new) is not type(old):
        return False
    match new, old:
        case ir.Binary(), ir.Binary():
            return new.operator == old.operator and new.left is old.left and new.right is old.right
        case (ir.Cast(), ir.Cast()) | (ir.Unary(), ir.Unary()):
            return new.operand is old.operand and new.type == old.type
        case ir.Select(), ir.Select():
            return (
                new.condition is old.condition and new.if_true is old.if_true and new.if_false is old.if_false
            )
        case _:
            return False


def _assigns_itself(statement: ir.Assign) -> bool:
    value = statement.value
    return isinstance(value, ir.Read) and value.variable.name == statement.variable.name


def _table_element(array: ir.Array, indices: tuple[ir.Expression, ...]) -> ir.Constant | None:
    position = 0
    for size, index in zip(array.shape, indices, strict=True):
        if not isinstance(index, ir.Constant) or not 0 <= index.value < size:
            return None
        position = position * size + index.value
    assert array.initial is not None
    return ir.Constant(value=array.initial[position], type=array.type)


def tidy(function: ir.Function) -> ir.Function:
    """Propagate constants and remove unneeded code; the meaning stays.

    Returns: an equivalent function.
    """
    return simplify(remove_dead_values(simplify(function)))
