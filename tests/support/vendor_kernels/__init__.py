"""Kernels of the vendor databases in C of our own, and what a database's row says of their loops.

Belongs here: the texts (`*.c`), their loops by the database's numbers (`kernels.json`), rows as
configurations. Does not: the rows (`pipelines/dataset/vendor`), or bounds.

The loops are those of the database's list, in its order. A loop with a step other than 1 is in the list
twice, as written and with a step of 1, so that `kernels.json` has its name twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from pydantic import BaseModel, ConfigDict, TypeAdapter

from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration, LoopChoice
from pipelines.pragmas.errors import PragmaError

__all__ = ["VendorKernel", "configuration_of_row", "vendor_kernel", "vendor_kernel_names"]

PIPELINES = {"off": OFF, "": COARSE, "flatten": FINE}
"""Words of the databases for a loop's pipeline."""

_LOOP = re.compile(r"\bfor \(")
_PLACE = re.compile(r"__(PIPE|PARA|TILE)__(\w+)")
_KINDS = {"PIPE": "pipeline", "PARA": "parallel", "TILE": "tile"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorKernel:
    """A kernel: its text, function, and loops by the number that the database gives them.

    Attributes:
        loops: names as in a summary, by the database's numbers, None for `L<number>` throughout.
        places: loops of places that the database's list of loops has not.
    """

    name: str
    source: str
    top: str
    loops: tuple[str, ...] | None
    places: Mapping[str, str]

    @property
    def loop_names(self) -> tuple[str, ...]:
        """All loops of the text, in its order."""
        return tuple(f"L{n}" for n in range(len(_LOOP.findall(self.source))))

    def loop(self, index: int) -> str:
        """Name of the loop that the database gives a number."""
        return f"L{index}" if self.loops is None else self.loops[index]


class _Entry(BaseModel):
    """A kernel in `kernels.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    top: str
    loops: tuple[str, ...] | None = None
    places: dict[str, str] = {}


_ENTRIES: TypeAdapter[dict[str, _Entry]] = TypeAdapter(dict[str, _Entry])
_LOOP_DIRECTIVES: TypeAdapter[list[dict[str, str | int]]] = TypeAdapter(list[dict[str, str | int]])
_DIRECTIVES: TypeAdapter[dict[str, str | int]] = TypeAdapter(dict[str, str | int])


def vendor_kernel_names() -> tuple[str, ...]:
    """Kernels that there are, by name."""
    return tuple(sorted(_entries()))


def vendor_kernel(name: str) -> VendorKernel:
    """A kernel.

    Raises: PragmaError: there is none of this name.
    """
    entries = _entries()
    if name not in entries:
        raise PragmaError(f"unknown vendor kernel: {name}; accepted: {', '.join(sorted(entries))}")
    entry = entries[name]
    source = resources.files(__name__).joinpath(f"{name}.c").read_text(encoding="utf-8")
    return VendorKernel(name=name, source=source, top=entry.top, loops=entry.loops, places=entry.places)


def configuration_of_row(
    kernel: VendorKernel, directives: str, directives_by_loop: str | None
) -> Configuration:
    """A row of `vendor_designs` as a configuration of its kernel's summary.

    Args:
        directives: the row's JSON object of places.
        directives_by_loop: its JSON list of (kind, loop_index, value), None for none.

    Raises: PragmaError: a pipeline that is not `off`, empty or `flatten`, or a factor that is no number.
    """
    by_loop: dict[str, dict[str, str | int]] = {}
    for entry in _LOOP_DIRECTIVES.validate_json(directives_by_loop or "[]"):
        loop = kernel.loop(int(entry["loop_index"]))
        by_loop.setdefault(loop, {})[str(entry["kind"])] = entry["value"]
    for place, value in _DIRECTIVES.validate_json(directives).items():
        match = _PLACE.fullmatch(place)
        if match is not None and place in kernel.places:
            by_loop.setdefault(kernel.places[place], {})[_KINDS[match[1]]] = value
    for loop in kernel.loop_names:
        by_loop.setdefault(loop, {})
    return Configuration(loops={loop: _choice(kernel, loop, said) for loop, said in sorted(by_loop.items())})


def _entries() -> dict[str, _Entry]:
    return _ENTRIES.validate_json(resources.files(__name__).joinpath("kernels.json").read_bytes())


def _choice(kernel: VendorKernel, loop: str, said: Mapping[str, str | int]) -> LoopChoice:
    word = said.get("pipeline", "off")
    factors = {kind: said.get(kind, 1) for kind in ("parallel", "tile")}
    where = f"{kernel.name}.c:1"
    if word not in PIPELINES:
        raise PragmaError(f"unknown pipeline of {loop}: {word} ({where}); accepted: off, empty, flatten")
    numbers = {kind: value for kind, value in factors.items() if isinstance(value, int) and value >= 1}
    if len(numbers) < len(factors):
        raise PragmaError(f"factors of {loop}: {factors} ({where}); accepted: whole numbers from 1")
    return LoopChoice(
        pipeline=PIPELINES[str(word)],
        unroll=numbers["parallel"],
        tile=numbers["tile"],
        automatic="parallel" not in said,
    )
