"""`simfoundry stage`: the tables of one stage, as dvc.yaml calls it. DVC itself records the outputs."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from assets.attempts import attempt
from assets.configuration import read_parameters
from assets.database import write_database
from assets.deployments import find_deployment, sweep_leftovers, writing_to
from assets.dvc_figures import write_figures
from assets.materialise import prune_partitions
from assets.overview import environment_problems
from assets.problems import say_problems
from assets.progress import shown_progress
from assets.replaced_tables import removed_lines
from assets.settings import Settings
from assets.shared_tables import pull_tables, write_version
from assets.step import SKIPPED, StepSummary
from assets.steps import steps_of


def run_stage(name: str, *, as_json: bool) -> bool:
    """Make every table file of a stage under params.yaml; one that fails does not stop the others.

    Returns: whether all were made.
    Raises:  FoundryError: no such stage, or params.yaml is not acceptable. ToolMissing: a tool that it asks
             for is not installed; nothing was begun. NetworkError: so is a group of networks not acceptable.
    """
    deployment = find_deployment()
    settings = Settings(configuration=read_parameters(deployment.project), deployment=deployment)
    steps = [step for step in steps_of(name) if step.is_active(settings)]
    for require in dict.fromkeys(step.require for step in steps if step.require):
        require(settings)
    summaries: list[StepSummary] = []
    problems: list[str] = []
    with writing_to(deployment.data_dir), shown_progress() as progress:
        sweep_leftovers(deployment.data_dir)
        pull_tables(deployment)
        for line in removed_lines(settings, steps):
            click.echo(f"simfoundry: {line}", err=True)
        prune_partitions(settings, steps)
        for step in steps:
            for partition in step.partitions(settings):
                step_summary = attempt(step, partition, settings, progress, problems)
                summaries += [step_summary] if step_summary is not None else []
        write_version(deployment)
        problems += write_database(deployment.data_dir)
        if not problems:
            write_figures(deployment.data_dir, {step.stage for step in steps})
    _show(summaries, as_json=as_json)
    for summary in summaries:
        problems += environment_problems(summary.failures)
    say_problems(problems)
    return not problems


def _show(summaries: list[StepSummary], *, as_json: bool) -> None:
    if as_json:
        content = [
            asdict(s) | {"failures": [[*key, count] for key, count in s.failures.items()]} for s in summaries
        ]
        click.echo(json.dumps(content, indent=2, allow_nan=False))
        return
    for s in summaries:
        rows = ", ".join(f"{table} {count}" for table, count in s.rows.items())
        skipped = f"; skipped: {s.notes[SKIPPED]}" if SKIPPED in s.notes else ""
        click.echo(f"{s.step} {s.partition}: {rows}, {sum(s.failures.values())} failed{skipped}")
