"""Registers, memories, toggle counts and checkpoints of a simulator."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.base.files import read_bounded
from pipelines.base.summation import ordered_sum
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.expressions import size_of
from pipelines.rtl.reuse.ir import mask
from pipelines.rtl.reuse.layout import Layout, Place
from pipelines.rtl.reuse.memory_files import image_words
from pipelines.rtl.reuse.simulator import RunResult, Simulator, Words
from pipelines.rtl.reuse.structure import words_of
from pipelines.schemas import write_bytes_atomically

PLAIN_STATE = ("reuse", "arc")
"""Engines whose state is bytes without pointers, so that it can be kept in a file."""
_FORMAT = 2
"""1 had no hash of the state."""
_SHOWN = 5
_IMAGE_BYTES = 256 << 20
CHUNK_CYCLES = 1024
"""Cycles whose port values are held while toggles are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toggles:
    """Changes of bits of a signal between neighbouring cycles, summed over stimuli.

    Attributes: kind: input, output or register. unit: instance that the signal belongs to.
    """

    signal: str
    unit: str
    kind: str
    width: int
    toggles: int


# ---- registers and memories ------------------------------------------------------------------------------


def read_register(simulator: Simulator, name: str) -> list[int]:
    """Read the value of a register, one per stimulus.

    Raises: RtlError: there is no such register, or it has several parts.
    """
    values = [0] * simulator.program.stimuli
    for place in _parts(simulator, name):
        for stimulus, word in enumerate(_read(simulator, place, 1)[:, 0]):
            values[stimulus] |= int(word) << place.low
    return values


def write_register(simulator: Simulator, name: str, value: int) -> None:
    """Set a register for all stimuli; what depends on it follows in the next cycle.

    Raises: RtlError: there is no such register, it has several parts, or the value does not fit.
    """
    parts = _parts(simulator, name)
    most = mask(sum(place.width for place in parts))
    if not 0 <= value <= most:
        raise RtlError(f"value of {name}: {value}; accepted: 0 to {most}")
    for place in parts:
        word = value >> place.low & mask(place.width)
        _write(simulator, place, 1, 0, np.array([word], f"u{size_of(place.width) // 8}"))


def load_memory(simulator: Simulator, name: str, words: Sequence[int], *, first: int = 0) -> None:
    """Set words of a memory for all stimuli, as an image loaded before the run.

    Raises: RtlError: there is no such memory, or a word does not fit.
    """
    parts = _memory_parts(simulator, name)
    size, most = parts[0].words, mask(sum(part.width for part in parts))
    if first < 0 or first + len(words) > size:
        raise RtlError(f"{len(words)} words from {first} for memory {name}; accepted: up to {size}")
    for i, word in enumerate(words):
        if not 0 <= word <= most:
            raise RtlError(f"word {i} of {name}: {word:#x}; accepted: 0 to {most:#x}")
    for part in parts:
        limbs = [word >> part.low & mask(part.width) for word in words]
        _write(simulator, part, size, first, np.array(limbs, f"u{size_of(part.width) // 8}"))


def read_memory(simulator: Simulator, name: str) -> list[list[int]]:
    """Read the words of a memory, per stimulus."""
    parts = _memory_parts(simulator, name)
    words = [[0] * parts[0].words for _ in range(simulator.program.stimuli)]
    for part in parts:
        for row, read in zip(words, _read(simulator, part, part.words), strict=True):
            row[:] = [word | int(limb) << part.low for word, limb in zip(row, read, strict=True)]
    return words


def read_image(path: Path) -> list[int]:
    """Read the words of a file in the form of $readmemh, without addresses.

    Raises: RtlError: not readable, or not such a file.
    """
    content = read_bounded(path, what="memory image", most_bytes=_IMAGE_BYTES, error=RtlError)
    return image_words(str(path), content)


def _parts(simulator: Simulator, name: str) -> Sequence[Place]:
    """Return the words of a register, lowest first."""
    return _layout(simulator).registers.get(name) or [_register_part(simulator, name)]


def _lanes(simulator: Simulator) -> int:
    return 1 if _layout(simulator).is_apart else simulator.program.stimuli


def _layout(simulator: Simulator) -> Layout:
    simulator.offsets()  # refuses engines without names
    layout = simulator.program.layout
    assert layout is not None
    return layout


def _register_part(simulator: Simulator, name: str) -> Place:
    places = _places(simulator, name, is_memory=False)
    if len(places) > 1:
        names = [n for n in _layout(simulator).registers if n.startswith(f"{name}_part")]
        raise RtlError(f"register {name} was split into {len(places)} parts; accepted: {_listed(names)}")
    return places[0]


def _memory_parts(simulator: Simulator, name: str) -> Sequence[Place]:
    """Return the parts of 64 bits of the words of a memory, lowest first."""
    return sorted(_places(simulator, name, is_memory=True), key=lambda place: place.low)


def _places(simulator: Simulator, name: str, *, is_memory: bool) -> Sequence[Place]:
    layout = _layout(simulator)
    places = [p for p in layout.places.get(name, ()) if bool(p.words) == is_memory]
    if not places:
        memories = [n for n, parts in layout.places.items() if parts[0].words]
        kind, names = ("memory", memories) if is_memory else ("register", [*layout.registers])
        others = f"; memories: {_listed(memories)}" if memories and not is_memory else ""
        raise RtlError(f"unknown {kind}: {name}; there are: {_listed(names)}{others}")
    return places


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "") or "none"


def word_place(simulator: Simulator, place: Place) -> tuple[int, int, int]:
    """Return the bytes to a register's word of stimulus 0, to its second buffer, and of its size."""
    offset, second, _ = (int(n) for n in simulator.offsets()[0][place.array])
    size = size_of(place.width) // 8
    return offset + size * place.slot * _lanes(simulator), second, size


def _start(simulator: Simulator, place: Place) -> int:
    """Return the byte at which the current buffer of an array begins."""
    offset, second, _ = (int(n) for n in simulator.offsets()[0][place.array])
    current = int(simulator.read_state(0, 4).view(np.int32)[0])
    return offset + second * current


def _read(simulator: Simulator, place: Place, words: int) -> NDArray[Any]:
    """Read the words of a register or memory in rows, one per stimulus. (stimuli, words)"""
    size, stimuli = size_of(place.width) // 8, simulator.program.stimuli
    lanes, distance = _lanes(simulator), simulator.offsets()[1]
    start = _start(simulator, place) + size * place.slot * lanes * words
    states = (start + distance * state for state in range(stimuli // lanes))
    content = [simulator.read_state(begin, size * words * lanes) for begin in states]
    return np.concatenate(content).view(f"u{size}").reshape(stimuli, words)


def _write(simulator: Simulator, place: Place, words: int, first: int, content: NDArray[Any]) -> None:
    """Set words from the first one on of a register or memory that has so many, for all stimuli."""
    lanes, distance = _lanes(simulator), simulator.offsets()[1]
    for stimulus in range(simulator.program.stimuli):
        state, lane = divmod(stimulus, lanes)
        word = (place.slot * lanes + lane) * words + first
        start = _start(simulator, place) + distance * state + content.itemsize * word
        simulator.write_state(start, content.view(np.uint8))


# ---- toggles ---------------------------------------------------------------------------------------------


def count_toggles(
    simulator: Simulator, cycles: int, *, seed: int = 0, reset_cycles: int = 2, inputs: Words | None = None
) -> tuple[RunResult, list[Toggles]]:
    """Run from cycle 0 and count toggles of ports, and of registers when the program counts them.

    Args:    inputs: (cycles, words, 1), instead of random ones.
    Returns: the run without its traces, and a row per signal.
    """
    ports = simulator.program.ports
    totals = [np.zeros(len(words_of(p)), np.int64) for p in (ports.inputs, ports.outputs)]
    before: list[Words | None] = [None, None]
    parts: list[RunResult] = []
    for start in range(0, cycles, CHUNK_CYCLES):
        count = min(CHUNK_CYCLES, cycles - start)
        result = (
            simulator.run(count, seed=seed, reset_cycles=reset_cycles, is_traced=True)
            if inputs is None
            else simulator.play(inputs[start : start + count])
        )
        parts.append(replace(result, inputs=None, outputs=None))
        for i, trace in enumerate((result.inputs, result.outputs)):
            assert trace is not None
            earlier = before[i]
            joined = trace if earlier is None else np.concatenate([earlier, trace])
            totals[i] += np.bitwise_count(joined[1:] ^ joined[:-1]).sum(axis=(0, 2), dtype=np.int64)
            before[i] = trace[-1:]
    rows = _port_rows("input", ports.inputs, totals[0]) + _port_rows("output", ports.outputs, totals[1])
    whole = RunResult(
        digests=parts[-1].digests,
        wall_s=ordered_sum(part.wall_s for part in parts),
        processor_s=ordered_sum(part.processor_s for part in parts),
    )
    return whole, rows + _register_rows(simulator)


def _port_rows(kind: str, ports: Mapping[str, int], totals: NDArray[np.int64]) -> list[Toggles]:
    sums: dict[str, int] = defaultdict(int)
    for (port, _, _), total in zip(words_of(ports), totals, strict=True):
        sums[port] += int(total)
    return [Toggles(signal=p, unit="", kind=kind, width=w, toggles=sums[p]) for p, w in ports.items()]


def _register_rows(simulator: Simulator) -> list[Toggles]:
    layout = simulator.program.layout
    if layout is None or not layout.is_counting:
        return []
    (offsets, _), stimuli = simulator.offsets(), simulator.program.stimuli
    counts = simulator.read_state(0, simulator.state_bytes).view(np.uint64)
    rows: list[Toggles] = []
    for name, places in layout.places.items():
        if places[0].words:
            continue
        total = 0
        for place in places:
            start = int(offsets[place.array, 2]) + 8 * place.slot * stimuli
            total += int(counts[start // 8 : start // 8 + stimuli].sum())
        rows.append(
            Toggles(
                signal=name,
                unit=places[0].unit,
                kind="register",
                width=sum(p.width for p in places),
                toggles=total,
            )
        )
    return sorted(rows, key=lambda row: row.signal)


# ---- checkpoints -----------------------------------------------------------------------------------------


def write_checkpoint(simulator: Simulator, path: Path) -> None:
    """Keep the whole state: registers, memories, cycle, the generator of inputs, digests, toggle counts.

    Raises: RtlError: the state of this engine has pointers. OSError: not writable.
    """
    _require_plain(simulator)
    state = simulator.read_state(0, simulator.state_bytes).tobytes()
    write_bytes_atomically(path, _header(simulator, state) + state)


def read_checkpoint(simulator: Simulator, path: Path) -> None:
    """Go on where a checkpoint was written, by the same compiled program.

    Raises: RtlError: not readable, of another program, damaged, or of an earlier format.
    """
    _require_plain(simulator)
    most_bytes = len(_header(simulator, b"")) + simulator.state_bytes
    content = read_bounded(path, what="checkpoint", most_bytes=most_bytes, error=RtlError)
    if content.startswith(b'{"format": 1,'):
        raise RtlError(f"checkpoint of an earlier version, without a hash: {path}; write it again")
    state = content[most_bytes - simulator.state_bytes :]
    header = _header(simulator, state)
    about = header.rpartition(b'"sha256"')[0]
    if not content.startswith(about) or len(content) != most_bytes:
        raise RtlError(f"not a checkpoint of this design, engine and number of stimuli: {path}")
    if not content.startswith(header):
        raise RtlError(f"damaged checkpoint: {path} does not have the hash it names; write it again")
    simulator.write_state(0, np.frombuffer(state, np.uint8))


def _require_plain(simulator: Simulator) -> None:
    engine = simulator.program.engine
    if engine not in PLAIN_STATE:
        raise RtlError(f"checkpoint with engine {engine}; accepted: {', '.join(PLAIN_STATE)}")


def _header(simulator: Simulator, state: bytes) -> bytes:
    """Return a line of JSON, of the same length for all states of a program; the hash is last."""
    about = {"format": _FORMAT, "program": simulator.program.path.name, "bytes": simulator.state_bytes}
    return json.dumps({**about, "sha256": hashlib.sha256(state).hexdigest()}).encode() + b"\n"
