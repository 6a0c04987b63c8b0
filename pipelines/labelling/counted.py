"""A design's cycles, checked against native C, without logic synthesis: what a directive search asks for."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.cache import ContentCache
from pipelines.hls import HlsOptions, read_interface
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.own_designs import OwnDesign, compile_design
from pipelines.labelling.scratch import scratch_folder
from pipelines.programs import draw_data
from pipelines.schemas import OK, DesignRow, DirectiveOutcomeRow, ProgramRow, RunRow


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedDesign:
    """What high-level synthesis and one run gave; `run` is None when there is no design to run."""

    design: DesignRow
    outcomes: tuple[DirectiveOutcomeRow, ...]
    run: RunRow | None


def count_design(
    program: ProgramRow, configuration: HlsOptions, *, cache: ContentCache, options: LabelOptions
) -> CountedDesign:
    """Compile a program under one configuration and count its cycles on the first data set.

    Returns: rows; a failure is a status. The run is ok only when every output equals native C.
    Raises:  ProgramError, ToolMissing, SimulatorError, OSError: the data or a tool are not there.
    """
    attempt, compiled = compile_design(program, configuration, cache)
    if attempt.design.status != OK:
        return CountedDesign(design=attempt.design, outcomes=attempt.outcomes, run=None)
    interface = read_interface(program.source, program.top)
    seed = options.data_seeds[0]
    made = OwnDesign(
        program=program,
        design=attempt.design,
        interface=interface,
        cache=cache,
        options=options,
        made=[] if compiled is None else [compiled],
    )
    with scratch_folder(cache) as builds:
        run = made.run(draw_data(interface, program.inputs, seed=seed), seed=seed, builds=builds)
    return CountedDesign(design=attempt.design, outcomes=attempt.outcomes, run=run)
