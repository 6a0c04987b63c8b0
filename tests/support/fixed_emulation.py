"""hls4ml's C++ emulation of a network: its generated project, compiled and run in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.fixed.description import describe_network
from pipelines.accelerators.graph import Network
from pipelines.base.sandbox import ConfinedRun, Limits, read_output, run_confined
from pipelines.base.tools import find_tool

_LIMITS = Limits(wall_s=1200.0, cpu_s=120, processes=8)
_MAIN = """#include "firmware/network.cpp"
#include "network_bridge.cpp"
#include <cstdio>

static double inputs[INPUTS], outputs[OUTPUTS];

int main() {
    FILE *from = fopen("inputs", "rb"), *into = fopen("outputs", "wb");
    if (!from || !into) return 1;
    while (fread(inputs, sizeof inputs, 1, from) == 1) {
        network_double(inputs, outputs);
        if (fwrite(outputs, sizeof outputs, 1, into) != 1) return 1;
    }
    return fclose(into);
}
"""


def emulate_network(network: Network, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(samples, outputs) of (samples, inputs), in the order of our tensors, as hls4ml's C++ computes them.

    Raises: AcceleratorError: a layer that is not described to hls4ml, no hls4ml, or its C++ does not compile.
    """
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        project = folder / "project"
        description = describe_network(network, folder=project)
        description.graph.write()
        sizes = (len(description.input_order), len(description.output_order))
        program = _compiled(project, folder / "build", sizes)
        content = np.ascontiguousarray(values[:, description.input_order]).tobytes()
        place = folder / "run"
        _require(
            run_confined(
                [str(program)],
                folder=place,
                readable=[program],
                files={"inputs": content},
                limits=_LIMITS,
            ),
            "the emulation",
        )
        raw = np.frombuffer(read_output(place / "outputs", most_bytes=1 << 28)).reshape(len(values), sizes[1])
    outputs = np.empty_like(raw)
    outputs[:, description.output_order] = raw
    return outputs


def _compiled(project: Path, folder: Path, sizes: Sequence[int]) -> Path:
    """The program: reads rows of doubles from `inputs`, writes rows to `outputs`."""
    for path in (project.parent, project, *project.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    includes = (project, project / "firmware", project / "firmware" / "ap_types")
    flags = ["-O1", "-std=c++17", "-w", f"-DINPUTS={sizes[0]}", f"-DOUTPUTS={sizes[1]}"]
    argv = [find_tool("g++", "g++"), *flags, *(f"-I{path}" for path in includes), "main.cpp", "-o", "program"]
    files = {"main.cpp": _MAIN.encode()}
    run = run_confined(argv, folder=folder, readable=[project], files=files, limits=_LIMITS)
    _require(run, "g++ on hls4ml's C++")
    return folder / "program"


def _require(run: ConfinedRun, what: str) -> None:
    if run.returncode != 0:
        raise AcceleratorError(f"{what} failed: {run.last_words()}")
