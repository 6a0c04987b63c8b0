"""The RTL computes integer inference; counts and hierarchy are those of commands and Verilog."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from pipelines.accelerators import AcceleratorError, Hardware, hierarchy, network_of, read_hardware
from pipelines.accelerators.dataset import drawn_hardware
from pipelines.accelerators.networks import FAMILIES, drawn_network
from pipelines.accelerators.systolic.compilation import compile_layer
from pipelines.accelerators.systolic.execution import Bench, run_layer, run_network
from pipelines.accelerators.systolic.instructions import Stream, count_commands, count_stream
from pipelines.accelerators.systolic.quantise import integer_layer, quantise, run_integer
from pipelines.accelerators.systolic.tiling import jobs_of
from pipelines.accelerators.systolic.verilog import CORE, core_verilog
from pipelines.rtl.reuse.netlist import read_verilog


@pytest.mark.parametrize("flow", ["weight", "output"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_rtl_equals_integer_inference(bench: Bench, family: str, flow: str) -> None:
    integer = quantise(network_of(drawn_network(family, "tiny", 3), family), bench.hardware)
    runs = run_network(bench, integer, flow=flow, is_traced=False)
    assert runs
    assert all(run.is_equal for run in runs)
    assert all(run.jobs[0].results.any() for run in runs)


def test_a_difference_of_one_is_seen(bench: Bench) -> None:
    integer = quantise(network_of(drawn_network("mlp", "tiny", 1), "mlp"), bench.hardware)
    layer = integer.layers[0]
    expected = integer_layer(layer, [integer.sample], bench.hardware, integer.network.opset)
    expected[0, 0] += 1
    assert not run_layer(bench, layer, [integer.sample], expected, flow="weight", is_traced=False).is_equal


def test_integer_convolution_equals_torch() -> None:
    hardware = Hardware()
    integer = quantise(network_of(drawn_network("mobilenet", "small", 1), "mobilenet"), hardware)
    values = run_integer(integer, hardware)
    convolutions = [layer for layer in integer.layers if layer.layer.kind == "conv"]
    assert {layer.layer.groups > 1 for layer in convolutions} == {True, False}
    for layer in convolutions:
        outputs, _, high, wide = layer.layer.weight_shape
        channels = layer.layer.in_shapes[0][1]
        dense = layer.weights.reshape(high, wide, channels, outputs).transpose(3, 2, 0, 1)
        image, weight = (
            torch.from_numpy(v.astype(np.float64)) for v in (values[layer.layer.inputs[0]], dense)
        )
        pads, strides = layer.layer.pads, layer.layer.strides
        sums = (
            torch.nn.functional.conv2d(image, weight, stride=strides, padding=pads[:2])
            .numpy()
            .astype(np.int64)
        )
        biased = sums + layer.bias[:, None, None]
        scaled = biased * layer.scale.factor + (1 << (layer.scale.shift - 1)) >> layer.scale.shift
        expected = np.clip(scaled, layer.scale.low, layer.scale.high)
        assert (expected == values[layer.layer.output]).all()


@pytest.mark.parametrize("number", range(4))
def test_counts_equal_those_of_the_listed_commands(number: int) -> None:
    hardware = drawn_hardware(5, number, is_small=True)
    for family in FAMILIES:
        network = network_of(drawn_network(family, "tiny", number, has_data=False), family)
        for layer in (layer for layer in network.layers if layer.kind != "host"):
            for flow in hardware.flows():
                job = jobs_of(layer, hardware, flow)
                commands = Stream(hardware=hardware, job=job).commands()
                assert count_commands(job, hardware) == count_stream(commands, hardware)


def test_the_hierarchy_is_that_of_the_verilog(bench: Bench) -> None:
    hardware = bench.hardware
    netlist = read_verilog(core_verilog(hardware), top=CORE)
    elaborated: Counter[str] = Counter()
    stack = [CORE]
    while stack:
        for cell in netlist.modules[stack.pop()].cells:
            if cell.kind in netlist.modules:
                stack.append(cell.kind)
                elaborated[_plain(cell.kind)] += 1
    ours = Counter(
        module.kind.split("_ws")[0].split("_wos")[0].split("_os")[0] for module in hierarchy(hardware)
    )
    del ours["memory"]
    assert elaborated == ours


def _plain(name: str) -> str:
    """A module's name without its parameters: `$paramod$hash\\mesh` or `$paramod\\mesh\\ROWS=...`."""
    return next(part for part in name.split("\\") if not part.startswith("$"))


def test_read_hardware_rejects_unknown_keys_and_wrong_values(tmp_path: Path) -> None:
    file = tmp_path / "h.yaml"
    file.write_text("row: 4\n")
    with pytest.raises(AcceleratorError, match=r"unknown key: row .*accepted: rows, columns"):
        read_hardware(file)
    file.write_text("scratchpad_rows: 100\n")
    with pytest.raises(AcceleratorError, match=r"scratchpad_rows: 100 \(.*\); accepted: powers of two"):
        read_hardware(file)
    with pytest.raises(AcceleratorError, match="cannot read the hardware"):
        read_hardware(tmp_path / "none.yaml")


def test_rows_beyond_256_are_addressed(tmp_path: Path) -> None:
    hardware = Hardware(
        rows=2, columns=2, dataflow="both", scratchpad_rows=1024, accumulator_rows=1024, accumulator_banks=2
    )
    bench = Bench(hardware, tmp_path)
    integer = quantise(network_of(drawn_network("mlp", "tiny", 3), "mlp"), hardware)
    for flow in hardware.flows():
        assert all(run.is_equal for run in run_network(bench, integer, flow=flow, is_traced=False))


@pytest.mark.parametrize("flow", ["weight", "output"])
def test_cycles_timed_by_command_are_those_of_the_rtl(bench: Bench, flow: str) -> None:
    for family in ("mlp", "cnn", "bert"):
        integer = quantise(network_of(drawn_network(family, "tiny", 3), family), bench.hardware)
        for run in run_network(bench, integer, flow=flow, is_traced=False):
            timed = compile_layer(run.layer, bench.hardware, flow).estimated_cycles
            assert timed == pytest.approx(run.cycles, rel=0.04, abs=4)
