"""A compiled design in this process: cycles by hand, or a run with drawn or given inputs."""

from __future__ import annotations

import ctypes
import os
import re
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipelines.rtlreuse.errors import RtlError
from pipelines.rtlreuse.ir import LIMB, mask
from pipelines.rtlreuse.layout import Layout
from pipelines.rtlreuse.structure import words_of

Words = NDArray[np.uint64]
RESET_CYCLES = 2
_RESET = re.compile(r"(?:^|_)a?(?:rst|reset)(_?n|_?ni|_?i)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Widths of the ports of a design, without its clock."""

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    clock: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled design.

    Attributes:
        path: shared library. stimuli: that it simulates side by side. bytes: size of the library.
        layout: names of registers and memories; engines of others have none.
    """

    path: Path
    ports: Ports
    engine: str
    stimuli: int
    layout: Layout | None = None

    @property
    def bytes(self) -> int:
        """Size of the library."""
        return self.path.stat().st_size


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run gives.

    Attributes:
        digests: (stimuli,) of the outputs of all cycles since the reset.
        inputs, outputs: (cycles, words, stimuli) when they were asked for; words of 64 bits, see `words_of`.
    """

    digests: Words
    inputs: Words | None = None
    outputs: Words | None = None


class _Stimulus(ctypes.Structure):
    _fields_ = (("seed", ctypes.c_uint64), ("pulse", ctypes.c_void_p), ("active", ctypes.c_void_p))


class Simulator:
    """Cycles of a design.

    One step is one clock cycle; its outputs are the values just before the clock edge.
    """

    def __init__(self, program: Program) -> None:
        """Load a program and reset it.

        Raises: RtlError: it is not a program of this interface.
        """
        self.program = program
        try:
            self._library = ctypes.CDLL(os.fspath(program.path))
            self._library.sim_new.restype = ctypes.c_void_p
        except (OSError, AttributeError) as error:
            raise RtlError(f"not a simulator: {program.path} ({error})") from error
        self._inputs = words_of(program.ports.inputs)
        self._outputs = words_of(program.ports.outputs)
        shape = np.zeros(4, np.uint64)
        self._library.sim_shape(ctypes.c_void_p(shape.ctypes.data))
        if [int(n) for n in shape[:3]] != [len(self._inputs), len(self._outputs), program.stimuli]:
            raise RtlError(f"not a simulator of these ports: {program.path}")
        self.state_bytes = int(shape[3])
        self._handle = ctypes.c_void_p(self._library.sim_new())
        self.memory: NDArray[np.uint8] = np.ctypeslib.as_array(
            (ctypes.c_uint8 * self.state_bytes).from_address(self._handle.value or 0)
        )
        weakref.finalize(self, self._library.sim_free, self._handle)
        self._in: Words = np.zeros((len(self._inputs), program.stimuli), np.uint64)
        self._out: Words = np.zeros((len(self._outputs), program.stimuli), np.uint64)
        self.reset()

    def reset(self) -> None:
        """Back to the initial state and cycle 0."""
        self._library.sim_reset(self._handle)
        self._in[:] = 0

    def offsets(self) -> Words:
        """Bytes to every array of the layout: (arrays, 3), see `layout.layout_text`.

        Raises: RtlError: the engine has no names of registers.
        """
        if self.program.layout is None:
            raise RtlError(f"the engine {self.program.engine} does not name registers; accepted: reuse")
        offsets = np.zeros((len(self.program.layout.arrays), 3), np.uint64)
        self._library.sim_layout(ctypes.c_void_p(offsets.ctypes.data))
        return offsets

    def step(self, inputs: Mapping[str, ArrayLike] | None = None) -> dict[str, int | list[int]]:
        """One clock cycle.

        Args:    inputs: values by port, one number, or one per stimulus; other ports keep theirs.
        Returns: values of the output ports; a list when there are several stimuli.
        Raises:  RtlError: unknown port, or a value that does not fit.
        """
        for port, value in (inputs or {}).items():
            self._set(port, value)
        self._library.sim_step(
            self._handle, ctypes.c_void_p(self._in.ctypes.data), ctypes.c_void_p(self._out.ctypes.data)
        )
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
        stimulus = _Stimulus(seed, pulse.ctypes.data, active.ctypes.data)
        digests = np.zeros(self.program.stimuli, np.uint64)
        traces = self._traces(cycles) if is_traced else (None, None)
        pointers = [ctypes.c_void_p(None if t is None else t.ctypes.data) for t in traces]
        self._library.sim_run(
            self._handle,
            ctypes.byref(stimulus),
            ctypes.c_uint64(cycles),
            ctypes.c_void_p(digests.ctypes.data),
            pointers[1],
            pointers[0],
        )
        return RunResult(digests=digests, inputs=traces[0], outputs=traces[1])

    def play(self, inputs: Words) -> RunResult:
        """Simulate given inputs.

        Args: inputs: (cycles, words, stimuli).
        """
        inputs = np.ascontiguousarray(inputs, np.uint64)
        expected = (len(self._inputs), self.program.stimuli)
        if inputs.shape[1:] != expected:
            raise RtlError(f"inputs of shape {inputs.shape[1:]}; accepted: {expected}")
        digests = np.zeros(self.program.stimuli, np.uint64)
        _, outputs = self._traces(len(inputs))
        arrays = (inputs, digests, outputs)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        self._library.sim_play(
            self._handle, pointers[0], ctypes.c_uint64(len(inputs)), pointers[1], pointers[2]
        )
        return RunResult(digests=digests, inputs=inputs, outputs=outputs)

    def _traces(self, cycles: int) -> tuple[Words, Words]:
        stimuli = self.program.stimuli
        return (
            np.zeros((cycles, len(self._inputs), stimuli), np.uint64),
            np.zeros((cycles, len(self._outputs), stimuli), np.uint64),
        )

    def _pulses(self, reset_cycles: int) -> tuple[Words, Words]:
        pulse = np.zeros(len(self._inputs) + 1, np.uint64)
        active = np.zeros(len(self._inputs) + 1, np.uint64)
        for i, (port, _, width) in enumerate(self._inputs):
            level = reset_level(port) if width == 1 else None
            if level is not None:
                pulse[i], active[i] = reset_cycles, level
        return pulse, active


def reset_level(port: str) -> int | None:
    """The level at which a port named like a reset is active; None for other ports."""
    found = _RESET.search(port)
    if found is None:
        return None
    return 0 if "n" in (found[1] or "").lower() else 1
