"""Random hierarchical designs in Verilog, for comparison of engines.

Every register and memory has an initial value, no index leaves its array and no divisor is 0, so that no
undefined value reaches an output. From seed `FEATURED_FROM` on there are macros, asynchronous resets,
parameters, and memories that begin with the words of a file; from `BOUNDED_FROM` on also memories whose first
word has another address than 0, and resets that synchronisers hold.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelines.rtl.reuse.designs import DesignSource

_WIDTHS = (1, 1, 2, 3, 4, 7, 8, 8, 12, 16, 17, 31, 32, 32, 33, 48, 63, 64, 65, 70, 100, 129)
_BINARY = ("+", "-", "*", "&", "|", "^", "~^", "==", "!=", "<", "<=", ">", ">=", "&&", "||")
_UNARY = ("~", "-", "&", "|", "^", "~&", "~|", "~^", "!", "+")
_SHIFTS = ("<<", ">>", ">>>", "<<<")
BARE_FROM = 10_000
"""Seed of the first design in which an operation may be narrower than its port."""
_BARE = 0.3
FEATURED_FROM = 20_000
"""Seed of the first design with macros, asynchronous resets, parameters and memory files."""
BOUNDED_FROM = 30_000
"""Seed of the first design with lower bounds of memories and with synchronisers of resets."""
_BOUNDS = (0, 1, 2, 5, 9, 1000)
FILES_PER = 20
"""Memory files are in every second run of so many seeds, as they decide which reader reads a bundle."""
_MACROS = ("SYNTHESIS", "VERILATOR", "verilator", "YOSYS", "__slang__", "SYSTEMVERILOG", "FORMAL")
_RESETS = ("rst", "arst_n", "clear", "init_n")
MOST_INSTANCES, MOST_FEATURED = 200, 30
"""Of a design, as rows of rows grow beyond what other engines simulate in time."""
_DIVISION_BITS = 24  # of operands of divisions, so that they fit in a word


@dataclass(slots=True, kw_only=True)
class _Module:
    """A module that later ones instantiate.

    Attributes:
        inputs, outputs: name and width. resets: inputs that are asynchronous resets; `_n` = active low.
        parameters: name, width in bits, and 0 or the width of registers that it gives. size: instances in it,
        with itself.
    """

    name: str
    inputs: list[tuple[str, int]]
    outputs: list[tuple[str, int]]
    resets: list[str] = field(default_factory=list[str])
    parameters: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    size: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What designs of a seed may have.

    Attributes:
        is_bare: operations narrower than their port. is_featured: macros and so on.
        is_bounded: lower bounds of memories, and synchronisers. has_files: memories from files.
    """

    is_bare: bool
    is_featured: bool
    is_bounded: bool
    has_files: bool

    @classmethod
    def of(cls, seed: int) -> _Kind:
        """The kind of a seed."""
        is_featured = seed >= FEATURED_FROM
        return cls(
            is_bare=BARE_FROM <= seed < FEATURED_FROM,
            is_featured=is_featured,
            is_bounded=seed >= BOUNDED_FROM,
            has_files=is_featured and seed // FILES_PER % 2 == 1,
        )


@dataclass(slots=True, kw_only=True)
class _Writer:
    """Text of a module, and the signals that expressions may read.

    Attributes: name: of the module. resets: active-high expressions of its asynchronous resets.
    """

    rng: random.Random
    name: str
    kind: _Kind
    resets: list[str] = field(default_factory=list[str])
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    signals: list[tuple[str, int, bool]] = field(default_factory=list[tuple[str, int, bool]])
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"


def random_design(seed: int, *, name: str = "top", modules: int = 4) -> DesignSource:
    """A design whose modules have the name as a prefix; equal seeds give equal text.

    From `BARE_FROM` on, ports may be wider than what they are connected to.
    """
    return _drawn(seed, name, modules)[1]


def _drawn(seed: int, name: str, modules: int) -> tuple[_Module, DesignSource]:
    """The top module of a random design, and the design."""
    rng = random.Random(seed)
    children: list[_Module] = []
    texts: list[str] = []
    files: dict[str, bytes] = {}
    for number in range(modules):
        module_name = name if number == modules - 1 else f"{name}_m{number}"
        module, text = _module(rng, module_name, children, kind=_Kind.of(seed), files=files)
        children.append(module)
        texts.append(text)
    return children[-1], DesignSource(verilog="\n".join(texts), top=name, files=files)


def bundle(seeds: Sequence[int], *, top: str = "top") -> DesignSource:
    """Several random designs in one: each gets the same words of input, outputs are side by side."""
    texts: list[str] = []
    files: dict[str, bytes] = {}
    ports, instances = ["input clk"], list[str]()
    for seed in seeds:
        module, design = _drawn(seed, f"d{seed}", 2 + seed % (2 if seed >= FEATURED_FROM else 4))
        texts.append(design.verilog)
        files.update(design.files)
        ports += [f"input [{w - 1}:0] d{seed}_{n}" for n, w in module.inputs]
        ports += [f"input d{seed}_{n}" for n in module.resets]
        ports += [f"output [{w - 1}:0] d{seed}_{n}" for n, w in module.outputs]
        names = (*(n for n, _ in (*module.inputs, *module.outputs)), *module.resets)
        pins = "".join(f", .{n}(d{seed}_{n})" for n in names)
        instances.append(f"  d{seed} u{seed} (.clk(clk){pins});")
    header = f"module {top} (\n  " + ",\n  ".join(ports) + ");"
    return DesignSource(
        verilog="\n".join([*texts, header, *instances, "endmodule", ""]), top=top, files=files
    )


def _module(
    rng: random.Random, name: str, children: list[_Module], *, kind: _Kind, files: dict[str, bytes]
) -> tuple[_Module, str]:
    module = _Module(
        name=name,
        inputs=[(f"i{i}", rng.choice(_WIDTHS)) for i in range(rng.randint(1, 4))],
        outputs=[(f"o{i}", rng.choice(_WIDTHS)) for i in range(rng.randint(1, 3))],
    )
    writer = _Writer(
        rng=rng, name=name, kind=kind, files=files, signals=[(n, w, False) for n, w in module.inputs]
    )
    if kind.is_featured:
        _features(writer, module)
    registers = [(writer.fresh("r"), rng.choice(_WIDTHS)) for _ in range(rng.randint(0, 4))]
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
    for child in rng.choices(children, k=rng.randint(1, 3)) if children else []:
        most = MOST_FEATURED if kind.is_featured else MOST_INSTANCES
        module.size += _instances(writer, child, most - module.size)
    for _ in range(rng.randint(0, 3)):
        _wire(writer)
    for register, width in registers:
        _update(writer, register, width)
    if kind.is_featured and registers:
        _late_reset(writer, rng.choice(registers))
    if kind.is_bounded:
        _synchroniser(writer)
    for output, _ in module.outputs:
        writer.lines.append(f"  assign {output} = {_expression(writer, 3)};")
    ports = ["input clk", *(f"input [{w - 1}:0] {n}" for n, w in module.inputs)]
    ports += [f"input {n}" for n in module.resets]
    ports += [f"output [{w - 1}:0] {n}" for n, w in module.outputs]
    parameters = ", ".join(f"parameter {n} = {default}" for n, default in module.parameters)
    header = f"module {name} {f'#({parameters}) ' if parameters else ''}({', '.join(ports)});"
    return module, "\n".join([header, *writer.lines, "endmodule", ""])


def _wire(writer: _Writer) -> None:
    name, width = writer.fresh("w"), writer.rng.choice(_WIDTHS)
    is_signed = writer.rng.random() < 0.3
    signed = "signed " if is_signed else ""
    line = f"  wire {signed}[{width - 1}:0] {name} = {_expression(writer, 3)};"
    if writer.kind.is_featured and writer.rng.random() < 0.3:
        test = f"`{writer.rng.choice(('ifdef', 'ifndef'))} {writer.rng.choice(_MACROS)}"
        other = f"  wire {signed}[{width - 1}:0] {name} = {_expression(writer, 2)};"
        writer.lines += [test, line, "`else", other, "`endif"]
    else:
        writer.lines.append(line)
    writer.signals.append((name, width, is_signed))


# ---- resets, parameters and memory files ---------------------------------------------------------------


def _features(writer: _Writer, module: _Module) -> None:
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
        value = _expression(writer, 2)
        writer.lines += [
            f"  reg [W-1:0] {name} = {rng.randint(0, 5)};",
            f"  always @(posedge clk) {name} <= {value};",
        ]
        writer.signals.append((name, width, False))


def _active(reset: str) -> str:
    """Active-high text of a reset; its own inverse."""
    return f"~{reset}" if reset.endswith("_n") else reset


def _passed_resets(writer: _Writer, child: _Module) -> list[str]:
    """Pins of a child's resets: each is one of the module's, or two of them, at the child's level."""
    pins: list[str] = []
    for name in child.resets:
        active = writer.rng.choice(writer.resets)
        pins.append(f".{name}({f'~({active})' if name.endswith('_n') else active})")
    return pins


def _overrides(writer: _Writer, child: _Module) -> str:
    """Values of a child's parameters; of a width never less, as parts of the register are read."""
    rng = writer.rng
    given = [(n, d + rng.randint(0, 7)) for n, d in child.parameters if rng.random() < 0.6]
    return f"#({', '.join(f'.{n}({value})' for n, value in given)}) " if given else ""


def _late_reset(writer: _Writer, register: tuple[str, int]) -> None:
    """A register behind a reset that another register requests."""
    name, (other, width) = writer.fresh("z"), register
    bit = f"{other}[{writer.rng.randrange(width)}]"
    value = _expression(writer, 2)
    writer.lines += [
        f"  reg {name}_ask = 0; always @(posedge clk) {name}_ask <= {bit} & {_expression(writer, 1)};",
        f"  wire {name}_rst = {name}_ask | {writer.rng.choice(writer.resets)};",
        f"  reg [7:0] {name} = 8'd{writer.rng.randrange(256)};",
        f"  always @(posedge clk or posedge {name}_rst)",
        f"    if ({name}_rst) {name} <= 8'd{writer.rng.randrange(256)}; else {name} <= {value};",
    ]
    writer.signals.append((name, 8, False))


def _synchroniser(writer: _Writer) -> None:
    """A register that two registers, which start active, keep reset for some cycles."""
    rng, name = writer.rng, writer.fresh("y")
    level, edge = rng.choice((("~", "negedge"), ("", "posedge")))
    active, idle = ("0", "1'b1") if level else ("1", "1'b0")
    reset = rng.choice((None, *writer.resets[:2]))
    before = begin = ""
    if reset is not None:
        before = f" or {'negedge' if reset.startswith('~') else 'posedge'} {reset.removeprefix('~')}"
        begin = f"if ({reset}) {{{name}_r, {name}_s}} <= {{2{{1'b{active}}}}}; else "
    value = _expression(writer, 2)
    writer.lines += [
        f"  reg {name}_s = {active}, {name}_r = {active};",
        f"  always @(posedge clk{before}) {begin}{{{name}_r, {name}_s}} <= {{{name}_s, {idle}}};",
        f"  reg [7:0] {name} = 8'd{rng.randrange(256)};",
        f"  always @(posedge clk or {edge} {name}_r)",
        f"    if ({level}{name}_r) {name} <= 8'd{rng.randrange(256)}; else {name} <= {value};",
    ]
    writer.signals.append((name, 8, False))


def _bound(writer: _Writer) -> int:
    """Address of the first word of a memory."""
    return writer.rng.choice(_BOUNDS) if writer.kind.is_bounded else 0


def _word(name: str, index: str, bound: int) -> str:
    """A word of a memory."""
    return f"{name}[{index} + {bound}]" if bound else f"{name}[{index}]"


def _memory_from_file(writer: _Writer) -> None:
    """A memory that a file fills, all of it or from an address on, perhaps behind words of its own."""
    rng = writer.rng
    bits, width = rng.randint(1, 5), rng.choice(_WIDTHS)
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
        f"  always @(posedge clk) begin{_write(writer, name, bits, width, bound)} end",
        f"  wire [{width - 1}:0] {read} = {_word(name, _sized(writer, bits), bound)};",
    ]
    writer.signals.append((read, width, False))


# ---- instances -------------------------------------------------------------------------------------------


def _instances(writer: _Writer, child: _Module, most: int) -> int:
    """One instance, or a row of them where each feeds the next. Returns: instances with those inside."""
    count = min(writer.rng.choice((1, 1, 2, 3, 9, 12)), most // child.size)
    if count == 1:
        name = writer.fresh("u")
        pins = [f".{n}({_operand(writer)})" for n, _ in child.inputs]
        for output, width in child.outputs:
            wire = writer.fresh("c")
            writer.lines.append(f"  wire [{width - 1}:0] {wire};")
            pins.append(f".{output}({wire})")
            writer.signals.append((wire, width, False))
        pins += _passed_resets(writer, child)
        chosen = _overrides(writer, child)
        writer.lines.append(f"  {child.name} {chosen}{name} (.clk(clk), {', '.join(pins)});")
    elif count:
        _row(writer, child, count)
    return count * child.size


def _operand(writer: _Writer) -> str:
    """An expression for a port; never a signed name alone, for which an assertion of Yosys fails.

    Where `is_bare`, an operation may be narrower than its port, in whose width it is computed. Icarus and
    Yosys' reader of Verilog compute it in its own.
    """
    if writer.kind.is_bare and writer.rng.random() < _BARE:
        return f"({_leaf(writer)} {writer.rng.choice(_BINARY)} {_expression(writer, 1)})"
    return f"{{1'd0, {_expression(writer, 2)}}}"


def _row(writer: _Writer, child: _Module, count: int) -> None:
    name, index = writer.fresh("g"), writer.fresh("k")
    output, width = child.outputs[0]
    chained, own = child.inputs[0]
    pins = [f".{chained}({name}_c[{index}])", f".{output}({name}_o[{index}])"]
    pins += [f".{n}({_operand(writer)})" for n, _ in child.inputs[1:]]
    pins += [f".{n}()" for n, _ in child.outputs[1:]] + _passed_resets(writer, child)
    chosen = _overrides(writer, child)
    first = _expression(writer, 2)
    writer.lines += [
        f"  wire [{own - 1}:0] {name}_c [0:{count}];",
        f"  wire [{width - 1}:0] {name}_o [0:{count - 1}];",
        f"  assign {name}_c[0] = {first};",
        f"  genvar {index};",
        f"  generate for ({index} = 0; {index} < {count}; {index} = {index} + 1) begin : {name}",
        f"    assign {name}_c[{index}+1] = {name}_o[{index}];",
        f"    {child.name} {chosen}u (.clk(clk), {', '.join(pins)});",
        "  end endgenerate",
    ]
    for at in (count - 1, 0):
        writer.signals.append((f"{name}_o[{at}]", width, False))


def _memory(writer: _Writer) -> None:
    rng = writer.rng
    bits, width = rng.randint(1, 5), rng.choice(_WIDTHS)
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
    writer.lines.append(f"  always @(posedge clk) begin{writes} end")
    writer.lines.append(f"  wire [{width - 1}:0] {read} = {_word(name, _sized(writer, bits), bound)};")
    writer.signals.append((read, width, False))


def _write(writer: _Writer, memory: str, bits: int, width: int, bound: int) -> str:
    """A write port of a memory, of whole words or of some of their bits; later ports win."""
    address, enable = _sized(writer, bits), _expression(writer, 1)
    low = writer.rng.randint(0, width - 1) if writer.rng.random() < 0.3 else 0
    part = f"[{width - 1}:{low}]" if low else ""
    return f" if ({enable}) {_word(memory, address, bound)}{part} <= {_expression(writer, 2)};"


def _sized(writer: _Writer, bits: int) -> str:
    """An index of exactly so many bits."""
    name = writer.fresh("a")
    writer.lines.append(f"  wire [{bits - 1}:0] {name} = {_expression(writer, 1)};")
    return name


def _update(writer: _Writer, register: str, width: int) -> None:
    rng = writer.rng
    value = _expression(writer, 3)
    kind = rng.randint(0, 3)
    if kind == 0:
        body = f"{register} <= {value};"
    elif kind == 1:
        body = f"if ({_expression(writer, 1)}) {register} <= {value};"
    elif kind == 2 and width > 2:
        low = rng.randint(0, width - 2)
        body = f"begin {register} <= {value}; if ({_expression(writer, 1)}) "
        body += f"{register}[{width - 1}:{low}] <= {_expression(writer, 2)}; end"
    else:
        choice = _sized(writer, 2)
        arms = "".join(f" {i}: {register} <= {_expression(writer, 2)};" for i in range(3))
        body = f"case ({choice}){arms} default: {register} <= {value}; endcase"
    if writer.resets and rng.random() < 0.5:
        reset = rng.choice(writer.resets)
        edge = f"negedge {reset[1:]}" if re.fullmatch(r"~\w+", reset) else f"posedge {reset}"
        if re.fullmatch(r"~?\w+", reset) is None:
            wire = writer.fresh("s")
            writer.lines.append(f"  wire {wire} = {reset};")
            reset, edge = wire, f"posedge {wire}"
        value = f"{width}'d{rng.getrandbits(min(width, 16))}"
        writer.lines.append(f"  always @(posedge clk or {edge}) if ({reset}) {register} <= {value};")
        writer.lines.append(f"    else {body}")
    else:
        writer.lines.append(f"  always @(posedge clk) {body}")


def _expression(writer: _Writer, depth: int) -> str:
    rng = writer.rng
    if depth == 0 or rng.random() < 0.15:
        return _leaf(writer)
    kind = rng.randint(0, 9)
    a = _expression(writer, depth - 1)
    if kind <= 3:
        return f"({a} {rng.choice(_BINARY)} {_expression(writer, depth - 1)})"
    if kind == 4:
        return f"({rng.choice(_UNARY)}({a}))"
    if kind == 5:
        return f"({a} {rng.choice(_SHIFTS)} {_leaf(writer)})"
    if kind == 6:
        return f"({_expression(writer, depth - 1)} ? {a} : {_expression(writer, depth - 1)})"
    if kind == 7:
        return f"{{{_leaf(writer)}, {_leaf(writer)}}}"
    if kind == 8:
        return f"{{{rng.randint(1, 3)}{{{_leaf(writer)}}}}}"
    if rng.random() < 0.7:
        return a
    divisor = _sized(writer, rng.randint(1, _DIVISION_BITS))
    dividend = _sized(writer, rng.randint(1, _DIVISION_BITS))
    result = writer.fresh("w")
    quotient = f"{dividend} {rng.choice('/%')} ({divisor} | 1'b1)"
    writer.lines.append(f"  wire [{_DIVISION_BITS - 1}:0] {result} = {quotient};")
    return result


def _leaf(writer: _Writer) -> str:
    rng = writer.rng
    name, width, _ = rng.choice(writer.signals)
    kind = rng.randint(0, 5)
    if kind == 0:
        size = rng.choice((1, 3, 8, 16, 31, 32))
        return f"{size}'d{rng.getrandbits(size)}"
    if kind == 1 and width > 1 and "[" not in name:
        low = rng.randint(0, width - 1)
        return f"{name}[{rng.randint(low, width - 1)}:{low}]"
    if kind == 2 and width in (2, 4, 8, 16, 32, 64) and "[" not in name:
        return f"{name}[{_sized_leaf(writer, width.bit_length() - 1)}]"
    if kind == 3:
        return f"$signed({name})"
    return name


def _sized_leaf(writer: _Writer, bits: int) -> str:
    """An index: bits of a signal that is wide enough, else a constant."""
    wide = [(n, w) for n, w, _ in writer.signals if w >= bits and "[" not in n]
    if not wide:
        return str(writer.rng.randint(0, (1 << bits) - 1))
    name, _ = writer.rng.choice(wide)
    return f"{name}[{bits - 1}:0]"
