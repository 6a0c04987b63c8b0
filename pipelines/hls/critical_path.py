"""The longest path of a scheduled design, estimated before synthesis.

A path begins at a register, at a unit's output or at an input, goes through chained operations and the
selection before a register, a unit or a port, and ends there. Input data is available when the cycle begins;
a path to an output ends at the output. Sums of sums that nothing else uses are one sum of several operands:
each further operand costs a carry-save adder, and the carry runs once.

The mapper makes logic off the longest path smaller and slower: a counter loses its fast carry. The carry of a
counter is therefore counted bit by bit, up to a multiple of the longest other path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipelines.base.summation import ordered_sum
from pipelines.c.cdfg import Block, Finish, Operation
from pipelines.c.ir import Array, Variable
from pipelines.hls.design import BoundUnit, Places, ScheduledDesign, symbol_places, units_by_operation
from pipelines.hls.operators import OperatorLibrary, constant_factor, signed_digit_count
from pipelines.hls.schedule import BlockSchedule, closing_values
from pipelines.hls.units.timing import narrow_delays
from pipelines.hls.value_registers import Holding, base_of, hold_values

# Measured with osu018 at 32 bits: a + b takes 1.71 ns, a + b + c 2.07, four operands 2.35, eight 2.69; a
# signed comparison takes 0.87 ns, with a constant 0.49.
CARRY_SAVE_NS = 0.33
CONSTANT_COMPARISON = 0.55

# a + 1 takes 1.12 ns, a + 5 1.21, a + b[9:0] 1.36, a + b[15:0] 1.52; 4 a - a 1.69 ns, and 4 a - a + 1 1.71: a
# constant costs nothing more.
CONSTANT_SUM = 0.69

# In a module with a register that takes p + q, (p + q) < r or ((p + q) & r) + q, paths of 1.8 to 3.1 ns,
# i + 1 takes 0.96 ns at 8 bits and 1.9 to 2.1 at 16 (alone 0.50 and 0.81), at 32 bits as long as the other
# path or up to a fifth longer: 2.0 to 3.2 (alone 1.12), at 64 bits 2.2 to 3.2. In designs a bit takes 0.08 to
# 0.11 ns. Measured by `tests/benchmarks/characterise_counters.py`.
CARRY_BIT_NS = 0.08
CARRY_BITS = 16
COUNTER_BITS = 32
COUNTER_LIMIT = 1.25

# Small modules keep fast carries; with 32 states (kmp of MachSuite) a counter takes 1.4 times the others.
COUNTER_LIMIT_A_STATE_BIT = 0.08

# Beside these paths i + k with k of one to four bits takes 0.15 ns longer than i + 1 (-0.03 to 0.33), with
# more bits no longer.
NARROW_SUM_NS = 0.15

# s ? a : b takes 0.53 ns, most of it to bring s to 32 bits; when s is there early, (s ? a + b : c) takes no
# longer than a + b, nor does a selection among four.
LATE_SELECTION_NS = 0.06

# Up to four bits s ? a : b takes 0.13 to 0.14 ns.
NARROW_BITS = 4
NARROW_SELECTION_NS = 0.14

# The low bits of a sum are there long before its high ones, and what follows begins with them: a + b and a
# signed comparison take 2.32 ns, with a selection 2.69; a + b, a mask and another sum 2.85.
AFTER_A_SUM = 0.6

# ((a + b) >> 1) + c takes 2.86 ns, its magnitude 3.13; the magnitude is most of a divider's first stage.
MAGNITUDE_AFTER_A_SUM = 0.2

# In a design a register drives several gates, where the one measured drives one; and the selection before a
# unit is merged into the unit. Fitted to the sixteen kernels with osu018 by
# `tests/benchmarks/critical_path.py`.
FANOUT_NS = 0.15

# Alone each unit is on the longest path; beside others it becomes smaller and slower. The longest paths of 24
# designs with float were 0.99 to 1.22 times those estimated from units alone, nearer to 1 where one divides.
FLOATING_UNIT = 1.09

# Beyond four sources the terms of a selection come one after the other, and beyond sixteen states the signals
# of the controller have more gates. Fitted to PolyBench with int and float.
SOURCE_NS = 0.05
MEASURED_WAYS = 4
STATE_BIT_NS = 0.1
MEASURED_STATE_BITS = 4

UNIT_SELECTION = 0.8

# The sign of x comes last and then only chooses between two remainders of x by a power of two.
REMAINDER_NS = 0.4

# A gate drives at most twelve others in the netlist, so a condition passes a buffer for every 3.6 bits of the
# number of registers that wait for it.
FANOUT_BITS_PER_BUFFER = 3.6

_SUMS = ("add", "sub", "neg", "mul")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


@dataclass(slots=True)
class _Paths:
    """Ends of all paths of a block.

    Attributes:
        state_bits: of the controller.
        arrivals: when each value settles in the cycle it is made in.
        unsummed: when the operands of a sum have arrived, before its carry runs, and how long the carry
            takes.
        users: operations that use each value.
        staggered: values whose low bits settle before their high ones, with the share of the delay that
            remains for an operation that uses them.
        forwarded: when the value of a forwarded read arrives.
        port_sources: of each operand of a memory's port, by opcode, array and position.
    """

    design: ScheduledDesign
    schedule: BlockSchedule
    holding: Holding
    shared: dict[tuple[int, int], BoundUnit]
    places: Places
    state_bits: int
    arrivals: list[float] = field(default_factory=list[float])
    unsummed: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    users: Counter[int] = field(init=False)
    staggered: dict[int, float] = field(default_factory=dict[int, float])
    forwarded: dict[int, float] = field(default_factory=dict[int, float])
    port_sources: dict[tuple[str, str, int], int] = field(default_factory=dict[tuple[str, str, int], int])

    def __post_init__(self) -> None:
        live = [o for o in self.block.operations if o.index in self.holding.live]
        self.users = Counter(i for o in live for i in o.inputs)
        self.users.update(closing_values(self.block))

    @property
    def library(self) -> OperatorLibrary:
        return self.design.model.library

    @property
    def block(self) -> Block:
        return self.schedule.graph.block

    def arrival(self, value: int, cycle: int) -> float:
        """Return when a value settles in a cycle; an older value comes from a register."""
        if self.block.operations[value].opcode == "const":
            return 0.0
        return self.arrivals[value] if self.schedule.ready(value) == cycle else self.register_ns

    @property
    def register_ns(self) -> float:
        """When a register's value is available."""
        return self.library.clock_to_q_ns + FANOUT_NS

    def inputs_ns(self, operation: Operation) -> float:
        cycle = self.schedule.starts[operation.index]
        return max((self.arrival(i, cycle) for i in operation.inputs), default=0.0)

    def ready_ns(self, operation: Operation) -> float:
        """Return when an operation's value settles."""
        timing = self.schedule.graph.timings[operation.index]
        if operation.index in self.forwarded:
            return self.forwarded[operation.index]
        if timing.latency_cycles == 0 and operation.opcode not in ("read", "const"):
            kind = operation.type
            if operation.opcode in _SUMS and kind is not None and not kind.floating:
                return self.summed_ns(operation, kind.width_bits)
            if operation.opcode == "select":
                return self.chosen_ns(operation, timing.delay_ns - self.saved_ns(operation))
            after = self.after_ns(operation, timing.delay_ns * self.share(operation))
            if self.is_staggered(operation) and not self.takes_last_bits(operation):
                self.staggered[operation.index] = self.remaining_share(operation)
            return self.inputs_ns(operation) + after
        if operation.opcode == "load" and isinstance(operation.symbol, Array) and operation.symbol.external:
            return 0.0
        return (
            self.register_ns if operation.opcode == "read" else self.library.clock_to_q_ns + timing.output_ns
        )

    def chosen_ns(self, operation: Operation, delay_ns: float) -> float:
        """Return when a selection settles: its condition reaches every bit, a value only passes through."""
        cycle = self.schedule.starts[operation.index]
        condition, *values = operation.operands
        value_here = max(self.arrival(v, cycle) for v in values)
        condition_here = self.arrival(condition, cycle)
        after = delay_ns * self.staggered.get(condition, 1.0)
        late = [self.staggered[v] for v in values if v in self.staggered and self.schedule.ready(v) == cycle]
        if late:
            self.staggered[operation.index] = max(late)
        return max(condition_here + after, value_here + LATE_SELECTION_NS)

    def saved_ns(self, operation: Operation) -> float:
        """Return the time that a selection of a few bits saves against the narrowest one in the library."""
        width = operation.type.width_bits if operation.type is not None else 1
        usual = self.library.selection_ns(2, width)
        return usual - NARROW_SELECTION_NS if width <= NARROW_BITS else 0.0

    def is_staggered(self, operation: Operation) -> bool:
        """Tell whether an operand's low bits settle early in the cycle in which it is used."""
        cycle = self.schedule.starts[operation.index]
        return any(i in self.staggered and self.schedule.ready(i) == cycle for i in operation.inputs)

    def used_share(self, operation: Operation) -> float:
        """Return the share of an operation's delay that remains when an operand's low bits settle early."""
        cycle = self.schedule.starts[operation.index]
        staggered = (i for i in operation.inputs if i in self.staggered and self.schedule.ready(i) == cycle)
        return max((self.staggered[i] for i in staggered), default=1.0)

    def remaining_share(self, operation: Operation) -> float:
        """Return the share of the delay that remains for a user: a shift drops the bits that settle first."""
        share = self.used_share(operation)
        if operation.opcode != "shr":
            return share
        value, amount = (self.block.operations[i] for i in operation.operands)
        if amount.opcode != "const" or value.type is None:
            return share
        dropped = min(1.0, 2 * (amount.value or 0) / value.type.width_bits)
        return share + (1 - share) * dropped

    def takes_last_bits(self, operation: Operation) -> bool:
        """Tell whether a value depends mainly on its operand's high bits, as a comparison or a sign does."""
        if operation.opcode != "shr":
            return operation.opcode in _COMPARISONS
        value, amount = (self.block.operations[i] for i in operation.operands)
        width = value.type.width_bits if value.type is not None else 0
        return amount.opcode == "const" and 2 * (amount.value or 0) >= width

    def after_ns(self, operation: Operation, delay_ns: float) -> float:
        """Return the time that an operation adds after its operands have settled.

        A comparison of a sum with a wider value waits for the bits of the sum alone.
        """
        if not self.is_staggered(operation):
            return delay_ns
        if operation.opcode in _COMPARISONS:
            delay_ns *= self.summed_part(operation)
        return self.used_share(operation) * delay_ns

    def summed_part(self, operation: Operation) -> float:
        """Return the share of a comparison's delay that remains when only narrow operands settle late."""
        kinds = [self.block.operations[i].type for i in operation.operands]
        widths = [kind.width_bits if kind is not None else 1 for kind in kinds]
        pairs = zip(operation.operands, widths, strict=True)
        late = max(width for source, width in pairs if source in self.staggered)
        whole = interpolated_ns(self.library, "lt", max(widths))
        return min(1.0, interpolated_ns(self.library, "lt", late) / whole)

    def share(self, operation: Operation) -> float:
        """Return the share of a delay that remains when an operand is constant."""
        constant = any(self.block.operations[i].opcode == "const" for i in operation.operands)
        return CONSTANT_COMPARISON if constant and operation.opcode in _COMPARISONS else 1.0

    def summed_ns(self, operation: Operation, width_bits: int) -> float:
        """Return when a sum settles; a product with a constant is a sum of shifted operands."""
        cycle = self.schedule.starts[operation.index]
        divided = self.corrected_remainder(operation)
        if divided is not None and self.schedule.ready(divided) == cycle:
            return self.arrivals[divided] + REMAINDER_NS
        levels = 0
        if operation.opcode == "mul":
            factor = constant_factor(operation, self.block.operations) or 0
            terms = signed_digit_count(factor)
            if terms < 2:
                if self.is_staggered(operation):
                    self.staggered[operation.index] = self.used_share(operation)
                return self.inputs_ns(operation)
            levels = (terms - 1).bit_length() - 1
        whole = interpolated_ns(self.library, "sub" if operation.opcode == "sub" else "add", width_bits)
        constant = any(self.block.operations[i].opcode == "const" for i in operation.operands)
        last = (0.0, 0.0)
        for source in operation.operands:
            if self.block.operations[source].opcode == "const":
                continue
            here = self.schedule.ready(source) == cycle
            if here and source in self.unsummed and self.users[source] == 1:
                begin, carry = self.unsummed[source]
                begin += 0.0 if constant and not levels else CARRY_SAVE_NS
            else:
                begin, carry = self.arrival(source, cycle), whole * self.carry_share(operation)
                carry *= self.staggered.get(source, 1.0) if here else 1.0
                if constant and not levels and begin <= self.register_ns:
                    carry = max(carry, CARRY_BIT_NS * min(width_bits, CARRY_BITS))
            last = max(last, (begin, carry), key=ordered_sum)
        self.staggered[operation.index] = AFTER_A_SUM
        self.unsummed[operation.index] = (last[0] + levels * CARRY_SAVE_NS, last[1])
        return ordered_sum(self.unsummed[operation.index])

    def corrected_remainder(self, operation: Operation) -> int | None:
        """Return x of ((x + c) & mask) - c, a remainder by a power of two, where c repeats x's sign bit."""
        if operation.opcode != "sub":
            return None
        masked, sign = operation.operands
        total, shifted = self.uncast(masked), self.uncast(sign)
        if total.opcode != "add" or shifted.opcode != "shr":
            return None
        is_remainder = total.operands == (shifted.operands[0], sign)
        return shifted.operands[0] if is_remainder else None

    def uncast(self, value: int) -> Operation:
        """Return the operation that computes a value, before conversions."""
        source = self.block.operations[value]
        while source.opcode == "cast":
            source = self.block.operations[source.operands[0]]
        return source

    def carry_share(self, operation: Operation) -> float:
        """Return the share of a sum's carry that remains when one operand is narrow or constant."""
        if operation.type is None or len(operation.operands) < 2 or operation.opcode == "mul":
            return 1.0
        sources = [self.block.operations[i] for i in operation.operands]
        widths = [0 if s.opcode == "const" or s.type is None else s.type.width_bits for s in sources]
        return CONSTANT_SUM + (1 - CONSTANT_SUM) * min(1.0, min(widths) / operation.type.width_bits)

    def selected_ns(self, settled: float, ways: int, width_bits: int) -> float:
        """Return the time after a selection whose condition comes from the controller."""
        if ways < 2:
            return settled
        more = SOURCE_NS * max(0, ways - MEASURED_WAYS)
        decoded = self.library.clock_to_q_ns + STATE_BIT_NS * max(0, self.state_bits - MEASURED_STATE_BITS)
        controlled = decoded + self.library.selection_ns(ways, width_bits)
        return more + max(controlled, settled + LATE_SELECTION_NS * (ways - 1).bit_length())

    def ends(self) -> Iterator[float]:
        """Yield the end of each path of the block, set-up times included."""
        forwards = self.schedule.forwards
        if forwards:  # a value written and read by the next iteration in one cycle continues in it
            for operation in self.block.operations:
                self.arrivals.append(self.ready_ns(operation))
            self.forwarded = {read: self.written_ns(write) for read, write in forwards.items()}
            self.arrivals = []
        for operation in self.block.operations:
            self.arrivals.append(self.ready_ns(operation))
            if operation.index in self.holding.live:
                yield from self.operation_ends(operation)
        decides = not isinstance(self.block.terminator, Finish)
        after = self.library.delay_ns("mux2", 8) if decides else LATE_SELECTION_NS
        for value in self.holding.held:
            yield self.selected_ns(self.arrivals[value], 2, 8) + self.library.setup_ns
        for value in closing_values(self.block):
            yield self.closing_ns(base_of(self.block, value)) + after + self.library.setup_ns

    def closing_ns(self, value: int) -> float:
        """Return when a result or a branch's condition is available.

        This is the last cycle of a plain block, and in a pipelined loop the cycle in which the value is
        computed.
        """
        if self.schedule.interval_cycles is not None:
            return self.arrivals[value]
        return self.arrival(value, self.schedule.length_cycles - 1)

    def written_ns(self, write: int) -> float:
        """Return when a variable's new value is available to a forwarded read."""
        operation = self.block.operations[write]
        kind = self.block.operations[operation.operands[0]].type
        width = kind.width_bits if kind is not None else 1
        return self.selected_ns(self.inputs_ns(operation), 2, width)

    def operation_ends(self, operation: Operation) -> Iterator[float]:
        settled, symbol = self.inputs_ns(operation), operation.symbol
        ways = len(self.places.get((operation.opcode, operation.name), ()))
        bound = self.shared.get((self.block.index, operation.index))
        if bound is not None:
            yield self.unit_end(operation, bound, settled)
        elif operation.opcode == "write" and isinstance(symbol, Variable):
            width = symbol.type.width_bits if ways > 1 else 8
            value = max(self.operand_times(operation))
            yield self.selected_ns(value, max(2, ways), width) + self.library.setup_ns
            yield self.enabled_ns(operation, symbol.type.width_bits, 1) + self.library.setup_ns
        elif operation.opcode in ("load", "store") and isinstance(symbol, Array):
            yield from self.access_ends(operation, symbol)

    def unit_end(self, operation: Operation, bound: BoundUnit, settled: float) -> float:
        """Return when a variable's new value is available to a forwarded read."""
        selected = self.selected_ns(settled, len(bound.uses), bound.unit.ports[0][1])
        before = settled + UNIT_SELECTION * (selected - settled)
        inside, _ = used_delays(self.design, bound)
        if bound.unit.module == "integer_divide" and self.is_staggered(operation):
            inside *= MAGNITUDE_AFTER_A_SUM
        return before + inside + self.library.setup_ns

    def operand_times(self, operation: Operation) -> list[float]:
        """Return when each operand is available; the predicate is excluded."""
        cycle = self.schedule.starts[operation.index]
        return [self.arrival(i, cycle) for i in operation.operands]

    def enabled_ns(self, operation: Operation, width_bits: int, words: int) -> float:
        """Return when a predicate has enabled the registers; 0 without one."""
        if operation.predicate is None:
            return 0.0
        known = self.arrival(operation.predicate, self.schedule.starts[operation.index])
        spread = FANOUT_NS * max(0, words - 1).bit_length() / FANOUT_BITS_PER_BUFFER
        gate = self.library.delay_ns("and", 8)
        return known + gate + spread + self.library.delay_ns("mux2", width_bits)

    def counter_ends(self) -> Iterator[float]:
        """Yield end of sums of a register and a constant or a few bits, with carries counted bit by bit."""
        after = LATE_SELECTION_NS + self.library.setup_ns
        for operation in self.block.operations:
            if operation.opcode not in ("add", "sub") or operation.index not in self.holding.live:
                continue
            narrow = min(self.operand_bits(i) for i in operation.operands)
            if any(self.block.operations[i].opcode == "load" for i in operation.operands):
                continue
            settled, kind = self.inputs_ns(operation), operation.type
            if kind is None or kind.floating or narrow > NARROW_BITS:
                continue
            if settled <= self.register_ns:
                more = NARROW_SUM_NS if narrow else 0.0
                yield settled + CARRY_BIT_NS * min(kind.width_bits, COUNTER_BITS) + more + after

    def operand_bits(self, value: int) -> int:
        """Return the bits of a value, none of a constant."""
        operation = self.block.operations[value]
        return 0 if operation.opcode == "const" or operation.type is None else operation.type.width_bits

    def sources(self, operation: Operation, position: int) -> int:
        """Return the number of sources of a port's operand; a constant counts half: half its gates vanish."""
        key = operation.opcode, operation.name, position
        if key not in self.port_sources:
            users = self.places.get(key[:2], ())
            values = (self.design.graph.blocks[b].operations[o.operands[position]] for b, o in users)
            self.port_sources[key] = len(users) - sum(v.opcode == "const" for v in values) // 2
        return self.port_sources[key]

    def access_ends(self, operation: Operation, array: Array) -> Iterator[float]:
        """Yield end of paths at a memory port: an output for an external array, storage cells for a local."""
        width, times = array.type.width_bits, self.operand_times(operation)
        address_bits = (array.element_count - 1).bit_length()
        address = self.selected_ns(times[0], self.sources(operation, 0), address_bits)
        if array.external:
            yield address
            if operation.opcode == "store":
                yield self.selected_ns(times[1], self.sources(operation, 1), width)
            if operation.predicate is not None:
                cycle = self.schedule.starts[operation.index]
                yield self.arrival(operation.predicate, cycle) + self.library.delay_ns("and", 8)
        elif operation.opcode == "load":
            used = operation.type.width_bits if operation.type is not None else width
            read = self.library.selection_ns(array.element_count, min(used, width))
            yield address + read + LATE_SELECTION_NS + self.library.setup_ns
        else:
            decoded = self.library.delay_ns("eq", 8) + self.library.delay_ns("mux2", width)
            yield address + decoded + self.library.setup_ns
            data = self.selected_ns(times[1], self.sources(operation, 1) + 1, width)
            yield data + self.library.setup_ns
            yield self.enabled_ns(operation, width, array.element_count) + self.library.setup_ns


def interpolated_ns(library: OperatorLibrary, name: str, width_bits: int) -> float:
    """Return the delay of an operator, interpolated between measured widths, constant beyond the widest."""
    widths = library.table[name]
    width_bits = min(width_bits, max(widths))
    wider = min(w for w in widths if w >= width_bits)
    narrower = max((w for w in widths if w < width_bits), default=0)
    high = library.delay_ns(name, wider)
    low = library.delay_ns(name, narrower) if narrower else 0.0
    return low + (high - low) * (width_bits - narrower) / (wider - narrower)


def used_delays(design: ScheduledDesign, bound: BoundUnit) -> tuple[float, float]:
    """Return delays to a unit's first register and between its registers, in ns, for its actual operands."""
    widths = [1]
    for use in bound.uses:
        operations = design.graph.blocks[use.block].operations
        kinds = (operations[i].type for i in operations[use.operation].operands)
        widths += [kind.width_bits + (not kind.signed) for kind in kinds if kind is not None]
    share = FLOATING_UNIT if "float" in bound.unit.module else 1.0
    inside, between = narrow_delays(bound.unit, max(widths), design.model.library.liberty)
    return inside * share, between * share


def _all_paths(design: ScheduledDesign) -> Iterator[_Paths]:
    """Yield the paths of each block outside the units."""
    shared, places = units_by_operation(design), symbol_places(design)
    types = {v.name: v.type for v in design.graph.variables}
    lengths = (1 if s.interval_cycles is not None else s.length_cycles for s in design.schedules)
    state_bits = (1 + sum(lengths)).bit_length()
    for schedule in design.schedules:
        yield _Paths(
            design=design,
            schedule=schedule,
            holding=hold_values(schedule, types),
            shared=shared,
            places=places,
            state_bits=state_bits,
        )


def critical_path_ns(design: ScheduledDesign) -> float:
    """Return the estimated longest path of a design in its library, in ns.

    Source: static timing over operators measured alone, corrected for sums of sums and for effects inside
             designs.
    """
    longest = max((used_delays(design, bound)[1] for bound in design.units), default=0.0)
    counters, state_bits = 0.0, 0
    for paths in _all_paths(design):
        longest = max([longest, *paths.ends()])
        counters = max([counters, *paths.counter_ends()])
        state_bits = paths.state_bits
    limit = COUNTER_LIMIT + COUNTER_LIMIT_A_STATE_BIT * max(0, state_bits - MEASURED_STATE_BITS)
    return max(longest, min(counters, limit * longest))
