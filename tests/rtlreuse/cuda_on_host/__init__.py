"""Programs of the GPU engines on the host: CUDA compiled as C++ with `cuda_runtime.h` of this folder."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from pipelines.rtl.reuse.building import headers, ports_of
from pipelines.rtl.reuse.elaboration import Design
from pipelines.rtl.reuse.simulator import Program

_LAUNCH = re.compile(r"(\w+)<<<([^,>]+), (\w+), 0, [\w.]+>>>\(([^;]*)\);")


def build_on_host(text: str, design: Design, engine: str, stimuli: int, folder: Path) -> Program:
    """Compile the text of a GPU engine for the host. Args: text: with its closing lines."""
    shutil.copy(Path(__file__).parent / "cuda_runtime.h", folder)
    contents = {name: content.decode() for name, content in headers().items()}
    for name, content in {**contents, "design.cpp": text}.items():
        (folder / name).write_text(_LAUNCH.sub(r"launch(\2, \3, [=] { \1(\4); });", content))
    argv = ["g++", "-std=gnu++17", "-O1", "-fno-ivopts", "-w", "-include", "cuda_runtime.h"]
    subprocess.run([*argv, "-I.", "design.cpp", "-o", "design"], cwd=folder, check=True)
    return Program(path=folder / "design", ports=ports_of(design), engine=engine, stimuli=stimuli)
