"""Signals of a run as a VCD file (IEEE 1364-2005, section 18), or as an FST file by GTKWave's vcd2fst."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from vcd.writer import Variable, VCDWriter

from pipelines.base.tools import find_tool, run_tool
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import LIMB
from pipelines.rtl.reuse.layout import Place
from pipelines.rtl.reuse.simulator import Ports, RunResult, Simulator, Words
from pipelines.rtl.reuse.state import word_place
from pipelines.rtl.reuse.structure import words_of

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
    """Values of a signal of stimulus 0.

    Attributes: path: scopes and name. words: (cycles, words). is_port: dots below the top are of the name.
    """

    path: str
    width: int
    words: Words
    is_port: bool = False


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
            there = ", ".join([*names, *parts][:_SHOWN]) + (
                " ..." if len(names) + len(parts) > _SHOWN else ""
            )
            more = "" if layout else "; engine reuse has registers too"
            raise RtlError(f"unknown signal: {pattern}; there are: {there}{more}")
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
            words_of_port = trace[:, rows, 0]
            signals.append(
                Signal(path=f"{top}.{name}", width=widths[name], words=words_of_port, is_port=True)
            )
    for i, (name, place) in enumerate(choice.registers.items()):
        assert result.watched is not None
        signals.append(Signal(path=name, width=place.width, words=result.watched[:, i : i + 1]))
    return signals


def write_vcd(path: Path, clock: str, signals: Sequence[Signal]) -> None:
    """Write signals, with a clock that rises in the middle of each cycle.

    Args:   clock: path of the clock port, empty for none.
    Raises: OSError: not writable.
    """
    cycles = max((len(signal.words) for signal in signals), default=0)
    changes: list[list[tuple[Variable[int], int]]] = [[] for _ in range(cycles)]
    with path.open("w", encoding="ascii") as stream, VCDWriter(stream, timescale="1 ns", date="") as writer:
        tick = _register(writer, clock, 1, is_port=True) if clock else None
        for signal in signals:
            variable = _register(writer, signal.path, signal.width, is_port=signal.is_port)
            changed = (signal.words[1:] != signal.words[:-1]).any(axis=1)
            for cycle in (0, *(np.flatnonzero(changed) + 1).tolist()):
                changes[cycle].append((variable, _value(signal.words[cycle])))
        for cycle, values in enumerate(changes):
            if tick is not None:
                writer.change(tick, cycle * _PERIOD, 0)
            for variable, value in values:
                writer.change(variable, cycle * _PERIOD, value)
            if tick is not None:
                writer.change(tick, cycle * _PERIOD + _PERIOD // 2, 1)
        writer.close(cycles * _PERIOD)


def _register(writer: VCDWriter, path: str, width: int, *, is_port: bool) -> Variable[int]:
    """Declare a signal; a name that is taken in its scope gets an underscore more."""
    *scope, name = _UNPRINTABLE.sub("_", path).split(".", 1 if is_port else -1)
    bits = f" [{width - 1}:0]" if width > 1 else ""
    while True:
        try:
            return writer.register_var(scope, name + bits, "wire", width)
        except KeyError:
            name += "_"


def _value(words: Words) -> int:
    return sum(int(word) << LIMB * limb for limb, word in enumerate(words))


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
