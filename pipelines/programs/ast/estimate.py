"""The time a program takes and the cells of its netlist, before it is compiled.

The latencies are those of docs/hls.md with memory delays of 10 cycles, the operations of a statement one
after the other except parallel loads: mostly above the cycles of a design. The costs were measured in osu018
on loops of one operation; the sum is within a factor of about 2.
"""

from __future__ import annotations

from pipelines.base.summation import ordered_sum
from pipelines.programs.ast.tree import (
    Assign,
    Binary,
    Call,
    Cast,
    Constant,
    Element,
    Expression,
    For,
    If,
    Program,
    Select,
    Statement,
    Switch,
    Unary,
    While,
    expressions_of,
    operands_of,
    walk_expression,
    walk_statements,
)

MEMORY_CYCLES = 10
_FLOATING_CYCLES = 4
_ROOT_CYCLES = 16
_PRODUCT_CYCLES = 2
_LOOP_CYCLES = 2


def estimated_cycles(body: tuple[Statement, ...], calls: dict[str, int]) -> int:
    """Return the cycles of statements, every condition true.

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
            cycles = [estimated_cycles(b, calls) for _, b in statement.cases]
            return own + 1 + (sum(cycles) if statement.falls else max(cycles))
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


# ---- cells -----------------------------------------------------------------------------------------

_FLOAT_UNITS = {"+": (1900, 4300), "*": (5000, 18300), "/": (7800, 27800), "sqrt": (4100, 20300)}
"""Cells of a unit for float and for double in osu018; all operations of a kind share one unit."""
_CONVERSION_CELLS = 800
_ADDER, _COMPARE, _SHIFT, _CONSTANT_PRODUCT, _DIVIDER = 8.0, 9.0, 7.0, 13.0, 42.0
"""Cells for each bit."""
_PRODUCT, _CONSTANT_QUOTIENT = 3.1, 3.2
"""Cells for each bit of one operand and each bit of the other."""
_VALUE_CELLS = 4.0
"""Cells for each bit of a value that is loaded, assigned or stored: its register and multiplexer."""
_CONTROL_CELLS = 60.0
"""Cells for each statement: states, counters, enables."""


def estimated_cells(program: Program) -> int:
    """Return the cells of a program's netlist without directives, by measured costs of its operations.

    Products, quotients by a variable and floating operations are shared, the largest counts; calls are
    inlined.
    """
    shared: dict[str, float] = {}
    own: dict[str, float] = {}
    for function in program.functions:
        total = 0.0
        for statement in walk_statements(function.body):
            total += _CONTROL_CELLS
            for outer in expressions_of(statement):
                for expression in walk_expression(outer):
                    total += _cells(expression, shared)
                    total += own.get(expression.function, 0.0) if isinstance(expression, Call) else 0.0
        own[function.name] = total
    return int(own[program.top.name] + ordered_sum(shared.values()))


def _cells(expression: Expression, shared: dict[str, float]) -> float:
    """Count the cells of one operation itself; a shared unit's go to `shared`."""
    bits = _bits(expression)
    match expression:
        case Element():
            return _VALUE_CELLS * bits
        case Select():
            return _COMPARE / 2 * bits
        case Unary():
            return _ADDER * bits / 2
        case Cast():
            return _CONVERSION_CELLS if expression.type.floating != expression.operand.type.floating else 0.0
        case Call() if "sqrt" in expression.function:
            return _share(shared, "sqrt", expression.type.width_bits, _FLOAT_UNITS["sqrt"])
        case Call():
            return _COMPARE * bits if expression.function.startswith(("fmin", "fmax")) else 0.0
        case Binary():
            return _operator_cells(expression, bits, shared)
        case _:
            return 0.0


def _operator_cells(expression: Binary, bits: int, shared: dict[str, float]) -> float:
    operator = "+" if expression.operator == "-" else expression.operator
    left, right = expression.left, expression.right
    fixed = isinstance(left, Constant) or isinstance(right, Constant)
    wide = max(_bits(left), _bits(right))
    if operator in _FLOAT_UNITS and expression.type.floating:
        if fixed and operator == "*":
            return _FLOAT_UNITS["*"][expression.type.width_bits == 64] / 5
        return _share(shared, operator, expression.type.width_bits, _FLOAT_UNITS[operator])
    match operator:
        case "+":
            return _ADDER * bits
        case "*" if not fixed:
            return _most(shared, "integer *", _PRODUCT * _bits(left) * _bits(right))
        case "*":
            return _CONSTANT_PRODUCT * bits
        case "/" | "%" if not fixed:
            return _most(shared, "integer /", _DIVIDER * wide)
        case "/" | "%":
            power = isinstance(right, Constant) and int(right.value).bit_count() == 1
            return 3.0 * wide if power else _CONSTANT_QUOTIENT * wide * wide
        case "<<" | ">>" if not fixed:
            return _SHIFT * wide
        case "&" | "|" | "^" | "&&" | "||":
            return float(bits)
        case _:
            return _COMPARE / 2 * wide


def _share(shared: dict[str, float], name: str, width_bits: int, costs: tuple[int, int]) -> float:
    return _most(shared, f"{name} {width_bits}", float(costs[width_bits == 64]))


def _most(shared: dict[str, float], name: str, cells: float) -> float:
    shared[name] = max(shared.get(name, 0.0), cells)
    return 0.0


def _bits(expression: Expression) -> int:
    """Return the bits that hold a value."""
    if expression.type.floating:
        return expression.type.width_bits
    return max(int(expression.low).bit_length(), int(expression.high).bit_length()) + (expression.low < 0)
