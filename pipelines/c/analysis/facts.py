"""Facts about integer values at one point of a function: ranges, residues, differences.

Signed arithmetic counts as exact, because overflow is undefined in C; unsigned arithmetic only when its range
shows that it does not wrap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import gcd

from pipelines.c import ir
from pipelines.c.analysis.affine import Affine, Interval, Leaf, Leaves, minimum_arms
from pipelines.c.arithmetic import make_binary, make_cast, value_range
from pipelines.c.signature import INT32, ScalarType

MODULUS = 1 << 32
MAXIMUM_ALTERNATIVES = 64
"""Combinations of symbolic bounds per question; beyond them the answer is a weaker bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFact:
    """Facts about a variable inside its loop: inclusive symbolic bounds, a range, a residue."""

    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    interval: Interval
    residue: int = 0
    modulus: int = 1


@dataclass(frozen=True, slots=True)
class _Known:
    """An assigned value; it holds while the variables that it reads have these versions."""

    form: Affine
    versions: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class Facts:
    """Facts at one point of a function; call `inside` and `after` in program order.

    Attributes:
        loops: facts of the variables of the loops around, outermost first.
        values: forms of scalar variables with affine values; one table for all points, so that a program of n
            statements takes time proportional to n.
        versions: number of possible changes per variable so far.
    """

    leaves: Leaves = field(default_factory=Leaves)
    loops: dict[str, LoopFact] = field(default_factory=dict[str, LoopFact])
    values: dict[str, _Known] = field(default_factory=dict[str, _Known])
    versions: dict[str, int] = field(default_factory=dict[str, int])

    # ---- following the program ---------------------------------------------------------------------

    def forget(self, names: Iterable[str]) -> None:
        """Drop the facts of variables that may have changed."""
        for name in names:
            self.loops.pop(name, None)
            self.values.pop(name, None)
            self.versions[name] = self.versions.get(name, 0) + 1

    def before(self, statement: ir.Statement) -> None:
        """Prepare for reading a statement's own expressions.

        A conditional loop evaluates its condition after each iteration, too, with other values.
        """
        if isinstance(statement, ir.While):
            self.forget(ir.assigned_variables((statement,)))

    def after(self, statement: ir.Statement) -> None:
        """Advance past a whole statement, inner bodies included."""
        if isinstance(statement, ir.Assign):
            self._assign(statement)
        elif isinstance(statement, ir.If | ir.Block | ir.For | ir.While):
            self.forget(ir.assigned_variables((statement,)))

    def inside(self, statement: ir.Statement) -> Iterator[tuple[tuple[ir.Statement, ...], Facts]]:
        """Yield the inner bodies of a statement, each with the facts at its start (for a loop: of every
        iteration).

        Use them in order: the facts of a body are computed after the previous body was followed.
        """
        if isinstance(statement, ir.For):
            yield statement.body, self.enter(statement)
        elif isinstance(statement, ir.While):
            self.forget(ir.assigned_variables((statement,)))
            inner = self._same()
            inner.enter_nest(statement)
            yield statement.body, inner
        else:
            for body in ir.child_bodies(statement):
                yield body, self._same()
                self.forget(ir.assigned_variables(body))

    def snapshot(self) -> Facts:
        """Return the facts of the loops around, for later questions."""
        return Facts(self.leaves, dict(self.loops))

    def _same(self) -> Facts:
        return Facts(self.leaves, dict(self.loops), self.values, self.versions)

    def _assign(self, statement: ir.Assign) -> None:
        variable = statement.variable
        form = self.read(statement.value) if _looks_affine(statement.value) else None
        self.forget((variable.name,))
        names = None if form is None else variables_of(form, self)
        if form is None or names is None or variable.name in names or not form.exact:
            return
        versions = tuple((name, self.versions.get(name, 0)) for name in sorted(names))
        self.values[variable.name] = _Known(form, versions)

    def _value(self, name: str) -> Affine | None:
        known = self.values.get(name)
        if known is None or any(self.versions.get(n, 0) != v for n, v in known.versions):
            return None
        return known.form

    def enter(self, loop: ir.For) -> Facts:
        """Return the facts at the start of every iteration of a counted loop."""
        changed = ir.assigned_variables((loop,))
        fact = self._loop_fact(loop, changed)
        self.forget(changed)
        inner = self._same()
        for name, old in list(inner.loops.items()):
            if any(self.mentions(form, changed) for form in (*old.lower, *old.upper)):
                inner.loops[name] = replace(old, lower=(), upper=())
        self.leaves.of_variable(loop.variable)
        inner.loops[loop.variable.name] = fact
        inner.enter_nest(loop)
        return inner

    def enter_nest(self, loop: ir.For | ir.While) -> None:
        """Add facts of a flattened nest's variables at the start of an iteration."""
        for level in loop.nest:
            self.leaves.of_variable(level.variable)
            last = level.lower + level.step * (max(level.trip_count, 1) - 1)
            self.loops[level.variable.name] = LoopFact(
                lower=(),
                upper=(),
                interval=(min(level.lower, last), max(level.lower, last)),
                residue=level.lower % abs(level.step),
                modulus=abs(level.step),
            )

    def mentions(self, form: Affine, names: frozenset[str]) -> bool:
        """Tell whether a form may change when some variables or memory change."""
        for leaf in form.leaves:
            variables = self.leaves.known[leaf].variables
            if variables is None or not variables.isdisjoint(names):
                return True
        return False

    def _loop_fact(self, loop: ir.For, changed: frozenset[str]) -> LoopFact:
        first = self.read(loop.lower)
        residue, modulus = self._stepping_residue(first, loop.step)
        low, high = value_range(loop.variable.type)
        if not self._keeps_direction(loop):
            return LoopFact(lower=(), upper=(), interval=(low, high), residue=residue, modulus=modulus)
        up = loop.step > 0
        slack = {"lt": -1, "gt": 1, "le": 0, "ge": 0, "ne": -1 if up else 1}[loop.comparison]
        near = self._arms(loop.lower, largest=up)
        far = [f.shifted(slack) for f in self._arms(loop.upper, largest=not up)]
        lower, upper = (near, far) if up else (far, near)
        low = max((self.interval(f)[0] for f in lower), default=low)
        high = min((self.interval(f)[1] for f in upper), default=high)
        if loop.trip_count:
            last = first.constant + (loop.trip_count - 1) * loop.step
            low, high = min(first.constant, last), max(first.constant, last)
        return LoopFact(
            lower=tuple(f for f in lower if f.terms and not self.mentions(f, changed)),
            upper=tuple(f for f in upper if f.terms and not self.mentions(f, changed)),
            interval=(low, max(low, high)),
            residue=residue,
            modulus=modulus,
        )

    def _arms(self, expression: ir.Expression, *, largest: bool) -> list[Affine]:
        """Return the exact forms of the operands of a minimum or maximum; each is a bound."""
        arms: list[Affine] = []
        for arm in minimum_arms(expression, largest=largest):
            form = self.read(arm)
            held = self._held_selection(form)
            if held is not None and held != arm:
                arms += self._arms(held, largest=largest)
            elif form.exact:
                arms.append(form)
        return arms

    def _held_selection(self, form: Affine) -> ir.Select | None:
        """Return the selection that a form stands for, directly or as the value of a variable."""
        if len(form.terms) != 1 or form.constant or form.terms[0][1] != 1:
            return None
        expression = self.leaves.known[form.terms[0][0]].expression
        return expression if isinstance(expression, ir.Select) else None

    def _keeps_direction(self, loop: ir.For) -> bool:
        """Tell whether the variable cannot wrap around; true if it is signed, as wrapping is undefined."""
        if loop.comparison == "ne" and loop.trip_count is None and abs(loop.step) != 1:
            return False
        if loop.variable.type.signed or loop.trip_count is not None:
            return True
        bound = self.read(loop.upper)
        low, high = self.interval(bound)
        smallest, largest = value_range(loop.variable.type)
        if loop.comparison == "ne" or not bound.exact:
            return False
        return high + loop.step <= largest if loop.step > 0 else low + loop.step >= smallest

    def _stepping_residue(self, first: Affine, step: int) -> tuple[int, int]:
        residue, modulus = self.residue(first)
        modulus = gcd(modulus, abs(step))
        return residue % modulus, modulus

    # ---- reading expressions -----------------------------------------------------------------------

    def read(self, expression: ir.Expression) -> Affine:
        """Read the form of an integer expression."""
        match expression:
            case ir.Constant():
                return Affine((), expression.value)
            case ir.Read():
                name = self.leaves.of_variable(expression.variable)
                return self._value(name) or Affine(((name, 1),))
            case ir.Cast() if not expression.bits and not ir.type_of(expression.operand).floating:
                return self._cast(expression)
            case ir.Unary(operator="neg"):
                form = self.read(expression.operand).times(-1)
                return self._checked(form, expression, expression.type)
            case ir.Binary(operator="add" | "sub"):
                sign = 1 if expression.operator == "add" else -1
                form = self.read(expression.left).plus(self.read(expression.right), sign)
                return self._checked(form, expression, expression.type)
            case ir.Binary(operator="mul" | "shl"):
                return self._product(expression)
            case _:
                return self._leaf(expression)

    def _checked(self, form: Affine, expression: ir.Expression, kind: ScalarType) -> Affine:
        """Return the form with its exactness after the operator's result is converted to its type."""
        if kind.signed and kind.width_bits >= 32:
            return form
        low, high = self.interval(form)
        smallest, largest = value_range(kind)
        if form.exact and smallest <= low and high <= largest:
            return form
        if kind.width_bits < 32:
            return self._leaf(expression)
        return replace(form, exact=False)

    def _cast(self, cast: ir.Cast) -> Affine:
        form = self.read(cast.operand)
        source, target = ir.type_of(cast.operand), cast.type
        low, high = self.interval(form)
        smallest, largest = value_range(target)
        if form.exact and smallest <= low and high <= largest:
            return form
        if min(source.width_bits, target.width_bits) < 32:
            return self._leaf(cast)
        return replace(form, exact=False)

    def _product(self, expression: ir.Binary) -> Affine:
        left, right = expression.left, expression.right
        if expression.operator == "shl":
            if isinstance(right, ir.Constant) and 0 <= right.value < expression.type.width_bits:
                form = self.read(left).times(1 << right.value)
                return self._checked(form, expression, expression.type)
            return self._leaf(expression)
        first, second = self.read(left), self.read(right)
        if first.terms and second.terms:
            return self._leaf(expression)
        form = first.times(second.constant) if not second.terms else second.times(first.constant)
        return self._checked(form, expression, expression.type)

    def _leaf(self, expression: ir.Expression) -> Affine:
        return Affine(((self.leaves.of_expression(expression), 1),))

    def _leaf_interval(self, expression: ir.Expression) -> Interval:
        """Return the range of an expression that is not affine, from the facts about its operands here."""
        kind = ir.type_of(expression)
        low, high = value_range(kind)
        match expression:
            case ir.Binary(operator="and", right=ir.Constant(value=mask)) if mask >= 0:
                return 0, mask
            case ir.Binary(operator="rem", left=left, right=ir.Constant(value=divisor)) if divisor:
                smallest, largest = self._operand_interval(left)
                most = abs(divisor) - 1
                return (max(-most, smallest) if smallest < 0 else 0), (
                    min(most, largest) if largest > 0 else 0
                )
            case ir.Binary(operator="shr", left=left, right=ir.Constant(value=amount)):
                if 0 <= amount < kind.width_bits:
                    smallest, largest = self._operand_interval(left)
                    return smallest >> amount, largest >> amount
            case ir.Binary(operator="div", left=left, right=ir.Constant(value=divisor)) if divisor > 0:
                smallest, largest = self._operand_interval(left)
                return _truncated(smallest, divisor), _truncated(largest, divisor)
            case ir.Binary(operator=operator) if operator in ir.COMPARISONS:
                return 0, 1
            case ir.Select():
                return self._select_interval(expression)
            case _:
                pass
        return low, high

    def _operand_interval(self, expression: ir.Expression) -> Interval:
        form = self.read(expression)
        return self.interval(form) if form.exact else value_range(ir.type_of(expression))

    def _select_interval(self, expression: ir.Select) -> Interval:
        for largest in (False, True):
            arms = minimum_arms(expression, largest=largest)
            if len(arms) > 1:
                ranges = [self._operand_interval(a) for a in arms]
                pick = max if largest else min
                return pick(r[0] for r in ranges), pick(r[1] for r in ranges)
        ranges = [self._operand_interval(a) for a in (expression.if_true, expression.if_false)]
        return min(r[0] for r in ranges), max(r[1] for r in ranges)

    # ---- questions ---------------------------------------------------------------------------------

    def interval(self, form: Affine) -> Interval:
        """Return the smallest and largest value a form may have here."""
        if not form.terms:
            return form.constant, form.constant
        return -self._largest(form.times(-1)), self._largest(form)

    def numeric(self, leaf: str) -> Interval:
        """Return the range of a leaf without symbolic bounds."""
        fact = self.loops.get(leaf)
        if fact is not None:
            return fact.interval
        known = self.leaves.known[leaf]
        return (
            known.interval if isinstance(known.expression, ir.Read) else self._leaf_interval(known.expression)
        )

    def _largest(self, form: Affine) -> int:
        """Return an upper bound: variables of loops are replaced by their bounds, innermost first."""
        symbolic = [n for n in reversed(self.loops) if self.loops[n].lower or self.loops[n].upper]
        return self._eliminate(form, symbolic, [MAXIMUM_ALTERNATIVES])

    def _eliminate(self, form: Affine, order: list[str], budget: list[int]) -> int:
        best = form.constant
        for leaf, coefficient in form.terms:
            low, high = self.numeric(leaf)
            best += coefficient * (high if coefficient > 0 else low)
        coefficients = dict(form.terms)
        for position, name in enumerate(order):
            coefficient = coefficients.get(name, 0)
            fact = self.loops[name]
            for bound in fact.upper if coefficient > 0 else fact.lower if coefficient else ():
                if budget[0] <= 0:
                    return best
                budget[0] -= 1
                without = form.plus(Affine(((name, 1),)), -coefficient)
                rest = order[position + 1 :]
                best = min(best, self._eliminate(without.plus(bound, coefficient), rest, budget))
        return best

    def residue(self, form: Affine) -> tuple[int, int]:
        """Return `(r, m)`: the form is r modulo m; (value, 0) when it is a constant."""
        residue, modulus = form.constant, 0
        for leaf, coefficient in form.terms:
            known: LoopFact | Leaf = self.loops.get(leaf) or self.leaves.known[leaf]
            residue += coefficient * known.residue
            modulus = gcd(modulus, coefficient * known.modulus)
        if not form.exact:
            modulus = gcd(modulus, MODULUS)
        return (residue % modulus if modulus else residue), modulus

    def residue_modulo(self, form: Affine, factor: int) -> int | None:
        """Return the value of the form modulo a factor, when it is known."""
        residue, modulus = self.residue(form)
        return residue % factor if modulus % factor == 0 else None

    def differs(self, first: Affine, second: Affine) -> bool:
        """Tell whether two values read here are provably different."""
        return self.is_nonzero(second.plus(first, -1))

    def is_nonzero(self, form: Affine) -> bool:
        """Tell whether a form that is a difference of two values of 32 bits cannot be zero."""
        if not form.terms:
            return form.constant % MODULUS != 0
        residue, modulus = self.residue(form)
        if modulus and residue:
            return True
        low, high = self.interval(form)
        if low > 0:
            return form.exact or high < MODULUS
        return high < 0 and (form.exact or low > -MODULUS)

    def within(self, form: Affine, size: int) -> bool:
        """Tell whether a form is provably an index of a dimension of that size."""
        low, high = self.interval(form)
        return form.exact and low >= 0 and high < size

    # ---- back to expressions -----------------------------------------------------------------------

    def expression_of(self, form: Affine) -> ir.Expression:
        """Return an INT32 expression with a form's value."""
        total: ir.Expression | None = None
        for leaf, coefficient in sorted(form.terms, key=lambda t: (t[1] < 0, t[0])):
            part = make_cast(self.leaves.known[leaf].expression, INT32)
            scaled = make_binary("mul", part, ir.Constant(value=abs(coefficient)))
            if total is None:
                zero = ir.Constant(value=0)
                total = scaled if coefficient > 0 else make_binary("sub", zero, scaled)
            else:
                total = make_binary("add" if coefficient > 0 else "sub", total, scaled)
        if total is None:
            return ir.Constant(value=form.constant)
        if form.constant < 0:
            return make_binary("sub", total, ir.Constant(value=-form.constant))
        return make_binary("add", total, ir.Constant(value=form.constant))


def variables_of(form: Affine, facts: Facts) -> frozenset[str] | None:
    """Return the names of the variables a form reads; None when it also depends on memory."""
    names: set[str] = set()
    for leaf in form.leaves:
        variables = facts.leaves.known[leaf].variables
        if variables is None:
            return None
        names |= variables
    return frozenset(names)


def _truncated(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)


def _looks_affine(expression: ir.Expression) -> bool:
    """Tell whether an expression is made of constants, integer variables, sums, scalings and minima only."""
    match expression:
        case ir.Constant() | ir.Read():
            return not ir.type_of(expression).floating
        case ir.Cast():
            return not expression.type.floating and _looks_affine(expression.operand)
        case ir.Unary(operator="neg"):
            return _looks_affine(expression.operand)
        case ir.Binary(operator="add" | "sub" | "mul" | "shl"):
            return _looks_affine(expression.left) and _looks_affine(expression.right)
        case ir.Select(condition=ir.Binary(left=left, right=right)):
            parts = (left, right, expression.if_true, expression.if_false)
            return all(_looks_affine(p) for p in parts)
        case _:
            return False
