"""A program, its configuration and its input data as a prompt (LLMulator section 3)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from numpy.typing import NDArray

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.c import Directive, directive_json, parse_directives, pragma_of, read_interface, tool_version
from pipelines.c.signature import DataSet, Interface
from pipelines.dataset.records.layout import OperatorText, Prompt, RecordError, plain_number
from pipelines.programs import ProgramData, ProgramError, find_data_set
from pipelines.schemas import DesignRow, LoopRow, ProgramRow, RunRow


def prompt_of(
    program: ProgramRow, loops: Sequence[LoopRow], design: DesignRow, data: Mapping[str, str]
) -> Prompt:
    """Return the quadruple of a program under a configuration.

    The top function is the graph and what it calls are the operators. A program of one function is one
    operator, and its graph says no more than how it is called.

    Raises: RecordError: the source has no such function.
    """
    params = {
        "mem-delay-read": str(design.memory_read_delay_cycles),
        "mem-delay-write": str(design.memory_write_delay_cycles),
        "clock-period": plain_number(design.clock_period_ns),
        "liberty": design.liberty,
        "tool": design.tool,
    }
    return source_prompt(
        program.source,
        program.top,
        loops,
        directives=design.directives,
        dynamic=_dynamic_operators(program),
        params=params,
        data=data,
    )


def source_prompt(
    source: str,
    top: str,
    loops: Sequence[LoopRow],
    *,
    directives: str,
    dynamic: Mapping[str, bool],
    params: Mapping[str, str],
    data: Mapping[str, str],
) -> Prompt:
    """Return the quadruple of a source.

    Args:   directives: JSON list. dynamic: class of operators by name, where it is known.
    Raises: RecordError: the source has no such function. HlsError: the directives cannot be read.
    """
    text, apart = annotated(source, loops, parse_directives(directives))
    parts = split_source(text)
    if top not in parts.functions:
        raise RecordError(f"no such function in the source: {top}; accepted: {', '.join(parts.functions)}")
    others = {name: body for name, body in parts.functions.items() if name != top}
    graph = parts.functions[top] if others else prototype(parts.functions[top])
    return Prompt(
        graph=f"{parts.preamble}\n{graph}" if parts.preamble else graph,
        operators=tuple(
            OperatorText(name=name, text=body, dynamic=dynamic.get(name))
            for name, body in (others or {top: parts.functions[top]}).items()
        ),
        params=params,
        mapping=apart,
        data=data,
    )


def _dynamic_operators(program: ProgramRow) -> dict[str, bool]:
    """Tell whether each operator's control flow depends on input data, as far as the graph says."""
    if program.graph is None:
        return {}
    nodes: list[dict[str, Any]] = json.loads(program.graph).get("nodes", [])
    return {n["name"]: n["dynamic"] for n in nodes if isinstance(n.get("dynamic"), bool) and "name" in n}


# ---- functions of a source -------------------------------------------------------------------------


_PART = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<hash>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*\n?)"
    r'|(?P<quoted>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>[(){};=\[\]])|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL | re.MULTILINE,
)
_LOOP_START = re.compile(r"\s*(?:[A-Za-z_]\w*\s*:(?!:)\s*)?(?:for|while|do)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceParts:
    """A program in parts.

    Attributes:
        preamble: everything outside functions: headers, macros, types, tables.
        functions: text by name, in source order.
    """

    preamble: str
    functions: Mapping[str, str]

    def joined(self) -> str:
        """Return a program of the same functions."""
        return "\n\n".join(part for part in (self.preamble, *self.functions.values()) if part) + "\n"


@dataclass(slots=True)
class _Item:
    """One thing at file scope while it is read.

    Attributes:
        depth: of brackets; name: last name outside brackets.
        function: name before the last parenthesis outside brackets; is_data: an `=` was outside brackets.
        is_begun: something other than space and comments was read.
    """

    start: int
    depth: int = 0
    name: str = ""
    function: str = ""
    is_data: bool = False
    is_begun: bool = False


def split_source(source: str) -> SourceParts:
    """Cut C text at its functions; comments and pragmas above a function go with it.

    Raises: RecordError: brackets that do not match.
    """
    outside: list[str] = []
    functions: dict[str, str] = {}
    for text, function in _items(source):
        if function:
            functions[function] = text.strip("\n")
        elif text.strip():
            outside.append(text.strip("\n"))
    return SourceParts(preamble="\n".join(outside), functions=functions)


def _items(source: str) -> Iterator[tuple[str, str]]:
    """Yield every item at file scope with the spaces and comments before it, and its name if a function."""
    item = _Item(start=0)
    for token in _PART.finditer(source):
        kind, text = token.lastgroup, token.group()
        if kind in ("space", "comment"):
            continue
        if kind == "hash":
            if not item.is_begun:
                yield source[item.start : token.end()], ""
                item = _Item(start=token.end())
            continue
        item.is_begun = True
        if kind == "name" and not item.depth:
            item.name = text
        if kind == "sign" and _ends(item, text):
            yield source[item.start : token.end()], item.function if text == "}" else ""
            item = _Item(start=token.end())
    if item.depth or item.is_begun:
        raise RecordError(f"a program must end after a function or a declaration, got {item.name!r}")
    if source[item.start :].strip():
        yield source[item.start :], ""


def _ends(item: _Item, sign: str) -> bool:
    """Take a sign in; whether it ends the item."""
    if sign in "({[":
        if sign == "(" and not item.depth and not item.is_data:
            item.function = item.name
        item.depth += 1
    elif sign in ")}]":
        item.depth -= 1
        return sign == "}" and not item.depth and bool(item.function) and not item.is_data
    elif not item.depth:
        item.is_data |= sign == "="
        return sign == ";"
    return False


def prototype(function: str) -> str:
    """Return the declaration of a function."""
    without = re.sub(r"/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*\n", "", function, flags=re.DOTALL | re.MULTILINE)
    return without.partition("{")[0].strip() + ";"


# ---- directives -----------------------------------------------------------------------------------------


def annotated(
    source: str, loops: Sequence[LoopRow], directives: Sequence[Directive]
) -> tuple[str, tuple[str, ...]]:
    """Return a program with directives as pragmas above their loops.

    Returns: the text, and the directives that have no place in it, as canonical JSON: those on arrays,
             those that flatten, and those on loops that do not begin a line or that stand in a function that
             is called several times.
    """
    lines = source.split("\n")
    by_name = {loop.loop: loop.line for loop in loops}
    shared = Counter(loop.line for loop in loops)
    above: dict[int, list[str]] = {}
    apart: list[str] = []
    for directive in sorted(directives, key=directive_json):
        line = by_name.get(directive.loop, 0)
        spelled = pragma_of(directive)
        if spelled is None or shared[line] != 1 or not _begins(lines, line):
            apart.append(directive_json(directive))
            continue
        indent = re.match(r"\s*", lines[line - 1])
        above.setdefault(line, []).append((indent.group() if indent else "") + f"#pragma {spelled}")
    written = [text for number, line in enumerate(lines, 1) for text in (*above.get(number, ()), line)]
    return "\n".join(written), tuple(apart)


def _begins(lines: Sequence[str], line: int) -> bool:
    """Tell whether a loop begins a line of its own."""
    if not 1 <= line <= len(lines) or _LOOP_START.match(lines[line - 1]) is None:
        return False
    return line == 1 or not lines[line - 2].endswith("\\")


# ---- input data ------------------------------------------------------------------------------------


_interface = lru_cache(maxsize=64)(read_interface)
"""A program has many runs, and its interface takes a parse."""
ELEMENTS = " elements="
"""Between the description of an array and its elements."""
ELEMENT_LIMIT = 64
"""Elements of an array that a prompt has, at most."""


def runtime_data(program: ProgramRow, run: RunRow, cache: ContentCache) -> Mapping[str, str]:
    """Return the runtime inputs of a run by argument: values of scalars; of arrays, their distribution and
    elements.

    Scalars come first. An array is described as in the input specification, `uniform(low=-16,high=16)`;
    `any` when its specification says nothing. Its first elements follow, `ELEMENT_LIMIT` at most, row by row.

    Raises: RecordError: no data set of the program has the run's identity.
    """
    key = content_hash(program.program_id, run.data_id, run.seed, tool_version(), "record-data-2")
    stored = cache.get("record_data", key)
    if stored is None:
        stored = _described(program, run)
        cache.put("record_data", key, stored)
    return stored


def _described(program: ProgramRow, run: RunRow) -> dict[str, str]:
    interface = _interface(program.source, program.top)
    data = _data_set(program, interface, run.data_kind, run.seed, run.data_id)
    kinds: dict[str, dict[str, Any]] = json.loads(data.inputs)
    scalars = {a.name: plain_number(data.values[a.name].item()) for a in interface.scalars}
    arrays = {
        a.name: f"{_kind(kinds.get(a.name))}{ELEMENTS}{_first_elements(data.values[a.name])}"
        for a in interface.arrays
    }
    return scalars | arrays


def run_data(program: ProgramRow, *, kind: str | None, seed: int, identity: str) -> DataSet:
    """Return the values of every argument in a run, drawn again.

    Args:   kind, seed, identity: columns `data_kind`, `seed` and `data_id` of the run.
    Raises: RecordError: no data set of the program has that identity.
    """
    return _data_set(program, _interface(program.source, program.top), kind, seed, identity).values


def _data_set(
    program: ProgramRow, interface: Interface, kind: str | None, seed: int, identity: str
) -> ProgramData:
    try:
        return find_data_set(program, interface, kind=kind, seed=seed, identity=identity)
    except ProgramError as error:
        raise RecordError(str(error)) from error


def _first_elements(values: NDArray[Any]) -> str:
    flat = values.reshape(-1)
    shown = [plain_number(value.item()) for value in flat[:ELEMENT_LIMIT]]
    return ",".join([*shown, *(["..."] if flat.size > ELEMENT_LIMIT else [])])


def _kind(specification: Mapping[str, Any] | None) -> str:
    if specification is None:
        return "any"
    details = {k: v for k, v in specification.items() if k not in ("kind", "values")}
    return f"{specification['kind']}({','.join(f'{k}={v}' for k, v in sorted(details.items()))})"
