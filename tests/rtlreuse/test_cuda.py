"""CUDA text: every lane is evaluated, and nvcc accepts it where it is installed; no GPU is needed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

from pipelines.rtlreuse.building import CLOSING, headers
from pipelines.rtlreuse.cuda import THREADS, cuda_text
from pipelines.rtlreuse.designs import FAMILIES
from pipelines.rtlreuse.elaboration import elaborate
from pipelines.rtlreuse.netlist import read_verilog
from pipelines.rtlreuse.placement import place
from pipelines.rtlreuse.structure import Structure, analyse


@pytest.fixture(scope="module")
def structure() -> Structure:
    return analyse(elaborate(read_verilog(FAMILIES["conv2d"](32).verilog, top="top")))


@pytest.mark.parametrize("stimuli", [1, 3])
def test_a_cycle_launches_every_lane(stimuli: int, structure: Structure) -> None:
    placement = place(structure)
    text = cuda_text(structure, placement, stimuli=stimuli, batch=4)
    cycle = text[text.index("static void launch_cycle") :]
    launches = re.findall(r"(g\d+_\d+)<<<(\d+), THREADS, 0, stream>>>\(state, (\d+), (\d+)\)", cycle)
    assert all(int(blocks) * THREADS >= (int(hi) - int(lo)) * stimuli for _, blocks, lo, hi in launches)
    blocks = structure.design.blocks
    stateful = [name for name, block in blocks.items() if block.registers or block.memories]
    lanes = {int(hi) - int(lo) for _, _, lo, hi in launches}
    assert {placement.extents[name] for name in stateful} <= lanes
    assert "enum { BATCH = 4" in text
    assert cycle.index("set_inputs_kernel") < cycle.index("get_outputs_kernel") < cycle.index("flip_kernel")


def test_nvcc_accepts_the_text(structure: Structure, tmp_path: Path) -> None:
    package = importlib.util.find_spec("nvidia")
    folders = list(package.submodule_search_locations or ()) if package else []
    compilers = [path for folder in folders for path in Path(folder).glob("*/bin/nvcc")]
    if not compilers:
        pytest.skip("nvcc of PyPI's nvidia-cuda-nvcc is not installed")
    for name, content in headers().items():
        (tmp_path / name).write_bytes(content)
    text = cuda_text(structure, place(structure), stimuli=2, batch=2) + CLOSING
    (tmp_path / "design.cu").write_text(text)
    includes = [f"-I{path}" for folder in folders for path in Path(folder).glob("*/include")]
    argv = [
        str(compilers[0]),
        "-std=c++17",
        "-ptx",
        "-arch=sm_80",
        *includes,
        "design.cu",
        "-o",
        "design.ptx",
    ]
    run = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    entries = re.findall(r"\.entry _Z\d+(g\d+_\d+)P", (tmp_path / "design.ptx").read_text())
    assert len(entries) == len(set(entries)) > 3
