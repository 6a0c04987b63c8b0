"""The report page as an asset: drawn at the end of a run from whatever tables there are."""

from typing import Any

import dagster as dg

from assets.execution import explained_failures
from assets.pages import write_page
from assets.resources import FoundryResource
from assets.stages import STEPS
from pipelines.reports import Report


@dg.asset(
    name="report",
    group_name="report",
    deps=sorted(table for step in STEPS for table in step.tables),
    kinds={"html"},
    description="One HTML page of all tables: what was made, labels, failures, coverage, time, leaderboard.",
)
def make_report(context: dg.AssetExecutionContext, foundry: FoundryResource) -> dg.MaterializeResult[Any]:
    """Draw the page and say where it is."""
    with explained_failures():
        page = write_page(foundry.settings().deployment)
    for problem in page.report.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(str(page.path)),
            "bytes": len(page.content),
            "labels": dg.MetadataValue.md(label_summary(page.report)),
            **_counts(page.report),
        }
    )


def _counts(report: Report) -> dict[str, int | float]:
    inventory, timing = report.inventory, report.timing
    rate = {} if timing is None else {"designs_per_core_hour": timing.designs_per_core_hour}
    return {
        "programs": inventory.program_count,
        "designs": inventory.design_count,
        "labelled": inventory.labelled_count,
        **rate,
    }


def label_summary(report: Report) -> str:
    """Quantiles of labels by stage as a Markdown table."""
    lines = ["| label | stage | designs | 5 % | median | 95 % |", "| --- | --- | --- | --- | --- | --- |"]
    for distribution in report.distributions:
        for stage in distribution.stages:
            at = stage.quantiles
            numbers = " | ".join(f"{value:.4g}" for value in (at.p5, at.median, at.p95))
            column = distribution.quantity.column
            lines.append(f"| {column} | {stage.stage} | {at.count} | {numbers} |")
    return "\n".join(lines) if report.distributions else "No design is fully labelled."


REPORT_ASSETS = [make_report]
