"""A command as a tool: typed arguments from its question, and the words of the command from their values."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click
import pydantic
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from assets.errors import FoundryError
from pipelines.base.validation import NotJson, describe_invalid, parse_json_model
from simfoundry.questions import Options, is_text

OUTPUTS = ("output", "output folder")
"""Roles of options that write."""
SOURCE = "source"
"""Argument that is C text or a path."""
INLINE = "program.c"
"""File of a source that is C text; a design has its name."""
MOST_BYTES = 4 << 20
"""Arguments of one call."""
MOST_WORD_BYTES = (128 << 10) - 1
"""One argument of a process, by Linux."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A command that is called with JSON.

    Attributes:
        arguments: model of the arguments; names are those of the function of Python.
        positional: arguments without an option, in order.
        options: click's options by argument.
        inline: arguments of a JSON file that also take its value.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    positional: tuple[str, ...]
    options: Mapping[str, click.Option]
    inline: frozenset[str]

    def words(self, values: Mapping[str, Any], folder: Path) -> list[str]:
        """Return the words of the command for a call.

        Args:    folder: takes texts and values of the call as files.
        Raises:  FoundryError: an argument is unknown, missing, of another type or out of its bounds.
        """
        read = {name: value for name, value in self._read(values).items() if value not in (None, [])}
        present = {name: self._filed(name, value, folder) for name, value in read.items()}
        spelled = [
            word
            for name, option in self.options.items()
            if name in present
            for word in _spelled(option, present[name])
        ]
        words = [self.name, *spelled, "--json", "--", *(str(present[name]) for name in self.positional)]
        _require_words(words, self.name)
        return words

    def _filed(self, name: str, value: Any, folder: Path) -> Any:
        """Return C text, and the value of a JSON file, as the path of a file; other values as they are."""
        if name in self.inline and not isinstance(value, str):
            return _written(folder / f"{name}.json", json.dumps(value))
        return _written(folder / INLINE, value) if name == SOURCE and is_text(value) else value

    def _read(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            content = json.dumps(dict(values)).encode()
            if len(content) > MOST_BYTES:
                raise FoundryError(f"arguments of more than {MOST_BYTES >> 20} MiB ({self.name})")
            model = parse_json_model(content, self.arguments)
        except NotJson as error:
            raise FoundryError(f"{error} ({self.name})") from error
        except ValidationError as error:
            raise FoundryError(describe_invalid(error, self.arguments, self.name)) from error
        return model.model_dump(exclude_unset=True)


def tool_of(command: click.Command, question: type, *, writes: bool) -> Tool:
    """Return the tool of a command.

    Args: question: what the command asks. writes: whether the tool has options that write files.
    """
    declared = {one.name: one for one in (*fields(Options), *fields(question))}
    hints = get_type_hints(Options) | get_type_hints(question)
    own = [p for p in command.params if p.name in declared and isinstance(p, click.Option)]
    options = {str(p.name): p for p in own if writes or declared[str(p.name)].metadata["role"] not in OUTPUTS}
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    plain = [one.name for one in fields(question) if not one.kw_only]
    positional = tuple(plain[: len(arguments)])
    model = create_model(
        command.name or "",
        __config__=ConfigDict(extra="forbid", allow_inf_nan=False),
        **{name: _argument(declared[name], hints[name]) for name in (*positional, *options)},
    )
    return Tool(
        name=command.name or "",
        description=inspect.cleandoc(command.help or ""),
        arguments=model,
        positional=positional,
        options=options,
        inline=frozenset(name for name in options if _is_inline(hints[name])),
    )


def _argument(declared: Field[Any], hint: Any) -> Any:
    """Return the type of an argument, with its meaning, bounds and choices, and its default."""
    about = declared.metadata
    kind = _json_type(hint)
    if about["choices"]:
        choices: Any = Literal[tuple(about["choices"])]
        kind = choices | None if declared.default is None else choices
    default = ... if declared.default is MISSING else declared.default
    unset = f" Without it: {about['unset']}." if about["unset"] is not None else ""
    inline = " Or the value itself." if _is_inline(hint) else ""
    form = f" Form: {about['metavar']}." if "=" in (about["metavar"] or "") else ""
    bounds = {"ge": about["least"], "gt": about["above"], "le": about["most"]}
    return kind, pydantic.Field(default, description=f"{about['meaning']}{form}{inline}{unset}", **bounds)


def _is_inline(hint: Any) -> bool:
    """Tell whether a file's option also takes the value that the file would have."""
    kinds = get_args(hint)
    return Path in kinds and any(get_origin(kind) in (Mapping, Sequence) for kind in kinds)


def _json_type(hint: Any) -> Any:
    """Return a type as JSON has it: a path is a text, a sequence a list."""
    parts = [_json_type(part) for part in get_args(hint)]
    origin = get_origin(hint)
    if origin in (types.UnionType, Union):
        return reduce(or_, parts)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[parts[0], parts[1]]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list[parts[0]]
    return str if hint is Path else hint


def _require_words(words: Sequence[str], tool: str) -> None:
    """Check that the system passes every word to a process. Raises: FoundryError: it does not."""
    for word in words:
        if "\0" in word:
            raise FoundryError(f"a text with a NUL byte: {word[:40]!r} ({tool})")
        if len(word.encode(errors="surrogatepass")) > MOST_WORD_BYTES:
            accepted = (
                f"at most {MOST_WORD_BYTES} bytes; C of several lines, directives and data may be longer"
            )
            raise FoundryError(
                f"a text of {len(word)} characters: {word[:40]!r} ({tool}); accepted: {accepted}"
            )


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _spelled(option: click.Option, value: Any) -> Iterator[str]:
    """Yield the words of an option; each is one word, so that a value may begin with a dash."""
    name = max(option.opts, key=len)
    if option.is_flag:
        if value != option.default:
            yield name if value else option.secondary_opts[0]
        return
    if isinstance(value, dict):
        value = [f"{key}={count}" for key, count in value.items()]
    if isinstance(value, list) and not option.multiple:
        value = ",".join(value)
    for one in value if isinstance(value, list) else [value]:
        yield f"{name}={one}"
