"""A scheduled design as Verilog-2005 text.

Interface of the module: `clk`, synchronous `rst`, `start` (one cycle), `done` (one cycle), one input
`s_<name>` per scalar argument, `result` for a returned value, and the ports of each external array. Data
arrives exactly the read delay after its address; a store is seen by loads from the write delay on. Floating
values are their bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.c.cdfg import Branch, Finish, Operation
from pipelines.c.ir import Array, Variable
from pipelines.hls.design import (
    BoundUnit,
    Places,
    ScheduledDesign,
    condition_of,
    symbol_places,
    units_by_operation,
)
from pipelines.hls.operators import functional_unit
from pipelines.hls.units.catalogue import FunctionalUnit, instance_text, mode_value, module_texts
from pipelines.hls.verilog_text import Net, Section, any_of, literal, range_text, steer
from pipelines.hls.verilog_values import BlockWriter

Sources = list[tuple[str, str]]
"""Sources of a port: (condition, value) of each operation that uses it."""


def operand_sources(bound: BoundUnit, writers: Sequence[BlockWriter]) -> list[Sources]:
    """Return the sources of each operand port of a unit."""
    by_port: list[Sources] = [[] for _ in bound.unit.ports]
    for use in bound.uses:
        writer = writers[use.block]
        operation = writer.block.operations[use.operation]
        cycle = writer.schedule.starts[use.operation]
        for sources, index, (_, width) in zip(by_port, operation.operands, bound.unit.ports, strict=True):
            sources.append((writer.active(cycle), writer.resized(index, cycle, width)))
    return by_port


def _modes(bound: BoundUnit, writers: Sequence[BlockWriter]) -> dict[int, list[str]]:
    """Return the conditions under which a unit works in each of its modes."""
    conditions: dict[int, list[str]] = {0: [], 1: []}
    for use in bound.uses:
        writer = writers[use.block]
        opcode = writer.block.operations[use.operation].opcode
        conditions[mode_value(opcode)].append(writer.active(writer.schedule.starts[use.operation]))
    return conditions


def unit_section(bound: BoundUnit, writers: Sequence[BlockWriter]) -> Section:
    """Return the operand selection and instance of one functional unit."""
    section, unit, modes = Section(), bound.unit, _modes(bound, writers)
    section.values.append(f"  // {bound.name}")
    for sources, (port, width) in zip(operand_sources(bound, writers), unit.ports, strict=True):
        section.value(f"{bound.name}_{port}", width, steer(sources, width))
    output = f"{bound.name}_{unit.output[0]}"
    section.wire(output, unit.output[1])
    go = f"{bound.name}_go" if unit.started else None
    if go is not None:
        section.value(go, 1, any_of([*modes[0], *modes[1]]))
    mode = (any_of(modes[1]) if modes[0] else "1'b1") if modes[1] else "1'b0"
    operands = [f"{bound.name}_{port}" for port, _ in unit.ports]
    section.values.append("  " + instance_text(unit, bound.name, operands, output, go, mode))
    return section


def address_bits(array: Array) -> int:
    """Return the width of an array's address port."""
    return max(1, (array.element_count - 1).bit_length())


def memory_ports(array: Array, places: Places) -> list[str]:
    """Return the port declarations of an external array."""
    name, data = f"m_{array.name}", range_text(array.type.width_bits)
    address = range_text(address_bits(array))
    ports: list[str] = []
    if ("load", array.name) in places:
        ports += [f"output {name}_re", f"output {address}{name}_raddr", f"input {data}{name}_rdata"]
    if ("store", array.name) in places:
        ports += [f"output {name}_we", f"output {address}{name}_waddr", f"output {data}{name}_wdata"]
    return ports


def memory_section(array: Array, places: Places, writers: Sequence[BlockWriter]) -> Section:
    """Return the port signals of an array, and the storage of a local one."""
    section = Section()
    loads, stores = places.get(("load", array.name), []), places.get(("store", array.name), [])
    for users, letter in ((loads, "r"), (stores, "w")):
        if users:
            _port(section, array, letter, users, writers)
    if array.external or not loads:
        return section
    name, width = f"m_{array.name}", array.type.width_bits
    section.register(f"{name}_rdata", width)
    if stores:
        _storage(section, array)
    else:
        _table(section, array)
    return section


def _storage(section: Section, array: Array) -> None:
    name, width = f"m_{array.name}", array.type.width_bits
    last = array.element_count - 1
    section.declarations.append(f"  reg {range_text(width)}{name}_cells [0:{last}];")
    section.on_clock(f"if ({name}_re) {name}_rdata <= {name}_cells[{name}_raddr];")
    section.on_clock(f"if ({name}_we) {name}_cells[{name}_waddr] <= {name}_wdata;")


def _table(section: Section, array: Array) -> None:
    """Write a read-only array; elements without a value are zero."""
    name, width, bits = f"m_{array.name}", array.type.width_bits, address_bits(array)
    values = array.initial or ()
    section.on_clock(f"if ({name}_re) case ({name}_raddr)")
    for address, value in enumerate(values):
        if value:
            section.on_clock(f"  {literal(address, bits)}: {name}_rdata <= {literal(value, width)};")
    section.on_clock(f"  default: {name}_rdata <= {literal(0, width)};")
    section.on_clock("endcase")


def address_sources(
    array: Array, users: list[tuple[int, Operation]], writers: Sequence[BlockWriter]
) -> list[tuple[str, str]]:
    """Return (condition, address) of each access of one kind to an array."""
    return _operands(0, address_bits(array), users, writers)


def data_sources(
    array: Array, users: list[tuple[int, Operation]], writers: Sequence[BlockWriter]
) -> list[tuple[str, str]]:
    """Return (condition, value) of each store to an array."""
    return _operands(1, array.type.width_bits, users, writers)


def _operands(
    number: int, width_bits: int, users: list[tuple[int, Operation]], writers: Sequence[BlockWriter]
) -> list[tuple[str, str]]:
    operands: list[tuple[str, str]] = []
    for block, operation in users:
        writer = writers[block]
        start = writer.schedule.starts[operation.index]
        operands.append((writer.active(start), writer.resized(operation.operands[number], start, width_bits)))
    return operands


def _port(
    section: Section,
    array: Array,
    letter: str,
    users: list[tuple[int, Operation]],
    writers: Sequence[BlockWriter],
) -> None:
    """Write enable, address and data of a port, each selected among the operations that use it."""
    name, width, bits = f"m_{array.name}_{letter}", array.type.width_bits, address_bits(array)
    enables = [writers[block].guarded(operation) for block, operation in users]
    addresses = steer(address_sources(array, users, writers), bits)
    signals = [("e", 1, any_of(enables)), ("addr", bits, addresses)]
    if letter == "w":
        signals.append(("data", width, steer(data_sources(array, users, writers), width)))
    for suffix, size, expression in signals:
        if array.external:
            section.assignments.append(f"  assign {name}{suffix} = {expression};")
        else:
            section.value(f"{name}{suffix}", size, expression)


def module_name(function: str) -> str:
    """Return the name of the top module of a function."""
    return f"{function}_hw"


@dataclass(slots=True)
class _ModuleWriter:
    design: ScheduledDesign
    writers: list[BlockWriter]
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        self.places = symbol_places(self.design)

    # ---- ports ------------------------------------------------------------------------------------

    def port_lines(self) -> list[str]:
        function = self.design.graph.function
        ports = ["input clk", "input rst", "input start", "output done"]
        for parameter in function.parameters:
            if isinstance(parameter, Variable):
                ports.append(f"input {range_text(parameter.type.width_bits)}s_{parameter.name}")
        if function.returns is not None:
            ports.append(f"output reg {range_text(function.returns.width_bits)}result")
        for array in self.external_arrays():
            ports += memory_ports(array, self.places)
        return ports

    def external_arrays(self) -> list[Array]:
        return [a for a in self.design.graph.function.arrays if a.external]

    # ---- controller -------------------------------------------------------------------------------

    def states(self) -> list[tuple[str, str]]:
        """Return (name, comment) of every state; the first is idle, the last done."""
        states = [("S_IDLE", "waits for start")]
        for writer in self.writers:
            if writer.interval is not None:
                states.append((f"S_{writer.block.name}", f"{_location(writer)}, pipelined"))
                continue
            lines: list[set[int]] = [set() for _ in range(writer.schedule.length_cycles)]
            for operation in writer.block.operations:
                if operation.opcode != "const" and operation.line and operation.index in writer.live:
                    lines[writer.schedule.starts[operation.index]].add(operation.line)
            for cycle, source_lines in enumerate(lines):
                text = (
                    "line " + ", ".join(map(str, sorted(source_lines)))
                    if source_lines
                    else f"waits, {_location(writer)}"
                )
                states.append((f"S_{writer.block.name}_{cycle}", text))
        return [*states, ("S_DONE", "one cycle of done")]

    def first_state(self, block: int) -> str:
        writer = self.writers[block]
        suffix = "" if writer.interval is not None else "_0"
        return f"S_{writer.block.name}{suffix}"

    def successor(self, writer: BlockWriter) -> str:
        """Return the expression of the state after a block."""
        terminator = writer.block.terminator
        if isinstance(terminator, Finish):
            return "S_DONE"
        if not isinstance(terminator, Branch):
            return self.first_state(terminator.target)
        if writer.interval is not None:
            return self.first_state(terminator.if_false)
        condition = writer.truth(terminator.condition, writer.schedule.length_cycles - 1)
        taken, other = map(self.first_state, (terminator.if_true, terminator.if_false))
        return taken if taken == other else f"{condition} ? {taken} : {other}"

    def controller_lines(self) -> list[str]:
        lines = [f"      S_IDLE: if (start) state <= {self.first_state(0)};"]
        for writer in self.writers:
            name = writer.block.name
            if writer.interval is not None:
                lines.append(f"      S_{name}: if ({name}_leave) state <= {self.successor(writer)};")
                continue
            last = writer.schedule.length_cycles - 1
            lines += [f"      S_{name}_{c}: state <= S_{name}_{c + 1};" for c in range(last)]
            lines.append(f"      S_{name}_{last}: state <= {self.successor(writer)};")
        return [*lines, "      default: state <= S_IDLE;"]

    def decode_section(self, body: Section) -> Section:
        """Return one signal per active cycle of a block."""
        section = Section()
        awaited = body.words()
        for writer in self.writers:
            for cycle in range(writer.schedule.length_cycles):
                name = f"{writer.block.name}_{cycle}"
                if f"in_{name}" in awaited:
                    section.value(f"in_{name}", 1, f"state == S_{name}")
        return section

    def result_section(self) -> Section:
        section = Section()
        returns = self.design.graph.function.returns
        for writer in self.writers:
            terminator = writer.block.terminator
            if returns is not None and isinstance(terminator, Finish) and terminator.value is not None:
                last = writer.schedule.length_cycles - 1
                value = writer.resized(terminator.value, last, returns.width_bits)
                section.on_clock(f"if ({writer.active(last)}) result <= {value};")
        return section

    def variable_section(self) -> Section:
        """Return the registers of variables; arguments are loaded while the design waits."""
        section = Section()
        parameters = {p.name: p for p in self.design.graph.function.parameters if isinstance(p, Variable)}
        for variable in self.design.graph.variables:
            name, width = variable.name, variable.type.width_bits
            section.register(f"v_{name}", width)
            if name in parameters:
                kind = parameters[name].type
                port = Net(name=f"s_{name}", net_bits=kind.width_bits, type=kind)
                section.on_clock(f"if (state == S_IDLE) v_{name} <= {port.resized(width)};")
        return section

    # ---- everything -------------------------------------------------------------------------------

    def body(self) -> Section:
        """Return everything except states, in the order of data flow."""
        body = self.variable_section()
        for writer in self.writers:
            body.add(writer.values())
        for bound in self.design.units:
            body.add(unit_section(bound, self.writers))
        for array in self.design.graph.function.arrays:
            body.add(memory_section(array, self.places, self.writers))
        for writer in self.writers:
            body.add(writer.registers())
        body.add(self.result_section())
        for writer in self.writers:
            if writer.interval is not None:
                body.add(pipeline_section(writer, body))
        whole = self.decode_section(body)
        whole.add(body)
        return whole

    def text(self) -> str:
        states, body, controller = self.states(), self.body(), self.controller_lines()
        bits = max(1, (len(states) - 1).bit_length())
        parts = [f"module {module_name(self.design.graph.function.name)} ("]
        parts.append(",\n".join(f"  {p}" for p in self.port_lines()) + "\n);")
        parts += [
            f"  localparam [{bits - 1}:0] {name} = {literal(number, bits)}; // {comment}"
            for number, (name, comment) in enumerate(states)
        ]
        parts.append(f"  reg [{bits - 1}:0] state;")
        parts += body.declarations
        parts += body.values
        parts.append("  assign done = state == S_DONE;")
        parts += body.assignments
        parts += ["  always @(posedge clk) begin", *body.updates]
        parts.append("    if (rst) state <= S_IDLE;")
        parts += ["    else case (state)", *controller, "    endcase", "  end", "endmodule"]
        return "\n".join(parts) + "\n"


def _location(writer: BlockWriter) -> str:
    loop = f"loop {writer.block.loop}" if writer.block.loop else ""
    line = f"line {writer.block.line}" if writer.block.line else ""
    return ", ".join(part for part in (line, loop) if part) or "begin"


def pipeline_section(writer: BlockWriter, body: Section) -> Section:
    """Return the control of a pipelined loop: a shift register of valid stages.

    Args:    body: the rest of the module; it shows whether the last stage is used.
    """
    section = Section()
    name, interval, depth = writer.block.name, writer.interval or 1, writer.schedule.length_cycles
    condition = condition_of(writer.block)
    known = writer.schedule.ready(condition) if condition is not None else 0
    again = writer.truth(condition, known) if condition is not None else "1'b1"
    issue = f"(state == S_{name}) && {name}_more"
    section.register(f"{name}_more", 1)
    section.on_clock(f"{name}_more <= (state != S_{name}) || {name}_goes_on;")
    if interval > 1:
        issue += f" && {_phase(section, name, interval)}"
    drained = ""
    if depth > 1:
        last = depth - 1 if body.mentions(writer.active(depth - 1)) or known == depth - 1 else depth - 2
        section.declarations.append(f"  wire [{last}:0] {name}_valid;")
        stages = ""
        if last > 0:
            section.declarations.append(f"  reg [{last}:1] {name}_stages;")
            stages = f"{name}_stages, "
            section.on_clock(f"{name}_stages <= rst ? {literal(0, last)} : {name}_valid[{last - 1}:0];")
        section.assignments.append(f"  assign {name}_valid = {{{stages}{issue}}};")
        drained = f" && !(|{name}_valid[{depth - 2}:0])"
    else:
        section.wire(f"{name}_valid", 1, issue)
    section.value(f"{name}_goes_on", 1, f"{name}_more && !({writer.active(known)} && !{again})")
    section.value(f"{name}_leave", 1, f"!{name}_goes_on{drained}")
    return section


def _phase(section: Section, name: str, interval: int) -> str:
    """Declare a counter of the cycles of an interval; returns the condition of the first cycle."""
    bits = (interval - 1).bit_length()
    section.register(f"{name}_phase", bits)
    section.on_clock(
        f"{name}_phase <= (state != S_{name} || {name}_phase == {literal(interval - 1, bits)})"
        f" ? {literal(0, bits)} : {name}_phase + {literal(1, bits)};"
    )
    return f"({name}_phase == {literal(0, bits)})"


def _own_units(design: ScheduledDesign) -> list[FunctionalUnit]:
    """Return every functional-unit type of a design, shared or not, in order of first use."""
    units = {bound.unit: None for bound in design.units}
    for block in design.graph.blocks:
        for operation in block.operations:
            unit = functional_unit(operation, block.operations)
            if unit is not None:
                units[unit] = None
    return list(units)


def block_writers(design: ScheduledDesign) -> list[BlockWriter]:
    """Return a writer for each block of a design."""
    shared = units_by_operation(design)
    types = {v.name: v.type for v in design.graph.variables}
    return [
        BlockWriter(block=b, schedule=s, shared=shared, variable_types=types)
        for b, s in zip(design.graph.blocks, design.schedules, strict=True)
    ]


def write_verilog(design: ScheduledDesign) -> str:
    """Return the Verilog-2005 of a design: its functional units' modules and the top module.

    Returns: text with named states, each with a comment on its C lines.
    """
    top = _ModuleWriter(design=design, writers=block_writers(design)).text()
    return module_texts(_own_units(design)) + top
