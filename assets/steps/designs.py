"""Designs: every program under every configuration, through high-level synthesis."""

from __future__ import annotations

from dataclasses import asdict

from assets.engines import BAMBU, CIRCT, HLS, LABELLING
from assets.label_settings import (
    Hls,
    Labelling,
    Synthesis,
    label_context,
    read_unit_limits,
    require_libraries,
    target_of,
)
from assets.settings import Listener, Settings
from assets.step import Output, Step, read_rows
from assets.suites import BY_SUITE
from pipelines.base.identity import content_hash
from pipelines.dataset.labelling import (
    ConfigurationSpace,
    MappingSampling,
    designs_version,
    liberty_name,
    plan_designs,
    require_tools,
)
from pipelines.hls import later_delays


def configuration_space(settings: Settings) -> ConfigurationSpace:
    """Return the configurations of every program."""
    hls = settings.group(Hls)
    sampling = MappingSampling(
        count=hls.samples,
        seed=hls.seed,
        read_delays=hls.memory_delay,
        write_delays=hls.memory_delay if hls.write_delay is None else (hls.write_delay,),
        clock_periods_ns=hls.clock_periods_ns or (hls.clock_period_ns,),
        plain_share=hls.plain_share,
        copy_limit=hls.copy_limit,
        added_cells_limit=hls.added_cells_limit,
        bank_limit=hls.bank_limit,
        varied_share=hls.varied_share,
    )
    return ConfigurationSpace(
        memory_delays=hls.memory_delay,
        pipeline=hls.pipeline,
        clock_period_ns=hls.clock_period_ns,
        write_delay=hls.write_delay,
        unsafe_math=hls.unsafe_math,
        unit_limits=read_unit_limits(hls.unit_limits),
        tools=settings.group(Labelling).tools,
        sampling=sampling if hls.sampling == "latin_hypercube" else None,
    )


def make_designs(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make every program of a suite under every configuration, through high-level synthesis."""
    tables = plan_designs(
        read_rows(settings, "programs", partition),
        configuration_space(settings),
        context=label_context(settings),
        on_progress=listen,
    )
    return Output(rows={"designs": tables.designs, "directive_outcomes": tables.directive_outcomes})


def _version(settings: Settings, partition: str) -> str:
    del partition
    space = configuration_space(settings)
    liberty = liberty_name(target_of(settings))
    return content_hash(designs_version(space.tools), asdict(space), liberty, *later_delays(liberty))


def require_hls_tools(settings: Settings) -> None:
    """Check that tools and cell libraries of the configuration are there.

    Raises: ToolMissing, SynthesisError: one is not. FoundryError: a library is named twice.
    """
    require_tools(settings.group(Labelling).tools)
    require_libraries(settings)


STEP = Step(
    name="designs",
    description="Every program under every configuration, through high-level synthesis.",
    run=make_designs,
    tables=("designs", "directive_outcomes"),
    reads=("programs",),
    partitioned=BY_SUITE,
    pool="hls",
    configuration={"hls": Hls, "synthesis": Synthesis, "labelling": Labelling},
    parameters=("hls", "labelling.tools", "labelling.tool_timeout_s", "synthesis.liberty"),
    engines=(HLS, LABELLING, BAMBU, CIRCT),
    version=_version,
    require=require_hls_tools,
)
