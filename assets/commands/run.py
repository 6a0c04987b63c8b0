"""`simfoundry run`: the main job, and the table that ends it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from assets.configuration import compose_configuration, read_parameters_file
from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.instance import open_instance
from assets.materialise import RunReport, run_everything
from assets.overview import Overview, survey
from assets.progress import shown_progress

FAILURES_SHOWN = 10


def run_main_job(overrides: Sequence[str], *, as_json: bool, parameters: Path | None = None) -> bool:
    """Run everything and say what there is now.

    Args:    overrides: Hydra's, for example scale=smoke; parameters: a file with the whole configuration, as
             a release has one, instead of overrides.
    Returns: whether nothing unexpected failed.
    Raises:  FoundryError: an override, the file or the deployment is not acceptable. OSError: not writable.
    """
    if parameters is not None and overrides:
        got = " ".join(overrides)
        raise FoundryError(f"overrides and --parameters are mutually exclusive: {got}, {parameters}")
    configuration = read_parameters_file(parameters) if parameters else compose_configuration(overrides)
    deployment = find_deployment()
    with open_instance(deployment) as instance, shown_progress() as progress:
        report = run_everything(configuration, deployment, instance=instance, progress=progress)
    overview = survey(deployment)
    report.problems += [*overview.damaged, *overview.environment_problems]
    if as_json:
        state = {"problems": report.problems, "notes": report.notes, "dvc": report.hashes}
        click.echo(json.dumps({**overview.as_json(), **state}, indent=2, allow_nan=False))
    else:
        show(overview, report)
    for problem in report.problems:
        click.echo(f"simfoundry: {problem}", err=True)
    return not report.problems


def show(overview: Overview, report: RunReport) -> None:
    """Print rows a table, failures by reason, error a predictor, and where things are."""
    console = Console(soft_wrap=True, highlight=False)
    console.print(_table("Rows", ("table", "rows"), [(k, str(v)) for k, v in overview.rows.items()]))
    failures = [(t, s, str(n), r) for (t, s, r), n in overview.failures.items()]
    if failures:
        head = ("table", "status", "rows", "reason")
        console.print(_table("Failed rows", head, failures[:FAILURES_SHOWN]))
        hidden = len(failures) - FAILURES_SHOWN
        if hidden > 0:
            console.print(f"and {hidden} more reasons: see columns status and reason of the tables")
    else:
        console.print("No row failed.")
    errors = [(p, t, f"{value:.1%}") for (p, t), value in overview.errors.items()]
    if errors:
        console.print(_table("Test error (MAPE)", ("predictor", "target", "error"), errors))
    click.echo("Where")
    for what, place in overview.places.items():
        click.echo(f"{what:<18}{place}")
    for note in report.notes:
        click.echo(note)


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in head:
        table.add_column(name, justify="right" if name in ("rows", "error") else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
