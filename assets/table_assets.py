"""The assets: one a table; tables that one engine call makes stand in one multi_asset."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import dagster as dg

from assets.execution import run_step
from assets.resources import FoundryResource, ProgressResource
from assets.specs import asset_arguments
from assets.versions import recorded_hashes

Results = Iterator[dg.MaterializeResult[Any]]
ProgressSink: TypeAlias = dg.ResourceParam[ProgressResource]


@dg.multi_asset(**asset_arguments("programs"))
def make_programs(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """C programs with their top function and input data specification."""
    yield from run_step(context, "programs", foundry, progress)


@dg.multi_asset(**asset_arguments("designs"))
def make_designs(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Every program under every configuration, through high-level synthesis."""
    yield from run_step(context, "designs", foundry, progress)


@dg.multi_asset(**asset_arguments("labels"))
def make_labels(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Area, flip-flops, delay and cycles of every design, checked against native C."""
    yield from run_step(context, "labels", foundry, progress)


@dg.multi_asset(**asset_arguments("features"))
def make_features(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Facts and loop nests of programs, and control/data-flow graphs of designs."""
    yield from run_step(context, "features", foundry, progress)


@dg.multi_asset(**asset_arguments("splits"))
def make_splits(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """The frozen split, over the programs of all suites."""
    yield from run_step(context, "splits", foundry, progress)


@dg.multi_asset(**asset_arguments("stage_reports"))
def make_stage_reports(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Programs asked, made and refused, and their distributions, by stage of generation."""
    yield from run_step(context, "stage_reports", foundry, progress)


@dg.multi_asset(**asset_arguments("records"))
def make_record_table(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Labelled designs as text for language models: prompts, and completions with and without reasoning."""
    yield from run_step(context, "records", foundry, progress)


@dg.multi_asset(**asset_arguments("network"))
def make_networks(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Simulated networks: runs, flows, and flows at queues, with estimates by theory beside them."""
    yield from run_step(context, "network", foundry, progress)


@dg.multi_asset(**asset_arguments("pragmas"))
def make_explorations(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Searches for directives: each design that was tried, its bound and its measured latency."""
    yield from run_step(context, "pragmas", foundry, progress)


@dg.multi_asset(**asset_arguments("models"))
def make_models(
    context: dg.AssetExecutionContext, foundry: FoundryResource, progress: ProgressSink
) -> Results:
    """Predictors trained on the split and registered, and their rows of the leaderboard."""
    hashes = recorded_hashes(foundry.settings().deployment)
    tags = {f"dvc.{path}": value for path, value in hashes.items()}
    yield from run_step(context, "models", foundry, progress, tags=tags)


TABLE_ASSETS = [
    make_programs,
    make_designs,
    make_labels,
    make_features,
    make_splits,
    make_stage_reports,
    make_record_table,
    make_networks,
    make_explorations,
    make_models,
]
