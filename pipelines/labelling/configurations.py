"""The hardware configurations a program is tried under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from pipelines.cache import ContentCache
from pipelines.hls import (
    TOOL,
    Directive,
    Function,
    HlsError,
    HlsOptions,
    TransformOptions,
    design_id,
    directives_json,
    innermost_loops,
    mapping_space,
    parse_directives,
    read_program,
    tool_version,
)
from pipelines.identity import content_hash
from pipelines.labelling.mapping import MappedConfiguration, MappingSampling, sampled_mappings
from pipelines.schemas import OK, ProgramRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationSpace:
    """A grid of configurations, or a sample of mappings.

    Attributes:
        memory_delays: cycles, of reads and writes.
        write_delay: cycles of writes in all configurations; None for those of reads.
        pipeline: whether innermost loops are pipelined; (False, True) tries both.
        clock_period_ns: period of every schedule.
        unsafe_math: floating sums may be reordered.
        unit_limits: most functional units of a class, as (class, number).
        tools: that make designs, of `TOOLS`; all but the project's own engine without directives.
        sampling: how delays, clock periods and directives of the own engine are drawn; then the grid of
            memory_delays, pipeline, clock_period_ns and write_delay is that of other tools alone. None for
            the grid.
    """

    memory_delays: tuple[int, ...] = (2, 5, 10, 15)
    pipeline: tuple[bool, ...] = (False, True)
    clock_period_ns: float = 10.0
    write_delay: int | None = None
    unsafe_math: bool = False
    unit_limits: tuple[tuple[str, int], ...] = ()
    tools: tuple[str, ...] = (TOOL,)
    sampling: MappingSampling | None = None


def configurations(function: Function, space: ConfigurationSpace, *, liberty: str) -> list[HlsOptions]:
    """Every configuration of the space for one program in the engine, without repeats.

    Args:    space: one without `sampling`.
    Source:  LLMulator section 6.3 and Figure 12 for the delays 2, 5, 10 and 15.
    """
    loops = innermost_loops(function)
    found: dict[HlsOptions, None] = {}
    for delay, pipelined in product(space.memory_delays, space.pipeline):
        directives = tuple(Directive(kind="pipeline", loop=loop) for loop in loops) if pipelined else ()
        options = HlsOptions(
            memory_read_delay_cycles=delay,
            memory_write_delay_cycles=space.write_delay or delay,
            directives=directives,
            clock_period_ns=space.clock_period_ns,
            liberty=liberty,
            transforms=TransformOptions(unsafe_math=space.unsafe_math),
            unit_limits=space.unit_limits,
        )
        found[options] = None
    return list(found)


def plain_configurations(space: ConfigurationSpace, *, liberty: str) -> list[HlsOptions]:
    """The configurations of the space without directives: one a memory delay, the same for all programs."""
    return [
        HlsOptions(
            memory_read_delay_cycles=delay,
            memory_write_delay_cycles=space.write_delay or delay,
            clock_period_ns=space.clock_period_ns,
            liberty=liberty,
        )
        for delay in dict.fromkeys(space.memory_delays)
    ]


def sampled_configurations(
    function: Function, space: ConfigurationSpace, sampling: MappingSampling, program_id: str, *, liberty: str
) -> list[HlsOptions]:
    """Mappings of one program drawn from its legal space, without repeats; the first has no directives.

    Args: program_id: what the draw depends on beside the seed, see `mapping.sampled_mappings`.
    """
    legal = mapping_space(function, unsafe_math=space.unsafe_math, copy_limit=sampling.copy_limit)
    return [_options(m, space, liberty) for m in sampled_mappings(legal, sampling, program_id)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFault:
    """A fault of the engine in finding the configurations of a program."""

    reason: str


def program_configurations(
    program: ProgramRow, space: ConfigurationSpace, *, liberty: str, cache: ContentCache
) -> list[HlsOptions] | str | EngineFault:
    """Every configuration of a program in the engine, or why the front end refuses it, or what broke.

    Both are remembered, for reading a program and finding its legal space take a while.

    Raises: HlsError: the space has a value that the engine does not accept.
    """
    key = _key(program, space)
    stored = cache.get("configurations", key)
    if stored is None:
        try:
            stored = _found(program, space)
        except HlsError:
            raise
        except Exception as error:  # a fault of the engine costs one program, not the run, and is tried again
            return EngineFault(reason=f"the engine failed: {type(error).__name__}: {error}")
        cache.put("configurations", key, stored)
    if isinstance(stored, str):
        return stored
    return [_options(_mapped(one), space, liberty) for one in stored]


def planned_ids(
    program: ProgramRow, space: ConfigurationSpace, *, liberty: str, cache: ContentCache
) -> set[str]:
    """Ids of the designs of the engine that a space asks for; of a refused program that of its one row.

    Raises: HlsError: the space has a value that the engine does not accept.
    """
    if program.status != OK:
        return set()
    own = program_configurations(program, space, liberty=liberty, cache=cache)
    if not isinstance(own, list):
        own = [refused_configuration(space, liberty=liberty)]
    return {design_id(program, one) for one in own}


def refused_configuration(space: ConfigurationSpace, *, liberty: str) -> HlsOptions:
    """What the one row of a program without configurations says."""
    return HlsOptions(clock_period_ns=space.clock_period_ns, liberty=liberty)


def _key(program: ProgramRow, space: ConfigurationSpace) -> str:
    return content_hash(program.program_id, tool_version(), _VERSION, asdict(space))


_VERSION = "configurations-1"
"""Of what is remembered; a new one for every change here or in `mapping.py` that changes a draw."""


def _found(program: ProgramRow, space: ConfigurationSpace) -> list[dict[str, Any]] | str:
    try:
        function = read_program(program.source, top=program.top, file=f"{program.name}.c")
    except HlsError as error:
        return str(error)
    if space.sampling is None:
        made = configurations(function, space, liberty="")
    else:
        made = sampled_configurations(function, space, space.sampling, program.program_id, liberty="")
    return _stored(made)


def _stored(made: Sequence[HlsOptions]) -> list[dict[str, Any]]:
    return [
        {
            "read_delay_cycles": one.memory_read_delay_cycles,
            "write_delay_cycles": one.memory_write_delay_cycles,
            "clock_period_ns": one.clock_period_ns,
            "directives": directives_json(one.directives),
        }
        for one in made
    ]


def _mapped(stored: Mapping[str, Any]) -> MappedConfiguration:
    return MappedConfiguration(
        read_delay_cycles=stored["read_delay_cycles"],
        write_delay_cycles=stored["write_delay_cycles"],
        clock_period_ns=stored["clock_period_ns"],
        directives=parse_directives(stored["directives"]),
    )


def _options(mapped: MappedConfiguration, space: ConfigurationSpace, liberty: str) -> HlsOptions:
    return HlsOptions(
        memory_read_delay_cycles=mapped.read_delay_cycles,
        memory_write_delay_cycles=mapped.write_delay_cycles,
        directives=mapped.directives,
        clock_period_ns=mapped.clock_period_ns,
        liberty=liberty,
        transforms=TransformOptions(unsafe_math=space.unsafe_math),
        unit_limits=space.unit_limits,
    )
