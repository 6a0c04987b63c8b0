"""Commands on models and releases: models, train, check, serve, score, release, import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from models.options import JUDGED_PARTS, LABEL_LEVELS
from simfoundry import asking
from simfoundry.cli.options import (
    EXIT_FAILED,
    OUTPUT,
    OUTPUT_FOLDER,
    PAGE,
    PATH,
    Command,
    Commands,
    Finite,
    PacedEcho,
    Whole,
    answer_json,
    as_json_option,
    debug_option,
    explained,
    fail_with_problems,
    listed,
    option,
    options_of,
)
from simfoundry.questions import ImportQuestion, TrainQuestion

if TYPE_CHECKING:
    from models.conformance import Finding


@listed("Models", memory_gib=None)
@click.group(cls=Commands, invoke_without_command=True)
@as_json_option
@explained
def models(as_json: bool) -> None:
    """List registered models: versions, aliases, reference errors, ages."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    from simfoundry.commands.models import list_models, models_json, models_text

    listed = list_models()
    if as_json:
        answer_json(models_json(listed))
    else:
        click.echo(models_text(listed))


@models.command()
@click.argument("name")
@debug_option
@explained
def rollback(name: str) -> None:
    """Give the alias champion of model NAME back to the version that had it before."""
    from simfoundry.commands.models import roll_back_model

    click.echo(roll_back_model(name))


@listed("Models", memory_gib=None, resumes=True)
@click.command()
@click.argument("name")
@options_of(TrainQuestion)
@as_json_option
@explained
def train(name: str, as_json: bool, **options: Any) -> None:
    """Train predictor NAME on a release, score it and register it."""
    answer = asking.train(name, **options)
    if as_json:
        answer_json(answer)
    else:
        from simfoundry.commands.models import trained_text

        click.echo(trained_text(answer))


@listed("Models", memory_gib=4)
@click.command()
@click.argument("model", metavar="NAME@ALIAS")
@click.option("--port", default=5001, show_default=True, help="Port of the server.")
@click.option(
    "--most-rows", type=Whole(1, 100_000), default=256, show_default=True, help="Rows of a request."
)
@click.option(
    "--most-mib", type=Finite(0.001, 1024), default=4.0, show_default=True, help="Size of a request."
)
@click.option("--most-text-kib", type=Whole(1, 10_240), default=64, show_default=True, help="Size of a text.")
@as_json_option
@explained
def serve(model: str, port: int, most_rows: int, most_mib: float, most_text_kib: int, as_json: bool) -> None:
    """Serve a registered model over HTTP on this machine until Ctrl-C.

    The interface is that of `mlflow models serve`. A request that exceeds a limit, or has other columns,
    types or numbers than the model's question, is answered with a status 4xx and one line.
    """
    from models.limits import Limits
    from simfoundry.commands.serve import serve_model

    limits = Limits(body_bytes=int(most_mib * 2**20), rows=most_rows, text_bytes=most_text_kib * 2**10)
    serve_model(model, port=port, limits=limits, as_json=as_json)


@listed("Models", memory_gib=8)
@click.command()
@click.argument("file", type=PATH)
@click.argument("overrides", nargs=-1, metavar="[HYDRA OVERRIDES]...")
@click.option("--model", metavar="NAME@ALIAS", help="Registered model, or its folder.")
@click.option("--out", type=OUTPUT, help="FILE.parquet of questions and answers.")
@click.option("--release", metavar="NAME", help="Train and judge a predictor on this release, or its folder.")
@click.option(
    "--level",
    type=click.Choice(LABEL_LEVELS),
    help="With --release: level whose tables the training gets.",
    show_default="the predictor's",
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(JUDGED_PARTS),
    help="With --release: judged part; may be repeated.",
    show_default="all",
)
@option(TrainQuestion, "settings")
@option(TrainQuestion, "seed")
@click.option(
    "--limit-minutes",
    type=Finite(0.01, 10_000),
    default=60.0,
    show_default=True,
    help="With --release: time of the training, and of all answers.",
)
@as_json_option
@explained
def score(
    file: Path,
    overrides: tuple[str, ...],
    model: str | None,
    out: Path | None,
    release: str | None,
    as_json: bool,
    **judged: Any,
) -> None:
    """Ask a model about every row of a Parquet file, or score a predictor on a release.

    FILE.parquet: its columns are those of the model's question. A row that the model refuses has a reason and
    no values. Overrides choose where the work is done: run.workers=4 cluster=ray cluster.address=HOST:PORT.

    With --release FILE is a file of Python that binds PREDICTOR, the name of a predictor, or NAME@ALIAS. It
    runs in the sandbox, learns from the parts train and validation, and is judged on parts that it does not
    see.
    """
    from dataclasses import asdict

    if release is None:
        _refuse_judged()
        if model is None or out is None:
            raise click.UsageError("--model and --out are required, or --release")
        from simfoundry.commands.score import score_file

        answer = score_file(file, model=model, out=out, overrides=overrides)
        if as_json:
            answer_json(asdict(answer))
        else:
            click.echo("\n".join(answer.lines()))
        return
    if model is not None or out is not None or overrides:
        raise click.UsageError("--release and any of --model, --out, OVERRIDES are mutually exclusive")
    from simfoundry.commands.score_release import entry_text, score_release

    entry = score_release(str(file), release=release, report=PacedEcho(), **judged)
    if as_json:
        answer_json(entry.model_dump(mode="json"))
    else:
        click.echo(entry_text(entry))


def _refuse_judged() -> None:
    """Refuse options of `score` that mean something with --release alone."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        is_given = source is not click.core.ParameterSource.DEFAULT
        if parameter.name in ("level", "parts", "settings", "seed", "limit_minutes") and is_given:
            raise click.UsageError(f"{parameter.opts[-1]} requires --release")


@listed("Models", memory_gib=8)
@click.command()
@click.argument("predictor")
@click.option(
    "--data", type=PATH, help="Folder with small tables to train on.", show_default="the data folder"
)
@option(TrainQuestion, "settings")
@as_json_option
@explained
def check(predictor: str, data: Path | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Check that PREDICTOR, a name or a file that binds PREDICTOR, keeps the rules of predictors.

    The predictor is trained twice on the tables, loaded and asked. It runs in a process of its own, with your
    rights. Each check prints its result as it ends; with --json all results are one answer at the end.
    """
    from dataclasses import asdict

    from simfoundry.commands.check import check as check_predictor
    from simfoundry.commands.check import finding_text, unchecked

    def report(finding: Finding) -> None:
        if not as_json:
            click.echo(finding_text(finding))

    findings = check_predictor(predictor, data=data, settings=settings, report=report)
    left = unchecked(findings)
    if as_json:
        checks = [asdict(finding) for finding in findings]
        answer_json({"predictor": predictor, "checks": checks, "unchecked": left})
    elif left:
        click.echo(f"not checked, because of {findings[-1].check}: {', '.join(left)}")
    if any(finding.problem for finding in findings):
        sys.exit(EXIT_FAILED)


class _ReleaseGroup(Commands):
    """Subcommands of `release`; any other word is the name of a release, which `write` writes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for word in args if not word.startswith("-")]
        if words and words[0] not in self.commands:
            args = ["write", *args]
        return super().parse_args(ctx, args)


@listed("Releases", memory_gib=12, resumes=True)
@click.group(cls=_ReleaseGroup)
def release() -> None:
    """Write, make, check and compare releases; `release NAME` writes one."""


def _size_limit_option(command: Command) -> Command:
    return click.option(
        "--size-limit", default=30.0, show_default=True, type=Finite(min=0), help="Most MiB of all files."
    )(command)


@release.command("write")
@click.argument("name")
@click.option(
    "--from", "source", type=PATH, help="Project whose tables are released.", show_default="this one"
)
@_size_limit_option
@click.option(
    "--table", "tables", multiple=True, help="Only this table; may be repeated.", show_default="all"
)
@as_json_option
@explained
def release_write(
    name: str, source: Path | None, size_limit: float, tables: tuple[str, ...], as_json: bool
) -> None:
    """Write the tables as a release.

    A release has a dataset card, Parquet shards, the configuration and hashes. It goes to releases/NAME. The
    same tables give the same bytes.
    """
    from simfoundry.commands.release import release_project, release_text

    answer = release_project(name, source=source, size_limit_mib=size_limit, tables=tables)
    if as_json:
        answer_json(answer)
    else:
        click.echo(release_text(answer))


@release.command("make")
@click.argument("name")
@click.argument("overrides", nargs=-1, metavar="[HYDRA OVERRIDES]...")
@click.option("--config", type=PATH, help="Read the full configuration from this file.")
@click.option("--batches", type=Whole(min=1), help="Most batches of this call.", show_default="all")
@click.option("--limit-minutes", type=Finite(min=0), help="Begin no batch after this time.")
@_size_limit_option
@click.option(
    "--grow",
    "shares",
    multiple=True,
    type=(str, Finite(min=0)),
    metavar="OPTION VALUE",
    help="Label more: a larger value of synthesis.fraction or another such option; may be repeated.",
)
@click.option("--keep-discarded", is_flag=True, help="Make the discarded attempts of AST programs rows, too.")
@click.option("--derived", is_flag=True, help="Make the tables that were left out and compare hashes.")
@click.option("--rtl", type=OUTPUT_FOLDER, help="With --derived: folder for the Verilog of each design.")
@as_json_option
@explained
def release_make(
    name: str,
    overrides: tuple[str, ...],
    config: Path | None,
    batches: int | None,
    limit_minutes: float | None,
    size_limit: float,
    shares: tuple[tuple[str, float], ...],
    keep_discarded: bool,
    derived: bool,
    rtl: Path | None,
    as_json: bool,
) -> None:
    """Make release NAME in batches, or go on with it.

    Each finished batch is in releases/NAME. A batch is a partition (programs.shard programs) in one of the
    rounds programs, designs, labels.
    """
    from assets.progress import shown_progress
    from assets.releases.derived import make_derived
    from assets.releases.making import MakeOptions, make_release
    from simfoundry.commands.release import make_text

    with shown_progress() as progress:
        if derived:
            answer = make_derived(name, progress=progress, rtl=rtl)
        else:
            options = MakeOptions(
                batches=batches,
                limit_s=None if limit_minutes is None else limit_minutes * 60,
                size_limit_bytes=round(size_limit * (1 << 20)),
                shares=dict(shares),
                keeps_discarded=keep_discarded,
            )
            answer = make_release(
                name, progress=progress, overrides=overrides, parameters=config, options=options
            )
    if as_json:
        answer_json(answer)
    else:
        click.echo(make_text(answer))
    fail_with_problems(answer["problems"])


@release.command("check")
@click.argument("name")
@click.option(
    "--floor", "floors", multiple=True, metavar="NAME=NUMBER", help="Another limit, such as runs=100."
)
@as_json_option
@explained
def release_check(name: str, floors: tuple[str, ...], as_json: bool) -> None:
    """Prove release NAME.

    Lines are about hashes, schema, keys, references, leaks, coverage, cross-checks and counts. Exits non-zero
    when a line fails. A line that the release has no data for is absent, and no failure.
    """
    from simfoundry.commands.release_compare import check_named, check_text

    answer = check_named(name, floors)
    if as_json:
        answer_json(answer)
    else:
        click.echo(check_text(answer))
    if not answer["passed"]:
        sys.exit(EXIT_FAILED)


@release.command("diff")
@click.argument("one")
@click.argument("other")
@click.option("--out", type=PAGE, help="HTML file with plots.")
@click.option(
    "--train",
    "trained",
    multiple=True,
    metavar="PREDICTOR",
    help="Train it on both, such as lightgbm-static.",
)
@as_json_option
@explained
def release_diff(one: str, other: str, out: Path | None, trained: tuple[str, ...], as_json: bool) -> None:
    """Compare two releases: rows, targets by stage, failures by reason, errors of predictors."""
    from simfoundry.commands.release_compare import compare_named, compare_text

    answer = compare_named(one, other, trained=trained, out=out)
    if as_json:
        answer_json(answer)
    else:
        click.echo(compare_text(answer))


@listed("Releases", memory_gib=4)
@click.command("import")
@click.argument("path", type=PATH)
@options_of(ImportQuestion)
@as_json_option
@explained
def import_command(path: Path, as_json: bool, **options: Any) -> None:
    """Import a release, results of other tools, labelled sources, or a collection of C programs.

    Other tools are Merlin and Vitis HLS, by databases or reports (csynth.xml). A release fills the tables and
    the cache, so that nothing is labelled again. PATH is its folder, a .parquet file, a .xml file, a
    folder with reports below, or a .csv or .parquet table of sources, directives and labels, which
    becomes a suite that predictors train on. So does a folder of C programs, which are labelled here.
    """
    from simfoundry.commands.release import import_path, import_text

    answer = import_path(path, ImportQuestion(**options))
    if as_json:
        answer_json(answer)
    else:
        click.echo(import_text(answer))
