"""Programs: C sources with their top function and input data specification."""

from __future__ import annotations

from assets.engines import HLS, PROGRAMS, VARIANTS
from assets.language_models import Llm, make_variants, usage_notes
from assets.settings import Listener, Settings
from assets.step import Output, Step
from assets.steps.splits import EVALUATION_APART
from assets.suites import BY_SUITE, Ast, Dataflow, Programs, options_of_shard, shard_named, suite_options
from pipelines.programs import LLM, cached_programs


def make_programs(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the programs of a suite, or of a shard of it."""
    shard = shard_named(partition, settings.configuration)
    if shard.suite == LLM:
        variants = make_variants(settings, listen)
        return Output(rows={"programs": variants.rows}, notes=usage_notes(variants.usage))
    options = options_of_shard(suite_options(settings), shard)
    return Output(rows={"programs": cached_programs(shard.suite, options, settings.cache)})


STEP = Step(
    name="programs",
    description="C programs with their top function and input data specification.",
    run=make_programs,
    tables=("programs",),
    partitioned=BY_SUITE,
    configuration={"programs": Programs, "ast": Ast, "dataflow": Dataflow, "llm": Llm},
    parameters=("programs", "ast", "dataflow", "llm"),
    engines=(HLS, PROGRAMS, VARIANTS),
    files=("conf/prompts",),
    checks={"programs": [EVALUATION_APART]},
)
