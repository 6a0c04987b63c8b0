"""A scheduled design as a C program that computes its outputs and counts its cycles.

A block is a label. A plain block adds its cycles when it is entered; a pipelined loop adds its interval per
iteration, and the rest of its depth once: N iterations take (N - 1) II + depth. `start` adds one cycle. The
controller takes the same cycles if the loop's condition is known before the next iteration starts, which is
checked.

The output of each data set is, little-endian: status, what and line as int64; latency and result as uint64;
the executions of each block and of each predicated access as uint64, with `toggles` the toggles of each net;
then each written array.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipelines.c import cdfg, ir
from pipelines.c.signature import Argument, Bank, Interface, ScalarType
from pipelines.cyclemodel.expressions import CycleModelError, container, expression, literal, wrapped
from pipelines.cyclemodel.toggles import PRELUDE, ToggleWriter
from pipelines.hls import BlockSchedule, ScheduledDesign
from pipelines.rtl.simulation import banks_of, element_lines, written_arrays


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A load or store of an external array.

    Attributes:
        counter: index of the counter of its executions; None when it executes with its block.
    """

    block: int
    opcode: str
    argument: str
    counter: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleProgram:
    """The program and the meaning of its counters.

    Attributes:
        text: C; arrays: names of arrays, which `what` of an output indexes.
        block_count, counter_count: lengths of the two lists of counters.
        pipelined: blocks that are pipelined loops.
        accesses: of external arrays.
        nets: whose toggles are counted, in the order of their counters; see `toggles.py`.
    """

    text: str
    interface: Interface
    arrays: tuple[str, ...]
    block_count: int
    counter_count: int
    pipelined: tuple[int, ...]
    accesses: tuple[Access, ...]
    nets: tuple[str, ...] = ()


@cache
def _prelude() -> str:
    return files("pipelines.cyclemodel").joinpath("model.h").read_text(encoding="ascii")


def _memory_type(kind: ScalarType) -> str:
    """Return the C type of an array's element: of no more bytes than needed."""
    if kind.floating:
        return kind.c_name
    size = next(s for s in (8, 16, 32, 64) if kind.width_bits <= s)
    return f"{'' if kind.signed else 'u'}int{size}_t"


def condition_cycle(schedule: BlockSchedule) -> int:
    """Return the cycle of an iteration in which a pipelined loop's condition is known.

    Raises: CycleModelError: the block is not a loop, or the next iteration starts earlier.
    """
    block, interval = schedule.graph.block, schedule.interval_cycles or 1
    if not isinstance(block.terminator, cdfg.Branch) or block.terminator.if_true != block.index:
        raise CycleModelError(f"a pipelined block must branch to itself when true, got {block.terminator}")
    known = schedule.ready(block.terminator.condition)
    if known >= min(interval, schedule.length_cycles):
        raise CycleModelError(
            f"the condition of a pipelined loop must be known in its first {interval} cycles, got {known}"
        )
    return known


def needed_operations(block: cdfg.Block) -> tuple[cdfg.Operation, ...]:
    """Return the operations of a block that take hardware; without those that only name an array element."""
    match block.terminator:
        case cdfg.Branch(condition=value) | cdfg.Finish(value=value) if value is not None:
            needed = {value}
        case _:
            needed = set[int]()
    for operation in reversed(block.operations):
        if operation.opcode in ("store", "write"):
            needed.add(operation.index)
        if operation.index in needed:
            needed.update(operation.inputs)
    return tuple(o for o in block.operations if o.index in needed)


class ProgramWriter:
    """Lines of one program."""

    def __init__(self, design: ScheduledDesign, interface: Interface, *, toggles: bool = False) -> None:
        self.design = design
        self.toggles = ToggleWriter(design, self.operand) if toggles else None
        self.interface = interface
        self.function = design.graph.function
        self.arrays = {a.name: (number, a) for number, a in enumerate(self.function.arrays)}
        self.banks = {b.port: b for b in banks_of(interface, self.function.banks)}
        self.accesses: list[Access] = []
        self.counters = 0

    # ---- memory -----------------------------------------------------------------------------------

    def bank_of(self, array: ir.Array) -> Bank:
        """Return the bank of an external array."""
        if array.name not in self.banks:
            known = ", ".join(self.banks)
            raise CycleModelError(f"unknown external array: {array.name}; accepted: {known}")
        return self.banks[array.name]

    def is_dealt(self, array: ir.Array) -> bool:
        """Tell whether the array is a bank with elements elsewhere than in an array of its own."""
        return array.external and any(d.style != "whole" for d in self.bank_of(array).dimensions)

    def memory_lines(self) -> list[str]:
        """Return the declarations of the arrays."""
        lines = [
            f"static {_memory_type(a.type)} e_{a.name}[{a.element_count}];" for a in self.interface.arrays
        ]
        for array in self.function.arrays:
            if self.is_dealt(array):
                body = " ".join(element_lines(self.bank_of(array)))
                lines.append(f"static int64_t place_{array.name}(int64_t address) {{ {body} }}")
            elif not array.external:
                lines += self.local_lines(array)
        return lines

    def local_lines(self, array: ir.Array) -> list[str]:
        """Return the declarations of a local array."""
        kind = _memory_type(array.type)
        lines = [f"static {kind} a_{array.name}[{array.element_count}];"]
        if array.initial is not None:
            values = ", ".join(literal(v, array.type) for v in array.initial)
            lines.append(f"static const {kind} i_{array.name}[{array.element_count}] = {{{values}}};")
        return lines

    def reset_lines(self) -> list[str]:
        """Return the local arrays at the start of the design."""
        return [
            f"    memset(a_{a.name}, 0, sizeof a_{a.name});"
            if a.initial is None
            else f"    memcpy(a_{a.name}, i_{a.name}, sizeof a_{a.name});"
            for a in self.function.arrays
            if not a.external
        ]

    def cell(self, array: ir.Array, address: str, line: int) -> tuple[str, str]:
        """Return the statements that check an address, and the element as an expression."""
        number = self.arrays[array.name][0]
        outside = f"{{ what = {number}; line = {line}; goto outside; }}"
        if self.is_dealt(array):
            place = f"int64_t at = (int64_t)(uint64_t){address}; if (at >= 0) at = place_{array.name}(at);"
            return f"{place} if (at < 0) {outside}", f"e_{self.bank_of(array).argument}[at]"
        name = f"e_{self.bank_of(array).argument}" if array.external else f"a_{array.name}"
        return f"if ((uint64_t){address} >= {array.element_count}u) {outside}", f"{name}[{address}]"

    def count_access(self, block: cdfg.Block, operation: cdfg.Operation) -> str:
        """Register an access; returns the statement that counts it when its predicate holds."""
        array = operation.symbol
        if not isinstance(array, ir.Array) or not array.external:
            return ""
        counter = None
        if operation.predicate is not None:
            counter = self.counters
            self.counters += 1
        argument = self.bank_of(array).argument
        self.accesses.append(
            Access(block=block.index, opcode=operation.opcode, argument=argument, counter=counter)
        )
        return "" if counter is None else f" ++happened[{counter}];"

    # ---- operations -------------------------------------------------------------------------------

    def operand(self, block: cdfg.Block, index: int) -> str:
        """Return C expression of the value of an operation."""
        operation = block.operations[index]
        if operation.opcode == "const":
            return f"({literal(operation.value or 0, self.kind_of(block, index))})"
        return f"t{index}"

    def kind_of(self, block: cdfg.Block, index: int) -> ScalarType:
        """Return the type of the value of an operation."""
        kind = block.operations[index].type
        if kind is None:
            raise CycleModelError(f"an operand has no type: {block.operations[index].opcode}")
        return kind

    def read_line(self, block: cdfg.Block, operation: cdfg.Operation) -> str:
        """Return the statement of a read of a variable."""
        kind = self.kind_of(block, operation.index)
        source = f"v_{operation.name}"
        text = source if kind.floating else wrapped(source, kind)
        return f"{container(kind)} t{operation.index} = {text};"

    def write_line(self, block: cdfg.Block, operation: cdfg.Operation) -> str:
        """Return the statement of a write of a variable."""
        assert isinstance(operation.symbol, ir.Variable)
        kind, value = operation.symbol.type, self.operand(block, operation.operands[0])
        return f"v_{operation.name} = {value if kind.floating else wrapped(value, kind)};"

    def load_lines(self, block: cdfg.Block, operation: cdfg.Operation) -> list[str]:
        """Return the statements of a load."""
        assert isinstance(operation.symbol, ir.Array)
        kind = self.kind_of(block, operation.index)
        name = f"t{operation.index}"
        check, cell = self.cell(operation.symbol, self.operand(block, operation.operands[0]), operation.line)
        value = cell if kind.floating else wrapped(cell, kind)
        counted = self.count_access(block, operation)
        when = "" if operation.predicate is None else f"if ({self.operand(block, operation.predicate)}) "
        return [f"{container(kind)} {name} = 0;", f"{when}{{ {check} {name} = {value};{counted} }}"]

    def store_lines(self, block: cdfg.Block, operation: cdfg.Operation) -> list[str]:
        """Return the statements of a store."""
        assert isinstance(operation.symbol, ir.Array)
        address, value = (self.operand(block, i) for i in operation.operands)
        kind = operation.symbol.type
        value = value if kind.floating else wrapped(value, kind)
        check, cell = self.cell(operation.symbol, address, operation.line)
        counted = self.count_access(block, operation)
        when = "" if operation.predicate is None else f"if ({self.operand(block, operation.predicate)}) "
        return [f"{when}{{ {check} {cell} = {value};{counted} }}"]

    def operation_lines(self, block: cdfg.Block, operation: cdfg.Operation) -> list[str]:
        """Return the statements of an operation."""
        match operation.opcode:
            case "const" | "read" | "write":
                return []
            case "load":
                return self.load_lines(block, operation)
            case "store":
                return self.store_lines(block, operation)
            case _:
                operands = [self.operand(block, i) for i in operation.operands]
                kinds = [self.kind_of(block, i) for i in operation.operands]
                kind = self.kind_of(block, operation.index)
                return [f"{container(kind)} t{operation.index} = {expression(operation, operands, kinds)};"]

    # ---- control ----------------------------------------------------------------------------------

    def time_lines(self, schedule: BlockSchedule) -> list[str]:
        """Return counting statements at the entry of a block; a loop ends when cycles exceed the limit."""
        block = schedule.graph.block
        again = any(p.index >= block.index for p in self.design.graph.blocks if block.index in p.successors)
        interval = schedule.interval_cycles
        if interval is not None:
            condition_cycle(schedule)
        lines = [f"++n{block.index}; cycles += {schedule.length_cycles if interval is None else interval};"]
        late = f"if (cycles > limit) {{ what = {block.index}; goto late; }}"
        return [*lines, late] if again else lines

    def end_lines(self, schedule: BlockSchedule) -> list[str]:
        """Return the statements of the end of a block."""
        block = schedule.graph.block
        match block.terminator:
            case cdfg.Jump(target=target):
                return [f"goto b{target};"]
            case cdfg.Branch(condition=condition, if_true=taken, if_false=other):
                lines = [f"if ({self.operand(block, condition)}) goto b{taken};"]
                if schedule.interval_cycles is not None:
                    lines.append(f"cycles += {schedule.length_cycles} - {schedule.interval_cycles};")
                return [*lines, f"goto b{other};"]
            case cdfg.Finish(value=value):
                lines = [] if value is None else [f"result = {self.result_bits(block, value)};"]
                return [*lines, "goto end;"]

    def result_bits(self, block: cdfg.Block, value: int) -> str:
        """Return C expression of the bits of the returned value."""
        kind, text = self.kind_of(block, value), self.operand(block, value)
        return f"sf_bits_of_{kind.c_name}({text})" if kind.floating else f"(uint64_t){text}"

    def operations_of(self, block: cdfg.Block) -> tuple[cdfg.Operation, ...]:
        """Return the operations of a block that are computed."""
        return needed_operations(block)

    def block_lines(self, schedule: BlockSchedule) -> list[str]:
        """Return a block with its label."""
        block = schedule.graph.block
        operations = self.operations_of(block)
        lines = self.time_lines(schedule)
        lines += [self.read_line(block, o) for o in operations if o.opcode == "read"]
        for operation in operations:
            lines += self.operation_lines(block, operation)
        lines += [self.write_line(block, o) for o in operations if o.opcode == "write"]
        if self.toggles is not None:
            lines += self.toggles.block_lines(schedule, operations)
        lines += self.end_lines(schedule)
        return [f"b{block.index}: {{", *(f"    {line}" for line in lines), "}"]

    def variable_lines(self) -> list[str]:
        """Return the declarations of the variables."""
        scalars = {a.name: a for a in self.interface.scalars}
        lines: list[str] = []
        for variable in self.design.graph.variables:
            start = f"x_{variable.name}" if variable.name in scalars else "0"
            if variable.name in scalars and not variable.type.floating:
                start = wrapped(start, variable.type)
            lines.append(f"    {container(variable.type)} v_{variable.name} = {start};")
        return lines

    # ---- the program ------------------------------------------------------------------------------

    def model_lines(self) -> list[str]:
        """Return the function that runs the design."""
        blocks = range(len(self.design.schedules))
        body = [line for s in self.design.schedules for line in self.block_lines(s)]
        return [
            f"static uint64_t ran[{len(blocks)}], happened[{self.counters + 1}];",
            *self.toggle_lines(),
            "static int64_t what, line;",
            "static uint64_t result, latency;",
            *(f"static {_memory_type(a.type)} x_{a.name};" for a in self.interface.scalars),
            "static int64_t run(uint64_t limit)",
            "{",
            "    uint64_t cycles = 1; int64_t status = SF_OK;",
            *(f"    uint64_t n{k} = 0;" for k in blocks),
            *self.variable_lines(),
            "    goto b0;",
            *body,
            "outside: status = SF_OUTSIDE; goto end;",
            "late: status = SF_CYCLE_LIMIT;",
            "end: latency = cycles;",
            *(f"    ran[{k}] = n{k};" for k in blocks),
            "    return status == SF_OK && cycles > limit ? SF_CYCLE_LIMIT : status;",
            "}",
        ]

    def toggle_lines(self) -> list[str]:
        """Return the counters of toggles; called after the blocks are written."""
        if self.toggles is None:
            return []
        size = len(self.toggles.numbers) + 1
        return [PRELUDE, f"static uint64_t toggled[{size}], before[{size}];", f"static int64_t seen[{size}];"]

    def main_lines(self) -> list[str]:
        """Return the program around it: files and data sets."""

        def variable(argument: Argument) -> str:
            return f"e_{argument.name}" if argument.is_array else f"x_{argument.name}"

        order = (*self.interface.arrays, *self.interface.scalars)
        return [
            "int main(int argc, char **argv)",
            "{",
            "    if (argc != 3) return 5;",
            "    const uint64_t limit = strtoull(argv[1], 0, 10);",
            '    FILE *in = fopen("input.bin", "rb"), *out = fopen("output.bin", "wb");',
            "    if (!in || !out) return 5;",
            "    for (long left = atol(argv[2]); left > 0; --left) {",
            *(f"    sf_get(in, &{variable(a)}, sizeof {variable(a)});" for a in order),
            "    memset(happened, 0, sizeof happened); result = 0; what = line = 0;",
            *(
                ["    memset(toggled, 0, sizeof toggled); memset(before, 0, sizeof before);"]
                if self.toggles
                else []
            ),
            *self.reset_lines(),
            "    int64_t status = run(limit);",
            "    sf_put(out, &status, 8); sf_put(out, &what, 8); sf_put(out, &line, 8);",
            "    sf_put(out, &latency, 8); sf_put(out, &result, 8);",
            f"    sf_put(out, ran, sizeof ran); sf_put(out, happened, 8 * {self.counters});",
            *([f"    sf_put(out, toggled, 8 * {len(self.toggles.numbers)});"] if self.toggles else []),
            *(f"    sf_put(out, e_{a.name}, sizeof e_{a.name});" for a in written_arrays(self.interface)),
            "    }",
            "    return fclose(out) ? 5 : 0;",
            "}",
        ]

    def program(self) -> CycleProgram:
        """Return the whole program."""
        model = self.model_lines()
        lines = [_prelude(), *self.memory_lines(), *model, *self.main_lines()]
        return CycleProgram(
            text="\n".join(lines) + "\n",
            interface=self.interface,
            arrays=tuple(a.name for a in self.function.arrays),
            block_count=len(self.design.schedules),
            counter_count=self.counters,
            pipelined=tuple(k for k, s in enumerate(self.design.schedules) if s.interval_cycles is not None),
            accesses=tuple(self.accesses),
            nets=() if self.toggles is None else tuple(self.toggles.numbers),
        )


def write_program(design: ScheduledDesign, interface: Interface, *, toggles: bool = False) -> CycleProgram:
    """Return the C program of a scheduled design.

    Args:    interface: of the design's C function; toggles: whether it counts toggles too.
    Raises:  CycleModelError: the design breaks a rule of the graph.
    """
    return ProgramWriter(design, interface, toggles=toggles).program()
