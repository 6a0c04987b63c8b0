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
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import click

from assets.deployments import find_deployment
from assets.errors import explain_fully, needing
from assets.problems import say_problems, set_debugging, show_traceback
from assets.signals import received_signal, say_ended
from simfoundry.questions import Options

EXIT_FAILED = 1
EXIT_SIGNAL = 128
"""Exit status of a command that a signal ended, less the signal's number."""
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
            _require_texts(click.get_current_context())
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


LEAST_GIB = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """How the program lists and runs a command.

    Attributes:
        section: heading in the help.
        memory_gib: twice the peak of its largest accepted input; None: it reads tables of the project alone.
        least_gib: memory in which it starts.
        resumes: whether it keeps each part that is done, so that another run goes on from there.
    """

    section: str
    memory_gib: float | None
    least_gib: float = LEAST_GIB
    resumes: bool = False


LISTED: dict[click.Command, Listing] = {}
_AnyCommand = TypeVar("_AnyCommand", bound=click.Command)


def listed(
    section: str, *, memory_gib: float | None, **settings: Any
) -> Callable[[_AnyCommand], _AnyCommand]:
    """Make a command one of the program's, in a section of its help.

    Args: memory_gib, settings: fields of `Listing`.
    """

    def add(command: _AnyCommand) -> _AnyCommand:
        LISTED[command] = Listing(section=section, memory_gib=memory_gib, **settings)
        return command

    return add


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


class Place(click.Path):
    """A file or folder; an empty text, which is the present folder for Python, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail(_EMPTY, param, ctx)
        return super().convert(value, param, ctx)


class Output(Place):
    """A file that a command writes, which is none that it reads and no other one that it writes."""


class Page(Output):
    """An HTML file that a command writes; it replaces no file of another kind, such as a release's."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(str(super().convert(value, param, ctx)))
        if path.is_file() and path.suffix not in (".html", ".htm"):
            self.fail(f"{path} exists and is no page; accepted: a new file, or an .html file", param, ctx)
        return path


class OutputFolder(Place):
    """A folder that a command writes into."""


class NameOrFile(click.ParamType):
    """A name, or a file that the command reads; a file may follow `NAME=`."""

    name = "text"


PATH = Place(path_type=Path)
"""A file or folder that a command reads."""
OUTPUT, OUTPUT_FOLDER, NAME_OR_FILE = Output(path_type=Path), OutputFolder(path_type=Path), NameOrFile()
PAGE = Page(path_type=Path)


_EMPTY = "an empty text."


def _require_texts(context: click.Context) -> None:
    """Refuse options with an empty text, which would be taken for options that are not there.

    Raises: click.BadParameter: there is one.
    """
    for option in (p for p in context.command.params if isinstance(p, click.Option)):
        if "" in _values_of(context.params.get(option.name or "")):
            raise click.BadParameter(_EMPTY, ctx=context, param=option)


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


def options_of(question: type, *names: str) -> Callable[[Command], Command]:
    """Give a command the options of a question.

    Args: names: fields in order; all that are no argument of the command, unless given.
    """
    every = [f.name for f in fields(question) if f.kw_only and f.metadata["role"] != "function"]

    def decorate(command: Command) -> Command:
        for name in reversed(names or every):
            command = option(question, name)(command)
        return command

    return decorate


def option(question: type, name: str, **settings: Any) -> Callable[[Command], Command]:
    """Return the click option of a field of a question.

    Args: settings: of click; those that are given win.
    """
    declared = next(one for one in fields(question) if one.name == name)
    about, default = declared.metadata, declared.default
    is_repeated = settings.setdefault("multiple", isinstance(default, tuple))
    has_shown = default is not False and default not in (None, MISSING, ())
    settings = {
        "help": f"{about['meaning']} Repeat for several." if is_repeated else about["meaning"],
        "show_default": has_shown if about["unset"] is None else str(about["unset"]),
        "metavar": about["metavar"],
        **({"required": True} if default is MISSING else {"default": default}),
        **({"is_flag": True} if isinstance(default, bool) else {"type": _click_type(question, declared)}),
        **settings,
    }
    spelled = about["flags"] or [f"--{name.replace('_', '-')}"]
    return click.option(*spelled, name, **settings)


class _Choice(click.Choice[str]):
    """Texts of which one is chosen; `all-to-all` is `all_to_all`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        is_spelled = isinstance(value, str) and value not in self.choices
        return super().convert(value.replace("-", "_") if is_spelled else value, param, ctx)


def _click_type(question: type, declared: Field[Any]) -> Any:
    """Return the click type of the values of a field."""
    about, least = declared.metadata, declared.metadata["least"]
    kind = _kind_of(_hints(question)[declared.name])
    if about["role"] is not None:
        return _ROLES[about["role"]]
    if about["choices"]:
        return _Choice(about["choices"])
    if kind is not float and (least, about["most"]) == (None, None):
        return {Path: PATH, int: click.INT}.get(kind, click.STRING)
    is_open = about["above"] is not None
    kinds = Whole if kind is int else Finite
    return kinds(about["above"] if is_open else least, about["most"], min_open=is_open)


@cache
def _hints(question: type) -> dict[str, Any]:
    """Return the types of a question's fields, which take 1 ms to find."""
    return get_type_hints(question)


_ROLES = {"output": OUTPUT, "output folder": OUTPUT_FOLDER, "name or file": NAME_OR_FILE}


def _kind_of(hint: Any) -> Any:
    """Return the class of an option's values, Path for `Path | str | None`."""
    if get_origin(hint) is types.UnionType:
        kinds = [_kind_of(kind) for kind in get_args(hint) if kind is not type(None)]
        return Path if Path in kinds else kinds[0]
    return hint if get_origin(hint) is None else _kind_of(get_args(hint)[0])


def configuration_options(command: Command) -> Command:
    """Add the options of one configuration."""
    command = options_of(Options, "memory_delay", "clock_ns")(command)
    return option(Options, "directives", multiple=False, default=None)(command)


def fail_with_problems(problems: Sequence[str]) -> None:
    """Print problems on standard error and exit with the failure status if there are any."""
    say_problems(problems)
    if problems:
        sys.exit(EXIT_FAILED)
