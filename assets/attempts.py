"""Making the tables of one partition outside Dagster, where an expected failure is a line of text."""

from __future__ import annotations

from assets.errors import explain_fully, is_permanent
from assets.resources import ProgressResource
from assets.settings import Settings
from assets.step import SKIPPED, Step, StepSummary


def attempt(
    step: Step,
    partition: str,
    settings: Settings,
    progress: ProgressResource,
    problems: list[str],
) -> StepSummary | None:
    """Make the tables of one partition; an expected failure is a line of `problems` and no summary."""
    title = step.title(partition)
    summary: StepSummary | None = None
    failure: str | None = "interrupted"
    try:
        summary = step.make(settings, partition, progress.listener(title, lambda _: None))
        failure = None
    except Exception as error:
        failure = explain_fully(error)
        if not is_permanent(error):
            raise
        problems.append(f"{title}: {failure}")
    finally:
        progress.ended(
            title, failure=failure, skipped=None if summary is None else summary.notes.get(SKIPPED)
        )
    return summary
