"""Random hierarchical designs in Verilog, for comparison of engines.

Every register and memory has an initial value, no index leaves its array and no divisor is 0, so that no
undefined value reaches an output. From seed `FEATURED_FROM` on there are macros, asynchronous resets,
parameters, and memories that begin with the words of a file; from `BOUNDED_FROM` on also memories whose first
word has another address than 0, and resets that synchronisers hold; from `CLOCKED_FROM` on also what
`random_clocks` adds, in runs of one kind.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from pipelines.rtl.reuse.designs import DesignSource
from tests.support.random_clocks import (
    add_arrays,
    add_clocks,
    add_gate,
    add_macro,
    array_pins,
    assign_arrays,
    clock_pins,
    icg_module,
    top_clocks,
)
from tests.support.random_expressions import BINARY, expression, leaf, sized
from tests.support.random_kinds import FEATURED_FROM, WIDTHS, Clocking, Kind, Module, Writer

_BARE = 0.3
_BOUNDS = (0, 1, 2, 5, 9, 1000)
_MACROS = ("SYNTHESIS", "VERILATOR", "verilator", "YOSYS", "__slang__", "SYSTEMVERILOG", "FORMAL")
_RESETS = ("rst", "arst_n", "clear", "init_n")
MOST_INSTANCES, MOST_FEATURED = 200, 30
"""Of a design, as rows of rows grow beyond what other engines simulate in time."""


def random_design(seed: int, *, name: str = "top", modules: int = 4) -> DesignSource:
    """A design whose modules have the name as a prefix; equal seeds give equal text.

    From `BARE_FROM` on, ports may be wider than what they are connected to.
    """
    return _drawn(seed, name, modules)[1]


def _drawn(seed: int, name: str, modules: int) -> tuple[Module, DesignSource]:
    """The top module of a random design, and the design."""
    rng = random.Random(seed)
    children: list[Module] = []
    texts: list[str] = []
    files: dict[str, bytes] = {}
    texts.append(icg_module(f"{name}_icg", Kind.of(seed)))
    for number in range(modules):
        module_name = name if number == modules - 1 else f"{name}_m{number}"
        module, text = _module(rng, module_name, children, kind=Kind.of(seed), files=files)
        children.append(module)
        texts.append(text)
    return children[-1], DesignSource(verilog="\n".join(filter(None, texts)), top=name, files=files)


def bundle(seeds: Sequence[int], *, top: str = "top") -> DesignSource:
    """Several random designs in one: each gets the same words of input, outputs are side by side.

    Designs from `CLOCKED_FROM` on are of one run, see `Kind`.
    """
    texts: list[str] = []
    files: dict[str, bytes] = {}
    clocks = top_clocks(seeds[0])
    ports, instances = [f"input {name}" for name in clocks], list[str]()
    for seed in seeds:
        module, design = _drawn(seed, f"d{seed}", 2 + seed % (2 if seed >= FEATURED_FROM else 4))
        texts.append(design.verilog)
        files.update(design.files)
        ports += [f"input [{w - 1}:0] d{seed}_{n}" for n, w in module.inputs]
        ports += [f"input d{seed}_{n}" for n in module.resets]
        ports += [f"output [{w - 1}:0] d{seed}_{n}" for n, w in module.outputs]
        arrays = [(a, "output" if a.is_output else "input") for a in module.arrays]
        ports += [a.declared(direction, f"d{seed}_{a.name}") for a, direction in arrays]
        names = (*(n for n, _ in (*module.inputs, *module.outputs)), *module.resets)
        names += tuple(a.name for a in module.arrays)
        pins = [f".{port}({clocks[(seed + i) % len(clocks)]})" for i, port in enumerate(module.clocks)]
        pins += [f".{n}(d{seed}_{n})" for n in names]
        instances.append(f"  d{seed} u{seed} ({', '.join(pins)});")
    header = f"module {top} (\n  " + ",\n  ".join(ports) + ");"
    return DesignSource(
        verilog="\n".join([*texts, header, *instances, "endmodule", ""]), top=top, files=files
    )


def _module(
    rng: random.Random, name: str, children: list[Module], *, kind: Kind, files: dict[str, bytes]
) -> tuple[Module, str]:
    module = Module(
        name=name,
        inputs=[(f"i{i}", rng.choice(WIDTHS)) for i in range(rng.randint(1, 4))],
        outputs=[(f"o{i}", rng.choice(WIDTHS)) for i in range(rng.randint(1, 3))],
    )
    writer = Writer(
        rng=rng, name=name, kind=kind, files=files, signals=[(n, w, False) for n, w in module.inputs]
    )
    add_macro(writer)
    add_arrays(writer, module)
    add_clocks(writer, module)
    if kind.is_featured:
        _features(writer, module)
    registers = [(writer.fresh("r"), rng.choice(WIDTHS)) for _ in range(rng.randint(0, 4))]
    for register, width in registers:
        is_signed = rng.random() < 0.3
        signed = "signed " if is_signed else ""
        value = f"{width}'d{rng.getrandbits(min(width, 16)) if rng.random() < 0.5 else 0}"
        writer.lines.append(f"  reg {signed}[{width - 1}:0] {register} = {value};")
        writer.signals.append((register, width, is_signed))
    if rng.random() < 0.4:
        _memory(writer)
    if kind.has_files and rng.random() < 0.6:
        _memory_from_file(writer)
    for _ in range(rng.randint(1, 4)):
        _wire(writer)
    if kind.clocking in (Clocking.GATED, Clocking.BOTH):
        for _ in range(rng.randint(0, 2)):
            add_gate(writer, module, name.split("_")[0])
    for child in rng.choices(children, k=rng.randint(1, 3)) if children else []:
        most = MOST_FEATURED if kind.is_featured else MOST_INSTANCES
        module.size += _instances(writer, module, child, most - module.size)
    for _ in range(rng.randint(0, 3)):
        _wire(writer)
    for register, width in registers:
        _update(writer, register, width)
    if kind.is_featured and registers:
        _late_reset(writer, rng.choice(registers))
    if kind.is_bounded:
        _synchroniser(writer)
    for output, _ in module.outputs:
        writer.lines.append(f"  assign {output} = {expression(writer, 3)};")
    assign_arrays(writer, module)
    ports = [*(f"input {n}" for n in module.clocks), *(f"input [{w - 1}:0] {n}" for n, w in module.inputs)]
    ports += [f"input {n}" for n in module.resets]
    ports += [f"output [{w - 1}:0] {n}" for n, w in module.outputs]
    ports += [a.declared("output" if a.is_output else "input") for a in module.arrays]
    parameters = ", ".join(f"parameter {n} = {default}" for n, default in module.parameters)
    header = f"module {name} {f'#({parameters}) ' if parameters else ''}({', '.join(ports)});"
    return module, "\n".join([header, *writer.lines, "endmodule", ""])


def _wire(writer: Writer) -> None:
    name, width = writer.fresh("w"), writer.rng.choice(WIDTHS)
    is_signed = writer.rng.random() < 0.3
    signed = "signed " if is_signed else ""
    line = f"  wire {signed}[{width - 1}:0] {name} = {expression(writer, 3)};"
    if writer.kind.is_featured and writer.rng.random() < 0.3:
        test = f"`{writer.rng.choice(('ifdef', 'ifndef'))} {writer.rng.choice(_MACROS)}"
        other = f"  wire {signed}[{width - 1}:0] {name} = {expression(writer, 2)};"
        writer.lines += [test, line, "`else", other, "`endif"]
    else:
        writer.lines.append(line)
    writer.signals.append((name, width, is_signed))


# ---- resets, parameters and memory files ---------------------------------------------------------------


def _features(writer: Writer, module: Module) -> None:
    """Resets and parameters of a module. A parameter is a value, or at least the width of a register."""
    rng = writer.rng
    module.resets = rng.sample(_RESETS, rng.randint(1, 2))
    writer.resets = [_active(name) for name in module.resets]
    if len(writer.resets) == 2:
        writer.resets.append(f"{writer.resets[0]} {rng.choice('&|')} {writer.resets[1]}")
    if rng.random() < 0.6:
        module.parameters.append(("K", rng.getrandbits(8)))
        name = writer.fresh("w")
        writer.lines.append(f"  wire [11:0] {name} = K + {rng.randint(0, 9)};")
        writer.signals.append((name, 12, False))
    if rng.random() < 0.6:
        width = rng.choice((3, 8, 16, 33, 64))
        module.parameters.append(("W", width))
        name = writer.fresh("p")
        value = expression(writer, 2)
        writer.lines += [
            f"  reg [W-1:0] {name} = {rng.randint(0, 5)};",
            f"  always @({writer.event()}) {name} <= {value};",
        ]
        writer.signals.append((name, width, False))


def _active(reset: str) -> str:
    """Active-high text of a reset; its own inverse."""
    return f"~{reset}" if reset.endswith("_n") else reset


def _passed_resets(writer: Writer, child: Module) -> list[str]:
    """Pins of a child's resets: each is one of the module's, or two of them, at the child's level."""
    pins: list[str] = []
    for name in child.resets:
        active = writer.rng.choice(writer.resets)
        pins.append(f".{name}({f'~({active})' if name.endswith('_n') else active})")
    return pins


def _overrides(writer: Writer, child: Module) -> str:
    """Values of a child's parameters; of a width never less, as parts of the register are read."""
    rng = writer.rng
    given = [(n, d + rng.randint(0, 7)) for n, d in child.parameters if rng.random() < 0.6]
    return f"#({', '.join(f'.{n}({value})' for n, value in given)}) " if given else ""


def _late_reset(writer: Writer, register: tuple[str, int]) -> None:
    """A register behind a reset that another register requests."""
    name, (other, width) = writer.fresh("z"), register
    bit = f"{other}[{writer.rng.randrange(width)}]"
    value = expression(writer, 2)
    writer.lines += [
        f"  reg {name}_ask = 0; always @({writer.event()}) {name}_ask <= {bit} & {expression(writer, 1)};",
        f"  wire {name}_rst = {name}_ask | {writer.rng.choice(writer.resets)};",
        f"  reg [7:0] {name} = 8'd{writer.rng.randrange(256)};",
        f"  always @({writer.event()} or posedge {name}_rst)",
        f"    if ({name}_rst) {name} <= 8'd{writer.rng.randrange(256)}; else {name} <= {value};",
    ]
    writer.signals.append((name, 8, False))


def _synchroniser(writer: Writer) -> None:
    """A register that two registers, which start active, keep reset for some cycles."""
    rng, name = writer.rng, writer.fresh("y")
    level, edge = rng.choice((("~", "negedge"), ("", "posedge")))
    active, idle = ("0", "1'b1") if level else ("1", "1'b0")
    reset = rng.choice((None, *writer.resets[:2]))
    before = begin = ""
    if reset is not None:
        before = f" or {'negedge' if reset.startswith('~') else 'posedge'} {reset.removeprefix('~')}"
        begin = f"if ({reset}) {{{name}_r, {name}_s}} <= {{2{{1'b{active}}}}}; else "
    value = expression(writer, 2)
    writer.lines += [
        f"  reg {name}_s = {active}, {name}_r = {active};",
        f"  always @({writer.event()}{before}) {begin}{{{name}_r, {name}_s}} <= {{{name}_s, {idle}}};",
        f"  reg [7:0] {name} = 8'd{rng.randrange(256)};",
        f"  always @({writer.event()} or {edge} {name}_r)",
        f"    if ({level}{name}_r) {name} <= 8'd{rng.randrange(256)}; else {name} <= {value};",
    ]
    writer.signals.append((name, 8, False))


def _bound(writer: Writer) -> int:
    """Address of the first word of a memory."""
    return writer.rng.choice(_BOUNDS) if writer.kind.is_bounded else 0


def _word(name: str, index: str, bound: int) -> str:
    """A word of a memory."""
    return f"{name}[{index} + {bound}]" if bound else f"{name}[{index}]"


def _memory_from_file(writer: Writer) -> None:
    """A memory that a file fills, all of it or from an address on, perhaps behind words of its own."""
    rng = writer.rng
    bits, width = rng.randint(1, 5), rng.choice(WIDTHS)
    name, index, read = writer.fresh("mem"), writer.fresh("x"), writer.fresh("q")
    file, base = f"{writer.name}_{name}.hex", rng.choice("hb")
    first = rng.choice((0, 0, rng.randrange(1 << bits)))
    words = [f"{rng.getrandbits(width):{'x' if base == 'h' else 'b'}}" for _ in range(first, 1 << bits)]
    bound = _bound(writer)
    last = bound + (1 << bits) - 1
    if first and rng.random() < 0.5:
        words.insert(0, f"@{bound + first:x}")
        start = ""
    else:
        start = f", {bound + first}, {last}" if first else ""
    words.insert(rng.randint(0, 1), "// words" if rng.random() < 0.5 else "/* words */")
    writer.files[file] = ("\n".join(words) + "\n").encode()
    writer.lines += [
        f"  reg [{width - 1}:0] {name} [{bound}:{last}];",
        f"  integer {index};",
        "  initial begin",
        f"    for ({index} = {bound}; {index} < {last + 1}; {index} = {index} + 1) "
        f"{name}[{index}] = {index} * 7;",
        f'    $readmem{base}("{file}", {name}{start});',
        "  end",
        f"  always @({writer.event()}) begin{_write(writer, name, bits, width, bound)} end",
        f"  wire [{width - 1}:0] {read} = {_word(name, sized(writer, bits), bound)};",
    ]
    writer.signals.append((read, width, False))


# ---- instances -------------------------------------------------------------------------------------------


def _instances(writer: Writer, module: Module, child: Module, most: int) -> int:
    """One instance, or a row of them where each feeds the next. Returns: instances with those inside."""
    count = min(writer.rng.choice((1, 1, 2, 3, 9, 12)), most // child.size)
    if count == 1:
        name = writer.fresh("u")
        pins = [f".{n}({_operand(writer)})" for n, _ in child.inputs]
        pins += array_pins(writer, child)
        for output, width in child.outputs:
            wire = writer.fresh("c")
            writer.lines.append(f"  wire [{width - 1}:0] {wire};")
            pins.append(f".{output}({wire})")
            writer.signals.append((wire, width, False))
        pins += _passed_resets(writer, child)
        chosen = _overrides(writer, child)
        clocks = clock_pins(writer, module, child)
        writer.lines.append(f"  {child.name} {chosen}{name} ({clocks}{', '.join(pins)});")
    elif count:
        _row(writer, module, child, count)
    return count * child.size


def _operand(writer: Writer) -> str:
    """An expression for a port; never a signed name alone, for which an assertion of Yosys fails.

    Where `is_bare`, an operation may be narrower than its port, in whose width it is computed. Icarus and
    Yosys' reader of Verilog compute it in its own.
    """
    if writer.kind.is_bare and writer.rng.random() < _BARE:
        return f"({leaf(writer)} {writer.rng.choice(BINARY)} {expression(writer, 1)})"
    return f"{{1'd0, {expression(writer, 2)}}}"


def _row(writer: Writer, module: Module, child: Module, count: int) -> None:
    name, index = writer.fresh("g"), writer.fresh("k")
    output, width = child.outputs[0]
    chained, own = child.inputs[0]
    pins = [f".{chained}({name}_c[{index}])", f".{output}({name}_o[{index}])"]
    pins += [f".{n}({_operand(writer)})" for n, _ in child.inputs[1:]]
    pins += [f".{n}()" for n, _ in child.outputs[1:]] + _passed_resets(writer, child)
    pins += array_pins(writer, child, is_row=True)
    chosen = _overrides(writer, child)
    clocks = clock_pins(writer, module, child)
    first = expression(writer, 2)
    writer.lines += [
        f"  wire [{own - 1}:0] {name}_c [0:{count}];",
        f"  wire [{width - 1}:0] {name}_o [0:{count - 1}];",
        f"  assign {name}_c[0] = {first};",
        f"  genvar {index};",
        f"  generate for ({index} = 0; {index} < {count}; {index} = {index} + 1) begin : {name}",
        f"    assign {name}_c[{index}+1] = {name}_o[{index}];",
        f"    {child.name} {chosen}u ({clocks}{', '.join(pins)});",
        "  end endgenerate",
    ]
    for at in (count - 1, 0):
        writer.signals.append((f"{name}_o[{at}]", width, False))


def _memory(writer: Writer) -> None:
    rng = writer.rng
    bits, width = rng.randint(1, 5), rng.choice(WIDTHS)
    name, index = writer.fresh("mem"), writer.fresh("x")
    read, bound = writer.fresh("q"), _bound(writer)
    last = bound + (1 << bits) - 1
    ends = rng.choice(((bound, last), (last, bound))) if writer.kind.is_bounded else (bound, last)
    writer.lines += [
        f"  reg [{width - 1}:0] {name} [{ends[0]}:{ends[1]}];",
        f"  integer {index};",
        f"  initial for ({index} = {bound}; {index} < {last + 1}; {index} = {index} + 1) "
        f"{name}[{index}] = {index} * {rng.randint(0, 99)};",
    ]
    writes = "".join(_write(writer, name, bits, width, bound) for _ in range(rng.choice((1, 1, 2, 3))))
    writer.lines.append(f"  always @({writer.event()}) begin{writes} end")
    writer.lines.append(f"  wire [{width - 1}:0] {read} = {_word(name, sized(writer, bits), bound)};")
    writer.signals.append((read, width, False))


def _write(writer: Writer, memory: str, bits: int, width: int, bound: int) -> str:
    """A write port of a memory, of whole words or of some of their bits; later ports win."""
    address, enable = sized(writer, bits), expression(writer, 1)
    low = writer.rng.randint(0, width - 1) if writer.rng.random() < 0.3 else 0
    part = f"[{width - 1}:{low}]" if low else ""
    return f" if ({enable}) {_word(memory, address, bound)}{part} <= {expression(writer, 2)};"


def _update(writer: Writer, register: str, width: int) -> None:
    rng = writer.rng
    event = writer.event()
    value = expression(writer, 3)
    kind = rng.randint(0, 3)
    if kind == 0:
        body = f"{register} <= {value};"
    elif kind == 1:
        body = f"if ({expression(writer, 1)}) {register} <= {value};"
    elif kind == 2 and width > 2:
        low = rng.randint(0, width - 2)
        body = f"begin {register} <= {value}; if ({expression(writer, 1)}) "
        body += f"{register}[{width - 1}:{low}] <= {expression(writer, 2)}; end"
    else:
        choice = sized(writer, 2)
        arms = "".join(f" {i}: {register} <= {expression(writer, 2)};" for i in range(3))
        body = f"case ({choice}){arms} default: {register} <= {value}; endcase"
    if writer.resets and rng.random() < 0.5:
        reset = rng.choice(writer.resets)
        edge = f"negedge {reset[1:]}" if re.fullmatch(r"~\w+", reset) else f"posedge {reset}"
        if re.fullmatch(r"~?\w+", reset) is None:
            wire = writer.fresh("s")
            writer.lines.append(f"  wire {wire} = {reset};")
            reset, edge = wire, f"posedge {wire}"
        value = f"{width}'d{rng.getrandbits(min(width, 16))}"
        lines = [f"  always @({event} or {edge}) if ({reset}) {register} <= {value};", f"    else {body}"]
    else:
        lines = [f"  always @({event}) {body}"]
    if writer.kind.clocking is not Clocking.ONE and rng.random() < 0.15:
        test = f"`{rng.choice(('ifdef', 'ifndef'))} {rng.choice(_MACROS)}"
        other = f"  always @({event}) {register} <= {expression(writer, 2)};"
        lines = [test, *lines, f"`elsif {rng.choice(_MACROS)}", other, "`else", *lines, "`endif"]
    writer.lines += lines
