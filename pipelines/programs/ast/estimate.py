"""A bound of the time a program takes, before it is compiled.

Belongs here: worst-case cycles from trip counts and rough latencies. Does not: exact cycles (the cycle
model). The latencies are those of docs/hls.md with memory delays of 10 cycles, all operations of a statement
one after the other but loads side by side: mostly above what a design takes.
"""

from __future__ import annotations

from pipelines.programs.ast.tree import (
    Assign,
    Binary,
    Call,
    Element,
    Expression,
    For,
    If,
    Statement,
    Switch,
    While,
    expressions_of,
    operands_of,
)

MEMORY_CYCLES = 10
_FLOATING_CYCLES = 4
_ROOT_CYCLES = 16
_PRODUCT_CYCLES = 2
_LOOP_CYCLES = 2


def estimated_cycles(body: tuple[Statement, ...], calls: dict[str, int]) -> int:
    """Cycles of statements, every condition true.

    Args: calls: cycles of each function of the program that may be called.
    """
    return sum(_cycles(s, calls) for s in body)


def _cycles(statement: Statement, calls: dict[str, int]) -> int:
    own = sum(_latency(e, calls) for e in expressions_of(statement))
    match statement:
        case For() | While():
            return own + statement.trips * (_LOOP_CYCLES + own + estimated_cycles(statement.body, calls))
        case If():
            branches = (statement.then, statement.otherwise)
            return own + 1 + max(estimated_cycles(b, calls) for b in branches)
        case Switch():
            return own + 1 + max(estimated_cycles(b, calls) for _, b in statement.cases)
        case Assign():
            return own + (MEMORY_CYCLES if isinstance(statement.target, Element) else 0)
        case _:
            return own


def _latency(expression: Expression, calls: dict[str, int]) -> int:
    before = max((_latency(e, calls) for e in operands_of(expression)), default=0)
    match expression:
        case Element():
            return before + MEMORY_CYCLES
        case Call():
            return before + calls.get(
                expression.function, _ROOT_CYCLES if "sqrt" in expression.function else 1
            )
        case Binary():
            return before + _operator_cycles(expression)
        case _:
            return before


def _operator_cycles(expression: Binary) -> int:
    if expression.operator in ("/", "%"):
        return expression.type.width_bits // 2
    if expression.left.type.floating or expression.right.type.floating:
        return _FLOATING_CYCLES
    return _PRODUCT_CYCLES if expression.operator == "*" else 0
