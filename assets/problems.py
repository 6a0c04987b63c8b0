"""What went wrong, on standard error: one line for a person, one JSON object under `--json`."""

from __future__ import annotations

import json
import os
import re
import traceback
from collections.abc import Sequence
from typing import Any

import click

from pipelines.base.files import MOST_SHOWN, shown

DEBUG_VARIABLE = "SIMFOUNDRY_DEBUG"
_ACCEPTED = re.compile(r"; (?:accepted(?: keys)?|nearest): (?P<names>.*)$", re.DOTALL)
_SUPPORTED = re.compile(r"; supported: (?P<sentence>.*)$", re.DOTALL)
_LONG = re.compile(rf"[^\s/'\"]{{{MOST_SHOWN + 1},}}")
"""A word that a message repeats from the input; paths stay whole."""
_PLACE = re.compile(
    r"\((?P<place>[^()]*[\w.]+:\d+(?::\d+)?|[^()\s]*/[^()]*|[\w.-]+\.(?:c|h|json|yaml|csv|py))\)"
)
"""A place as messages have it: a file with its line, a path, or a file."""


def wants_json() -> bool:
    """Tell whether the command that runs was asked for JSON."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.params.get("as_json"))


def set_debugging(context: click.Context, _parameter: click.Parameter, is_on: bool) -> None:
    """Show tracebacks of the command that runs: the callback of `--debug`."""
    if is_on:
        context.meta[DEBUG_VARIABLE] = True


def is_debugging() -> bool:
    """Tell whether tracebacks are shown: `--debug`, or SIMFOUNDRY_DEBUG is set to something other than 0."""
    context = click.get_current_context(silent=True)
    said = context is not None and context.meta.get(DEBUG_VARIABLE, False)
    return bool(said) or os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0")


def show_traceback(error: BaseException) -> None:
    """Write the traceback of an error to standard error, when tracebacks are shown."""
    if is_debugging():
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)


def say_problems(problems: Sequence[str]) -> None:
    """Write problems to standard error: a line each, or one JSON object for all under `--json`."""
    if not problems:
        return
    problems = [_with_short_words(problem) for problem in problems]
    if not wants_json():
        for problem in problems:
            click.echo(f"simfoundry: {problem}", err=True)
        return
    context = click.get_current_context()
    described = [describe_problem(problem, context.command_path) for problem in problems]
    more = {"problems": described} if len(described) > 1 else {}
    echo_problem({**described[0], **more})


def _with_short_words(message: str) -> str:
    return _LONG.sub(lambda word: shown(word[0]), message)


def echo_problem(problem: dict[str, Any]) -> None:
    """Write one problem as a JSON object."""
    click.echo(json.dumps(problem, allow_nan=False), err=True)


def describe_problem(message: str, command: str) -> dict[str, Any]:
    """Describe a message in parts.

    Args:    command: that failed; where the problem is when the message names no place.
    Returns: `error`, the whole message; `where`, a file with its line, a path or the command; `accepted`, the
             accepted values that the message lists.
    """
    place = _PLACE.search(message)
    return {
        "error": message,
        "where": place.group("place") if place else command,
        "accepted": _accepted(message),
    }


def _accepted(message: str) -> list[str]:
    """Return the accepted values that a message lists."""
    if sentence := _SUPPORTED.search(message):
        return [sentence["sentence"]]
    named = _ACCEPTED.search(message)
    listed = named.group("names").split("; ")[0] if named else ""
    return [name for name in listed.split(", ") if name]


def describe_usage(error: click.ClickException, command: str) -> dict[str, Any]:
    """Describe wrong usage in the same parts: the option is the place, its choices are what is accepted."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else command
    param = getattr(error, "param", None)
    choices: Sequence[Any] = getattr(getattr(param, "type", None), "choices", None) or ()
    possible: Sequence[str] = getattr(error, "possibilities", None) or ()
    name = getattr(error, "option_name", None) or (param.opts[0] if isinstance(param, click.Option) else None)
    message = _with_short_words(error.format_message())
    return {
        "error": message,
        "where": f"{where} {name}" if name else where,
        "accepted": [str(value) for value in (*choices, *possible)] or _accepted(message),
    }


def usage_line(error: click.ClickException, command: str) -> str:
    """Return the wrong usage as one line: what is wrong, which command, and where its options are."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else command
    message = _with_short_words(error.format_message())
    said = " ".join(message.split()).replace(". Did you mean", "; did you mean")
    end = "" if said.endswith("?") else ";"
    return f"{said[:1].lower()}{said[1:].removesuffix('.')}{end} `{where} --help` lists what is accepted"
