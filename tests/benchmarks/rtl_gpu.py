"""Programs for a measurement of the GPU engines on another machine, which has a GPU but not this project.

    python -m tests.benchmarks.rtl_gpu FOLDER
    python3 FOLDER/measure.py FOLDER RESULTS.json

The first command writes sources and expected digests of the CPU engine; stimuli are drawn from a seed. The
second one is `rtl_gpu_measure`. A row of `plan.json` is a design of a size, a number of stimuli, an engine
and a variant; the most valuable stand first.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipelines.rtl.reuse import Simulator, build_reuse
from pipelines.rtl.reuse.building import CLOSING, headers, ports_of
from pipelines.rtl.reuse.cuda import Launching, cuda_text
from pipelines.rtl.reuse.designs import FAMILIES, DesignSource, gemm
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.emission import Emitter
from pipelines.rtl.reuse.gpu_engines import BATCH, divided_text
from pipelines.rtl.reuse.harnesses import verilator_harness
from pipelines.rtl.reuse.layout import layout_text
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.sides import CPU, GPU, Divider, Division
from pipelines.rtl.reuse.simulator import RESET_CYCLES, reset_level
from pipelines.rtl.reuse.structure import analyse, words_of
from pipelines.rtl.reuse.verilator import OPTIONS, find_verilator
from tests.benchmarks import rtl_gpu_measure
from tests.benchmarks.harness import options_parser

SEED = 3
CHECKPOINTS = {1: (16, 40, 500, 5000), 64: (16, 40, 500), 1024: (16, 40), 4096: (16, 40)}
"""Cycles after which digests are compared, by stimuli; some are not whole batches: single steps follow."""
CUDA_VARIANTS = {
    "graph": (BATCH, Launching.GRAPH),
    "graph of 1": (1, Launching.GRAPH),
    "stream": (BATCH, Launching.STREAM),
    "loop": (BATCH, Launching.LOOP),
}
Case = tuple[str, int, int, str, str]

CASES: list[Case] = [
    *(
        ("gemm", 1024, 1, *engine)
        for engine in (("cuda", "graph"), ("reuse", ""), ("verilator", ""), ("cuda", "loop"))
    ),
    *(
        (design, 8192, 1, *engine)
        for design in ("gemm", "conv2d")
        for engine in (("cuda", "graph"), ("cuda", "loop"), ("reuse", ""), ("verilator", ""))
    ),
    *(
        ("gemmini", 2048, 1, *engine)
        for engine in (("cuda", "graph"), ("cuda", "loop"), ("reuse", ""), ("verilator", ""))
    ),
    *(("gemm", 1024, n, *engine) for n in (64, 1024, 4096) for engine in (("cuda", "graph"), ("reuse", ""))),
    *(("gemm", size, 1, "cuda", variant) for size in (1024, 8192) for variant in ("stream", "graph of 1")),
    ("gemmini", 2048, 1, "cuda", "stream"),
    *(
        (design, size, n, *engine)
        for design, size, n in (
            ("soc_32", 2048, 1),
            ("soc_32", 2048, 64),
            ("soc_4", 2048, 1),
            ("soc_32", 128, 1),
        )
        for engine in (("hetero", "cores on the processor"), ("reuse", ""), ("cuda", "graph"))
    ),
    *(("gemmini", 2048, 64, *engine) for engine in (("cuda", "graph"), ("reuse", ""))),
    *(("gemm", size, 1, *engine) for size in (4096, 512) for engine in (("cuda", "loop"), ("reuse", ""))),
]
TINY: list[Case] = [
    ("gemm", 64, 1, "cuda", "graph"),
    ("gemm", 64, 64, "cuda", "stream"),
    ("gemm", 1024, 1, "cuda", "loop"),
    ("soc_4", 16, 1, "hetero", "cores on the processor"),
]
"""For compute-sanitizer."""


def source_of(design: str, size: int) -> DesignSource:
    """A design by its number of elements."""
    if design != "gemm":
        return FAMILIES[design](size)
    rows = 1 << (size.bit_length() - 1) // 2
    return gemm(rows, size // rows)


def cores_on_the_processor(plan: Divider) -> Division:
    """Blocks with memories on the processor, with the top; elements of arrays on the GPU, as in the paper."""
    lanes = plan.structure.lanes
    sides = {
        name: CPU if block.memories or len(lanes[name]) == 1 else GPU for name, block in plan.blocks.items()
    }
    return plan.judge({unit: sides[unit.block] for unit in plan.units})


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A design of a size with some stimuli: its structure, texts and expected digests."""

    design: str
    size: int
    stimuli: int
    programs: Path

    @cached_property
    def verilog(self) -> str:
        """Its text."""
        return source_of(self.design, self.size).verilog

    @cached_property
    def emitter(self) -> Emitter:
        """The design, analysed and placed."""
        structure = analyse(elaborate(read_verilog(self.verilog, top="top", timeout_s=600)))
        return Emitter(structure, place(structure), self.stimuli, is_counting=False)

    def text(self, engine: str, variant: str) -> str:
        """The translation unit of an engine of ours."""
        emitter = self.emitter
        if engine == "hetero":
            return divided_text(emitter, cores_on_the_processor, on_gpu=True)
        if engine == "reuse":
            return emitter.text() + layout_text(emitter.layout()) + CLOSING
        batch, launching = CUDA_VARIANTS[variant]
        text = cuda_text(
            emitter.structure, emitter.placement, stimuli=self.stimuli, batch=batch, launching=launching
        )
        return text + CLOSING

    @cached_property
    def protocol(self) -> dict[str, Any]:
        """What `measure` needs to drive it and to compare outputs."""
        design = self.emitter.structure.design
        levels = [reset_level(port) if width == 1 else None for port, _, width in words_of(design.inputs)]
        program = build_reuse(
            self.verilog, top="top", folder=self.programs, stimuli=self.stimuli, is_quick=self.stimuli > 1
        )
        simulator, checks, before = Simulator(program), [], 0
        for cycles in CHECKPOINTS[self.stimuli]:
            digests = simulator.run(cycles - before, seed=SEED).digests
            checks.append([cycles, hashlib.sha256(digests.tobytes()).hexdigest()[:16]])
            before = cycles
        simulator.close()
        lanes = self.emitter.structure.lanes
        operations = sum(
            len(lanes[name]) * sum(len(phase.order) for phase in found)
            for name, found in self.emitter.phases.items()
        )
        return {
            "seed": SEED,
            "pulse": [0 if level is None else RESET_CYCLES for level in levels],
            "active": [level or 0 for level in levels],
            "outputs": len(words_of(design.outputs)),
            "operations": operations,
            "checks": checks,
        }


def verilate(subject: Subject, folder: Path) -> None:
    """The C++ of Verilator with its harness, as an archive."""
    root, executable = find_verilator()
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch, "model")
        Path(scratch, "design.v").write_text(subject.verilog)
        argv = [str(executable), *OPTIONS, "--prefix", "Vdesign", "--top-module", "top", "--Mdir", "model"]
        subprocess.run(
            [*argv, "design.v"],
            cwd=scratch,
            check=True,
            env={"VERILATOR_ROOT": str(root)},
            capture_output=True,
        )
        text = verilator_harness(ports_of(subject.emitter.structure.design), subject.stimuli)
        (model / "harness.cpp").write_text(text)
        for path in model.iterdir():
            if path.suffix not in (".cpp", ".h"):
                path.unlink()
        with tarfile.open(folder / "model.tar.gz", "w:gz") as archive:
            archive.add(model, ".")
    include = folder.parents[1] / "verilator"
    if not include.exists():
        shutil.copytree(root / "include", include, ignore=shutil.ignore_patterns("gtkwave", "*fst*", "*vcd*"))


def rows(out: Path, cases: list[Case], *, is_tiny: bool) -> Iterator[dict[str, Any]]:
    """Write the programs of cases."""
    subjects: dict[tuple[str, int, int], Subject] = {}
    with tempfile.TemporaryDirectory(prefix="simulators-") as programs:
        for design, size, stimuli, engine, variant in cases:
            start = time.monotonic()
            parts = ("tiny" if is_tiny else "", design, size, stimuli, engine, variant)
            name = "-".join(str(part) for part in parts if part).replace(" ", "_")
            subject = subjects.setdefault(
                (design, size, stimuli),
                Subject(design=design, size=size, stimuli=stimuli, programs=Path(programs)),
            )
            folder = out / name
            folder.mkdir(parents=True)
            kind = {"verilator": "verilator", "reuse": "cxx"}.get(engine, "nvcc")
            if engine == "verilator":
                verilate(subject, folder)
            else:
                file = folder / ("design.cpp" if kind == "cxx" else "design.cu")
                file.write_text(subject.text(engine, variant))
            yield {
                "name": name,
                "design": design,
                "pes": size,
                "stimuli": stimuli,
                "engine": engine,
                "variant": variant,
                "kind": kind,
                "is_tiny": is_tiny,
                **subject.protocol,
            }
            print(f"{name} {time.monotonic() - start:.1f} s", flush=True)


def prepare(out: Path, only: str) -> None:
    """Write everything below a folder; what was prepared there before is replaced."""
    if out.exists() and any(out.iterdir()) and not (out / "plan.json").is_file():
        raise SystemExit(f"{out} is neither empty nor prepared by this command")
    shutil.rmtree(out, ignore_errors=True)
    (out / "headers").mkdir(parents=True)
    for name, content in headers().items():
        (out / "headers" / name).write_bytes(content)
    shutil.copy(rtl_gpu_measure.__file__, out / "measure.py")
    plan: list[dict[str, Any]] = []
    for cases, is_tiny in ((TINY, True), (CASES, False)):
        chosen = [case for case in cases if only in f"{case[0]}-{case[1]}-"]
        plan += rows(out / "programs", chosen, is_tiny=is_tiny)
    (out / "plan.json").write_text(json.dumps(plan, indent=1))
    print(f"{sum(f.stat().st_size for f in out.rglob('*') if f.is_file()) / 1e6:.1f} MB")


def main() -> None:
    """Read the command line."""
    parser = options_parser(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="part of DESIGN-SIZE-")
    options = parser.parse_args()
    prepare(options.out, options.only)


if __name__ == "__main__":
    main()
