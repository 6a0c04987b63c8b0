"""A design as a C++ class with the interface of a model of Verilator: its header, source and library."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from pipelines.base.sandbox import read_output
from pipelines.rtl.reuse import building
from pipelines.rtl.reuse.building import FLAGS, find_compiler, headers, read_structure, run_step
from pipelines.rtl.reuse.driven_clocks import MOVED, Drive
from pipelines.rtl.reuse.emission import INCLUDED, Emitter
from pipelines.rtl.reuse.engines import optimisations
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import LIMB
from pipelines.rtl.reuse.layout import Layout, Place
from pipelines.rtl.reuse.placement import ArrayKey, Placement, place
from pipelines.rtl.reuse.structure import ENVIRONMENT, Source, Structure, words_of
from pipelines.rtl.reuse.verilator_ports import CPP_WORDS, model_name

RUNTIME = ("verilated.h", "verilated_vcd_c.h")
"""Headers beside every model."""
_WORDS = "words.h"
_PREFIX = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_UNPRINTABLE = re.compile(r"[^\w$.\[\]:-]", re.ASCII)
_MEMBERS = (
    "eval", "eval_step", "eval_end_step", "final", "eventsPending", "trace", "name", "hierName", "threads",
    "contextp", "modelName", "tracedSignals", "tracedValues", "tracedWords", "m_model", "step",
    "set_zero", "read",
)  # fmt: skip
"""Names of the class that a port cannot have."""
_HALF = 32
_LIBRARY_BYTES = 1 << 30
_MOST_STEPS = 100
"""Steps of clocks inside a design in one `eval`; Verilator has the same limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A design as a C++ class.

    Attributes: name: of the class. files: by name. clocks: input ports. front_end: what read the design.
    """

    name: str
    files: Mapping[str, bytes]
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    clocks: Sequence[str]
    front_end: str

    @property
    def library(self) -> str:
        """Name of the static library."""
        return f"lib{self.name}.a"


def write_model(
    text: str, *, top: str, prefix: str = "", timeout_s: float, **source: Unpack[building.Source]
) -> Model:
    """Translate a design.

    Args:   prefix: name of the class; empty for that of Verilator.
    Raises: RtlError: the design is rejected.
    """
    name = prefix or f"V{model_name(top)}"
    if not _PREFIX.fullmatch(name) or name in CPP_WORDS:
        raise RtlError(f"--prefix {prefix}; accepted: a name of C++")
    structure = read_structure(text, top=top, timeout_s=timeout_s, is_driven=True, **source)
    writer = _Writer(structure, name)
    written = {f"{name}.h": writer.header().encode(), f"{name}.cpp": writer.source().encode()}
    return Model(
        name=name,
        files={**written, **headers(RUNTIME)},
        inputs=writer.inputs,
        outputs=writer.outputs,
        clocks=writer.clocks,
        front_end=structure.design.front_end,
    )


def compile_model(model: Model, *, scratch: Path, timeout_s: float, compiler: str = "") -> bytes:
    """Compile a model to a static library.

    Raises: RtlError: it does not compile. ToolMissing: no compiler.
    """
    compiler = compiler or find_compiler()
    flags = [*FLAGS, *optimisations(compiler, is_quick=False), "-fPIC"]
    argv = [compiler, *flags, "-c", f"{model.name}.cpp", "-o", "model.o"]
    built = run_step(argv, scratch=scratch, contents=model.files, timeout_s=timeout_s) / "model.o"
    argv = ["ar", "rcsD", model.library, str(built)]
    library = run_step(argv, scratch=scratch, readable=[built], timeout_s=timeout_s) / model.library
    return read_output(library, most_bytes=_LIBRARY_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Traced:
    """A signal of waveforms. Attributes: scope: below the model. words: its value in C++, 64 bits each."""

    scope: str
    name: str
    width: int
    words: Sequence[str]


class _Writer:
    """Writes the class of a design around the functions of its state."""

    def __init__(self, structure: Structure, name: str) -> None:
        design = structure.design
        self.name, self.design, self.drive = name, design, design.drive
        placement = place(structure)
        self.emitter = Emitter(structure, placement, 1, is_counting=False)
        self.reads_events = self.drive is not None and _reads_events(structure, placement, self.drive)
        plain = () if design.clock is None else (design.clock,)
        self.edges: tuple[str, ...] = self.drive.ports if self.drive else plain
        self.clocks: tuple[str, ...] = self.drive.clocks if self.drive else plain
        self.inputs = {port: width for port, width in design.inputs.items() if port not in self.edges}
        self.outputs = {port: width for port, width in design.outputs.items() if port != MOVED}
        for port in (*self.edges, *self.inputs, *self.outputs):
            if port in (*_MEMBERS, name):
                raise RtlError(f"port {port} of {design.top}; accepted: no name of a member of the model")

    # ---- the class -----------------------------------------------------------------------------------------

    def header(self) -> str:
        """Return the declaration of the class."""
        ports = {**dict.fromkeys(self.edges, 1), **self.inputs}
        return "\n".join(
            (
                f"// Module {self.design.top} as a class in the form of Verilator's models.",
                "#pragma once",
                '#include "verilated.h"',
                "class VerilatedVcdC;",
                f"struct {self.name}_model;",
                "",
                f"class {self.name} final : public VerilatedModel {{",
                " public:",
                "  // Inputs",
                *(f"  {_type(width)} {model_name(port)};" for port, width in ports.items()),
                "  // Outputs",
                *(f"  {_type(width)} {model_name(port)};" for port, width in self.outputs.items()),
                "",
                f'  explicit {self.name}(VerilatedContext* context, const char* name = "TOP");',
                f'  explicit {self.name}(const char* name = "TOP") : {self.name}(nullptr, name) {{}}',
                f"  ~{self.name}() override;",
                "  void eval();",
                "  void eval_step() { eval(); }",
                "  void eval_end_step() {}",
                "  void final() {}",
                "  bool eventsPending() { return false; }",
                "  void trace(VerilatedVcdC* vcd, int levels, int options = 0);",
                f'  const char* modelName() const override {{ return "{self.name}"; }}',
                "  const std::vector<VerilatedSignal>& tracedSignals() const override;",
                "  void tracedValues(uint64_t* words) const override;",
                "  size_t tracedWords() const override;",
                "",
                " private:",
                f"  {self.name}_model* const m_model;",
                "};",
                "",
            )
        )

    def source(self) -> str:
        """Return the definition of the class, which needs no header but its own."""
        words = headers([_WORDS])[_WORDS].decode()
        return "\n".join(
            (
                f'#include "{self.name}.h"',
                '#include "verilated_vcd_c.h"',
                "namespace {",
                words.replace("#pragma once\n", ""),
                self.emitter.text().removeprefix(INCLUDED),
                "}",
                f"struct {self.name}_model {{",
                "  State st;",
                "  u64 in[INPUTS + 1], out[OUTPUTS + 1], levels;",
                "  bool is_new;",
                "};",
                # Functions outside the class, as a port may have the name of anything they use.
                f"static void set_zero({self.name}& top, {self.name}_model& m) {{",
                "  initialise(m.st);",
                "  memset(m.in, 0, sizeof m.in);",
                "  m.levels = 0, m.is_new = true;",
                *(f"  {line}" for line in self._zeros()),
                "}",
                f"static void step({self.name}& top, {self.name}_model& m) {{",
                "  u64 in[INPUTS + 1];",
                *(f"  {line}" for line in _reads(self.inputs)),
                f"  const u64 levels = {self._levels()};",
                *(_driven_lines(self.drive, self.reads_events) if self.drive else _PLAIN),
                "  get_outputs(m.st, m.out);",
                *(f"  {line}" for line in _writes(self.outputs)),
                "}",
                f"{self.name}::{self.name}(VerilatedContext* context, const char* name)",
                f"    : VerilatedModel(context, name), m_model(new {self.name}_model) {{",
                "  set_zero(*this, *m_model);",
                "}",
                f"{self.name}::~{self.name}() {{ delete m_model; }}",
                f"void {self.name}::eval() {{ step(*this, *m_model); }}",
                *self._trace(),
                "",
            )
        )

    def _levels(self) -> str:
        levels = (f"(u64)({_member(port)} & 1) << {i}" for i, port in enumerate(self.edges))
        return " | ".join(levels) or "0"

    def _zeros(self) -> Iterator[str]:
        for port, width in {**dict.fromkeys(self.edges, 1), **self.inputs, **self.outputs}.items():
            member = _member(port)
            yield f"{member} = 0;" if width <= LIMB else f"memset(&{member}, 0, sizeof {member});"

    def _traced(self) -> Iterator[_Traced]:
        """Yield the signals of waveforms."""
        ports = {**dict.fromkeys(self.edges, 1), **self.inputs, **self.outputs}
        for port, width in ports.items():
            words = [_word(_member(port), width, i) for i in _limbs(width)]
            yield _Traced(scope="", name=port, width=width, words=words)
        yield from _registers(self.emitter.layout(), {f"{self.design.top}.{port}" for port in ports})

    # ---- waveforms -----------------------------------------------------------------------------------------

    def _trace(self) -> Iterator[str]:
        """Yield the signals of waveforms: the ports, twice as in Verilator, and registers."""
        rows, values = list[tuple[_Traced, int]](), list[str]()
        for traced in self._traced():
            rows.append((traced, len(values)))
            values += traced.words
        ports = [(replace(traced, scope=self.design.top), word) for traced, word in rows if not traced.scope]
        rows = sorted((*rows, *ports), key=lambda row: row[0].scope.split("."))
        yield f"static void read(const {self.name}& top, const {self.name}_model& m, u64* words) {{"
        yield "  const State& st = m.st; (void)st;"
        yield from (f"  words[{i}] = {word};" for i, word in enumerate(values))
        yield "}"
        yield f"void {self.name}::trace(VerilatedVcdC* vcd, int, int) {{"
        yield "  vcd->addModel(this);"
        yield "}"
        yield f"const std::vector<VerilatedSignal>& {self.name}::tracedSignals() const {{"
        yield "  static const std::vector<VerilatedSignal> all = {"
        for traced, word in rows:
            scope, name = _UNPRINTABLE.sub("_", traced.scope), _UNPRINTABLE.sub("_", traced.name)
            yield f'    {{"{scope}", "{name}", {traced.width}, {word}}},'
        yield "  };"
        yield "  return all;"
        yield "}"
        yield f"void {self.name}::tracedValues(uint64_t* words) const {{ read(*this, *m_model, words); }}"
        yield f"size_t {self.name}::tracedWords() const {{ return {len(values)}; }}"


def _registers(layout: Layout, ports: Container[str]) -> Iterator[_Traced]:
    """Yield the registers; those with the names of ports are left to these."""
    for path, parts in layout.registers.items():
        scope, _, name = path.rpartition(".")
        if path not in ports and "$" not in name:
            words = [_register_word(layout, part) for part in parts]
            yield _Traced(scope=scope, name=name, width=sum(part.width for part in parts), words=words)


def _register_word(layout: Layout, part: Place) -> str:
    array = layout.arrays[part.array]
    return f"st.{array.name}{'[st.cur]' if array.is_double else ''}[{part.slot}]"


def _type(width: int) -> str:
    """Return the type of a port in Verilator's models."""
    for most, name in ((8, "CData"), (16, "SData"), (32, "IData"), (LIMB, "QData")):
        if width <= most:
            return name
    return f"VlWide<{-(-width // _HALF)}>"


def _member(port: str) -> str:
    return f"top.{model_name(port)}"


def _limbs(width: int) -> range:
    return range(-(-width // LIMB))


def _word(member: str, width: int, limb: int) -> str:
    """Return a word of 64 bits of a port."""
    if width <= LIMB:
        return f"(u64){member}"
    low = f"(u64){member}[{2 * limb}]"
    return low if width - LIMB * limb <= _HALF else f"({low} | (u64){member}[{2 * limb + 1}] << {_HALF})"


def _reads(inputs: Mapping[str, int]) -> Iterator[str]:
    for i, (port, limb, _) in enumerate(words_of(inputs)):
        yield f"in[{i}] = {_word(_member(port), inputs[port], limb)};"


def _writes(outputs: Mapping[str, int]) -> Iterator[str]:
    for i, (port, limb, width) in enumerate(words_of(outputs)):
        member = _member(port)
        if outputs[port] <= LIMB:
            yield f"{member} = ({_type(width)})m.out[{i}];"
            continue
        yield f"{member}[{2 * limb}] = (EData)m.out[{i}];"
        if width > _HALF:
            yield f"{member}[{2 * limb + 1}] = (EData)(m.out[{i}] >> {_HALF});"


_PLAIN = (
    "  const bool is_changed = m.is_new || memcmp(in, m.in, sizeof(u64) * INPUTS);",
    "  const bool rises = levels & ~m.levels & -(u64)!m.is_new;",
    "  m.levels = levels, m.is_new = false;",
    "  if (!is_changed && !rises) return;",
    "  if (is_changed) {",
    "    memcpy(m.in, in, sizeof(u64) * INPUTS);",
    "    set_inputs(m.st, in);",
    "    evaluate(m.st);",
    "  }",
    "  if (rises) {",
    "    advance(m.st);",
    "    evaluate(m.st);",
    "  }",
)
"""Evaluation with one clock whose rising edge alone matters: no evaluation without a change."""


def _driven_lines(drive: Drive, reads_events: bool) -> Iterator[str]:
    """Yield the evaluation with edges as inputs, until no clock or reset inside has an edge.

    Args: reads_events: combinational functions depend on edges, so they are evaluated again for each.
    """
    yield "  u64 before = m.is_new ? levels : m.levels;"
    yield "  bool is_changed = m.is_new || memcmp(in, m.in, sizeof(u64) * INPUTS);"
    yield f"  u64 edges = (levels & ~before & {_bits(drive, drive.rising)}) |"
    yield f"              (before & ~levels & {_bits(drive, drive.falling)});"
    yield f"  is_changed |= ((levels ^ before) & {_bits(drive, drive.levels)}) != 0;"
    yield "  m.levels = levels, m.is_new = false;"
    yield "  if (!is_changed && !edges) return;"
    yield "  memcpy(m.in, in, sizeof(u64) * INPUTS);"
    yield "  set_inputs(m.st, in);"
    evaluated = "" if reads_events else "if (is_changed || steps) "
    yield "  for (int steps = 0; ; steps++, before = levels, edges = 0) {"
    if drive.ports:
        yield f"    set_event(m.st, {_event(len(drive.ports))});"
    yield f"    {evaluated}evaluate(m.st);"
    if drive.has_deltas:
        yield "    get_outputs(m.st, m.out);"
    moved = " || m.out[OUTPUTS - 1]" if drive.has_deltas else ""
    yield f"    const bool moves = edges{moved};"
    yield f"    if ({'true' if drive.has_latches else 'moves'}) advance(m.st);"
    yield "    if (!moves) break;"
    yield f"    if (steps == {_MOST_STEPS}) {{"
    yield '      fputs("%Error: the clocks inside the design do not settle\\n", stderr);'
    yield "      abort();"
    yield "    }"
    yield "  }"


def _bits(drive: Drive, ports: Collection[str]) -> str:
    """Return the mask of some of the ports with edges."""
    return f"{sum(1 << i for i, port in enumerate(drive.ports) if port in ports):#x}ull"


def _event(ports: int) -> str:
    """Return the bits of all ports with edges: two each, its level and the one before."""
    bits = (f"(levels >> {k} & 1) << {2 * k} | (before >> {k} & 1) << {2 * k + 1}" for k in range(ports))
    return " | ".join(bits)


def _reads_events(structure: Structure, placement: Placement, drive: Drive) -> bool:
    """Tell whether anything but next states depends on the words of ports with edges."""
    number = len(words_of(structure.design.inputs))
    events = {Source(ENVIRONMENT, number - 1 - k) for k in range(len(drive.ports))}
    if any(
        move.source == ArrayKey("input", "", source.node) for move in placement.moves for source in events
    ):
        return True
    return any(
        structure.sources[instance][pin] in events
        for block, classes in structure.classes.items()
        for instance in structure.lanes[block]
        for own in classes
        for pin in range(own.pins.bit_length())
        if own.pins >> pin & 1
    )
