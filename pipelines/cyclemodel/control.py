"""Cycles from the schedule and the trip counts alone: the part of a design that decides its control, as C.

Only the operations that branches depend on are kept. A branch that depends on data (a load, or a scalar
argument whose value is not given) follows an assumption: a loop goes on for `UNKNOWN_TRIPS` iterations, any
other branch is taken every second time. A loop whose mean iterations are given goes on for these, and the
branch before it leads into it. A loop that ends by what such a branch in it has written (a sort
until nothing is swapped, a queue that grows) goes on for at most `UNKNOWN_TRIPS`. Everything else is counted
exactly, so without a branch on data the estimate is the cycle count.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipelines.base.tools import ToolRun, run_tool
from pipelines.c import cdfg, ir
from pipelines.c.signature import Interface, ScalarType
from pipelines.cyclemodel.expressions import wrapped
from pipelines.cyclemodel.program import CycleProgram, ProgramWriter
from pipelines.cyclemodel.runner import CYCLE_LIMIT, LATE, CycleModel, build_program
from pipelines.hls import BlockSchedule, CompiledDesign, ScheduledDesign

UNKNOWN_TRIPS = 8
"""Assumed iterations of a loop whose end depends on data, as in the table `program_facts`."""

_HEAD = struct.Struct("<qqqQQ")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCount:
    """Iterations of a loop of a scheduled design.

    Attributes:
        loop: name; header: number of the block that its iterations start with.
        entries: how often it is reached from outside; iterations: over all entries.
        body: numbers of its blocks.
        depends_on_data: whether its end does, so that iterations are assumed.
        is_constant: whether every entry has the same known number of iterations.
    """

    loop: str
    header: int
    depth: int
    entries: int
    iterations: int
    body: tuple[int, ...]
    depends_on_data: bool
    is_constant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEstimate:
    """Estimate of the cycles of a design without its data.

    Attributes:
        cycles: from start to done.
        trips_known: whether no branch depends on data but given scalars, so that the cycles are exact.
        visits: executions of each block, in order.
        late_loop: name of the loop in which the estimate passed the limit of cycles; None where it ended.
    """

    cycles: int
    trips_known: bool
    visits: tuple[int, ...]
    loops: tuple[LoopCount, ...]
    late_loop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A natural loop: number of the block that its iterations start with, and those of its blocks."""

    header: int
    body: frozenset[int]


def natural_loops(blocks: Sequence[cdfg.Block]) -> tuple[Loop, ...]:
    """Return the loops by header, in order; a back edge leads to the same or an earlier block."""
    before: dict[int, set[int]] = {b.index: set() for b in blocks}
    for block in blocks:
        for target in block.successors:
            before[target].add(block.index)
    bodies: dict[int, set[int]] = {}
    for block in blocks:
        for header in (t for t in block.successors if t <= block.index):
            body, left = bodies.setdefault(header, {header}), [block.index]
            while left:
                index = left.pop()
                if index not in body:
                    body.add(index)
                    left += before[index]
    return tuple(Loop(header=h, body=frozenset(bodies[h])) for h in sorted(bodies))


def late_loop(blocks: Sequence[cdfg.Block], visits: Sequence[int], late: int) -> str | None:
    """Return the name of the loop that a run past its limit of cycles did not leave.

    Args:    visits: executions of each block, in order; late: number of the block that passed the limit.
    Returns: of the loops around the block the one with the most iterations per entry; None for no loop.
    """
    around = [loop for loop in natural_loops(blocks) if late in loop.body]

    def turns(loop: Loop) -> float:
        outside = [b.index for b in blocks if loop.header in b.successors and b.index not in loop.body]
        return visits[loop.header] / max(1, sum(visits[index] for index in outside))

    return blocks[max(around, key=turns).header].loop if around else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Control:
    """What decides the control of a design.

    Attributes:
        kept: operations of each block; unknown: blocks whose branch depends on data; fed: blocks whose branch
            ends a loop by a variable that an unknown branch of the same loop decides on.
    """

    kept: tuple[frozenset[int], ...]
    unknown: frozenset[int]
    fed: frozenset[int]


def _tainted_values(design: ScheduledDesign, given: Collection[str]) -> tuple[list[set[int]], set[str]]:
    """Return the values and variables of each block that depend on data. given: known scalar arguments."""
    scalars = {p.name for p in design.graph.function.parameters if isinstance(p, ir.Variable)}
    scalars -= set(given)
    variables, values = set(scalars), [set[int]() for _ in design.graph.blocks]
    size = -1
    while size != len(variables) + sum(map(len, values)):
        size = len(variables) + sum(map(len, values))
        for block in design.graph.blocks:
            own = values[block.index]
            for operation in block.operations:
                source = operation.opcode == "load" or (
                    operation.opcode == "read" and operation.name in variables
                )
                if source or not own.isdisjoint(operation.inputs):
                    own.add(operation.index)
                    if operation.opcode == "write":
                        variables.add(operation.name)
    return values, variables


def control_of(design: ScheduledDesign, given: Collection[str] = ()) -> _Control:
    """Return the operations that known branches depend on, and the branches that depend on data.

    Args: given: scalar arguments with a known value.
    """
    tainted, _ = _tainted_values(design, given)
    blocks = design.graph.blocks
    unknown = {
        b.index
        for b in blocks
        if isinstance(b.terminator, cdfg.Branch) and b.terminator.condition in tainted[b.index]
    }
    known = {b.index for b in blocks if isinstance(b.terminator, cdfg.Branch)} - unknown
    kept, _ = _slice(blocks, known)
    return _Control(
        kept=tuple(frozenset(own) for own in kept),
        unknown=frozenset(unknown),
        fed=_fed_exits(blocks, known, unknown),
    )


def _slice(blocks: Sequence[cdfg.Block], ends: Collection[int]) -> tuple[list[set[int]], set[str]]:
    """Return the operations of each block, and variables, that the branches of some blocks depend on."""
    kept, needed = [set[int]() for _ in blocks], set[str]()
    for index in ends:
        end = blocks[index].terminator
        assert isinstance(end, cdfg.Branch)
        kept[index].add(end.condition)
    size = -1
    while size != sum(map(len, kept)):
        size = sum(map(len, kept))
        for block in blocks:
            own = kept[block.index]
            for operation in reversed(block.operations):
                if operation.opcode == "write" and operation.name in needed:
                    own.add(operation.index)
                if operation.index in own:
                    own.update(operation.operands)
                    needed.update((operation.name,) if operation.opcode == "read" else ())
    return kept, needed


def _fed_exits(
    blocks: Sequence[cdfg.Block], known: Collection[int], unknown: Collection[int]
) -> frozenset[int]:
    """Return the known branches that end a loop by a variable that an unknown branch in the loop decides."""
    if not unknown:
        return frozenset()
    joins = _joins(blocks)
    decided = {index: _decided_variables(blocks, index, joins[index]) for index in unknown}
    fed: set[int] = set()
    for loop in natural_loops(blocks):
        variables = set[str]().union(*(decided[index] for index in unknown if index in loop.body))
        exits = [i for i in loop.body & set(known) if any(t not in loop.body for t in blocks[i].successors)]
        fed.update(index for index in exits if not variables.isdisjoint(_slice(blocks, [index])[1]))
    return frozenset(fed)


def _joins(blocks: Sequence[cdfg.Block]) -> list[int | None]:
    """Return the block where the ways out of each block meet again: its immediate post-dominator."""
    everything = frozenset(range(len(blocks)))
    after = [everything if block.successors else frozenset({block.index}) for block in blocks]
    is_changed = True
    while is_changed:
        is_changed = False
        for block in reversed(blocks):
            if block.successors:
                first, *others = (after[target] for target in block.successors)
                new = first.intersection(*others) | {block.index}
                is_changed |= new != after[block.index]
                after[block.index] = new
    return [
        max(after[block.index] - {block.index}, key=lambda index: len(after[index]), default=None)
        for block in blocks
    ]


def _decided_variables(blocks: Sequence[cdfg.Block], branch: int, join: int | None) -> set[str]:
    """Return the variables that are written between a branch and its join and read after the join."""
    region, left = set[int](), list(blocks[branch].successors)
    while left:
        index = left.pop()
        if index != join and index not in region:
            region.add(index)
            left += blocks[index].successors
    written = {o.name for index in region for o in blocks[index].operations if o.opcode == "write"}
    return {name for name in written if join is not None and _is_read_from(blocks, join, name)}


def _is_read_from(blocks: Sequence[cdfg.Block], start: int, name: str) -> bool:
    """Tell whether a variable is read from the start of a block on, before it is written."""
    seen, left = set[int](), [start]
    while left:
        index = left.pop()
        if index in seen:
            continue
        seen.add(index)
        first = next((o.opcode for o in blocks[index].operations if o.name == name and o.opcode in _USES), "")
        if first == "read":
            return True
        left += () if first == "write" else blocks[index].successors
    return False


_USES = ("read", "write")


class _ControlWriter(ProgramWriter):
    """The C program of the control alone; it reads no data and counts each branch that is taken."""

    def __init__(
        self,
        design: ScheduledDesign,
        control: _Control,
        scalars: Mapping[str, float],
        trips: Mapping[str, float],
    ) -> None:
        nothing = Interface(top=design.graph.function.name, arguments=(), returns=None)
        super().__init__(replace(design), nothing)
        self.control, self.scalars = control, scalars
        self.loops = natural_loops(design.graph.blocks)
        self.taken: dict[int, int] = {}
        self.trips = {
            loop.header: trips[name]
            for loop in self.loops
            if (name := design.graph.blocks[loop.header].loop or "") in trips
        }

    def memory_lines(self) -> list[str]:
        return []

    def reset_lines(self) -> list[str]:
        return []

    def variable_lines(self) -> list[str]:
        given = [
            f"    v_{variable.name} = {_literal(self.scalars[variable.name], variable.type)};"
            for variable in self.design.graph.variables
            if variable.name in self.scalars
        ]
        count = len(self.design.schedules)
        turns = [f"    uint64_t {name}[{count}] = {{0}};" for name in ("turns", "tests", "ended")]
        return [*super().variable_lines(), *turns, *given]

    def operations_of(self, block: cdfg.Block) -> tuple[cdfg.Operation, ...]:
        return tuple(o for o in block.operations if o.index in self.control.kept[block.index])

    def end_lines(self, schedule: BlockSchedule) -> list[str]:
        block, end = schedule.graph.block, schedule.graph.block.terminator
        entered = [
            " ".join(f"tests[{index}] = 0;" for index in sorted(loop.body))
            for loop in self.loops
            if loop.header in self.trips and loop.header in block.successors and block.index not in loop.body
        ]
        if not isinstance(end, cdfg.Branch):
            last = ["goto end;"] if isinstance(end, cdfg.Finish) else super().end_lines(schedule)
            return [*entered, *last]
        counter = self.taken[block.index] = self.counters
        self.counters += 1
        condition = f"({self.assumed(block)})"
        if block.index not in self.control.unknown:
            condition = self.operand(block, end.condition)
        if block.index in self.control.fed:
            condition = self.at_most(block, condition)
        lines = [*entered, f"if ({condition}) {{ ++happened[{counter}]; goto b{end.if_true}; }}"]
        if schedule.interval_cycles is not None:
            lines.append(f"cycles += {schedule.length_cycles} - {schedule.interval_cycles};")
        return [*lines, f"goto b{end.if_false};"]

    def at_most(self, block: cdfg.Block, condition: str) -> str:
        """Return a branch that ends its loop after the assumed iterations at the latest."""
        end = block.terminator
        assert isinstance(end, cdfg.Branch)
        inner = min((loop for loop in self.loops if block.index in loop.body), key=lambda own: len(own.body))
        if inner.header in self.trips:
            again = f"({condition}) && {self.counted(block, inner)}"
            return (
                again if end.if_true in inner.body else f"!(!({condition}) && {self.counted(block, inner)})"
            )
        is_before_body = block.index == inner.header and len(inner.body) > 1
        turns = UNKNOWN_TRIPS if is_before_body else UNKNOWN_TRIPS - 1
        again = condition if end.if_true in inner.body else f"!({condition})"
        turn = f"(({again}) && turns[{block.index}]++ < {turns} ? 1 : (turns[{block.index}] = 0))"
        return turn if end.if_true in inner.body else f"!{turn}"

    def assumed(self, block: cdfg.Block) -> str:
        """Return a condition for a branch on data, by the number of executions of its block."""
        end = block.terminator
        assert isinstance(end, cdfg.Branch)
        around = [loop for loop in self.loops if block.index in loop.body]
        loop = min(around, key=lambda own: len(own.body), default=None)
        inner = loop.body if loop else frozenset[int]()
        stays = [target in inner for target in (end.if_true, end.if_false)]
        if stays[0] == stays[1]:
            guarded = [target in self.trips for target in (end.if_true, end.if_false)]
            return str(int(guarded[0])) if any(guarded) else f"n{block.index} & 1"
        if loop is not None and loop.header in self.trips:
            again = self.counted(block, loop)
            return again if stays[0] else f"!{again}"
        again = end.if_true if stays[0] else end.if_false
        trips = UNKNOWN_TRIPS + (again != block.index)  # a test before the body is made once more
        return f"n{block.index} % {trips} {'!=' if stays[0] else '=='} 0"

    def counted(self, block: cdfg.Block, loop: Loop) -> str:
        """Return a condition for a loop with a given mean of trips, which entries meet on average."""
        mean, ended = repr(float(self.trips[loop.header])), f"ended[{loop.header}]"
        trips = f"(uint64_t)(({ended} + 1) * {mean}) - (uint64_t)({ended} * {mean})"
        before = int(loop.header not in block.successors)  # decides before its iteration: once more
        return f"(++tests[{block.index}] < {trips} + {before} ? 1 : (++{ended}, 0))"


def _literal(value: float, kind: ScalarType) -> str:
    if kind.floating:
        return repr(float(value))
    return wrapped(f"(int64_t){int(value) & (2**64 - 1)}ULL", kind)


def estimate_cycles(
    compiled: CompiledDesign,
    *,
    folder: Path,
    scalars: Mapping[str, float] | None = None,
    trips: Mapping[str, float] | None = None,
    timeout_s: float = 60.0,
    cycle_limit: int = CYCLE_LIMIT,
) -> ControlEstimate | ToolRun:
    """Estimate the cycles of a design: block lengths times trip counts.

    Args:    folder: for the program and its files. scalars: values of scalar arguments that are known; the
             estimate is of calls with these. trips: mean iterations per entry of loops of the design, by
             name, where the data that decide them are known.
    Returns: the estimate, or the run of gcc or of the program that failed. An estimate past the limit of
             cycles ends there.
    Raises:  ToolMissing: gcc is not installed. CycleModelError: the design breaks a rule of the graph.
    """
    design = compiled.scheduled
    control = control_of(design, scalars or {})
    writer = _ControlWriter(design, control, scalars or {}, trips or {})
    model = build_program(writer.program(), folder=folder, timeout_s=timeout_s)
    if isinstance(model, ToolRun):
        return model
    run, content = _run(model, folder, timeout_s, cycle_limit)
    if run.returncode != 0:
        return run
    program: CycleProgram = model.program
    status, late, _, cycles, _ = _HEAD.unpack_from(content)
    counts = np.frombuffer(content, "<u8", program.block_count + program.counter_count, _HEAD.size).tolist()
    visits, taken = tuple(counts[: program.block_count]), counts[program.block_count :]
    return ControlEstimate(
        cycles=cycles,
        trips_known=not control.unknown,
        visits=visits,
        loops=_loop_counts(design, writer, visits, {b: taken[k] for b, k in writer.taken.items()}, control),
        late_loop=late_loop(design.graph.blocks, visits, late) if status == LATE else None,
    )


def _run(model: CycleModel, folder: Path, timeout_s: float, cycle_limit: int) -> tuple[ToolRun, bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "input.bin").write_bytes(b"")
    argv = [str(model.executable), str(cycle_limit), "1"]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True)
    return run, (folder / "output.bin").read_bytes() if run.returncode == 0 else b""


def _loop_counts(
    design: ScheduledDesign,
    writer: _ControlWriter,
    visits: Sequence[int],
    taken: dict[int, int],
    control: _Control,
) -> tuple[LoopCount, ...]:
    """Return the entries and iterations of each loop."""
    counts: list[LoopCount] = []
    blocks = design.graph.blocks

    def edge(source: cdfg.Block, target: int) -> int:
        end = source.terminator
        if not isinstance(end, cdfg.Branch):
            return visits[source.index]
        yes = taken[source.index]
        return (yes if end.if_true == target else 0) + (
            visits[source.index] - yes if end.if_false == target else 0
        )

    for loop in writer.loops:
        again = sum(
            edge(b, loop.header) for b in blocks if b.index in loop.body and loop.header in b.successors
        )
        header = blocks[loop.header]
        exits = [i for i in loop.body if any(t not in loop.body for t in blocks[i].successors)]
        at_top = exits == [loop.header] and len(loop.body) > 1
        counts.append(
            LoopCount(
                loop=header.loop or "",
                header=loop.header,
                depth=sum(loop.body <= other.body for other in writer.loops),
                entries=visits[loop.header] - again,
                iterations=again if at_top else visits[loop.header],
                body=tuple(sorted(loop.body)),
                depends_on_data=loop.header not in writer.trips
                and any(i in control.unknown or i in control.fed for i in exits),
                is_constant=has_constant_trips(design, loop, exits),
            )
        )
    return tuple(counts)


def has_constant_trips(design: ScheduledDesign, loop: Loop, exits: Sequence[int]) -> bool:
    """Tell whether a loop's end is decided by values that only the loop itself changes from constants."""
    if len(exits) != 1:
        return False
    blocks = design.graph.blocks
    end = blocks[exits[0]].terminator
    assert isinstance(end, cdfg.Branch)
    needed, left = set[int](), [end.condition]
    while left:
        index = left.pop()
        if index not in needed:
            needed.add(index)
            left += blocks[exits[0]].operations[index].operands
    names = {
        blocks[exits[0]].operations[i].name for i in needed if blocks[exits[0]].operations[i].opcode == "read"
    }
    for block in blocks:
        for operation in block.operations:
            if operation.opcode != "write" or operation.name not in names:
                continue
            source = block.operations[operation.operands[0]]
            if block.index not in loop.body and source.opcode != "const":
                return False
    return True
