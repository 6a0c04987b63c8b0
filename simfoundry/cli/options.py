"""What every command shares: options, the answer, and failures as one line on standard error."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click

from assets.problems import say_problems
from assets.signals import received_signal, say_ended

EXIT_FAILED = 1
EXIT_SIGNAL = 128
"""Exit status of a command that a signal ended, less the signal's number."""
PATH = click.Path(path_type=Path)
as_json_option = click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")


def explained(command: Callable[..., None]) -> Callable[..., None]:
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
            fail(kind + explain(error))

    return run


def fail(message: str, status: int = EXIT_FAILED) -> NoReturn:
    say_problems([message])
    sys.exit(status)


def answer_json(value: Any) -> None:
    try:
        click.echo(json.dumps(value, indent=2, default=str, allow_nan=False))
    except ValueError:
        fail("the answer has a number that JSON has not: NaN or an infinity")


class Finite(click.FloatRange):
    """A number within bounds that is neither NaN, which is within any, nor infinite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def configuration_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options of one configuration."""
    for option in (
        click.option("--clock", default=10.0, show_default=True, type=Finite(), help="Clock period in ns."),
        click.option("--memory-delay", default=2, show_default=True, help="Memory delay in cycles."),
        click.option("--directives", type=PATH, help="JSON file with a list of directives."),
    ):
        command = option(command)
    return command


def fail_with_problems(problems: Sequence[str]) -> None:
    """Problems on standard error; with any the command fails."""
    say_problems(problems)
    if problems:
        sys.exit(EXIT_FAILED)


class _DeclaredOption(click.Option):
    """An option whose help has no text on the range of its numbers, which its words or its refusal say."""

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def declared_option(defaults: object, *spellings: str, **details: Any) -> Callable[..., Any]:
    """An option whose default is the attribute of `defaults` that has its name."""
    name = max(spellings, key=len).lstrip("-").replace("-", "_")
    default = getattr(defaults, name)
    return click.option(*spellings, cls=_DeclaredOption, default=default, show_default=True, **details)
