"""A workload as a program: C text, graph as JSON, and input specification."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from string import Template
from typing import Any

from pycparser import c_ast, c_parser

from pipelines.programs.errors import ProgramError
from pipelines.programs.evaluation.operators import BY_NAME
from pipelines.programs.evaluation.workload import Call, Operator, Parameter, Workload, sweep_ends

Loops = list[list[Any]]


def loops_of(text: str, sizes: Mapping[str, int]) -> Loops:
    """Loops of a C function as nested `[variable, trips, step, loops inside]`.

    Args:    text: C without directives; sizes: value of names in bounds, the largest of each.
    Returns: maximum trips, None where they depend on data; `while` has no variable.
    """
    tree = c_parser.CParser().parse(text)
    return [loop for node in tree.ext for loop in _inside(node.body, sizes)]


def _inside(node: c_ast.Node, sizes: Mapping[str, int]) -> Loops:
    loops: Loops = []
    for _, child in node.children():
        if isinstance(child, c_ast.For):
            loops.append([*_header(child, sizes), _inside(child.stmt, sizes)])
        elif isinstance(child, c_ast.While | c_ast.DoWhile):
            loops.append([None, None, None, _inside(child.stmt, sizes)])
        else:
            loops += _inside(child, sizes)
    return loops


def _header(loop: c_ast.For, sizes: Mapping[str, int]) -> tuple[str, int | None, str]:
    declared = loop.init.decls[0]
    first, last = _number(declared.init, sizes), _number(loop.cond.right, sizes)
    step = 1 if isinstance(loop.next, c_ast.UnaryOp) else _number(loop.next.rvalue, sizes)
    if first is None or last is None or step is None:
        return str(declared.name), None, str(step or "")
    return str(declared.name), max(0, -(-(last - first) // step)), str(step)


def _number(node: c_ast.Node | None, sizes: Mapping[str, int]) -> int | None:
    """Value of a bound, None when it is not known."""
    match node:
        case c_ast.Constant():
            return int(node.value)
        case c_ast.ID():
            return sizes.get(node.name)
        case c_ast.BinaryOp():
            return _combined(str(node.op), _number(node.left, sizes), _number(node.right, sizes))
        case _:
            return None


def _combined(op: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    return {"+": left + right, "-": left - right, "*": left * right, "/": left // max(right, 1)}.get(op)


_CONTROL = re.compile(r"\b(while|if|break|continue)\b|\?")
_TYPES = {"unsigned char": "uint8", "int": "int32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor of the graph: its C type, its dimensions as text and as numbers."""

    name: str
    c_type: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]


def value_of(expression: str, values: Mapping[str, int]) -> int:
    """Value of an expression of sums, differences, products and quotients of names and numbers.

    Raises: ProgramError: anything else.
    """
    try:
        return _value(ast.parse(expression, mode="eval").body, values)
    except (SyntaxError, KeyError) as error:
        raise ProgramError(f"unknown name in a size: {expression!r}") from error


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left, values) + _value(right, values)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left, values) - _value(right, values)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left, values) * _value(right, values)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left, values) // _value(right, values)
        case _:
            raise KeyError(ast.dump(node))


class Emission:
    """The texts of a workload."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._functions: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
        self._texts: dict[str, str] = {}
        self._tensors: dict[str, Tensor] = {}
        self._written: list[str] = []
        self._nodes: list[tuple[str, Call, str]] = []
        for each in workload.calls:
            self._place(each)

    # ---- the graph ----

    def _place(self, each: Call) -> None:
        known = BY_NAME[each.operator]
        key = (each.operator, tuple(sorted(each.sizes.items())))
        if key not in self._functions:
            number = 1 + sum(name == each.operator for name, _ in self._functions)
            self._functions[key] = each.operator if number == 1 else f"{each.operator}_{number}"
            self._texts[self._functions[key]] = self._function(known, self._functions[key], each.sizes)
        for parameter in known.parameters:
            if parameter.name not in each.arguments:
                raise ProgramError(f"{each.operator}: missing parameter {parameter.name}")
            if parameter.dimensions:
                self._bind(parameter, each)
        if each.arguments["out"] not in self._written:
            self._written.append(each.arguments["out"])
        self._nodes.append((self._functions[key], each, f"{each.operator}_{len(self._nodes)}"))

    def _bind(self, parameter: Parameter, each: Call) -> None:
        """Declare the tensor of an argument, or check that it equals the earlier declaration."""
        sizes = self._workload.sizes
        dimensions = tuple(Template(text).substitute(each.sizes) for text in parameter.dimensions)
        shape = tuple(value_of(text, sizes) for text in dimensions)
        c_type = self._type(parameter.c_type)
        name = each.arguments[parameter.name]
        tensor = Tensor(name=name, c_type=c_type, dimensions=dimensions, shape=shape)
        known = self._tensors.setdefault(name, tensor)
        if (known.c_type, known.shape) != (c_type, shape):
            raise ProgramError(
                f"{name} is {c_type} {shape} in one place and {known.c_type} {known.shape} in "
                f"another ({self._workload.name}, {each.operator})"
            )

    def _type(self, c_type: str) -> str:
        element = self._workload.element
        return {"$E": element.c_name, "$A": element.sum_name}.get(c_type, c_type)

    # ---- C ----

    @cached_property
    def source(self) -> str:
        """Complete C text."""
        body = "".join(self._texts.values()) + self._top()
        macros = dict(self._workload.sizes)
        helpers = _helpers(self._workload, body)
        lines = [f"#define {name} {value}\n" for name, value in macros.items()]
        return "".join(lines) + helpers + body

    def _function(self, known: Operator, name: str, sizes: Mapping[str, str]) -> str:
        element = self._workload.element
        floating = element.floating
        text = re.sub(r"\$requantise\((\w+)\)", r"\1", known.text) if floating else known.text
        words = {
            "name": name,
            "E": element.c_name,
            "A": element.sum_name,
            "I": "unsigned char",
            "requantise": "" if floating else "requantise",
            "saturate": "" if floating else "saturate",
            "scale": "" if floating else " * SCALE",
            "quarter": " * 0.25f" if floating else " >> 2",
        }
        return Template(text).substitute({**words, **sizes})

    def _top(self) -> str:
        inside = [t for t in self._tensors.values() if t.name not in self._written]
        outside = [self._tensors[name] for name in self._written]
        parameters = [_declared(t) for t in inside]
        parameters += [f"unsigned char {name}" for name in self._workload.scalars]
        parameters += [_declared(t) for t in outside]
        joined = ",\n    ".join(parameters)
        return f"\nvoid {self._workload.top}(\n    {joined}) {{\n{self._calls()}}}\n"

    def _calls(self) -> str:
        lines = [f"    {function}({self._given(each)});\n" for function, each, _ in self._nodes]
        if self._workload.repeated is None:
            return "".join(lines)
        first, count = self._workload.repeated
        head = f"    for (int turn = 0; turn < {count}; turn++) {{\n"
        return "".join([*lines[:first], head, *("    " + line for line in lines[first:]), "    }\n"])

    def _given(self, each: Call) -> str:
        return ", ".join(each.arguments[p.name] for p in BY_NAME[each.operator].parameters)

    # ---- JSON ----

    @property
    def inputs(self) -> dict[str, Any]:
        """Input specification of every argument that the graph reads first, and of the scalars."""
        data = self._workload.data
        specification: dict[str, Any] = {}
        for name in self._tensors:
            pattern = next((p for p in data if fnmatchcase(name, p)), None)
            if name not in self._written and pattern is not None:
                specification[name] = dict(data[pattern])
        for name, base in self._workload.scalars.items():
            specification[name] = {"kind": "constant", "value": base}
        return specification

    @property
    def operators(self) -> tuple[str, ...]:
        """Operators in the order of the calls."""
        return tuple(each.operator for _, each, _ in self._nodes)

    @property
    def graph(self) -> dict[str, Any]:
        """The graph in the form of the dataflow stage."""
        read = {name for _, each, _ in self._nodes for name in self._read(each).values()}
        ends = {name: sweep_ends(base) for name, base in self._workload.scalars.items()}
        return {
            "element": self._workload.element.name,
            "tensors": {
                t.name: {
                    "shape": list(t.shape),
                    "type": _TYPES.get(t.c_type, self._workload.element.name),
                    "place": _place_of(t.name, self._written, read),
                }
                for t in self._tensors.values()
            },
            "nodes": [self._node(function, each, node) for function, each, node in self._nodes],
            "edges": self._edges(),
            "repeated": self._repeated(),
            "scalars": {
                name: {"base": self._workload.scalars[name], "low": low, "high": high}
                for name, (low, high) in ends.items()
            },
        }

    def _edges(self) -> list[dict[str, Any]]:
        makers: dict[str, str] = {}
        edges: list[dict[str, Any]] = []
        for _, each, node in self._nodes:
            for role, tensor in self._read(each).items():
                shape = list(self._tensors[tensor].shape)
                edge = {"tensor": tensor, "from": makers.get(tensor), "to": node, "role": role}
                edges.append({**edge, "shape": shape})
            makers[each.arguments["out"]] = node
        return edges

    def _repeated(self) -> dict[str, Any] | None:
        if self._workload.repeated is None:
            return None
        first, count = self._workload.repeated
        return {"count": count, "nodes": [node for _, _, node in self._nodes[first:]]}

    def _read(self, each: Call) -> dict[str, str]:
        """Tensors that a call reads, by role."""
        parameters = BY_NAME[each.operator].parameters
        return {p.name: each.arguments[p.name] for p in parameters if p.dimensions and p.name != "out"}

    def _node(self, function: str, each: Call, node: str) -> dict[str, Any]:
        known = BY_NAME[each.operator]
        plain = [p.name for p in known.parameters if not p.dimensions]
        scalars = {name: each.arguments[name] for name in plain}
        most = {name: sweep_ends(base)[1] for name, base in self._workload.scalars.items()}
        sizes = dict(self._workload.sizes)
        bounds = {name: value_of(text, {**sizes, **most}) for name, text in scalars.items()}
        text = self._texts[function]
        return {
            "name": node,
            "operator": each.operator,
            "family": known.family,
            "function": function,
            "parameters": {letter: value_of(text, sizes) for letter, text in each.sizes.items()},
            "inputs": self._read(each),
            "scalars": scalars,
            "output": each.arguments["out"],
            "dynamic": bool(scalars) or _CONTROL.search(text) is not None,
            "loops": loops_of(text, {**sizes, **bounds}),
        }


def _place_of(name: str, written: Sequence[str], read: set[str]) -> str:
    if name not in written:
        return "input"
    return "buffer" if name in read else "output"


def _declared(tensor: Tensor) -> str:
    return f"{tensor.c_type} {tensor.name}" + "".join(f"[{text}]" for text in tensor.dimensions)


def _helpers(workload: Workload, body: str) -> str:
    """Helper functions of fixed point that the program calls."""
    element = workload.element
    if element.floating:
        return ""
    called = _called(body)
    needed = called | {inner for name in called for inner in _called(_HELPERS[name])}
    sigmoid = [round((1 << element.fraction) / (1 + math.exp(-i / 8))) for i in range(64)]
    words = {"limit": element.limit, "sigmoid": _table(sigmoid), "exponential": _table(_EXPONENTIAL)}
    texts = [Template(text).substitute(words) for name, text in _HELPERS.items() if name in needed]
    return f"#define FRACTION {element.fraction}\n#define SCALE {1 << element.fraction}\n" + "".join(texts)


def _called(text: str) -> set[str]:
    return {name for name in _HELPERS if re.search(rf"\b{name}\(", text)}


def _table(values: Sequence[int], width: int = 16) -> str:
    rows = [", ".join(map(str, values[i : i + width])) for i in range(0, len(values), width)]
    return ",\n    ".join(rows)


_EXPONENTIAL = [round(1024 * math.exp(-i / 16)) for i in range(128)]


_HELPERS: Mapping[str, str] = {
    "saturate": """
static int saturate(int value) {
    return value > $limit ? $limit : value < -$limit ? -$limit : value;
}
""",
    "requantise": """
static int requantise(int sum) {
    return saturate(sum >> FRACTION);
}
""",
    "root": """
static int root(unsigned short value) {
    unsigned short rest = value;
    unsigned short result = 0;
    unsigned short bit = 1 << 14;
    while (bit > rest) {
        bit >>= 2;
    }
    while (bit > 0) {
        if (rest >= result + bit) {
            rest -= result + bit;
            result = (result >> 1) + bit;
        } else {
            result >>= 1;
        }
        bit >>= 2;
    }
    return result;
}
""",
    "exponential": """
static const short EXPONENTIAL[128] = {
    $exponential};

static short exponential(int distance) {
    short index = distance >> (FRACTION - 4);
    return EXPONENTIAL[index > 127 ? 127 : index];
}
""",
    "sigmoid": """
static const short SIGMOID[64] = {
    $sigmoid};

static short sigmoid(short value) {
    short index = (value < 0 ? -value : value) >> (FRACTION - 3);
    short part = SIGMOID[index > 63 ? 63 : index];
    return value < 0 ? SCALE - part : part;
}
""",
}
