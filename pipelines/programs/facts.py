"""Facts about a program: length, loops, operations, and the share of operations on arrays."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.base.identity import canonical_json
from pipelines.c import ir, read_function
from pipelines.schemas import ProgramFactsRow, ProgramRow

UNKNOWN_TRIPS = 8.0
"""Assumed iterations of a loop whose trip count depends on data; shares depend little on it."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'" + r"|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*"
    r"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||##|[-+*/%&|^]=|[^\s\w]"
)


def program_facts(program: ProgramRow) -> ProgramFactsRow:
    """Return the facts about a program.

    An operation is an operator or an array access, those in subscripts included. A statement or a condition
    that loads or stores an array works on it, with all its operations. How often it runs is the product of
    the iterations around it: both sides of a condition count, a bound that depends on an outer loop has that
    loop's middle, and one that depends on data gives `UNKNOWN_TRIPS`.

    Raises: HlsError: the C front end rejects the program.
    """
    function = read_function(program.source, top=program.top, file=f"{program.name}.c")
    written: Counter[str] = Counter()
    executed = on_arrays = 0.0
    for statement, times in _executed(function.body, 1.0, _scalars(program)):
        kinds = Counter(_kinds(statement))
        written += kinds
        executed += times * kinds.total()
        on_arrays += times * kinds.total() * ("load" in kinds or "store" in kinds)
    depths = list(_depths(function.body, 1))
    return ProgramFactsRow(
        program_id=program.program_id,
        suite=program.suite,
        source_lines=sum(bool(line.strip()) for line in program.source.splitlines()),
        source_tokens=len(_TOKEN.findall(_COMMENT.sub(" ", program.source))),
        loop_count=len(depths),
        loop_depth=max(depths, default=0),
        operation_count=written.total(),
        operations=canonical_json(written),
        array_operation_share=on_arrays / executed if executed else None,
        dynamic_class=None,
    )


def _depths(body: tuple[ir.Statement, ...], depth: int) -> Iterator[int]:
    """Yield the depth of every loop."""
    for statement in body:
        is_loop = isinstance(statement, ir.For | ir.While)
        if is_loop:
            yield depth
        for inner in ir.child_bodies(statement):
            yield from _depths(inner, depth + is_loop)


def _kinds(statement: ir.Statement) -> Iterator[str]:
    """Yield the kinds of the operations a statement does itself; none for the header of a counted loop."""
    if isinstance(statement, ir.For):
        return
    if isinstance(statement, ir.Store):
        yield "store"
    for expression in ir.statement_expressions(statement):
        for part in ir.walk_expressions(expression):
            match part:
                case ir.Load():
                    yield "load"
                case ir.Binary(operator=operator, left=left):
                    yield f"float_{operator}" if ir.type_of(left).floating else operator
                case ir.Unary(operator=operator):
                    yield f"float_{operator}" if part.type.floating else operator
                case ir.Select():
                    yield "select"
                case _:
                    pass


# ---- executions of statements -------------------------------------------------------------------------


def _scalars(program: ProgramRow) -> dict[str, float]:
    """Return the values of the scalar arguments: the middle of their ranges."""
    values: dict[str, float] = {}
    inputs: dict[str, dict[str, Any]] = json.loads(program.inputs)
    for name, drawn in inputs.items():
        match drawn:
            case {"kind": "constant", "value": int() | float() as value}:
                values[name] = value
            case {"kind": "values", "values": int() | float() as value}:
                values[name] = value
            case {"kind": "uniform", "low": int() | float() as low, "high": int() | float() as high}:
                values[name] = (low + high) / 2
            case _:
                pass
    return values


def _executed(
    body: tuple[ir.Statement, ...], times: float, values: Mapping[str, float]
) -> Iterator[tuple[ir.Statement, float]]:
    """Yield every statement and its maximum executions; `values`: the variables' before the body."""
    known = dict(values)
    for statement in body:
        if not isinstance(statement, ir.For):
            yield statement, times * (UNKNOWN_TRIPS if isinstance(statement, ir.While) else 1.0)
        changed = ir.assigned_variables((statement,))
        value = _value(statement.value, known) if isinstance(statement, ir.Assign) else None
        inside = {name: v for name, v in known.items() if name not in changed}
        match statement:
            case ir.For():
                trips, middle = _trips(statement, known)
                around = inside if middle is None else {**inside, statement.variable.name: middle}
                yield from _executed(statement.body, times * trips, around)
            case ir.While():
                yield from _executed(statement.body, times * UNKNOWN_TRIPS, inside)
            case _:
                for inner in ir.child_bodies(statement):
                    yield from _executed(inner, times, inside)
        known = inside
        if isinstance(statement, ir.Assign) and value is not None:
            known[statement.variable.name] = value


def _trips(loop: ir.For, values: Mapping[str, float]) -> tuple[float, float | None]:
    """Return the iterations of a loop and its variable's middle value; None if its bounds depend on data."""
    low, high = _value(loop.lower, values), _value(loop.upper, values)
    if low is None or high is None:
        return UNKNOWN_TRIPS, None
    high += {"le": 1, "ge": -1}.get(loop.comparison, 0)
    trips = max(0.0, (high - low) / loop.step)
    return trips, low + loop.step * max(0.0, trips - 1) / 2


def _value(expression: ir.Expression, values: Mapping[str, float]) -> float | None:
    """Return the value of a bound where scalars have values; None where it depends on anything else."""
    match expression:
        case ir.Constant():
            return expression.number
        case ir.Read():
            return values.get(expression.variable.name)
        case ir.Cast(operand=operand):
            return _value(operand, values)
        case ir.Binary(operator=operator, left=left, right=right):
            one, other = _value(left, values), _value(right, values)
            return None if one is None or other is None else _combined(operator, one, other)
        case ir.Select(condition=condition, if_true=if_true, if_false=if_false):
            chosen = _value(condition, values)
            return None if chosen is None else _value(if_true if chosen else if_false, values)
        case _:
            return None


def _combined(operator: str, left: float, right: float) -> float | None:
    match operator:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "div" if right:
            return left / right
        case "shl" if 0 <= right < 64:
            return left * 2.0**right
        case "shr" if 0 <= right < 64:
            return left / 2.0**right
        case "lt":
            return float(left < right)
        case "le":
            return float(left <= right)
        case "gt":
            return float(left > right)
        case "ge":
            return float(left >= right)
        case _:
            return None
