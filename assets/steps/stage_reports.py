"""Stage reports: what each stage of generation gave, over the programs of all suites."""

from __future__ import annotations

from assets.engines import PROGRAMS
from assets.settings import Listener, Settings
from assets.step import Output, Step, read_rows
from assets.suites import partitions
from pipelines.programs import stage_reports


def make_stage_reports(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the statistics of the programs of each stage of generation."""
    del partition, listen  # seconds at most
    suites = partitions(settings.configuration)
    programs = [row for suite in suites for row in read_rows(settings, "programs", suite)]
    facts = [row for suite in suites for row in read_rows(settings, "program_facts", suite)]
    return Output(rows={"stage_reports": stage_reports(programs, facts)})


STEP = Step(
    name="stage_reports",
    description="Programs asked for, kept and rejected, and their distributions, per stage of generation.",
    run=make_stage_reports,
    tables=("stage_reports",),
    reads=("programs", "program_facts"),
    engines=(PROGRAMS,),
)
