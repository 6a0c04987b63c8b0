"""Signals of a run as a VCD file (IEEE 1364-2005, section 18), or as an FST file by GTKWave's vcd2fst."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipelines.base.tools import find_tool, run_tool
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import LIMB
from pipelines.rtl.reuse.layout import Place
from pipelines.rtl.reuse.simulator import Ports, RunResult, Simulator, Words
from pipelines.rtl.reuse.state import word_place
from pipelines.rtl.reuse.structure import words_of

_FIRST, _SYMBOLS = 33, 94  # of the printable characters that identify signals
_UNPRINTABLE = re.compile(r"[^\w$.\[\]:-]", re.ASCII)
_PERIOD = 10
_SHOWN = 5
_CONVERSION_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Signals of a waveform. Attributes: ports: names. registers: by name; a split one has several parts."""

    ports: Sequence[str]
    registers: Mapping[str, Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Values of a signal of stimulus 0. Attributes: path: scopes and name. words: (cycles, words)."""

    path: str
    width: int
    words: Words


def choose_signals(simulator: Simulator, top: str, patterns: Sequence[str]) -> Choice:
    """Return the ports and registers that match a pattern; all ports without patterns. The registers are
    watched then.

    A port is named by itself or below the top module, a register as in `Simulator.program.layout`; `*` stands
    for any characters. A register behind an output port of its own name is left to the port.

    Raises: RtlError: a pattern matches nothing.
    """
    ports, layout = simulator.program.ports, simulator.program.layout
    names = [*ports.inputs, *ports.outputs]
    if not patterns:
        return Choice(ports=names, registers={})
    known: Mapping[str, Sequence[Place]] = layout.places if layout else {}
    parts = {
        f"{name}_part{i}" if len(places) > 1 else name: place
        for name, places in known.items()
        for i, place in enumerate(places)
        if not place.words and name not in {f"{top}.{port}" for port in ports.outputs}
    }
    chosen_ports: set[str] = set()
    registers: dict[str, Place] = {}
    for pattern in patterns:
        form = re.compile(".*".join(map(re.escape, pattern.split("*"))))
        port_matches = [n for n in names if form.fullmatch(n) or form.fullmatch(f"{top}.{n}")]
        matches = {name: place for name, place in parts.items() if form.fullmatch(name)}
        if not port_matches and not matches:
            there = ", ".join([*names, *parts][:_SHOWN])
            more = "" if layout else "; engine reuse has registers too"
            raise RtlError(f"unknown signal: {pattern}; there are: {there} ...{more}")
        chosen_ports.update(port_matches)
        registers |= matches
    if registers:
        simulator.watch([word_place(simulator, place) for place in registers.values()])
    return Choice(ports=[n for n in names if n in chosen_ports], registers=registers)


def traced_signals(top: str, ports: Ports, choice: Choice, result: RunResult) -> list[Signal]:
    """Return the values of the chosen signals. Args: result: of a run that was traced."""
    if result.inputs is None or result.outputs is None:
        raise ValueError("the run was not traced")
    signals: list[Signal] = []
    for widths, trace in ((ports.inputs, result.inputs), (ports.outputs, result.outputs)):
        words = words_of(widths)
        for name in (n for n in widths if n in choice.ports):
            rows = [i for i, (port, _, _) in enumerate(words) if port == name]
            signals.append(Signal(path=f"{top}.{name}", width=widths[name], words=trace[:, rows, 0]))
    for i, (name, place) in enumerate(choice.registers.items()):
        assert result.watched is not None
        signals.append(Signal(path=name, width=place.width, words=result.watched[:, i : i + 1]))
    return signals


def write_vcd(path: Path, clock: str, signals: Sequence[Signal]) -> None:
    """Write signals, with a clock that rises in the middle of each cycle.

    Args:   clock: path of the clock port, empty for none.
    Raises: OSError: not writable.
    """
    with path.open("w", encoding="ascii") as stream:
        stream.writelines(f"{line}\n" for line in _lines(clock, signals))


def write_fst(path: Path, clock: str, signals: Sequence[Signal]) -> None:
    """Write a waveform as an FST file.

    Raises: OSError: not writable. ToolMissing: vcd2fst is not installed. RtlError: it fails.
    """
    program = find_tool("vcd2fst", "gtkwave")
    # Not confined, as it needs /tmp; all that a design contributes to the file are names of plain characters.
    with tempfile.TemporaryDirectory(prefix="waveform-") as name:
        folder = Path(name)
        write_vcd(folder / "in.vcd", clock, signals)
        argv = [program, "in.vcd", "out.fst"]
        run = run_tool(argv, folder=folder, timeout_s=_CONVERSION_S, of_processor=True)
        if run.returncode != 0:
            raise RtlError(f"vcd2fst failed: {run.last_words()}")
        shutil.copyfile(folder / "out.fst", path)


def _lines(clock: str, signals: Sequence[Signal]) -> Iterator[str]:
    identifiers = [_identifier(i + 1) for i in range(len(signals))]
    tick = _identifier(0)
    yield "$timescale 1ns $end"
    declared = [(signal.path, signal.width, name) for signal, name in zip(signals, identifiers, strict=True)]
    yield from _declarations([*([(clock, 1, tick)] if clock else []), *declared])
    yield "$enddefinitions $end"
    cycles = max((len(signal.words) for signal in signals), default=0)
    changes: list[list[str]] = [[] for _ in range(cycles)]
    for signal, name in zip(signals, identifiers, strict=True):
        changed = (signal.words[1:] != signal.words[:-1]).any(axis=1)
        for cycle in (0, *(np.flatnonzero(changed) + 1)):
            changes[cycle].append(_change(name, signal.words[cycle], signal.width))
    for cycle, lines in enumerate(changes):
        yield f"#{cycle * _PERIOD}"
        if clock:
            yield f"0{tick}"
        yield from lines
        if clock:
            yield f"#{cycle * _PERIOD + _PERIOD // 2}"
            yield f"1{tick}"
    yield f"#{cycles * _PERIOD}"


def _declarations(signals: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    scopes: list[str] = []
    for path, width, identifier in sorted(signals, key=lambda signal: signal[0].split(".")[:-1]):
        *wanted, name = _UNPRINTABLE.sub("_", path).split(".")
        same = next((i for i, (a, b) in enumerate(zip(scopes, wanted, strict=False)) if a != b), None)
        same = min(len(scopes), len(wanted)) if same is None else same
        yield from ("$upscope $end" for _ in scopes[same:])
        yield from (f"$scope module {scope} $end" for scope in wanted[same:])
        scopes = wanted
        kind = f"[{width - 1}:0] " if width > 1 else ""
        yield f"$var wire {width} {identifier} {name} {kind}$end"
    yield from ("$upscope $end" for _ in scopes)


def _change(identifier: str, words: Words, width: int) -> str:
    value = sum(int(word) << LIMB * limb for limb, word in enumerate(words))
    return f"{value}{identifier}" if width == 1 else f"b{value:b} {identifier}"


def _identifier(number: int) -> str:
    text = chr(_FIRST + number % _SYMBOLS)
    while number >= _SYMBOLS:
        number = number // _SYMBOLS - 1
        text += chr(_FIRST + number % _SYMBOLS)
    return text
