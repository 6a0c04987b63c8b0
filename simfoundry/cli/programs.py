"""Commands on C programs: label, predict, calibrate, adapt, pragmas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from simfoundry import asking
from simfoundry.cli.options import (
    PATH,
    answer_json,
    as_json_option,
    configuration_options,
    explained,
    fail,
    listed,
    option,
    options_of,
)
from simfoundry.questions import (
    AdaptQuestion,
    CalibrateQuestion,
    LabelQuestion,
    Options,
    PragmaQuestion,
    PredictQuestion,
)


@listed("Programs", memory_gib=4, resumes=True)
@click.command()
@click.argument("path", type=PATH)
@option(LabelQuestion, "top")
@configuration_options
@options_of(Options, "write_delay", "unsafe_math", "unit_limits")
@options_of(LabelQuestion, "data", "ranges", "sizes", "include", "others", "define")
@option(LabelQuestion, "targets", multiple=False, default=None)
@option(LabelQuestion, "without")
@option(Options, "liberty")
@options_of(LabelQuestion, "tools", "report")
@click.option("--table", "as_table", is_flag=True, help="Answer as a table, one line per file and tool.")
@as_json_option
@explained
def label(path: Path, as_json: bool, as_table: bool, **options: Any) -> None:
    """Label a C program, or a folder of them, by synthesis and simulation.

    Each goes through high-level synthesis, simulation and logic synthesis. Prints the rows as JSON. A failure
    is a row with its reason, and makes the exit status 1.
    """
    if as_json and as_table:
        raise click.UsageError("--json and --table are mutually exclusive")
    configuration = _configuration(options)
    options["targets"] = [name for name in (options["targets"] or "").split(",") if name]
    on_step = None if as_json else _echo_step
    answer = asking.label(path, options.pop("top"), options=configuration, on_step=on_step, **options)
    if as_table:
        from simfoundry.commands.label import answer_table

        click.echo(answer_table(answer, path))
    else:
        answer_json(answer)
    if "files" not in answer:
        _require_ok(answer["label"])
    elif set(answer["counts"]) != {"ok"}:
        said = ", ".join(f"{count} {status}" for status, count in answer["counts"].items())
        fail(f"not every design is ok: {said}; see the reasons in the answer")


def _echo_step(file: Path, step: str) -> None:
    click.echo(f"{file}: {step}", err=True)


@listed("Programs", memory_gib=4)
@click.command()
@click.argument("file", type=PATH)
@option(PredictQuestion, "top")
@configuration_options
@option(Options, "unsafe_math")
@options_of(PredictQuestion, "data", "model", "within", "budget_s")
@option(PredictQuestion, "targets", multiple=False, default=None)
@as_json_option
@explained
def predict(as_json: bool, **options: Any) -> None:
    """Predict area, flip-flops, cycles, power and the longest path of one C program, with intervals.

    Without --model the champion answers that has the lowest reference error among those that know most.
    """
    from simfoundry.commands.predict_text import prediction_text

    configuration = _configuration(options)
    options["targets"] = () if options["targets"] is None else options["targets"].split(",")
    answer = asking.predict(options.pop("file"), options.pop("top"), options=configuration, **options)
    if as_json:
        answer_json(answer)
    else:
        click.echo(prediction_text(answer))


@listed("Programs", memory_gib=4, least_gib=0.75, resumes=True)
@click.command()
@click.argument("file", type=PATH)
@option(PragmaQuestion, "top")
@options_of(PragmaQuestion)
@as_json_option
@explained
def pragmas(file: Path, top: str | None, as_json: bool, **options: Any) -> None:
    """Find the best directives of a C program, with a proven lower bound on its latency.

    Prints the recommended directives, as `label --directives` reads them, and what they are estimated to
    give beside the plain program. With --evaluate designs are measured, and the best one is recommended.
    """
    from simfoundry.commands.pragmas import answer_pragmas, pragma_json, pragma_text

    question = PragmaQuestion(file, top, **options)
    answer = answer_pragmas(question)
    if as_json:
        answer_json(pragma_json(answer, question))
    else:
        click.echo(pragma_text(answer, question))


@listed("Programs", memory_gib=4)
@click.command()
@click.argument("file", type=PATH)
@option(CalibrateQuestion, "top")
@configuration_options
@options_of(
    CalibrateQuestion,
    *("model", "specification", "rounds", "inputs", "unseen", "window", "beta", "seed", "out"),
)
@as_json_option
@explained
def calibrate(as_json: bool, **options: Any) -> None:
    """Calibrate predicted cycles on profiles of one C program, and score unseen inputs."""
    from simfoundry.commands.calibrate import answer_calibrate, calibration_text

    configuration = _configuration(options)
    answer = answer_calibrate(CalibrateQuestion(options=configuration, **options))
    if as_json:
        answer_json(answer)
    else:
        click.echo(calibration_text(answer))


@listed("Programs", memory_gib=4)
@click.command()
@options_of(AdaptQuestion, "labels", "model", "out")
@as_json_option
@explained
def adapt(as_json: bool, **options: Any) -> None:
    """Adapt a predictor to another tool by few of its labels.

    Each target gets a correction, chosen by cross-validation over programs: none, a constant factor, or small
    trees for the ratio. Intervals are calibrated on the same labels.
    """
    from simfoundry.commands.adapt import adaptation_text, answer_adapt

    answer = answer_adapt(AdaptQuestion(**options))
    if as_json:
        answer_json(answer)
    else:
        click.echo(adaptation_text(answer))


def _configuration(options: dict[str, Any]) -> Options:
    """Split the options of one configuration from a command's other options."""
    names = {field.name for field in fields(Options)}
    chosen = {name: options.pop(name) for name in names & set(options)}
    return Options(directives=chosen.pop("directives") or (), **chosen)


def _require_ok(row: Mapping[str, Any]) -> None:
    if row["status"] != "ok":
        fail(f"the design is not ok ({row['status']}): {row['reason']}")
