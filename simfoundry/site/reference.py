"""Reference pages, derived from command definitions and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import click

import simfoundry
from simfoundry.cli.entry import simfoundry as program

_COMMON = {"as_json", "debug", "help"}
"""Options of every command."""
_FIELD = re.compile(r"^(\w+): +(.*)$")


def commands_page() -> str:
    """Return the page of every command: usage, purpose, options."""
    blocks = [
        "# Every command",
        "Derived from the definitions of the commands. Each has `--json`, `--debug` and `--help`, too. "
        "Behaviour and examples: [commands](../cli.md).",
    ]
    context = click.Context(program, info_name="simfoundry")
    for section, commands in program.sections.items():
        blocks.append(f"## {section}")
        for command in commands:
            blocks += _command_blocks(command, context)
    return "\n\n".join(blocks) + "\n"


def _command_blocks(command: click.Command, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=command.name, parent=parent)
    yield f"### {context.command_path}"
    yield f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```"
    yield _prose(inspect.cleandoc(command.help or "").replace("\b", ""))
    options = (option for option in command.get_params(context) if option.name not in _COMMON)
    records = (option.get_help_record(context) for option in options if isinstance(option, click.Option))
    yield _table(("option", "meaning"), (_record(record) for record in records if record is not None))
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from _command_blocks(inner, context)


def _record(record: tuple[str, str]) -> tuple[str, str]:
    return f"`{record[0]}`", _prose(record[1])


def functions_page() -> str:
    """Return the page of every public function: signature, docstring, arguments."""
    blocks = ["# Every function", "Derived from the docstrings of `import simfoundry as sf`."]
    for name in simfoundry.__all__:
        if name == "__version__":
            continue
        value = getattr(simfoundry, name)
        if inspect.ismodule(value):
            for inner, member in vars(value).items():
                if inspect.isfunction(member) and member.__module__ == value.__name__ and inner[0] != "_":
                    blocks += _value_blocks(f"sf.{name}.{inner}", member)
        else:
            blocks += _value_blocks(f"sf.{name}", value)
    return "\n\n".join(blocks) + "\n"


def _value_blocks(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}"
    yield f"```python\n{name}{_signature(value)}\n```"
    yield from _docstring_blocks(inspect.getdoc(value) or "")
    if inspect.isclass(value) and is_dataclass(value):
        meanings = ((f"`{one.name}`", _prose(one.metadata["meaning"])) for one in fields(value))
        yield _table(("field", "meaning"), meanings)
    elif inspect.isclass(value):
        for method, inner in vars(value).items():
            if inspect.isfunction(inner) and not method.startswith("_"):
                yield f"### {name}.{method}"
                yield f"```python\n{method}{_signature(inner)}\n```"
                yield from _docstring_blocks(inspect.getdoc(inner) or "")


def _signature(value: Any) -> str:
    """Return a signature without annotations, an argument per line when they are many."""
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(value).parameters.values()
        if parameter.name != "self"
    ]
    text = str(inspect.Signature(parameters))
    if len(text) <= 60:
        return text
    positional = [one for one in parameters if one.kind is not one.KEYWORD_ONLY]
    shown = [str(one) for one in parameters]
    if len(positional) < len(parameters):
        shown[len(positional)] = f"*, {shown[len(positional)]}"
    return "(\n    " + ",\n    ".join(shown) + ",\n)"


def _docstring_blocks(text: str) -> Iterator[str]:
    """Split a docstring into paragraphs and a table of its arguments."""
    for paragraph in re.split(r"\n\s*\n|\n(?=(?:Args|Returns|Raises|Yields|Source):)", text):
        head, _, rest = paragraph.partition(":")
        if head.strip() == "Args":
            yield _table(("argument", "meaning"), _argument_rows(rest))
        elif head.strip() in {"Returns", "Raises", "Yields", "Source"}:
            yield f"**{head.strip()}:** {_prose(' '.join(rest.split()))}"
        elif paragraph.startswith("    "):
            yield f"```python\n{inspect.cleandoc(paragraph)}\n```"
        else:
            yield _prose(paragraph)


def _argument_rows(text: str) -> list[tuple[str, str]]:
    """Return names and meanings of arguments; a deeper line goes on with the one above."""
    lines = [line for line in text.splitlines() if line.strip()]
    least = min((len(line) - len(line.lstrip()) for line in lines[1:] or lines), default=0)
    rows: list[tuple[str, str]] = []
    for line in lines:
        field = _FIELD.match(line.strip())
        is_new = len(line) - len(line.lstrip()) <= max(least, 1) and field is not None
        if is_new and field is not None:
            rows.append((f"`{field.group(1)}`", field.group(2)))
        elif rows:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}")
    return [(name, _prose(meaning)) for name, meaning in rows]


def _table(heads: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    body = [f"| {name} | {' '.join(meaning.split()).replace('|', '&#124;')} |" for name, meaning in rows]
    return "\n".join([f"| {heads[0]} | {heads[1]} |", "| --- | --- |", *body]) if body else ""


def _prose(text: str) -> str:
    """Return text that Markdown shows as it stands, outside of its code spans."""
    parts = text.split("`")
    parts[::2] = (re.sub(r"([<>*_\[\]])", r"\\\1", part) for part in parts[::2])
    return "`".join(parts)
