"""The `simfoundry` command: its entry point and the group of all subcommands."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from assets.deployments import QUIET_ENVIRONMENT
from assets.problems import describe_usage, echo_problem, say_problems, usage_line
from assets.signals import (
    end_on_signals,
    end_processes,
    ignore_signals,
    received_signal,
    say_ended,
    was_reported,
    was_signalled,
)
from pipelines.base.limited import watched
from simfoundry.cli.options import EXIT_FAILED, EXIT_SIGNAL, LEAST_GIB, LISTED, Commands, Finite, debug_option

OWN_PROCESS = "own process"
"""Click's object of a command that may start processes and handle signals: `main` was called."""
SECTIONS = ("Programs", "Tables", "Models", "Networks, accelerators and Verilog", "Releases")
"""Sections of the help, in order; others follow."""


def _sections() -> dict[str, tuple[click.Command, ...]]:
    """Import the modules of this package, and return the commands that they list by section."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"simfoundry.cli.{module.name}")
    return {
        section: tuple(command for command, listing in LISTED.items() if listing.section == section)
        for section in dict.fromkeys((*SECTIONS, *(listing.section for listing in LISTED.values())))
    }


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit: 0 for success, 1 for failure, 2 for wrong usage, 128 + N for signal N."""
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_ENVIRONMENT.items()})
    words = None if arguments is None else list(arguments)
    try:
        simfoundry.main(args=words, prog_name="simfoundry", obj=OWN_PROCESS)
    except (SystemExit, KeyboardInterrupt) as ended:
        if was_signalled() and getattr(ended, "code", EXIT_FAILED):
            _end_by_signal()
        raise
    sys.exit(0)


def _end_by_signal() -> NoReturn:
    """Say once that a signal ended the command, and exit; Dagster takes some interrupts for failed steps."""
    if not was_reported():
        say_ended()
    ignore_signals()
    end_processes()
    # After an interrupt in a text that was executed, as dataclasses do, `python -m` ends with status 130,
    # whatever is asked for, unless one ends well.
    exec("")  # noqa: S102
    sys.exit(EXIT_SIGNAL + received_signal())


class _Commands(Commands):
    """The commands of the program; wrong usage is one line, or a JSON object when the answer would be one."""

    def main(self, args: Any = None, *rest: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        if not standalone_mode:
            return super().main(words, *rest, standalone_mode=False, **extra)
        try:
            status = super().main(words, *rest, standalone_mode=False, **extra)
        except NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.ClickException as error:
            if "--json" in words:
                echo_problem(describe_usage(error, "simfoundry"))
            else:
                click.echo(f"simfoundry: {usage_line(error, 'simfoundry')}", err=True)
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(EXIT_FAILED)
        sys.exit(status if isinstance(status, int) else 0)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    sections=_sections(),
)
@click.version_option(package_name="simfoundry")
@click.option(
    "--memory-gib",
    type=Finite(min=LEAST_GIB),
    help="Memory of a command that reads your files, with its tools; docs/cli.md names the usual ones.",
)
@debug_option
@click.pass_context
def simfoundry(context: click.Context, memory_gib: float | None) -> None:
    """A dataset foundry for learned cost models of hardware and networks."""
    if context.obj != OWN_PROCESS:
        return  # called by a program in its own process
    listing = LISTED[simfoundry.commands[context.invoked_subcommand or ""]]
    if memory_gib is not None and memory_gib < listing.least_gib:
        raise click.BadParameter(
            f"{memory_gib:g} is too little for {context.invoked_subcommand}: {listing.least_gib:g} or more.",
            param_hint="'--memory-gib'",
        )
    most_gib = listing.memory_gib if memory_gib is None else memory_gib
    if most_gib is not None:
        watched(
            int(most_gib * 2**30),
            say=lambda problem: say_problems([problem]),
            more="accepted: less, or `simfoundry --memory-gib N` before the command",
            exit_by_signal=EXIT_SIGNAL,
            failed=EXIT_FAILED,
        )
    end_on_signals(resumes=listing.resumes)
