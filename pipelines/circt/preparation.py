"""From C to the structured IR that is written as MLIR, without directives and jumps.

MLIR's structured loops have no exits. `Leave` sets the flag of its block; statements after one that may leave
run under the condition that no flag is set; a loop with exits becomes a conditional loop that evaluates its
condition only while no flag is set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from pipelines.c import (
    FreshNames,
    fresh_names,
    ir,
    leaves_outward,
    make_binary,
    read_function,
    tidy,
    truth_value,
)
from pipelines.hls import TransformOptions, store_initial_values, transform

Body = tuple[ir.Statement, ...]

_ZERO = ir.Constant(value=0)
_ONE = ir.Constant(value=1)


def prepare(source: str, *, top: str, file: str = "program.c") -> ir.Function:
    """Read a program and convert it to the form that is written as MLIR.

    Args:    source: C text; top: function; file: name for messages. Directives in the source are ignored.
    Returns: a function without blocks, exits and initial values of arrays it stores to.
    Raises:  HlsError: the program is outside the accepted subset.
    """
    function = read_function(source, top=top, file=file)
    transformed = transform(function, (), TransformOptions()).function
    filled, _ = store_initial_values(transformed)
    return tidy(without_exits(filled))


def without_exits(function: ir.Function) -> ir.Function:
    """Return an equivalent function without `Block` and `Leave`; flags take their place."""
    statements = ir.walk_statements(function.body)
    if not any(isinstance(s, ir.Block | ir.Leave) for s in statements):
        return function
    writer = _Exits(names=fresh_names(function), flags={})
    return replace(function, body=writer.body(function.body))


@dataclass(slots=True, kw_only=True)
class _Exits:
    """Rewriting of statements; `flags` has the flag of each block around the current statement."""

    names: FreshNames
    flags: dict[str, ir.Variable]

    def body(self, body: Body) -> Body:
        statements: list[ir.Statement] = []
        for position, statement in enumerate(body):
            statements += self.statement(statement)
            left = leaves_outward((statement,))
            rest = body[position + 1 :]
            if left and rest:
                guarded = ir.If(
                    condition=self.stays(left), then=self.body(rest), otherwise=(), line=rest[0].line
                )
                return (*statements, guarded)
        return tuple(statements)

    def stays(self, labels: frozenset[str] | set[str]) -> ir.Expression:
        """Return the condition that none of these blocks was left."""
        flags = [ir.Read(variable=self.flags[label]) for label in sorted(labels)]
        return reduce(
            lambda a, b: make_binary("and", a, b), [make_binary("eq", flag, _ZERO) for flag in flags]
        )

    def statement(self, statement: ir.Statement) -> Body:
        match statement:
            case ir.Leave():
                return (_set(self.flags[statement.label], _ONE, statement.line),)
            case ir.Block():
                flag = self.names.variable(f"left_{statement.label}")
                self.flags[statement.label] = flag
                return (_set(flag, _ZERO, statement.line), *self.body(statement.body))
            case ir.If():
                then, otherwise = self.body(statement.then), self.body(statement.otherwise)
                return (replace(statement, then=then, otherwise=otherwise),)
            case ir.For() | ir.While():
                return self.loop(statement)
            case _:
                return (statement,)

    def loop(self, loop: ir.For | ir.While) -> Body:
        left = leaves_outward(loop.body)
        if not left:
            return (replace(loop, body=self.body(loop.body)),)
        going = self.names.variable("going")
        before, test, step = _parts(loop)
        tested = truth_value(test)
        begins = _ONE if isinstance(loop, ir.While) and not loop.test_first else tested
        again = ir.If(
            condition=self.stays(left),
            then=(*step, _set(going, tested, loop.line)),
            otherwise=(),
            line=loop.line,
        )
        body = (*self.body(loop.body), _set(going, _ZERO, loop.line), again)
        condition = ir.Read(variable=going)
        conditional = ir.While(name=loop.name, body=body, line=loop.line, condition=condition)
        return (*before, _set(going, begins, loop.line), conditional)


def _set(variable: ir.Variable, value: ir.Expression, line: int) -> ir.Assign:
    return ir.Assign(variable=variable, value=value, line=line)


def _parts(loop: ir.For | ir.While) -> tuple[Body, ir.Expression, Body]:
    """Return the statements of a loop before its first test, the test, and statements between iterations."""
    if isinstance(loop, ir.While):
        return (), loop.condition, ()
    read = ir.Read(variable=loop.variable)
    step = ir.Constant(value=loop.step, type=loop.variable.type)
    following = make_binary("add", read, step)
    test = make_binary(loop.comparison, read, loop.upper)
    return (
        (_set(loop.variable, loop.lower, loop.line),),
        test,
        (_set(loop.variable, following, loop.line),),
    )
