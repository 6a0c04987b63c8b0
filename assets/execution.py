"""Running a step inside an asset: results with metadata and checks, failures that read well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg

from assets.checked_files import CheckedFile, open_file
from assets.errors import explain, is_permanent
from assets.partitions import WHOLE
from assets.plots import DISTRIBUTIONS, cached_plot
from assets.quality import PROBLEM_LIMIT, rules_of
from assets.resources import FoundryResource, ProgressResource
from assets.settings import Settings
from assets.stages import StepSummary, partitions_of, step_named
from pipelines.schemas import table_path, table_spec

INTERRUPTED = "interrupted; the next run resumes its work"


def run_step(
    context: dg.AssetExecutionContext,
    name: str,
    foundry: FoundryResource,
    progress: ProgressResource,
    **extra: Any,
) -> Iterator[dg.MaterializeResult[Any]]:
    """Run a step for the partition of the run, and give a result with checks for each table.

    Args:   extra: further arguments of the step's function.
    Raises: dagster.Failure: trying again cannot help; the description is one line for a person.
    """
    with explained_failures():
        settings = foundry.settings()
        step = step_named(name)
        is_keyed = context.has_partition_key and step.partitioned != WHOLE
        partition = context.partition_key if is_keyed else partitions_of(step, settings)[0]
        title = f"{name} {partition}"
        with _reported(progress, title):
            listen = progress.listener(title, context.log.info)
            summary = step.run(settings, partition, listen, **extra)
            for table in step.tables:
                yield table_result(settings, table, summary)


def table_result(settings: Settings, table: str, summary: StepSummary) -> dg.MaterializeResult[Any]:
    """What Dagster keeps of a table that was just written: counts, failures, a plot, checks."""
    file = open_file(settings, table, summary.partition)
    path = table_path(settings.deployment.data_dir, table_spec(table), summary.partition)
    metadata: dict[str, Any] = {
        "dagster/row_count": summary.rows[table],
        "path": dg.MetadataValue.path(str(path)),
        **summary.notes,
    }
    failures = {key[1:]: n for key, n in summary.failures.items() if key[0] == table}
    if failures:
        metadata["failures"] = dg.MetadataValue.md(_failure_list(failures))
    if table in DISTRIBUTIONS:
        plot = cached_plot(file.content, DISTRIBUTIONS[table], settings.cache)
        metadata["distribution"] = dg.MetadataValue.md(plot)
    return dg.MaterializeResult(asset_key=table, metadata=metadata, check_results=check_results(file))


def check_results(file: CheckedFile) -> list[dg.AssetCheckResult]:
    """The outcome of every rule of a table."""
    results: list[dg.AssetCheckResult] = []
    for rule in rules_of(file.table):
        problems = rule.problems(file)
        severity = dg.AssetCheckSeverity.ERROR if rule.blocking else dg.AssetCheckSeverity.WARN
        results.append(
            dg.AssetCheckResult(
                check_name=rule.name,
                asset_key=file.table,
                passed=not problems,
                severity=severity,
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
def _reported(progress: ProgressResource, title: str) -> Iterator[None]:
    succeeded = False
    try:
        yield
        succeeded = True
    finally:
        progress.ended(title, succeeded=succeeded)


def _failure_list(failures: dict[tuple[str, str], int]) -> str:
    lines = [f"* {n} × {status}: {reason}" for (status, reason), n in failures.items()]
    return "\n".join(lines)
