"""Commands on the tables of the project: run, stage, sql, records, report, ui."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from simfoundry.cli.options import (
    EXIT_FAILED,
    OUTPUT_FOLDER,
    PAGE,
    PATH,
    Output,
    answer_json,
    as_json_option,
    explained,
    listed,
    options_of,
)
from simfoundry.questions import SqlQuestion


@listed("Tables", memory_gib=None, resumes=True)
@click.command()
@click.argument("overrides", nargs=-1, metavar="[HYDRA OVERRIDES]...")
@click.option(
    "--parameters", type=PATH, help="Read the full configuration from this file instead of overrides."
)
@click.option(
    "--into", "folder", type=OUTPUT_FOLDER, help="Folder of the tables.", show_default="the data folder"
)
@click.option("--keep", "keeps", is_flag=True, help="Keep the tables of the earlier run in data/kept.")
@click.option("--lock", "locks", is_flag=True, help="Write dvc.lock although it was made with other tools.")
@click.option("--suite", metavar="NAME", help="Label the programs of an imported collection alone.")
@click.option("--cfg", type=click.Choice(("job",)), help="Print the configuration and run nothing.")
@click.option(
    "-m", "--multirun", is_flag=True, help="Run each combination of overrides such as ast.seed=1,2."
)
@as_json_option
@explained
def run(cfg: str | None, multirun: bool, as_json: bool, **options: Any) -> None:
    """Materialise every table at a scale, and train the models.

    Overrides are Hydra's: scale=smoke programs.suites=[linear_algebra] hls.memory_delay=[2,10]. Earlier work
    comes from the cache; a killed run resumes. Exits non-zero when something unexpected failed; failed
    attempts are rows and do not change the exit status.
    """
    from simfoundry.commands.release import import_text
    from simfoundry.commands.run import (
        RunQuestion,
        configuration_text,
        run_main_job,
        run_suite,
        run_sweep,
    )

    question = RunQuestion(**options)
    if cfg and multirun:
        raise click.UsageError("--cfg and --multirun are mutually exclusive")
    if multirun and question.suite is not None:
        raise click.UsageError("--multirun and --suite are mutually exclusive")
    if cfg:
        click.echo(configuration_text(question), nl=False)
    elif question.suite is not None:
        answer = run_suite(question, question.suite)
        answer_json(answer) if as_json else click.echo(import_text(answer))
    elif not (run_sweep if multirun else run_main_job)(question, as_json=as_json):
        sys.exit(EXIT_FAILED)


class _StageCommand(click.Command):
    """A command whose help names the stages, which it imports for that alone."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from assets.steps import STAGES, STEPS

        del ctx
        formatter.write_paragraph()
        formatter.write_text(f"Stages: {', '.join(STAGES)}.")
        formatter.write_paragraph()
        parts = [step.name for step in STEPS if step.name not in STAGES]
        formatter.write_text(f"Steps of stages: {', '.join(parts)}.")


@listed("Tables", memory_gib=None, resumes=True)
@click.command(cls=_StageCommand)
@click.argument("name")
@as_json_option
@explained
def stage(name: str, as_json: bool) -> None:
    """Make the tables of one stage, or of one step of a stage.

    The configuration is that of params.yaml; dvc.yaml calls this.
    """
    from simfoundry.commands.stage import run_stage

    if not run_stage(name, as_json=as_json):
        sys.exit(EXIT_FAILED)


@listed("Tables", memory_gib=None)
@click.command()
@click.argument("query")
@options_of(SqlQuestion)
@as_json_option
@explained
def sql(query: str, suite: str | None, as_json: bool) -> None:
    """Answer one read-only SQL statement over the tables, for example "SHOW TABLES"."""
    from simfoundry.commands.sql import answer_query

    click.echo(answer_query(query, as_json=as_json, suite=suite))


@listed("Tables", memory_gib=None)
@click.command()
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(("direct", "reasoning_static", "reasoning", "reasoning_run")),
    help="Only records of this format; may be repeated.",
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(("train", "validation", "test", "evaluation", "fields", "unseen_delay")),
    help="Only designs of this part of the split; may be repeated.",
)
@click.option("--split", help="Name of the split.", show_default="that of params.yaml")
@click.option("--out", type=Output(dir_okay=False, path_type=Path), help="FILE.jsonl or .parquet.")
@click.option(
    "--lengths", is_flag=True, help="Show the lengths of prompts by format, stage and part instead."
)
@as_json_option
@explained
def records(
    formats: tuple[str, ...],
    parts: tuple[str, ...],
    split: str | None,
    out: Path | None,
    lengths: bool,
    as_json: bool,
) -> None:
    """Write labelled designs as text for language models, or measure the texts."""
    from dataclasses import asdict

    from simfoundry.commands.records import export_records, lengths_text, measure_lengths

    if lengths == (out is not None):
        raise click.UsageError("one of --out and --lengths is required")
    if out is None:
        measured = measure_lengths(formats=formats, parts=parts, split=split)
        if as_json:
            answer_json({"lengths": [asdict(one) for one in measured]})
        else:
            click.echo(lengths_text(measured))
        return
    counts = export_records(out=out, formats=formats, parts=parts, split=split)
    if as_json:
        answer_json({"file": str(out), "records": counts})
    else:
        click.echo(f"{out}: " + (", ".join(f"{n} {name}" for name, n in counts.items()) or "no records"))


@listed("Tables", memory_gib=None)
@click.command()
@click.option("--out", type=PAGE, help="File of the page.", show_default="report.html in the data folder")
@click.option("--release", type=PATH, help="Folder of a release.", show_default="the project's own tables")
@as_json_option
@explained
def report(out: Path | None, release: Path | None, as_json: bool) -> None:
    """Draw what is in the tables as one HTML page.

    The page needs no network. It shows what was made, distributions and correlations of labels, failures,
    generation, coverage of the evaluation programs, cross-checks, networks, directives, accelerators, place
    and route, RTL simulations, time, predictors by level and the leaderboard.
    """
    from assets.deployments import find_deployment
    from assets.pages import write_page
    from simfoundry.commands.page import page_as_json, summary_lines

    page = write_page(find_deployment(), release=release, out=out)
    if as_json:
        answer_json(page_as_json(page))
    else:
        click.echo("\n".join(summary_lines(page)))


@listed("Tables", memory_gib=None)
@click.command()
@click.option("--port", default=3000, show_default=True, help="Port of the Dagster UI.")
@click.option("--mlflow-port", default=5000, show_default=True, help="Port of the MLflow UI.")
@click.option("--nightly", is_flag=True, help="Run everything at scale nightly at the hour of run.nightly.")
@as_json_option
@explained
def ui(port: int, mlflow_port: int, nightly: bool, as_json: bool) -> None:
    """Serve the Dagster UI and the MLflow UI on this machine until Ctrl-C."""
    from simfoundry.commands.ui import serve

    serve(port=port, mlflow_port=mlflow_port, as_json=as_json, nightly=nightly)
