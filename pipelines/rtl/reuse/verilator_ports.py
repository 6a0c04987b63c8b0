"""Ports of a model of Verilator, from its own text: names in C++, widths, arrays and clocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pipelines.rtl.reuse.clocking import ONE_CLOCK
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.schedules import NO_CLOCKS, Clock
from pipelines.rtl.reuse.simulator import Ports, reset_level

_PORT = re.compile(
    r"VL_(IN|OUT|INOUT)(?:8|16|64|W)?\((?:&(\w+)|\(&(\w+)\)((?:\[\d+\])+)),(\d+),(\d+)(?:,\d+)?\);"
)
_ARRAY_PORT = re.compile(
    r"^ *(?P<type>VlUnpacked<[^;]*/\*(?P<high>\d+):(?P<low>\d+)\*/[^;]*>) ?&(?P<name>\w+);", re.MULTILINE
)
"""An unpacked port in the header of a model of Verilator 5.048; it lacks the direction."""
_EDGES = re.compile(r"@\(([^()]*)\)")
_EDGE = re.compile(r"\b(?:pos|neg)edge ([\w.$]+)")
_ESCAPED = re.compile(r"__0([0-9a-f]{2})")
_RESERVED = "__SYM__"
"""What Verilator writes before names that C++ reserves."""
CPP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "abort alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bit_vector "
        "bitand bitor bool break case catch cdecl char char16_t char32_t class compl complex concept "
        "const const_cast const_iterator constexpr continue decltype default delete deque do double "
        "dynamic_cast else enum explicit export extern false far float for friend goto huge if import "
        "inline int interrupt iterator list long map mutable namespace near new noexcept not not_eq "
        "nullptr operator or or_eq override pascal private protected public queue register "
        "reinterpret_cast requires restrict return sc_clock sc_in sc_inout sc_out sc_signal sensitive "
        "sensitive_neg sensitive_pos set short signed sizeof stack static static_assert static_cast "
        "struct switch synchronized template this thread_local throw transaction_safe "
        "transaction_safe_dynamic true try type_info typedef typeid typename uint16_t uint32_t uint8_t "
        "union unsigned using vector virtual void volatile wchar_t while xor xor_eq ",
    )
)
"""Names of ports that the header of a model of Verilator 5.006 has with that in front."""
_NUMBER = re.compile(r"\s*(\d+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A port of a model.

    Attributes:
        name: in C++. width: of an element. sizes: of the dimensions of an array, none for other ports.
        is_ascending: of each dimension, whether its first index is the lowest.
    """

    name: str
    width: int
    sizes: tuple[int, ...] = ()
    is_ascending: tuple[bool, ...] = ()

    def elements(self) -> Iterator[tuple[str, int]]:
        """Yield the elements in C++, each with its lowest bit in the flat port.

        The element of the first index is the highest, as in a packed array: `a [0:1]` is {a[0], a[1]}, and
        `a [1:0]` is {a[1], a[0]}.
        """
        total = 1
        for size in self.sizes:
            total *= size
        for indices in product(*map(range, self.sizes)):
            place = 0
            for index, size, is_ascending in zip(indices, self.sizes, self.is_ascending, strict=True):
                place = place * size + (index if is_ascending else size - 1 - index)
            yield self.name + "".join(f"[{index}]" for index in indices), (total - 1 - place) * self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderPort:
    """A port as Verilator's header has it."""

    direction: str
    name: str
    width: int
    sizes: tuple[int, ...]


def header_ports(header: str, text: str = "", top: str = "") -> list[HeaderPort]:
    """Return the ports of the header of a model, in its order, arrays of later versions last.

    Args:   text: Verilog without comments, which has the directions that a header lacks; top: its module.
    Raises: RtlError: it does not say a direction.
    """
    ports: list[HeaderPort] = []
    for direction, plain, array, sizes, high, low in _PORT.findall(header):
        numbers = tuple(map(int, re.findall(r"\d+", sizes)))
        width = abs(int(high) - int(low)) + 1
        ports.append(HeaderPort(direction=direction, name=plain or array, width=width, sizes=numbers))
    for port in _ARRAY_PORT.finditer(header):
        ports.append(
            HeaderPort(
                direction=_direction(_from_module(text, top), plain_name(port["name"])),
                name=port["name"],
                width=int(port["high"]) - int(port["low"]) + 1,
                sizes=tuple(map(int, re.findall(r", (\d+)>", port["type"])))[::-1],
            )
        )
    return ports


def _direction(text: str, name: str) -> str:
    declared = re.search(
        rf"\b(input|output|inout)\b(?:(?!\b(?:input|output|inout)\b)[^;])*?(?<![\w$]){re.escape(name)}(?![\w$])",
        text,
    )
    if declared is None:
        raise RtlError(f"direction of unpacked array port {name}; accepted: input or output in its module")
    return {"input": "IN", "output": "OUT", "inout": "INOUT"}[declared[1]]


def _from_module(text: str, top: str) -> str:
    """Return a text from the header of a module on."""
    start = re.search(rf"\bmodule\s+(?:automatic\s+|static\s+)?{re.escape(top)}\b", text)
    return text[start.end() if start else 0 :]


def plain_name(name: str) -> str:
    """Return the name of a port in Verilog."""
    name = name.removeprefix(_RESERVED).replace("___05F", "__")
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)


def model_name(name: str) -> str:
    """Return the name of a port in a model; the inverse of `plain_name`."""
    if name in CPP_WORDS:
        return f"{_RESERVED}{name}"
    text = name.replace("__", "___05F")
    return re.sub(r"^[0-9]|[^A-Za-z0-9_]", lambda match: f"__0{ord(match[0]):02x}", text)


def members(ports: Sequence[HeaderPort], text: str, top: str) -> dict[str, Member]:
    """Return the members of a model by the names of ports in Verilog, in the order of the module's text.

    Args:   text: Verilog without comments, which says the direction of arrays.
    Raises: RtlError: it does not.
    """
    text = _from_module(text, top)
    result: dict[str, Member] = {}
    for port in ports:
        name = plain_name(port.name)
        directions = _directions(text, name, len(port.sizes)) if port.sizes else ()
        result[name] = Member(name=port.name, width=port.width, sizes=port.sizes, is_ascending=directions)

    def place(name: str) -> int:
        use = re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text)
        return len(text) if use is None else use.start()

    return dict(sorted(result.items(), key=lambda item: place(item[0])))


def _directions(text: str, port: str, dimensions: int) -> tuple[bool, ...]:
    declared = re.search(rf"(?<![\w$]){re.escape(port)}\s*((?:\[[^\]]*\]\s*)+)(?=[,;)])", text)
    ranges = [] if declared is None else re.findall(r"\[([^\]]*)\]", declared[1])
    directions = [is_ascending(one) for one in ranges]
    if len(directions) != dimensions or None in directions:
        raise RtlError(
            f"order of unpacked array port {port}; accepted: a range at its name with a number at one "
            "end, such as [0:N-1] or [N]"
        )
    return tuple(bool(direction) for direction in directions)


def is_ascending(text: str) -> bool | None:
    """Tell whether a range counts up; None: it does not say so."""
    left, colon, right = text.partition(":")
    if not colon:
        return True
    ends = _NUMBER.fullmatch(left), _NUMBER.fullmatch(right)
    if ends[0] and ends[1]:
        return int(ends[0][1]) <= int(ends[1][1])
    if ends[0] and int(ends[0][1]) == 0:
        return True
    return False if ends[1] and int(ends[1][1]) == 0 else None


def ports_of_model(
    ports: Sequence[HeaderPort],
    known: Mapping[str, Member],
    sources: Sequence[str],
    clocks: Mapping[str, Clock] = NO_CLOCKS,
) -> Ports:
    """Return the ports of a design that Verilator alone has read; its clock is the input whose edges matter.

    Args:   known: see `members`. sources: texts of the model, which name edges. clocks: with periods.
    Raises: RtlError: inout ports, several inputs with edges and no periods, or a clock that is no port.
    """
    if both := [plain_name(port.name) for port in ports if port.direction == "INOUT"]:
        raise RtlError(f"inout port: {both[0]}; accepted: input and output")
    widths = {name: member.width * len([*member.elements()]) for name, member in known.items()}
    into = {plain_name(port.name) for port in ports if port.direction == "IN"}
    inputs = {name: width for name, width in widths.items() if name in into}
    edges = {
        plain_name(name)
        for text in sources
        for group in _EDGES.findall(text)
        for name in _EDGE.findall(group)
    }
    named = [name for name in inputs if name in edges and inputs[name] == 1 and reset_level(name) is None]
    if unknown := [name for name in clocks if inputs.get(name) != 1]:
        raise RtlError(f"unknown clock: {unknown[0]}; accepted: {', '.join(named) or 'none'}")
    if len(named) > 1 and not clocks:
        raise RtlError(f"several inputs whose edges matter: {', '.join(named)}; accepted: {ONE_CLOCK} clock")
    clock = named[0] if named and not clocks else None
    return Ports(
        inputs={name: width for name, width in inputs.items() if name != clock and name not in clocks},
        outputs={name: width for name, width in widths.items() if name not in inputs},
        clock=clock,
        clocks=clocks,
    )
