"""The `simfoundry` command: one function a subcommand, each answering on standard output.

What went wrong is one line on standard error, or one JSON object under `--json`: what, where, and what is
accepted.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click

from assets.deployments import QUIET_ENVIRONMENT
from assets.problems import describe_usage, echo_problem, say_problems
from assets.signals import (
    end_on_signals,
    end_processes,
    ignore_signals,
    received_signal,
    say_ended,
    was_said,
    was_signalled,
)

EXIT_FAILED = 1
EXIT_SIGNAL = 128
"""Exit status of a command that a signal ended, less the signal's number."""
_SOURCE = click.Path(path_type=Path)
_as_json = click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit: 0 for success, 1 for failure, 2 for wrong usage, 128 + N for signal N."""
    end_on_signals()
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_ENVIRONMENT.items()})
    try:
        simfoundry.main(args=None if arguments is None else list(arguments), prog_name="simfoundry")
    except (SystemExit, KeyboardInterrupt) as ended:
        if was_signalled() and getattr(ended, "code", EXIT_FAILED):
            _end_by_signal()
        raise
    sys.exit(0)


def _end_by_signal() -> NoReturn:
    """Say once that a signal ended the command, and exit; Dagster takes some interrupts for failed steps."""
    if not was_said():
        say_ended()
    ignore_signals()
    end_processes()
    sys.exit(EXIT_SIGNAL + received_signal())


def _explained(command: Callable[..., None]) -> Callable[..., None]:
    """Turn any failure of a subcommand into one line on standard error and a non-zero exit."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except click.ClickException:
            raise
        except KeyboardInterrupt:
            say_ended()
            sys.exit(EXIT_SIGNAL + received_signal())
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_FAILED)
        except Exception as error:
            from assets.errors import explain, is_permanent

            kind = "" if is_permanent(error) else f"unexpected {type(error).__name__}: "
            _fail(kind + explain(error))

    return run


def _fail(message: str, status: int = EXIT_FAILED) -> NoReturn:
    say_problems([message])
    sys.exit(status)


def _answer(value: Any) -> None:
    try:
        click.echo(json.dumps(value, indent=2, default=str, allow_nan=False))
    except ValueError:
        _fail("the answer has a number that JSON has not: NaN or an infinity")


class _Finite(click.FloatRange):
    """A number within bounds that is neither NaN, which is within any, nor infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class _Commands(click.Group):
    """The commands; wrong usage is a JSON object when the answer would be one."""

    def main(self, args: Any = None, *rest: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        if "--json" not in words or not standalone_mode:
            return super().main(args, *rest, standalone_mode=standalone_mode, **extra)
        try:
            status = super().main(words, *rest, standalone_mode=False, **extra)
        except click.ClickException as error:
            echo_problem(describe_usage(error, "simfoundry"))
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(EXIT_FAILED)
        sys.exit(status if isinstance(status, int) else 0)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="simfoundry")
def simfoundry() -> None:
    """A dataset foundry for learned cost models of hardware."""


@simfoundry.command()
@click.argument("overrides", nargs=-1, metavar="[HYDRA OVERRIDES]...")
@click.option(
    "--parameters", type=_SOURCE, help="Read the full configuration from this file instead of overrides."
)
@click.option("--into", "folder", type=_SOURCE, help="Folder of the tables.  [default: the data folder]")
@click.option("--keep", "keeps", is_flag=True, help="Keep the tables of the earlier run in data/kept.")
@click.option("--cfg", type=click.Choice(("job",)), help="Print the configuration and run nothing.")
@click.option(
    "-m", "--multirun", is_flag=True, help="Run each combination of overrides such as ast.seed=1,2."
)
@_as_json
@_explained
def run(cfg: str | None, multirun: bool, as_json: bool, **options: Any) -> None:
    """Materialise everything at a scale: programs, designs, labels, features, models.

    Overrides are Hydra's: scale=smoke programs.suites=[linear_algebra] hls.memory_delay=[2,10].
    Earlier work comes from the cache; a killed run resumes. Exits non-zero when something unexpected
    failed; failed attempts are rows and do not change the exit status.
    """
    from assets.commands.run import RunQuestion, configuration_text, run_main_job, run_sweep

    question = RunQuestion(**options)
    if cfg and multirun:
        raise click.UsageError("--cfg and --multirun are mutually exclusive")
    if cfg:
        click.echo(configuration_text(question), nl=False)
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


@simfoundry.command(cls=_StageCommand)
@click.argument("name")
@_as_json
@_explained
def stage(name: str, as_json: bool) -> None:
    """Make the tables of one stage, or of one step of a stage, under params.yaml; dvc.yaml calls this."""
    from assets.commands.stage import run_stage

    if not run_stage(name, as_json=as_json):
        sys.exit(EXIT_FAILED)


@simfoundry.command()
@click.option("--port", default=3000, show_default=True, help="Port of the Dagster UI.")
@click.option("--mlflow-port", default=5000, show_default=True, help="Port of the MLflow UI.")
@click.option("--nightly", is_flag=True, help="Run everything at scale nightly at 02:00.")
@_as_json
@_explained
def ui(port: int, mlflow_port: int, nightly: bool, as_json: bool) -> None:
    """Serve the Dagster UI and the MLflow UI on this machine until Ctrl-C."""
    from assets.commands.ui import serve

    if not serve(port=port, mlflow_port=mlflow_port, as_json=as_json, nightly=nightly):
        sys.exit(EXIT_FAILED)


@simfoundry.command()
@click.argument("query")
@click.option("--suite", metavar="NAME", help="Tables of a suite of your own, in data/suites/NAME.")
@_as_json
@_explained
def sql(query: str, suite: str | None, as_json: bool) -> None:
    """Answer one read-only SQL statement over the tables, for example "SHOW TABLES"."""
    from assets.commands.sql import answer_query

    click.echo(answer_query(query, as_json=as_json, suite=suite))


@simfoundry.command()
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
    type=click.Choice(("train", "validation", "test", "evaluation")),
    help="Only programs of this part of the split; may be repeated.",
)
@click.option("--split", help="Name of the split; that of params.yaml unless given.")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="FILE.jsonl or .parquet."
)
@_as_json
@_explained
def records(
    formats: tuple[str, ...], parts: tuple[str, ...], split: str | None, out: Path, as_json: bool
) -> None:
    """Write labelled designs as text for language models, with or without reasoning."""
    from assets.commands.records import export_records

    counts = export_records(out=out, formats=formats, parts=parts, split=split)
    if as_json:
        _answer({"file": str(out), "records": counts})
    else:
        click.echo(f"{out}: " + (", ".join(f"{n} {name}" for name, n in counts.items()) or "no records"))


def _configuration_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options of one configuration."""
    for option in (
        click.option("--clock", default=10.0, show_default=True, type=_Finite(), help="Clock period in ns."),
        click.option("--memory-delay", default=2, show_default=True, help="Memory delay in cycles."),
        click.option("--directives", type=_SOURCE, help="JSON file with a list of directives."),
    ):
        command = option(command)
    return command


@simfoundry.command()
@click.argument("path", type=_SOURCE)
@click.option("--top", help="Function that becomes hardware.  [default: the one the file is about]")
@_configuration_options
@click.option("--write-delay", type=int, help="Cycles of writes.  [default: the memory delay]")
@click.option("--unsafe-math", is_flag=True, help="Floating sums may be reordered.")
@click.option(
    "--unit-limit",
    "unit_limits",
    multiple=True,
    metavar="CLASS=N",
    help="At most N functional units of a class, mul_32 or fadd for example. Repeat for several.",
)
@click.option("--data", type=_SOURCE, help="JSON file with the value of every argument.")
@click.option("--liberty", help="Installed library or liberty file.  [default: osu018]")
@click.option(
    "--tool",
    "tools",
    multiple=True,
    default=("simfoundry-hls",),
    show_default=True,
    help="HLS tool; also circt-calyx, circt-handshake, bambu. Repeat for several.",
)
@click.option("--report", type=_SOURCE, help="Folder for each design's Verilog and schedule (JSON, SVG).")
@click.option("--table", "as_table", is_flag=True, help="Answer as a table, a line a file and tool.")
@_as_json
@_explained
def label(path: Path, as_json: bool, as_table: bool, **options: Any) -> None:
    """Take a C program, or every C file of a folder, through HLS, simulation and synthesis.

    Prints the rows as JSON. A failure is a row with its reason, and makes the exit status 1.
    """
    from assets.commands.label import Question, answer_table, label_path

    if as_json and as_table:
        raise click.UsageError("--json and --table are mutually exclusive")
    answer = label_path(path, Question(**options))
    if as_table:
        click.echo(answer_table(answer, path))
    else:
        _answer(answer)
    if "files" not in answer:
        _require_ok(answer["label"])
    elif set(answer["counts"]) != {"ok"}:
        said = ", ".join(f"{count} {status}" for status, count in answer["counts"].items())
        _fail(f"not every design is ok: {said}; see the reasons in the answer")


@simfoundry.command()
@click.argument("file", type=_SOURCE)
@click.option("--top", required=True, help="Function that becomes hardware.")
@_configuration_options
@click.option("--data", type=_SOURCE, help="JSON file with every argument, for models that read data.")
@click.option(
    "--model",
    default="tenset-mlp@champion",
    show_default=True,
    help="Registered model, NAME@ALIAS, or a folder of a trained one.",
)
@_as_json
@_explained
def predict(as_json: bool, **options: Any) -> None:
    """Ask a registered model about one C program under one configuration."""
    from assets.commands.predict import predict_file

    answer = predict_file(**options)
    if as_json:
        _answer(answer)
    else:
        click.echo("\n".join(f"{name:<18} {value}" for name, value in answer.items()))


@simfoundry.command()
@click.argument("file", type=_SOURCE)
@click.option("--top", required=True, help="Function that becomes hardware.")
@_configuration_options
@click.option(
    "--model",
    default="numeric-lm-hls@champion",
    show_default=True,
    help="A numeric language model: NAME@ALIAS, or a folder of a trained one.",
)
@click.option("--inputs", type=_SOURCE, help="JSON input specification.  [default: that of each argument]")
@click.option("--rounds", default=5, show_default=True, help="Of prediction, profile and update.")
@click.option("--per-round", default=8, show_default=True, help="Inputs profiled per round.")
@click.option("--unseen", default=32, show_default=True, help="Inputs that are scored and not learned.")
@click.option("--window", default=64, show_default=True, help="Profiles in the replay buffer.")
@click.option("--beta", default=0.1, show_default=True, type=_Finite(), help="Of the preference loss.")
@click.option("--seed", default=0, show_default=True, help="Of inputs and minibatches.")
@click.option("--out", type=_SOURCE, help="Write the calibrated model to this folder.")
@_as_json
@_explained
def calibrate(as_json: bool, **options: Any) -> None:
    """Calibrate predicted cycles on profiles of one C program, and score inputs it did not see."""
    from assets.commands.calibrate import calibrate_file, calibration_text

    names = {"rounds": "rounds", "per_round": "inputs", "unseen": "unseen", "window": "window"}
    names |= {"beta": "beta", "seed": "seed"}
    settings = {name: options.pop(option) for option, name in names.items()}
    answer = calibrate_file(**options, settings=settings)
    if as_json:
        _answer(answer)
    else:
        click.echo(calibration_text(answer))


@simfoundry.group(invoke_without_command=True)
@_as_json
@_explained
def models(as_json: bool) -> None:
    """List registered models: versions, aliases, error on the reference set, age."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    from assets.commands.models import list_models, models_json, models_text

    listed = list_models()
    if as_json:
        _answer(models_json(listed))
    else:
        click.echo(models_text(listed))


@models.command()
@click.argument("name")
@_explained
def rollback(name: str) -> None:
    """Give the alias champion of model NAME back to the version that had it before."""
    from assets.commands.models import roll_back_model

    click.echo(roll_back_model(name))


@simfoundry.command()
@click.argument("name")
@click.option(
    "--release",
    "releases",
    required=True,
    multiple=True,
    type=_SOURCE,
    help="Folder of a release to train on; several may be given.",
)
@click.option("--out", type=_SOURCE, help="Folder of the model.  [default: models/NAME in the data folder]")
@click.option("--seed", default=0, show_default=True, help="Of initial weights and batches.")
@click.option("-o", "--option", "settings", multiple=True, metavar="NAME=VALUE", help="Option of training.")
@_as_json
@_explained
def train(name: str, as_json: bool, **options: Any) -> None:
    """Train predictor NAME on a release, score it on its reference set, and register it."""
    from assets.commands.models import train_model

    answer = train_model(name, **options)
    if as_json:
        _answer(answer)
    else:
        click.echo(f"{answer['name']} version {answer['version']}: {answer['reason']}\n{answer['folder']}")


@simfoundry.command()
@click.option(
    "--pods", type=int, help="Pods of a three-tier fat-tree: 4, 8, 12, 16 give 16, 128, 432, 1024 hosts."
)
@click.option("--topology", type=_SOURCE, help="JSON or GraphML file of any other network.")
@click.option(
    "--trace", type=_SOURCE, help="CSV or Parquet file of packets: time_s, source, destination, bytes."
)
@click.option("--pattern", help="all_to_all, incast or broadcast.  [default: all_to_all]")
@click.option("--load", type=_Finite(), help="Of the busiest host link by data.  [default: 0.5]")
@click.option("--density", type=_Finite(), help="Share of hosts of all_to_all.  [default: 1.0]")
@click.option("--arrivals", help="poisson, ge or on_off.  [default: poisson]")
@click.option("--scv", type=_Finite(), help="Squared variation coefficient of arrivals.  [default: 1, or 4]")
@click.option("--routing", default="ecmp", show_default=True, help="ecmp or fixed.")
@click.option("--seed", default=1, show_default=True, type=int, help="Of routes, and of hosts by density.")
@click.option(
    "--queue-capacity",
    default=128,
    show_default=True,
    type=click.IntRange(min=0),
    help="Packets; 0 for no end.",
)
@click.option("--acknowledged/--unacknowledged", default=True, show_default=True, help="Every packet.")
@click.option(
    "--estimate",
    default=None,
    type=click.Choice(["corrected", "tree", "maximum_entropy"]),
    help="Queueing theory, for trees or by maximum entropy; or corrected by what simulations taught.  "
    "[default: corrected; maximum_entropy for a trace]",
)
@click.option("--flows", type=_SOURCE, help="Write each flow's latency to this .parquet or .csv file.")
@_as_json
@_explained
def network(flows: Path | None, as_json: bool, **options: Any) -> None:
    """Estimate the latency of every flow of a network by queueing theory."""
    from assets.commands.network import answer_network, network_text
    from pipelines.network.estimation import NetworkRequest

    answer = answer_network(NetworkRequest(**options), flows=flows)
    if as_json:
        _answer(answer)
    else:
        click.echo(network_text(answer))


@simfoundry.command()
@click.argument("file", type=_SOURCE)
@click.option("--top", help="Function that becomes hardware.  [default: the one the file is about]")
@click.option(
    "--target",
    default="u200",
    show_default=True,
    help="u200 (Merlin and Vitis HLS), simfoundry, or a JSON file of a target.",
)
@click.option("-D", "--define", multiple=True, metavar="NAME[=TEXT]", help="Macro, such as MEDIUM_DATASET.")
@click.option(
    "--evaluate",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="Measure at most N designs: simfoundry by its own synthesis, others by --reports.",
)
@click.option("--reports", type=_SOURCE, help="Folder of synthesis reports, a folder a configuration.")
@click.option("--area", type=_Finite(min=0.01), help="Most area of a design of simfoundry, in mm2.")
@click.option("--partitions", type=click.IntRange(min=1), help="Most partitions of an array.")
@click.option(
    "--ordered-sums", is_flag=True, help="Floating sums keep their order: results are equal bit by bit."
)
@click.option("--fine-only", is_flag=True, help="Copy only what is inside pipelined loops.")
@click.option("--style", default="merlin", show_default=True, help="merlin or vitis pragmas.")
@click.option("--solver-timeout", default=30.0, show_default=True, type=_Finite(min=0.01), help="s")
@click.option(
    "--hls-timeout", default=120.0, show_default=True, type=_Finite(min=1), help="s of processor time"
)
@click.option(
    "--together", default=2, show_default=True, type=click.IntRange(min=1), help="Designs at a time."
)
@click.option("--out", type=_SOURCE, help="Write the annotated C to this file.")
@_as_json
@_explained
def pragmas(as_json: bool, **options: Any) -> None:
    """Find the best directives of a C program, with a proven lower bound on its latency."""
    from assets.commands.pragmas import PragmaQuestion, answer_pragmas, pragma_json, pragma_text

    question = PragmaQuestion(**options)
    answer = answer_pragmas(question)
    if as_json:
        _answer(pragma_json(answer, question))
    else:
        click.echo(pragma_text(answer, question))


@simfoundry.command()
@click.argument("graph", type=_SOURCE)
@click.option("--fabric", type=_SOURCE, help="YAML file of a fabric.  [default: conf/fabric/present.yaml]")
@click.option(
    "--cost-model",
    default="heuristic",
    show_default=True,
    help="heuristic, simulator, or a registered model such as pnr-gnn@champion.",
)
@click.option(
    "--moves", default=16000, show_default=True, type=click.IntRange(min=0), help="Moves per graph."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the search.")
@click.option("--clock", type=_Finite(min=1e-6), help="MHz, for samples per second.")
@click.option(
    "--dimension",
    multiple=True,
    metavar="NAME=SIZE",
    help="Size of a symbolic dimension of an ONNX model. Repeat for several.",
)
@click.option("--svg", type=_SOURCE, help="Write a picture of the fabric to this file.")
@_as_json
@_explained
def place(as_json: bool, **options: Any) -> None:
    """Place and route a dataflow graph (JSON) or a neural network (ONNX) on a reconfigurable fabric.

    A network that does not fit is cut into graphs that take turns.
    """
    from assets.commands.place import PlaceQuestion, answer_place, place_text

    answer = answer_place(PlaceQuestion(**options))
    if as_json:
        _answer(answer)
    else:
        click.echo(place_text(answer))


@simfoundry.command()
@click.argument("network", type=_SOURCE)
@click.option("--hardware", type=_SOURCE, help="YAML file of the accelerator; the default one without it.")
@click.option("--measure", is_flag=True, help="Also synthesise and simulate it: minutes, small ones only.")
@_as_json
@_explained
def power(as_json: bool, **options: Any) -> None:
    """Power, energy and cycles of a neural network (ONNX) on a systolic accelerator, from compilation."""
    from assets.commands.power import PowerQuestion, answer_power, power_text

    answer = answer_power(PowerQuestion(**options))
    if as_json:
        _answer(answer)
    else:
        click.echo(power_text(answer))


@simfoundry.command()
@click.argument("network", type=_SOURCE)
@click.option("--budget-mw", required=True, type=_Finite(min=0, min_open=True), help="Most power in mW.")
@click.option(
    "--candidates",
    default=200,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="Drawn configurations.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Of the draws.")
@_as_json
@_explained
def explore(as_json: bool, **options: Any) -> None:
    """Accelerators for a neural network (ONNX) within a power budget: the Pareto front of power and time."""
    from assets.commands.power import ExploreQuestion, answer_explore, explore_text

    answer = answer_explore(ExploreQuestion(**options))
    if as_json:
        _answer(answer)
    else:
        click.echo(explore_text(answer))


@simfoundry.command()
@click.argument("file", type=_SOURCE)
@click.option("--top", required=True, help="Module that is simulated.")
@click.option("--cycles", required=True, type=click.IntRange(1, 10**12), help="Clock cycles.")
@click.option(
    "--stimuli", default=1, show_default=True, type=click.IntRange(1, 4096), help="Simulated side by side."
)
@click.option(
    "--engine",
    default="auto",
    show_default=True,
    help="auto, reuse, arc, verilator or cxxrtl; see docs/rtlsim.md.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Of the inputs."
)
@click.option(
    "--inputs",
    type=_SOURCE,
    help="CSV or Parquet file with a column per input port, instead of random values.",
)
@click.option(
    "--reset-cycles",
    default=2,
    show_default=True,
    type=click.IntRange(min=0),
    help="Cycles in which ports named like a reset are active; then they are inactive. 0 = random.",
)
@click.option("--vcd", type=_SOURCE, help="Write the ports of the first stimulus to this file.")
@click.option(
    "--toggles", type=_SOURCE, help="Write toggles of ports and registers to this .csv or .parquet file."
)
@click.option(
    "--memory",
    multiple=True,
    metavar="NAME=FILE",
    help="Hexadecimal words of a memory, such as top.u.words=image.hex. Repeat for several.",
)
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1, 64), help="Of engine reuse.")
@click.option(
    "--batch",
    default=1,
    show_default=True,
    type=click.IntRange(1, 16),
    help="Cycles that a thread of engine reuse runs before it exchanges values with the others.",
)
@click.option("--checkpoint", type=_SOURCE, help="Write the state after the last cycle to this file.")
@click.option("--resume", type=_SOURCE, help="Go on from this checkpoint.")
@_as_json
@_explained
def simulate(as_json: bool, **options: Any) -> None:
    """Simulate a Verilog or SystemVerilog design, one clock cycle after the other.

    Outputs are sampled before the rising edge; their digest is equal for all engines.
    """
    from assets.commands.simulate import SimulateQuestion, answer_simulate, simulate_text

    answer = answer_simulate(SimulateQuestion(**options))
    if as_json:
        _answer(answer)
    else:
        click.echo(simulate_text(answer))


@simfoundry.command()
@click.option("--out", type=_SOURCE, help="File of the page.  [default: report.html in the data folder]")
@click.option("--release", type=_SOURCE, help="Folder of a release; the project's own tables without it.")
@_as_json
@_explained
def report(out: Path | None, release: Path | None, as_json: bool) -> None:
    """Draw what is in the tables as one HTML page that needs no network.

    What was made, distributions and correlations of labels, failures, generation, coverage of the evaluation
    programs, cross-checks, time and the leaderboard.
    """
    from assets.commands.page import page_as_json, summary_lines
    from assets.deployments import find_deployment
    from assets.pages import write_page

    page = write_page(find_deployment(), release=release, out=out)
    if as_json:
        _answer(page_as_json(page))
    else:
        click.echo("\n".join(summary_lines(page)))


class _ReleaseGroup(click.Group):
    """Subcommands of `release`; any other word is the name of a release, which `write` writes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for word in args if not word.startswith("-")]
        if words and words[0] not in self.commands:
            args = ["write", *args]
        return super().parse_args(ctx, args)


@simfoundry.group(cls=_ReleaseGroup)
def release() -> None:
    """Write, make, check and compare releases; `release NAME` is `release write NAME`."""


@release.command("write")
@click.argument("name")
@click.option(
    "--from", "source", type=_SOURCE, help="Project whose tables are released.  [default: this one]"
)
@click.option(
    "--size-limit",
    default=30.0,
    show_default=True,
    type=_Finite(min=0),
    help="Most MiB of all files.",
)
@click.option("--table", "tables", multiple=True, help="Only this table; may be repeated.  [default: all]")
@_as_json
@_explained
def release_write(
    name: str, source: Path | None, size_limit: float, tables: tuple[str, ...], as_json: bool
) -> None:
    """Write the tables as a release: a dataset card, Parquet shards, configuration, hashes.

    It goes to releases/NAME. The same tables give the same bytes.
    """
    from assets.commands.release import release_project, release_text

    answer = release_project(name, source=source, size_limit_mib=size_limit, tables=tables)
    if as_json:
        _answer(answer)
    else:
        click.echo(release_text(answer))


@release.command("make")
@click.argument("name")
@click.argument("overrides", nargs=-1, metavar="[HYDRA OVERRIDES]...")
@click.option("--config", type=_SOURCE, help="Read the full configuration from this file.")
@click.option("--batches", type=click.IntRange(min=1), help="Most batches of this call.  [default: all]")
@click.option("--limit-minutes", type=_Finite(min=0), help="Begin no batch after this time.")
@click.option("--size-limit", default=30.0, show_default=True, type=_Finite(min=0), help="Most MiB.")
@click.option("--derived", is_flag=True, help="Make the tables that were left out and compare hashes.")
@click.option("--rtl", type=_SOURCE, help="With --derived: folder for the Verilog of each design.")
@_as_json
@_explained
def release_make(
    name: str,
    overrides: tuple[str, ...],
    config: Path | None,
    batches: int | None,
    limit_minutes: float | None,
    size_limit: float,
    derived: bool,
    rtl: Path | None,
    as_json: bool,
) -> None:
    """Make release NAME in batches, or go on with it; each finished batch is in releases/NAME.

    A batch is a partition (programs.shard programs) in one of the rounds programs, designs, labels.
    """
    from assets.commands.release_make import MakeOptions, make_derived, make_release, make_text

    if derived:
        answer = make_derived(name, rtl=rtl)
    else:
        options = MakeOptions(
            batches=batches,
            limit_s=None if limit_minutes is None else limit_minutes * 60,
            size_limit_bytes=round(size_limit * (1 << 20)),
        )
        answer = make_release(name, overrides=overrides, parameters=config, options=options)
    if as_json:
        _answer(answer)
    else:
        click.echo(make_text(answer))
    _say_problems(answer["problems"])


@release.command("check")
@click.argument("name")
@click.option(
    "--floor", "floors", multiple=True, metavar="NAME=NUMBER", help="Another limit, such as runs=100."
)
@_as_json
@_explained
def release_check(name: str, floors: tuple[str, ...], as_json: bool) -> None:
    """Prove release NAME: hashes, schema, keys, references, leaks, coverage, cross-checks, counts.

    Exits non-zero when a line fails. A line that the release has no data for is absent, and no failure.
    """
    from assets.commands.release_compare import check_named, check_text

    answer = check_named(name, floors)
    if as_json:
        _answer(answer)
    else:
        click.echo(check_text(answer))
    if not answer["passed"]:
        sys.exit(EXIT_FAILED)


@release.command("diff")
@click.argument("one")
@click.argument("other")
@click.option("--out", type=_SOURCE, help="HTML file with plots.")
@click.option(
    "--train",
    "trained",
    multiple=True,
    metavar="PREDICTOR",
    help="Train it on both, such as lightgbm-static.",
)
@_as_json
@_explained
def release_diff(one: str, other: str, out: Path | None, trained: tuple[str, ...], as_json: bool) -> None:
    """Compare two releases: rows, targets by stage, failures by reason, errors of predictors."""
    from assets.commands.release_compare import compare_named, compare_text

    answer = compare_named(one, other, trained=trained, out=out)
    if as_json:
        _answer(answer)
    else:
        click.echo(compare_text(answer))


def _say_problems(problems: Sequence[str]) -> None:
    """Problems on standard error; with any the command fails."""
    say_problems(problems)
    if problems:
        sys.exit(EXIT_FAILED)


@simfoundry.command("import")
@click.argument("path", type=_SOURCE)
@click.option(
    "--kernels", type=_SOURCE, help="JSON file of a database's kernels.  [default: the one beside it]"
)
@click.option("--kernel", help="Name for the rows of a report.  [default: its top function]")
@click.option("--directives", type=_SOURCE, help="JSON file with a report's directives.  [default: its own]")
@_as_json
@_explained
def import_command(path: Path, as_json: bool, **options: Any) -> None:
    """Take in a release, a database of Merlin and Vitis results, or HLS reports (csynth.xml).

    A release fills the tables and the cache, so that nothing is labelled again. PATH is its folder, a
    .parquet file, a .xml file, or a folder with reports below.
    """
    from assets.commands.release import ImportQuestion, import_path, import_text

    answer = import_path(path, ImportQuestion(**options))
    if as_json:
        _answer(answer)
    else:
        click.echo(import_text(answer))


def _require_ok(row: Mapping[str, Any]) -> None:
    if row["status"] != "ok":
        _fail(f"the design is not ok ({row['status']}): {row['reason']}")


if __name__ == "__main__":
    main()
