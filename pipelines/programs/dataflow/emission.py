"""A graph as a C program, its JSON and its input specification."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from pipelines.programs.dataflow.builder import Tensor
from pipelines.programs.dataflow.graph import Graph, Placed
from pipelines.programs.dataflow.tree import INDENT, Branch, Loop, Node, While, body_text, children, shape_of

TOP = "graph"

_MIN = "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
_HELPERS = {
    "clamp": """static int clamp(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
}
""",
    "isqrt": """static int isqrt(int x) {
    int root = 0;
    for (int bit = 1 << 14; bit > 0; bit >>= 1) {
        int next = root + bit;
        if (next * next <= x)
            root = next;
    }
    return root;
}
""",
}
_MUTATION = re.compile("_(TILE|STRIDE|STEP)_")
_MATH = ("expf", "tanhf", "erff", "sqrtf")


class Emission:
    """A graph and the storage of each of its tensors: argument, local array, or external buffer."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._element = graph.pool.element.c_names[graph.pool.style.spelling]
        self._places = self._tensor_places()

    def source(self) -> str:
        """Return the whole program."""
        bodies = [self._function(node) for node in self._graph.nodes]
        text = "\n".join([*bodies, self._top()])
        head = "#include <stdint.h>\n" if "int8_t" in text or "int16_t" in text or "int32_t" in text else ""
        if any(f"{name}(" in text for name in _MATH):
            head += "#include <math.h>\n"
        head += "\n" if head else ""
        if "MIN(" in text:
            head += _MIN
        head += "".join(f"#define {name} {value}\n" for name, value in self.constants().items())
        helpers = "".join(f"{body}\n" for name, body in _HELPERS.items() if f"{name}(" in text)
        return f"{head}\n{helpers}{text}".lstrip("\n")

    def constants(self) -> dict[str, int]:
        """Return the macros of the program."""
        return {k: v for node in self._graph.nodes for k, v in node.builder.constants.items()}

    def inputs(self) -> dict[str, Any]:
        """Return the input specification of each argument."""
        drawn: dict[str, Any] = {t.name: dict(t.data) for t in self._graph.pool.tensors if t.data is not None}
        for scalar in self._graph.scalars:
            drawn[scalar.name] = {"kind": "constant", "value": scalar.base}
        return drawn

    def description(self) -> dict[str, Any]:
        """Return the graph's JSON: tensors, nodes with their parameters and loop trees, edges, scalars."""
        graph = self._graph
        return {
            "element": graph.pool.element.name,
            "tensors": {
                t.name: {
                    "shape": list(t.shape),
                    "type": graph.pool.element.name if t.type == "element" else "int32",
                    "place": self._places[t.name],
                }
                for t in graph.pool.tensors
            },
            "nodes": [self._node(node) for node in graph.nodes],
            "edges": self._edges(),
            "scalars": {s.name: {"base": s.base, "low": s.low, "high": s.high} for s in graph.scalars},
        }

    # ---- places ----

    def _tensor_places(self) -> dict[str, str]:
        pool = self._graph.pool
        room = 0 if pool.options.buffers else pool.local_bits
        places: dict[str, str] = {}
        for tensor in pool.tensors:
            bits = prod(tensor.shape) * pool.element.bits
            if tensor.data is not None:
                places[tensor.name] = "input"
            elif tensor.name in pool.unused:
                places[tensor.name] = "output"
            elif bits <= room:
                places[tensor.name] = "local"
                room -= bits
            else:
                places[tensor.name] = "buffer"
        return places

    # ---- C ----

    def _declared(self, tensor: Tensor, name: str, macros: Mapping[str, int] | None = None) -> str:
        """Return an array's declaration; each dimension takes the first unused macro of its size."""
        c_type = self._element if tensor.type == "element" else "int"
        left = {k: v for k, v in (macros or {}).items() if not _MUTATION.search(k)}
        text = f"{c_type} {name}"
        for size in tensor.shape:
            macro = next((k for k, v in left.items() if v == size), None)
            left.pop(macro or "", None)
            text += f"[{macro or size}]"
        return text

    def _function(self, node: Placed) -> str:
        builder = node.builder
        tensors = {**builder.bindings, "out": node.output}
        arrays = [self._declared(t, role, builder.constants) for role, t in tensors.items()]
        parameters = arrays[:-1]
        parameters += [f"int {role}" for role in builder.lengths]
        parameters.append(arrays[-1])
        head = _wrapped(f"static void {builder.name}(", parameters)
        local = "".join(f"{INDENT}{line}\n" for line in builder.locals)
        return f"{head} {{\n{local}{body_text(node.body, self._graph.pool.style)}}}\n"

    def _top(self) -> str:
        pool = self._graph.pool
        outside = [t for t in pool.tensors if self._places[t.name] != "local"]
        first = [t for t in outside if self._places[t.name] == "input"]
        last = [t for t in outside if self._places[t.name] != "input"]
        parameters = [self._declared(t, t.name) for t in first]
        parameters += [f"int {s.name}" for s in self._graph.scalars]
        parameters += [self._declared(t, t.name) for t in last]
        local = [t for t in pool.tensors if self._places[t.name] == "local"]
        lines = [f"{INDENT}{self._declared(t, t.name)};\n" for t in local]
        lines += [f"{INDENT}{_call(node)};\n" for node in self._graph.nodes]
        return f"{_wrapped(f'void {TOP}(', parameters)} {{\n{''.join(lines)}}}\n"

    # ---- JSON ----

    def _node(self, node: Placed) -> dict[str, Any]:
        builder = node.builder
        return {
            "name": builder.name,
            "operator": node.operator.name,
            "family": node.operator.family,
            "parameters": dict(builder.parameters),
            "inputs": {role: t.name for role, t in builder.bindings.items()},
            "scalars": {role: s.name for role, s in builder.lengths.items()},
            "output": node.output.name,
            "dynamic": bool(builder.lengths) or _dynamic(node.body),
            "loops": shape_of(node.body),
        }

    def _edges(self) -> list[dict[str, Any]]:
        makers = {node.output.name: node.builder.name for node in self._graph.nodes}
        return [
            {
                "tensor": tensor.name,
                "from": makers.get(tensor.name),
                "to": node.builder.name,
                "role": role,
                "shape": list(tensor.shape),
            }
            for node in self._graph.nodes
            for role, tensor in node.builder.bindings.items()
        ]


def _call(node: Placed) -> str:
    arguments = [t.name for t in node.builder.bindings.values()]
    arguments += [s.name for s in node.builder.lengths.values()]
    return f"{node.builder.name}({', '.join([*arguments, node.output.name])})"


def _wrapped(head: str, parameters: Sequence[str], width: int = 100) -> str:
    """Return a function's head, its parameters broken into lines."""
    pad = " " * len(head)
    lines: list[str] = []
    line = head
    for index, parameter in enumerate(parameters):
        end = ")" if index == len(parameters) - 1 else ","
        piece = parameter + end
        if line.strip() and len(line) + len(piece) + 1 > width and line != head:
            lines.append(line.rstrip())
            line = pad
        line += piece + (" " if end == "," else "")
    return "\n".join([*lines, line])


def _dynamic(nodes: Sequence[Node]) -> bool:
    """Tell whether trip counts depend on data."""
    for node in nodes:
        if isinstance(node, While | Branch):
            return True
        if isinstance(node, Loop) and ("[" in node.start or "[" in node.stop):
            return True
        if _dynamic(children(node)):
            return True
    return False
