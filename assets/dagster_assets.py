"""Assets of the steps, with checks, partitions, retries and pools, and the bodies that run them."""

import base64
import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.checks import PROBLEM_LIMIT, CheckedFile, CheckRule, general_rules, open_file
from assets.errors import explain, explain_fully, is_permanent
from assets.resources import FoundryResource, ProgressResource
from assets.settings import Configuration, Settings
from assets.step import SKIPPED, Markdown, Partitioning, Step, StepSummary
from assets.steps import STEPS, makers_of
from pipelines.cache import ContentCache
from pipelines.identity import content_hash
from pipelines.schemas import OK, TableSpec, table_path, table_spec

PANEL_INCHES = (3.0, 2.4)
DOTS_PER_INCH = 80
PLOT_KIND, PLOT_VERSION = "plots", "histograms-2"
"""Of entries of the cache; a new version for every change that gives another picture."""


def cached_plot(content: pa.Table, columns: Sequence[str], cache: ContentCache) -> str:
    """What `plot_distributions` gives, drawn once: drawing takes half a second.

    Raises: OSError: the disk is full or not writable.
    """
    digest = hashlib.sha256()
    named = [name for name in ("status", *columns) if name in content.column_names]
    for name in named:
        digest.update(repr(content.column(name).to_pylist()).encode() + b"\0")
    key = content_hash(PLOT_VERSION, list(columns), digest.hexdigest())
    return cache.cached(PLOT_KIND, key, lambda: plot_distributions(content, columns), str)


def plot_distributions(content: pa.Table, columns: Sequence[str]) -> str:
    """Histograms of columns over the rows that are ok; over all of a table without a status.

    Returns: Markdown with one PNG as a data URI; a sentence when no row is ok.
    """
    rows = content
    if "status" in content.column_names:
        is_ok = [status == OK for status in content.column("status").to_pylist()]
        rows = content.filter(pa.array(is_ok, type=pa.bool_()))
    if not rows.num_rows:
        return "No row is ok."
    from matplotlib.figure import Figure

    width, height = PANEL_INCHES
    figure = Figure(figsize=(width * len(columns), height), layout="constrained")
    panels = figure.subplots(1, len(columns), squeeze=False)[0]
    for panel, name in zip(panels, columns, strict=True):
        panel.hist(rows.column(name).drop_null().to_numpy(), bins=20)
        panel.set_xlabel(name)
    panels[0].set_ylabel("rows")
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=DOTS_PER_INCH)
    encoded = base64.b64encode(picture.getvalue()).decode("ascii")
    return f"![distribution of {', '.join(columns)}](data:image/png;base64,{encoded})"


OWNER = "team:simfoundry"
NIGHTLY_CRON = "0 2 * * *"
STALE_AFTER = timedelta(days=7)
"""Age from which the UI shows a table as not fresh."""
INTERRUPTED = "interrupted; the next run resumes its work"
TOOL_RETRY = dg.RetryPolicy(max_retries=2, delay=1.0, backoff=dg.Backoff.EXPONENTIAL)
"""A tool that crashed is tried again; bad input, a missing tool and a full disk are not."""

Results = Iterator[dg.MaterializeResult[Any]]


def build_assets(configuration: Configuration) -> list[dg.AssetsDefinition]:
    """The assets of every step, with the partitions of a configuration."""
    kinds = {step.partitioned.name: step.partitioned for step in STEPS}
    partitions = {name: _partitions(kind, configuration) for name, kind in kinds.items()}
    return [build_asset(step, partitions[step.partitioned.name]) for step in STEPS]


def _partitions(kind: Partitioning, configuration: Configuration) -> dg.PartitionsDefinition[Any] | None:
    return None if kind.is_whole else dg.StaticPartitionsDefinition(list(kind.names(configuration)))


def build_asset(step: Step, partitions: dg.PartitionsDefinition[Any] | None) -> dg.AssetsDefinition:
    """The assets of a step, which one op makes."""

    @dg.multi_asset(
        name=f"make_{step.name}",
        description=step.description,
        specs=[asset_spec(key, step) for key in step.assets],
        check_specs=[spec for table in step.tables for spec in check_specs(step, table)],
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
            summary = step.make(settings, partition, progress.listener(title, context.log.info))
            notes |= summary.notes
            chosen = context.selected_asset_keys
            yield from (r for r in _results(settings, step, summary) if r.asset_key in chosen)


def _results(settings: Settings, step: Step, summary: StepSummary) -> Results:
    """What Dagster keeps of each asset of a step."""
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
    """Metadata of a table that was just written (count, failures, plot), and the outcomes of its checks."""
    file = open_file(settings, table, summary.partition)
    path = table_path(settings.deployment.data_dir, table_spec(table), summary.partition)
    metadata: dict[str, Any] = {
        "dagster/row_count": summary.rows[table],
        "path": dg.MetadataValue.path(str(path)),
    }
    failures = {key[1:]: n for key, n in summary.failures.items() if key[0] == table}
    metadata["failed_fraction"] = sum(failures.values()) / max(summary.rows[table], 1)
    if failures:
        lines = [f"* {n} × {status}: {reason}" for (status, reason), n in failures.items()]
        metadata["failures"] = dg.MetadataValue.md("\n".join(lines))
    if table in step.plots:
        plot = cached_plot(file.content, step.plots[table], settings.cache)
        metadata["distribution"] = dg.MetadataValue.md(plot)
    return metadata, check_results(file, step.asset)


def rules_of(table: str) -> tuple[CheckRule, ...]:
    """The rules of a table, blocking ones first: those of its declaration and those of its steps."""
    own = (rule for step in makers_of(table) for rule in step.checks.get(table, ()))
    return tuple(sorted((*general_rules(table), *own), key=lambda rule: not rule.blocking))


def check_results(file: CheckedFile, asset: str | None = None) -> list[dg.AssetCheckResult]:
    """The outcome of every rule of a table.

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
                metadata={"problems": len(problems), "partition": file.partition},
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


def asset_spec(key: str, step: Step) -> dg.AssetSpec:
    """An asset of a step: group, description, columns with units, and what it is made from."""
    sources = {asset: None for table in step.reads for asset in _assets_of(table)}
    if step.asset is not None:
        kinds = {"mlflow"} if step.stage == "models" else {"html"}
        return dg.AssetSpec(
            key=key,
            group_name=step.stage,
            description=step.description,
            deps=list(sources),
            kinds=kinds,
            **_common(step),
        )
    spec = table_spec(key)
    return dg.AssetSpec(
        key=key,
        group_name=step.stage,
        description=f"{spec.description}\n\nKey: {', '.join(spec.key)}.",
        deps=list(sources),
        kinds={"parquet"},
        metadata={"dagster/column_schema": column_schema(spec), "dagster/table_name": spec.name},
        **_common(step),
    )


def _common(step: Step) -> dict[str, Any]:
    """Owner, tags, freshness and automation of every asset of a step.

    Automation makes sources at the hour of the nightly run and the others after what they read. It is off
    until somebody switches its sensor on in the UI.
    """
    condition = dg.AutomationCondition.eager() if step.reads else dg.AutomationCondition.on_cron(NIGHTLY_CRON)
    return {
        "owners": [OWNER],
        "tags": {"simfoundry/stage": step.stage, "simfoundry/step": step.name},
        "automation_condition": condition,
        "freshness_policy": dg.FreshnessPolicy.time_window(fail_window=STALE_AFTER),
    }


def _assets_of(table: str) -> tuple[str, ...]:
    """Keys of the assets that hold rows of a table."""
    return tuple(step.asset or table for step in makers_of(table))


def check_specs(step: Step, table: str) -> list[dg.AssetCheckSpec]:
    """The checks of a table."""
    return [
        dg.AssetCheckSpec(
            name=_check_name(step.asset, table, rule),
            asset=step.asset or table,
            description=rule.description,
            blocking=rule.blocking,
        )
        for rule in rules_of(table)
    ]


def _check_name(asset: str | None, table: str, rule: CheckRule) -> str:
    return rule.name if asset is None else f"{table}_{rule.name}"


def column_schema(spec: TableSpec) -> dg.TableSchema:
    """Columns as Dagster shows them; the unit is a tag and ends the description."""
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
