"""A design that a test in Python steps cycle by cycle."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import numpy as np

from assets.deployments import find_deployment
from pipelines.base.limited import reading
from pipelines.rtl.reuse import Simulator, build_reuse, words_of
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import LIMB, mask
from pipelines.rtl.reuse.languages import without_comments
from pipelines.rtl.reuse.projects import read_project
from pipelines.rtl.reuse.schedules import read_clocks
from pipelines.rtl.reuse.simulator import RunResult
from pipelines.rtl.reuse.state import load_memory, read_memory, read_register, write_register
from pipelines.rtl.reuse.verilator_ports import is_ascending
from pipelines.rtl.reuse.waveform import choose_signals, traced_signals, write_vcd
from simfoundry.commands.rtl_project import (
    naming_file,
    naming_memory_files,
    project_files,
    project_label,
    source_of,
)
from simfoundry.commands.simulate import TRACE_LIMIT_BYTES
from simfoundry.questions import RunQuestion

_BUILD_LIMIT_S = 3600.0


def _whole(what: str, value: Any) -> int:
    """Return a whole number of Python or numpy. Raises: RtlError: the value is none."""
    if not isinstance(value, int | np.integer):
        raise RtlError(f"{what}: {value!r}; accepted: a whole number")
    return int(value)


def _indexed(name: str) -> tuple[str, int]:
    """Return array and index of `NAME[3]`; no name and 0 for other names."""
    found = re.fullmatch(r"(.+)\[(\d{1,9})\]", name, re.ASCII)
    return (found[1], int(found[2])) if found else ("", 0)


class Simulation:
    """A design in a process of its own, which ends with `close` or the block of `with`.

    A step is one clock cycle: inputs are set, outputs are sampled, the clock rises. Inputs keep their values,
    0 at first. Registers and memories are named by path, such as `top.u.count`.

        with sf.Simulation("counter.v", top="counter") as sim:
            sim.step(rst=1)
            assert sim.run(5, rst=0, enable=1)["count"] == 4
            assert sim["counter.count"] == 5
    """

    __signature__: ClassVar[inspect.Signature] = inspect.signature(RunQuestion, eval_str=True)

    def __init__(self, *files: Any, **options: Any) -> None:
        """Read and build a design, unless it was built before. Args: as of `simfoundry simulate`.

        Raises: RtlError: the design is not acceptable. FoundryError: the value of an option is not.
                ToolMissing: a tool is not installed.
        """
        if unknown := sorted(options.keys() - self.__signature__.parameters.keys()):
            accepted = ", ".join(self.__signature__.parameters)
            raise TypeError(f"unknown option: {unknown[0]}; accepted: {accepted}")
        question = RunQuestion(*files, **options)
        if question.vcd is not None and not Path(question.vcd).parent.is_dir():
            raise RtlError(f"no such folder: {Path(question.vcd).parent} (vcd {question.vcd})")
        named = project_files(question)
        with naming_file(named):
            with reading(f"the design {project_label(named)}"):
                project = read_project(named)
            with naming_memory_files(project):
                program = build_reuse(
                    project.text,
                    top=project.top,
                    folder=find_deployment().cache_dir / "simulators",
                    timeout_s=_BUILD_LIMIT_S,
                    **source_of(project, question, read_clocks(question.clock)),
                )
        self.top = project.top
        self._code = without_comments(project.text)
        self._is_closed = False
        self._vcd = None if question.vcd is None else Path(question.vcd)
        self._simulator = Simulator(program)
        self._choice = choose_signals(self._simulator, self.top, question.signals)
        self.inputs, self.outputs = dict(program.ports.inputs), dict(program.ports.outputs)
        self.reset()

    # ---- cycles --------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Return to cycle 0: initial values of registers and memories, inputs 0; a waveform begins again."""
        self._require_open()
        self._simulator.reset()
        self.cycle = 0
        self._values = dict.fromkeys((*self.inputs, *self.outputs), 0)
        self._parts: list[RunResult] = []

    def step(self, **inputs: int) -> dict[str, int]:
        """Set inputs and simulate one cycle. Returns: outputs by port, as they are before the clock edge."""
        return self.run(1, **inputs)

    def run(self, cycles: int, **inputs: int) -> dict[str, int]:
        """Set inputs and simulate cycles with them.

        Returns: outputs by port, of the last cycle.
        Raises:  RtlError: unknown port, or a value that does not fit.
        """
        self._require_open()
        for port, value in inputs.items():
            self._set_input(port, value)
        cycles = _whole("cycles", cycles)
        if cycles < 1:
            raise RtlError(f"{cycles} cycles; accepted: 1 or more")
        self._require_memory(cycles)
        words = [self._values[port] >> LIMB * limb & mask(LIMB) for port, limb, _ in words_of(self.inputs)]
        row = np.array(words, np.uint64).reshape(1, len(words), 1)
        result = self._simulator.play(np.broadcast_to(row, (cycles, len(words), 1)))
        self.cycle += cycles
        if self._vcd is not None:
            self._parts.append(result)
        assert result.outputs is not None
        self._values |= dict.fromkeys(self.outputs, 0)
        for word, (port, limb, _) in zip(result.outputs[-1, :, 0], words_of(self.outputs), strict=True):
            self._values[port] |= int(word) << LIMB * limb
        return {port: self._values[port] for port in self.outputs}

    def _set_input(self, port: str, value: int) -> None:
        if port not in self.inputs:
            raise RtlError(f"unknown input: {port}; accepted: {', '.join(self.inputs) or 'none'}")
        value = _whole(f"value of {port}", value)
        if not 0 <= value <= mask(self.inputs[port]):
            raise RtlError(f"value of {port}: {value}; accepted: 0 to {mask(self.inputs[port])}")
        self._values[port] = value

    def _require_open(self) -> None:
        if self._is_closed:
            raise RtlError(f"simulation of {self.top} is closed; accepted: calls before close")

    # ---- values --------------------------------------------------------------------------------------------

    @property
    def registers(self) -> list[str]:
        """Names of the registers."""
        layout = self._simulator.program.layout
        return [*layout.registers] if layout else []

    @property
    def memories(self) -> list[str]:
        """Names of the memories."""
        layout = self._simulator.program.layout
        return [name for name, places in layout.places.items() if places[0].words] if layout else []

    def peek(self, name: str) -> int | list[int]:
        """Return the value of a port in the last cycle, of a register now, or the words of a memory now.

        An array of registers is like a memory, and `NAME[3]` is an element of either; words of a memory are
        counted from its lowest address.

        Raises: RtlError: no such port, register or memory.
        """
        self._require_open()
        if name in self._values:
            return self._values[name]
        if name in self.memories:
            return read_memory(self._simulator, name)[0]
        memory, index = _indexed(name)
        if memory in self.memories:
            words = read_memory(self._simulator, memory)[0]
            if index >= len(words):
                raise RtlError(f"element {index} of {memory}; accepted: 0 to {len(words) - 1}")
            return words[index]
        if elements := self._elements(name):
            return [read_register(self._simulator, elements[at])[0] for at in range(len(elements))]
        return read_register(self._simulator, self._element(name))[0]

    def _element(self, name: str) -> str:
        """Return the name of the register that an element of an array became; other names as they are."""
        array, index = _indexed(name)
        elements = self._elements(array) if array else {}
        if elements and index not in elements:
            raise RtlError(f"element {index} of {array}; accepted: 0 to {len(elements) - 1}")
        return elements[index] if elements else name

    def _elements(self, name: str) -> dict[int, str]:
        """Return the registers that an array became, by index; none if it is none or its range is not clear.

        Yosys' reader names each by its index; slang has one signal, with the first index highest.
        """
        layout = self._simulator.program.layout
        known = layout.registers if layout else {}
        parts = {part: known[part][0] for part in known if re.fullmatch(rf"{re.escape(name)}_part\d+", part)}
        if len({place.width for place in parts.values()}) != 1:
            return {}
        if all(len(place.indices) == 2 for place in parts.values()):
            return {place.indices[0]: part for part, place in parts.items()}
        leaf = re.escape(name.rpartition(".")[2])
        ranges = re.findall(rf"(?<!return)[\w\]]\s+{leaf}\s*\[([^\[\]]*)\]\s*[;,]", self._code)
        directions = {is_ascending(one) for one in ranges}
        is_from_0 = all("0" in re.split(r"[\s:]+", f"{one}:0" if ":" not in one else one) for one in ranges)
        by_bit = {place.indices: part for part, place in parts.items()}
        bits = [(i * place.width,) for i, place in enumerate(parts.values())]
        if directions not in ({True}, {False}) or not is_from_0 or sorted(by_bit) != bits:
            return {}
        return dict(enumerate(by_bit[bit] for bit in (bits[::-1] if directions == {True} else bits)))

    def poke(self, name: str, value: int | Sequence[int] | Mapping[int, int]) -> None:
        """Set an input, a register, the first words of a memory, its words by address, or `NAME[3]` of it.

        Raises: RtlError: no such input, register or memory, or a value that does not fit.
        """
        self._require_open()
        memory, index = _indexed(name)
        if memory in self.memories:
            name, value = memory, {index: _whole(f"value of {name}", value)}
        if self._elements(name) and not isinstance(value, int):
            words = value if isinstance(value, Mapping) else dict(enumerate(value))
            for index, word in words.items():
                element = self._element(f"{name}[{_whole(f'address of {name}', index)}]")
                write_register(self._simulator, element, _whole(f"word of {name}", word))
        elif isinstance(value, Mapping):
            for address, word in value.items():
                first = _whole(f"address of {name}", address)
                load_memory(self._simulator, name, [_whole(f"word of {name}", word)], first=first)
        elif isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
            load_memory(self._simulator, name, [_whole(f"word of {name}", word) for word in value])
        elif "." in name:
            write_register(self._simulator, self._element(name), _whole(f"value of {name}", value))
        else:
            self._set_input(name, _whole(f"value of {name}", value))

    __getitem__, __setitem__ = peek, poke

    # ---- waveform and end ----------------------------------------------------------------------------------

    def _require_memory(self, cycles: int) -> None:
        words = len(words_of(self.inputs)) + len(words_of(self.outputs)) + len(self._choice.registers)
        kept = cycles if self._vcd is None else self.cycle + cycles
        if 8 * words * kept > TRACE_LIMIT_BYTES:
            most = TRACE_LIMIT_BYTES // (8 * words)
            raise RtlError(f"{kept} cycles of {words} words; accepted: up to {most} at once or with vcd")

    def close(self) -> None:
        """Write the waveform, if there is one, and end the process."""
        try:
            if self._vcd is not None and self._parts:
                self._write_vcd(self._vcd)
        finally:
            self._parts, self._is_closed = [], True
            self._simulator.close()

    def _write_vcd(self, path: Path) -> None:
        ports = self._simulator.program.ports
        clock = f"{self.top}.{ports.clock}" if ports.clock else ""
        traces = [(part.inputs, part.outputs, part.watched) for part in self._parts]
        inputs, outputs, watched = (
            np.concatenate([trace for trace in kind if trace is not None]) if kind[0] is not None else None
            for kind in zip(*traces, strict=True)
        )
        whole = replace(self._parts[-1], inputs=inputs, outputs=outputs, watched=watched)
        write_vcd(path, clock, traced_signals(self.top, ports, self._choice, whole))

    def __enter__(self) -> Simulation:
        """Return this simulation."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()
