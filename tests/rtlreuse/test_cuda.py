"""CUDA text: run on the host, it gives the outputs of the CPU engine; nvcc accepts it; no GPU is needed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipelines.base.tools import ToolMissing
from pipelines.rtl.reuse import Simulator, build_reuse
from pipelines.rtl.reuse.building import CLOSING
from pipelines.rtl.reuse.cuda import THREADS, Launching, cuda_text
from pipelines.rtl.reuse.designs import FAMILIES
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.gpu_engines import find_nvcc, nvcc_step
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.structure import Structure, analyse
from tests.rtlreuse.cuda_on_host import build_on_host


def structure_of(family: str, size: int) -> Structure:
    return analyse(elaborate(read_verilog(FAMILIES[family](size).verilog, top="top")))


def text_of(structure: Structure, stimuli: int, launching: Launching = Launching.GRAPH) -> str:
    text = cuda_text(structure, place(structure), stimuli=stimuli, batch=4, launching=launching)
    return text + CLOSING


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("family", "size", "stimuli", "launching"),
    [
        ("gemm_os", 5, 1, Launching.GRAPH),
        ("sigma", 16, 3, Launching.GRAPH),
        ("gemmini", 16, 1, Launching.GRAPH),
        ("conv2d", 32, 1, Launching.STREAM),
        ("soc_4", 16, 2, Launching.STREAM),
        ("mesh", 2, 130, Launching.GRAPH),
    ],
)
def test_outputs_equal_those_of_the_cpu_engine(
    family: str, size: int, stimuli: int, launching: Launching, programs: Path, folder_for_all: Path
) -> None:
    """Whole batches and single steps, drawn and given inputs, with and without traces."""
    structure = structure_of(family, size)
    text = text_of(structure, stimuli, launching)
    on_host = build_on_host(text, structure.design, "cuda", stimuli, folder_for_all)
    verilog = FAMILIES[family](size).verilog
    whole = Simulator(build_reuse(verilog, top="top", folder=programs, stimuli=stimuli, is_apart=False))
    gpu = Simulator(on_host)
    for cycles in (1, 33, 64):
        assert gpu.run(cycles, seed=2).digests.tolist() == whole.run(cycles, seed=2).digests.tolist()
        expected = whole.run(cycles, seed=2, is_traced=True)
        actual = gpu.run(cycles, seed=2, is_traced=True)
        for name in ("inputs", "outputs", "digests"):
            assert (getattr(actual, name) == getattr(expected, name)).all(), name
    assert expected.inputs is not None
    assert (gpu.play(expected.inputs).digests == whole.play(expected.inputs).digests).all()
    assert gpu.step() == whole.step()


@pytest.mark.parametrize("stimuli", [1, 3])
def test_a_cycle_has_a_thread_per_lane(stimuli: int) -> None:
    structure = structure_of("conv2d", 32)
    text = text_of(structure, stimuli)
    jobs = re.findall(
        r"lanes = (\d+) \* THREADS; \(void\)lanes;\n\s+if \(lane < (\d+)\) g\d+_\d+\(st, cur, lane", text
    )
    assert jobs
    assert all(int(blocks) * THREADS >= int(lanes) for blocks, lanes in jobs)
    lanes = {int(lanes) for _, lanes in jobs}
    assert {stimuli * extent for extent in place(structure).extents.values()} <= lanes


@pytest.mark.parametrize("launching", Launching)
def test_nvcc_accepts_the_text(launching: Launching, folder_for_all: Path) -> None:
    try:
        find_nvcc()
    except ToolMissing:
        pytest.skip("nvcc is not installed")
    text = text_of(structure_of("conv2d", 32), 2, launching)
    flags = ["-std=c++17", "-ptx", "-arch=sm_90"]
    ptx = nvcc_step(text, flags, "design.ptx", scratch=folder_for_all, timeout_s=300).read_text()
    entries = re.findall(r"\.entry _Z\d+(\w+?)P", ptx)
    assert len(entries) == len(set(entries))
    assert "loop_kernel" in entries if launching is Launching.LOOP else len(entries) > 3
