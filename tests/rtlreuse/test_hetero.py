"""A design in two sides: equal outputs, what crosses, and what the model of times does; no GPU is needed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.base.tools import ToolMissing
from pipelines.rtl.reuse import Simulator, build_reuse
from pipelines.rtl.reuse.designs import FAMILIES
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.emission import Emitter
from pipelines.rtl.reuse.gpu_engines import (
    build_cuda,
    build_hetero,
    divided_text,
    find_nvcc,
    nvcc_step,
)
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.sides import CPU, GPU, Costs, Divider, Division
from pipelines.rtl.reuse.structure import analyse
from tests.rtlreuse.cuda_on_host import build_on_host

MIXED = Costs(cpu_operation=1.0, gpu_operation=1.0, launch=30.0, exchange=20.0, byte=0.01)
"""A GPU that pays already for small designs, so that they are divided."""


def divider(family: str, size: int, costs: Costs | None = None, stimuli: int = 1) -> Divider:
    structure = analyse(elaborate(read_verilog(FAMILIES[family](size).verilog, top="top")))
    return Divider(Emitter(structure, place(structure), stimuli, is_counting=False), costs)


def drawn(seed: int) -> Callable[[Divider], Division]:
    """Any division is correct, so sides are drawn."""

    def divide(plan: Divider) -> Division:
        draw = random.Random(seed)
        return plan.judge(
            {unit: side for group in plan.groups for side in [draw.randrange(2)] for unit in group}
        )

    return divide


def modelled(plan: Divider) -> Division:
    return Divider(plan.emitter, MIXED).divide()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "size", "stimuli", "divide"),
    [
        ("gemm_os", 5, 1, modelled),
        ("soc_4", 16, 2, modelled),
        ("mesh", 2, 1, drawn(1)),
        ("sigma", 16, 3, drawn(3)),
        ("conv2d", 16, 1, drawn(2)),
    ],
)
def test_outputs_do_not_depend_on_the_division(
    family: str, size: int, stimuli: int, divide: Callable[[Divider], Division], programs: Path
) -> None:
    """Both sides compiled for the processor, each with a state of its own."""
    found = divide(divider(family, size, stimuli=stimuli))
    assert set(found.side_of.values()) == {CPU, GPU}
    assert found.crossings
    text = FAMILIES[family](size).verilog
    options = {"top": "top", "folder": programs, "stimuli": stimuli}
    divided = Simulator(build_hetero(text, **options, divide=divide, on_gpu=False))
    whole = Simulator(build_reuse(text, **options))
    for cycles in (150, 33):
        expected = whole.run(cycles, seed=2, is_traced=True)
        actual = divided.run(cycles, seed=2, is_traced=True)
        assert expected.outputs is not None
        assert actual.outputs is not None
        assert (actual.outputs == expected.outputs).all()
        assert actual.digests.tolist() == expected.digests.tolist()
    assert divided.step() == whole.step()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "size", "stimuli", "seed"), [("soc_4", 16, 2, 1), ("mesh", 2, 1, 2), ("gemm_os", 5, 130, 3)]
)
def test_cuda_of_a_division_on_the_host(
    family: str, size: int, stimuli: int, seed: int, programs: Path, folder_for_all: Path
) -> None:
    plan = divider(family, size, stimuli=stimuli)
    text = divided_text(plan.emitter, drawn(seed), on_gpu=True)
    divided = Simulator(build_on_host(text, plan.structure.design, "hetero", stimuli, folder_for_all))
    verilog = FAMILIES[family](size).verilog
    whole = Simulator(build_reuse(verilog, top="top", folder=programs, stimuli=stimuli, is_apart=False))
    for cycles in (40, 7):
        assert divided.run(cycles, seed=2).digests.tolist() == whole.run(cycles, seed=2).digests.tolist()
    assert divided.step() == whole.step()


def test_every_word_that_a_side_reads_is_its_own_or_crosses() -> None:
    plan = divider("soc_4", 16, MIXED)
    found = plan.divide()
    crossing = {(c.side, c.word) for c in found.crossings}
    for unit, side in found.side_of.items():
        for word in plan.reads[unit]:
            writer = found.side_of[plan.writer[word]]
            assert writer == side or (writer, word) in crossing
    assert all(found.side_of[plan.writer[c.word]] == c.side for c in found.crossings)


def test_units_of_a_memory_stay_together() -> None:
    plan = divider("soc_4", 16, MIXED)
    found = plan.divide()
    for block, content in plan.blocks.items():
        if content.memories:
            assert len({side for unit, side in found.side_of.items() if unit.block == block}) == 1


def test_lanes_fill_the_gpu_and_cores_stay_on_the_processor() -> None:
    """An SoC whose array has many stimuli: the array goes to the GPU; a small design stays whole."""
    plan = divider("soc_4", 64, Costs(cpu_operation=0.5, launch=200.0, exchange=300.0), stimuli=256)
    lanes = {block: len(slots) for block, slots in plan.structure.lanes.items()}
    array = max(lanes, key=lambda block: lanes[block])
    state = next(unit for unit in plan.units if unit.block == array and plan.is_state(unit))
    assert plan.divide().side_of[state] == GPU
    assert set(divider("soc_4", 16).divide().side_of.values()) == {CPU}


def test_division_is_no_worse_than_either_side_and_no_worse_than_single_moves() -> None:
    plan = divider("gemm_os", 4, MIXED)
    found = plan.divide()
    for side in (CPU, GPU):
        assert found.cycle_ns <= plan.judge(dict.fromkeys(plan.units, side)).cycle_ns
    for unit in plan.units:
        moved = {**found.side_of, unit: 1 - found.side_of[unit]}
        assert found.cycle_ns <= plan.judge(moved).cycle_ns


def test_nvcc_accepts_a_divided_design(tmp_path: Path) -> None:
    try:
        find_nvcc()
    except ToolMissing:
        pytest.skip("nvcc is not installed")
    plan = divider("soc_4", 16, MIXED, stimuli=2)
    text = divided_text(plan.emitter, modelled, on_gpu=True)
    tmp_path.chmod(0o755)
    flags = ["-std=c++17", "-ptx", "-arch=sm_80"]
    ptx = nvcc_step(text, flags, "design.ptx", scratch=tmp_path, timeout_s=300).read_text()
    entries = re.findall(r"\.entry _Z\d+(\w+?)P", ptx)
    assert {"pack_kernel1", "set_inputs_kernel", "flip_kernel"} <= set(entries)


@pytest.mark.parametrize("build", [build_cuda, build_hetero])
def test_engines_of_a_gpu_need_one(build: object, tmp_path: Path) -> None:
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    assert callable(build)
    with pytest.raises(ToolMissing, match=r"^engine \w+ needs an NVIDIA GPU with its driver: there is no "):
        build("module top; endmodule", top="top", folder=tmp_path)
