"""C++ of a placed design: one function per block and class, loops over lanes, one struct of arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pipelines.rtl.reuse.blocks import Block
from pipelines.rtl.reuse.body import Body, WordArray
from pipelines.rtl.reuse.expressions import literal, type_of
from pipelines.rtl.reuse.ir import mask
from pipelines.rtl.reuse.layout import Layout, StateArray
from pipelines.rtl.reuse.phases import (
    Phase,
    cone,
    phases,
    shared_conditions,
    specialise,
    state_roots,
)
from pipelines.rtl.reuse.pieces import LARGE, function_in_pieces
from pipelines.rtl.reuse.placement import ArrayKey, Move, Placement
from pipelines.rtl.reuse.ranges import affine_runs, runs_of
from pipelines.rtl.reuse.structure import CONSTANT, ENVIRONMENT, Source, Structure, words_of

INCLUDED = '#include "words.h"\n'
"""What the text begins with."""
_MOST_RUNS = 12
"""Copies that are written as loops of their own; more become a table."""
_FEW_LANES = 16  # below which variants of a function, and vectors of copied words, do not pay
_LINE = 64  # bytes of a cache line


@dataclass(slots=True, kw_only=True)
class _Text:
    lines: list[str] = field(default_factory=list[str])

    def add(self, *lines: str) -> None:
        self.lines += lines


class Emitter:
    """Writes the whole translation unit, without the runner that is included behind it."""

    def __init__(
        self,
        structure: Structure,
        placement: Placement,
        stimuli: int,
        is_counting: bool,
        is_skipping: bool = False,
    ) -> None:
        self.structure, self.placement, self.stimuli = structure, placement, stimuli
        self.is_counting, self.is_skipping = is_counting, is_skipping
        self.blocks = structure.design.blocks
        self.numbers = {name: i for i, name in enumerate(self.blocks)}
        self.phases = {name: phases(block, structure.classes[name]) for name, block in self.blocks.items()}
        self._register_nodes: dict[str, dict[int, int]] = {}
        self.arrays: dict[ArrayKey, WordArray] = {}
        self.memories: dict[tuple[str, int], str] = {}
        self._declare()

    # ---- arrays ----------------------------------------------------------------------------------------

    def _declare(self) -> None:
        used = self.structure.used
        for name, block in self.blocks.items():
            number, extent = self.numbers[name], self.placement.extents[name]
            for i, register in enumerate(block.registers):
                node = self.register_node(block, i)
                key = ArrayKey("node", name, node) if node is not None else ArrayKey("register", name, i)
                is_double = self.is_counting or self.is_skipping or (node is not None and node in used[name])
                self._array(key, f"b{number}_r{i}", register.width, extent, is_double=is_double)
                self.arrays[ArrayKey("register", name, i)] = self.arrays[key]
            for i in range(len(block.memories)):
                self.memories[name, i] = f"b{number}_m{i}"
            for node in {n for phase in self.phases[name] for n in phase.stored}:
                self._array(
                    ArrayKey("node", name, node), f"b{number}_n{node}", block.nodes[node].width, extent
                )
            for pin, access in enumerate(self.placement.accesses[name]):
                key = ArrayKey("pin", name, pin)
                if access.array == key:
                    self._array(key, f"b{number}_p{pin}", self._pin_width(block, pin), extent)
        for i, (_, _, width) in enumerate(words_of(self.structure.design.inputs)):
            self._array(ArrayKey("input", "", i), f"in{i}", width, 1)

    def _array(self, key: ArrayKey, name: str, width: int, extent: int, *, is_double: bool = False) -> None:
        front, back = self.placement.margins.get(key, (0, 0))
        self.arrays[key] = WordArray(
            name=name, width=width, front=front, slots=front + extent + back, is_double=is_double
        )

    def register_node(self, block: Block, register: int) -> int | None:
        """Return the node that reads a register; None if nothing does."""
        if block.name not in self._register_nodes:
            nodes = {n.value: i for i, n in enumerate(block.nodes) if n.op == "register"}
            self._register_nodes[block.name] = nodes
        return self._register_nodes[block.name].get(register)

    def _pin_width(self, block: Block, pin: int) -> int:
        return next(n.width for n in block.nodes if n.op == "input" and n.value == pin)

    def _struct(self) -> Iterator[str]:
        yield "struct State {"
        yield "  int cur;"
        scalars: list[str] = []
        for found in {id(array): array for array in self.arrays.values()}.values():
            words = found.slots * self.stimuli
            double = "[2]" if found.is_double else ""
            if words == 1:
                scalars.append(f"  {type_of(found.width)} {found.name}{double}[1];")
                continue
            kind, size = type_of(found.width), _rounded(words, found.width)
            yield f"  alignas({_LINE}) {kind} {found.name}{double}[{size}];"
        for (name, i), text in self.memories.items():
            memory = self.blocks[name].memories[i]
            words = memory.size * self.placement.extents[name] * self.stimuli
            yield f"  alignas({_LINE}) {type_of(memory.width)} {text}[{words}];"
        yield from sorted(scalars)  # by type, so that they are dense
        if self.is_counting:
            for array in self._registers():
                yield f"  alignas({_LINE}) u64 t_{array.name}[{array.slots * self.stimuli}];"
        yield "};"

    def _registers(self) -> Iterator[WordArray]:
        for name, block in self.blocks.items():
            for i in range(len(block.registers)):
                yield self.arrays[ArrayKey("register", name, i)]

    def layout(self) -> Layout:
        """Return registers, then memories."""
        arrays: list[StateArray] = []
        for name, block in self.blocks.items():
            for i, register in enumerate(block.registers):
                array = self.arrays[ArrayKey("register", name, i)]
                arrays.append(self._state_array(name, i, array.name, register.width, array, 0))
        for (name, i), text in self.memories.items():
            memory = self.blocks[name].memories[i]
            arrays.append(self._state_array(name, i, text, memory.width, None, memory.size))
        return Layout(
            structure=self.structure,
            slots=self.placement.slots,
            arrays=arrays,
            is_counting=self.is_counting,
        )

    def _state_array(
        self, block: str, number: int, name: str, width: int, array: WordArray | None, words: int
    ) -> StateArray:
        return StateArray(
            block=block,
            number=number,
            name=name,
            width=width,
            front=array.front if array else 0,
            words=words,
            is_double=array.is_double if array else False,
        )

    def base(self, key: ArrayKey, *, is_next: bool = False) -> str:
        """Return the pointer to slot 0 of an array."""
        array = self.arrays[key]
        buffer = ("[nxt]" if is_next else "[cur]") if array.is_double else ""
        front = f" + {array.front * self.stimuli}" if array.front else ""
        return f"st.{array.name}{buffer}{front}"

    # ---- functions -------------------------------------------------------------------------------------

    def text(self) -> str:
        """Return all of it."""
        out = _Text()
        out.add(INCLUDED.rstrip(), *self._struct(), "")
        for name in self.blocks:
            for number, phase in enumerate(self.phases[name]):
                out.add(*self._function(name, number, phase), "")
        out.add(*self._cycle(), "", *self._initialise(), "", *self._ports())
        return "\n".join(out.lines) + "\n"

    def _function(self, name: str, number: int, phase: Phase) -> Iterator[str]:
        """Yield the function of a class or of the next state, in variants when all lanes share conditions."""
        block, function = self.blocks[name], f"f{self.numbers[name]}_{number}"
        is_state = number == len(self.phases[name]) - 1
        conditions = self._conditions(name, phase) if is_state else []
        if not conditions:
            yield from self._variant(function, Body(self, name, block, phase, is_state=is_state))
            return
        for variant in range(1 << len(conditions)):
            values = {node: variant >> i & 1 for i, node in enumerate(conditions)}
            folded = specialise(block, values)
            own = replace(phase, order=cone(folded, state_roots(folded)), stored=())
            yield from self._variant(f"{function}_{variant}", Body(self, name, folded, own, is_state=True))
        yield f"static void {function}(State& st, const int lo, const int hi) {{"
        yield "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"
        yield f"  switch ({' | '.join(self._condition(name, n, i) for i, n in enumerate(conditions))}) {{"
        for variant in range(1 << len(conditions)):
            yield f"    case {variant}: {function}_{variant}(st, lo, hi); break;"
        yield "  }"
        yield "}"

    def _conditions(self, name: str, phase: Phase) -> list[int]:
        if self.stimuli > 1 or self.placement.extents[name] < _FEW_LANES:
            return []
        accesses = self.placement.accesses[name]
        shared = {pin for pin, access in enumerate(accesses) if access.slot is not None}
        return shared_conditions(self.blocks[name], phase, shared)

    def _condition(self, name: str, node: int, place: int) -> str:
        access = self.placement.accesses[name][self.blocks[name].nodes[node].value]
        if access.array is None:
            raise ValueError(f"a constant is no condition: {node}")
        return f"({self.base(access.array)})[{access.slot}] << {place}"

    def _variant(self, function: str, body: Body) -> Iterator[str]:
        if body.is_alone and len(body.phase.order) >= LARGE:
            yield from function_in_pieces(function, body)
            return
        lines = body.lines()
        yield f"static void {function}(State& st, const int lo, const int hi) {{"
        yield "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"
        yield from (f"  {line}" for line in body.pointers)
        if self.stimuli == 1:
            if self.placement.extents[body.name] > 1:
                yield "  LANES"
            yield "  for (int k = lo; k < hi; k++) {"
        elif body.has_broadcast:
            yield "  for (int i = lo; i < hi; i++) {"
            yield "  LANES"
            yield f"  for (int s = 0; s < {self.stimuli}; s++) {{ const int k = i * {self.stimuli} + s;"
        else:
            yield "  LANES"
            yield f"  for (int k = lo * {self.stimuli}; k < hi * {self.stimuli}; k++) {{"
        yield from (f"    {line}" for line in lines)
        yield "  }" if self.stimuli == 1 or not body.has_broadcast else "  }}"
        yield "}"

    def _cycle(self) -> Iterator[str]:
        yield "static void evaluate(State& st) {"
        yield "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"
        yield from self.combinational_lines(lambda _: True, lambda _, __: True)
        yield "}"
        yield "static void advance(State& st) {"
        yield from self._advance()
        if self.is_counting:
            yield "  const int cur = st.cur, nxt = cur ^ 1;"
            for array in self._registers():
                yield f"  for (int k = 0; k < {array.slots * self.stimuli}; k++)"
                changed = f"st.{array.name}[cur][k] ^ st.{array.name}[nxt][k]"
                yield f"    st.t_{array.name}[k] += __builtin_popcountll({changed});"
        yield "  st.cur ^= 1;"
        yield "}"

    def _advance(self) -> Iterator[str]:
        for name, block in self.blocks.items():
            if block.registers or block.memories:
                number = len(self.phases[name]) - 1
                yield f"  f{self.numbers[name]}_{number}(st, 0, {self.placement.extents[name]});"

    def _call(self, name: str, number: int, slots: Sequence[int]) -> Iterator[str]:
        """Yield the calls of a block's function for some slots."""
        for low, high in runs_of(slots, self.placement.slots[name]):
            yield f"  f{self.numbers[name]}_{number}(st, {low}, {high});"

    def combinational_lines(
        self, is_moved: Callable[[Move], bool], is_evaluated: Callable[[int, int], bool]
    ) -> Iterator[str]:
        """Yield the moves and functions of classes, level by level.

        Args: is_evaluated: of an instance and the number of a class.
        """
        moves = self.moves_by_level(is_moved)
        yield from moves[0]
        for level in range(1, self.structure.highest_level + 1):
            for name, classes in self.structure.classes.items():
                places = list(zip(self.placement.slots[name], self.structure.lanes[name], strict=True))
                for number, found in enumerate(classes):
                    slots = [
                        slot
                        for (slot, instance), v in zip(places, found.levels, strict=True)
                        if v == level and is_evaluated(instance, number)
                    ]
                    yield from self._call(name, number, slots)
            yield from moves[level]

    def state_lines(self, name: str, instances: Container[int]) -> Iterator[str]:
        """Yield the next state of some instances of a block."""
        places = zip(self.placement.slots[name], self.structure.lanes[name], strict=True)
        slots = [slot for slot, instance in places if instance in instances]
        yield from self._call(name, len(self.phases[name]) - 1, slots)

    def _ports(self) -> Iterator[str]:
        """Yield the copies between the words of the interface and the arrays."""
        inputs, outputs = words_of(self.structure.design.inputs), self.structure.outputs
        if number := self._event_inputs():
            yield from self._events(len(inputs) - number, number)
            inputs = inputs[:-number]
        yield f"enum {{ INPUTS = {len(inputs)}, OUTPUTS = {len(outputs)}, STIMULI = {self.stimuli} }};"
        yield "static const u64 INPUT_MASKS[] = {"
        yield "  " + ", ".join(f"{mask(width):#x}ull" for _, _, width in inputs) + (", 0" if inputs else "0")
        yield "};"
        yield "ANYWHERE static void set_inputs(State& st, const u64* in) {"
        for i, (_, _, width) in enumerate(inputs):
            word = f"({type_of(width)})(in[{i} * STIMULI + s] & {mask(width):#x}ull)"
            yield self._set_input(i, word)
        yield "}"
        yield "ANYWHERE static void get_outputs(const State& st, u64* out) {"
        yield "  const int cur = st.cur; (void)cur;"
        for i, source in enumerate(outputs):
            yield self.output_line(i, source)
        yield "}"

    def _event_inputs(self) -> int:
        """Return how many of the last inputs say which clocks have an edge."""
        design = self.structure.design
        return len(design.drive.ports if design.drive else design.clocks) or int(design.has_falling)

    def _events(self, first: int, number: int) -> Iterator[str]:
        """Yield when clocks rise, and the function that sets their inputs; see `runner.h`."""
        clocks = self.structure.design.clocks.values()
        bits = 2 if self.structure.design.drive else 1
        if bits == 1:
            yield f"#define CLOCKS {number}" if clocks else "#define FALLING"
            yield f"static const u64 PERIODS[] = {{{', '.join(str(clock.period) for clock in clocks) or 0}}};"
            yield f"static const u64 PHASES[] = {{{', '.join(str(clock.phase) for clock in clocks) or 0}}};"
        yield "ANYWHERE static void set_event(State& st, u64 edges) {"
        for k in range(number):
            word = f"edges >> {bits * k} & {mask(bits)}"
            yield f"  for (int s = 0; s < {self.stimuli}; s++) st.in{first + k}[s] = {word};"
        yield "}"

    def _set_input(self, number: int, word: str) -> str:
        return f"  for (int s = 0; s < STIMULI; s++) st.in{number}[s] = {word};"

    def output_line(self, number: int, source: Source) -> str:
        """Return the copy of a word of the outputs."""
        return (
            f"  for (int s = 0; s < STIMULI; s++) out[{number} * STIMULI + s] = {self.output_word(source)};"
        )

    def output_word(self, source: Source) -> str:
        """Return a word of the outputs of stimulus `s`."""
        if source.instance == CONSTANT:
            return f"{source.node:#x}ull"
        key, slot = self._source(source.instance, source.node)
        return f"({self.base(key)})[{slot * self.stimuli} + s]"

    def _source(self, instance: int, node: int) -> tuple[ArrayKey, int]:
        if instance == ENVIRONMENT:
            return ArrayKey("input", "", node), 0
        block = self.structure.instances[instance].block
        lane = self.structure.lanes[block].index(instance)
        return ArrayKey("node", block, node), self.placement.slots[block][lane]

    # ---- moves -----------------------------------------------------------------------------------------

    def moves_by_level(self, is_moved: Callable[[Move], bool]) -> dict[int, list[str]]:
        """Return the lines that copy words, by the level after which they run."""
        groups: dict[tuple[int, ArrayKey, ArrayKey], list[Move]] = defaultdict(list)
        lines: dict[int, list[str]] = defaultdict(list)
        for move in filter(is_moved, self.placement.moves):
            if move.source is None:
                if move.target.kind != "pin":
                    lines[0].append(self._set_constant(move))
            else:
                groups[move.level, move.target, move.source].append(move)
        for (level, target, source), moves in groups.items():
            lines[level] += self.copy_lines(target, source, moves)
        return lines

    def _set_constant(self, move: Move) -> str:
        n = self.stimuli
        text = literal(move.source_slot, self.arrays[move.target].width)
        base = self.base(move.target)
        return f"  for (int s = 0; s < {n}; s++) ({base})[{move.target_slot * n} + s] = {text};"

    def copy_lines(self, target: ArrayKey, source: ArrayKey, moves: Sequence[Move]) -> Iterator[str]:
        """Yield the moves between two arrays: runs as loops, many short ones as a table."""
        pairs = sorted((m.target_slot, m.source_slot) for m in moves)
        runs = list(affine_runs(pairs))
        n = self.stimuli
        to, of = self.base(target), self.base(source)
        if len(runs) > _MOST_RUNS:
            table = ",".join(f"{{{a},{b}}}" for a, b in pairs)
            yield f"  {{ static const int t[{len(pairs)}][2] = {{{table}}};"
            yield f"  for (int i = 0; i < {len(pairs)}; i++) for (int s = 0; s < {n}; s++)"
            yield f"    ({to})[t[i][0] * {n} + s] = ({of})[t[i][1] * {n} + s]; }}"
            return
        for (a, b), (da, db), count in runs:
            if da == db == 1:
                size = self.arrays[target].width
                count_bytes = f"{count * n} * sizeof({type_of(size)})"
                yield f"  memcpy({to} + {a * n}, {of} + {b * n}, {count_bytes});"
            else:
                yield from strided_copy((to, a, da), (of, b, db), count, n)

    # ---- initial state ---------------------------------------------------------------------------------

    def _initialise(self) -> Iterator[str]:
        yield "static void initialise(State& st) {"
        yield "  memset(&st, 0, sizeof st);"
        n = self.stimuli
        for name, block in self.blocks.items():
            for i, register in enumerate(block.registers):
                if register.initial:
                    array = self.arrays[ArrayKey("register", name, i)]
                    text = literal(register.initial, register.width)
                    for buffer in ("[0]", "[1]") if array.is_double else ("",):
                        yield f"  for (int k = 0; k < {array.slots * n}; k++)"
                        yield f"    st.{array.name}{buffer}[k] = {text};"
            for i, memory in enumerate(block.memories):
                if memory.initial:
                    words = ",".join(literal(w, memory.width) for w in memory.initial)
                    kind, size = type_of(memory.width), memory.size
                    yield f"  {{ static const {kind} t[{size}] = {{{words}}};"
                    yield f"  for (int k = 0; k < {self.placement.extents[name] * n}; k++)"
                    yield f"    memcpy(st.{self.memories[name, i]} + (size_t)k * {size}, t, sizeof t); }}"
        yield from self._constant_pins()
        yield "}"

    def _constant_pins(self) -> Iterator[str]:
        by_target: dict[tuple[ArrayKey, int], list[tuple[int, int]]] = defaultdict(list)
        n = self.stimuli
        for move in self.placement.moves:
            if move.source is None and move.target.kind == "pin":
                by_target[move.target, move.source_slot].append((move.target_slot, 0))
        for (target, value), pairs in by_target.items():
            array = self.arrays[target]
            for (a, _), (da, _), count in affine_runs(sorted(pairs)):
                yield f"  for (int i = 0; i < {count}; i++) for (int s = 0; s < {n}; s++)"
                yield f"    st.{array.name}[({a} + i * {da}) * {n} + s] = {literal(value, array.width)};"


def strided_copy(
    target: tuple[str, int, int], source: tuple[str, int, int], count: int, stimuli: int
) -> Iterator[str]:
    """Yield a loop that copies words; no word is read that the same loop writes, which clang does not see
    itself.

    Args: target, source: an array, its first slot, and the distance of slots.
    """
    (to, a, da), (of, b, db) = target, source
    if stimuli > 1:
        yield f"  for (int i = 0; i < {count}; i++) {{"
        yield "  LANES"
        yield f"  for (int s = 0; s < {stimuli}; s++)"
        yield f"    ({to})[({a} + i * {da}) * {stimuli} + s] = ({of})[({b} + i * ({db})) * {stimuli} + s]; }}"
        return
    if count >= _FEW_LANES:
        yield "  LANES"
    yield f"  for (int i = 0; i < {count}; i++) ({to})[{a} + i * {da}] = ({of})[{b} + i * ({db})];"


def _rounded(words: int, width: int) -> int:
    """Return the words up to a whole cache line, so that a vector may read beyond the last word."""
    per_line = _LINE * 8 // (8 if width <= 8 else 16 if width <= 16 else 32 if width <= 32 else 64)
    return -(-words // per_line) * per_line
