"""`simfoundry run`: the main job, and the table that ends it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console
from rich.table import Table

from assets.configuration import compose_configuration, read_parameters_file, sweep
from assets.deployments import Deployment, find_deployment
from assets.errors import FoundryError
from assets.imported_programs import label_again
from assets.instance import open_instance
from assets.materialise import RunReport, run_everything
from assets.overview import Overview, survey
from assets.own_suites import STEPS_OF_SUITES
from assets.problems import say_problems
from assets.progress import shown_progress
from assets.replaced_tables import keep_tables, lines_before
from assets.settings import MACHINE_GROUPS, Configuration, Settings
from simfoundry.commands.release import suite_answer

FAILURES_SHOWN = 10
SWEEP_FOLDER = "sweeps"
NAME_LENGTH = 120
"""Most characters of a folder's name; file systems take 255 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuestion:
    """The options of the command.

    Attributes:
        overrides: Hydra's, for example scale=smoke.
        parameters: file with the whole configuration, as a release has one, instead of overrides.
        folder: of the tables, instead of the project's data folder.
        keeps: whether the tables that are there are kept before they are replaced.
        locks: whether dvc.lock is written although it was made with other versions of tools.
        suite: imported collection whose programs alone are labelled, instead of the suites of the project.
    """

    overrides: tuple[str, ...] = ()
    parameters: Path | None = None
    folder: Path | None = None
    keeps: bool = False
    locks: bool = False
    suite: str | None = None

    def configuration(self) -> Configuration:
        """Return the configuration that is asked for.

        Raises: FoundryError: an override or the file is not acceptable.
        """
        if self.parameters is not None and self.overrides:
            got = " ".join(self.overrides)
            raise FoundryError(f"overrides and --parameters are mutually exclusive: {got}, {self.parameters}")
        if self.parameters is not None:
            return read_parameters_file(self.parameters)
        return compose_configuration(self.overrides)

    def deployment(self) -> Deployment:
        """Return the deployment, with the tables in the folder."""
        deployment = find_deployment()
        return deployment if self.folder is None else deployment.in_folder(self.folder)


def configuration_text(question: RunQuestion) -> str:
    """Return the configuration that a run would have, as YAML, for `--cfg job`.

    Raises: FoundryError: an override or the file is not acceptable.
    """
    return yaml.safe_dump(question.configuration().model_dump(mode="json"), sort_keys=False)


def run_main_job(question: RunQuestion, *, as_json: bool) -> bool:
    """Run everything and say what there is now; what the run takes away is said before it begins.

    Returns: whether nothing unexpected failed.
    Raises:  FoundryError: an override, the file or the deployment is not acceptable. OSError: not writable.
    """
    return _run(question, question.configuration(), as_json=as_json)


def answer_run(question: RunQuestion, configuration: Configuration | None = None) -> dict[str, Any]:
    """Run everything, and return what `simfoundry run --json` prints.

    Args:   configuration: that of the question by default.
    Raises: FoundryError: an override, the file or the deployment is not acceptable. OSError: not writable.
    """
    notes: list[str] = []
    configuration = configuration or question.configuration()
    overview, report = _materialised(question, configuration, say=notes.append, is_quiet=True)
    report.notes[:0] = notes
    state = {"problems": report.problems, "notes": report.notes, "dvc": report.hashes}
    return {**overview.as_json(), **state}


def _run(question: RunQuestion, configuration: Configuration, *, as_json: bool) -> bool:
    if as_json:
        answer = answer_run(question, configuration)
        click.echo(json.dumps(answer, indent=2, allow_nan=False))
        problems = answer["problems"]
    else:
        say = partial(click.echo, err=True)
        overview, report = _materialised(question, configuration, say=lambda note: say(f"simfoundry: {note}"))
        show(overview, report)
        problems = report.problems
    say_problems(problems)
    return not problems


def _materialised(
    question: RunQuestion, configuration: Configuration, *, say: Callable[[str], None], is_quiet: bool = False
) -> tuple[Overview, RunReport]:
    """Run everything; what the run takes away is said before it begins."""
    deployment = question.deployment()
    if question.locks and not deployment.is_versioned:
        raise FoundryError(
            f"--lock: DVC has no tables of {deployment.data_dir}; accepted: the project's own data folder"
        )
    notes = lines_before(Settings(configuration=configuration, deployment=deployment))
    if question.keeps and (kept := keep_tables(deployment)) is not None:
        notes = [f"tables of the earlier run are kept: {kept}"]
    for note in notes:
        say(note)
    with open_instance(deployment) as instance, shown_progress(is_quiet=is_quiet) as progress:
        report = run_everything(
            configuration, deployment, instance=instance, progress=progress, locks=question.locks
        )
    overview = survey(deployment)
    report.problems += [*overview.damaged, *overview.environment_problems]
    return overview, report


def run_suite(question: RunQuestion, suite: str) -> dict[str, Any]:
    """Label an imported collection under the configuration that is asked for.

    Raises: FoundryError: there is no such collection, or another option has no effect on it.
    """
    options = {"--into": question.folder, "--keep": question.keeps, "--lock": question.locks}
    if unused := [name for name, value in options.items() if value]:
        raise FoundryError(f"{unused[0]} and --suite are mutually exclusive")
    _require_effect(question.overrides, suite)
    with shown_progress() as progress:
        imported = label_again(find_deployment(), question.configuration(), suite, progress=progress)
    return suite_answer(imported)


def _require_effect(overrides: Sequence[str], suite: str) -> None:
    """Refuse overrides of groups that no step of an imported suite reads; a scale has all groups."""
    read = {key.partition(".")[0] for step in STEPS_OF_SUITES for key in step.parameters}
    accepted = sorted(read | MACHINE_GROUPS | {"scale"})
    for text in overrides:
        if re.split(r"[.@=]", text.lstrip("+~"))[0] not in accepted:
            raise FoundryError(
                f"override without effect on suite {suite}: {text}; accepted: keys of {', '.join(accepted)}"
            )


def run_sweep(question: RunQuestion, *, as_json: bool) -> bool:
    """Run every combination of overrides with several values, each in a folder of its own.

    Returns: whether nothing unexpected failed.
    Raises:  FoundryError: an override is not acceptable; nothing was begun. OSError: not writable.
    """
    if question.parameters is not None:
        raise FoundryError(f"--multirun and --parameters are mutually exclusive: {question.parameters}")
    runs = sweep(question.overrides)
    configurations = [compose_configuration(overrides) for _, overrides in runs]
    base = question.folder or find_deployment().data_dir / SWEEP_FOLDER
    outcomes: list[bool] = []
    for number, (swept, overrides) in enumerate(runs):
        name = re.sub(r"[^\w.,=-]+", "_", ",".join(f"{key}={value}" for key, value in swept.items()))
        folder = base / (name[:NAME_LENGTH] or str(number))
        if not as_json:
            click.echo(f"{number + 1} of {len(runs)}: {' '.join(overrides)} in {folder}")
        outcomes.append(_run(replace(question, folder=folder), configurations[number], as_json=as_json))
    return all(outcomes)


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
