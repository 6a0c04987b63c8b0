"""A design through Yosys to cells per module, and the structural hash of every module."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pipelines.rtl.reuse.clocking import with_one_clock
from pipelines.rtl.reuse.driven_clocks import Drive, with_driven_clocks
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.firrtl import firrtl_to_modules, wrapper
from pipelines.rtl.reuse.hierarchy import children_first
from pipelines.rtl.reuse.languages import (
    FIRRTL,
    NO_FILES,
    VERILOG,
    as_verilog,
    modules_of,
    run_front_end,
    split_library,
)
from pipelines.rtl.reuse.latches import with_plain_latches
from pipelines.rtl.reuse.raw_modules import Bit, Cell, RawModule
from pipelines.rtl.reuse.schedules import NO_CLOCKS, Clock, no_clocks

# The rounds of `opt`, but that a register which only ever gets a constant starts as 0 like all others.
_ROUND = ("opt_muxtree", "opt_reduce", "opt_merge", "opt_dff -keepdc", "opt_clean", "opt_expr")
_OPT = ("opt_expr", "opt_merge -nomux", *3 * _ROUND)
_REGISTER = "of_register"
"""Attribute of the nets that are outputs of registers, before other nets are joined with them."""
_MARK = f"setattr -set {_REGISTER} 1 t:$*dff* t:$*latch* %u %co1:+[Q] w:* %i"
# `-memx` keeps wide addresses of memories; without it an access beyond the end wraps.
PASSES = (
    "proc",
    _MARK,
    *_OPT,
    "wreduce -memx",
    "peepopt",
    "opt_clean",
    "memory_collect",
    "dffunmap",
    "opt_clean",
)
_RESULT = "design.json"
_WRAPPER = "all_extmodules"
"""Top of the Verilog that extmodules stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Netlist:
    """Modules by name, structurally equal ones once.

    Attributes:
        top: name of the top module. front_end: what read the design, empty if that is not known.
        clock, has_falling, has_gates, clocks: see `clocking.Clocked`. drive: of clocks that a caller toggles.
    """

    modules: Mapping[str, RawModule]
    top: str
    front_end: str = ""
    clock: str | None = None
    has_falling: bool = False
    has_gates: bool = False
    clocks: Mapping[str, Clock] = field(default_factory=no_clocks)
    drive: Drive | None = None


def read_verilog(
    text: str,
    *,
    top: str,
    timeout_s: float = 120.0,
    language: str = VERILOG,
    files: Mapping[str, bytes] = NO_FILES,
    unroll_limit: int | None = None,
    clocks: Mapping[str, Clock] = NO_CLOCKS,
    is_driven: bool = False,
) -> Netlist:
    """Elaborate a design and merge structurally equal modules.

    Args:   language: one of `languages.LANGUAGES`. files: content of memories by name.
            unroll_limit: see `languages.read_commands`. clocks: see `clocking.with_one_clock`.
            is_driven: a caller toggles the clocks, see `driven_clocks`.
    Raises: RtlError: Yosys rejects the design. ToolMissing: bubblewrap is not installed.
    """
    read = partial(_by_yosys, timeout_s=timeout_s, files=files, unroll_limit=unroll_limit)
    if language == FIRRTL:
        modules, front_end = _firrtl_modules(text, top, read), FIRRTL
    else:
        modules, front_end = read(*as_verilog(text, top, language), top=top)
    return replace(_netlist(modules, top, clocks, is_driven=is_driven), front_end=front_end)


def _by_yosys(
    text: str,
    language: str,
    *,
    top: str,
    timeout_s: float,
    files: Mapping[str, bytes],
    unroll_limit: int | None,
) -> tuple[dict[str, RawModule], str]:
    """Return the modules of Verilog, and what read it."""
    written, front_end = run_front_end(
        text,
        top=top,
        language=language,
        commands=[*PASSES, f"write_json {_RESULT}"],
        output=_RESULT,
        timeout_s=timeout_s,
        files=files,
        unroll_limit=unroll_limit,
    )
    content = json.loads(written)["modules"]
    return {name: _read_module(name, module) for name, module in content.items()}, front_end


def _firrtl_modules(
    text: str, top: str, read: Callable[..., tuple[dict[str, RawModule], str]]
) -> dict[str, RawModule]:
    """Return the modules of FIRRTL; Yosys reads what extmodules stand for."""
    circuit, library = split_library(text)
    modules, design = firrtl_to_modules(circuit, top=top, external=modules_of(library))
    if design.outside:
        others, _ = read(f"{wrapper(design, _WRAPPER)}{library}", VERILOG, top=_WRAPPER)
        del others[_WRAPPER]
        if twice := sorted(modules.keys() & others.keys()):
            raise RtlError(f"module {twice[0]} in FIRRTL and in its library; accepted: one of both")
        modules |= others
    return modules


def _netlist(
    modules: Mapping[str, RawModule], top: str, clocks: Mapping[str, Clock], *, is_driven: bool
) -> Netlist:
    modules = _without_passed_bits(modules, top)
    if is_driven:
        driven, drive = with_driven_clocks(modules, top)
        return replace(_merge_equal(driven, top), drive=drive)
    clocked = with_one_clock(modules, top, clocks)
    netlist = _merge_equal(clocked.modules, top)
    return replace(
        netlist,
        clock=clocked.clock,
        has_falling=clocked.has_falling,
        has_gates=clocked.has_gates,
        clocks=clocked.clocks,
    )


def _read_module(name: str, content: Mapping[str, Any]) -> RawModule:
    ports = {port: (entry["direction"], tuple(entry["bits"])) for port, entry in content["ports"].items()}
    both = [port for port, (direction, _) in ports.items() if direction == "inout"]
    if both:
        raise RtlError(f"inout port: {name}.{both[0]}; accepted: input and output")
    cells = [_read_cell(cell, entry) for cell, entry in content["cells"].items()]
    names: dict[Bit, str] = {}
    initial: dict[Bit, int] = {}
    # A bit has the last of its names, and that of its register before all others.
    nets = sorted(content["netnames"].items(), key=lambda net: _REGISTER in net[1]["attributes"])
    for net, entry in nets:
        width = len(entry["bits"])
        init = entry["attributes"].get("init", "")
        for i, bit in enumerate(entry["bits"]):
            if not entry["hide_name"] or bit not in names:
                names[bit] = net if width == 1 else f"{net}[{i}]"
            if i < len(init) and init[-1 - i] in "01":
                initial[bit] = int(init[-1 - i])
    module = RawModule(
        name=name,
        inputs={port: bits for port, (direction, bits) in ports.items() if direction == "input"},
        outputs={port: bits for port, (direction, bits) in ports.items() if direction == "output"},
        cells=cells,
        initial=initial,
        names=names,
    )
    return with_plain_latches(module)


def _read_cell(name: str, entry: Mapping[str, Any]) -> Cell:
    directions = entry.get("port_directions", {})
    cell = Cell(
        name=name,
        kind=entry["type"],
        parameters=entry["parameters"],
        pins={port: tuple(bits) for port, bits in entry["connections"].items()},
        outputs=tuple(port for port in entry["connections"] if directions.get(port) == "output"),
        source=_source(entry.get("attributes", {}).get("src", "")),
    )
    return _with_clock(cell) if cell.kind == "$dlatch" else cell


def _source(text: str) -> str:
    """Return file and line of the first place of a cell, as in `a.v:3.5-3.9|a.v:7.1`."""
    file, colon, place = text.partition("|")[0].rpartition(":")
    return f"{file}:{place.partition('.')[0]}" if colon else ""


def _with_clock(latch: Cell) -> Cell:
    """Return flip-flop for a constant latch: Yosys makes one of a register that only its reset changes."""
    if any(bit not in ("0", "1") for bit in latch.pins["D"]):
        return latch
    return replace(
        latch,
        kind="$adff",
        parameters={
            **latch.parameters,
            "ARST_POLARITY": latch.parameters["EN_POLARITY"],
            "ARST_VALUE": "".join(map(str, reversed(latch.pins["D"]))),
        },
        pins={"D": latch.pins["Q"], "Q": latch.pins["Q"], "ARST": latch.pins["EN"]},
    )


# ---- bits that modules pass on --------------------------------------------------------------------------


def _without_passed_bits(modules: Mapping[str, RawModule], top: str) -> dict[str, RawModule]:
    """Remove outputs of one bit that are an input of their module: a clock may pass through modules.

    Raises: RtlError: such a bit that nothing drives but itself.
    """
    passed: dict[str, dict[str, str]] = {}
    joined: dict[str, RawModule] = {}
    for name in _children_first(modules, top):
        module = _with_joined_nets(modules[name], passed)
        inputs = {bits[0]: port for port, bits in module.inputs.items() if len(bits) == 1}
        outputs = {port: bits[0] for port, bits in module.outputs.items() if len(bits) == 1}
        wires = {port: inputs[net] for port, net in outputs.items() if net in inputs}
        if wires and name != top:
            passed[name] = wires
            module = replace(module, outputs={p: b for p, b in module.outputs.items() if p not in wires})
        joined[name] = module
    return joined


def _with_joined_nets(module: RawModule, passed: Mapping[str, Mapping[str, str]]) -> RawModule:
    source: dict[Bit, Bit] = {}
    for cell in module.cells:
        for output, port in passed.get(cell.kind, {}).items():
            if output in cell.pins:
                source[cell.pins[output][0]] = cell.pins[port][0] if cell.pins.get(port) else "x"
    if not source:
        return module

    def driving(net: Bit) -> Bit:
        seen: set[Bit] = set()
        while net in source:
            if net in seen:
                raise RtlError(f"combinational loop: {module.names.get(net, net)} in {module.name}")
            seen.add(net)
            net = source[net]
        return net

    def nets(
        ports: Mapping[str, tuple[Bit, ...]], without: Container[str] = ()
    ) -> dict[str, tuple[Bit, ...]]:
        return {port: tuple(map(driving, bits)) for port, bits in ports.items() if port not in without}

    cells = [
        replace(
            cell,
            pins=nets(cell.pins, passed.get(cell.kind, {})),
            outputs=tuple(port for port in cell.outputs if port not in passed.get(cell.kind, {})),
        )
        for cell in module.cells
    ]
    return replace(module, outputs=nets(module.outputs), cells=cells)


# ---- structurally equal modules ----------------------------------------------------------------------


def _merge_equal(modules: Mapping[str, RawModule], top: str) -> Netlist:
    """Keep one of the modules that differ in names only; instances name the one that is kept."""
    alike: dict[object, list[str]] = defaultdict(list)
    for name, module in modules.items():
        widths = [(p, len(b)) for p, b in (*module.inputs.items(), *module.outputs.items())]
        alike[len(module.cells), str(sorted(widths))].append(name)
    hashed = {name for names in alike.values() if len(names) > 1 for name in names}
    kept: dict[str, str] = {}
    first: dict[str, str] = {}
    for name in _children_first(modules, top):
        kept[name] = first.setdefault(_hash(modules[name], kept), name) if name in hashed else name
    renamed = {n: _with_children(modules[n], kept) for n in dict.fromkeys(kept.values())}
    return Netlist(modules=renamed, top=kept[top])


def _children_first(modules: Mapping[str, RawModule], top: str) -> list[str]:
    return children_first(lambda name: (c.kind for c in modules[name].cells if c.kind in modules), top)


def _with_children(module: RawModule, kept: Mapping[str, str]) -> RawModule:
    if all(kept.get(c.kind, c.kind) == c.kind for c in module.cells):
        return module
    return replace(module, cells=[replace(c, kind=kept.get(c.kind, c.kind)) for c in module.cells])


def _hash(module: RawModule, kept: Mapping[str, str]) -> str:
    """Return the hash of the structure: nets are numbered as they appear, names do not count."""
    numbers: dict[Bit, Bit] = {}
    digest = hashlib.sha256()

    def nets(bits: Sequence[Bit]) -> list[Bit]:
        return [b if isinstance(b, str) else numbers.setdefault(b, len(numbers)) for b in bits]

    for ports in (module.inputs, module.outputs):
        digest.update(repr([(port, nets(bits)) for port, bits in sorted(ports.items())]).encode())
    for cell in module.cells:
        parameters = [(k, v) for k, v in sorted(cell.parameters.items()) if k != "MEMID"]
        pins = [(port, nets(bits)) for port, bits in sorted(cell.pins.items())]
        digest.update(repr((kept.get(cell.kind, cell.kind), parameters, pins)).encode())
    digest.update(repr(sorted((numbers.get(b, b), v) for b, v in module.initial.items())).encode())
    return digest.hexdigest()
