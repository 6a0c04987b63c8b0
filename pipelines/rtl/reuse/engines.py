"""Builders of simulators by name of the engine; all programs have one interface (runner.h, server.h)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from pipelines.rtl.reuse.activity import ActivityEmitter
from pipelines.rtl.reuse.arc_engine import ARC, build_arc
from pipelines.rtl.reuse.batching import batch_text
from pipelines.rtl.reuse.building import (
    FLAGS,
    Closing,
    Source,
    build,
    compile_program,
    find_compiler,
    ports_of,
    read_structure,
    require_rising,
    serve,
)
from pipelines.rtl.reuse.cxxrtl import CXXRTL, build_cxxrtl
from pipelines.rtl.reuse.emission import INCLUDED, Emitter
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.layout import layout_text
from pipelines.rtl.reuse.partition import partition
from pipelines.rtl.reuse.placement import place
from pipelines.rtl.reuse.simulator import Program, Simulator, cycle_cpu_ns
from pipelines.rtl.reuse.verilator import VERILATOR, build_verilator

REUSE = "reuse"
_TRIAL_S = 0.01


def build_reuse(
    verilog: str,
    *,
    top: str,
    folder: Path,
    stimuli: int = 1,
    timeout_s: float = 600.0,
    compiler: str = "",
    is_quick: bool = False,
    is_counting: bool = False,
    threads: int = 1,
    batch: int = 1,
    is_skipping: bool = False,
    is_apart: bool | None = None,
    closing: Closing = serve,
    **source: Unpack[Source],
) -> Program:
    """Build a program by our engine: one evaluator per unique module.

    Several stimuli are lanes of one state, or have a state each. Lanes fill the vector units of a design that
    repeats little; states of their own fit the cache, and each goes its own way where a condition that all
    instances share chooses what to compute.

    Args:   folder: of compiled designs, one file each.
            is_quick: compiled with few optimisations. is_counting: count toggles of every register.
            threads: of runs; each has a part of the design. batch: cycles between exchanges of the parts.
            is_skipping: skip lanes of which nothing changed; excludes the three before.
            is_apart: whether each stimulus has a state; None for the faster of both in a trial. Lanes alone
            have threads, cycles per task, toggle counts and skipping.
            closing: see `building.serve`.
    Raises: RtlError: the design is rejected or does not compile. ToolMissing: no C++ compiler.
    """
    structure = read_structure(verilog, top=top, timeout_s=timeout_s, stimuli=stimuli, **source)
    design = structure.design
    if is_skipping and (is_counting or threads > 1 or batch > 1):
        raise RtlError("activity skipping with toggle counts, threads or cycles per task; accepted: alone")
    of_lanes = {
        "toggle counts": is_counting,
        "activity skipping": is_skipping,
        "several threads": threads > 1,
        "several cycles per task": batch > 1,
    }
    lanes_alone = any(of_lanes.values())
    if is_apart and lanes_alone:
        raise RtlError(
            "states apart with toggle counts, skipping, threads or cycles per task; accepted: lanes"
        )
    if lanes_alone or closing is not serve:
        asked = [name for name, is_asked in of_lanes.items() if is_asked]
        require_rising(design, " and ".join(asked) or "a test bench")
    placement = place(structure)
    compiler = compiler or find_compiler()
    flags = [*FLAGS, *optimisations(compiler, is_quick=is_quick)]

    def program(*, is_apart: bool) -> Program:
        lanes = 1 if is_apart else stimuli
        if is_skipping:
            emitter: Emitter = ActivityEmitter(structure, placement, lanes)
        else:
            emitter = Emitter(structure, placement, lanes, is_counting)
        layout = replace(emitter.layout(), is_apart=is_apart)
        text = _apart_text(emitter.text(), stimuli) if is_apart else emitter.text()
        text += layout_text(layout)
        if threads > 1 or batch > 1:
            if is_counting:
                raise RtlError("toggle counts of several threads or cycles per task; accepted: 1 of each")
            text += batch_text(emitter, partition(structure, threads, batch))
        text += closing(ports_of(design))

        def make(scratch: Path) -> Path:
            return compile_program(text, compiler, scratch=scratch, flags=flags, timeout_s=timeout_s)

        path = build(folder, REUSE, (compiler, *flags, text), make)
        return Program(
            path=path,
            ports=ports_of(design),
            engine=REUSE,
            stimuli=stimuli,
            layout=layout,
            front_end=design.front_end,
        )

    if is_apart is not None or stimuli == 1 or lanes_alone or closing is not serve:
        return program(is_apart=bool(is_apart))
    return min((program(is_apart=False), program(is_apart=True)), key=_trial_ns)


def _apart_text(text: str, stimuli: int) -> str:
    """Return the design for one stimulus, in a state for each."""
    body = text.removeprefix(INCLUDED)
    return f'{INCLUDED}namespace one {{\n{body}}}\n#define APART {stimuli}\n#include "apart.h"\n'


def _trial_ns(program: Program) -> float:
    with contextlib.closing(Simulator(program)) as simulator:
        return cycle_cpu_ns(simulator, run_s=_TRIAL_S)


def optimisations(compiler: str, *, is_quick: bool) -> list[str]:
    """Return the options of a compiler beside `FLAGS`.

    The induction variables of GCC 12 at -O1 give wrong code for a loop over lanes (random design 22, where
    Clang, GCC at other levels, Verilator and CXXRTL agree), so GCC goes without them.
    """
    gcc = [] if Path(compiler).name.startswith("clang") else ["-fno-ivopts"]
    return [*gcc, *(["-O1"] if is_quick else [])]


ENGINES: dict[str, Callable[..., Program]] = {
    REUSE: build_reuse,
    ARC: build_arc,
    VERILATOR: build_verilator,
    CXXRTL: build_cxxrtl,
}
"""Builders by name of the engine."""
