"""Fixed-point pipelines: formats of numbers, and da4ml's model against the layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.accelerators import FIXED_CATEGORIES, AcceleratorError, network_of
from pipelines.accelerators.fixed.dataset import FixedGroup, compiled_columns, make_fixed
from pipelines.accelerators.fixed.labels import drawn_inputs, encode_values, input_words, is_equal
from pipelines.accelerators.fixed.sharing import TOP, formats, trace_network, trace_shared, word_widths
from pipelines.accelerators.fixed.tracing import FRACTION, linear_map
from pipelines.accelerators.networks import drawn_fixed_network, drawn_network
from pipelines.base.cache import ContentCache
from pipelines.rtl.reuse import Simulator, build_reuse
from pipelines.schemas import FixedNetworkRow
from pipelines.silicon.synthesis import find_liberty


def test_formats_are_the_fewest_bits() -> None:
    intervals = [
        (-4.0, 3.96875, 1 / 32),
        (0.0, 3.0, 1.0),
        (0.0, 0.0, 1.0),
        (-0.5, 0.25, 0.25),
        (-4.0, -4.0, 1.0),
    ]
    assert formats(intervals) == [(8, 5), (2, 0), (0, 0), (2, 2), (3, 0)]


def test_values_are_encoded_lowest_bit_first() -> None:
    bits = encode_values(np.array([[-0.5, 3.0]]), [(3, 1), (2, 0)])
    assert bits.tolist() == [[1, 1, 1, 1, 1]]
    assert word_widths(130) == [64, 64, 2]


def test_a_pipeline_computes_its_layer(tmp_path: Path) -> None:
    pytest.importorskip("da4ml")
    network = network_of(drawn_network("mlp", "tiny", 1), "mlp")
    design = trace_network(network)
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
        trace_network(network)


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


@pytest.mark.parametrize(("family", "reuse_factor"), [("mlp", 4), ("cnn", 3), ("resnet", 2), ("rnn", 2)])
def test_shared_units_compute_what_the_pipeline_does(tmp_path: Path, family: str, reuse_factor: int) -> None:
    pytest.importorskip("da4ml")
    network = network_of(drawn_fixed_network(family, 4), family)
    design = trace_shared(network, reuse_factor=reuse_factor)
    values = drawn_inputs(design, design.latency_cycles + 40, 0)
    ports = input_words(design, values)
    program = build_reuse(design.verilog, top=TOP, folder=tmp_path / "programs", is_quick=True)
    simulator = Simulator(program)
    try:
        simulator.reset()
        steps = [
            simulator.step({name: int(words[cycle]) for name, words in ports.items()})
            for cycle in range(len(values) * reuse_factor)
        ]
    finally:
        simulator.close()
    outputs = {name: np.array([step[name] for step in steps], np.uint64) for name in program.ports.outputs}
    assert design.interval_cycles == reuse_factor
    assert is_equal(design, values, outputs)
    changed = {name: words ^ np.uint64(1) for name, words in outputs.items()}
    assert not is_equal(design, values, changed)


def test_a_reuse_factor_saves_units_and_costs_cycles(tmp_path: Path) -> None:
    pytest.importorskip("da4ml")
    network = network_of(drawn_fixed_network("cnn", 4), "cnn")
    designs = [trace_shared(network, reuse_factor=factor) for factor in (2, 8)]
    instances = [design.verilog.count("_unit (") for design in designs]
    assert instances[0] > instances[1]
    assert designs[0].latency_cycles < designs[1].latency_cycles
    per_inference = [compiled_columns(network, design)["stage_counts"] for design in designs]
    registers = [np.array(c).reshape(-1, len(FIXED_CATEGORIES))[:, -2].sum() for c in per_inference]
    assert registers[0] < registers[1]


def test_a_shared_network_is_labelled_per_inference(tmp_path: Path) -> None:
    pytest.importorskip("da4ml")
    group = FixedGroup(
        name="reuse", families=("cnn",), is_labelled=True, seed=34, reuse_factors=(8,), networks=1
    )
    (row,) = make_fixed(
        group,
        liberty=find_liberty("osu018"),
        folder=tmp_path / "work",
        cache=ContentCache(folder=tmp_path / "cache"),
        workers=1,
        on_progress=lambda progress: None,
    )
    assert (row.status, row.outputs_equal, row.reuse_factor) == ("ok", True, 8)
    assert row.energy_nj == pytest.approx((row.power_mw or 0) * 8 * 20.0 * 1e-3)


def test_groups_of_pipelines_name_what_they_accept() -> None:
    with pytest.raises(AcceleratorError, match="unknown scale in group one: huge; accepted: small, large"):
        FixedGroup(name="one", scale="huge")
    with pytest.raises(AcceleratorError, match="reuse_factors of group one; accepted: one or more numbers"):
        FixedGroup(name="one", reuse_factors=(2, 0))
