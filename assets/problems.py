"""What went wrong, on standard error: one line for a person, one JSON object under `--json`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import click

_ACCEPTED = re.compile(r"; (?:accepted(?: keys)?|tables): (?P<names>.*)$", re.DOTALL)
_PLACE = re.compile(
    r"\((?P<place>[^()]*[\w.]+:\d+(?::\d+)?|[^()\s]*/[^()]*|[\w.-]+\.(?:c|h|json|yaml|csv))\)"
)
"""A place as messages have it: a file with its line, a path, or a file."""


def wants_json() -> bool:
    """Whether the command that runs was asked for JSON."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.params.get("as_json"))


def say_problems(problems: Sequence[str]) -> None:
    """Write problems to standard error: a line each, or one JSON object for all under `--json`."""
    if not problems:
        return
    if not wants_json():
        for problem in problems:
            click.echo(f"simfoundry: {problem}", err=True)
        return
    context = click.get_current_context()
    described = [describe_problem(problem, context.command_path) for problem in problems]
    more = {"problems": described} if len(described) > 1 else {}
    echo_problem({**described[0], **more})


def echo_problem(problem: dict[str, Any]) -> None:
    """Write one problem as a JSON object."""
    click.echo(json.dumps(problem, allow_nan=False), err=True)


def describe_problem(message: str, command: str) -> dict[str, Any]:
    """A message in parts.

    Args:    command: that failed; where the problem is when the message names no place.
    Returns: `error`, the whole message; `where`, a file with its line, a path or the command; `accepted`, the
             accepted values that the message lists.
    """
    named = _ACCEPTED.search(message)
    listed = named.group("names").split("; ")[0] if named else ""
    place = _PLACE.search(message)
    return {
        "error": message,
        "where": place.group("place") if place else command,
        "accepted": [name for name in listed.split(", ") if name],
    }


def describe_usage(error: click.ClickException, command: str) -> dict[str, Any]:
    """Wrong usage in the same parts: the option is the place, its choices are what is accepted."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else command
    param = getattr(error, "param", None)
    choices: Sequence[Any] = getattr(getattr(param, "type", None), "choices", None) or ()
    possible: Sequence[str] = getattr(error, "possibilities", None) or ()
    name = getattr(error, "option_name", None) or (param.opts[0] if isinstance(param, click.Option) else None)
    return {
        "error": error.format_message(),
        "where": f"{where} {name}" if name else where,
        "accepted": [str(value) for value in (*choices, *possible)],
    }
