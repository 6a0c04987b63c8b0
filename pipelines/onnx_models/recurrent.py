"""Recurrent operators as their steps: one product of all inputs, then a product of the state per step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from onnx import NodeProto, helper

from pipelines.onnx_models.evaluation import Inference, dimensions_of
from pipelines.onnx_models.model import OnnxError, Shape, Values, attributes_of, node_name

RECURRENT = ("RNN", "GRU", "LSTM")
STEP_LIMIT = 512
_ACTIVATIONS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
_PLAIN_ACTIVATIONS = ("Tanh", "Relu", "Sigmoid")
_SLICE_INPUTS_OPSET = 10
"""From here on, the bounds of a slice are inputs."""


def unrolled(node: NodeProto, inference: Inference, read: Collection[str]) -> Iterator[NodeProto]:
    """Yield a node, or what a recurrent one does step by step.

    Args:   read: tensors that others read; what gives no other ones is left out.
    Raises: OnnxError: too many steps, or a variant that is not supported.
    """
    is_variable = not inference.constants.issuperset(name for name in node.input if name)
    if node.op_type in RECURRENT and is_variable:
        yield from _Unrolling(node=node, inference=inference).run(read)
    else:
        yield node


@dataclass(slots=True, kw_only=True)
class _Unrolling:
    """The steps of one node. Tensors of a step have the shape (1, batch, states or gates).

    Attributes: counted: weights that a product on variable states has. known: slices of constants.
    """

    node: NodeProto
    inference: Inference
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    activations: tuple[str, ...] = ()
    counted: set[str] = field(default_factory=set[str])
    known: set[str] = field(default_factory=set[str])

    def run(self, read: Collection[str]) -> list[NodeProto]:
        attributes = attributes_of(self.node)
        is_batch_first = bool(attributes.get("layout", 0))
        x = self._input(0)
        shape = self._shape(x)
        if is_batch_first:
            shape = (shape[1], shape[0], shape[2])
        directions = self._shape(self._input(2))[0]
        self._require_supported(attributes, shape[0], directions)
        if is_batch_first:
            x = self._add("Transpose", x, perm=[1, 0, 2])
        whole: list[str] = []
        ends: list[list[str]] = []
        for direction in range(directions):
            is_reverse = attributes.get("direction", b"forward") == b"reverse" or direction == 1
            order = range(shape[0] - 1, -1, -1) if is_reverse else range(shape[0])
            states, last = self._direction(x, direction, order, shape[1])
            ends.append(last)
            if self._is_read(0, read):
                ordered = states[::-1] if is_reverse else states
                whole.append(
                    self._reshaped(self._add("Concat", *ordered, axis=0), (shape[0], 1, *shape[1:2], -1))
                )
        results = [whole, *map(list, zip(*ends, strict=True))]
        for place, parts in enumerate(results[: len(self.node.output)]):
            if self._is_read(place, read):
                self._output(place, parts, is_batch_first=is_batch_first)
        return self.nodes

    def _require_supported(self, attributes: dict[str, Any], steps: int, directions: int) -> None:
        kind = self.node.op_type
        given = [text.decode() for text in attributes.get("activations", ())]
        expected = _ACTIVATIONS[kind]
        self.activations = tuple(given[: len(expected)]) or expected
        is_plain = set(given) <= set(_PLAIN_ACTIVATIONS) and given == [*self.activations] * (
            len(given) // len(expected)
        )
        if kind != "RNN":
            is_plain = self.activations == expected and is_plain
        others = [
            what
            for what, is_there in (
                (f"{steps} steps", steps > STEP_LIMIT),
                (f"{directions} directions", directions not in (1, 2)),
                (
                    "computed weights",
                    not self.inference.constants.issuperset(filter(None, self.node.input[1:4])),
                ),
                ("lengths of sequences", bool(self._input(4))),
                ("peepholes", bool(self._input(7))),
                ("clip", "clip" in attributes),
                ("input_forget", bool(attributes.get("input_forget", 0))),
                (f"activations {', '.join(given)}", not is_plain),
            )
            if is_there
        ]
        if others:
            raise OnnxError(
                f"{kind} (node {node_name(self.node)}) with {', '.join(others)}; accepted: up to "
                f"{STEP_LIMIT} steps, constant weights, {' and '.join(expected)}"
            )

    @property
    def is_linear(self) -> bool:
        """Whether the reset gate of a GRU comes behind the product of the state."""
        return bool(attributes_of(self.node).get("linear_before_reset", 0))

    # ---- one direction -------------------------------------------------------------------------------

    def _direction(
        self, x: str, direction: int, order: Sequence[int], batch: int
    ) -> tuple[list[str], list[str]]:
        """Return the states in order of the steps, and the last ones: of the output, then of the cell."""
        width, rows, hidden = self._shape(self._input(1))[2], *self._shape(self._input(2))[1:]
        own, back = (self._weight(place, direction, size) for place, size in ((1, width), (2, hidden)))
        inner, outer = self._biases(direction, rows)
        inputs = self._add("Add", self._add("MatMul", x, own), inner)
        state, cell = (self._start(place, direction, (1, batch, hidden)) for place in (5, 6))
        backs = [back]
        if self.node.op_type == "GRU" and not self.is_linear:
            backs = [self._slice(back, 0, 2 * hidden, 1), self._slice(back, 2 * hidden, rows, 1)]
        states: list[str] = []
        for step in order:
            now = self._slice(inputs, step, step + 1, 0)
            if self.node.op_type == "GRU":
                state = self._gru(now, state, backs, outer, hidden)
            else:
                sums = self._add("Add", now, self._product(state, back))
                if self.node.op_type == "RNN":
                    state = self._add(self.activations[0], sums)
                else:
                    state, cell = self._lstm(sums, cell, hidden)
            states.append(state)
        return states, [state, cell] if self.node.op_type == "LSTM" else [state]

    def _product(self, state: str, weight: str) -> str:
        result = self._add("MatMul", state, weight)
        if weight in self.counted:
            self.inference.repeated.add(result)
        if not self._is_known(state):
            self.counted.add(weight)
        return result

    def _lstm(self, sums: str, cell: str, hidden: int) -> tuple[str, str]:
        """Return the gates in ONNX's order: input, output, forget, cell."""
        gates = self._add("Sigmoid", self._slice(sums, 0, 3 * hidden, 2))
        i, o, f = (self._slice(gates, a, b, 2) for a, b in pairwise(range(0, 4 * hidden, hidden)))
        fresh = self._add("Tanh", self._slice(sums, 3 * hidden, 4 * hidden, 2))
        cell = self._add("Add", self._add("Mul", f, cell), self._add("Mul", i, fresh))
        return self._add("Mul", o, self._add("Tanh", cell)), cell

    def _gru(self, now: str, state: str, backs: Sequence[str], outer: str, hidden: int) -> str:
        """Return the gates in ONNX's order: update, reset, hidden."""
        ends = 2 * hidden, 3 * hidden
        if self.is_linear:
            sums = self._add("Add", self._product(state, backs[0]), outer)
            gated, inner = self._slice(sums, 0, ends[0], 2), self._slice(sums, *ends, 2)
        else:
            gated, inner = self._product(state, backs[0]), ""
        gates = self._add("Sigmoid", self._add("Add", self._slice(now, 0, ends[0], 2), gated))
        update, reset = self._slice(gates, 0, hidden, 2), self._slice(gates, hidden, ends[0], 2)
        if self.is_linear:
            inner = self._add("Mul", reset, inner)
        else:
            inner = self._product(self._add("Mul", reset, state), backs[1])
        fresh = self._add("Tanh", self._add("Add", self._slice(now, *ends, 2), inner))
        return self._add("Add", fresh, self._add("Mul", update, self._add("Sub", state, fresh)))

    # ---- constants -----------------------------------------------------------------------------------

    def _weight(self, index: int, direction: int, inputs: int) -> str:
        """Return (inputs, gates) of a direction."""
        value = self.inference.values.get(self._input(index))
        rows = self._shape(self._input(index))[1]
        return self._constant(
            f"{'own' if index == 1 else 'back'}_{direction}",
            None if value is None else np.ascontiguousarray(value[direction].T),
            (inputs, rows),
        )

    def _biases(self, direction: int, rows: int) -> tuple[str, str]:
        """Return the bias of the product of the inputs, with all that may be there, and of the state's."""
        name = self._input(3)
        value = self.inference.values.get(name)
        if not name:
            value = np.zeros((direction + 1, 2 * rows), np.float32)
        inner = outer = None
        if value is not None:
            inner, outer = value[direction, :rows].copy(), value[direction, rows:].copy()
            if not self.is_linear:
                inner, outer = inner + outer, np.zeros_like(outer)
        return (
            self._constant(f"inner_{direction}", inner, (rows,)),
            self._constant(f"outer_{direction}", outer, (rows,)),
        )

    def _start(self, index: int, direction: int, shape: Shape) -> str:
        """Return the first state; zero where none is given."""
        name = self._input(index)
        if not name:
            return self._constant(f"start_{index}_{direction}", np.zeros(shape, np.float32), shape)
        if attributes_of(self.node).get("layout", 0):
            is_known = self._is_known(name)
            name = self._add("Transpose", name, perm=[1, 0, 2])
            self.known.update([name] * is_known)
        return self._slice(name, direction, direction + 1, 0)

    def _constant(self, name: str, value: Values | None, shape: Shape) -> str:
        return self.inference.add_constant(f"{node_name(self.node)}:{name}", value, shape)

    # ---- nodes ---------------------------------------------------------------------------------------

    def _input(self, index: int) -> str:
        return self.node.input[index] if index < len(self.node.input) else ""

    def _shape(self, name: str) -> Shape:
        shape = dimensions_of(self.inference.types[name]) if name in self.inference.types else None
        if shape is None or len(shape) != 3 or min(shape) < 1:
            raise OnnxError(
                f"{self.node.op_type} (node {node_name(self.node)}) with tensor {name} of shape {shape}; "
                "accepted: 3 known dimensions"
            )
        return shape

    def _is_read(self, index: int, read: Collection[str]) -> bool:
        return index < len(self.node.output) and self.node.output[index] in read

    def _output(self, index: int, parts: Sequence[str], *, is_batch_first: bool) -> None:
        """Join directions side by side, under the name of an output."""
        axis = 1 if index == 0 else 0
        if len(parts) == 1:
            self._add("Identity", *parts)
        else:
            self._add("Concat", *parts, axis=axis)
        if is_batch_first:
            self._add("Transpose", self.nodes[-1].output[0], perm=[2, 0, 1, 3] if index == 0 else [1, 0, 2])
        self.nodes[-1].output[0] = self.node.output[index]

    def _is_known(self, name: str) -> bool:
        return name in self.inference.constants or name in self.known

    def _slice(self, name: str, first: int, last: int, axis: int) -> str:
        if self.inference.opset < _SLICE_INPUTS_OPSET:
            result = self._add("Slice", name, starts=[first], ends=[last], axes=[axis])
        else:
            bounds = (
                self._constant(f"place_{number}", np.array([number], np.int64), (1,))
                for number in (first, last, axis)
            )
            result = self._add("Slice", name, *bounds)
        if self._is_known(name):
            self.known.add(result)
        return result

    def _reshaped(self, name: str, shape: Shape) -> str:
        sizes = self._constant("sizes", np.array(shape, np.int64), (len(shape),))
        return self._add("Reshape", name, sizes)

    def _add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"{node_name(self.node)}:{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name
