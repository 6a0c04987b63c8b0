"""From a file to a model: bounds, names, local functions, constants and their files, sizes of dimensions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    checker,
    defs,
    helper,
    inliner,
    numpy_helper,
)

from pipelines.base.files import open_regular, read_bounded
from pipelines.base.limited import reading
from pipelines.onnx_models.evaluation import FOLDED_LIMIT, VALUE_LIMIT, Inference, dimensions_of
from pipelines.onnx_models.model import OnnxError, OnnxModel, Values, is_constant, node_name
from pipelines.onnx_models.quantised import QUANTISED, VENDOR, Dequantiser
from pipelines.onnx_models.recurrent import unrolled

SHAPES_ALONE = ": its weights are shapes alone"
"""Ends the note about a file of weights that is not there."""
FILE_LIMIT_BYTES = 1 << 30
"""Limit on a model, and on each of its files of weights."""
NODE_LIMIT = 16_384
_LISTED = 20
_PARSING_ERRORS = (RuntimeError, ValueError, TypeError, LookupError, AttributeError)


def read_model(
    path: Path,
    *,
    error: Callable[[str], Exception],
    accepted: Sequence[str],
    has_data: bool,
    dimensions: Mapping[str, int] | None = None,
    is_unrolled: bool = False,
) -> OnnxModel:
    """Read an ONNX file.

    A first dimension of an input without a number, the batch as a rule, is 1 unless `dimensions` has it.
    Files of weights lie beside the model.

    Args:
        accepted: operators on variable tensors, besides those that stand for others.
        has_data: whether values of weights are read and computed; else shapes are enough.
        dimensions: sizes of symbolic dimensions of inputs, by name; input.place for one without a name.
        is_unrolled: whether recurrent operators become their steps.
    Raises: error: no such file, too large, damaged, operators that are not supported (all are named), a
        dimension without a number.
    """
    content = read_bounded(path, what="ONNX model", most_bytes=FILE_LIMIT_BYTES, error=error)
    with reading(f"the ONNX model {path}"):
        try:
            model = _parsed(content)
            del content
            return model_of(
                model,
                accepted=accepted,
                has_data=has_data,
                dimensions=dimensions,
                is_unrolled=is_unrolled,
                folder=path.parent,
            )
        except OnnxError as problem:
            raise error(f"{problem} ({path})") from problem


def _parsed(content: bytes) -> ModelProto:
    try:
        return onnx.load_model_from_string(content)
    except DecodeError as error:
        raise OnnxError("damaged ONNX model: it cannot be decoded") from error


def model_of(
    model: ModelProto,
    *,
    accepted: Sequence[str],
    has_data: bool = True,
    dimensions: Mapping[str, int] | None = None,
    is_unrolled: bool = False,
    folder: Path | None = None,
) -> OnnxModel:
    """Fold the constants of a model and infer its shapes; the model stays as it is.

    Args:   as `read_model`. folder: of files of weights; None where there are none.
    Raises: OnnxError: as `read_model`.
    """
    _require_sound(model)
    model = _inlined(model)
    constants = _Constants(folder=folder, has_data=has_data)
    constants.add_all(model.graph)
    graph = _skeleton(model, constants)
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 1)
    _require_supported(graph.node, constants.names, accepted, opset)
    _check(graph, model)
    inputs = [value for value in graph.input if value.name not in constants.names]
    assumed = _bind_dimensions(inputs, dimensions or {})
    inference = Inference(
        opset=opset,
        types={value.name: value.type for value in graph.input},
        values=constants.values,
        constants=constants.names,
        has_data=has_data,
        budget=FOLDED_LIMIT + 2 * sum(value.size for value in constants.values.values()),
        imports=list(model.opset_import),
    )
    dequantiser = Dequantiser(inference=inference, positive={value.name for value in inputs})
    read = {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
    nodes: list[NodeProto] = []
    trained: list[str] = []
    for node in graph.node:
        if _is_training(node, constants.values):
            trained.append(node.name or node.output[0])
        for plain in dequantiser.plain_nodes(_at_inference(node, read)):
            for step in unrolled(plain, inference, read) if is_unrolled else (plain,):
                inference.visit(step)
                if is_constant(step, inference.constants):
                    inference.constants.update(step.output)
                else:
                    nodes.append(step)
    shapes = {name: dimensions_of(type_) for name, type_ in inference.types.items()}
    return OnnxModel(
        nodes=tuple(nodes),
        inputs=tuple(value.name for value in inputs),
        outputs=tuple(dequantiser.names.get(value.name, value.name) for value in graph.output),
        shapes={name: shape for name, shape in shapes.items() if shape is not None},
        constants=frozenset(inference.constants),
        values=inference.values,
        rescaled=frozenset(dequantiser.rescaled),
        repeated=frozenset(inference.repeated),
        opset=opset,
        notes=(*_size_notes(assumed), *constants.notes, *_training_notes(trained)),
    )


def _is_training(node: NodeProto, values: Mapping[str, Values]) -> bool:
    """Tell whether a dropout is exported in training mode, in which it would draw random numbers."""
    mode = values.get(node.input[2]) if node.op_type == "Dropout" and len(node.input) > 2 else None
    return mode is not None and bool(mode.any())


def _training_notes(trained: Sequence[str]) -> list[str]:
    if not trained:
        return []
    shown = ", ".join(trained[:3]) + (f" and {len(trained) - 3} more" if len(trained) > 3 else "")
    return [f"Dropout in training mode taken as at inference, it keeps all values: {shown}"]


def _at_inference(node: NodeProto, read: set[str]) -> NodeProto:
    """Return a dropout without its training: it keeps all, and gives no mask unless that is read."""
    if node.op_type != "Dropout" or any(name in read for name in node.output[1:]):
        return node
    return NodeProto(name=node.name, op_type="Dropout", input=node.input[:1], output=node.output[:1])


# ---- what is not acceptable --------------------------------------------------------------------------


def _require_sound(model: ModelProto) -> None:
    graph = model.graph
    if not graph.node:
        raise OnnxError("not an ONNX model, or one without operators")
    if len(graph.node) > NODE_LIMIT:
        raise OnnxError(f"too many operators: {len(graph.node)}; accepted: {NODE_LIMIT} at most")
    if not all(isinstance(text, str) for text in _texts(model)):
        raise OnnxError("damaged ONNX model: a name is not UTF-8")
    if graph.sparse_initializer:
        raise OnnxError("sparse initialisers are not supported; accepted: dense ones")


def _texts(model: ModelProto) -> Iterator[str | bytes]:
    """Yield all names; protobuf gives those that are not UTF-8 as bytes."""
    graph = model.graph
    yield from (entry.domain for entry in model.opset_import)
    for function in model.functions:
        yield from (function.name, function.domain, *function.input, *function.output, *function.attribute)
    for node in (*graph.node, *(node for function in model.functions for node in function.node)):
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield from (attribute.name, attribute.ref_attr_name)
    for value in (*graph.input, *graph.output):
        yield value.name
        yield from (dimension.dim_param for dimension in value.type.tensor_type.shape.dim)
    yield from (tensor.name for tensor in graph.initializer)


def _require_supported(
    nodes: Iterable[NodeProto], constants: set[str], accepted: Sequence[str], opset: int
) -> None:
    if opset > defs.onnx_opset_version():
        raise OnnxError(f"opset {opset}; accepted: up to {defs.onnx_opset_version()}")
    known, others = set(constants), dict[str, str]()
    for node in nodes:
        is_known = is_constant(node, known)
        if is_known:
            known.update(node.output)
        is_standard = node.domain in ("", "ai.onnx")
        if is_standard and (node.op_type in accepted or is_known):
            is_right = defs.has(node.op_type, opset, "")
        else:
            is_right = node.op_type in QUANTISED and (is_standard or node.domain == VENDOR)
        if not is_right:
            others.setdefault(f"{node.domain}.{node.op_type}".lstrip("."), node_name(node))
    if others:
        shown = ", ".join(f"{operator} (node {name})" for operator, name in islice(others.items(), _LISTED))
        words = ", ".join(sorted({*accepted, *QUANTISED, "Constant"}))
        raise OnnxError(f"operators that are not supported: {shown}; accepted: {words}")


def _check(graph: GraphProto, model: ModelProto) -> None:
    """Check the order of nodes, names, attributes and numbers of inputs, by ONNX's checker."""
    checked = GraphProto()
    checked.CopyFrom(graph)
    for value in checked.output:
        value.type.tensor_type.shape.SetInParent()  # not read, but the checker asks for one
    whole = ModelProto(
        ir_version=onnx.IR_VERSION, opset_import=model.opset_import, producer_name="simfoundry", graph=checked
    )
    try:
        checker.check_model(whole)  # pyright: ignore[reportUnknownMemberType]
    except (checker.ValidationError, *_PARSING_ERRORS) as error:
        raise OnnxError(f"damaged ONNX model: {' '.join(str(error).split())[:300]}") from error


# ---- local functions -----------------------------------------------------------------------------------


def _inlined(model: ModelProto) -> ModelProto:
    """Replace the calls of the model's own functions, as torch's exporter makes, by their bodies."""
    if not model.functions:
        return model
    functions = {(function.domain, function.name): function for function in model.functions}
    count = sum(_expanded(node, functions, {}, ()) for node in model.graph.node)
    if count > NODE_LIMIT:
        raise OnnxError(f"too many operators with functions: {count}; accepted: {NODE_LIMIT} at most")
    try:
        return inliner.inline_local_functions(model)
    except _PARSING_ERRORS as error:
        raise OnnxError(f"damaged ONNX model: {' '.join(str(error).split())[:300]}") from error


def _expanded(
    node: NodeProto,
    functions: Mapping[tuple[str, str], FunctionProto],
    counts: dict[tuple[str, str], int],
    callers: tuple[tuple[str, str], ...],
) -> int:
    """Return the operators that a node becomes."""
    key = (node.domain, node.op_type)
    if key not in functions:
        return 1
    if key in callers or len(callers) >= _LISTED:
        raise OnnxError(f"function {node.op_type} calls itself; accepted: functions without recursion")
    if key not in counts:
        body = functions[key].node
        counts[key] = sum(_expanded(inner, functions, counts, (*callers, key)) for inner in body)
    return counts[key]


# ---- constants -----------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Constants:
    """Initialisers and operators `Constant`."""

    folder: Path | None
    has_data: bool
    names: set[str] = field(default_factory=set[str])
    types: dict[str, onnx.TypeProto] = field(default_factory=dict[str, onnx.TypeProto])
    values: dict[str, Values] = field(default_factory=dict[str, Values])
    notes: list[str] = field(default_factory=list[str])

    def add_all(self, graph: GraphProto) -> None:
        for tensor in graph.initializer:
            self._add(tensor.name, tensor)
        for node in graph.node:
            if _is_plain_constant(node):
                self._add(node.output[0], _constant(node))

    def _add(self, name: str, tensor: TensorProto) -> None:
        shape = tuple(tensor.dims)
        if any(size < 0 for size in shape):
            raise OnnxError(f"damaged ONNX model: initialiser {name} has a negative dimension")
        if name in self.names:
            raise OnnxError(f"damaged ONNX model: two constants of the name {name}")
        self.names.add(name)
        self.types[name] = helper.make_tensor_type_proto(tensor.data_type, shape)
        try:
            values = self._values(name, tensor)
        except (*_PARSING_ERRORS, OSError) as error:
            raise OnnxError(f"damaged ONNX model: initialiser {name} ({error})") from error
        if values is not None:
            self.values[name] = values

    def _values(self, name: str, tensor: TensorProto) -> Values | None:
        """Return the values of a tensor; None where none are there, or none are asked for."""
        is_read = self.has_data or prod(tensor.dims) <= VALUE_LIMIT
        if tensor.data_location != TensorProto.EXTERNAL:
            return numpy_helper.to_array(tensor) if is_read else None
        if not tensor.external_data or self.folder is None:
            return None  # shapes alone, as drawn networks have
        entries = {entry.key: entry.value for entry in tensor.external_data}
        path = _beside(self.folder, str(entries.get("location", "")), name)
        if not path.exists():
            note = f"no file {path.name} beside the model{SHAPES_ALONE}"
            self.notes += [note] * (note not in self.notes)
            return None
        if not is_read:
            return None
        first, length = (int(entries.get(key) or 0) for key in ("offset", "length"))
        length = length or prod(tensor.dims) * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        content = _bytes_of(path, first, length, name)
        return numpy_helper.to_array(
            TensorProto(data_type=tensor.data_type, dims=tensor.dims, raw_data=content)
        )


def _bytes_of(path: Path, first: int, length: int, name: str) -> bytes:
    with open_regular(
        path, what="weights of the ONNX model", most_bytes=FILE_LIMIT_BYTES, error=OnnxError
    ) as file:
        size = os.fstat(file.fileno()).st_size
        if not (first >= 0 and length >= 0 and first + length <= size):
            raise OnnxError(
                f"bytes {first} to {first + length} of {path.name} for initialiser {name}; "
                f"accepted: 0 to {size}"
            )
        file.seek(first)
        return file.read(length)


def _beside(folder: Path, location: str, name: str) -> Path:
    """Return a file of weights in the model's own folder or below, with no link out of it."""
    parts = PurePosixPath(location).parts
    path = folder / location
    is_inside = bool(parts) and ".." not in parts and not location.startswith("/") and "\0" not in location
    if not (is_inside and path.resolve().is_relative_to(folder.resolve())):
        raise OnnxError(
            f"weights of initialiser {name} in {location or 'no file'}; accepted: a file beside the model"
        )
    return path


def _is_plain_constant(node: NodeProto) -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx") and len(node.output) == 1


_LISTS = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


def _constant(node: NodeProto) -> TensorProto:
    given: dict[str, AttributeProto] = {attribute.name: attribute for attribute in node.attribute}
    name = node_name(node)
    if "value" in given and given["value"].HasField("t"):
        return given["value"].t
    for key, kind in _LISTS.items():
        if key in given:
            value: Any = helper.get_attribute_value(given[key])
            return numpy_helper.from_array(np.array(value, kind))
    raise OnnxError(f"constant without numbers: node {name}; accepted: value, {', '.join(_LISTS)}")


def _skeleton(model: ModelProto, constants: _Constants) -> GraphProto:
    """Return the graph without constants, which are inputs of it."""
    graph = GraphProto(name="network")
    graph.node.extend(node for node in model.graph.node if not _is_plain_constant(node))
    graph.input.extend(value for value in model.graph.input if value.name not in constants.names)
    graph.input.extend(ValueInfoProto(name=name, type=type_) for name, type_ in constants.types.items())
    graph.output.extend(model.graph.output)
    return graph


# ---- dimensions ----------------------------------------------------------------------------------------


def _bind_dimensions(inputs: Sequence[ValueInfoProto], given: Mapping[str, int]) -> dict[str, int]:
    """Give every dimension of the inputs a number; those that were assumed, by name."""
    open_dimensions = [
        (place, dimension.dim_param or f"{value.name}.{place}", dimension)
        for value in inputs
        for place, dimension in enumerate(_dimensions(value))
        if dimension.dim_value <= 0
    ]
    for _, name, dimension in open_dimensions:
        if dimension.dim_value < -1:  # exporters write -1 and 0 where there is no number
            raise OnnxError(f"dimension {name} is {dimension.dim_value}; accepted: 1 or more")
    names = sorted({name for _, name, _ in open_dimensions})
    assumed = {name: 1 for place, name, _ in open_dimensions if place == 0 and name not in given}
    sizes = assumed | dict(given)
    if unknown := sorted(set(given) - set(names)):
        raise OnnxError(
            f"unknown dimension: {', '.join(unknown)}; the model has: {', '.join(names) or 'none'}"
        )
    if missing := [name for name in names if name not in sizes]:
        raise OnnxError(
            f"dimensions without a number: {', '.join(missing)}; give each one: --dimension {missing[0]}=128"
        )
    for _, name, dimension in open_dimensions:
        dimension.dim_value = sizes[name]
    return assumed


def _dimensions(value: ValueInfoProto) -> Sequence[onnx.TensorShapeProto.Dimension]:
    if not value.type.HasField("tensor_type"):
        raise OnnxError(f"input {value.name} is not a tensor; accepted: tensors")
    return value.type.tensor_type.shape.dim


def _size_notes(assumed: Mapping[str, int]) -> list[str]:
    return [f"dimension {name} has no number: {size} is assumed" for name, size in assumed.items()]
