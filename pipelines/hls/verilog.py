"""A scheduled design as Verilog-2005 text.

Belongs here: states, ports and units of the top module. Does not: the values of a
block (`verilog_values.py`), the functional units' own text (`units.py`), or any decision about time.

Interface of the module: `clk`, synchronous `rst`, `start` (one cycle), `done` (one cycle), an input
`s_<name>` a scalar argument, `result` for a returned value, and for each external array that is loaded
`m_<name>_re`, `_raddr`, `_rdata`, for each that is stored `m_<name>_we`, `_waddr`, `_wdata`. Data arrives
exactly the read delay after its address; a store is seen by loads from the write delay on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.hls.cdfg import Branch, Finish, Operation
from pipelines.hls.design import ScheduledDesign, condition_of, memory_users, variable_writers
from pipelines.hls.ir import Array, Variable
from pipelines.hls.units import unit_modules
from pipelines.hls.verilog_values import BlockWriter


def module_name(function: str) -> str:
    """Name of the top module of a function."""
    return f"{function}_hw"


def address_bits(array: Array) -> int:
    """Width of an array's address port."""
    return max(1, (array.element_count - 1).bit_length())


def steer(sources: Sequence[tuple[str, str]], width_bits: int) -> str:
    """AND-OR selection among sources whose conditions exclude each other; one source needs none."""
    if len(sources) == 1:
        return sources[0][1]
    gated = (f"({{{width_bits}{{{when}}}}} & {value})" for when, value in sources)
    return "\n      | ".join(gated)


@dataclass(slots=True)
class _ModuleWriter:
    design: ScheduledDesign
    writers: list[BlockWriter]

    @property
    def function_name(self) -> str:
        return self.design.graph.function.name

    # ---- ports ------------------------------------------------------------------------------------

    def port_lines(self) -> list[str]:
        ports = ["input clk", "input rst", "input start", "output done"]
        for parameter in self.design.graph.function.parameters:
            if isinstance(parameter, Variable):
                ports.append(f"input signed [31:0] s_{parameter.name}")
        if self.design.graph.function.returns is not None:
            ports.append("output reg signed [31:0] result")
        for array in self.external_arrays():
            width, bits = array.type.width_bits, address_bits(array)
            name = f"m_{array.name}"
            if memory_users(self.design, array, "load"):
                ports += [f"output {name}_re", f"output [{bits - 1}:0] {name}_raddr"]
                ports.append(f"input signed [{width - 1}:0] {name}_rdata")
            if memory_users(self.design, array, "store"):
                ports += [f"output {name}_we", f"output [{bits - 1}:0] {name}_waddr"]
                ports.append(f"output signed [{width - 1}:0] {name}_wdata")
        return ports

    def external_arrays(self) -> list[Array]:
        return [a for a in self.design.graph.function.arrays if a.external]

    # ---- controller -------------------------------------------------------------------------------

    def states(self) -> list[tuple[str, str]]:
        """(name, comment) of every state; the first is idle, the last done."""
        found = [("S_IDLE", "waits for start")]
        for writer in self.writers:
            place = f"line {writer.block.line}" + (f", loop {writer.block.loop}" if writer.block.loop else "")
            if writer.interval is not None:
                found.append((f"S_{writer.block.name}", f"{place}, pipelined"))
                continue
            for cycle in range(writer.schedule.length_cycles):
                lines = sorted(
                    {
                        o.line
                        for o in writer.block.operations
                        if writer.schedule.starts[o.index] == cycle and o.opcode != "const"
                    }
                )
                said = "line " + ", ".join(map(str, lines)) if lines else "waits"
                found.append((f"S_{writer.block.name}_{cycle}", said))
        return [*found, ("S_DONE", "one cycle of done")]

    def first_state(self, block: int) -> str:
        writer = self.writers[block]
        suffix = "" if writer.interval is not None else "_0"
        return f"S_{writer.block.name}{suffix}"

    def successor(self, writer: BlockWriter) -> str:
        """Expression of the state after a block."""
        terminator = writer.block.terminator
        if isinstance(terminator, Finish):
            return "S_DONE"
        if not isinstance(terminator, Branch):
            return self.first_state(terminator.target)
        if writer.interval is not None:
            return self.first_state(terminator.if_false)
        condition = writer.boolean(terminator.condition, writer.schedule.length_cycles - 1)
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

    def pipeline_lines(self, writer: BlockWriter) -> tuple[list[str], list[str]]:
        """Declarations and register updates that run the iterations of a pipelined loop."""
        name, interval = writer.block.name, writer.interval or 1
        depth = writer.schedule.length_cycles
        condition = condition_of(writer.block)
        known = writer.schedule.ready(condition) if condition is not None else 0
        again = writer.boolean(condition, known) if condition is not None else "1'b1"
        declarations = [f"  reg {name}_more;"]
        updates: list[str] = []
        issue = f"(state == S_{name}) && {name}_more"
        if interval > 1:
            bits = (interval - 1).bit_length()
            declarations.append(f"  reg [{bits - 1}:0] {name}_phase;")
            issue += f" && ({name}_phase == 0)"
            updates.append(
                f"    {name}_phase <= (state != S_{name} || {name}_phase == {bits}'d{interval - 1})"
                f" ? {bits}'d0 : {name}_phase + {bits}'d1;"
            )
        if depth > 1:
            declarations.append(f"  reg [{depth - 1}:1] {name}_stages;")
            declarations.append(f"  wire [{depth - 1}:0] {name}_valid = {{{name}_stages, {issue}}};")
            updates.append(f"    {name}_stages <= rst ? {depth - 1}'d0 : {name}_valid[{depth - 2}:0];")
        else:
            declarations.append(f"  wire [0:0] {name}_valid = {issue};")
        declarations.append(f"  wire {name}_goes_on = {name}_more && !({name}_valid[{known}] && !{again});")
        drained = f" && ({name}_valid[{depth - 2}:0] == 0)" if depth > 1 else ""
        declarations.append(f"  wire {name}_leave = !{name}_goes_on{drained};")
        updates.insert(0, f"    {name}_more <= (state != S_{name}) || {name}_goes_on;")
        return declarations, updates

    # ---- datapath ---------------------------------------------------------------------------------

    def memory_lines(self, array: Array) -> tuple[list[str], list[str]]:
        """Port signals of an array; for a local one its storage too."""
        name, width, bits = f"m_{array.name}", array.type.width_bits, address_bits(array)
        lines: list[str] = []
        updates: list[str] = []
        for opcode, letter in (("load", "r"), ("store", "w")):
            users = memory_users(self.design, array, opcode)
            if not users:
                continue
            enables, addresses, values = self.port_sources(users, bits)
            if not array.external:
                lines += [
                    f"  wire {name}_{letter}e;",
                    f"  wire [{bits - 1}:0] {name}_{letter}addr;",
                ]
            lines.append(f"  assign {name}_{letter}e = {' || '.join(enables)};")
            lines.append(f"  assign {name}_{letter}addr = {steer(addresses, bits)};")
            if opcode == "store":
                if not array.external:
                    lines.append(f"  wire signed [{width - 1}:0] {name}_wdata;")
                lines.append(f"  assign {name}_wdata = {steer(values, width)};")
        if not array.external:
            lines.insert(0, f"  reg signed [{width - 1}:0] {name} [0:{array.element_count - 1}];")
            lines.insert(1, f"  reg signed [{width - 1}:0] {name}_rdata;")
            if memory_users(self.design, array, "load"):
                updates.append(f"    if ({name}_re) {name}_rdata <= {name}[{name}_raddr];")
            if memory_users(self.design, array, "store"):
                updates.append(f"    if ({name}_we) {name}[{name}_waddr] <= {name}_wdata;")
        return lines, updates

    def port_sources(
        self, users: list[tuple[int, Operation]], bits: int
    ) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str]]]:
        """Enables, and (condition, source) of addresses and of values to store."""
        enables: list[str] = []
        addresses: list[tuple[str, str]] = []
        values: list[tuple[str, str]] = []
        for block, operation in users:
            writer = self.writers[block]
            start = writer.schedule.starts[operation.index]
            enables.append(writer.guarded(operation))
            address = self.truncated(writer, operation.operands[0], start, bits)
            addresses.append((writer.active(start), address))
            if operation.opcode == "store":
                value = writer.integer(operation.operands[1], start)
                values.append((writer.active(start), value))
        return enables, addresses, values

    def truncated(self, writer: BlockWriter, index: int, cycle: int, bits: int) -> str:
        """The low bits of a value, as an address."""
        operation = writer.block.operations[index]
        if operation.opcode == "const":
            return f"{bits}'d{(operation.value or 0) % (1 << bits)}"
        text = writer.raw(index, cycle)
        if index in writer.booleans:
            return text if bits == 1 else f"{{{bits - 1}'d0, {text}}}"
        return f"{text}[{bits - 1}:0]"

    def unit_lines(self, kind: str, number: int) -> list[str]:
        """Operand selection and instance of one functional unit."""
        name = f"{kind}{number}"
        starts: list[str] = []
        left: list[tuple[str, str]] = []
        right: list[tuple[str, str]] = []
        for use in self.design.units[kind, number]:
            writer = self.writers[use.block]
            operation = writer.block.operations[use.operation]
            cycle = writer.schedule.starts[use.operation]
            when = writer.active(cycle)
            starts.append(when)
            left.append((when, writer.integer(operation.operands[0], cycle)))
            right.append((when, writer.integer(operation.operands[1], cycle)))
        lines = [
            f"  wire signed [31:0] {name}_a = {steer(left, 32)};",
            f"  wire signed [31:0] {name}_b = {steer(right, 32)};",
        ]
        if kind == "mul":
            lines.append(f"  wire signed [31:0] {name}_p;")
            lines.append(f"  multiplier_32 {name} (.clk(clk), .a({name}_a), .b({name}_b), .p({name}_p));")
            return lines
        lines.append(f"  wire signed [31:0] {name}_q, {name}_r;")
        lines.append(f"  wire {name}_go = {' || '.join(starts)};")
        lines.append(
            f"  divider_32 {name} (.clk(clk), .rst(rst), .go({name}_go), .a({name}_a), .b({name}_b), "
            f".q({name}_q), .r({name}_r));"
        )
        return lines

    def variables(self) -> list[Variable]:
        return list(self.design.graph.variables)

    def result_lines(self) -> list[str]:
        lines: list[str] = []
        for writer in self.writers:
            terminator = writer.block.terminator
            if isinstance(terminator, Finish) and terminator.value is not None:
                last = writer.schedule.length_cycles - 1
                value = writer.integer(terminator.value, last)
                lines.append(f"    if ({writer.active(last)}) result <= {value};")
        return lines

    # ---- everything -------------------------------------------------------------------------------

    def text(self) -> str:
        states = self.states()
        bits = max(1, (len(states) - 1).bit_length())
        parts = [f"module {module_name(self.function_name)} ("]
        parts.append(",\n".join(f"  {p}" for p in self.port_lines()) + "\n);")
        parts += [
            f"  localparam [{bits - 1}:0] {name} = {bits}'d{number}; // {comment}"
            for number, (name, comment) in enumerate(states)
        ]
        parts.append(f"  reg [{bits - 1}:0] state;")
        parts.append("  assign done = (state == S_DONE);")
        parts += [f"  reg signed [31:0] v_{v.name};" for v in self.variables()]
        parts += self.decode_lines()
        updates: list[str] = []
        for writer in self.writers:
            parts += writer.register_declarations()
        pipelines = [self.pipeline_lines(w) for w in self.writers if w.interval is not None]
        memories = [self.memory_lines(a) for a in self.design.graph.function.arrays]
        values = [line for w in self.writers for line in w.value_lines()]
        units = [line for unit in self.design.units for line in self.unit_lines(*unit)]
        parts += ordered_declarations(
            [*values, *units, *(line for d, _ in [*pipelines, *memories] for line in d)]
        )
        for _, lines in [*pipelines, *memories]:
            updates += lines
        for writer in self.writers:
            updates += writer.register_updates()
        parts.append("  always @(posedge clk) begin")
        parts += self.argument_lines() + updates + self.result_lines()
        parts.append("    if (rst) state <= S_IDLE;")
        parts += ["    else case (state)", *self.controller_lines(), "    endcase", "  end"]
        parts.append("endmodule")
        return "\n".join(parts) + "\n"

    def decode_lines(self) -> list[str]:
        return [
            f"  wire in_{w.block.name}_{c} = (state == S_{w.block.name}_{c});"
            for w in self.writers
            if w.interval is None
            for c in range(w.schedule.length_cycles)
        ]

    def argument_lines(self) -> list[str]:
        names = {v.name for v in self.variables()}
        return [
            f"    if (state == S_IDLE) v_{p.name} <= s_{p.name};"
            for p in self.design.graph.function.parameters
            if isinstance(p, Variable) and p.name in names
        ]


def ordered_declarations(lines: list[str]) -> list[str]:
    """Bare declarations first, then wires with a value and assignments: nothing is used before it is
    declared.

    A wire with an initial expression is split into its declaration and an assignment.
    """
    declarations: list[str] = []
    assignments: list[str] = []
    for line in lines:
        stripped = line.lstrip()
        if stripped.startswith("wire ") and " = " in stripped:
            head, expression = stripped.split(" = ", 1)
            declarations.append(f"  {head};")
            assignments.append(f"  assign {head.split()[-1]} = {expression}")
        elif stripped.startswith(("wire ", "reg ")):
            declarations.append(line)
        else:
            assignments.append(line)
    return declarations + assignments


def write_verilog(design: ScheduledDesign) -> str:
    """Verilog-2005 of a design: its functional units' modules and the top module.

    Returns: text with named states, each with a comment on the C lines it works on.
    """
    writers = [
        BlockWriter(block=b, schedule=s, design=design)
        for b, s in zip(design.graph.blocks, design.schedules, strict=True)
    ]
    kinds = {kind for kind, _ in design.units}
    divisors = any(o.opcode == "divc" for b in design.graph.blocks for o in b.operations)
    top = _ModuleWriter(design=design, writers=writers).text()
    return unit_modules(kinds, constant_divider=divisors) + top


def writer_count(design: ScheduledDesign, variable: Variable) -> int:
    """Sources among which a variable's register selects, the argument included."""
    own = any(p == variable for p in design.graph.function.parameters)
    return len(variable_writers(design, variable)) + int(own)
