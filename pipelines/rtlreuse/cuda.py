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
_MOST_BLOCKS = 64  # of a loop over words
_BUFFERS = "  State& st = *state; const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"


def cuda_text(structure: Structure, placement: Placement, *, stimuli: int, batch: int) -> str:
    """A translation unit for nvcc, without the runner that is included behind it.

    It has the functions for the processor too, which single steps use; runs go to the GPU.

    Args: batch: cycles of a graph.
    """
    emitter = Emitter(structure, placement, stimuli, is_counting=False)
    lines = [emitter.text() + layout_text(emitter.layout()), *_cycle_lines(emitter, batch)]
    return "\n".join(lines) + "\n"


def _cycle_lines(emitter: Emitter, batch: int) -> Iterator[str]:
    """Kernels, then the capture of a batch, then the definitions that batch_cuda.h needs."""
    kernels, structure = Kernels(emitter), emitter.structure
    yield "#define BATCHES"
    yield "#define ON_GPU"
    yield f"enum {{ BATCH = {batch} }};"
    yield "__global__ void set_inputs_kernel(State* state, const u64* in) { set_inputs(*state, in); }"
    yield "__global__ void get_outputs_kernel(const State* state, u64* out) { get_outputs(*state, out); }"
    yield "__global__ void flip_kernel(State* state) { state->cur ^= 1; }"
    yield from kernels.definitions()
    by_level: dict[int, list[Move]] = defaultdict(list)
    for move in emitter.placement.moves:
        if move.source is not None or move.target.kind != "pin":
            by_level[0 if move.source is None else move.level].append(move)
    launches: list[str] = []
    for level in range(structure.highest_level + 1):
        for name, classes in structure.classes.items():
            slots = emitter.placement.slots[name]
            for number, found in enumerate(classes):
                here = [slot for slot, v in zip(slots, found.levels, strict=True) if v == level]
                launches += [kernels.launch(name, number, *run) for run in runs_of(here, slots)]
        if by_level[level]:
            yield from kernels.moves_kernel(f"moves{level}", by_level[level])
            launches.append(kernels.launch_moves(f"moves{level}", len(by_level[level])))
    yield "static void launch_cycle(cudaStream_t stream, State* state, const u64* in, u64* out) {"
    yield "  set_inputs_kernel<<<1, 1, 0, stream>>>(state, in);"
    yield from (f"  {line}" for line in launches)
    yield "  get_outputs_kernel<<<1, 1, 0, stream>>>(state, out);"
    for name, block in emitter.blocks.items():
        if block.registers or block.memories:
            state = len(emitter.phases[name]) - 1
            yield f"  {kernels.launch(name, state, 0, emitter.placement.extents[name])}"
    yield "  flip_kernel<<<1, 1, 0, stream>>>(state);"
    yield "}"


class Kernels:
    """Kernels of an emitter's functions and moves, and the text that launches them."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter

    def definitions(self) -> Iterator[str]:
        """The kernels of all functions."""
        yield f"enum {{ THREADS = {THREADS} }};"
        for name in self.emitter.blocks:
            for number in range(len(self.emitter.phases[name])):
                yield from self._kernel(name, number)

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

    def launch(self, name: str, number: int, low: int, high: int) -> str:
        """The launch of a block's function for a range of slots."""
        blocks = -(-(high - low) * self.emitter.stimuli // THREADS)
        kernel = f"g{self.emitter.numbers[name]}_{number}"
        return f"{kernel}<<<{blocks}, THREADS, 0, stream>>>(state, {low}, {high});"

    def moves_kernel(self, name: str, moves: Sequence[Move]) -> Iterator[str]:
        """A kernel of moves."""
        yield f"__global__ void {name}(State* state) {{"
        yield _BUFFERS
        yield "  const int lane = blockIdx.x * blockDim.x + threadIdx.x, lanes = gridDim.x * blockDim.x;"
        yield from self._moves(moves)
        yield "}"

    def launch_moves(self, name: str, moves: int) -> str:
        """The launch of a kernel of moves."""
        return f"{name}<<<{self.shape(moves)}, 0, stream>>>(state);"

    def shape(self, words: int) -> str:
        """Blocks and threads for a loop over words."""
        return f"{min(-(-max(1, words * self.emitter.stimuli) // THREADS), _MOST_BLOCKS)}, THREADS"

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
