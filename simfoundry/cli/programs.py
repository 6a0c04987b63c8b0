"""Commands on C programs: label, predict, calibrate, pragmas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipelines.base.bounds import MEMORY_DELAY_CYCLES
from simfoundry import asking
from simfoundry.cli.options import (
    NAME_OR_FILE,
    OUTPUT,
    OUTPUT_FOLDER,
    PATH,
    Command,
    Finite,
    Whole,
    answer_json,
    as_json_option,
    configuration_options,
    explained,
    fail,
    option,
)
from simfoundry.questions import LabelQuestion, Options, PragmaQuestion


def _top_option(command: Command) -> Command:
    return click.option(
        "--top", help="Function that becomes hardware.", show_default="the one the file is about"
    )(command)


_unsafe_math_option = option(Options, "unsafe_math", help="Floating sums may be reordered.")


@click.command()
@click.argument("path", type=PATH)
@_top_option
@configuration_options
@option(
    Options,
    "write_delay",
    type=Whole(*MEMORY_DELAY_CYCLES),
    help="Cycles of writes.",
    show_default="the memory delay",
)
@_unsafe_math_option
@option(
    Options,
    "unit_limits",
    "--unit-limit",
    metavar="CLASS=N",
    help="At most N functional units of a class, mul_32 or fadd for example.",
)
@option(LabelQuestion, "data", type=PATH, help="JSON file with the value of every argument.")
@option(
    LabelQuestion,
    "ranges",
    "--range",
    metavar="NAME=LOW:HIGH",
    help="Range of an argument's drawn values, HIGH excluded for integers.",
)
@option(
    LabelQuestion,
    "sizes",
    "--size",
    metavar="NAME=N",
    help="Elements of a pointer argument.",
    show_default="as its accesses reach",
)
@option(LabelQuestion, "include", help="Folder of headers.")
@option(LabelQuestion, "others", "--source", help="Further C file of the program, or a folder of them.")
@option(LabelQuestion, "define", metavar="NAME=TEXT", help="Macro of the program.")
@click.option("--targets", metavar="LIST", help="Targets to compute: cycles,area,power.", show_default="all")
@option(LabelQuestion, "without", metavar="TARGET", help="Leave out area or power.")
@option(Options, "liberty", type=NAME_OR_FILE, help="Installed library or liberty file.")
@option(
    LabelQuestion,
    "tools",
    "--tool",
    help="HLS tool: simfoundry-hls, circt-calyx, circt-handshake or bambu.",
)
@option(
    LabelQuestion,
    "report",
    type=OUTPUT_FOLDER,
    help="Folder for each design's Verilog and schedule (JSON, SVG).",
)
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


@click.command()
@click.argument("file", type=PATH)
@_top_option
@configuration_options
@_unsafe_math_option
@click.option("--data", type=PATH, help="JSON file with every argument, for models that read data.")
@click.option(
    "--model",
    help="Registered model, NAME@ALIAS, or a folder of a trained one.",
    show_default="the best champion",
)
@as_json_option
@explained
def predict(as_json: bool, **options: Any) -> None:
    """Predict area, flip-flops, cycles, power and the longest path of one C program, with intervals.

    Without --model the champion answers that has the lowest reference error among those that know most.
    """
    from simfoundry.commands.predict_text import prediction_text

    configuration = _configuration(options)
    answer = asking.predict(options.pop("file"), options.pop("top"), options=configuration, **options)
    if as_json:
        answer_json(answer)
    else:
        click.echo(prediction_text(answer))


@click.command()
@click.argument("file", type=PATH)
@click.option("--top", required=True, help="Function that becomes hardware.")
@configuration_options
@click.option(
    "--model",
    default="numeric-lm-hls@champion",
    show_default=True,
    help="A numeric language model: NAME@ALIAS, or a folder of a trained one.",
)
@click.option("--inputs", type=PATH, help="JSON input specification.", show_default="that of each argument")
@click.option("--rounds", default=5, show_default=True, help="Rounds of prediction, profile and update.")
@click.option("--per-round", default=8, show_default=True, help="Inputs profiled per round.")
@click.option("--unseen", default=32, show_default=True, help="Inputs that are scored and not learned.")
@click.option("--window", default=64, show_default=True, help="Profiles in the replay buffer.")
@click.option("--beta", default=0.1, show_default=True, type=Finite(), help="Weight of the preference loss.")
@click.option("--seed", default=0, show_default=True, help="Seed of inputs and minibatches.")
@click.option("--out", type=OUTPUT_FOLDER, help="Write the calibrated model to this folder.")
@as_json_option
@explained
def calibrate(as_json: bool, **options: Any) -> None:
    """Calibrate predicted cycles on profiles of one C program, and score unseen inputs."""
    from simfoundry.commands.calibrate import calibrate_file, calibration_text

    names = {"rounds": "rounds", "per_round": "inputs", "unseen": "unseen", "window": "window"}
    names |= {"beta": "beta", "seed": "seed"}
    settings = {name: options.pop(option) for option, name in names.items()}
    answer = calibrate_file(clock=options.pop("clock_ns"), **options, settings=settings)
    if as_json:
        answer_json(answer)
    else:
        click.echo(calibration_text(answer))


_pragma_option = partial(option, PragmaQuestion)


@click.command()
@click.argument("file", type=PATH)
@_top_option
@_pragma_option(
    "target",
    type=NAME_OR_FILE,
    metavar="NAME",
    help="Tool that makes the design: simfoundry, u200 (Merlin and Vitis HLS) or a JSON file of a target.",
)
@_pragma_option("define", "-D", "--define", metavar="NAME[=TEXT]", help="Macro, such as MEDIUM_DATASET.")
@_pragma_option(
    "evaluate",
    type=Whole(min=0),
    metavar="N",
    help="Measure at most N designs and show the best ones: by our own synthesis, or by --reports.",
)
@_pragma_option(
    "reports", metavar="FOLDER", help="Folder of synthesis reports, one folder per configuration."
)
@_pragma_option(
    "area",
    type=Finite(min=0, max=1e9, min_open=True),
    metavar="MM2",
    help="Most estimated area of a design, in mm2; target simfoundry.",
)
@_pragma_option("partitions", type=Whole(min=1), metavar="N", help="Most partitions of an array.")
@_pragma_option("ordered_sums", help="Floating sums keep their order: results are equal bit by bit.")
@_pragma_option("fine_only", help="Copy only what is inside pipelined loops.")
@_pragma_option("power", help="Show the estimated power of the designs of the answer.")
@_pragma_option(
    "style",
    metavar="STYLE",
    help="Pragmas of the annotated C: simfoundry, merlin or vitis; default: the target's tool.",
)
@_pragma_option(
    "solver_timeout", type=Finite(min=0.01), metavar="S", help="Most seconds of the solver, each time."
)
@_pragma_option(
    "hls_timeout", type=Finite(min=1), metavar="S", help="Most seconds of processor time of a design."
)
@_pragma_option("together", type=Whole(min=1), metavar="N", help="Designs that are measured at a time.")
@_pragma_option("out", type=OUTPUT, metavar="FILE", help="Write the recommended design's annotated C.")
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


def _configuration(options: dict[str, Any]) -> Options:
    """Split the options of one configuration from a command's other options."""
    names = {field.name for field in fields(Options)}
    chosen = {name: options.pop(name) for name in names & set(options)}
    return Options(directives=chosen.pop("directives") or (), **chosen)


def _require_ok(row: Mapping[str, Any]) -> None:
    if row["status"] != "ok":
        fail(f"the design is not ok ({row['status']}): {row['reason']}")
