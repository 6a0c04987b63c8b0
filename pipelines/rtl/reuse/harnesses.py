"""The C++ around models of other engines: the functions that `runner.h` expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.rtl.reuse.arc import MODEL, port_name
from pipelines.rtl.reuse.building import CLOSING
from pipelines.rtl.reuse.expressions import type_of
from pipelines.rtl.reuse.ir import LIMB, mask
from pipelines.rtl.reuse.simulator import Ports
from pipelines.rtl.reuse.structure import words_of
from pipelines.rtl.reuse.verilator_ports import Member

_MOST_DELTAS = 10_000  # evaluations of a model of CXXRTL in one step
_HALF = 32  # bits of a word of Verilator's wide signals


def _shape(ports: Ports, stimuli: int) -> Iterator[str]:
    inputs, outputs = words_of(ports.inputs), words_of(ports.outputs)
    masks = ", ".join(f"{mask(width):#x}ull" for _, _, width in inputs)
    yield f"enum {{ INPUTS = {len(inputs)}, OUTPUTS = {len(outputs)}, STIMULI = {stimuli} }};"
    yield f"static const u64 INPUT_MASKS[] = {{{masks or 0}}};"


def verilator_harness(
    ports: Ports, stimuli: int, previous: Sequence[str] = (), members: Mapping[str, Member] | None = None
) -> str:
    """Return a translation unit with one model of Verilator per stimulus.

    An asynchronous reset that is active in cycle 0 acts there, as a flip-flop follows its level. Verilator
    waits for an edge and takes the initial values, inputs included, for those before; so these are inverted
    once.

    Args: previous: members of the model with the values by which it finds edges. members: that are its ports;
          None: they have the names of the ports, without arrays.
    """
    outputs = words_of(ports.outputs)
    members = _plain_members(ports) if members is None else members
    clock = members[ports.clock].name if ports.clock else None
    # The clock falls behind the inputs; it is low at the beginning.
    falling = "if (!st.is_new) m->eval(); " if ports.has_falling else ""
    low = "".join(f"m->{members[port].name} = 0; " for port in ports.clocks)
    high = "".join(
        f"m->{members[port].name} = st.cycle % {clock.period} == {clock.phase}; "
        for port, clock in ports.clocks.items()
    )
    previous = [name for name in previous if not (ports.has_falling and name.endswith(f"__TOP__{clock}"))]
    lines = [
        '#include "Vdesign.h"',
        '#include "Vdesign___024root.h"',
        '#include "verilated.h"',
        '#include "words.h"',
        "#include <stdio.h>",
        "#include <unistd.h>",
        # Standard output is closed; without this an error ends the program without a word.
        "void vl_fatal(const char* file, int line, const char*, const char* message) {",
        '  fprintf(stderr, "%s:%d: %s\\n", file ? file : "", line, message); _exit(1); }',
        *_shape(ports, stimuli),
        *_BITS,
        "struct State { VerilatedContext* context = 0; Vdesign* model[STIMULI] = {};",
        "  bool is_new = true; u64 cycle = 0;",
        "  void clear() { for (auto& m : model) { delete m; m = 0; } delete context; context = 0; }",
        "  ~State() { clear(); } };",
        "static void set_inputs(State& st, const u64* in) {",
        "  for (int s = 0; s < STIMULI; s++, in++) { Vdesign& m = *st.model[s];",
        *(line for port in ports.inputs for line in _set(ports, port, members[port])),
        "  } }",
        "static void expect_edges(Vdesign___024root& m) { (void)m;",
        *(f"  m.{name} = !m.{name};" for name in previous),
        "}",
        "static void evaluate(State& st) {",
        f"  for (auto m : st.model) {{ {falling}{_clock(clock, 0)} {low}m->eval();",
        "    if (st.is_new) { expect_edges(*m->rootp); m->eval(); } }",
        "  st.is_new = false; }",
        "static void initialise(State& st) { st.clear(); st.context = new VerilatedContext;",
        "  for (auto& m : st.model) m = new Vdesign{st.context};",
        "  st.is_new = true; st.cycle = 0; }",
        "static void advance(State& st) {",
        *([f"  for (auto m : st.model) {{ {_clock(clock, 1)} {high}m->eval(); }}"] if clock or high else []),
        "  st.cycle++;",
        "}",
        "static void get_outputs(State& st, u64* out) {",
        "  for (int s = 0; s < STIMULI; s++, out++) { Vdesign& m = *st.model[s];",
        *(f"    out[{i} * STIMULI] = 0;" for i, _ in enumerate(outputs)),
        *(line for port in ports.outputs for line in _get(ports, port, members[port])),
        "  } }",
        CLOSING,
    ]
    return "\n".join(lines)


_BITS = (
    "static inline u64 get_bits(const u64* in, int low, int width) {",
    "  int k = low / 64, shift = low % 64; u64 x = in[k * STIMULI] >> shift;",
    "  if (shift + width > 64) x |= in[(k + 1) * STIMULI] << (64 - shift);",
    "  return width == 64 ? x : x & ((1ull << width) - 1); }",
    "static inline void put_bits(u64* out, int low, int width, u64 x) {",
    "  int k = low / 64, shift = low % 64; out[k * STIMULI] |= x << shift;",
    "  if (shift + width > 64) out[(k + 1) * STIMULI] |= x >> (64 - shift); }",
)


def _plain_members(ports: Ports) -> dict[str, Member]:
    widths = {
        **ports.inputs,
        **ports.outputs,
        **dict.fromkeys(ports.clocks, 1),
        **({ports.clock: 1} if ports.clock else {}),
    }
    return {port: Member(name=port.replace("__", "___05F"), width=width) for port, width in widths.items()}


def _clock(member: str | None, level: int) -> str:
    return f"m->{member} = {level};" if member else ""


def _first_word(widths: Mapping[str, int], port: str) -> int:
    return next(i for i, (name, _, _) in enumerate(words_of(widths)) if name == port)


def _set(ports: Ports, port: str, member: Member) -> Iterator[str]:
    words = f"in + {_first_word(ports.inputs, port)} * STIMULI"
    for name, place, low, width in _chunks(member):
        yield f"    m.{name}{place} = get_bits({words}, {low}, {width});"


def _get(ports: Ports, port: str, member: Member) -> Iterator[str]:
    words = f"out + {_first_word(ports.outputs, port)} * STIMULI"
    for name, place, low, width in _chunks(member):
        yield f"    put_bits({words}, {low}, {width}, m.{name}{place});"


def _chunks(member: Member) -> Iterator[tuple[str, str, int, int]]:
    """Yield what Verilator keeps a port in: element, word of a wide one, lowest bit in the port, width."""
    for name, low in member.elements():
        if member.width <= LIMB:
            yield name, "", low, member.width
            continue
        for word, first in enumerate(range(0, member.width, _HALF)):
            yield name, f"[{word}]", low + first, min(_HALF, member.width - first)


# ---- CXXRTL ----------------------------------------------------------------------------------------------


def cxxrtl_harness(ports: Ports, stimuli: int, closing: str = CLOSING) -> str:
    """Return the C++ to append to Yosys' text: one model per stimulus."""
    inputs, outputs = words_of(ports.inputs), words_of(ports.outputs)
    lines = [
        '#include "words.h"',
        "#include <stdio.h>",
        "#include <unistd.h>",
        *_shape(ports, stimuli),
        "template <size_t N> static inline u64 limb(const cxxrtl::value<N>& v, size_t i) {",
        "  return v.data[2 * i] | (2 * i + 1 < v.chunks ? (u64)v.data[2 * i + 1] << 32 : 0); }",
        "template <size_t N> static inline u64 limb(const cxxrtl::wire<N>& w, size_t i) {",
        "  return limb(w.curr, i); }",
        "template <size_t N> static inline void put(cxxrtl::value<N>& v, size_t i, u64 x) {",
        "  v.data[2 * i] = (u32)x; if (2 * i + 1 < v.chunks) v.data[2 * i + 1] = (u32)(x >> 32); }",
        "typedef cxxrtl_design::p_design Model;",
        "struct State { Model* model[STIMULI] = {}; u64 cycle = 0;",
        "  ~State() { for (auto m : model) delete m; } };",
        # When a reset changes a register without a clock edge, what depends on that is evaluated again.
        "static void settle(Model& m, bool is_sampled) {",
        f"  for (int n = 0; n < {_MOST_DELTAS}; n++) {{ bool is_settled = m.eval();",
        "    if (!m.commit() || (is_settled && !is_sampled)) return; }",
        '  fputs("the model of CXXRTL does not settle\\n", stderr); _exit(1); }',
        "static void initialise(State& st) { for (auto& m : st.model) { delete m; m = new Model; }",
        "  st.cycle = 0; }",
        "static void set_inputs(State& st, const u64* in) {",
        "  for (int s = 0; s < STIMULI; s++, in++) { Model& m = *st.model[s];",
        *(
            f"    put(m.{_mangled(port)}, {limb}, in[{i} * STIMULI]);"
            for i, (port, limb, _) in enumerate(inputs)
        ),
        "  } }",
        *_cxxrtl_evaluation("evaluate", 0, ports),
        *_cxxrtl_evaluation("advance", 1, ports),
        "static void get_outputs(State& st, u64* out) {",
        "  for (int s = 0; s < STIMULI; s++, out++) { Model& m = *st.model[s];",
        *(
            f"    out[{i} * STIMULI] = limb(m.{_mangled(port)}, {limb});"
            for i, (port, limb, _) in enumerate(outputs)
        ),
        "  } }",
        closing,
    ]
    return "\n".join(lines)


def _cxxrtl_evaluation(name: str, level: int, ports: Ports) -> Iterator[str]:
    yield f"static void {name}(State& st) {{ for (auto m : st.model) {{ (void)m;"
    if level == 0 and ports.has_falling:  # the clock falls behind the inputs
        yield "  settle(*m, true);"
    if ports.clock:
        yield f"  put(m->{_mangled(ports.clock)}, 0, {level});"
    for port, clock in ports.clocks.items():
        rises = f"st.cycle % {clock.period} == {clock.phase}" if level else "0"
        yield f"  put(m->{_mangled(port)}, 0, {rises});"
    if ports.clock or ports.clocks or level == 0:
        yield f"  settle(*m, {'false' if level else 'true'});"
    yield f"  }} {'st.cycle++; ' if level else ''}}}"


def _mangled(port: str) -> str:
    """Return CXXRTL's name of a port: `_` is doubled, other characters that C++ lacks are hexadecimal."""
    letters = (c if c.isascii() and c.isalnum() else "__" if c == "_" else f"_{ord(c):02x}_" for c in port)
    return "p_" + "".join(letters)


# ---- Arc -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcPlaces:
    """Places in the state of an Arc model, in bytes.

    Attributes:
        ports: offset by name in the text. memories: name, offset and bytes per word. size: of the state.
    """

    ports: Mapping[str, int]
    memories: Sequence[tuple[str, int, int]]
    size: int


def arc_harness(
    ports: Ports,
    stimuli: int,
    places: ArcPlaces,
    initial: Mapping[str, Sequence[int]],
    closing: str = CLOSING,
) -> str:
    """Return a translation unit with one state of the Arc model per stimulus.

    Args: initial: words that memories start with, by name in the text.
    """
    size, offsets = -(-max(places.size, 1) // 64) * 64, places.ports
    lines = [
        '#include "words.h"',
        *_shape(ports, stimuli),
        f'extern "C" void {MODEL}_eval(void*);',
        f"struct alignas(64) State {{ alignas(64) u8 bytes[STIMULI][{size}]; }};",
        *(
            f"static const u64 {name}[] = {{{', '.join(f'{word:#x}ull' for word in words)}}};"
            for name, words in initial.items()
        ),
        "static void initialise(State& st) { memset(&st, 0, sizeof st);",
        "  for (auto& bytes : st.bytes) { (void)bytes;",
        *(
            f"    for (int i = 0; i < {len(initial[name])}; i++) "
            f"memcpy(bytes + {offset} + {step} * i, &{name}[i], {min(step, LIMB // 8)});"
            for path, offset, step in places.memories
            if (name := path.rpartition("/")[2]) in initial
        ),
        "  } }",
        "static void set_inputs(State& st, const u64* in) {",
        "  for (int s = 0; s < STIMULI; s++, in++) {",
        *(
            f"    {{ {type_of(w)} x = in[{i} * STIMULI]; memcpy(st.bytes[s] + {offset}, &x, {-(-w // 8)}); }}"
            for i, (port, limb, w) in enumerate(words_of(ports.inputs))
            if (offset := offsets.get(port_name(port, limb, is_input=True))) is not None
        ),
        "  } }",
        *_arc_evaluation("evaluate", 0, offsets),
        *_arc_evaluation("advance", 1, offsets),
        "static void get_outputs(State& st, u64* out) {",
        "  for (int s = 0; s < STIMULI; s++, out++) {",
        *(
            f"    {{ {type_of(w)} x = 0; memcpy(&x, st.bytes[s] + {offset}, {-(-w // 8)}); "
            f"out[{i} * STIMULI] = x & {mask(w):#x}ull; }}"
            for i, (port, limb, w) in enumerate(words_of(ports.outputs))
            if (offset := offsets.get(port_name(port, limb, is_input=False))) is not None
        ),
        "  } }",
        closing,
    ]
    return "\n".join(lines)


def _arc_evaluation(name: str, level: int, offsets: Mapping[str, int]) -> Iterator[str]:
    yield f"static void {name}(State& st) {{ for (auto& bytes : st.bytes) {{"
    if "clk" in offsets:
        yield f"  bytes[{offsets['clk']}] = {level};"
    yield f"  {MODEL}_eval(bytes); }} }}"
