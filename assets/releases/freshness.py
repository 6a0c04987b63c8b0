"""Whether tables are those that params.yaml asks for."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa

from assets.errors import FoundryError
from assets.label_settings import label_options, target_of
from assets.settings import Settings
from assets.step import unchanged_rows
from assets.steps import step_named
from assets.steps.network import Network
from assets.steps.pragmas import present_explorations
from pipelines.base.workers import Outcome, run_all
from pipelines.dataset.labelling import (
    ConfigurationSpace,
    Labelling,
    liberty_name,
    planned_ids,
)
from pipelines.hls import TOOL, tool_version
from pipelines.network.runs import RunGroup, runs_of
from pipelines.schemas import (
    DRAWN,
    OK,
    ProgramRow,
    is_lasting,
    read_arrow,
    read_table,
    scan_table,
    table_path,
    table_spec,
)

_COMPARED = ("programs", "designs", "labels", "runs")
_STALE = "table {} of {} must be made under params.yaml, got other rows; run `simfoundry run` again"


def require_fresh(settings: Settings, tables: Container[str]) -> None:
    """Check that the tables are those that params.yaml asks for, as far as the present engines know.

    Raises: FoundryError: they are not; the run was ended, or params.yaml changed after it.
    """
    if "designs" in tables:
        _require_fresh_designs(settings)
    for group in settings.group(Network).groups.values() if "network_runs" in tables else ():
        if _is_stale(settings, group):
            raise FoundryError(_STALE.format("network_runs", group.name))
    step = step_named("fabric")
    for name in step.partitions(settings) if "placements" in tables else ():
        is_there = table_path(settings.deployment.data_dir, table_spec("placements"), name).is_file()
        if is_there and unchanged_rows(settings, step.inputs_key(settings, name), name) is None:
            raise FoundryError(_STALE.format("placements", name))
    path = table_path(settings.deployment.data_dir, table_spec("pragma_designs"), "all")
    if "pragma_designs" in tables and path.is_file():
        rows = read_table(settings.deployment.data_dir, table_spec("pragma_designs"), ["all"])
        if {row.exploration_id for row in rows} != present_explorations(settings):
            raise FoundryError(_STALE.format("pragma_designs", "all"))


def _require_fresh_designs(settings: Settings) -> None:
    data_dir = settings.deployment.data_dir
    seeds = pl.LazyFrame({"seed": sorted(label_options(settings).data_seeds)}, schema={"seed": pl.Int64})
    for partition in step_named("designs").partitions(settings):
        paths = [table_path(data_dir, table_spec(t), partition) for t in _COMPARED]
        if not all(path.is_file() for path in paths):
            continue  # an error when the release is written
        programs = read_table(data_dir, table_spec("programs"), [partition])
        designs = read_table(data_dir, table_spec("designs"), [partition])
        own = {d.design_id for d in designs if d.tool == TOOL}
        is_present = all(d.tool_version == tool_version() for d in designs if d.tool == TOOL)
        if (
            is_present
            and TOOL in settings.group(Labelling).tools
            and own != _planned_designs(programs, settings)
        ):
            raise FoundryError(_STALE.format("designs", partition))
        runs, labels = (scan_table(data_dir, table_spec(t), [partition]) for t in ("runs", "labels"))
        ok = labels.filter(pl.col("status") == OK).select("design_id").unique()
        drawn = runs.filter(pl.col("data_kind").is_null() | (pl.col("data_kind") == DRAWN))
        labelled = drawn.join(ok, on="design_id", how="semi").select("design_id", "seed").unique()
        expected = ok.join(seeds, how="cross")
        pairs = [rows.sort("design_id", "seed").collect() for rows in (labelled, expected)]
        if not pairs[0].equals(pairs[1]):
            raise FoundryError(_STALE.format("runs", partition))


def _is_stale(settings: Settings, group: RunGroup) -> bool:
    """Tell whether a group of networks was made of other options, or by another version.

    Files are known again by their hash; a group with failures, which is tried again, by its configurations.
    """
    if (
        unchanged_rows(settings, step_named("network").inputs_key(settings, group.name), group.name)
        is not None
    ):
        return False
    path = table_path(settings.deployment.data_dir, table_spec("network_runs"), group.name)
    if not path.is_file():
        return False  # an error when the release is written
    rows = read_arrow(path)
    asked = {run.configuration() for run in runs_of(group)}
    return have_lasting_runs(rows) or set(rows.column("configuration").to_pylist()) != asked


def have_lasting_runs(runs: pa.Table) -> bool:
    """Tell whether every run of a table has a status that a repetition does not change."""
    return all(map(is_lasting, set(runs.column("status").to_pylist())))


def _planned_designs(programs: Sequence[Any], settings: Settings) -> set[str]:
    """Return the ids of the designs of the engine that the configuration asks for."""
    space, liberty = settings.group(ConfigurationSpace), liberty_name(target_of(settings))
    plan = partial(_planned_of, space=space, liberty=liberty, cache=settings.cache)
    return set().union(*run_all("configurations", programs, plan, workers=label_options(settings).workers))


def _planned_of(program: ProgramRow, **chosen: Any) -> Outcome[set[str]]:
    return Outcome(result=planned_ids(program, **chosen), failed=False, name=program.name)
