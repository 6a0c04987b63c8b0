"""Designs: every program under every configuration, through high-level synthesis."""

from __future__ import annotations

from assets.engines import BAMBU, CIRCT, HLS, LABELLING
from assets.label_settings import label_context, require_libraries, target_of
from assets.settings import Listener, Settings
from assets.step import Output, Step, read_rows
from assets.suites import BY_SUITE
from pipelines.base.identity import content_hash
from pipelines.dataset.labelling import (
    ConfigurationSpace,
    Labelling,
    RegisteredSynthesis,
    designs_version,
    liberty_name,
    plan_designs,
    require_tools,
    space_in_keys,
)
from pipelines.hls import later_delays


def make_designs(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make every program of a suite under every configuration, through high-level synthesis."""
    tables = plan_designs(
        read_rows(settings, "programs", partition),
        settings.group(ConfigurationSpace),
        context=label_context(settings),
        on_progress=listen,
    )
    return Output(rows={"designs": tables.designs, "directive_outcomes": tables.directive_outcomes})


def _version(settings: Settings, partition: str) -> str:
    del partition
    space, tools = settings.group(ConfigurationSpace), settings.group(Labelling).tools
    liberty = liberty_name(target_of(settings))
    return content_hash(designs_version(tools), space_in_keys(space, tools), liberty, *later_delays(liberty))


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
    configuration={"hls": ConfigurationSpace, "synthesis": RegisteredSynthesis, "labelling": Labelling},
    parameters=("hls", "labelling.tools", "labelling.tool_timeout_s", "synthesis.liberty"),
    engines=(HLS, LABELLING, BAMBU, CIRCT),
    version=_version,
    require=require_hls_tools,
)
