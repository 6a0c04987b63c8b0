"""Structured IR as C11 text, to be compiled and run natively: an executable meaning of a function.

Integer arithmetic is done in unsigned types and converted back, so that it wraps. Results that C leaves
undefined have fixed values, because a converted branch may compute and drop them: a quotient by zero and a
shift by too much are 0 (all signs for a signed right shift), a number outside the integer type is 0. Both
values of a selection are evaluated; an access with predicate zero is skipped and gives 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.c import ir
from pipelines.c.signature import Bank, BankDimension, ScalarType

STATIC_ELEMENTS = 4096
"""Local arrays with more elements are static."""

_TYPES = tuple(ScalarType(width_bits=w, signed=s) for w in (8, 16, 32, 64) for s in (True, False)) + tuple(
    ScalarType(width_bits=w, floating=True) for w in (32, 64)
)

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}

_SELECTIONS = "".join(
    f"static inline {t.c_name} select_{t.c_name}(int32_t c, {t.c_name} a, {t.c_name} b) "
    "{ return c ? a : b; }\n"
    for t in _TYPES
)

_BITS = "".join(
    f"static inline {to.c_name} bits_{kind.c_name}_{to.c_name}({kind.c_name} value)\n"
    f"{{\n    {to.c_name} result;\n    __builtin_memcpy(&result, &value, sizeof result);\n"
    "    return result;\n}\n"
    for kind in _TYPES
    for to in _TYPES
    if kind.floating != to.floating and kind.width_bits == to.width_bits
)

PRELUDE = f"""#include <stdint.h>

static inline int64_t signed_div(int64_t a, int64_t b)
{{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}}
static inline int64_t signed_rem(int64_t a, int64_t b) {{ return b == 0 || b == -1 ? 0 : a % b; }}
static inline uint64_t unsigned_div(uint64_t a, uint64_t b) {{ return b == 0 ? 0 : a / b; }}
static inline uint64_t unsigned_rem(uint64_t a, uint64_t b) {{ return b == 0 ? 0 : a % b; }}
static inline uint64_t shift_left(uint64_t a, uint64_t n, uint64_t width)
{{
    return n < width ? a << n : 0;
}}
static inline int64_t signed_shift_right(int64_t a, uint64_t n, uint64_t width)
{{
    return a >> (n < width ? n : width - 1);
}}
static inline uint64_t unsigned_shift_right(uint64_t a, uint64_t n, uint64_t width)
{{
    return n < width ? a >> n : 0;
}}
static inline int64_t signed_integer(double a, double below, double above)
{{
    return a > below && a < above ? (int64_t)a : 0;
}}
static inline uint64_t unsigned_integer(double a, double above)
{{
    return a > -1.0 && a < above ? (uint64_t)a : 0;
}}
{_SELECTIONS}{_BITS}"""
"""Declarations before the functions, once per file."""


def constant_text(constant: ir.Constant) -> str:
    """A constant as a C expression of its value, exact to the last bit."""
    kind = constant.type
    if kind.floating:
        return _float_text(constant)
    suffix = ("" if kind.signed else "u") if kind.width_bits < 64 else ("ll" if kind.signed else "ull")
    if constant.value >= 0:
        return f"{constant.value}{suffix}"
    if constant.value == -(1 << (kind.width_bits - 1)):
        return f"(-{-constant.value - 1}{suffix} - 1)"
    return f"(-{-constant.value}{suffix})"


def _float_text(constant: ir.Constant) -> str:
    number = float(constant.number)
    kind = constant.type
    if not math.isfinite(number):
        return f"bits_{kind.bits_c_name}_{kind.c_name}({constant.value:#x}u{'ll' * (kind.width_bits == 64)})"
    text = number.hex() + ("f" if kind.width_bits == 32 else "")
    return f"({text})" if text.startswith("-") else text


def _wide(kind: ScalarType) -> str:
    """The unsigned type of arithmetic: never one that C would promote to int."""
    return "uint64_t" if kind.width_bits == 64 else "uint32_t"


@dataclass(slots=True)
class _Writer:
    """Writes one function; `banks` by port."""

    function: ir.Function
    banks: dict[str, Bank]

    # ---- expressions ------------------------------------------------------------------------------

    def value(self, expression: ir.Expression) -> str:
        """An expression in parentheses where it needs them."""
        match expression:
            case ir.Constant():
                return constant_text(expression)
            case ir.Read():
                return expression.variable.name
            case ir.Load():
                element = self.element(expression.array, expression.indices)
                if expression.predicate is None:
                    return element
                return f"({self.value(expression.predicate)} ? {element} : 0)"
            case ir.Cast():
                return self.cast(expression)
            case ir.Unary():
                return self.unary(expression)
            case ir.Binary():
                return self.binary(expression)
            case ir.Select():
                parts = (expression.condition, expression.if_true, expression.if_false)
                return f"select_{expression.type.c_name}({', '.join(map(self.value, parts))})"

    def cast(self, cast: ir.Cast) -> str:
        operand, source, target = self.value(cast.operand), ir.type_of(cast.operand), cast.type
        if cast.bits and source.floating != target.floating:
            if target.floating or target.signed is False:
                holder = f"({source.bits_c_name}){operand}" if target.floating else operand
                from_name = source.bits_c_name if target.floating else source.c_name
                return f"bits_{from_name}_{target.c_name}({holder})"
            return f"({target.c_name})bits_{source.c_name}_{target.bits_c_name}({operand})"
        if source.floating and not target.floating:
            return f"({target.c_name}){_integer_text(operand, target)}"
        return f"({target.c_name}){operand}"

    def unary(self, unary: ir.Unary) -> str:
        operand, kind = self.value(unary.operand), unary.type
        if not kind.floating:
            sign = "0 - " if unary.operator == "neg" else "~"
            return f"({kind.c_name})({sign}({_wide(kind)}){operand})"
        if unary.operator == "neg":
            return f"(-{operand})"
        name = {"abs": "__builtin_fabs", "sqrt": "__builtin_sqrt"}[unary.operator]
        return f"{name}{'f' * (kind.width_bits == 32)}({operand})"

    def binary(self, binary: ir.Binary) -> str:
        left, right = self.value(binary.left), self.value(binary.right)
        kind, operator = ir.type_of(binary.left), binary.operator
        if operator in ir.COMPARISONS or kind.floating:
            return f"({left} {_INFIX[operator]} {right})"
        name = kind.c_name
        if operator in ("div", "rem"):
            return f"({name}){'' if kind.signed else 'un'}signed_{operator}({left}, {right})"
        if operator == "shl":
            return f"({name})shift_left((uint64_t){left}, (uint64_t){right}, {kind.width_bits})"
        if operator == "shr":
            sign = "" if kind.signed else "un"
            return f"({name}){sign}signed_shift_right({left}, (uint64_t){right}, {kind.width_bits})"
        wide = _wide(kind)
        return f"({name})(({wide}){left} {_INFIX[operator]} ({wide}){right})"

    def element(self, array: ir.Array, indices: tuple[ir.Expression, ...]) -> str:
        """An array element; an element of a bank is one of the bank's argument."""
        texts = [self.value(i) for i in indices]
        bank = self.banks.get(array.name)
        if bank is None:
            return array.name + "".join(f"[{t}]" for t in texts)
        argument = next(
            p for p in self.function.parameters if isinstance(p, ir.Array) and p.name == bank.argument
        )
        places = [_dealt(t, d) for t, d in zip(texts, bank.dimensions, strict=True)]
        if bank.shape != argument.shape:
            return f"(({array.type.c_name} *){bank.argument})[{places[0]}]"
        return bank.argument + "".join(f"[{p}]" for p in places)

    # ---- statements -------------------------------------------------------------------------------

    def body(self, body: tuple[ir.Statement, ...], depth: int) -> Iterator[str]:
        for statement in body:
            yield from self.statement(statement, depth)

    def statement(self, statement: ir.Statement, depth: int) -> Iterator[str]:
        pad = "    " * depth
        match statement:
            case ir.Assign():
                yield f"{pad}{statement.variable.name} = {self.value(statement.value)};"
            case ir.Store():
                element = self.element(statement.array, statement.indices)
                guard = "" if statement.predicate is None else f"if ({self.value(statement.predicate)}) "
                yield f"{pad}{guard}{element} = {self.value(statement.value)};"
            case ir.If():
                yield f"{pad}if ({self.value(statement.condition)}) {{"
                yield from self.body(statement.then, depth + 1)
                if statement.otherwise:
                    yield f"{pad}}} else {{"
                    yield from self.body(statement.otherwise, depth + 1)
                yield f"{pad}}}"
            case ir.Block():
                yield f"{pad}{{"
                yield from self.body(statement.body, depth + 1)
                yield f"{pad}}} {statement.label}: ;"
            case ir.Leave():
                yield f"{pad}goto {statement.label};"
            case ir.For():
                yield pad + self.for_header(statement)
                yield from self.body(statement.body, depth + 1)
                yield f"{pad}}}"
            case ir.While():
                condition = self.value(statement.condition)
                yield f"{pad}while ({condition}) {{" if statement.test_first else f"{pad}do {{"
                yield f"{pad}    /* {statement.name} */"
                yield from self.body(statement.body, depth + 1)
                yield f"{pad}}}" if statement.test_first else f"{pad}}} while ({condition});"
            case ir.Return():
                value = "" if statement.value is None else f" {self.value(statement.value)}"
                yield f"{pad}return{value};"

    def for_header(self, loop: ir.For) -> str:
        name, kind = loop.variable.name, loop.variable.type
        read = ir.Read(variable=loop.variable)
        step = ir.Constant(value=loop.step, type=kind)
        following = self.binary(ir.Binary(operator="add", left=read, right=step, type=kind))
        test = f"{name} {_INFIX[loop.comparison]} {self.value(loop.upper)}"
        return f"for ({name} = {self.value(loop.lower)}; {test}; {name} = {following}) {{ /* {loop.name} */"

    # ---- the function -----------------------------------------------------------------------------

    def text(self, name: str) -> str:
        parameters = ", ".join(_declaration(p) for p in self.function.parameters) or "void"
        returns = self.function.returns.c_name if self.function.returns else "void"
        lines = [f"{returns} {name}({parameters})", "{"]
        lines += [f"    {_declaration(v)};" for v in _local_variables(self.function)]
        taken = ir.all_names(self.function)
        for array in self.function.arrays:
            if not array.external:
                lines += _local_array(array, taken)
        lines += self.body(self.function.body, 1)
        return "\n".join([*lines, "}"]) + "\n"


def _integer_text(operand: str, target: ScalarType) -> str:
    """A floating operand truncated to an integer type; the limits are the numbers just outside the type."""
    if not target.signed:
        return f"unsigned_integer({operand}, {float(1 << target.width_bits).hex()})"
    limit = 1 << (target.width_bits - 1)
    below = math.nextafter(-float(limit), -math.inf) if target.width_bits == 64 else -float(limit) - 1.0
    return f"signed_integer({operand}, {below.hex()}, {float(limit).hex()})"


def _dealt(index: str, dimension: BankDimension) -> str:
    """Index in the argument of an index in a bank, as `BankDimension.element` has it."""
    if dimension.style == "cyclic":
        return f"{index} * {dimension.factor} + {dimension.number}"
    return f"{dimension.number * dimension.size} + {index}" if dimension.style == "block" else index


def _declaration(symbol: ir.Variable | ir.Array) -> str:
    shape = symbol.shape if isinstance(symbol, ir.Array) else ()
    return f"{symbol.type.c_name} {symbol.name}" + "".join(f"[{n}]" for n in shape)


def _local_variables(function: ir.Function) -> list[ir.Variable]:
    """Every variable that is not a parameter, in order of first appearance."""
    by_name: dict[str, ir.Variable] = {}
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.Assign | ir.For):
            by_name.setdefault(statement.variable.name, statement.variable)
        for expression in ir.statement_expressions(statement):
            for part in ir.walk_expressions(expression):
                if isinstance(part, ir.Read):
                    by_name.setdefault(part.variable.name, part.variable)
    for parameter in function.parameters:
        by_name.pop(parameter.name, None)
    return list(by_name.values())


def _local_array(array: ir.Array, taken: frozenset[str]) -> list[str]:
    storage = "static " if array.element_count > STATIC_ELEMENTS else ""
    lines = [f"    {storage}{_declaration(array)};"]
    if array.initial is None:
        return lines
    table = f"{array.name}_bits"
    while table in taken:
        table += "_"
    mask = (1 << array.type.width_bits) - 1
    bits = ", ".join(f"{v & mask}u" + "ll" * (array.type.width_bits == 64) for v in array.initial)
    copy = f"__builtin_memcpy({array.name}, {table}, sizeof {array.name})"
    values = f"static const {array.type.bits_c_name} {table}[] = {{{bits}}}"
    return [*lines, f"    {{ {values}; {copy}; }}"]


def c_function(function: ir.Function, *, name: str) -> str:
    """The definition of a function alone; `PRELUDE` has to precede it, once per file.

    Args:    name: of the C function.
    Returns: C11 text of one function with the parameters of `function`, in order.
    """
    writer = _Writer(function=function, banks={b.port: b for b in function.banks})
    return writer.text(name)


def c_text(function: ir.Function, *, name: str) -> str:
    """A function as a complete C11 file.

    Args:    function: any valid one; banks are accessed through their arguments, so that the signature is
             that of the source. name: of the C function.
    Returns: text for any compiler with gcc's builtins; the variables have the names of the IR. A program
             with square roots must be linked with the mathematical library.
    """
    return f"{PRELUDE}\n{c_function(function, name=name)}"
