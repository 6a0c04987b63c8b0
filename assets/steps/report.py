"""The report page, drawn from whatever tables there are."""

from __future__ import annotations

from assets.engines import ROOT
from assets.pages import page_path, write_page
from assets.settings import Listener, Settings
from assets.shared_tables import file_hash
from assets.step import Markdown, Output, Step, tree_hash
from pipelines.dataset.reports import Report


def draw_report(settings: Settings, partition: str, listen: Listener) -> Output:
    """Draw the page and say where it is."""
    del partition, listen
    page = write_page(settings.deployment)
    inventory, timing = page.report.inventory, page.report.timing
    rate = {} if timing is None else {"designs_per_core_hour": timing.designs_per_core_hour}
    return Output(
        rows={},
        notes={
            "path": str(page.path),
            "bytes": len(page.content),
            "labels": Markdown(label_summary(page.report)),
            "programs": inventory.program_count,
            "designs": inventory.design_count,
            "labelled": inventory.labelled_count,
            **rate,
            **{f"problem {n}": problem for n, problem in enumerate(page.report.problems, 1)},
        },
    )


def label_summary(report: Report) -> str:
    """Return the quantiles of labels by stage as a Markdown table."""
    lines = ["| label | stage | designs | 5 % | median | 95 % |", "| --- | --- | --- | --- | --- | --- |"]
    for distribution in report.distributions:
        for stage in distribution.stages:
            at = stage.quantiles
            numbers = " | ".join(f"{value:.4g}" for value in (at.p5, at.median, at.p95))
            column = distribution.quantity.column
            lines.append(f"| {column} | {stage.stage} | {at.count} | {numbers} |")
    return "\n".join(lines) if report.distributions else "No design is fully labelled."


def _page_state(settings: Settings) -> list[str] | None:
    """Return the page, and the code that draws it."""
    page = file_hash(page_path(settings.deployment))
    return None if page is None else [page, tree_hash(ROOT / "pipelines" / "dataset" / "reports")]


STEP = Step(
    name="report",
    description="One HTML page of all tables: what was made, labels, failures, coverage, time, leaderboard.",
    run=draw_report,
    tables=(),
    reads=("*",),
    stage="report",
    asset="report",
    needs_all=False,
    is_recorded=False,
    state=_page_state,
)
