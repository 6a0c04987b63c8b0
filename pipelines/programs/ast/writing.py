"""The C text of a program.

Parentheses are written only where precedence or gcc -Wall needs them; one level of indentation is four
spaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.c.signature import FLOAT
from pipelines.programs.ast.tree import (
    Array,
    Assign,
    Binary,
    Call,
    Cast,
    Constant,
    Declare,
    DeclareArray,
    Element,
    Expression,
    For,
    Function,
    If,
    Leave,
    Program,
    Read,
    Return,
    Select,
    Statement,
    Switch,
    Unary,
    Variable,
    While,
    called_functions,
)

_INDENT = "    "
_LINE = 100
_SUMS = ("+", "-")
_PRODUCTS = ("*", "/", "%")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def write_program(program: Program) -> str:
    """Return the complete source of a program."""
    blocks = ["\n".join(["#include <stdint.h>", *_math_header(program)])]
    macros = [f"#define {e.text} {e.value}" for e in program.extents]
    if macros:
        blocks.append("\n".join(macros))
    blocks += [_table(t) for t in program.tables]
    blocks += ["\n".join(_function(f, is_top=f is program.top)) for f in program.functions]
    return "\n\n".join(blocks) + "\n"


def expression_text(expression: Expression) -> str:
    """Return the text of an expression that stands alone."""
    match expression:
        case Constant():
            return expression.text or literal(expression)
        case Read():
            return expression.variable.name
        case Element():
            return expression.array.name + "".join(f"[{expression_text(s)}]" for s in expression.subscripts)
        case Unary():
            return expression.operator + _operand(expression.operand)
        case Cast():
            return f"({expression.type.c_name}){_operand(expression.operand)}"
        case Call():
            return f"{expression.function}({', '.join(map(expression_text, expression.arguments))})"
        case Select():
            condition, then, otherwise = (
                _inside(e, None) for e in (expression.condition, expression.then, expression.otherwise)
            )
            return f"{condition} ? {then} : {otherwise}"
        case Binary():
            left = _inside(expression.left, expression.operator)
            right = _inside(expression.right, expression.operator, right=True)
            return f"{left} {expression.operator} {right}"
        case _:
            raise TypeError(f"not a node of the tree: {expression}")


def literal(constant: Constant) -> str:
    """Return a number in C's notation for the constant's type."""
    if constant.type.floating:
        return number_text(float(constant.value)) + ("f" if constant.type == FLOAT else "")
    value = int(constant.value)
    suffix = "" if constant.type.signed else "u"
    return f"{value:#x}{suffix}" if value > 0xFFFF and suffix else f"{value}{suffix}"


def number_text(value: float) -> str:
    """Return a floating number with a point or an exponent."""
    return repr(float(value))


# ---- parentheses -----------------------------------------------------------------------------------


def _operand(expression: Expression) -> str:
    text = expression_text(expression)
    plain = isinstance(expression, Read | Element | Call) or (
        isinstance(expression, Constant) and not text.startswith("-") and " " not in text
    )
    return text if plain else f"({text})"


def _inside(expression: Expression, operator: str | None, *, right: bool = False) -> str:
    """Return text inside a binary operator, or inside a selection when that is None."""
    text = expression_text(expression)
    return f"({text})" if _needs_parentheses(expression, operator, right, text) else text


def _needs_parentheses(expression: Expression, operator: str | None, right: bool, text: str) -> bool:
    if isinstance(expression, Select):
        return True
    if isinstance(expression, Constant):
        free = operator is None or operator in _COMPARISONS
        return not free and (text.startswith("-") or " " in text)
    if not isinstance(expression, Binary):
        return False
    inner = expression.operator
    if operator is None or operator in _COMPARISONS:
        return inner not in (*_SUMS, *_PRODUCTS) and not (operator is None and inner in _COMPARISONS)
    if operator in ("&&", "||"):
        return inner not in _COMPARISONS
    if operator in _SUMS:
        return inner not in _PRODUCTS and (right or inner not in _SUMS)
    return not (operator in ("*", "/") and inner == "*" and not right)


# ---- statements ------------------------------------------------------------------------------------


def _function(function: Function, *, is_top: bool) -> Iterator[str]:
    returns = "void" if function.returns is None else function.returns.c_name
    head = f"{'' if is_top else 'static '}{returns} {function.name}("
    yield from _wrapped(head, [_parameter(function, p) for p in function.parameters])
    yield "{"
    yield from _lines(function.body, 1)
    yield "}"


def _wrapped(head: str, parts: list[str]) -> Iterator[str]:
    """Yield a list of parameters in lines of at most _LINE characters."""
    line = head
    for place, part in enumerate(parts):
        piece = part + (", " if place + 1 < len(parts) else ")")
        if len(line) + len(piece.rstrip()) > _LINE and line != head:
            yield line.rstrip()
            line = " " * len(head)
        line += piece
    yield line if parts else head + "void)"


def _parameter(function: Function, parameter: Variable | Array) -> str:
    const = "const " if parameter.name in function.read_only else ""
    return const + _declarator(parameter)


def _declarator(place: Variable | Array) -> str:
    shape = "".join(f"[{e.text}]" for e in place.shape) if isinstance(place, Array) else ""
    return f"{place.type.c_name} {place.name}{shape}"


def _table(table: Array) -> str:
    return f"static const {_declared_array(table)};"


def _declared_array(array: Array) -> str:
    values = [literal(Constant(type=array.type, low=v, high=v, value=v)) for v in array.values]
    return _declarator(array) + (f" = {{{', '.join(values)}}}" if values else "")


def _lines(body: tuple[Statement, ...], depth: int) -> Iterator[str]:
    for statement in body:
        yield from _statement(statement, _INDENT * depth, depth)


def _statement(statement: Statement, indent: str, depth: int) -> Iterator[str]:
    match statement:
        case Declare():
            value = "" if statement.value is None else f" = {expression_text(statement.value)}"
            yield f"{indent}{_declarator(statement.variable)}{value};"
        case DeclareArray():
            yield f"{indent}{_declared_array(statement.array)};"
        case Assign():
            yield f"{indent}{_assignment(statement)};"
        case Leave():
            yield f"{indent}{statement.word};"
        case Return():
            value = "" if statement.value is None else f" {expression_text(statement.value)}"
            yield f"{indent}return{value};"
        case If():
            yield from _if(statement, indent, depth)
        case For():
            yield from _compound(_for_head(statement), statement.body, indent, depth)
        case While():
            head = f"while ({expression_text(statement.condition)})"
            yield from _compound(head, statement.body, indent, depth)
        case Switch():
            yield from _switch(statement, indent, depth)


def _assignment(statement: Assign) -> str:
    target = expression_text(statement.target)
    unit = isinstance(statement.value, Constant) and statement.value.value == 1
    if unit and statement.operator in ("+=", "-=") and not statement.target.type.floating:
        return target + statement.operator[0] * 2
    return f"{target} {statement.operator} {expression_text(statement.value)}"


def _compound(head: str, body: tuple[Statement, ...], indent: str, depth: int) -> Iterator[str]:
    simple = _is_simple(body)
    yield f"{indent}{head}{'' if simple else ' {'}"
    yield from _lines(body, depth + 1)
    if not simple:
        yield f"{indent}}}"


def _if(statement: If, indent: str, depth: int) -> Iterator[str]:
    simple = _is_simple(statement.then) and (not statement.otherwise or _is_simple(statement.otherwise))
    yield f"{indent}if ({expression_text(statement.condition)}){'' if simple else ' {'}"
    yield from _lines(statement.then, depth + 1)
    if statement.otherwise:
        yield f"{indent}else" if simple else f"{indent}}} else {{"
        yield from _lines(statement.otherwise, depth + 1)
    if not simple:
        yield f"{indent}}}"


def _for_head(loop: For) -> str:
    name = loop.variable.name
    step = {1: f"{name}++", -1: f"{name}--"}.get(
        loop.step, f"{name} {'+' if loop.step > 0 else '-'}= {abs(loop.step)}"
    )
    start, bound = expression_text(loop.start), expression_text(loop.bound)
    return f"for (int {name} = {start}; {name} {loop.relation} {bound}; {step})"


def _switch(statement: Switch, indent: str, depth: int) -> Iterator[str]:
    yield f"{indent}switch ({expression_text(statement.selector)}) {{"
    for label, body in statement.cases:
        scoped = any(isinstance(s, Declare) for s in body)
        head = "default:" if label is None else f"case {label}:"
        yield f"{indent}{head}{' {' if scoped else ''}"
        yield from _lines(body, depth + 1)
        if label is not None:
            yield f"{indent}{_INDENT}{'/* fall through */' if label in statement.falls else 'break;'}"
        if scoped:
            yield f"{indent}}}"
    yield f"{indent}}}"


def _is_simple(body: tuple[Statement, ...]) -> bool:
    return len(body) == 1 and isinstance(body[0], Assign | Leave | Return)


def _math_header(program: Program) -> list[str]:
    defined = {f.name for f in program.functions}
    called = {name for f in program.functions for name in called_functions(f)}
    return ["#include <math.h>"] if called - defined else []
