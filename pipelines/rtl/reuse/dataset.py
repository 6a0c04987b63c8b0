"""Simulations as rows: designs of families by every engine, with digests that must agree."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.tools import ToolMissing, stopwatch
from pipelines.base.validation import Count
from pipelines.base.workers import Outcome, ProgressCallback, run_all
from pipelines.rtl.reuse.building import VERSION
from pipelines.rtl.reuse.designs import FAMILIES, DesignSource
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.engines import ENGINES, VERILATOR
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.simulator import Simulator, cycle_cpu_ns
from pipelines.rtl.reuse.state import PLAIN_STATE
from pipelines.rtl.reuse.structure import Structure, analyse
from pipelines.schemas import OK, TOOL_ERROR, SimulationRow

STEP = "simulations"
_KIND, _ENGINES = "simulations", "engines"
_MEASURED = (
    "program_bytes",
    "state_bytes",
    "build_cpu_s",
    "machine",
    "build_wall_s",
    "run_wall_s",
)
_FEATURES = (
    *("instances", "blocks", "nodes", "instance_nodes", "register_bits", "memory_bits"),
    *("input_bits", "output_bits", "levels", "copied_words"),
)
WIRE = "module top (input a, output b); assign b = a; endmodule"
"""The smallest design, with which a runtime is compiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationGroup:
    """Simulations of one kind.

    Attributes: sizes: by family of `designs.FAMILIES`.
    """

    name: str
    sizes: Mapping[str, tuple[Count, ...]]
    engines: tuple[str, ...] = ("reuse",)
    cycles: Count = 10_000
    stimuli: Annotated[int, Field(ge=1, le=4096)] = 1
    seeds: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        for kind, names, accepted in (("family", self.sizes, FAMILIES), ("engine", self.engines, ENGINES)):
            for name in names:
                if name not in accepted:
                    raise RtlError(f"unknown {kind}: {name}; accepted: {', '.join(accepted)}")
        if min(self.cycles, self.stimuli, *(s for sizes in self.sizes.values() for s in sizes)) < 1:
            raise RtlError(f"cycles, stimuli or size below 1 in group {self.name}; accepted: 1 or more")


def group_key(group: SimulationGroup) -> str:
    """Return the hash of all that the rows of a group follow from."""
    return content_hash(VERSION, asdict(group))


def make_simulations(
    group: SimulationGroup, *, cache: ContentCache, workers: int, on_progress: ProgressCallback
) -> list[SimulationRow]:
    """Simulate the designs of a group by all its engines; what an engine rejects is a row."""
    designs = [(family, size) for family, sizes in group.sizes.items() for size in sizes]
    made = run_all(
        STEP,
        designs,
        partial(_rows_of_design, group=group, cache=cache),
        workers=workers,
        in_threads=False,
        on_progress=on_progress,
    )
    rows = [SimulationRow(**row) for rows in made for row in rows]
    return sorted(rows, key=lambda row: row.simulation_id)


def _rows_of_design(
    draw: tuple[str, int], *, group: SimulationGroup, cache: ContentCache
) -> Outcome[list[dict[str, Any]]]:
    family, size = draw
    key = content_hash(VERSION, family, size, group.engines, group.cycles, group.stimuli, group.seeds)
    folder = cache.folder / _ENGINES
    rows: list[dict[str, Any]] = cache.cached(
        _KIND, key, lambda: simulate_design(family, size, group, folder), list
    )
    failed = any(row["status"] != OK for row in rows)
    return Outcome(result=rows, failed=failed, name=f"{family} {size}")


def simulate_design(
    family: str, size: int, group: SimulationGroup, folder: Path, *, engines: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return the rows of a design. folder: of compiled designs. engines: empty for the group's."""
    source = FAMILIES[family](size)
    text = hashlib.sha256(source.verilog.encode()).hexdigest()
    features = design_features(source)
    rows: list[dict[str, Any]] = []
    for engine in engines or group.engines:
        for seed in group.seeds:
            key = content_hash(VERSION, text, engine, group.cycles, group.stimuli, seed)
            rows.append(
                {
                    "simulation_id": key,
                    "design": text,
                    "family": family,
                    "design_size": size,
                    "engine": engine,
                    "cycles": group.cycles,
                    "stimuli": group.stimuli,
                    "seed": seed,
                    **features,
                    **_result(source, engine, seed, group, folder),
                }
            )
    return rows


def _result(
    source: DesignSource, engine: str, seed: int, group: SimulationGroup, folder: Path
) -> dict[str, Any]:
    """Return status, digest and measured figures of one simulation; the simulator is built anew."""
    figures = dict.fromkeys(("digest", *_MEASURED))
    if engine == VERILATOR:  # its runtime is compiled once per machine
        ENGINES[engine](WIRE, top="top", folder=folder)
    start = stopwatch()
    try:
        program = ENGINES[engine](source.verilog, top=source.top, folder=folder, stimuli=group.stimuli)
    except (RtlError, ToolMissing) as error:
        return {**figures, "status": TOOL_ERROR, "reason": str(error)}
    built = stopwatch()
    try:
        simulator = Simulator(program)
        result = simulator.run(group.cycles, seed=seed)
        return {
            "status": OK,
            "reason": None,
            "digest": content_hash([f"{int(d):x}" for d in result.digests]),
            "program_bytes": program.bytes,
            "state_bytes": state_bytes(simulator),
            "build_cpu_s": None,
            "cycle_cpu_ns": cycle_cpu_ns(simulator),
            "machine": machine(),
            "build_wall_s": built - start,
            "run_wall_s": result.wall_s,
        }
    finally:
        program.path.unlink(missing_ok=True)  # so that the time of the next build is measured


def state_bytes(simulator: Simulator) -> int | None:
    """Return the size of the state; None where it lies behind pointers."""
    return simulator.state_bytes if simulator.program.engine in PLAIN_STATE else None


def machine() -> str:
    """Return the name of the processor and its cores."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").is_file() else ""
    names = re.findall(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def design_features(source: DesignSource) -> dict[str, int | None]:
    """Return the sizes of a design that speed and build time follow from; none when our engine rejects it."""
    try:
        return {**verilog_features(source.verilog, source.top)}
    except RtlError:
        return dict.fromkeys(_FEATURES)


def verilog_features(verilog: str, top: str) -> dict[str, int]:
    """Return the features of a Verilog design.

    Raises: RtlError: the design is rejected.
    """
    structure = analyse(elaborate(read_verilog(verilog, top=top)))
    moves = [m for m in place(structure).moves if m.source is not None]
    return {**_sizes(structure), "levels": structure.highest_level, "copied_words": len(moves)}


def _sizes(structure: Structure) -> dict[str, int]:
    blocks = structure.design.blocks
    counts = {name: len(lanes) for name, lanes in structure.lanes.items()}
    bits = {n: sum(r.width for r in b.registers) for n, b in blocks.items()}
    words = {n: sum(m.width * m.size for m in b.memories) for n, b in blocks.items()}
    return {
        "instances": len(structure.instances),
        "blocks": len(blocks),
        "nodes": sum(len(b.nodes) for b in blocks.values()),
        "instance_nodes": sum(len(b.nodes) * counts[n] for n, b in blocks.items()),
        "register_bits": _weighted(bits, counts),
        "memory_bits": _weighted(words, counts),
        "input_bits": sum(structure.design.inputs.values()),
        "output_bits": sum(structure.design.outputs.values()),
    }


def _weighted(sizes: Mapping[str, int], counts: Mapping[str, int]) -> int:
    return sum(size * counts[name] for name, size in sizes.items())


def differing_digests(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return runs of one design, seed and length whose engines gave different outputs; one sentence each."""
    runs: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in rows:
        if row["status"] == OK:
            key = tuple(row[name] for name in ("design", "cycles", "stimuli", "seed"))
            runs.setdefault(key, {})[row["engine"]] = row["digest"]
    return [
        f"outputs of {', '.join(sorted(digests))} differ: design {key[0][:12]}, seed {key[3]}"
        for key, digests in runs.items()
        if len(set(digests.values())) > 1
    ]
