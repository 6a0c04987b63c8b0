"""What hardware and tool a bound is for: times and DSPs of operations, transfers, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCost:
    """Least cycles from operands to result, and DSP blocks of one unit that starts one a cycle."""

    latency_cycles: int
    dsp_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A tool on a device.

    Attributes:
        name: `u200`, `simfoundry`; clock_period_ns: asked for.
        operations: by (kind, type); one that is not listed takes no cycle and no DSP.
        burst_bits: bits a cycle of one transfer from or to memory outside; None: arrays stay where they are
            and nothing is transferred.
        access_cycles: from the request of a transfer to its first bits.
        dsp_available, onchip_bits: limits (equations 15 and 16), None for none.
        most_partitions: of an array (equation 9).
        tree_reduction: associative floating operations may be reordered (`unsafe_math`).
        chained_array_sums: sums in an array's element are not reordered where their loop is unrolled.
        update_cycles: from the load of an element of an external array until a load sees what is stored for
            it, operations apart; 0: not known to take any.
        partial_sums: a reduction's pipeline may keep several sums and so start an iteration a cycle.
        separate_rests: iterations that are too few for all partial sums run after the pipeline.
        unrolled_trips, unrolled_copies: loops of at most so many trips, up to so many copies together, are
            unrolled by the tool when nothing else is asked for (0: none).
        outermost_copies: copies of a body that has loops are made of outermost loops alone.
        swapped_nests: a factor of a reduction above a partially unrolled loop makes copies too: the tool
            swaps strips of the two loops (section 4.1).
        varying_copies: modules of parallel loops are copied also where trip counts inside vary.
        varying_factors: of innermost loops of no constant trip count that a search may ask for.
        intervals: of pipelined loops that a search may ask for; a longer one shares units.
        banked_reads: an array in banks has one read port a bank, and a load whose bank is not known takes
            that of each.
        ports: reads, and writes, of an array that may start in one cycle, arrays being in one bank; None: as
            many as wanted.
    """

    name: str
    clock_period_ns: float
    operations: Mapping[tuple[str, str], OperationCost]
    burst_bits: int | None
    dsp_available: int | None
    onchip_bits: int | None
    most_partitions: int
    tree_reduction: bool = True
    chained_array_sums: bool = False
    update_cycles: int = 0
    partial_sums: bool = False
    separate_rests: bool = False
    unrolled_trips: int = 0
    unrolled_copies: int = 0
    access_cycles: int = 0
    outermost_copies: bool = False
    swapped_nests: bool = True
    varying_copies: bool = False
    varying_factors: tuple[int, ...] = ()
    intervals: tuple[int, ...] = (1,)
    banked_reads: bool = False
    ports: int | None = None

    def cost(self, kind: str, type_name: str) -> OperationCost:
        """Cost of an operation."""
        return self.operations.get((kind, type_name), OperationCost(latency_cycles=0))

    def ordered(self) -> Target:
        """The same where floating sums keep their order: no trees (theorem 6.12), no partial sums."""
        return replace(self, tree_reduction=False)
