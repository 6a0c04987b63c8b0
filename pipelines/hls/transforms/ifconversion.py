"""If-conversion: conditions become predicates, so that a loop body is one block.

Both branches always run, on variables of their own; after them one selection per variable that is needed
later takes the value of the branch whose condition holds. Loads and stores of a branch get the conjunction of
the conditions around them as predicate. The size of the result is linear in the program's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.copying import Body, Copier, FreshNames, fresh_names, with_operand
from pipelines.c.analysis.liveness import live_after
from pipelines.c.arithmetic import make_binary, make_select, truth_value
from pipelines.hls.transforms.predicates import merge_accesses, share_loads

SMALL_BRANCH_ASSIGNMENTS = 3
"""Cheap assignments up to which an `if` is converted everywhere: the selections cost less than the states of
a branch."""


def convert_ifs(function: ir.Function, loops: frozenset[str]) -> ir.Function:
    """Replace conditions by predicates.

    Args:    loops: names of loops in whose bodies all conditions are converted that contain only assignments,
             stores and such conditions; elsewhere only small and cheap ones.
    Returns: an equivalent function. In the bodies of the loops named, loads of one element that only differ
             in their predicates are one load, and accesses of opposite branches share a port.
    Source:  Allen, Kennedy, Porterfield, Warren 1983, "Conversion of control dependence to data
             dependence", for structured conditions only.
    """
    after = live_after(function).after
    converter = _Converter(names=fresh_names(function), loops=loops, needed=after)
    return replace(function, body=converter.body(function.body, everywhere=False))


def is_convertible(statement: ir.If) -> bool:
    """Tell whether both bodies have only assignments, stores and convertible conditions."""
    return all(
        isinstance(s, ir.Assign | ir.Store) or (isinstance(s, ir.If) and is_convertible(s))
        for s in (*statement.then, *statement.otherwise)
    )


def is_cheap(statement: ir.If) -> bool:
    """Tell whether running both bodies costs less than a branch.

    Not cheap: memory, products, quotients, remainders, and floating arithmetic, comparisons and conversions.
    """
    inside = list(ir.walk_statements((*statement.then, *statement.otherwise)))
    assignments = sum(isinstance(s, ir.Assign) for s in inside)
    if assignments > SMALL_BRANCH_ASSIGNMENTS or any(isinstance(s, ir.Store) for s in inside):
        return False
    return not any(
        _is_costly(part)
        for s in inside
        for expression in ir.statement_expressions(s)
        for part in ir.walk_expressions(expression)
    )


def _is_costly(part: ir.Expression) -> bool:
    match part:
        case ir.Load():
            return True
        case ir.Binary():
            return part.operator in ("mul", "div", "rem") or ir.type_of(part.left).floating
        case ir.Unary():
            return part.operator == "sqrt"
        case ir.Cast():
            return not part.bits and (part.type.floating or ir.type_of(part.operand).floating)
        case _:
            return False


def guard_loads(expression: ir.Expression, predicate: ir.Expression) -> ir.Expression:
    """Return the expression with every load made conditional on a predicate that is 0 or 1."""
    match expression:
        case ir.Load():
            own = None if expression.predicate is None else guard_loads(expression.predicate, predicate)
            return replace(
                expression,
                indices=tuple(guard_loads(i, predicate) for i in expression.indices),
                predicate=conjunction(predicate, own),
            )
        case ir.Unary() | ir.Cast():
            operand = guard_loads(expression.operand, predicate)
            return expression if operand is expression.operand else with_operand(expression, operand)
        case _:
            return ir.map_children(expression, lambda e: guard_loads(e, predicate))


def conjunction(left: ir.Expression, right: ir.Expression | None) -> ir.Expression:
    """Return the conjunction of two conditions, 0 or 1.

    Args: left: 0 or 1; right: any condition, None for one that always holds.
    """
    return left if right is None else _both(left, as_bit(right))


def _both(left: ir.Expression, right: ir.Expression) -> ir.Expression:
    """Return the conjunction of two values that are 0 or 1."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, ir.Constant):
            return other if one.value else one
    return make_binary("and", left, right)


def as_bit(condition: ir.Expression) -> ir.Expression:
    """Return a condition as 0 or 1."""
    if isinstance(condition, ir.Binary) and condition.operator in ("and", "or", "xor"):
        left, right = as_bit(condition.left), as_bit(condition.right)
        if left is condition.left and right is condition.right:
            return condition
    return truth_value(condition)


@dataclass(slots=True, kw_only=True)
class _Converter:
    """The pass.

    Attributes:
        needed: by `id` of each condition, the variables it changes that are read later.
        converted: statements of the outermost condition that is being converted.
        depth: branches around the present statement.
    """

    names: FreshNames
    loops: frozenset[str]
    needed: dict[int, frozenset[str]]
    converted: list[ir.Statement] = field(default_factory=list[ir.Statement])
    depth: int = 0

    def body(self, body: Body, *, everywhere: bool) -> Body:
        """Convert a body; `everywhere`: all conditions of its loop are converted."""
        statements: list[ir.Statement] = []
        for statement in body:
            match statement:
                case ir.If() if is_convertible(statement) and (everywhere or is_cheap(statement)):
                    self.converted = []
                    self.convert(statement, Copier(), None)
                    statements += self.converted
                case ir.For() | ir.While():
                    predicated = statement.name in self.loops
                    inner = self.body(statement.body, everywhere=predicated)
                    if predicated and all(isinstance(s, ir.Assign | ir.Store) for s in inner):
                        inner = merge_accesses(share_loads(inner, self.names), self.names)
                    statements.append(replace(statement, body=inner))
                case ir.If() | ir.Block():
                    bodies = tuple(self.body(b, everywhere=everywhere) for b in ir.child_bodies(statement))
                    statements.append(ir.with_bodies(statement, bodies))
                case _:
                    statements.append(statement)
        return tuple(statements)

    def convert(self, statement: ir.If, copier: Copier, around: ir.Expression | None) -> None:
        """Convert a condition and its branches.

        Args: copier: renamed variables of the surrounding branch; around: its predicate, 0 or 1.
        """
        line = statement.line
        condition = self.guarded(statement.condition, copier, around)
        holds = self.bit("p", as_bit(condition), line)
        fails = self.bit("p", make_binary("eq", holds, ir.Constant(value=0)), line)
        then, otherwise = copier.child(), copier.child()
        self.depth += 1
        for body, branch, own in ((statement.then, then, holds), (statement.otherwise, otherwise, fails)):
            if body:
                predicate = own if around is None else self.bit("p", _both(around, own), line)
                self.branch(body, branch, predicate)
        self.depth -= 1
        self.join(statement, copier, holds, then, otherwise)

    def bit(self, stem: str, value: ir.Expression, line: int) -> ir.Expression:
        """Return a value that is 0 or 1, saved in a new variable."""
        if isinstance(value, ir.Constant):
            return value
        variable = self.names.variable(stem)
        self.converted.append(ir.Assign(variable=variable, value=value, line=line))
        return ir.Read(variable=variable)

    def guarded(
        self, expression: ir.Expression, copier: Copier, predicate: ir.Expression | None
    ) -> ir.Expression:
        mapped = copier.expression(expression)
        return mapped if predicate is None else guard_loads(mapped, predicate)

    def branch(self, body: Body, copier: Copier, predicate: ir.Expression) -> None:
        """Convert the statements of a branch; each assigned value gets a new variable."""
        for statement in body:
            match statement:
                case ir.Assign():
                    value = self.guarded(statement.value, copier, predicate)
                    self.assign(statement.variable, value, copier, statement.line)
                case ir.Store():
                    own = statement.predicate
                    guard = None if own is None else self.guarded(own, copier, predicate)
                    mapped = ir.Store(
                        array=statement.array,
                        indices=tuple(self.guarded(i, copier, predicate) for i in statement.indices),
                        value=self.guarded(statement.value, copier, predicate),
                        line=statement.line,
                        predicate=conjunction(predicate, guard),
                    )
                    self.converted.append(mapped)
                case ir.If():
                    self.convert(statement, copier, predicate)
                case _:
                    raise TypeError(f"a converted branch must be plain, got {type(statement).__name__}")

    def assign(self, variable: ir.Variable, value: ir.Expression, copier: Copier, line: int) -> None:
        own = self.names.variable(variable.name, variable.type)
        self.converted.append(ir.Assign(variable=own, value=value, line=line))
        copier.rename(variable, own)

    def join(
        self, statement: ir.If, around: Copier, holds: ir.Expression, then: Copier, otherwise: Copier
    ) -> None:
        """Select the values of the variables that are needed later; `around` is the outer copier."""
        needed = self.needed[id(statement)]
        changed = {
            s.variable.name: s.variable
            for s in ir.walk_statements((statement,))
            if isinstance(s, ir.Assign) and s.variable.name in needed
        }
        for name, variable in changed.items():
            old = around.expression(ir.Read(variable=variable))
            values = (branch.values.get(name, old) for branch in (then, otherwise))
            value = make_select(holds, *values)
            if self.depth:
                self.assign(variable, value, around, statement.line)
            else:
                self.converted.append(ir.Assign(variable=variable, value=value, line=statement.line))
