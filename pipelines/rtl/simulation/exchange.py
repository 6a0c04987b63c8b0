"""Data exchange between Python and a test bench, and the result of a simulation.

Files are little-endian: for each array in order its elements, for each scalar one element (input); the
latency as uint64, the bits of the result as uint64, for each bank its reads and its writes as int64, then
each written array (output).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pipelines.base.tools import PROCESSOR, ToolRun
from pipelines.c.signature import (
    Argument,
    Bank,
    DataSet,
    Interface,
    ScalarType,
    canonical_array,
    canonical_values,
    whole_bank,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Observations of a test bench.

    Attributes:
        latency_cycles: from the cycle of start to the cycle of done.
        returned: the function's value: a number, or the bits of a floating one as an unsigned number.
        outputs: every written array.
        loads, stores: accesses to each array argument, by name.
    """

    latency_cycles: int
    returned: int | None
    outputs: DataSet
    loads: dict[str, int]
    stores: dict[str, int]


def written_arrays(interface: Interface) -> list[Argument]:
    """Return the written arrays, which the output file contains."""
    return [a for a in interface.arrays if a.written]


def banks_of(interface: Interface, banks: Sequence[Bank]) -> tuple[Bank, ...]:
    """Return the given banks, and one whole bank for each array argument that has none."""
    dealt = {b.argument for b in banks}
    return (*banks, *(whole_bank(a) for a in interface.arrays if a.name not in dealt))


def value_of_bits(bits: int, kind: ScalarType) -> int:
    """Return the number of an integer type that has these low bits; of a floating type the bits themselves.

    NaN is canonical.
    """
    width = kind.width_bits
    bits &= (1 << width) - 1
    if kind.floating:
        unsigned = np.dtype(f"u{width // 8}")
        return int(canonical_values(np.array(bits, unsigned).view(kind.dtype)).view(unsigned))
    return bits - (1 << width) if kind.signed and bits >> (width - 1) else bits


def encode_input(interface: Interface, data: DataSet) -> bytes:
    """Return the input file.

    Raises: KeyError: data lacks an argument.
    """
    order = (*interface.arrays, *interface.scalars)
    return b"".join(
        np.ascontiguousarray(data[a.name], dtype=a.type.dtype.newbyteorder("<")).tobytes() for a in order
    )


def decode_arrays(interface: Interface, content: bytes, offset: int) -> DataSet:
    """Return the written arrays, one after the other from an offset; NaN is canonical."""
    outputs: DataSet = {}
    for argument in written_arrays(interface):
        dtype = argument.type.dtype.newbyteorder("<")
        values = np.frombuffer(content, dtype, argument.element_count, offset)
        typed = values.reshape(argument.shape).astype(argument.type.dtype)
        outputs[argument.name] = canonical_array(argument, typed)
        offset += argument.element_count * dtype.itemsize
    return outputs


def decode_output(interface: Interface, banks: Sequence[Bank], content: bytes) -> Observed:
    """Return the contents of the output file."""
    cycles, result = struct.unpack_from("<QQ", content)
    counts = struct.unpack_from(f"<{2 * len(banks)}q", content, 16)
    loads: Counter[str] = Counter()
    stores: Counter[str] = Counter()
    for bank, reads, writes in zip(banks, counts[::2], counts[1::2], strict=True):
        loads[bank.argument] += reads
        stores[bank.argument] += writes
    outputs = decode_arrays(interface, content, 16 + 16 * len(banks))
    returned = None if interface.returns is None else value_of_bits(int(result), interface.returns)
    return Observed(
        latency_cycles=int(cycles), returned=returned, outputs=outputs, loads=dict(loads), stores=dict(stores)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """Result of a simulation.

    Attributes:
        status: ok, timeout (limit of cycles or of processor time) or tool_error.
        latency_cycles: from the cycle of start to the cycle of done.
        returned: value of the function: a number, or the bits of a floating one as an unsigned number.
        outputs: every written array, in its own type.
        loads, stores: accesses to each array argument, by name.
        build_wall_s, simulate_wall_s: elapsed times in seconds.
    """

    status: str
    reason: str | None
    latency_cycles: int | None
    returned: int | None
    outputs: DataSet
    build_wall_s: float
    simulate_wall_s: float
    loads: dict[str, int] = field(default_factory=dict[str, int])
    stores: dict[str, int] = field(default_factory=dict[str, int])


def failed_run(what: str, run: ToolRun) -> tuple[str, str]:
    """Return status and reason of a tool that failed or ran past its limit of processor time or of cycles."""
    if run.timed_out and run.machine_fault is None:
        limit = "limit of processor time" if run.limit == PROCESSOR else "time limit"
        return "timeout", f"{what} ran past its {limit}"
    return "tool_error", " ".join(f"{what}: {run.last_words()}".split())


def failed_simulation(
    what: str, run: ToolRun, build_wall_s: float, simulate_wall_s: float = 0.0
) -> SimulationResult:
    """Return the result of a simulation in which a tool failed or ran past its limit."""
    status, reason = failed_run(what, run)
    return SimulationResult(
        status=status,
        reason=reason,
        latency_cycles=None,
        returned=None,
        outputs={},
        build_wall_s=build_wall_s,
        simulate_wall_s=simulate_wall_s,
    )


def observed_simulation(observed: Observed, build_wall_s: float, simulate_wall_s: float) -> SimulationResult:
    """Return the result of a completed simulation."""
    return SimulationResult(
        status="ok",
        reason=None,
        latency_cycles=observed.latency_cycles,
        returned=observed.returned,
        outputs=observed.outputs,
        build_wall_s=build_wall_s,
        simulate_wall_s=simulate_wall_s,
        loads=observed.loads,
        stores=observed.stores,
    )
