"""Chains of one associative operator in straight-line code become balanced trees.

The variable's old value joins last, so that it waits for one operator only, however many terms there are.
Of integers the result is the same; floating-point chains are changed only with `unsafe_math`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_unary
from pipelines.hls.transforms.accesses import escaping_labels
from pipelines.hls.transforms.accumulation import tree
from pipelines.hls.transforms.copying import FreshNames, fresh_names, map_own, read_variables

SHORTEST_CHAIN = 4
"""Operands from which on a tree is less deep than a chain with its last operand joined last."""

_FAMILY = {"add": "add", "sub": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}

Terms = list[tuple[bool, ir.Expression]]
"""Operands of a chain; False for those subtracted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """Updates of a variable in a row: operator, and the terms of each update by its position in the body."""

    variable: ir.Variable
    operator: str
    updates: dict[int, Terms]


@dataclass(slots=True)
class _Balancer:
    names: FreshNames
    unsafe_math: bool

    def body(self, body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        """A body and the bodies inside with their chains balanced."""
        inner = [ir.with_bodies(s, tuple(map(self.body, ir.child_bodies(s)))) for s in body]
        rewritten: dict[int, list[ir.Statement]] = {}
        for chain in _chains(inner, self.allows):
            rewritten |= self.joined(chain, inner)
        found: list[ir.Statement] = []
        for position, statement in enumerate(inner):
            found += rewritten.get(position, [map_own(statement, self.expression)])
        return tuple(found)

    def allows(self, expression: ir.Expression) -> bool:
        """Whether an expression's operands may be reordered."""
        return self.unsafe_math or not ir.type_of(expression).floating

    def joined(self, chain: _Chain, body: list[ir.Statement]) -> dict[int, list[ir.Statement]]:
        """The statements in place of the updates: a term each, and one update at the last."""
        found: dict[int, list[ir.Statement]] = {}
        kept: Terms = []
        for position, terms in chain.updates.items():
            value, positive = self.total(chain.operator, terms)
            part = self.names.variable(f"{chain.variable.name}_term", chain.variable.type)
            line = body[position].line
            found[position] = [ir.Assign(variable=part, value=value, line=line)]
            kept.append((positive, ir.Read(variable=part)))
        last = max(chain.updates)
        value = self.with_old(chain.operator, ir.Read(variable=chain.variable), kept)
        found[last].append(ir.Assign(variable=chain.variable, value=value, line=body[last].line))
        return found

    def total(self, operator: str, terms: Terms) -> tuple[ir.Expression, bool]:
        """The terms combined, and whether that is to be added rather than subtracted."""
        balanced = [(sign, self.expression(term)) for sign, term in terms]
        positive = [term for sign, term in balanced if sign]
        negative = [term for sign, term in balanced if not sign]
        if not positive:
            return tree(operator, negative), False
        if not negative:
            return tree(operator, positive), True
        return make_binary("sub", tree(operator, positive), tree(operator, negative)), True

    def with_old(self, operator: str, old: ir.Expression, terms: Terms) -> ir.Expression:
        """An old value combined with terms last."""
        value, positive = self.total(operator, terms)
        return make_binary(operator if positive else "sub", old, value)

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """An expression with its chains balanced."""
        if isinstance(expression, ir.Binary) and expression.operator in _FAMILY:
            operator = _FAMILY[expression.operator]
            terms = _terms(expression, operator)
            if len(terms) >= SHORTEST_CHAIN and self.allows(expression):
                value, positive = self.total(operator, terms)
                return value if positive else make_unary("neg", value)
        return _with_children(expression, self)


def _with_children(expression: ir.Expression, balancer: _Balancer) -> ir.Expression:
    """The expression with its operands balanced; the very same object when nothing changes."""
    match expression:
        case ir.Constant() | ir.Read():
            return expression
        case ir.Load():
            indices = tuple(balancer.expression(i) for i in expression.indices)
            old = expression.predicate
            predicate = None if old is None else balancer.expression(old)
            same = predicate is old and all(a is b for a, b in zip(indices, expression.indices, strict=True))
            return expression if same else replace(expression, indices=indices, predicate=predicate)
        case ir.Unary() | ir.Cast():
            operand = balancer.expression(expression.operand)
            return expression if operand is expression.operand else replace(expression, operand=operand)
        case ir.Binary():
            left, right = balancer.expression(expression.left), balancer.expression(expression.right)
            same = left is expression.left and right is expression.right
            return expression if same else replace(expression, left=left, right=right)
        case ir.Select():
            parts = (expression.condition, expression.if_true, expression.if_false)
            new = tuple(balancer.expression(p) for p in parts)
            if all(a is b for a, b in zip(new, parts, strict=True)):
                return expression
            return replace(expression, condition=new[0], if_true=new[1], if_false=new[2])


def _terms(expression: ir.Expression, operator: str, positive: bool = True) -> Terms:
    """The operands of a chain, from left to right."""
    if not (isinstance(expression, ir.Binary) and _FAMILY.get(expression.operator) == operator):
        return [(positive, expression)]
    right = positive if expression.operator != "sub" else not positive
    return [*_terms(expression.left, operator, positive), *_terms(expression.right, operator, right)]


def _update(statement: ir.Assign) -> tuple[str, Terms] | None:
    """Operator and terms of an assignment that combines its variable with terms that do not read it."""
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
    """Finds the chains of one body; `open` those that may go on."""

    found: list[_Chain] = field(default_factory=list[_Chain])
    open: dict[str, _Chain] = field(default_factory=dict[str, _Chain])

    def close(self, name: str) -> None:
        """No further update of a variable joins those before."""
        chain = self.open.pop(name, None)
        if chain is None:
            return
        operands = 1 + sum(len(terms) for terms in chain.updates.values())
        if operands >= SHORTEST_CHAIN or (len(chain.updates) > 1 and operands >= 3):
            self.found.append(chain)

    def close_all(self) -> None:
        """No chain goes on."""
        for name in list(self.open):
            self.close(name)

    def update(self, position: int, statement: ir.Assign, operator: str, terms: Terms) -> None:
        """One more update of a variable."""
        name = statement.variable.name
        chain = self.open.get(name)
        if chain is not None and chain.operator == operator:
            chain.updates[position] = terms
            return
        self.close(name)
        self.open[name] = _Chain(variable=statement.variable, operator=operator, updates={position: terms})


def _chains(body: list[ir.Statement], allows: Callable[[ir.Expression], bool]) -> list[_Chain]:
    """The chains of updates of a body, whose statements may have bodies of their own."""
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
    return finder.found


def _touched(statement: ir.Statement, update: tuple[str, Terms] | None) -> set[str]:
    """Names of the variables that a statement reads or assigns, an update's own one excluded."""
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
    Returns: a function that is equivalent, but for roundings with `unsafe_math`.
    """
    balancer = _Balancer(fresh_names(function), unsafe_math)
    return replace(function, body=balancer.body(function.body))
