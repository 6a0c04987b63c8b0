"""Where registers and memories lie in the state of a compiled design, by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pipelines.rtl.reuse.ir import LIMB
from pipelines.rtl.reuse.structure import Structure


@dataclass(frozen=True, slots=True, kw_only=True)
class StateArray:
    """An array of the state.

    Attributes:
        block, number: of the register or memory. name: in C++. width: bits of a word.
        front: slots before slot 0. words: of a memory, per slot; 0 for registers. is_double: two buffers.
    """

    block: str
    number: int
    name: str
    width: int
    front: int
    words: int
    is_double: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A register or memory of one instance.

    Attributes: array: its number among the arrays. slot: from the beginning of the array. unit: instance.
        low: lowest bit of the register or of the words of which it is a part.
        indices: see `elaboration.Register`.
    """

    name: str
    unit: str
    width: int
    array: int
    slot: int
    words: int
    low: int = 0
    indices: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Arrays of the state in the order of `sim_layout`, and the names in them.

    Attributes: is_apart: every stimulus has a state of its own; else a slot has a lane per stimulus.
    """

    structure: Structure
    slots: Mapping[str, Sequence[int]]
    arrays: Sequence[StateArray]
    is_counting: bool
    is_apart: bool = False

    @cached_property
    def places(self) -> Mapping[str, Sequence[Place]]:
        """Registers and memories by name: parts of a register that was split, or of words above 64 bits."""
        places: dict[str, list[Place]] = defaultdict(list)
        instances = self.structure.instances
        for number, array in enumerate(self.arrays):
            block = self.structure.design.blocks[array.block]
            if array.words:
                kept = block.memories[array.number]
                low = LIMB * (array.number - [m.name for m in block.memories].index(kept.name))
                indices: tuple[int, ...] = ()
            else:
                kept = block.registers[array.number]
                low, indices = kept.low, kept.indices
            lanes = self.structure.lanes[array.block]
            for instance, slot in zip(lanes, self.slots[array.block], strict=True):
                unit, _, name = f"{instances[instance].path}.{kept.name}".rpartition(".")
                places[f"{unit}.{name}"].append(
                    Place(
                        name=f"{unit}.{name}",
                        unit=unit,
                        width=array.width,
                        array=number,
                        slot=array.front + slot,
                        words=array.words,
                        low=low,
                        indices=indices,
                    )
                )
        return places

    @cached_property
    def registers(self) -> Mapping[str, Sequence[Place]]:
        """Words of registers by name, lowest first; one that synthesis split is `NAME_part0` and so on."""
        signals: dict[str, list[Place]] = defaultdict(list)
        for name, places in self.places.items():
            for part in places:
                if not part.words:
                    signals[name.removesuffix(f"_{part.low}") if part.low else name].append(part)
        registers: dict[str, Sequence[Place]] = {}
        for name, parts in signals.items():
            if [part.low for part in parts] == [LIMB * i for i in range(len(parts))]:
                registers[name] = parts
            else:
                registers |= {f"{name}_part{i}": [part] for i, part in enumerate(parts)}
        return registers


def layout_text(layout: Layout) -> str:
    """Return the C++ of `sim_layout`, words for each array and one behind them.

    The words of an array: offset, distance of the second buffer (0 for none), offset of toggle counters. The
    last one is the distance of the states of two stimuli, 0 where they share one.
    """
    words = 3 * len(layout.arrays)
    state = "one::State" if layout.is_apart else "State"
    lines = ["#include <stddef.h>", f"#define LAYOUT_WORDS {words + 1}", "static void sim_layout(u64* p) {"]
    for i, array in enumerate(layout.arrays):
        second = f"sizeof({state}::{array.name}[0])" if array.is_double else "0"
        counts = f"offsetof({state}, t_{array.name})" if layout.is_counting and not array.words else "0"
        lines.append(
            f"  p[{3 * i}] = offsetof({state}, {array.name}); p[{3 * i + 1}] = {second}; "
            f"p[{3 * i + 2}] = {counts};"
        )
    lines.append(f"  p[{words}] = {f'sizeof({state})' if layout.is_apart else '0'};")
    return "\n".join((*lines, "}")) + "\n"
