"""Assets of the steps, with checks, partitions, retries and pools, and the bodies that run them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from assets.checks import PROBLEM_LIMIT, CheckedFile, CheckRule, general_rules, open_file
from assets.cluster import fanout_of
from assets.errors import explain, explain_fully, is_permanent
from assets.histograms import histograms
from assets.resources import FoundryResource, ProgressResource
from assets.settings import Configuration, Nightly, Settings
from assets.step import SKIPPED, Markdown, Partitioning, Step, StepSummary
from assets.steps import STEPS, makers_of
from pipelines.schemas import TableSpec, table_path, table_spec

OWNER = "team:simfoundry"
STALE_AFTER = timedelta(days=7)
"""Age from which the UI shows a table as not fresh."""
INTERRUPTED = "interrupted; the next run resumes its work"
TOOL_RETRY = dg.RetryPolicy(max_retries=2, delay=1.0, backoff=dg.Backoff.EXPONENTIAL)
"""A tool that crashed is tried again; bad input, a missing tool and a full disk are not."""

Results = Iterator[dg.MaterializeResult[Any]]


def build_assets(configuration: Configuration, nightly: Nightly | None = None) -> list[dg.AssetsDefinition]:
    """Build the assets of every step, with the partitions of a configuration.

    Args: nightly: when automation makes the sources; the default hour unless given.
    """
    kinds = {step.partitioned.name: step.partitioned for step in STEPS}
    partitions = {name: _partitions(kind, configuration) for name, kind in kinds.items()}
    return [build_asset(step, partitions[step.partitioned.name], nightly) for step in STEPS]


def _partitions(kind: Partitioning, configuration: Configuration) -> dg.PartitionsDefinition[Any] | None:
    return None if kind.is_whole else dg.StaticPartitionsDefinition(list(kind.names(configuration)))


def build_asset(
    step: Step, partitions: dg.PartitionsDefinition[Any] | None, nightly: Nightly | None = None
) -> dg.AssetsDefinition:
    """Build the assets of a step, which one op makes; see `build_assets`."""
    when = nightly or Nightly()

    @dg.multi_asset(
        name=f"make_{step.name}",
        description=step.description,
        specs=[asset_spec(key, step, when) for key in step.assets],
        check_specs=[spec for table in step.tables for spec in check_specs(step, table, partitions)],
        partitions_def=partitions,
        retry_policy=TOOL_RETRY,
        pool=step.pool,
        op_tags={"simfoundry/stage": step.stage},
        can_subset=True,
    )
    def make(
        context: dg.AssetExecutionContext,
        foundry: FoundryResource,
        progress: dg.ResourceParam[ProgressResource],
    ) -> Results:
        yield from run_step(context, step, foundry, progress)

    return make


def run_step(
    context: dg.AssetExecutionContext, step: Step, foundry: FoundryResource, progress: ProgressResource
) -> Results:
    """Make a step's tables for the partition of the run, and give a result with checks for each asset.

    Raises: dagster.Failure: trying again cannot help; the description is one line for a person.
    """
    with explained_failures():
        settings = foundry.settings()
        is_keyed = context.has_partition_key and not step.partitioned.is_whole
        partition = context.partition_key if is_keyed else step.partitions(settings)[0]
        title = step.title(partition)
        with _reported(progress, title) as notes:
            with fanout_of(settings) as fanout:
                summary = step.make(settings, partition, progress.listener(title, context.log.info))
            summary = replace(summary, notes={**summary.notes, **fanout.notes()})
            notes |= summary.notes
            chosen = context.selected_asset_keys
            yield from (r for r in _results(settings, step, summary) if r.asset_key in chosen)


def _results(settings: Settings, step: Step, summary: StepSummary) -> Results:
    """Yield the metadata that Dagster keeps of each asset of a step."""
    notes = {name: _shown(value) for name, value in summary.notes.items()}
    results = {table: _table_result(settings, step, table, summary) for table in step.tables}
    if step.asset is None:
        for table, (metadata, checks) in results.items():
            yield dg.MaterializeResult(
                asset_key=dg.AssetKey(table), metadata={**metadata, **notes}, check_results=checks
            )
        return
    rows = {f"{table} rows": metadata["dagster/row_count"] for table, (metadata, _) in results.items()}
    checks = [check for _, outcomes in results.values() for check in outcomes]
    yield dg.MaterializeResult(
        asset_key=dg.AssetKey(step.asset), metadata={**rows, **notes}, check_results=checks
    )


def _shown(value: Any) -> Any:
    return dg.MetadataValue.md(value) if isinstance(value, Markdown) else value


def _table_result(
    settings: Settings, step: Step, table: str, summary: StepSummary
) -> tuple[dict[str, Any], list[dg.AssetCheckResult]]:
    """Return metadata of a table that was just written (counts, failures, plots) and its check results."""
    file = open_file(settings, table, summary.partition)
    path = table_path(settings.deployment.data_dir, table_spec(table), summary.partition)
    metadata = {**_row_counts(settings, step, table, summary), "path": dg.MetadataValue.path(str(path))}
    failures = {key[1:]: n for key, n in summary.failures.items() if key[0] == table}
    metadata["failed_fraction"] = sum(failures.values()) / max(summary.rows[table], 1)
    if failures:
        lines = [f"* {n} × {status}: {reason}" for (status, reason), n in failures.items()]
        metadata["failures"] = dg.MetadataValue.md("\n".join(lines))
    plots = histograms(file.content, step.plots.get(table, ()))
    metadata |= {label: dg.MetadataValue.md(plot) for label, plot in plots.items()}
    return metadata, check_results(file, step.asset)


def _row_counts(settings: Settings, step: Step, table: str, summary: StepSummary) -> dict[str, Any]:
    """Return the rows of the table and, where it has partitions, of the partition that was just written.

    The table has the rows of the files on disk now: partitions that are not made yet have none.
    """
    own = summary.rows[table]
    if step.partitioned.is_whole:
        return {"dagster/row_count": own}
    folder, spec = settings.deployment.data_dir, table_spec(table)
    total = sum(rows_of_file(table_path(folder, spec, name)) for name in step.partitions(settings))
    return {"dagster/row_count": total, "dagster/partition_row_count": own}


def rows_of_file(path: Path) -> int:
    """Return rows of a table file; 0 when it is not there or damaged, which the step that reads it says."""
    try:
        state = path.stat()
        return _counted_rows(path, state.st_ino, state.st_mtime_ns)
    except (pa.ArrowException, OSError):
        return 0


@lru_cache(maxsize=100_000)
def _counted_rows(path: Path, *state: int) -> int:
    """Return the rows of a file in one state: a run asks for every file again after every partition."""
    del state
    return int(pq.read_metadata(path).num_rows)


def rules_of(table: str) -> tuple[CheckRule, ...]:
    """Return the rules of a table, blocking ones first: its declaration's and its steps'."""
    own = (rule for step in makers_of(table) for rule in step.checks.get(table, ()))
    return tuple(sorted((*general_rules(table), *own), key=lambda rule: not rule.blocking))


def check_results(file: CheckedFile, asset: str | None = None) -> list[dg.AssetCheckResult]:
    """Return the outcome of every rule of a table.

    Args: asset: key of the asset that the checks belong to; the table's own unless given.
    """
    results: list[dg.AssetCheckResult] = []
    for rule in rules_of(file.table):
        problems = rule.problems(file)
        results.append(
            dg.AssetCheckResult(
                check_name=_check_name(asset, file.table, rule),
                asset_key=asset or file.table,
                passed=not problems,
                severity=dg.AssetCheckSeverity.ERROR if rule.blocking else dg.AssetCheckSeverity.WARN,
                description="; ".join(problems[:PROBLEM_LIMIT]) or None,
                metadata={"problems": len(problems)},
            )
        )
    return results


@contextmanager
def explained_failures() -> Iterator[None]:
    """Turn an error that trying again cannot mend into a Failure without retries.

    An interruption too: Dagster would follow the retry policy and begin the step anew.
    """
    try:
        yield
    except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError) as error:
        raise dg.Failure(description=INTERRUPTED, allow_retries=False) from error
    except Exception as error:
        if isinstance(error, dg.Failure) or not is_permanent(error):
            raise
        raise dg.Failure(description=explain(error), allow_retries=False) from error


@contextmanager
def _reported(progress: ProgressResource, title: str) -> Iterator[dict[str, Any]]:
    """Say how a step ended; the notes of its summary are put into what is given."""
    failure: str | None = INTERRUPTED
    notes: dict[str, Any] = {}
    try:
        yield notes
        failure = None
    except Exception as error:
        failure = explain_fully(error)
        raise
    finally:
        progress.ended(title, failure=failure, skipped=notes.get(SKIPPED))


# ---- specifications --------------------------------------------------------------------------------


def asset_spec(key: str, step: Step, nightly: Nightly) -> dg.AssetSpec:
    """Return an asset of a step: group, description, columns with units, and what it is made from."""
    sources = {asset: None for table in step.reads for asset in _assets_of(table)}
    if step.asset is not None:
        kinds = {"mlflow"} if step.stage == "models" else {"html"}
        return dg.AssetSpec(
            key=key,
            group_name=step.stage,
            description=step.description,
            deps=list(sources),
            kinds=kinds,
            **_common(step, nightly),
        )
    spec = table_spec(key)
    return dg.AssetSpec(
        key=key,
        group_name=step.stage,
        description=f"{spec.description}\n\nKey: {', '.join(spec.key)}.",
        deps=list(sources),
        kinds={"parquet"},
        metadata={"dagster/column_schema": column_schema(spec), "dagster/table_name": spec.name},
        **_common(step, nightly),
    )


def _common(step: Step, nightly: Nightly) -> dict[str, Any]:
    """Return owner, tags, freshness and automation of every asset of a step.

    Automation makes sources at the hour of the nightly run and the others after what they read. It is off
    until somebody switches its sensor on in the UI.
    """
    at_night = dg.AutomationCondition.on_cron(nightly.cron, nightly.time_zone)
    return {
        "owners": [OWNER],
        "tags": {"simfoundry/stage": step.stage, "simfoundry/step": step.name},
        "automation_condition": dg.AutomationCondition.eager() if step.reads else at_night,
        "freshness_policy": dg.FreshnessPolicy.time_window(fail_window=STALE_AFTER),
    }


def _assets_of(table: str) -> tuple[str, ...]:
    """Return the keys of the assets that hold rows of a table."""
    return tuple(step.asset or table for step in makers_of(table))


def check_specs(
    step: Step, table: str, partitions: dg.PartitionsDefinition[Any] | None = None
) -> list[dg.AssetCheckSpec]:
    """Return the checks of a table; with partitions, each partition keeps its own outcome."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # partitioned checks
        return [
            dg.AssetCheckSpec(
                name=_check_name(step.asset, table, rule),
                asset=step.asset or table,
                description=rule.description,
                blocking=rule.blocking,
                partitions_def=partitions,
            )
            for rule in rules_of(table)
        ]


def _check_name(asset: str | None, table: str, rule: CheckRule) -> str:
    return rule.name if asset is None else f"{table}_{rule.name}"


def column_schema(spec: TableSpec) -> dg.TableSchema:
    """Return the columns as Dagster shows them; the unit is a tag and ends the description."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=column.name,
                type=str(column.arrow_type),
                description=column.description + (f" Unit: {column.unit}." if column.unit else ""),
                constraints=dg.TableColumnConstraints(
                    nullable=column.nullable,
                    unique=spec.key == (column.name,),
                    other=[f"one of {', '.join(column.choices)}"] if column.choices else [],
                ),
                tags={"unit": column.unit} if column.unit else {},
            )
            for column in spec.columns
        ]
    )
