"""Acceptance of 30 small networks, as people export them, by `power`, `power --flow fixed` and `place`.

python -m tests.benchmarks.onnx_acceptance FOLDER --export
python -m tests.benchmarks.onnx_acceptance FOLDER [--only NAME]
FOLDER: gets NAME.onnx by --export, which needs torch, and onnxscript for its newer exporter. The second form
runs the commands on what lies there and prints a line per network and command, with the reason of a refusal.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from tests.benchmarks.harness import options_parser

COMMANDS: Mapping[str, Sequence[str]] = {
    "power": ("power",),
    "fixed": ("power", "--flow", "fixed"),
    "place": ("place", "--moves", "80"),
}
_TIMEOUT_S = 300
Exporter: TypeAlias = Callable[[Path], None]
Shape: TypeAlias = Sequence[int | str]
_NETWORKS: dict[str, Exporter] = {}


def _network(function: Exporter) -> Exporter:
    _NETWORKS[function.__name__] = function
    return function


# ---- networks by onnx.helper ---------------------------------------------------------------------------


class _Graph:
    """Nodes and constants of a model that grows."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.random = np.random.default_rng(opset)
        self.nodes: list[NodeProto] = []
        self.tensors: list[TensorProto] = []

    def constant(self, values: Any, kind: Any = np.float32) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.array(values, kind), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant(self.random.normal(0.0, 0.3, shape))

    def integers(self, *shape: int, kind: Any = np.int8) -> str:
        return self.constant(self.random.integers(-127, 128, shape), kind)

    def add(self, operator: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> str:
        names = [f"{operator.lower()}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(
            helper.make_node(
                operator,
                list(inputs),
                names,
                name=f"/{operator}_{len(self.nodes)}",
                domain=domain,
                **attributes,
            )
        )
        return names[0]

    def output(self, place: int) -> str:
        """A further output of the last node."""
        return self.nodes[-1].output[place]

    def pair(self, x: str, scale: float, zero: int = 0, kind: Any = np.int8) -> str:
        """Quantised and dequantised again."""
        parts = self.constant(scale), self.constant(zero, kind)
        return self.add("DequantizeLinear", self.add("QuantizeLinear", x, *parts), *parts)

    def save(
        self, path: Path, output: str, shape: Shape, *, kind: int = TensorProto.FLOAT, external: bool = False
    ) -> None:
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info("x", kind, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            self.tensors,
        )
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=10)
        onnx.save_model(
            model,
            str(path),
            save_as_external_data=external,
            location=f"{path.stem}.data",
            size_threshold=0,
            convert_attribute=False,
        )


@_network
def mlp_opset9(path: Path) -> None:
    g = _Graph(9)
    x = g.add("Relu", g.add("Gemm", "x", g.weight(16, 12), g.weight(12)))
    g.save(path, g.add("Gemm", x, g.weight(4, 12), g.weight(4), transB=1), [1, 16])


@_network
def cnn_opset9(path: Path) -> None:
    g = _Graph(9)
    x = g.add("Conv", "x", g.weight(4, 1, 3, 3), kernel_shape=[3, 3], pads=[1] * 4)
    norm = [g.constant(np.abs(g.random.normal(1.0, 0.1, 4))) for _ in range(4)]
    x = g.add("Clip", g.add("BatchNormalization", x, *norm), min=0.0, max=6.0)
    x = g.add("Flatten", g.add("GlobalAveragePool", x))
    g.save(path, g.add("MatMul", x, g.weight(4, 4)), [1, 1, 8, 8])


@_network
def cnn_same_padding_opset11(path: Path) -> None:
    g = _Graph(11)
    x = g.add("Conv", "x", g.weight(4, 2, 3, 3), g.weight(4), auto_pad="SAME_UPPER", strides=[2, 2])
    x = g.add("MaxPool", g.add("Relu", x), kernel_shape=[2, 2], strides=[2, 2], auto_pad="VALID")
    x = g.add("Reshape", g.add("Transpose", x, perm=[0, 2, 3, 1]), g.constant([-1, 16], np.int64))
    g.save(path, g.add("Add", g.add("MatMul", x, g.weight(16, 4)), g.weight(4)), ["N", 2, 8, 8])


@_network
def depthwise_shared_weight_opset13(path: Path) -> None:
    g = _Graph(13)
    shared = g.weight(4)
    x = g.add("Conv", "x", g.weight(4, 4, 1, 1), g.add("Identity", shared))
    x = g.add("Conv", g.add("Relu", x), g.weight(4, 1, 3, 3), shared, group=4, pads=[1] * 4)
    x = g.add("Conv", g.add("Relu", x), g.weight(8, 4, 1, 1), g.weight(8))
    x = g.add("ReduceMean", x, axes=[2, 3], keepdims=0)
    g.save(path, g.add("Gemm", x, g.weight(8, 4), g.weight(4)), [1, 4, 6, 6])


@_network
def residual_opset15(path: Path) -> None:
    g = _Graph(15)
    y = g.add("Relu", g.add("Conv", "x", g.weight(2, 2, 3, 3), g.weight(2), pads=[1] * 4))
    y = g.add("Conv", y, g.weight(2, 2, 3, 3), g.weight(2), pads=[1] * 4)
    x = g.add("Flatten", g.add("GlobalAveragePool", g.add("Relu", g.add("Add", y, "x"))))
    g.save(path, g.add("Gemm", x, g.weight(2, 3), g.weight(3)), ["batch", 2, 6, 6])


@_network
def signals_opset13(path: Path) -> None:
    g = _Graph(13)
    x = g.add("Relu", g.add("Conv", "x", g.weight(4, 2, 5), g.weight(4), strides=[2], pads=[2, 2]))
    x = g.add("Relu", g.add("Conv", x, g.weight(4, 4, 3), g.weight(4)))
    x = g.add("Flatten", g.add("GlobalAveragePool", x))
    g.save(path, g.add("Gemm", x, g.weight(4, 3), g.weight(3)), ["batch", 2, 24])


def _attention(g: _Graph, x: str, tokens: int, width: int) -> str:
    q, k, v = (g.add("Add", g.add("MatMul", x, g.weight(width, width)), g.weight(width)) for _ in range(3))
    scores = g.add("Div", g.add("MatMul", q, g.add("Transpose", k, perm=[0, 2, 1])), g.constant(width**0.5))
    mixed = g.add("MatMul", g.add("Softmax", scores, axis=-1), v)
    return g.add("Add", g.add("MatMul", mixed, g.weight(width, width)), x)


@_network
def transformer_block_opset17(path: Path) -> None:
    g = _Graph(17)
    x = g.add("LayerNormalization", _attention(g, "x", 8, 16), g.weight(16), g.weight(16))
    y = g.add("Relu", g.add("Add", g.add("MatMul", x, g.weight(16, 32)), g.weight(32)))
    g.save(path, g.add("Add", g.add("MatMul", y, g.weight(32, 16)), x), [1, 8, 16])


@_network
def tokens_opset14(path: Path) -> None:
    g = _Graph(14)
    x = _attention(g, g.add("Gather", g.weight(50, 8), "x"), 6, 8)
    x = g.add("ReduceMean", x, axes=[1], keepdims=0)
    g.save(path, g.add("Gemm", x, g.weight(8, 2), g.weight(2)), ["batch", 6], kind=TensorProto.INT64)


@_network
def unsqueezed_bias_opset11(path: Path) -> None:
    g = _Graph(11)
    bias = g.add("Unsqueeze", g.weight(4), axes=[0])
    g.save(path, g.add("Relu", g.add("Add", g.add("MatMul", "x", g.weight(8, 4)), bias)), [1, 8])


@_network
def dropout_with_mask_opset12(path: Path) -> None:
    g = _Graph(12)
    x = g.add("Relu", g.add("Gemm", "x", g.weight(8, 12), g.weight(12)))
    x = g.add("Dropout", x, g.constant(0.5), outputs=2)
    g.save(path, g.add("Gemm", x, g.weight(12, 4), g.weight(4)), [1, 8])


@_network
def computed_shapes_opset12(path: Path) -> None:
    g = _Graph(12)
    x = g.add("Relu", g.add("Conv", "x", g.weight(2, 1, 3, 3), pads=[1] * 4))
    sizes = g.add("Shape", x)
    batch = g.add("Unsqueeze", g.add("Gather", sizes, g.constant(0, np.int64)), axes=[0])
    rest = g.add("Mod", g.constant([107], np.int64), g.constant([108], np.int64))
    rest = g.add("Sub", rest, g.constant([35], np.int64))
    x = g.add("Reshape", x, g.add("Concat", batch, rest, axis=0))
    zeros = g.add("ConstantOfShape", g.add("Shape", x), value=numpy_helper.from_array(np.ones(1, np.float32)))
    g.save(path, g.add("MatMul", g.add("Add", x, zeros), g.weight(72, 3)), ["batch", 1, 6, 6])


@_network
def qdq_mlp_opset10(path: Path) -> None:
    g = _Graph(10)
    x = g.pair("x", 0.02)
    for inputs, outputs in ((16, 12), (12, 4)):
        weight = g.add(
            "DequantizeLinear", g.integers(inputs, outputs), g.constant(0.01), g.constant(0, np.int8)
        )
        x = g.pair(g.add("Add", g.add("MatMul", x, weight), g.weight(outputs)), 0.05)
        x = g.add("Relu", x) if outputs == 12 else x
    g.save(path, x, ["batch", 16])


@_network
def qdq_cnn_opset13(path: Path) -> None:
    g = _Graph(13)

    def conv(x: str, inputs: int, outputs: int) -> str:
        scales = g.constant(np.full(outputs, 0.01))
        weight = g.add(
            "DequantizeLinear",
            g.integers(outputs, inputs, 3, 3),
            scales,
            g.constant(np.zeros(outputs), np.int8),
            axis=0,
        )
        bias = g.add("DequantizeLinear", g.integers(outputs, kind=np.int32), g.constant(0.0002))
        return g.pair(g.add("Relu", g.add("Conv", x, weight, bias, pads=[1] * 4)), 0.02, 0, np.uint8)

    x = g.add("MaxPool", conv(g.pair("x", 0.02), 1, 4), kernel_shape=[2, 2], strides=[2, 2])
    x = g.pair(g.add("GlobalAveragePool", conv(x, 4, 4)), 0.02)
    weight = g.add("DequantizeLinear", g.integers(3, 4), g.constant(0.01), g.constant(0, np.int8))
    g.save(path, g.pair(g.add("Gemm", g.add("Flatten", x), weight, transB=1), 0.05), ["batch", 1, 8, 8])


def _three(g: _Graph, scale: float = 0.02, kind: Any = np.uint8) -> tuple[str, str]:
    return g.constant(scale), g.constant(0, kind)


@_network
def qlinear_cnn_opset10(path: Path) -> None:
    g = _Graph(10)
    x = g.add("QuantizeLinear", "x", *_three(g))
    weights = g.integers(4, 1, 3, 3), *_three(g, 0.01, np.int8)
    x = g.add("QLinearConv", x, *_three(g), *weights, *_three(g), g.integers(4, kind=np.int32), pads=[1] * 4)
    x = g.add("Flatten", g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    x = g.add("QLinearMatMul", x, *_three(g), g.integers(64, 3), *_three(g, 0.01, np.int8), *_three(g))
    g.save(path, g.add("DequantizeLinear", x, *_three(g)), [1, 1, 8, 8])


@_network
def qlinear_vendor_opset13(path: Path) -> None:
    g, vendor = _Graph(13), "com.microsoft"
    x = g.add("QuantizeLinear", "x", *_three(g))
    weights = g.integers(2, 2, 3, 3), *_three(g, 0.01, np.int8)
    y = g.add("QLinearConv", x, *_three(g), *weights, *_three(g), pads=[1] * 4)
    x = g.add("QLinearAdd", y, *_three(g), x, *_three(g), *_three(g), domain=vendor)
    x = g.add("QLinearGlobalAveragePool", x, *_three(g), *_three(g), domain=vendor, channels_last=0)
    x = g.add("Flatten", x)
    weights = g.integers(3, 2), *_three(g, 0.01, np.int8)
    bias = g.integers(3, kind=np.int32)
    x = g.add("QGemm", x, *_three(g), *weights, bias, *_three(g), domain=vendor, transB=1)
    g.save(path, g.add("DequantizeLinear", x, *_three(g)), [1, 2, 6, 6])


@_network
def dynamic_quantisation_opset11(path: Path) -> None:
    g = _Graph(11)

    def product(operator: str, x: str, weight: str, bias: str, **attributes: Any) -> str:
        q = g.add("DynamicQuantizeLinear", x, outputs=3)
        scale, zero = g.output(1), g.output(2)
        sums = g.add(operator, q, weight, zero, g.constant(0, np.int8), **attributes)
        unit = g.add("Mul", scale, g.constant(0.01))
        return g.add("Add", g.add("Mul", g.add("Cast", sums, to=TensorProto.FLOAT), unit), bias)

    x = product("ConvInteger", "x", g.integers(4, 1, 3, 3), g.weight(1, 4, 1, 1), pads=[1] * 4)
    x = g.add("Flatten", g.add("Relu", x))
    g.save(path, product("MatMulInteger", x, g.integers(144, 3), g.weight(3)), [1, 1, 6, 6])


@_network
def external_data_opset15(path: Path) -> None:
    g = _Graph(15)
    x = g.add("Relu", g.add("Conv", "x", g.weight(4, 1, 3, 3), g.weight(4)))
    x = g.add("Reshape", x, g.constant([1, -1], np.int64))
    g.save(path, g.add("Gemm", x, g.weight(64, 3), g.weight(3)), [1, 1, 6, 6], external=True)


@_network
def squeeze_and_excite_opset14(path: Path) -> None:
    g = _Graph(14)
    x = g.add("HardSwish", g.add("Conv", "x", g.weight(4, 2, 3, 3), g.weight(4), pads=[1] * 4))
    s = g.add("Relu", g.add("Conv", g.add("GlobalAveragePool", x), g.weight(2, 4, 1, 1), g.weight(2)))
    s = g.add("HardSigmoid", g.add("Conv", s, g.weight(4, 2, 1, 1), g.weight(4)))
    x = g.add("Flatten", g.add("ReduceMean", g.add("Mul", x, s), axes=[2, 3]))
    g.save(path, g.add("Gemm", x, g.weight(4, 3), g.weight(3)), ["batch", 2, 6, 6])


@_network
def unet_opset16(path: Path) -> None:
    g = _Graph(16)
    x = g.add("Relu", g.add("Conv", "x", g.weight(4, 1, 3, 3), g.weight(4), pads=[1] * 4))
    y = g.add("Relu", g.add("Conv", x, g.weight(8, 4, 3, 3), g.weight(8), pads=[1] * 4, strides=[2, 2]))
    y = g.add("Resize", y, "", g.constant([1, 1, 2, 2]), mode="nearest")
    x = g.add("Concat", x, y, axis=1)
    x = g.add("Conv", x, g.weight(1, 12, 1, 1), g.weight(1))
    g.save(path, g.add("Sigmoid", x), [1, 1, 8, 8])


@_network
def norms_opset21(path: Path) -> None:
    g = _Graph(21)
    x = g.add("Conv", "x", g.weight(4, 2, 3, 3), g.weight(4), pads=[1] * 4)
    x = g.add("Gelu", g.add("GroupNormalization", x, g.weight(4), g.weight(4), num_groups=2))
    x = g.add("Flatten", g.add("GlobalMaxPool", x))
    g.save(path, g.add("Gemm", x, g.weight(4, 3), g.weight(3)), ["batch", 2, 6, 6])


# ---- exports of torch ----------------------------------------------------------------------------------


def _torch(
    path: Path, network: Any, shape: Sequence[int], *, dynamo: bool, opset: int, **options: Any
) -> None:
    import torch

    torch.manual_seed(0)
    is_dynamic = options.pop("is_dynamic", False)
    batch: dict[str, Any] = {}
    if is_dynamic and dynamo:
        batch = {"dynamic_shapes": ({0: torch.export.Dim("batch", min=1, max=64)},)}
    elif is_dynamic:
        batch = {
            "input_names": ["x"],
            "output_names": ["y"],
            "dynamic_axes": {"x": {0: "batch"}, "y": {0: "batch"}},
        }
    example = torch.zeros(*((2, *shape[1:]) if is_dynamic and dynamo else shape))
    network.eval()
    torch.onnx.export(network, (example,), path, dynamo=dynamo, opset_version=opset, **batch, **options)


def _last_step(kind: str, **options: Any) -> Any:
    from torch import nn

    class LastStep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.steps = getattr(nn, kind)(4, 6, batch_first=True, **options)
            self.head = nn.Linear(6 * (2 if options.get("bidirectional") else 1), 3)

        def forward(self, x: Any) -> Any:
            return self.head(self.steps(x)[0][:, -1])

    return LastStep()


def _lenet() -> Any:
    from torch import nn

    body = [nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*body, nn.Conv2d(4, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 4), nn.Softmax(-1))


def _encoder() -> Any:
    from torch import nn

    return nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")


def _perceptron() -> Any:
    from torch import nn

    return nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Dropout(0.1), nn.Linear(12, 4))


@_network
def torch_lstm(path: Path) -> None:
    _torch(path, _last_step("LSTM"), (1, 5, 4), dynamo=False, opset=17, is_dynamic=True)


@_network
def torch_gru(path: Path) -> None:
    _torch(path, _last_step("GRU", bidirectional=True), (1, 5, 4), dynamo=False, opset=17)


@_network
def torch_rnn(path: Path) -> None:
    _torch(path, _last_step("RNN", nonlinearity="relu"), (1, 5, 4), dynamo=False, opset=14)


@_network
def torch_cnn(path: Path) -> None:
    _torch(path, _lenet(), (1, 1, 8, 8), dynamo=False, opset=11, is_dynamic=True, do_constant_folding=False)


@_network
def torch_encoder(path: Path) -> None:
    from torch import nn

    from tests.benchmarks.exported_networks import Encoder

    network = Encoder(6, 16, 2, 32, nn.GELU())
    _torch(path, network, (1, 6, 16), dynamo=False, opset=17, is_dynamic=True)


@_network
def torch_dropout(path: Path) -> None:
    from torch.onnx import TrainingMode

    _torch(path, _perceptron(), (1, 16), dynamo=False, opset=13, training=TrainingMode.TRAINING)


@_network
def dynamo_cnn(path: Path) -> None:
    _torch(path, _lenet(), (1, 1, 8, 8), dynamo=True, opset=18, is_dynamic=True)


@_network
def dynamo_encoder(path: Path) -> None:
    _torch(path, _encoder(), (1, 6, 16), dynamo=True, opset=20)


@_network
def dynamo_lstm(path: Path) -> None:
    _torch(path, _last_step("LSTM"), (1, 5, 4), dynamo=True, opset=18)


@_network
def dynamo_mlp_external(path: Path) -> None:
    _torch(path, _perceptron(), (1, 16), dynamo=True, opset=21, external_data=True)


# ---- acceptance ----------------------------------------------------------------------------------------


def _export(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, export in _NETWORKS.items():
        try:
            export(folder / f"{name}.onnx")
        except ImportError as error:
            print(f"{name}: not exported: {error}")


def _outcome(path: Path, words: Sequence[str]) -> tuple[bool, str]:
    command = [sys.executable, "-m", "simfoundry.cli", words[0], str(path), *words[1:]]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return False, f"longer than {_TIMEOUT_S} s"
    last = (run.stderr.strip() or "no message").splitlines()[-1]
    return run.returncode == 0, last.removeprefix("simfoundry: ").replace(f"({path})", "").strip()


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--export", action="store_true")
    parser.add_argument("--only")
    options = parser.parse_args()
    folder: Path = options.folder
    if options.export:
        _export(folder)
        return
    paths = [folder / f"{name}.onnx" for name in _NETWORKS if options.only in (None, name)]
    accepted = dict.fromkeys(COMMANDS, 0)
    for path in paths:
        for name, words in COMMANDS.items():
            is_accepted, reason = _outcome(path, words)
            accepted[name] += is_accepted
            print(f"{path.stem:<34} {name:<6} {'accepted' if is_accepted else reason[:150]}", flush=True)
    print(", ".join(f"{name} {count} of {len(paths)}" for name, count in accepted.items()))


if __name__ == "__main__":
    main()
