"""If-conversion: conditions become predicates, so that a loop body is one block.

Belongs here: the pass and the decision where it pays. Does not: pipelining itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_select

SMALL_BRANCH_ASSIGNMENTS = 3
"""An if of at most this many cheap assignments is converted everywhere: the selections cost less than the
states of a branch."""


@dataclass(slots=True)
class _Converter:
    function: ir.Function
    loops: frozenset[str]
    fresh: int = 0
    names: frozenset[str] = frozenset()
    reads: Counter[str] = field(default_factory=lambda: Counter[str]())

    def body(self, body: tuple[ir.Statement, ...], everywhere: bool) -> tuple[ir.Statement, ...]:
        found: list[ir.Statement] = []
        for statement in body:
            match statement:
                case ir.If():
                    inner = replace(
                        statement,
                        then=self.body(statement.then, everywhere),
                        otherwise=self.body(statement.otherwise, everywhere),
                    )
                    convertible = is_convertible(inner)
                    if convertible and (everywhere or _is_cheap(inner)):
                        found.extend(self.convert(inner, statement))
                    else:
                        found.append(inner)
                case ir.For() | ir.While():
                    wanted = statement.name in self.loops
                    found.append(replace(statement, body=self.body(statement.body, wanted)))
                case _:
                    found.append(statement)
        return tuple(found)

    def convert(self, statement: ir.If, source: ir.If) -> list[ir.Statement]:
        """Predicate a condition whose bodies are plain.

        Args:    source: the condition before anything inside was converted; its reads are the program's.
        """
        condition = self.temporary("p")
        found: list[ir.Statement] = [
            ir.Assign(variable=condition, value=statement.condition, line=statement.line)
        ]
        predicate = ir.Read(variable=condition)
        found += self.predicated(statement.then, source.then, predicate)
        if statement.otherwise:
            negated = self.temporary("p")
            negation = make_binary("eq", predicate, ir.Constant(value=0))
            found.append(ir.Assign(variable=negated, value=negation, line=statement.line))
            found += self.predicated(statement.otherwise, source.otherwise, ir.Read(variable=negated))
        return found

    def temporary(self, stem: str) -> ir.Variable:
        """A variable with a name the program does not use."""
        self.fresh += 1
        name = f"{stem}__{self.fresh}"
        return self.temporary(stem) if name in self.names else ir.Variable(name=name)

    def predicated(
        self, body: tuple[ir.Statement, ...], source: tuple[ir.Statement, ...], predicate: ir.Read
    ) -> list[ir.Statement]:
        """The statements of a body under a predicate.

        A variable that is set before it is read in the body and read nowhere else needs no selection.
        """
        inside = _count_reads(source)
        private = {name for name in _assigned_first(body) if self.reads[name] <= inside.get(name, 0)}
        found: list[ir.Statement] = []
        for statement in body:
            if isinstance(statement, ir.Assign):
                value = guard_loads(statement.value, predicate)
                if statement.variable.name not in private:
                    old = ir.Read(variable=statement.variable)
                    value = make_select(predicate, value, old)
                found.append(replace(statement, value=value))
            elif isinstance(statement, ir.Store):
                found.append(
                    replace(
                        statement,
                        indices=tuple(guard_loads(i, predicate) for i in statement.indices),
                        value=guard_loads(statement.value, predicate),
                        predicate=_conjunction(predicate, statement.predicate),
                    )
                )
        return found


def is_convertible(statement: ir.If) -> bool:
    """Whether both bodies are plain assignments and stores."""
    return all(isinstance(s, ir.Assign | ir.Store) for s in (*statement.then, *statement.otherwise))


def _is_cheap(statement: ir.If) -> bool:
    """Whether running both bodies always costs no time worth a branch: no memory, products, quotients."""
    body = (*statement.then, *statement.otherwise)
    if len(body) > SMALL_BRANCH_ASSIGNMENTS or any(isinstance(s, ir.Store) for s in body):
        return False
    return not any(
        isinstance(e, ir.Load) or (isinstance(e, ir.Binary) and e.operator in ("mul", "div", "rem"))
        for e in ir.all_expressions(body)
    )


def _conjunction(left: ir.Expression, right: ir.Expression | None) -> ir.Expression:
    return left if right is None else make_binary("and", left, right)


def _count_reads(body: tuple[ir.Statement, ...]) -> Counter[str]:
    return Counter(e.variable.name for e in ir.all_expressions(body) if isinstance(e, ir.Read)) + Counter(
        s.variable.name for s in ir.walk_statements(body) if isinstance(s, ir.For)
    )


def _assigned_first(body: tuple[ir.Statement, ...]) -> set[str]:
    """Variables whose first appearance in the body is an assignment."""
    seen: set[str] = set()
    first: set[str] = set()
    for statement in body:
        for expression in ir.statement_expressions(statement):
            for part in ir.walk_expressions(expression):
                if isinstance(part, ir.Read):
                    seen.add(part.variable.name)
        if isinstance(statement, ir.Assign) and statement.variable.name not in seen:
            seen.add(statement.variable.name)
            first.add(statement.variable.name)
    return first


def guard_loads(expression: ir.Expression, predicate: ir.Expression) -> ir.Expression:
    """The expression with every load made conditional on a predicate."""

    def visit(part: ir.Expression) -> ir.Expression:
        match part:
            case ir.Load():
                return replace(
                    part,
                    indices=tuple(visit(i) for i in part.indices),
                    predicate=_conjunction(
                        predicate, None if part.predicate is None else visit(part.predicate)
                    ),
                )
            case ir.Unary():
                return replace(part, operand=visit(part.operand))
            case ir.Binary():
                return replace(part, left=visit(part.left), right=visit(part.right))
            case ir.Select():
                return replace(
                    part,
                    condition=visit(part.condition),
                    if_true=visit(part.if_true),
                    if_false=visit(part.if_false),
                )
            case _:
                return part

    return visit(expression)


def convert_ifs(function: ir.Function, loops: frozenset[str]) -> ir.Function:
    """Replace conditions by predicates.

    Args:    loops: names of loops in whose bodies every convertible `if` goes; elsewhere only cheap ones.
    Returns: an equivalent function.
    Source:  Allen, Kennedy, Porterfield, Warren 1983, "Conversion of control dependence to data
             dependence", for structured conditions only.
    """
    reads = _count_reads(function.body)
    names = frozenset(reads) | ir.assigned_variables(function.body)
    converter = _Converter(function=function, loops=loops, names=names, reads=reads)
    return replace(function, body=converter.body(function.body, everywhere=False))
