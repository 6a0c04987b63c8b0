"""The engines `cuda` (all on a GPU) and `hetero` (divided), and a division that runs without a GPU."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Unpack

from pipelines.base.tools import ToolMissing
from pipelines.rtl.reuse.building import (
    CLOSING,
    FLAGS,
    Source,
    build,
    compile_program,
    find_compiler,
    headers,
    ports_of,
    read_structure,
    require_rising,
    run_step,
)
from pipelines.rtl.reuse.cuda import Launching, cuda_text
from pipelines.rtl.reuse.emission import Emitter
from pipelines.rtl.reuse.hetero import hetero_text
from pipelines.rtl.reuse.layout import layout_text
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.sides import Divider, Division
from pipelines.rtl.reuse.simulator import Program
from pipelines.rtl.reuse.structure import Structure

CUDA, HETERO = "cuda", "hetero"
BATCH = 16
"""Cycles of a CUDA graph."""
_GPU = Path("/dev/nvidia0")
_NVCC_FLAGS = ("-std=c++17", "-O3", "-arch=native", "-cudart=static", "-Xcompiler=-march=native,-fno-ivopts")


def build_cuda(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 1200.0,
    batch: int = BATCH,
    launching: Launching = Launching.GRAPH,
    **source: Unpack[Source],
) -> Program:
    """Build the whole design on a GPU, in graphs of several cycles.

    Args:   launching: see `cuda_text`.
    Raises: RtlError: the design is rejected. ToolMissing: there is no GPU, or no nvcc.
    """
    require_gpu(CUDA)
    structure = read_structure(verilog, top=top, timeout_s=timeout_s, stimuli=stimuli, **source)
    require_rising(structure.design, f"engine {CUDA}")
    text = cuda_text(structure, place(structure), stimuli=stimuli, batch=batch, launching=launching)
    return _compile_cuda(text + CLOSING, structure, CUDA, stimuli, folder, timeout_s)


def build_hetero(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 1200.0,
    divide: Callable[[Divider], Division] = Divider.divide,
    on_gpu: bool = True,
    **source: Unpack[Source],
) -> Program:
    """Build the design divided between the processor and a GPU.

    Args:   divide: chooses sides.
            on_gpu: False = both sides on the processor, each with a state of its own.
    Raises: RtlError: the design is rejected. ToolMissing: there is no GPU, or no nvcc.
    """
    if on_gpu:
        require_gpu(HETERO)
    structure = read_structure(verilog, top=top, timeout_s=timeout_s, stimuli=stimuli, **source)
    require_rising(structure.design, f"engine {HETERO}")
    emitter = Emitter(structure, place(structure), stimuli, is_counting=False)
    text = divided_text(emitter, divide, on_gpu=on_gpu)
    if on_gpu:
        return _compile_cuda(text, structure, HETERO, stimuli, folder, timeout_s)
    compiler = find_compiler()

    def make(scratch: Path) -> Path:
        return compile_program(text, compiler, scratch=scratch, flags=FLAGS, timeout_s=timeout_s)

    path = build(folder, HETERO, (compiler, text), make)
    return Program(
        path=path,
        ports=ports_of(structure.design),
        engine=HETERO,
        stimuli=stimuli,
        layout=emitter.layout(),
        front_end=structure.design.front_end,
    )


def divided_text(emitter: Emitter, divide: Callable[[Divider], Division], *, on_gpu: bool) -> str:
    """Return the translation unit of a divided design."""
    divider = Divider(emitter)
    sides = hetero_text(divider, divide(divider), on_gpu=on_gpu)
    return emitter.text() + layout_text(emitter.layout()) + sides + CLOSING


def require_gpu(engine: str) -> None:
    """Refuse an engine on a machine without GPU. Raises: ToolMissing."""
    if not _GPU.exists():
        raise ToolMissing(f"engine {engine} needs an NVIDIA GPU with its driver: there is no {_GPU}")


def gpu_devices() -> list[Path]:
    """Return the device files that a program on a GPU opens."""
    return sorted(Path("/dev").glob("nvidia*"))


def find_nvcc() -> Path:
    """Find nvcc of PyPI's nvidia-cuda-nvcc, else that of /usr/local/cuda, else the one on PATH.

    Raises: ToolMissing: none is installed.
    """
    package = importlib.util.find_spec("nvidia")
    folders = [] if package is None else [Path(p) for p in package.submodule_search_locations or ()]
    found = [path for folder in folders for path in sorted(folder.glob("*/bin/nvcc"))]
    found.append(Path("/usr/local/cuda/bin/nvcc"))
    on_path = shutil.which("nvcc")
    found += [Path(on_path)] if on_path else []
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        raise ToolMissing("nvcc not found; pip install 'simfoundry[cuda]' or install the CUDA toolkit")
    return path.resolve()


def nvcc_step(text: str, flags: Sequence[str], output: str, *, scratch: Path, timeout_s: float) -> Path:
    """Compile a translation unit by nvcc, confined.

    Raises: RtlError: it does not compile.
    """
    nvcc = find_nvcc()
    root = nvcc.parent.parent
    includes = [f"-I{path}" for path in root.parent.glob("*/include")] if root.parent.name == "nvidia" else []
    folder = run_step(
        [str(nvcc), *flags, *includes, "design.cu", "-o", output],
        scratch=scratch,
        readable=[root.parent if includes else root],
        contents={**headers(), "design.cu": text.encode()},
        timeout_s=timeout_s,
    )
    return folder / output


def _compile_cuda(
    text: str, structure: Structure, engine: str, stimuli: int, folder: Path, timeout_s: float
) -> Program:
    def make(scratch: Path) -> Path:
        return nvcc_step(text, _NVCC_FLAGS, "design", scratch=scratch, timeout_s=timeout_s)

    path = build(folder, engine, (str(find_nvcc()), *_NVCC_FLAGS, text), make)
    return Program(
        path=path,
        ports=ports_of(structure.design),
        engine=engine,
        stimuli=stimuli,
        devices=tuple(gpu_devices()),
        front_end=structure.design.front_end,
    )
