"""A compiled design, in a process of its own: cycles by hand, or a run with drawn or given inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipelines.base.summation import ordered_sum
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import LIMB, mask
from pipelines.rtl.reuse.layout import Layout
from pipelines.rtl.reuse.schedules import Clock, no_clocks
from pipelines.rtl.reuse.session import Session
from pipelines.rtl.reuse.structure import words_of

Words = NDArray[np.uint64]
RESET_CYCLES = 2
_RESET = re.compile(r"(?:^|_)a?(?:rst|reset)(_?n|_?ni|_?i)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Widths of the ports of a design, without its clock.

    Attributes: has_falling: falling edges of the clock matter. has_gates: registers have gated clocks.
        clocks: with periods; the clock is None then.
    """

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    clock: str | None
    has_falling: bool = False
    has_gates: bool = False
    clocks: Mapping[str, Clock] = field(default_factory=no_clocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled design.

    Attributes:
        path: executable. stimuli: that it simulates side by side. bytes: its size.
        layout: names of registers and memories; engines of others have none.
        devices: files below /dev that it opens. files: content of memories by name, which it reads.
        front_end: what read the design: yosys, slang or verilator; empty when its ports were known.
    """

    path: Path
    ports: Ports
    engine: str
    stimuli: int
    layout: Layout | None = None
    devices: tuple[Path, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    front_end: str = ""

    @property
    def bytes(self) -> int:
        """Size of the executable."""
        return self.path.stat().st_size


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run gives.

    Attributes:
        digests: (stimuli,) of the outputs of all cycles since the reset.
        inputs, outputs: (cycles, words, stimuli) when they were asked for; words of 64 bits, see `words_of`.
        watched: (cycles, registers), see `Simulator.watch`.
        wall_s, processor_s: time of the cycles in the simulator's process.
    """

    digests: Words
    wall_s: float
    processor_s: float
    inputs: Words | None = None
    outputs: Words | None = None
    watched: Words | None = None


class _Request(IntEnum):
    """The requests of server.h."""

    RESET = 1
    STEP = 2
    RUN = 3
    PLAY = 4
    READ = 5
    WRITE = 6
    LAYOUT = 7
    WATCH = 8


class _Traced(IntEnum):
    NOTHING = 0
    OUTPUTS = 1
    INPUTS_TOO = 2


_CHUNK_BYTES = 8 << 20
"""Bytes of traced words per request."""


class Simulator:
    """Cycles of a design, in a confined process.

    One step is one clock cycle; its outputs are the values just before the clock edge.
    """

    def __init__(self, program: Program) -> None:
        """Start a program and reset it.

        Raises: RtlError: it cannot be started, or is not a program of these ports.
        """
        self.program = program
        self._session = Session(program.path, program.devices, program.files)
        self._inputs = words_of(program.ports.inputs)
        self._outputs = words_of(program.ports.outputs)
        shape = np.zeros(4, np.uint64)
        self._session.receive(shape)
        if [int(n) for n in shape[:3]] != [len(self._inputs), len(self._outputs), program.stimuli]:
            raise RtlError(f"not a simulator of these ports: {program.path}")
        self.state_bytes = int(shape[3])
        self._watched = 0
        self._in: Words = np.zeros((len(self._inputs), program.stimuli), np.uint64)
        self._out: Words = np.zeros((len(self._outputs), program.stimuli), np.uint64)
        self.reset()

    def close(self) -> None:
        """End the process; it also ends with this object."""
        self._session.close()

    def reset(self) -> None:
        """Return to the initial state and cycle 0."""
        self._session.send(_words(_Request.RESET))
        self._in[:] = 0

    def offsets(self) -> tuple[Words, int]:
        """Return the bytes to every array of the layout, (arrays, 3), and between states; see
        `layout.layout_text`.

        Raises: RtlError: the engine has no names of registers.
        """
        if self.program.layout is None:
            raise RtlError(f"the engine {self.program.engine} does not name registers; accepted: reuse")
        self._session.send(_words(_Request.LAYOUT))
        words = np.zeros(3 * len(self.program.layout.arrays) + 1, np.uint64)
        self._session.receive(words)
        return words[:-1].reshape(-1, 3), int(words[-1])

    def read_state(self, start: int, size: int) -> NDArray[np.uint8]:
        """Read bytes of the state, from the cycle counter and drawn inputs to registers. Args: in bytes."""
        first, last = start // 8, -(-(start + size) // 8)
        self._session.send(_words(_Request.READ, first, last - first))
        words = np.zeros(last - first, np.uint64)
        self._session.receive(words)
        return words.view(np.uint8)[start - 8 * first :][:size]

    def write_state(self, start: int, content: NDArray[np.uint8]) -> None:
        """Replace bytes of the state."""
        first, last = start // 8, -(-(start + len(content)) // 8)
        padded = self.read_state(8 * first, 8 * (last - first)).copy()
        padded[start - 8 * first :][: len(content)] = content
        self._session.send(_words(_Request.WRITE, first, last - first), padded.view(np.uint64))

    def watch(self, places: Sequence[tuple[int, int, int]]) -> None:
        """Record in traces, from now on, the values of these registers in every cycle.

        Args: places: in bytes: to the word, to its second buffer behind the first, and its size.
        """
        self._watched = len(places)
        words = [number for place in places for number in place]
        self._session.send(_words(_Request.WATCH, len(places), *words))

    def step(self, inputs: Mapping[str, ArrayLike] | None = None) -> dict[str, int | list[int]]:
        """Simulate one clock cycle.

        Args:    inputs: values by port, one number, or one per stimulus; other ports keep theirs.
        Returns: values of the output ports; a list when there are several stimuli.
        Raises:  RtlError: unknown port, or a value that does not fit.
        """
        for port, value in (inputs or {}).items():
            self._set(port, value)
        self._session.send(_words(_Request.STEP), self._in)
        self._session.receive(self._out)
        return {port: self._get(port) for port in self.program.ports.outputs}

    def _set(self, port: str, value: ArrayLike) -> None:
        widths = self.program.ports.inputs
        if port not in widths:
            raise RtlError(f"unknown input: {port}; accepted: {', '.join(widths)}")
        values = [int(v) for v in np.atleast_1d(np.asarray(value, object))]
        if len(values) not in (1, self.program.stimuli):
            raise RtlError(f"{len(values)} values of {port}; accepted: 1 or {self.program.stimuli}")
        for v in values:
            if not 0 <= v <= mask(widths[port]):
                raise RtlError(f"value of {port}: {v}; accepted: 0 to {mask(widths[port])}")
        for i, (name, limb, _) in enumerate(self._inputs):
            if name == port:
                self._in[i] = [v >> (LIMB * limb) & mask(LIMB) for v in values]

    def _get(self, port: str) -> int | list[int]:
        rows = [(limb, self._out[i]) for i, (name, limb, _) in enumerate(self._outputs) if name == port]
        values = [sum(int(row[s]) << LIMB * limb for limb, row in rows) for s in range(self.program.stimuli)]
        return values[0] if len(values) == 1 else values

    def run(
        self, cycles: int, *, seed: int = 0, reset_cycles: int = RESET_CYCLES, is_traced: bool = False
    ) -> RunResult:
        """Simulate cycles with random inputs; ports named like a reset are active at first, then inactive.

        The same seed gives the same inputs on every engine.
        """
        pulse, active = self._pulses(reset_cycles)
        if not is_traced:
            self._session.send(
                _words(_Request.RUN, cycles, _Traced.NOTHING, seed & mask(LIMB)), pulse, active
            )
            return _sum_up([self._answer(0, _Traced.NOTHING)])
        parts: list[RunResult] = []
        for count in self._chunks(cycles):
            self._session.send(
                _words(_Request.RUN, count, _Traced.INPUTS_TOO, seed & mask(LIMB)), pulse, active
            )
            parts.append(self._answer(count, _Traced.INPUTS_TOO))
        return _sum_up(parts)

    def play(self, inputs: Words) -> RunResult:
        """Simulate given inputs.

        Args: inputs: (cycles, words, stimuli).
        """
        inputs = np.ascontiguousarray(inputs, np.uint64)
        expected = (len(self._inputs), self.program.stimuli)
        if inputs.shape[1:] != expected:
            raise RtlError(f"inputs of shape {inputs.shape[1:]}; accepted: {expected}")
        parts: list[RunResult] = []
        start = 0
        for count in self._chunks(len(inputs)):
            part = inputs[start : start + count]
            self._session.send(_words(_Request.PLAY, count, _Traced.OUTPUTS, 0), part)
            parts.append(replace(self._answer(count, _Traced.OUTPUTS), inputs=part))
            start += count
        return _sum_up(parts)

    def _chunks(self, cycles: int) -> Iterator[int]:
        """Yield numbers of cycles that add up; one at least, so that digests are there after 0 cycles."""
        words = (len(self._inputs) + len(self._outputs)) * self.program.stimuli + self._watched
        most = max(1, _CHUNK_BYTES // (8 * max(1, words)))
        yield min(most, cycles)
        for start in range(most, cycles, most):
            yield min(most, cycles - start)

    def _answer(self, cycles: int, traced: _Traced) -> RunResult:
        stimuli = self.program.stimuli
        outputs = inputs = watched = None
        if traced:
            outputs = np.zeros((cycles, len(self._outputs), stimuli), np.uint64)
            self._session.receive(outputs)
        if traced is _Traced.INPUTS_TOO:
            inputs = np.zeros((cycles, len(self._inputs), stimuli), np.uint64)
            self._session.receive(inputs)
        if traced and self._watched:
            watched = np.zeros((cycles, self._watched), np.uint64)
            self._session.receive(watched)
        last = np.zeros(stimuli + 2, np.uint64)
        self._session.receive(last)
        wall_s, processor_s = (int(n) / 1e9 for n in last[stimuli:])
        return RunResult(
            digests=last[:stimuli],
            inputs=inputs,
            outputs=outputs,
            watched=watched,
            wall_s=wall_s,
            processor_s=processor_s,
        )

    def _pulses(self, reset_cycles: int) -> tuple[Words, Words]:
        pulse = np.zeros(len(self._inputs), np.uint64)
        active = np.zeros(len(self._inputs), np.uint64)
        for i, (port, _, width) in enumerate(self._inputs):
            level = reset_level(port) if width == 1 else None
            if level is not None:
                pulse[i], active[i] = reset_cycles, level
        return pulse, active


def cycle_cpu_ns(simulator: Simulator, *, run_s: float = 0.1, runs: int = 3) -> float:
    """Return the processor time of a cycle of all stimuli: the best of runs that take `run_s` each."""
    cycles, spent = 1, 0.0
    while spent < run_s:
        spent = simulator.run(cycles, seed=1).processor_s
        cycles = max(cycles + 1, round(cycles * min(64.0, 1.3 * run_s / max(spent, 1e-6))))
    return 1e9 * min(simulator.run(cycles, seed=1).processor_s for _ in range(runs)) / cycles


def reset_level(port: str) -> int | None:
    """Return the level at which a port named like a reset is active; None for other ports."""
    found = _RESET.search(port)
    if found is None:
        return None
    return 0 if "n" in (found[1] or "").lower() else 1


def _words(*values: int) -> Words:
    return np.array(values, np.uint64)


def _sum_up(parts: Sequence[RunResult]) -> RunResult:

    def joined(traces: Sequence[Words | None]) -> Words | None:
        known = [trace for trace in traces if trace is not None]
        return np.concatenate(known) if known else None

    return RunResult(
        digests=parts[-1].digests,
        inputs=joined([p.inputs for p in parts]),
        outputs=joined([p.outputs for p in parts]),
        watched=joined([p.watched for p in parts]),
        wall_s=ordered_sum(p.wall_s for p in parts),
        processor_s=ordered_sum(p.processor_s for p in parts),
    )
