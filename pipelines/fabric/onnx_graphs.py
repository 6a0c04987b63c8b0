"""Neural networks in ONNX files as operations of the fabric.

Kinds of operations are classes of speed: a subtraction is an `add`, a sigmoid is `elementwise`. Constants are
computed before the network runs, so that what depends on them and on shapes alone is no operation. Reshaping,
transposing and slicing only change which words a reader reads. An addition of a constant to a product is part
of the product, as in a compiler.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from onnx import NodeProto

from pipelines.fabric.errors import FabricError
from pipelines.fabric.layers import CONTRACTIONS, Operation
from pipelines.onnx_models import RECURRENT, OnnxError, OnnxModel, Shape, attributes_of, node_name, read_model

AMOUNT_LIMIT = 1e15
"""Most words of a tensor and most work of an operation, as in a graph."""

MULTIPLICATIONS = ("MatMul", "Gemm", "Conv", "ConvTranspose")
EPILOGUES = ("Add", "Sub", "Mul", "Div", "BatchNormalization")
"""What a product does to its result when the other operand is constant."""
ELEMENTWISE: Mapping[str, tuple[str, ...]] = {
    "add": ("Add", "Sub", "Sum", "Where", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And"),
    "mul": ("Mul", "BatchNormalization"),
    "relu": ("Relu", "LeakyRelu", "PRelu", "Clip", "Max", "Min", "Abs", "Neg", "Not"),
    "gelu": ("Gelu",),
    "softmax": ("Softmax", "LogSoftmax"),
    "layernorm": (
        "LayerNormalization",
        "RMSNormalization",
        "InstanceNormalization",
        "GroupNormalization",
        "LRN",
    ),
    "elementwise": (
        *("Div", "Pow", "Sqrt", "Reciprocal", "Exp", "Log", "Erf", "Tanh", "Sigmoid", "HardSigmoid"),
        *("HardSwish", "Mish", "Swish", "Softplus", "Elu", "Selu", "Celu", "Sin", "Cos", "Mod"),
    ),
}
REDUCTIONS = (
    *("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ArgMax"),
    *("ArgMin", "ReduceSumSquare", "GlobalAveragePool", "GlobalMaxPool"),
)
POOLS = ("MaxPool", "AveragePool", "LpPool")
VIEWS = (
    *("Transpose", "Reshape", "Flatten", "Identity", "Cast", "CastLike", "Dropout", "Squeeze", "Unsqueeze"),
    *("Expand", "Tile", "Split", "Slice", "DepthToSpace", "SpaceToDepth"),
)
_DIRECTIONS = 2
_UPDATE_OPERATIONS = 5
"""On each state of an LSTM (two products, a sum, tanh, a product) or of a GRU (three products, two sums)."""
COPIES = ("Concat", "Gather", "Pad", "Resize")
"""Operations of a memory unit: a new buffer with words from other places."""
_KIND_OF = {name: kind for kind, names in ELEMENTWISE.items() for name in names}
ACCEPTED = (*MULTIPLICATIONS, *_KIND_OF, *REDUCTIONS, *POOLS, *VIEWS, *COPIES, *RECURRENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """An operation written as several nodes that start from one tensor and end in one.

    Attributes:
        anchor: the node that the search starts at.
        inside: what may be part of it.
        binary: sorted nodes with two operands that are not constant; one of these sequences.
        has: nodes that must be there too.
    """

    kind: str
    anchor: str
    inside: frozenset[str]
    binary: tuple[tuple[str, ...], ...]
    has: frozenset[str] = frozenset()


_NORM = frozenset({"Sub", "Pow", "Mul", "Div", "Add", "ReduceMean", "Sqrt", "Reciprocal", "Cast"})
_GELU = frozenset({"Div", "Mul", "Add", "Pow"})
_MEAN = frozenset({"ReduceMean"})
_LAYER, _MEAN_SQUARE = (("Div", "Sub"), ("Mul", "Sub")), (("Div",), ("Mul",))
PATTERNS = (
    _Pattern(kind="layernorm", anchor="Sqrt", inside=_NORM, binary=_LAYER, has=_MEAN),
    _Pattern(kind="layernorm", anchor="Sqrt", inside=_NORM, binary=_MEAN_SQUARE, has=_MEAN),
    _Pattern(kind="gelu", anchor="Erf", inside=_GELU | {"Erf"}, binary=(("Mul",),)),
    _Pattern(kind="gelu", anchor="Tanh", inside=_GELU | {"Tanh"}, binary=(("Add", "Mul"), ("Mul",) * 3)),
)
_START_LIMIT, _REGION_LIMIT = 12, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOperations:
    """The operations of a network, in topological order; notes: what was assumed about the model."""

    operations: tuple[Operation, ...]
    notes: tuple[str, ...]


def read_onnx(path: Path, *, dimensions: Mapping[str, int] | None = None) -> OnnxOperations:
    """Read the operations of a network; a sample is one run of it.

    Args:   dimensions: sizes of symbolic dimensions of inputs, by name; input.place for one without a name.
    Raises: FabricError: no such file, too large, damaged, operators that are not supported (all are named), a
        dimension without a number.
    """
    model = read_model(path, error=FabricError, accepted=ACCEPTED, has_data=False, dimensions=dimensions)
    try:
        return OnnxOperations(operations=tuple(_Reader(model).operations()), notes=model.notes)
    except (FabricError, OnnxError) as error:
        raise FabricError(f"{error} ({path})") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """Where a tensor comes from.

    Attributes: source: operation. share: of its output that the tensor has. is_sole: nothing else reads that.
    """

    source: str
    share: float = 1.0
    is_sole: bool


class _Reader:
    """Turns the nodes of a graph with known shapes into operations."""

    def __init__(self, model: OnnxModel) -> None:
        self.constants, self.nodes, self.shape = model.constants, model.nodes, model.shape
        self.outputs = set(model.outputs)
        self.inputs = set(model.inputs)
        self.uses = Counter(name for node in self.nodes for name in node.input if name) + Counter(
            self.outputs
        )
        self.made: dict[str, Operation] = {}
        self.values: dict[str, _Value] = {}

    def operations(self) -> list[Operation]:
        merged = _Merging(self.nodes, self.constants, self.outputs)
        for number, node in enumerate(self.nodes):
            if number in merged.exits:
                kind, start = merged.exits[number]
                self._add(node, kind, self.elements(node.output[0]), [start])
            elif number not in merged.inside:
                self._read(node)
        if all(operation.kind == "buffer" for operation in self.made.values()):
            raise FabricError("no operation to place: the network only copies its inputs")
        return list(self.made.values())

    def elements(self, name: str) -> int:
        return _bounded(math.prod(self.shape(name)), f"elements of tensor {name}")

    def _read(self, node: NodeProto) -> None:
        operator, out = node.op_type, node.output[0]
        variable = self._variable(node)
        if operator in MULTIPLICATIONS:
            kind = "gemm" if self.constants.intersection(node.input[:2]) else "matmul"
            weights = sum(self.elements(name) for name in node.input if name in self.constants)
            self._add(node, kind, self._multiplications(node), variable, weights=weights)
        elif operator in (*VIEWS, "Gather") and variable == [node.input[0]]:
            self._view(node)
        elif operator in (*VIEWS, *COPIES):
            self._add(node, "buffer", self.elements(out), variable)
        elif operator in POOLS:
            window = math.prod(_integers(node, "kernel_shape"))
            self._add(node, "pool", self.elements(out) * window, variable)
        elif operator in RECURRENT:
            self._recur(node)
        elif operator in REDUCTIONS:
            self._add(node, "pool", self.elements(node.input[0]), variable[:1])
        elif not self._fold(node, variable):
            is_scaled = operator == "Div" and node.input[1] in self.constants
            self._add(node, "mul" if is_scaled else _KIND_OF[operator], self.elements(out), variable)

    def _variable(self, node: NodeProto) -> list[str]:
        return [name for name in node.input if name and name not in self.constants]

    def _multiplications(self, node: NodeProto) -> int:
        first, second, out = node.input[0], node.input[1], self.elements(node.output[0])
        if node.op_type == "MatMul":
            return out * self.shape(first)[-1]
        if node.op_type == "Gemm":
            return out * self.shape(first)[0 if _integers(node, "transA") == [1] else 1]
        pixels = out if node.op_type == "Conv" else self.elements(first)
        return pixels * math.prod(self.shape(second)[1:])

    def _view(self, node: NodeProto) -> None:
        name = node.input[0]
        value = self._value(name)
        for out in node.output:
            if out:
                share = min(1.0, self.elements(out) / self.elements(name))
                is_sole = value.is_sole and self.uses[out] == 1 and share == 1.0
                self.values[out] = _Value(source=value.source, share=value.share * share, is_sole=is_sole)

    def _fold(self, node: NodeProto, variable: Sequence[str]) -> bool:
        """Make a node part of the product before it: nothing else reads that, and its operand is constant."""
        if node.op_type not in EPILOGUES or len(variable) != 1:
            return False
        value, out = self._value(variable[0]), node.output[0]
        product = self.made[value.source]
        constants = [self.elements(name) for name in node.input if name in self.constants]
        is_scalar = max(constants, default=1) == 1
        if (
            not value.is_sole
            or product.kind not in CONTRACTIONS
            or (product.kind == "matmul" and not is_scalar)
            or self.elements(out) != self.elements(variable[0])
        ):
            return False
        if not is_scalar:
            self.made[value.source] = replace(product, weights=product.weights + sum(constants))
        self.values[out] = replace(value, is_sole=self.uses[out] == 1)
        return True

    def _add(self, node: NodeProto, kind: str, work: int, inputs: Sequence[str], *, weights: int = 0) -> None:
        read = [(value.source, value.share) for value in map(self._value, inputs)]
        if kind not in CONTRACTIONS:
            read = list(dict.fromkeys(read))
        out = node.output[0]
        name = self._make(
            node.name or f"{node.op_type}_{out}", kind, work, self.elements(out), read, weights=weights
        )
        self.values[out] = _Value(source=name, is_sole=self.uses[out] == 1)

    def _make(
        self,
        preferred: str,
        kind: str,
        work: int,
        words: int,
        read: Sequence[tuple[str, float]] = (),
        *,
        weights: int = 0,
    ) -> str:
        name = self._name(preferred)
        self.made[name] = Operation(
            name=name,
            kind=kind,
            work=_bounded(work, f"work of {name}"),
            words=words,
            inputs=tuple(source for source, _ in read),
            shares=tuple(share for _, share in read),
            weights=weights,
        )
        return name

    def _recur(self, node: NodeProto) -> None:
        """Add all steps of a recurrent layer: products of inputs and of states, their sum, gates, new states.

        A memory holds the states. What writes them back is no edge, as a graph has no cycle: the throughput
        is that of samples which take turns.
        """
        attributes, inputs = attributes_of(node), list(node.input)
        if not self.constants.issuperset(inputs[1:3]):
            raise FabricError(
                f"computed weights of {node.op_type} (node {node_name(node)}); accepted: constants"
            )
        directions, rows, hidden = _three(node, self.shape(inputs[2]))
        if directions > _DIRECTIONS:
            raise FabricError(
                f"{directions} directions of {node.op_type} (node {node_name(node)}); accepted: 1, 2"
            )
        steps, batch, width = _three(node, self.shape(inputs[0]))
        if attributes.get("layout", 0):
            steps, batch = batch, steps
        states, sums = steps * batch * hidden, steps * batch * rows
        base = node.name or f"{node.op_type}_{node.output[0]}"
        biases = 2 * rows if len(inputs) > 3 and inputs[3] else 0
        starts = [self._value(name) for name in inputs[5:6] if name and name not in self.constants]
        source = self._value(inputs[0])
        ends: list[str] = []
        for _ in range(directions):
            x = self._make(
                f"{base}:input",
                "gemm",
                sums * width,
                sums,
                [(source.source, source.share)],
                weights=rows * width + biases,
            )
            start = [(value.source, value.share) for value in starts]
            memory = self._make(f"{base}:state", "buffer", states, states, start)
            h = self._make(
                f"{base}:recurrence", "gemm", sums * hidden, sums, [(memory, 1.0)], weights=rows * hidden
            )
            total = self._make(f"{base}:sum", "add", sums, sums, [(x, 1.0), (h, 1.0)])
            end = self._make(f"{base}:gates", "elementwise", sums, sums, [(total, 1.0)])
            if node.op_type != "RNN":
                end = self._make(
                    f"{base}:update", "elementwise", _UPDATE_OPERATIONS * states, states, [(end, 1.0)]
                )
            ends.append(end)
        whole = ends[0]
        if len(ends) > 1:
            words = len(ends) * states
            whole = self._make(f"{base}:both", "buffer", words, words, [(end, 1.0) for end in ends])
        for place, name in enumerate(node.output):
            if self.uses[name]:
                share = 1.0 if place == 0 else 1.0 / steps
                self.values[name] = _Value(source=whole, share=share, is_sole=False)

    def _value(self, name: str) -> _Value:
        """Return the source of a tensor; an input of the network gets its buffer when it is first read."""
        if name not in self.values and name in self.inputs:
            operation, words = self._name(name), self.elements(name)
            self.made[operation] = Operation(name=operation, kind="buffer", work=words, words=words)
            self.values[name] = _Value(source=operation, is_sole=False)
        if name not in self.values:
            raise FabricError(
                f"tensor {name} is not supported: a further output of its operator; accepted: the first"
            )
        return self.values[name]

    def _name(self, preferred: str) -> str:
        """Return a name that no operation has; dots separate an operation's parts, see `layers.lower`."""
        name = re.sub(r"[^\w/:-]", "_", preferred)[-150:]
        while name in self.made:
            name = f"{name}:{len(self.made)}"
        return name


def _integers(node: NodeProto, name: str) -> list[int]:
    """Return an attribute of one integer or several; empty when it is not there."""
    for attribute in node.attribute:
        if attribute.name == name:
            return list(attribute.ints) or [attribute.i]
    return []


def _three(node: NodeProto, shape: Shape) -> tuple[int, int, int]:
    if len(shape) != 3 or min(shape) < 1:
        raise FabricError(f"{node.op_type} (node {node_name(node)}) of shape {shape}; accepted: 3 dimensions")
    return shape[0], shape[1], shape[2]


def _bounded(amount: int, what: str) -> int:
    if not 0 < amount <= AMOUNT_LIMIT:
        raise FabricError(f"{what}: {amount}; accepted: 1 to {AMOUNT_LIMIT:.0e}")
    return amount


class _Merging:
    """Operations that a file has as several nodes, such as GELU and layer normalisation before opset 17.

    Attributes:
        exits: kind and first tensor of an operation, by the number of its last node.
        inside: numbers of all its nodes.
    """

    def __init__(self, nodes: Sequence[NodeProto], constants: frozenset[str], outputs: set[str]) -> None:
        self.nodes, self.constants, self.outputs = nodes, constants, outputs
        self.producers = {name: number for number, node in enumerate(nodes) for name in node.output if name}
        self.readers: dict[str, list[int]] = {}
        for number in range(len(nodes)):
            for name in self._variable(number):
                self.readers.setdefault(name, []).append(number)
        self.exits: dict[int, tuple[str, str]] = {}
        self.inside: set[int] = set()
        for pattern in PATTERNS:
            for number, node in enumerate(nodes):
                if node.op_type == pattern.anchor and number not in self.inside:
                    self._merge(pattern, number)

    def _merge(self, pattern: _Pattern, anchor: int) -> None:
        for start in islice(self._starts(pattern, anchor), _START_LIMIT):
            region = self._region(pattern, start)
            for length in range(len(region), 1, -1):  # longest part that ends in one tensor
                part = region[:length]
                if self._matches(pattern, anchor, part, start) and self._exits(part) == [part[-1]]:
                    self.exits[part[-1]] = (pattern.kind, start)
                    self.inside.update(part)
                    return

    def _starts(self, pattern: _Pattern, anchor: int) -> Iterable[str]:
        """Yield the tensors before the anchor, nearest first."""
        names = list(dict.fromkeys(self._variable(anchor)))
        for name in names:  # grows
            yield name
            number = self.producers.get(name)
            if number is not None and self.nodes[number].op_type in pattern.inside:
                names += [before for before in self._variable(number) if before not in names]

    def _region(self, pattern: _Pattern, start: str) -> list[int]:
        """Return the nodes that depend on one tensor and constants alone, in topological order."""
        names, region = {start}, list[int]()
        queue = sorted(set(self.readers.get(start, ())))
        while queue and len(region) < _REGION_LIMIT:
            number = heapq.heappop(queue)
            is_new = number not in region and number not in self.inside
            if (
                is_new
                and self.nodes[number].op_type in pattern.inside
                and names.issuperset(self._variable(number))
            ):
                region.append(number)
                for name in self.nodes[number].output:
                    names.add(name)
                    for reader in self.readers.get(name, ()):
                        heapq.heappush(queue, reader)
        return region

    def _matches(self, pattern: _Pattern, anchor: int, region: Sequence[int], start: str) -> bool:
        operators = {self.nodes[number].op_type for number in region}
        binary = sorted(
            self.nodes[number].op_type for number in region if len(set(self._variable(number))) == 2
        )
        reads_start = any(start in self._variable(number) for number in region)
        is_binary = tuple(binary) in pattern.binary
        return anchor in region and is_binary and reads_start and pattern.has <= operators

    def _exits(self, region: Sequence[int]) -> list[int]:
        """Return the nodes whose output is read outside of a region."""
        return [
            number
            for number in region
            if any(
                name in self.outputs or not set(self.readers.get(name, ())) <= set(region)
                for name in self.nodes[number].output
            )
        ]

    def _variable(self, number: int) -> list[str]:
        return [name for name in self.nodes[number].input if name and name not in self.constants]
