"""C++ or CUDA of a divided design: steps of both sides, and what crosses between them (hetero.h)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pipelines.rtl.reuse.cuda import Kernels
from pipelines.rtl.reuse.placement import ArrayKey, Move
from pipelines.rtl.reuse.ranges import affine_runs, runs_of
from pipelines.rtl.reuse.sides import CPU, GPU, SIDES, Divider, Division, Word

_NAMES = ("host", "device")
_BUFFERS = "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"
_ALIGNMENT = 8


def hetero_text(divider: Divider, division: Division, *, on_gpu: bool) -> str:
    """Return the C++ that hetero.h needs, to append to the emitter's text.

    Args: on_gpu: CUDA for the second side; else C++ for it too, which proves the division.
    """
    return "\n".join(_Sides(divider, division, on_gpu).lines()) + "\n"


class _Sides:
    def __init__(self, divider: Divider, division: Division, on_gpu: bool) -> None:
        self.divider, self.division, self.on_gpu = divider, division, on_gpu
        self.emitter, self.last = divider.emitter, divider.last
        self.keys = {array.name: key for key, array in self.emitter.arrays.items()}
        crossing = {(c.side, c.word) for c in division.crossings}
        self.valid: list[set[Word]] = [
            {
                word
                for word, unit in self.divider.writer.items()
                if division.side_of[unit] == side or (1 - side, word) in crossing
            }
            for side in SIDES
        ]

    def lines(self) -> Iterator[str]:
        yield "#define BATCHES"
        yield "#define SIDES"
        kernels = Kernels(self.emitter) if self.on_gpu else None
        if kernels:
            yield "#define ON_GPU"
            yield from kernels.definitions()
            yield from kernels.wrappers()
        yield f"enum {{ LAST = {self.last} }};"
        sizes = [[0, *(self._size(side, step) for step in self._steps())] for side in SIDES]
        yield f"enum {{ MOST_EXCHANGED = {max(map(max, sizes))} }};"
        text = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in sizes)
        yield f"static const size_t EXCHANGED[2][{self.last + 1}] = {{{text}}};"
        for side in SIDES:
            yield from self._transfers(side)
        yield from self._step_functions("host_step", CPU)
        if kernels:
            yield from self._launches(kernels)
        else:
            yield from self._step_functions("side_step", GPU)
        yield from self._gather()

    def _steps(self) -> range:
        return range(1, self.last + 1)

    # ---- steps -------------------------------------------------------------------------------------------

    def _runs(self, side: int, step: int) -> Iterator[tuple[str, int, int, int]]:
        """Yield block, function and slots of the units of a side."""
        for unit in self.divider.units:
            if unit.level == step and self.division.side_of[unit] == side:
                slots = sorted(slot for _, slot in self.divider.lanes[unit])
                for low, high in runs_of(slots, self.emitter.placement.slots[unit.block]):
                    yield unit.block, unit.number, low, high

    def _is_moved(self, move: Move, side: int) -> bool:
        if move.source is None or move.source.kind != "node":
            return True
        return Word(self.emitter.arrays[move.source].name, move.source_slot) in self.valid[side]

    def _step_functions(self, name: str, side: int) -> Iterator[str]:
        """Yield moves of the level before, then functions; the host reads outputs before the next state."""
        moves = self.emitter.moves_by_level(lambda move: self._is_moved(move, side))
        out = ", u64* out" if side == CPU else ""
        for step in self._steps():
            yield f"static void {name}{step}(State& st{out}) {{"
            yield _BUFFERS
            yield from moves[step - 1]
            if side == CPU and step == self.last:
                yield "  get_outputs(st, out);"
            for block, number, low, high in self._runs(side, step):
                yield f"  f{self.emitter.numbers[block]}_{number}(st, {low}, {high});"
            yield "}"
        yield f"static void {name}(int step, State& st{out}) {{ switch (step) {{"
        for step in self._steps():
            yield f"  case {step}: {name}{step}(st{', out' if out else ''}); break;"
        yield "} }"

    def _launches(self, kernels: Kernels) -> Iterator[str]:
        by_level = kernels.moves_by_level(m for m in self.emitter.placement.moves if self._is_moved(m, GPU))
        for level, moves in by_level.items():
            yield from kernels.moves_kernel(f"moves{level}", moves)
        yield from self._transfer_launches(kernels, "pack", GPU, "const State* state, u8* buffer")
        yield from self._transfer_launches(kernels, "unpack", CPU, "State* state, const u8* buffer")
        yield "static void launch_step(int step, cudaStream_t stream, State* state) { switch (step) {"
        for step in self._steps():
            yield f"  case {step}:"
            if by_level[step - 1]:
                yield f"  {kernels.launch_moves(f'moves{step - 1}', len(by_level[step - 1]))}"
            for block, number, low, high in self._runs(GPU, step):
                yield f"  {kernels.launch(block, number, low, high)}"
            yield "    break;"
        yield "} }"

    def _transfer_launches(self, kernels: Kernels, name: str, sender: int, parameters: str) -> Iterator[str]:
        for step in self._steps():
            yield f"__global__ void {name}_kernel{step}({parameters}) {{"
            lane = "blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x"
            yield f"  {name}_device{step}(*state, buffer, {lane}); }}"
        yield f"static void launch_{name}(int step, cudaStream_t stream, {parameters}) {{ switch (step) {{"
        for step in self._steps():
            words = sum(1 for c in self.division.crossings if (c.level, c.side) == (step, sender))
            yield f"  case {step}: {name}_kernel{step}<<<{kernels.shape(words)}, 0, stream>>>(state, buffer);"
            yield "    break;"
        yield "} }"

    # ---- what crosses ------------------------------------------------------------------------------------

    def _parts(self, side: int, step: int) -> Iterator[tuple[str, int, int, int, int]]:
        """Yield what a side sends: array, first slot, step and number of slots, and bytes from the start."""
        slots: dict[str, list[int]] = defaultdict(list)
        for crossing in self.division.crossings:
            if (crossing.level, crossing.side) == (step, side):
                slots[crossing.word.array].append(crossing.word.slot)
        at = 0
        for array, numbers in sorted(slots.items()):
            for (first, _), (distance, _), count in affine_runs([(s, s) for s in sorted(numbers)]):
                yield array, first, distance, count, at
                size = count * self.emitter.stimuli * self.divider.bytes[array]
                at += -(-size // _ALIGNMENT) * _ALIGNMENT

    def _size(self, side: int, step: int) -> int:
        end = 0
        for array, _, _, count, at in self._parts(side, step):
            end = at + count * self.emitter.stimuli * self.divider.bytes[array]
        return -(-end // _ALIGNMENT) * _ALIGNMENT

    def _transfers(self, side: int) -> Iterator[str]:
        """Yield functions that put words of a side into a buffer, and that take them out on the other one."""
        sender, taker = _NAMES[side], _NAMES[1 - side]
        for step in self._steps():
            parts = list(self._parts(side, step))
            for name, state, buffer in (
                (f"pack_{sender}{step}", "const State& st", "u8* buffer"),
                (f"unpack_{taker}{step}", "State& st", "const u8* buffer"),
            ):
                yield f"ANYWHERE static void {name}({state}, {buffer}, int lane, int lanes) {{"
                yield _BUFFERS
                for array, first, distance, count, at in parts:
                    yield from self._transfer(array, first, distance, count, at, name.startswith("pack"))
                yield "}"
        for name, state, buffer in (
            (f"pack_{sender}", "const State& st", "u8* buffer"),
            (f"unpack_{taker}", "State& st", "const u8* buffer"),
        ):
            yield f"static void {name}(int step, {state}, {buffer}) {{ switch (step) {{"
            for step in self._steps():
                yield f"  case {step}: {name}{step}(st, buffer, 0, 1); break;"
            yield "} }"

    def _transfer(
        self, array: str, first: int, distance: int, count: int, at: int, is_packed: bool
    ) -> Iterator[str]:
        key, n = self.keys[array], self.emitter.stimuli
        is_next = key.kind == "register" or self._is_register(key)
        base = self.emitter.base(key, is_next=is_next)
        kind = f"u{8 * self.divider.bytes[array]}"
        word = f"({base})[({first} + j / {n} * {distance}) * {n} + j % {n}]"
        inner = f"(({'' if is_packed else 'const '}{kind}*)(buffer + {at}))[j]"
        yield f"  for (int j = lane; j < {count * n}; j += lanes)"
        yield f"    {inner} = {word};" if is_packed else f"    {word} = {inner};"

    def _is_register(self, key: ArrayKey) -> bool:
        return key.kind == "node" and self.emitter.blocks[key.block].nodes[key.number].op == "register"

    def _gather(self) -> Iterator[str]:
        """Yield C that copies the second side's registers and memories to the first side's whole state."""
        yield "static void gather(State& st, const State& other) {"
        names: list[str] = []
        for unit in self.divider.units:
            if self.divider.is_state(unit) and self.division.side_of[unit] == GPU:
                block = self.emitter.blocks[unit.block]
                names += [
                    self.emitter.arrays[ArrayKey("register", unit.block, i)].name
                    for i in range(len(block.registers))
                ]
                names += [self.emitter.memories[unit.block, i] for i in range(len(block.memories))]
        yield from (f"  memcpy(st.{name}, other.{name}, sizeof st.{name});" for name in names)
        yield "}"
