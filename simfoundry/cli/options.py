"""What every command shares: options, the answer, and failures as one line on standard error."""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache, wraps
from pathlib import Path
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

import click

from assets.deployments import find_deployment
from assets.errors import explain_fully, needing
from assets.problems import say_problems, set_debugging, show_traceback
from assets.signals import received_signal, say_ended
from pipelines.base.bounds import CLOCK_PERIOD_NS, MEMORY_DELAY_CYCLES
from simfoundry.questions import Options

EXIT_FAILED = 1
EXIT_SIGNAL = 128
"""Exit status of a command that a signal ended, less the signal's number."""
PATH = click.Path(path_type=Path)
"""A file or folder that a command reads."""
Command = Callable[..., None]

debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=set_debugging,
    help="Show the traceback of a failure; also SIMFOUNDRY_DEBUG=1.",
)


def as_json_option(command: Command) -> Command:
    """Add the options of every command: `--json` and `--debug`."""
    return click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")(debug_option(command))


def explained(command: Command) -> Command:
    """Turn any failure of a subcommand into one line on standard error and a non-zero exit."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            require_apart(click.get_current_context())
            with needing("foundry"):
                command(*args, **kwargs)
        except click.UsageError as error:
            error.ctx = error.ctx or click.get_current_context()
            raise
        except KeyboardInterrupt:
            say_ended()
            sys.exit(EXIT_SIGNAL + received_signal())
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_FAILED)
        except Exception as error:
            show_traceback(error)
            fail(explain_fully(error))

    return run


def fail(message: str, status: int = EXIT_FAILED) -> NoReturn:
    say_problems([message])
    sys.exit(status)


PACE_S = 20.0


class PacedEcho:
    """Lines about progress on standard error: none at first, then one every `PACE_S` seconds."""

    def __init__(self) -> None:
        self._latest_s = time.monotonic()

    def __call__(self, line: str) -> None:
        """Print a line, unless the one before is younger than `PACE_S`."""
        if time.monotonic() - self._latest_s >= PACE_S:
            self._latest_s = time.monotonic()
            click.echo(line, err=True)


def answer_json(value: Any) -> None:
    try:
        click.echo(json.dumps(value, indent=2, default=str, allow_nan=False))
    except ValueError:
        fail("the answer has a number that JSON has not: NaN or an infinity")


class Commands(click.Group):
    """Commands in sections, each with the whole first sentence of its help.

    Args: sections: commands by the heading under which the help lists them; others are under Commands.
    """

    def __init__(
        self, *rest: Any, sections: Mapping[str, tuple[click.Command, ...]] | None = None, **more: Any
    ) -> None:
        super().__init__(*rest, **more)
        self.sections = dict(sections or {})
        for command in (command for own in self.sections.values() for command in own):
            self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        del ctx
        placed = {command for own in self.sections.values() for command in own}
        others = tuple(command for command in self.commands.values() if command not in placed)
        for heading, own in {**self.sections, "Commands": others}.items():
            if own:
                with formatter.section(heading):
                    formatter.write_dl([(str(one.name), one.get_short_help_str(limit=_UNCUT)) for one in own])


_UNCUT = 1000
"""Characters of a command's first sentence in the list of commands: more than any has."""

# ---- files -------------------------------------------------------------------------------------------


class Output(click.Path):
    """A file that a command writes, which is none that it reads and no other one that it writes."""


class Page(Output):
    """An HTML file that a command writes; it replaces no file of another kind, such as a release's."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(str(super().convert(value, param, ctx)))
        if path.is_file() and path.suffix not in (".html", ".htm"):
            self.fail(f"{path} exists and is no page; accepted: a new file, or an .html file", param, ctx)
        return path


class OutputFolder(click.Path):
    """A folder that a command writes into."""


class NameOrFile(click.ParamType):
    """A name, or a file that the command reads; a file may follow `NAME=`."""

    name = "text"


OUTPUT, OUTPUT_FOLDER, NAME_OR_FILE = Output(path_type=Path), OutputFolder(path_type=Path), NameOrFile()
PAGE = Page(path_type=Path)


def require_apart(context: click.Context) -> None:
    """Refuse an output that is an input, another output, or a table of the project; links count.

    Raises: click.UsageError: there is one.
    """
    taken: dict[Any, str] = {}
    outputs: list[tuple[str, Path]] = []
    for parameter in context.command.params:
        label = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.make_metavar(context)
        for value in _values_of(context.params.get(parameter.name or "")):
            if isinstance(parameter.type, Output):
                outputs.append((label, Path(value)))
            elif isinstance(parameter.type, click.Path | NameOrFile):
                names = (value, *str(value).partition("=")[2:])
                taken.update({identity: label for name in names if (identity := _identity(Path(name)))})
    for label, path in outputs:
        identity = _identity(path) or os.path.realpath(path)
        if identity in taken:
            raise click.UsageError(f"{label} {path} is the file of {taken[identity]}; accepted: another file")
        if path.is_file():
            _require_no_table(label, path.resolve())
            taken[identity] = label
        elif not path.exists():
            taken[identity] = label


def _require_no_table(label: str, path: Path) -> None:
    data_dir = find_deployment().data_dir.resolve()
    if any(path.is_relative_to(data_dir / room) for room in ("tables", "measured")):
        raise click.UsageError(f"{label} {path} is a file of a table; accepted: another file")


def _values_of(value: Any) -> Sequence[Any]:
    return () if value is None else value if isinstance(value, list | tuple) else (value,)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and number of a regular file, the same for all its names; None for anything else."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


# ---- numbers -----------------------------------------------------------------------------------------


def _describe(least: float | None, most: float | None, *, least_open: bool) -> str:
    """Describe a range in words."""
    if most is None:
        return "" if least is None else f"above {least:g}" if least_open else f"{least:g} or more"
    first, last = (f"{end:,}".removesuffix(".0") for end in (least or 0, most))
    return f"{last} or less" if least is None else f"{'above ' if least_open else ''}{first} to {last}"


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "integer"

    def _describe_range(self) -> str:
        return _describe(self.min, self.max, least_open=self.min_open)


class Finite(click.FloatRange):
    """A number within bounds that is neither NaN, which is within any, nor infinite."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number

    def _describe_range(self) -> str:
        return _describe(self.min, self.max, least_open=self.min_open)


# ---- options of a question -----------------------------------------------------------------------------


def option(question: type, name: str, *flags: str, **settings: Any) -> Callable[[Command], Command]:
    """Return a click option for a field of a question, with the field's type and default.

    Args: flags: how it is spelled; `--memory-delay` for memory_delay unless given. settings: of click; those
          that are given win.
    """
    hint, default = _declared(question)[name]
    is_repeated = isinstance(default, tuple)
    if settings.get("show_default") is None:
        settings["show_default"] = default not in (None, MISSING, False, ())
    if isinstance(default, bool):
        settings["is_flag"] = True
    else:
        settings.setdefault("type", _click_type(hint))
    if is_repeated:
        settings["help"] = f"{settings['help']} Repeat for several."
    if default is MISSING:
        settings["required"] = True
    else:
        settings["default"] = default
    spelled = [flag for flag in flags if flag.startswith("-")] or [f"--{name.replace('_', '-')}"]
    return click.option(*spelled, name, multiple=is_repeated, **settings)


@cache
def _declared(question: type) -> dict[str, tuple[Any, Any]]:
    """Return the type hint and default of the fields of a question."""
    hints = get_type_hints(question)
    return {field.name: (hints[field.name], field.default) for field in fields(question)}


def _click_type(hint: Any) -> Any:
    """Return the type of an option's values, of `Path | str | None` for example a path."""
    if get_origin(hint) is types.UnionType:
        kinds = [_click_type(kind) for kind in get_args(hint) if kind is not type(None)]
        return PATH if PATH in kinds else kinds[0]
    if get_origin(hint) is not None:
        return _click_type(get_args(hint)[0])
    return {Path: PATH, float: Finite(), int: click.INT}.get(hint, click.STRING)


def configuration_options(command: Command) -> Command:
    """Add the options of one configuration."""
    for one in (
        option(Options, "clock_ns", "--clock", type=Finite(*CLOCK_PERIOD_NS), help="Clock period in ns."),
        option(Options, "memory_delay", type=Whole(*MEMORY_DELAY_CYCLES), help="Memory delay in cycles."),
        click.option("--directives", type=PATH, help="JSON file with a list of directives."),
    ):
        command = one(command)
    return command


def fail_with_problems(problems: Sequence[str]) -> None:
    """Print problems on standard error and exit with the failure status if there are any."""
    say_problems(problems)
    if problems:
        sys.exit(EXIT_FAILED)
