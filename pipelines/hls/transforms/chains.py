"""Accumulators, and chains of one associative operator that become balanced trees.

The variable's old value joins last, so that it passes one operator only, however many terms there are.
Integer results stay the same; floating-point chains are changed only with `unsafe_math`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.accesses import escaping_labels
from pipelines.c.analysis.copying import FreshNames, fresh_names, map_own, read_variables
from pipelines.c.arithmetic import make_binary, make_select, make_unary, value_range
from pipelines.c.signature import ScalarType

_PATH_OPERATORS = {"add": "add", "sub": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
"""Operators of accumulators; a subtraction counts as an addition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accumulator:
    """A variable, its operator, and how many assignments of the body update it."""

    variable: ir.Variable
    operator: str
    updates: int


def identity(operator: str, kind: ScalarType) -> ir.Constant:
    """Return the identity element of an operator."""
    if kind.floating:
        infinity = float("-inf") if operator == "max" else float("inf")
        number = {"add": -0.0, "mul": 1.0}.get(operator, infinity)
        return ir.float_constant(number, kind)
    low, high = value_range(kind)
    values = {"mul": 1, "and": -1 if kind.signed else high, "min": high, "max": low}
    return ir.Constant(value=values.get(operator, 0), type=kind)


def combine(operator: str, left: ir.Expression, right: ir.Expression) -> ir.Expression:
    """Combine two values of one type."""
    if operator in ("min", "max"):
        test = make_binary("lt" if operator == "min" else "gt", left, right)
        return make_select(test, left, right)
    return make_binary(operator, left, right)


def tree(operator: str, values: Sequence[ir.Expression]) -> ir.Expression:
    """Combine one or more values in a tree of least depth.

    The values should be constants or variables, because a minimum or maximum repeats each.
    """
    if len(values) == 1:
        return values[0]
    middle = (len(values) + 1) // 2
    return combine(operator, tree(operator, values[:middle]), tree(operator, values[middle:]))


def count_reads(expression: ir.Expression, name: str) -> int:
    """Return the number of reads of a variable in an expression."""
    return sum(
        1 for p in ir.walk_expressions(expression) if isinstance(p, ir.Read) and p.variable.name == name
    )


def operator_of_update(value: ir.Expression, variable: ir.Variable) -> str | None:
    """Return the operator that combines a variable with terms that do not read it.

    Returns: add, mul, and, or, xor, min or max; `keep` for the variable itself; None for anything else.
    """
    match value:
        case ir.Read():
            return "keep" if value.variable == variable else None
        case ir.Cast():
            inner, kind = ir.type_of(value.operand), value.type
            if value.bits or inner.floating != kind.floating or _is_narrower(inner, variable.type):
                return None
            operator = operator_of_update(value.operand, variable)
            return None if operator in ("min", "max") else operator
        case ir.Binary():
            return _binary_update(value, variable)
        case ir.Select():
            return _selected_update(value, variable)
        case _:
            return None


def _is_narrower(kind: ScalarType, other: ScalarType) -> bool:
    """Tell whether this type loses values of the other, so that sums in both differ."""
    return kind.floating != other.floating or kind.width_bits < other.width_bits


def _binary_update(value: ir.Binary, variable: ir.Variable) -> str | None:
    operator = _PATH_OPERATORS.get(value.operator)
    counts = count_reads(value.left, variable.name), count_reads(value.right, variable.name)
    if operator is None or (counts[0] > 0) == (counts[1] > 0) or _is_narrower(value.type, variable.type):
        return None
    if value.operator == "sub" and counts[1]:
        return None
    inner = operator_of_update(value.left if counts[0] else value.right, variable)
    return operator if inner in (operator, "keep") else None


def _selected_update(value: ir.Select, variable: ir.Variable) -> str | None:
    if count_reads(value.condition, variable.name) == 0:
        operators = {operator_of_update(arm, variable) for arm in (value.if_true, value.if_false)} - {"keep"}
        return operators.pop() if len(operators) == 1 else None
    test = value.condition
    if not isinstance(test, ir.Binary) or test.operator not in ("lt", "le", "gt", "ge"):
        return None
    arms = (value.if_true, value.if_false)
    if (test.left, test.right) not in (arms, arms[::-1]):
        return None
    terms = [a for a in arms if a != ir.Read(variable=variable)]
    if len(terms) != 1 or count_reads(terms[0], variable.name):
        return None
    smaller = (test.operator in ("lt", "le")) == ((test.left, test.right) == arms)
    return "min" if smaller else "max"


def is_extreme_if(statement: ir.Statement) -> bool:
    """Tell whether a statement is `if (term > variable) variable = term`, or the like."""
    if not isinstance(statement, ir.If) or statement.otherwise or len(statement.then) != 1:
        return False
    inner = statement.then[0]
    if not isinstance(inner, ir.Assign):
        return False
    return operator_of_update(extreme_value(statement, inner), inner.variable) in ("min", "max")


def extreme_value(statement: ir.If, inner: ir.Assign) -> ir.Select:
    """Return the value that such a statement assigns to its variable."""
    return ir.Select(
        condition=statement.condition,
        if_true=inner.value,
        if_false=ir.Read(variable=inner.variable),
        type=inner.variable.type,
    )


def with_selected_extremes(body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
    """Return the body with conditional minima and maxima as assignments of selections."""

    def visit(statement: ir.Statement) -> tuple[ir.Statement, ...]:
        if isinstance(statement, ir.If) and is_extreme_if(statement):
            inner = statement.then[0]
            assert isinstance(inner, ir.Assign)
            value = extreme_value(statement, inner)
            return (ir.Assign(variable=inner.variable, value=value, line=inner.line),)
        if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Select):
            return (replace(statement, value=_with_tested_arms(statement.value)),)
        return (statement,)

    return ir.map_statements(body, visit)


def _with_tested_arms(value: ir.Select) -> ir.Select:
    """Return a selection between its two compared values, with the comparison's loads in its arms.

    A load in an arm of C's conditional expression is predicated, but the comparison already loaded the value.
    """
    test = value.condition
    if not isinstance(test, ir.Binary):
        return value
    arms = [
        next((o for o in (test.left, test.right) if _unguarded(arm) == o), arm)
        for arm in (value.if_true, value.if_false)
    ]
    return replace(value, if_true=arms[0], if_false=arms[1])


def _unguarded(expression: ir.Expression) -> ir.Expression:
    return replace(expression, predicate=None) if isinstance(expression, ir.Load) else expression


def accumulators(body: tuple[ir.Statement, ...]) -> dict[str, Accumulator]:
    """Return the accumulators of a loop's body by name: only updates of one operator assign and read them."""
    reads: Counter[str] = Counter()
    loops: set[str] = set()
    for statement in ir.walk_statements(body):
        if isinstance(statement, ir.For):
            loops.add(statement.variable.name)
        for expression in ir.statement_expressions(statement):
            reads.update(p.variable.name for p in ir.walk_expressions(expression) if isinstance(p, ir.Read))
    updates: dict[str, list[ir.Assign]] = {}
    for statement in ir.walk_statements(body):
        if isinstance(statement, ir.Assign) and statement.variable.name not in loops:
            updates.setdefault(statement.variable.name, []).append(statement)
    by_name: dict[str, Accumulator] = {}
    for name in sorted(updates):
        variable = updates[name][0].variable
        own_reads = sum(count_reads(u.value, name) for u in updates[name]) if reads[name] else 0
        if not own_reads or own_reads != reads[name]:
            continue
        operators = {operator_of_update(u.value, variable) for u in updates[name]} - {"keep"}
        operator = operators.pop() if len(operators) == 1 else None
        if operator is not None:
            by_name[name] = Accumulator(variable=variable, operator=operator, updates=len(updates[name]))
    return by_name


SHORTEST_CHAIN = 4
"""Fewest operands for which a tree is less deep than a chain."""

_FAMILY = {"add": "add", "sub": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}

Terms = list[tuple[bool, ir.Expression]]
"""Operands of a chain; False for those subtracted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """Consecutive updates of a variable: operator, and the terms of each update by position in the body."""

    variable: ir.Variable
    operator: str
    updates: dict[int, Terms]


@dataclass(slots=True)
class _Balancer:
    names: FreshNames
    unsafe_math: bool

    def body(self, body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        """Return a body and the bodies inside with their chains balanced."""
        inner = [ir.with_bodies(s, tuple(map(self.body, ir.child_bodies(s)))) for s in body]
        rewritten: dict[int, list[ir.Statement]] = {}
        for chain in _chains(inner, self.allows):
            rewritten |= self.joined(chain, inner)
        statements: list[ir.Statement] = []
        for position, statement in enumerate(inner):
            statements += rewritten.get(position, [map_own(statement, self.expression)])
        return tuple(statements)

    def allows(self, expression: ir.Expression) -> bool:
        """Tell whether the operands of an expression may be reordered."""
        return self.unsafe_math or not ir.type_of(expression).floating

    def joined(self, chain: _Chain, body: list[ir.Statement]) -> dict[int, list[ir.Statement]]:
        """Return statements that replace the updates: one term each, and one update at the last position."""
        replacements: dict[int, list[ir.Statement]] = {}
        kept: Terms = []
        for position, terms in chain.updates.items():
            value, positive = self.total(chain.operator, terms)
            part = self.names.variable(f"{chain.variable.name}_term", chain.variable.type)
            line = body[position].line
            replacements[position] = [ir.Assign(variable=part, value=value, line=line)]
            kept.append((positive, ir.Read(variable=part)))
        last = max(chain.updates)
        value = self.with_old(chain.operator, ir.Read(variable=chain.variable), kept)
        replacements[last].append(ir.Assign(variable=chain.variable, value=value, line=body[last].line))
        return replacements

    def total(self, operator: str, terms: Terms) -> tuple[ir.Expression, bool]:
        """Return the combined terms, and whether they are added rather than subtracted."""
        balanced = [(sign, self.expression(term)) for sign, term in terms]
        positive = [term for sign, term in balanced if sign]
        negative = [term for sign, term in balanced if not sign]
        if not positive:
            return tree(operator, negative), False
        if not negative:
            return tree(operator, positive), True
        return make_binary("sub", tree(operator, positive), tree(operator, negative)), True

    def with_old(self, operator: str, old: ir.Expression, terms: Terms) -> ir.Expression:
        """Return an old value combined with the combined terms."""
        value, positive = self.total(operator, terms)
        return make_binary(operator if positive else "sub", old, value)

    def expression(self, expression: ir.Expression) -> ir.Expression:
        if isinstance(expression, ir.Binary) and expression.operator in _FAMILY:
            operator = _FAMILY[expression.operator]
            terms = _terms(expression, operator)
            if len(terms) >= SHORTEST_CHAIN and self.allows(expression):
                value, positive = self.total(operator, terms)
                return value if positive else make_unary("neg", value)
        return ir.map_children(expression, self.expression)


def _terms(expression: ir.Expression, operator: str, positive: bool = True) -> Terms:
    """Return the operands of a chain, from left to right."""
    if not (isinstance(expression, ir.Binary) and _FAMILY.get(expression.operator) == operator):
        return [(positive, expression)]
    right = positive if expression.operator != "sub" else not positive
    return [*_terms(expression.left, operator, positive), *_terms(expression.right, operator, right)]


def _update(statement: ir.Assign) -> tuple[str, Terms] | None:
    """Return the operator and terms of an assignment that combines its variable with terms without it."""
    value = statement.value
    if not isinstance(value, ir.Binary) or value.operator not in _FAMILY:
        return None
    operator = _FAMILY[value.operator]
    own = (True, ir.Read(variable=statement.variable))
    terms = _terms(value, operator)
    if terms.count(own) != 1:
        return None
    terms.remove(own)
    name = statement.variable.name
    return None if any(name in read_variables(term) for _, term in terms) else (operator, terms)


@dataclass(slots=True)
class _Finder:
    """Finds the chains of one body; `open` has those that may continue."""

    chains: list[_Chain] = field(default_factory=list[_Chain])
    open: dict[str, _Chain] = field(default_factory=dict[str, _Chain])

    def close(self, name: str) -> None:
        chain = self.open.pop(name, None)
        if chain is None:
            return
        operands = 1 + sum(len(terms) for terms in chain.updates.values())
        if operands >= SHORTEST_CHAIN or (len(chain.updates) > 1 and operands >= 3):
            self.chains.append(chain)

    def close_all(self) -> None:
        for name in list(self.open):
            self.close(name)

    def update(self, position: int, statement: ir.Assign, operator: str, terms: Terms) -> None:
        name = statement.variable.name
        chain = self.open.get(name)
        if chain is not None and chain.operator == operator:
            chain.updates[position] = terms
            return
        self.close(name)
        self.open[name] = _Chain(variable=statement.variable, operator=operator, updates={position: terms})


def _chains(body: list[ir.Statement], allows: Callable[[ir.Expression], bool]) -> list[_Chain]:
    """Return the chains of updates of a body, inner bodies excluded."""
    finder = _Finder()
    for position, statement in enumerate(body):
        update = None
        if isinstance(statement, ir.Assign) and allows(statement.value):
            update = _update(statement)
        for name in sorted(_touched(statement, update) & set(finder.open)):
            finder.close(name)
        if isinstance(statement, ir.Return) or escaping_labels(statement):
            finder.close_all()
        if update is not None and isinstance(statement, ir.Assign):
            finder.update(position, statement, *update)
    finder.close_all()
    return finder.chains


def _touched(statement: ir.Statement, update: tuple[str, Terms] | None) -> set[str]:
    """Return the names of the variables that a statement reads or assigns, except an update's own."""
    if update is not None:
        return {name for _, term in update[1] for name in read_variables(term)}
    names = set(ir.assigned_variables((statement,)))
    for expression in ir.all_expressions((statement,)):
        if isinstance(expression, ir.Read):
            names.add(expression.variable.name)
    return names


def balance_chains(function: ir.Function, *, unsafe_math: bool = False) -> ir.Function:
    """Balance the chains of associative operators.

    Args:    unsafe_math: floating-point chains too.
    Returns: a function that is equivalent except for roundings with `unsafe_math`.
    """
    balancer = _Balancer(fresh_names(function), unsafe_math)
    return replace(function, body=balancer.body(function.body))
