"""Stimuli of the simulator: a trace of port values, or a design's memories and arguments.

A design is driven as by the test bench of `pipelines.rtl.simulation` (`harness.py` defines when data is valid
and a write visible), so the netlist sees the port trace of the cycle-exact run, and computes the outputs.
Between reads the data ports keep the last word, as memories do; `noise` puts the test bench's garbage there.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.c.signature import Argument, Bank, DataSet, Interface, ScalarType, canonical_array
from pipelines.power.encoding import EncodedNetlist
from pipelines.power.functions import PowerError
from pipelines.rtl.simulation import MemoryTiming, banks_of, value_of_bits

_TRACE, _DESIGN = 0, 1
_WHOLE_SHARE = 1 << 16
_CONTROL_PORTS = ("clk", "rst", "start", "done")


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRun:
    """A design on one data set, as `simulate_design` of `pipelines.rtl.simulation` gets it.

    Attributes:
        interface: of the program.
        data: a value for every argument.
        timing: delays of the external memories.
        banks: of the partitioned array arguments; the others have one bank each.
        cycle_limit: cycles after which the run ends as a time-out.
        noise: whether data ports carry garbage between reads, as in RTL simulation, or the last word.
        timed_share: share of the cycles in which gates have delays, when they have; see `_activity`.
    """

    interface: Interface
    data: DataSet
    timing: MemoryTiming
    banks: Sequence[Bank] = ()
    cycle_limit: int = 50_000_000
    noise: bool = False
    timed_share: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Activity:
    """Activity of the nets of a netlist.

    Attributes:
        cycles: clock cycles counted.
        toggles: changes of each net, (nets,).
        ones: cycles at whose end the net was 1, (nets,).
        timed_cycles: cycles in which gates had delays.
    """

    cycles: int
    toggles: NDArray[np.int64]
    ones: NDArray[np.int64]
    timed_cycles: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DesignActivity:
    """A run of a netlist.

    Attributes:
        activity: from the cycle of start to the cycle of done.
        latency_cycles: between the two.
        returned: value of the function: a number, or the bits of a floating one; None when void.
        outputs: every written array.
        loads, stores: accesses to each array argument, by name.
    """

    activity: Activity
    latency_cycles: int
    returned: int | None
    outputs: DataSet = field(default_factory=dict[str, NDArray[Any]])
    loads: dict[str, int] = field(default_factory=dict[str, int])
    stores: dict[str, int] = field(default_factory=dict[str, int])


def _share(delays: bool, share: float = 1.0) -> int:
    """Return the number of a file for the share of cycles with delays."""
    return max(1, round(share * _WHOLE_SHARE)) if delays else 0


def _numbers(values: Sequence[int] | NDArray[Any]) -> bytes:
    return np.asarray(values, "<i4").tobytes()


def _bus(nets: NDArray[np.intp] | None) -> bytes:
    bits: NDArray[np.intp] = np.zeros(0, np.intp) if nets is None else nets
    return _numbers([bits.size]) + _numbers(bits)


def _bits(value: NDArray[Any], kind: ScalarType) -> NDArray[np.uint64]:
    """Return the values as the unsigned number of their bits, (elements,)."""
    width = kind.width_bits // 8
    flat = np.ascontiguousarray(value, kind.dtype.newbyteorder("<")).reshape(-1)
    return flat.view(f"<u{width}").astype(np.uint64)


def _places(bank: Bank) -> NDArray[np.int32]:
    """Return the element of the array at each address of a bank, (addresses,); -1 past the array's end."""
    address = np.arange(bank.element_count)
    place, stride = np.zeros(bank.element_count, np.int64), 1
    inside = np.ones(bank.element_count, bool)
    for size, dimension in reversed(list(zip(bank.shape, bank.dimensions, strict=True))):
        local = address % dimension.size
        address = address // dimension.size
        first, step = dimension.element(0), dimension.element(1) - dimension.element(0)
        index = first + step * local
        inside &= index < size
        place += index * stride
        stride *= size
    return np.where(inside, place, -1).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DesignStimulus:
    """The stimulus file of a run, and decoding of its result."""

    encoded: EncodedNetlist
    run: DesignRun

    @property
    def banks(self) -> tuple[Bank, ...]:
        """All banks, in the order of the file."""
        return banks_of(self.run.interface, self.run.banks)

    def content(self, *, delays: bool) -> bytes:
        """Return the bytes of the stimulus file.

        Raises: PowerError: the netlist lacks ports of a design.
        """
        netlist, run = self.encoded.netlist, self.run
        missing = [p for p in _CONTROL_PORTS if p not in (netlist.inputs.keys() | netlist.outputs.keys())]
        if missing:
            raise PowerError(f"design lacks ports {', '.join(missing)}; needed: {', '.join(_CONTROL_PORTS)}")
        head = (_DESIGN, _share(delays, run.timed_share), run.cycle_limit)
        times = (run.timing.read_delay_cycles, run.timing.write_delay_cycles, int(run.noise))
        ports = (netlist.inputs["rst"], netlist.inputs["start"], netlist.outputs["done"])
        parts = [_numbers([*head, *times]), *map(_bus, ports), _bus(netlist.outputs.get("result"))]
        return b"".join([*parts, self._scalars(), self._arrays(), self._banks()])

    def _scalars(self) -> bytes:
        nets: list[int] = []
        values: list[int] = []
        for argument in self.run.interface.scalars:
            port = self.encoded.netlist.inputs.get(f"s_{argument.name}")
            if port is not None:
                value = int(_bits(np.asarray(self.run.data[argument.name]), argument.type)[0])
                nets += port.tolist()
                values += [value >> k & 1 for k in range(port.size)]
        return _numbers([len(nets)]) + _numbers(nets) + _numbers(values)

    def _arrays(self) -> bytes:
        parts = [_numbers([len(self.run.interface.arrays)])]
        for argument in self.run.interface.arrays:
            words = _bits(self.run.data[argument.name], argument.type)
            if words.size != argument.element_count:
                raise PowerError(
                    f"array {argument.name} must have {argument.element_count} elements, got {words.size}"
                )
            parts += [_numbers([words.size, int(argument.written)]), words.astype("<u8").tobytes()]
        return b"".join(parts)

    def _banks(self) -> bytes:
        numbers = {a.name: i for i, a in enumerate(self.run.interface.arrays)}
        inputs, outputs = self.encoded.netlist.inputs, self.encoded.netlist.outputs
        parts = [_numbers([len(self.banks)])]
        for bank in self.banks:
            places = _places(bank)
            parts += [_numbers([numbers[bank.argument], places.size]), _numbers(places)]
            for last in ("re", "raddr", "rdata", "we", "waddr", "wdata"):
                side: Mapping[str, NDArray[np.intp]] = inputs if last == "rdata" else outputs
                parts.append(_bus(side.get(f"m_{bank.port}_{last}")))
        return b"".join(parts)

    def result(self, content: bytes) -> DesignActivity:
        """Return the contents of the result file."""
        interface, banks = self.run.interface, self.banks
        cycles, returned = struct.unpack_from("<qQ", content)
        counts = struct.unpack_from(f"<{2 * len(banks)}q", content, 16)
        loads: Counter[str] = Counter()
        stores: Counter[str] = Counter()
        for bank, reads, writes in zip(banks, counts[::2], counts[1::2], strict=True):
            loads[bank.argument] += reads
            stores[bank.argument] += writes
        place = 16 + 16 * len(banks)
        activity = _activity(self.encoded, content, place, cycles)
        place += 24 * self.encoded.net_count + 16
        outputs: DataSet = {}
        for argument in (a for a in interface.arrays if a.written):
            outputs[argument.name] = _typed(content, place, argument)
            place += 8 * prod(argument.shape)
        kind = interface.returns
        return DesignActivity(
            activity=activity,
            latency_cycles=cycles,
            returned=None if kind is None else value_of_bits(returned, kind),
            outputs=outputs,
            loads=dict(loads),
            stores=dict(stores),
        )


def _typed(content: bytes, offset: int, argument: Argument) -> NDArray[Any]:
    words = np.frombuffer(content, "<u8", argument.element_count, offset)
    bits = words.astype(f"<u{argument.type.width_bits // 8}")
    return canonical_array(argument, bits.view(argument.type.dtype).reshape(argument.shape))


def _activity(encoded: EncodedNetlist, content: bytes, offset: int, cycles: int) -> Activity:
    """Return the counts of the real nets; the clock, which the simulator does not have as a net, is added.

    When a share of the cycles had delays, the glitches of each net are scaled to the whole run by one factor:
    settled changes of all nets (also those inside cells) in all cycles over those in the timed cycles.
    Settled changes are exact.
    """
    nets = encoded.net_count
    counts = np.frombuffer(content, "<i8", 3 * nets, offset).reshape(3, -1)
    timed, timed_toggles = struct.unpack_from("<qq", content, offset + 24 * nets)
    toggles, ones, undone = counts[:, : encoded.netlist.net_count].astype(np.int64)
    if 0 < timed < cycles:
        glitches = 2 * int(counts[2].sum())  # a change and the one that takes it back
        settled, timed_settled = int(counts[0].sum()) - glitches, timed_toggles - glitches
        scale = settled / timed_settled if timed_settled else cycles / timed
        toggles += np.rint(2 * undone * (scale - 1)).astype(np.int64)
    ones[1] = cycles
    if encoded.clock is not None:
        toggles[encoded.clock] = 2 * cycles
        ones[encoded.clock] = cycles // 2
    return Activity(cycles=cycles, toggles=toggles, ones=ones, timed_cycles=timed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceStimulus:
    """A trace of a netlist's input ports.

    Attributes:
        ports: value of each input port but the clock in every cycle, each (cycles,).
        watched: output ports to record.
    """

    encoded: EncodedNetlist
    ports: Mapping[str, NDArray[np.uint64]]
    watched: tuple[str, ...] = ()

    @property
    def cycles(self) -> int:
        """Cycles of the trace; the first one is not counted."""
        return min((v.size for v in self.ports.values()), default=0)

    def content(self, *, delays: bool) -> bytes:
        """Return the bytes of the stimulus file.

        Raises: PowerError: a port is missing or unknown, or there are fewer than two cycles.
        """
        inputs = self.encoded.netlist.inputs
        ports = [n for n, bits in inputs.items() if self.encoded.clock not in bits]
        if sorted(ports) != sorted(self.ports) or self.cycles < 2:
            raise PowerError(
                f"a trace must have at least 2 cycles of the ports {', '.join(ports)}, "
                f"got {self.cycles} of {', '.join(self.ports)}"
            )
        nets = [inputs[n] for n in ports]
        bits = [
            (self.ports[n][: self.cycles, None] >> np.arange(b.size, dtype=np.uint64) & np.uint64(1))
            for n, b in zip(ports, nets, strict=True)
        ]
        watched = [self.encoded.netlist.outputs[n] for n in self.watched]
        net_count, watch_count = sum(n.size for n in nets), sum(n.size for n in watched)
        head = _numbers([_TRACE, _share(delays), self.cycles, net_count, watch_count])
        values = (
            np.concatenate(bits, axis=1).astype(np.uint8) if bits else np.zeros((self.cycles, 0), np.uint8)
        )
        return b"".join([head, *map(_numbers, nets), *map(_numbers, watched), values.tobytes()])

    def result(self, content: bytes) -> tuple[Activity, dict[str, NDArray[np.uint64]]]:
        """Return counts, and the values of the watched ports in every cycle, each (cycles,)."""
        watched = [self.encoded.netlist.outputs[n] for n in self.watched]
        width = sum(n.size for n in watched)
        bits = np.frombuffer(content, np.uint8, self.cycles * width).reshape(self.cycles, width)
        outputs: dict[str, NDArray[np.uint64]] = {}
        first = 0
        for name, nets in zip(self.watched, watched, strict=True):
            words = bits[:, first : first + nets.size].astype(np.uint64)
            outputs[name] = (words << np.arange(nets.size, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
            first += nets.size
        return _activity(self.encoded, content, bits.size, self.cycles - 1), outputs
