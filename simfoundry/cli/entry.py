"""The `simfoundry` command: its entry point and the group of all subcommands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from assets.deployments import QUIET_ENVIRONMENT
from assets.problems import describe_usage, echo_problem
from assets.signals import (
    end_on_signals,
    end_processes,
    ignore_signals,
    received_signal,
    say_ended,
    was_said,
    was_signalled,
)
from simfoundry.cli.options import EXIT_FAILED, EXIT_SIGNAL
from simfoundry.cli.programs import calibrate, label, pragmas, predict
from simfoundry.cli.releases import import_command, models, release, train
from simfoundry.cli.systems import explore, network, place, power, simulate
from simfoundry.cli.tables import records, report, run, sql, stage, ui


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


for command in (
    run,
    label,
    predict,
    pragmas,
    network,
    sql,
    report,
    ui,
    stage,
    records,
    calibrate,
    models,
    train,
    place,
    power,
    explore,
    simulate,
    release,
    import_command,
):
    simfoundry.add_command(command)
