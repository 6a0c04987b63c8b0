"""The interface of a program's top function, read off its preprocessed text without the HLS front end.

Every array counts as read and written, so that all of them are compared.
"""

from __future__ import annotations

import operator
import re
import subprocess

from pipelines.c.signature import Argument, Interface, ScalarType
from pipelines.c.text.headers import INCLUDE_FOLDER
from pipelines.schemas import ProgramRow


def _type(width_bits: int, *, signed: bool = True, floating: bool = False) -> ScalarType:
    return ScalarType(width_bits=width_bits, signed=signed, floating=floating)


TYPES: dict[str, ScalarType | None] = {
    "void": None,
    "char": _type(8),
    "base": _type(8),
    "int": _type(32),
    "float": _type(32, floating=True),
    "double": _type(64, floating=True),
}
for _width in (8, 16, 32, 64):
    TYPES |= {f"int{_width}_t": _type(_width), f"uint{_width}_t": _type(_width, signed=False)}


_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv}


def preprocessed(source: str) -> str:
    """C text without macros and comments."""
    argv = ["gcc", "-E", "-P", "-nostdinc", "-isystem", str(INCLUDE_FOLDER), "-x", "c", "-std=c11", "-"]
    return subprocess.run(argv, input=source, capture_output=True, text=True, check=True).stdout


def interface_of(row: ProgramRow) -> Interface:
    """Arguments and result of the top function."""
    text = re.sub(r"\s+", " ", preprocessed(row.source))
    head = re.search(rf"(\w+) {row.top}\(([^{{;]*)\) {{", text)
    assert head, row.name
    arguments: list[Argument] = []
    for declared in head[2].split(","):
        found = re.fullmatch(r" ?(\w+) (\w+)((?: ?\[[^]]*\])*) ?", declared)
        assert found, declared
        kind = TYPES[found[1]]
        assert kind is not None
        shape = tuple(_extent(e) for e in re.findall(r"\[([^]]*)\]", found[3]))
        arguments.append(Argument(name=found[2], type=kind, shape=shape, read=True, written=bool(shape)))
    return Interface(top=row.top, arguments=tuple(arguments), returns=TYPES[head[1]])


def _extent(text: str) -> int:
    """Value of an extent such as `20 + 0`, `16 * 16` or `64 / 2`."""
    first, *rest = re.findall(r"\d+|[-+*/]", text)
    value = int(first)
    for symbol, number in zip(rest[::2], rest[1::2], strict=True):
        value = _OPERATORS[symbol](value, int(number))
    return value
