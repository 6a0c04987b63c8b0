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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    checker,
    helper,
)

from pipelines.fabric.errors import FabricError
from pipelines.fabric.layers import CONTRACTIONS, Operation
from pipelines.fabric.onnx_shapes import VALUE_LIMIT, tensor_shapes
from pipelines.files import read_bounded

FILE_LIMIT_BYTES = 512 << 20
NODE_LIMIT = 16384
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
COPIES = ("Concat", "Gather", "Pad", "Resize")
"""Operations of a memory unit: a new buffer with words from other places."""
_KIND_OF = {name: kind for kind, names in ELEMENTWISE.items() for name in names}
ACCEPTED = tuple(sorted({*MULTIPLICATIONS, *_KIND_OF, *REDUCTIONS, *POOLS, *VIEWS, *COPIES}))


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


def read_onnx(path: Path, *, dimensions: Mapping[str, int] | None = None) -> list[Operation]:
    """The operations of a network, in topological order.

    A sample is one run of the network. A first dimension without a number, the batch as a rule, is 1 unless
    `dimensions` gives it. Weights in other files are not read: shapes are enough.

    Args:   dimensions: sizes of symbolic dimensions of inputs, by name; input.place for one without a name.
    Raises: FabricError: no such file, too large, damaged, operators that are not supported (all are named), a
        dimension without a number.
    """
    content = read_bounded(path, what="ONNX model", most_bytes=FILE_LIMIT_BYTES, error=FabricError)
    try:
        return _operations(_parsed(content), dimensions or {})
    except FabricError as error:
        raise FabricError(f"{error} ({path})") from error


def _parsed(content: bytes) -> ModelProto:
    try:
        model = onnx.load_model_from_string(content)
    except DecodeError as error:
        raise FabricError("damaged ONNX model: it cannot be decoded") from error
    if not model.graph.node:
        raise FabricError("not an ONNX model, or one without operators")
    if len(model.graph.node) > NODE_LIMIT:
        raise FabricError(f"too many operators: {len(model.graph.node)}; accepted: {NODE_LIMIT} at most")
    if not all(isinstance(text, str) for text in _texts(model.graph)):
        raise FabricError("damaged ONNX model: a name is not UTF-8")
    return model


def _texts(graph: GraphProto) -> Iterator[str | bytes]:
    """All names; protobuf gives those that are not UTF-8 as bytes."""
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for value in (*graph.input, *graph.output):
        yield value.name
        yield from (dimension.dim_param for dimension in value.type.tensor_type.shape.dim)
    yield from (tensor.name for tensor in graph.initializer)


def _operations(model: ModelProto, dimensions: Mapping[str, int]) -> list[Operation]:
    weights = _without_weights(model.graph)
    constants = _constants(model.graph, weights)
    _require_supported(model.graph, constants)
    for value in model.graph.output:
        value.type.tensor_type.shape.SetInParent()  # not read, but the checker asks for one
    try:
        checker.check_model(model)  # pyright: ignore[reportUnknownMemberType]
    except (checker.ValidationError, ValueError, RuntimeError) as error:
        raise FabricError(f"damaged ONNX model: {' '.join(str(error).split())[:300]}") from error
    _bind_dimensions(model.graph, constants, dimensions)
    return _Reader(model.graph, constants, tensor_shapes(model)).operations()


def _without_weights(graph: GraphProto) -> set[str]:
    """Turn initialisers too large to be shapes into inputs without values; names of all initialisers."""
    names = {tensor.name for tensor in graph.initializer}
    if graph.sparse_initializer:
        raise FabricError("sparse initialisers are not supported; accepted: dense ones")
    inputs = {value.name for value in graph.input}
    kept: list[TensorProto] = []
    for tensor in graph.initializer:
        if any(size < 0 for size in tensor.dims):
            raise FabricError(f"damaged ONNX model: initialiser {tensor.name} has a negative dimension")
        if math.prod(tensor.dims) <= VALUE_LIMIT and tensor.data_location != TensorProto.EXTERNAL:
            kept.append(tensor)
        elif tensor.name not in inputs:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    small = GraphProto(initializer=kept)
    del graph.initializer[:]
    graph.initializer.extend(small.initializer)
    return names


def _constants(graph: GraphProto, weights: set[str]) -> set[str]:
    """Names of tensors that are known before the network runs, given the shapes of its inputs."""
    constants = set(weights)
    for node in graph.node:
        inputs = [name for name in node.input if name]
        is_computed = bool(inputs) and constants.issuperset(inputs) and not _has_graph(node)
        if node.op_type in ("Constant", "Shape", "Size") or is_computed:
            constants.update(node.output)
    return constants


def _has_graph(node: NodeProto) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


def _require_supported(graph: GraphProto, constants: set[str]) -> None:
    others: dict[str, str] = {}
    for node in _variable_nodes(graph, constants):
        if node.op_type not in ACCEPTED or node.domain not in ("", "ai.onnx"):
            others.setdefault(
                f"{node.domain}.{node.op_type}".lstrip("."), node.name or next(iter(node.output), "")
            )
    if others:
        shown = ", ".join(f"{operator} (node {name})" for operator, name in islice(others.items(), 20))
        raise FabricError(f"operators that are not supported: {shown}; accepted: {', '.join(ACCEPTED)}")


def _variable_nodes(graph: GraphProto, constants: set[str]) -> Iterator[NodeProto]:
    return (node for node in graph.node if not constants.issuperset(node.output) or not node.output)


def _bind_dimensions(graph: GraphProto, constants: set[str], given: Mapping[str, int]) -> None:
    """Give every dimension of the inputs a number."""
    open_dimensions = [
        (place, dimension.dim_param or f"{value.name}.{place}", dimension)
        for value in graph.input
        if value.name not in constants
        for place, dimension in enumerate(_shape_field(value))
        if dimension.dim_value <= 0
    ]
    names = sorted({name for _, name, _ in open_dimensions})
    sizes = {name: 1 for place, name, _ in open_dimensions if place == 0} | dict(given)
    if unknown := sorted(set(given) - set(names)):
        raise FabricError(
            f"unknown dimension: {', '.join(unknown)}; the model has: {', '.join(names) or 'none'}"
        )
    if missing := [name for name in names if name not in sizes]:
        raise FabricError(
            f"dimensions without a number: {', '.join(missing)}; give each one: --dimension {missing[0]}=128"
        )
    for _, name, dimension in open_dimensions:
        dimension.dim_value = sizes[name]


def _shape_field(value: ValueInfoProto) -> Sequence[onnx.TensorShapeProto.Dimension]:
    if not value.type.HasField("tensor_type"):
        raise FabricError(f"input {value.name} is not a tensor; accepted: tensors")
    return value.type.tensor_type.shape.dim


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

    def __init__(self, graph: GraphProto, constants: set[str], shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.constants, self.shapes = constants, shapes
        self.nodes = list(_variable_nodes(graph, constants))
        self.outputs = {value.name for value in graph.output}
        self.inputs = {value.name for value in graph.input} - constants
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
        """Elements of a tensor."""
        return _bounded(math.prod(self.shape(name)), f"elements of tensor {name}")

    def shape(self, name: str) -> tuple[int, ...]:
        if name not in self.shapes:
            raise FabricError(f"unknown shape of tensor {name}: it depends on values of the inputs")
        return self.shapes[name]

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
        name = self._name(node.name or f"{node.op_type}_{out}")
        self.made[name] = Operation(
            name=name,
            kind=kind,
            work=_bounded(work, f"work of {name}"),
            words=self.elements(out),
            inputs=tuple(source for source, _ in read),
            shares=tuple(share for _, share in read),
            weights=weights,
        )
        self.values[out] = _Value(source=name, is_sole=self.uses[out] == 1)

    def _value(self, name: str) -> _Value:
        """Where a tensor comes from; an input of the network gets its buffer when it is first read."""
        if name not in self.values and name in self.inputs:
            operation, words = self._name(name), self.elements(name)
            self.made[operation] = Operation(name=operation, kind="buffer", work=words, words=words)
            self.values[name] = _Value(source=operation, is_sole=False)
        if name not in self.values:
            raise FabricError(
                f"tensor {name} is not supported: a further output of its operator; accepted: the first"
            )
        return self.values[name]

    def _name(self, wanted: str) -> str:
        """A name that no operation has; dots separate the parts of an operation, see `layers.lower`."""
        name = re.sub(r"[^\w/:-]", "_", wanted)[-150:]
        while name in self.made:
            name = f"{name}:{len(self.made)}"
        return name


def _integers(node: NodeProto, name: str) -> list[int]:
    """An attribute of one integer or several; empty when it is not there."""
    for attribute in node.attribute:
        if attribute.name == name:
            return list(attribute.ints) or [attribute.i]
    return []


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

    def __init__(self, nodes: Sequence[NodeProto], constants: set[str], outputs: set[str]) -> None:
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
        """Tensors before the anchor, nearest first."""
        names = list(dict.fromkeys(self._variable(anchor)))
        for name in names:  # grows
            yield name
            number = self.producers.get(name)
            if number is not None and self.nodes[number].op_type in pattern.inside:
                names += [before for before in self._variable(number) if before not in names]

    def _region(self, pattern: _Pattern, start: str) -> list[int]:
        """Nodes that depend on one tensor and constants alone, in topological order."""
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
        """Nodes whose output is read outside of a region."""
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
