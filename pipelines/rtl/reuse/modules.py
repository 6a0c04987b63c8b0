"""Modules that a Verilog text defines and instantiates, as far as its text alone says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.file_lists import Placed

_NAME = r"(?:[A-Za-z_][\w$]*)"
_EDGE = re.compile(
    rf"\b(?P<begin>macromodule|module)\s+(?:automatic\s+|static\s+)?(?P<name>{_NAME})"
    r"|\b(?P<end>endmodule)\b"
    rf"|(?<![\w$.`'])(?P<kind>{_NAME})\s*(?=\#\s*[(\w]|\s(?:{_NAME}|\\\S+\s)\s*(?:\[[^\]]*\]\s*)*\()",
    re.ASCII,
)
_PARAMETER = re.compile(
    rf"\b(localparam|parameter|input|output|inout)\b|({_NAME})\s*((?:\[[^\]]*\]\s*)*)=(?!=)", re.ASCII
)
_BOUND = re.compile(rf"\bbind\s+[\w$.]+\s+(?:[:][^;()#]*\s)?(?P<kind>{_NAME})\s*(?:#|{_NAME}\s*\()", re.ASCII)
_LITERAL = re.compile(
    r"""-?\d[\d_]*(?:\.\d+)?|-?\d*'[sS]?[bodhBODH][\da-fA-F_xXzZ?]+|'[01xz]|"[^"\\\n]*\"""", re.ASCII
)
_OPENING, _CLOSING = "([{", ")]}"
_SHOWN = 20
"""Names in a message."""
_KEYWORDS = (
    "alias always_comb always_ff always_latch assert assume before bind bins bit break byte chandle "
    "checker class clocking const constraint context continue cover covergroup coverpoint cross dist do "
    "endchecker endclass endclocking endgroup endinterface endpackage endprogram endproperty "
    "endsequence enum eventually expect export extends extern final first_match foreach forkjoin global "
    "iff ignore_bins illegal_bins implements implies import inside int interconnect interface intersect "
    "join_any join_none let local logic longint matches modport nettype new nexttime package packed "
    "priority program property protected pure rand randc randcase randsequence ref restrict return "
    "sequence shortint shortreal soft solve static string strong struct super tagged this throughout "
    "timeprecision timeunit type typedef union unique unique0 until until_with untyped var virtual void "
    "wait_order weak wildcard with within"
)
"""Words of SystemVerilog that are names in Verilog (IEEE 1800-2017, Annex B, without IEEE 1364-2005)."""
_OLD_NAME = re.compile(
    r"(?:[,\]]|\b(?:input|output|inout|wire|reg|integer|signed))\s*\b"
    rf"(?:{'|'.join(_KEYWORDS.split())})\s*(?=[,;)=])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A module: its name, where its header and its end are, and the names before possible instances in it."""

    name: str
    start: int
    end: int
    kinds: frozenset[str]


def definitions(code: str) -> list[Definition]:
    """Return the modules of a text without comments and directives, in order."""
    modules: list[Definition] = []
    name, start, kinds = "", 0, set[str]()
    for match in _EDGE.finditer(code):
        if match["begin"]:
            name, start, kinds = match["name"], match.end(), set[str]()
        elif match["kind"]:
            kinds.add(match["kind"])
        elif name:
            modules.append(Definition(name=name, start=start, end=match.start(), kinds=frozenset(kinds)))
            name = ""
    return modules


def find_top(modules: Sequence[Definition], code: str = "") -> str:
    """Return the only module that no other one instantiates and that `bind` puts into none.

    Args:   code: of the modules, where binds may stand.

    Raises: RtlError: there are several, or none.
    """
    names = list(dict.fromkeys(module.name for module in modules))
    inner = {kind for module in modules for kind in module.kinds - {module.name}}
    inner |= {bound["kind"] for bound in _BOUND.finditer(code)}
    tops = [name for name in names if name not in inner]
    if len(tops) == 1:
        return tops[0]
    if not names:
        raise RtlError("no module in the design; accepted: at least one")
    several = ", ".join(tops[:_SHOWN]) + (f" and {len(tops) - _SHOWN} more" if len(tops) > _SHOWN else "")
    what = (
        f"several modules that no other one instantiates: {several}"
        if tops
        else "every module is instantiated"
    )
    raise RtlError(f"{what}; accepted: --top with one of them" if tops else f"{what}; accepted: --top MODULE")


def uses_old_names(code: str) -> bool:
    """Tell whether Verilog has a name that is a word of SystemVerilog, such as a port `class`."""
    return _OLD_NAME.search(code) is not None


# ---- parameters ------------------------------------------------------------------------------------------


def with_parameters(text: str, code: str, *, top: str, values: Sequence[Placed]) -> str:
    """Return a text in which the parameters of the top module have other defaults.

    A default is what an engine takes for the top module, so all engines see the same value.

    Args:   code: see `includes.Source`. values: NAME=VALUE each; a later one wins.
    Raises: RtlError: no such parameter, or a value that is no literal.
    """
    if not values:
        return text
    module = next((module for module in definitions(code) if module.name == top), None)
    if module is None:
        return text  # readers say that there is no such module
    places = dict[str, list[tuple[int, int]]]()
    for name, start, end in _defaults(code, module):
        places.setdefault(name, []).append((start, end))
    edits = dict[tuple[int, int], str]()
    for value in values:
        name, content = read_parameter(value)
        if name not in places:
            accepted = ", ".join([*places][:_SHOWN]) or "none"
            raise RtlError(f"unknown parameter: {name} ({value.place}); accepted: {accepted}")
        edits |= dict.fromkeys(places[name], content)
    for (start, end), content in sorted(edits.items(), reverse=True):
        lines = "\n" * text.count("\n", start, end)
        text = f"{text[:start]} {content} {lines}{text[end:]}"
    return text


def read_parameter(value: Placed) -> tuple[str, str]:
    """Return the name and value of NAME=VALUE.

    Raises: RtlError: another form, or a value that is no literal.
    """
    name, equal, content = value.value.partition("=")
    if not equal or not re.fullmatch(_NAME, name, re.ASCII):
        raise RtlError(f"-G {value.value} ({value.place}); accepted: -G NAME=VALUE")
    if content.lstrip("-").replace("_", "").isdigit() and not -(1 << 31) <= int(content) < 1 << 32:
        raise RtlError(
            f"value of parameter {name}: {content} ({value.place}); accepted: 32 bits, or a number with a "
            "width, such as 64'd5000000000"
        )
    if not _LITERAL.fullmatch(content):
        raise RtlError(
            f"value of parameter {name}: {content} ({value.place}); accepted: a number, such as 8 or 4'hf, "
            "or a text in quotes"
        )
    return name, content


def _defaults(code: str, module: Definition) -> Iterator[tuple[str, int, int]]:
    """Yield the parameters of a module with the places of their defaults."""
    at = module.start
    header = re.compile(r"\s*(?:import\b[^;]*;\s*)*#\s*\(").match(code, at, module.end)
    if header is not None:
        end = _end(code, header.end(), module.end, ")")
        yield from _parameters(code, header.end(), end)
        return  # IEEE 1800-2017, 6.20.1: those of the body are local then
    for declared in re.compile(r"\bparameter\b").finditer(code, at, module.end):
        end = _end(code, declared.end(), module.end, ";")
        yield from _parameters(code, declared.end(), end)


def _parameters(code: str, at: int, end: int) -> Iterator[tuple[str, int, int]]:
    is_parameter = True
    while (match := _PARAMETER.search(code, at, end)) is not None:
        at = match.end()
        if match[1]:
            is_parameter = match[1] == "parameter"
            continue
        stop = min(_end(code, at, end, ","), end)
        if is_parameter:
            yield match[2], at, stop
        at = stop


def _end(code: str, at: int, most: int, mark: str) -> int:
    """Return where a mark is outside of brackets and strings, or where these close."""
    depth = 0
    while at < most:
        letter = code[at]
        if depth == 0 and (letter == mark or letter in _CLOSING):
            return at
        if letter == '"':
            closing = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL).match(code, at)
            at = most if closing is None else closing.end()
            continue
        depth += (letter in _OPENING) - (letter in _CLOSING)
        at += 1
    return most
