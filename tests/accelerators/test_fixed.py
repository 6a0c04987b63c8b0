"""Fixed-point pipelines: formats of numbers, and da4ml's model against the layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.accelerators import FIXED_CATEGORIES, AcceleratorError, network_of
from pipelines.accelerators.fixed.dataset import FixedGroup, make_fixed
from pipelines.accelerators.fixed.labels import drawn_inputs, encode_values, formats
from pipelines.accelerators.fixed.tracing import FRACTION, TOP, linear_map, trace_network, word_widths
from pipelines.accelerators.networks import drawn_network
from pipelines.cache import ContentCache
from pipelines.schemas import FixedNetworkRow
from pipelines.synthesis import find_liberty


def test_formats_are_the_fewest_bits() -> None:
    assert formats([(-4.0, 3.96875, 1 / 32), (0.0, 3.0, 1.0), (0.0, 0.0, 1.0), (-0.5, 0.25, 0.25)]) == [
        (8, 5),
        (2, 0),
        (0, 0),
        (2, 2),
    ]


def test_values_are_encoded_lowest_bit_first() -> None:
    bits = encode_values(np.array([[-0.5, 3.0]]), [(3, 1), (2, 0)])
    assert bits.tolist() == [[1, 1, 1, 1, 1]]
    assert word_widths(130) == [64, 64, 2]


def test_a_pipeline_computes_its_layer(tmp_path: Path) -> None:
    pytest.importorskip("da4ml")
    network = network_of(drawn_network("mlp", "tiny", 1), "mlp")
    design = trace_network(network, tmp_path)
    assert f"module {TOP} (input clk" in design.verilog
    values = drawn_inputs(design, 20, 0)
    for layer in network.layers:
        matrix, bias = linear_map(layer, network.opset)
        values = values @ matrix + bias
        values = np.maximum(values, 0) if layer.activation == "relu" else values
        steps = np.floor(values * (1 << FRACTION)).astype(np.int64)
        values = ((steps + 128) % 256 - 128) / (1 << FRACTION)  # truncated and wrapped: ap_fixed<8,3>
    assert (design.expected(drawn_inputs(design, 20, 0)) == values).all()


def test_an_operator_without_a_fixed_point_form_is_named(tmp_path: Path) -> None:
    pytest.importorskip("da4ml")
    network = network_of(drawn_network("bert", "tiny", 1), "bert")
    with pytest.raises(AcceleratorError, match="operator without a fixed-point form: "):
        trace_network(network, tmp_path)


def test_a_recurrent_network_is_labelled_and_kept(tmp_path: Path) -> None:
    pytest.importorskip("da4ml")
    liberty, cache = find_liberty("osu018"), ContentCache(folder=tmp_path / "cache")

    def made() -> FixedNetworkRow:
        group = FixedGroup(name="labelled", families=("rnn",), is_labelled=True, seed=2)
        (row,) = make_fixed(
            group,
            liberty=liberty,
            folder=tmp_path / "work",
            cache=cache,
            workers=1,
            on_progress=lambda progress: None,
        )
        return row

    row = made()
    assert (row.status, row.outputs_equal, row.layer_kinds[0]) == ("ok", True, "matmul")
    stages = np.array(row.stage_counts).reshape(-1, len(FIXED_CATEGORIES))
    assert len(stages) + 1 == row.latency_cycles
    assert (stages[:, FIXED_CATEGORIES.index("add")] > 0).any()
    assert row.energy_nj == pytest.approx((row.power_mw or 0) * 20.0 * 1e-3)
    assert made() == row


def test_an_unknown_family_of_pipelines_is_named() -> None:
    with pytest.raises(AcceleratorError, match="unknown family in group one: gan; accepted: mlp, cnn"):
        FixedGroup(name="one", families=("gan",))
