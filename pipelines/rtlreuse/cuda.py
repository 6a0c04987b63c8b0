"""CUDA of a placed design: a kernel per block and class, a thread per lane, cycles and levels as a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from pipelines.rtlreuse.emission import Body, Emitter
from pipelines.rtlreuse.layout import layout_text
from pipelines.rtlreuse.placement import ArrayKey, Move, Placement
from pipelines.rtlreuse.ranges import affine_runs, runs_of
from pipelines.rtlreuse.structure import Structure

THREADS = 128
"""Of a block of a kernel."""
_BUFFERS = "  State& st = *state; const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"


def cuda_text(structure: Structure, placement: Placement, *, stimuli: int, batch: int) -> str:
    """A translation unit for nvcc, without the runner that is included behind it.

    It has the functions for the processor too, which single steps use; runs go to the GPU.

    Args: batch: cycles of a graph.
    """
    emitter = Emitter(structure, placement, stimuli, is_counting=False)
    lines = [emitter.text() + layout_text(emitter.layout()), *_Kernels(emitter, batch).lines()]
    return "\n".join(lines) + "\n"


class _Kernels:
    def __init__(self, emitter: Emitter, batch: int) -> None:
        self.emitter, self.batch = emitter, batch
        self.launches: list[str] = []

    def lines(self) -> Iterator[str]:
        """Kernels, then the capture of a batch, then the definitions that batch_cuda.h needs."""
        emitter = self.emitter
        yield "#define BATCHES"
        yield "#define ON_GPU"
        yield f"enum {{ BATCH = {self.batch}, THREADS = {THREADS} }};"
        yield "__global__ void set_inputs_kernel(State* state, const u64* in) { set_inputs(*state, in); }"
        yield "__global__ void get_outputs_kernel(const State* state, u64* out) { get_outputs(*state, out); }"
        yield "__global__ void flip_kernel(State* state) { state->cur ^= 1; }"
        for name in emitter.blocks:
            for number in range(len(emitter.phases[name])):
                yield from self._kernel(name, number)
        yield from self._cycle()

    def _kernel(self, name: str, number: int) -> Iterator[str]:
        """The function of a class or of the next state: what the loop of a processor has as its body."""
        emitter, phase = self.emitter, self.emitter.phases[name][number]
        is_state = number == len(emitter.phases[name]) - 1
        body = Body(emitter, name, emitter.blocks[name], phase, is_state=is_state)
        lines = body.lines()
        n = emitter.stimuli
        yield f"__global__ void g{emitter.numbers[name]}_{number}(State* state, int lo, int hi) {{"
        yield _BUFFERS
        yield f"  const int k = lo * {n} + blockIdx.x * blockDim.x + threadIdx.x;"
        yield f"  if (k >= hi * {n}) return;"
        if body.has_broadcast:
            yield f"  const int s = k % {n};"
        yield from (f"  {line}" for line in (*body.pointers, *lines))
        yield "}"

    def _cycle(self) -> Iterator[str]:
        emitter, structure = self.emitter, self.emitter.structure
        by_level: dict[int, list[Move]] = defaultdict(list)
        for move in emitter.placement.moves:
            if move.source is not None or move.target.kind != "pin":
                by_level[0 if move.source is None else move.level].append(move)
        for level in range(structure.highest_level + 1):
            yield from self._level_kernels(level, by_level[level])
        for name, block in emitter.blocks.items():
            if block.registers or block.memories:
                self._launch(name, len(emitter.phases[name]) - 1, 0, emitter.placement.extents[name])
        yield "static void launch_cycle(cudaStream_t stream, State* state, const u64* in, u64* out) {"
        yield "  set_inputs_kernel<<<1, 1, 0, stream>>>(state, in);"
        states = sum(1 for b in emitter.blocks.values() if b.registers or b.memories)
        split = len(self.launches) - states
        yield from self.launches[:split]
        yield "  get_outputs_kernel<<<1, 1, 0, stream>>>(state, out);"
        yield from self.launches[split:]
        yield "  flip_kernel<<<1, 1, 0, stream>>>(state);"
        yield "}"

    def _level_kernels(self, level: int, moves: Sequence[Move]) -> Iterator[str]:
        """Launches of a level's functions, and the kernel of the moves behind them."""
        emitter = self.emitter
        for name, classes in emitter.structure.classes.items():
            slots = emitter.placement.slots[name]
            for number, found in enumerate(classes):
                here = [slot for slot, v in zip(slots, found.levels, strict=True) if v == level]
                for low, high in runs_of(here, slots):
                    self._launch(name, number, low, high)
        if moves:
            yield f"__global__ void moves{level}(State* state) {{"
            yield _BUFFERS
            yield "  const int lane = blockIdx.x * blockDim.x + threadIdx.x, lanes = gridDim.x * blockDim.x;"
            yield from self._moves(moves)
            yield "}"
            most = -(-max(1, len(moves) * emitter.stimuli) // THREADS)
            self.launches.append(f"  moves{level}<<<{min(most, 64)}, THREADS, 0, stream>>>(state);")

    def _launch(self, name: str, number: int, low: int, high: int) -> None:
        blocks = -(-(high - low) * self.emitter.stimuli // THREADS)
        kernel = f"g{self.emitter.numbers[name]}_{number}"
        self.launches.append(f"  {kernel}<<<{blocks}, THREADS, 0, stream>>>(state, {low}, {high});")

    def _moves(self, moves: Sequence[Move]) -> Iterator[str]:
        n = self.emitter.stimuli
        groups: dict[tuple[ArrayKey, ArrayKey], list[tuple[int, int]]] = defaultdict(list)
        for move in moves:
            if move.source is None:
                to = f"({self.emitter.base(move.target)})[{move.target_slot * n} + s]"
                yield f"  for (int s = lane; s < {n}; s += lanes) {to} = {move.source_slot:#x}ull;"
            else:
                groups[move.target, move.source].append((move.target_slot, move.source_slot))
        for (target, source), pairs in groups.items():
            to, of = self.emitter.base(target), self.emitter.base(source)
            for (a, b), (da, db), count in affine_runs(sorted(pairs)):
                yield f"  for (int j = lane; j < {count * n}; j += lanes) {{"
                yield f"    const int i = j / {n}, s = j % {n};"
                yield f"    ({to})[({a} + i * ({da})) * {n} + s] = ({of})[({b} + i * ({db})) * {n} + s]; }}"
