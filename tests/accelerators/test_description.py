"""Networks in hls4ml's description, its C++ against a pipeline, and its configurations."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipelines.accelerators import AcceleratorError, network_of
from pipelines.accelerators.fixed.description import HlsConfiguration, describe_network, read_configuration
from pipelines.accelerators.fixed.sharing import trace_network
from pipelines.accelerators.fixed.tracing import linear_map, uniform_inputs
from pipelines.accelerators.networks import drawn_fixed_network, drawn_network
from tests.support.fixed_emulation import emulate_network

_FORMAT, _WIDE = "fixed<8,3,TRN,WRAP,0>", "fixed<19,9,TRN,WRAP,0>"


def test_layers_are_described_with_formats_and_products() -> None:
    pytest.importorskip("hls4ml")
    network = network_of(drawn_fixed_network("mobilenet", 1), "mobilenet")
    layers = describe_network(network, reuse_factor=2).layers()
    assert [layer["class"] for layer in layers if layer["products"]] == [
        *("PointwiseConv2D", "PointwiseConv2D", "DepthwiseConv2D", "PointwiseConv2D", "Dense")
    ]
    depthwise, relu = next((x, y) for x, y in pairwise(layers) if x["class"] == "DepthwiseConv2D")
    assert (depthwise["result"], depthwise["accumulator"], relu["result"]) == (_WIDE, _WIDE, _FORMAT)
    assert (depthwise["weight"], depthwise["shape"], depthwise["products"]) == (
        _FORMAT,
        [3, 3, 2],
        3 * 3 * 18,
    )
    assert {layer["reuse_factor"] for layer in layers} == {2}


@pytest.mark.parametrize(("family", "seed"), [("cnn", 8), ("mobilenet", 6)])
def test_the_emulation_of_hls4ml_equals_the_pipeline(family: str, seed: int) -> None:
    pytest.importorskip("da4ml")
    pytest.importorskip("hls4ml")
    network = network_of(drawn_fixed_network(family, seed), family)
    design = trace_network(network)
    values = uniform_inputs(design.inputs, 100, 3)
    outputs = emulate_network(network, values)
    assert (outputs == design.expected(values)).all()
    assert len(np.unique(outputs)) > 20


def test_an_average_over_nine_positions_multiplies_by_an_eighth() -> None:
    network = network_of(drawn_fixed_network("mobilenet", 1), "mobilenet")
    (average,) = (layer for layer in network.layers if layer.kinds[0] == "GlobalAveragePool")
    assert set(linear_map(average, network.opset)[0].reshape(-1)) <= {0.0, 4 / 32}  # hls4ml divides by 9


@pytest.mark.parametrize(
    ("family", "reason"),
    [("mobilenet", r"activation clip6 \(conv_0\)"), ("bert", r"a product of \(1, 8, 12\) \(matmul_0\)")],
)
def test_a_layer_that_is_not_described_is_named(family: str, reason: str) -> None:
    pytest.importorskip("hls4ml")
    with pytest.raises(AcceleratorError, match=f"not described to hls4ml: {reason}"):
        describe_network(network_of(drawn_network(family, "tiny", 1), family))


def test_a_slice_of_a_recurrent_network_is_a_cropping() -> None:
    pytest.importorskip("hls4ml")
    network = network_of(drawn_fixed_network("rnn", 2), "rnn")
    layers = [layer for layer in describe_network(network).layers() if layer["class"] == "Cropping1D"]
    assert len(layers) * layers[0]["shape"][0] == network.input_shape[1]


def test_a_configuration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hls4ml.yml"
    path.write_text(
        "Backend: Vitis\nClockPeriod: 5\nIOType: io_parallel\nHLSConfig:\n"
        "  Model: {Precision: {default: 'fixed<8, 3>'}, ReuseFactor: 3, Strategy: Latency, BramFactor: 7}\n"
        "  LayerName: {dense: {Precision: {accum: auto}, ReuseFactor: 3}}\n"
    )
    assert read_configuration(path) == HlsConfiguration(reuse_factor=3, strategy="latency")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "HLSConfig: {Model: {Precision: 'ap_fixed<16,6>'}}",
            "HLSConfig.Model.Precision: ap_fixed<16,6>; accep",
        ),
        ("HLSConfig: {Model: {ReuseFactor: 0}}", "HLSConfig.Model.ReuseFactor: 0 ("),
        (
            "HLSConfig: {Model: {Strategy: Resource}}",
            "HLSConfig.Model.Strategy: Resource; accepted with reuse fa",
        ),
        ("HLSConfig: {Model: {Mode: 1}}", "unknown key: HLSConfig.Model.Mode ("),
        ("IOType: io_stream\nHLSConfig: {}", 'IOType: "io_stream" ('),
        ("HLSConfig: {Optimizers: [x]}", "unknown key: HLSConfig.Optimizers ("),
        (
            "HLSConfig: {Model: {ReuseFactor: 2}, LayerName: {d: {ReuseFactor: 4}}}",
            "HLSConfig.LayerName.d.ReuseFactor: 4; accepted: the model's, 2",
        ),
        (
            "HLSConfig: {LayerType: {Dense: {Precision: {accum: 'ap_fixed<8,3>'}}}}",
            "HLSConfig.LayerType.Dense.Precision.accum: ap_fixed<8,3>; accepted: auto: sums are exact",
        ),
        ("[", "not YAML: "),
        ("Backend: Vivado", "missing key: HLSConfig ("),
    ],
)
def test_a_configuration_rejects_what_a_pipeline_cannot_do(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "hls4ml.yml"
    path.write_text(text)
    with pytest.raises(AcceleratorError) as error:
        read_configuration(path)
    assert str(error.value).startswith(message)
    assert str(path) in str(error.value)
