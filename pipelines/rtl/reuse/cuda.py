"""CUDA of a placed design: jobs in stages, a thread per lane; cycles as a graph, launches or one kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipelines.rtl.reuse.body import Body
from pipelines.rtl.reuse.emission import Emitter
from pipelines.rtl.reuse.expressions import type_of
from pipelines.rtl.reuse.ir import LIMB, mask
from pipelines.rtl.reuse.layout import layout_text
from pipelines.rtl.reuse.placement import ArrayKey, Move, Placement
from pipelines.rtl.reuse.ranges import affine_runs, runs_of
from pipelines.rtl.reuse.structure import Structure, words_of

THREADS = 128
"""Threads of a block of a kernel."""
_MOST_BLOCKS = 64  # of a loop over words
_OUTPUTS_PER_JOB = 16
_FACTOR = 0x9E3779B97F4A7C15  # of digests, see runner.h
_BUFFERS = "  const int nxt = cur ^ 1; (void)nxt;"


class Launching(StrEnum):
    """How the kernels of a batch are launched: as one graph, one by one, or as one kernel with barriers."""

    GRAPH = "graph"
    STREAM = "stream"
    LOOP = "loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A statement that uses `lane`, below `lanes`. Attributes: lanes: that it needs."""

    text: str
    lanes: int

    @property
    def blocks(self) -> int:
        """Blocks with a thread per lane."""
        return -(-max(1, self.lanes) // THREADS)


def cuda_text(
    structure: Structure,
    placement: Placement,
    *,
    stimuli: int,
    batch: int,
    launching: Launching = Launching.GRAPH,
) -> str:
    """Return a translation unit for nvcc, without the runner that is included behind it.

    It has the functions for the processor too, which single steps use; runs go to the GPU.

    Args: batch: cycles of a graph. launching: `LOOP` needs compute capability 9.0.
    """
    emitter = Emitter(structure, placement, stimuli, is_counting=False)
    lines = [emitter.text() + layout_text(emitter.layout()), *_cycle_lines(emitter, batch, launching)]
    return "\n".join(lines) + "\n"


def _cycle_lines(emitter: Emitter, batch: int, launching: Launching) -> Iterator[str]:
    """Yield the device functions, a function per group of jobs, then what batch_cuda.h launches."""
    kernels = Kernels(emitter)
    yield "#define BATCHES"
    yield "#define ON_GPU"
    yield f"#define AS_{launching.upper()}"
    yield f"enum {{ BATCH = {batch} }};"
    yield from kernels.definitions()
    yield '#include "gpu_io.h"'
    groups = list(_groups(kernels))
    for number, jobs in enumerate(groups):
        yield f"__device__ static void group{number}("
        yield "    State& st, Io& io, const int cur, int b, int block, int thread) {"
        first = 0
        for job in jobs:
            yield f"  if (block < {first + job.blocks}) {{"
            yield f"    const int lane = (block - {first}) * THREADS + thread;"
            yield f"    const int lanes = {job.blocks} * THREADS; (void)lanes;"
            yield f"    {job.text}"
            yield "    return; }"
            first += job.blocks
        yield "}"
    blocks = [sum(job.blocks for job in jobs) for jobs in groups]
    yield f"enum {{ MOST_BLOCKS = {max(blocks)} }};"
    if launching is Launching.LOOP:
        yield "template <class Barrier> __device__ static void loop_cycle("
        yield "    State& st, Io& io, int cur, int b, int block, int blocks, int thread, Barrier wait) {"
        for number, count in enumerate(blocks):
            yield f"  for (int i = block; i < {count}; i += blocks) group{number}(st, io, cur, b, i, thread);"
            yield "  wait();"
        yield "}"
        return
    for number in range(len(groups)):
        yield f"__global__ void __launch_bounds__(THREADS) kernel{number}(State* state, Io* io, int b) {{"
        yield f"  group{number}(*state, *io, {'state->cur' if number else 0}, b, blockIdx.x, threadIdx.x); }}"
    yield "static void launch_cycle(cudaStream_t stream, State* state, Io* io, int b) {"
    for number, count in enumerate(blocks):
        yield f"  kernel{number}<<<{count}, THREADS, 0, stream>>>(state, io, b);"
    yield "}"


def _groups(kernels: Kernels) -> Iterator[Sequence[_Job]]:
    """Yield the jobs that run side by side, in order: the inputs, levels and their moves, then outputs and
    next states.

    With several stimuli every job is a kernel of its own, so that none takes the registers of another one.
    """
    for stage in _stages(kernels):
        if kernels.emitter.stimuli == 1:
            yield stage
        else:
            yield from ([job] for job in stage)


def _stages(kernels: Kernels) -> Iterator[Sequence[_Job]]:
    emitter, structure = kernels.emitter, kernels.emitter.structure
    moves = kernels.moves_by_level(emitter.placement.moves)
    early = _early_moves(emitter, moves)
    inputs = len(words_of(structure.design.inputs)) * emitter.stimuli
    yield [_Job(text="start_cycle(st, io, b, lane, lanes);", lanes=max(inputs, emitter.stimuli))]
    for level in range(structure.highest_level + 1):
        jobs: list[_Job] = []
        for name, classes in structure.classes.items():
            slots = emitter.placement.slots[name]
            for number, found in enumerate(classes):
                here = [slot for slot, v in zip(slots, found.levels, strict=True) if v == level]
                jobs += [kernels.job(name, number, *run) for run in runs_of(here, slots)]
        if early[level]:
            jobs.append(kernels.moves_job(early[level]))
        if jobs:
            yield jobs
        if moves[level]:
            yield [kernels.moves_job(moves[level])]
    states = [
        kernels.job(name, len(emitter.phases[name]) - 1, 0, emitter.placement.extents[name])
        for name, block in emitter.blocks.items()
        if block.registers or block.memories
    ]
    yield [*kernels.output_jobs(), *states]


def _early_moves(emitter: Emitter, moves: dict[int, list[Move]]) -> dict[int, list[Move]]:
    """Take moves whose words are read later out of their level, to run beside functions of a later level."""
    reads: dict[tuple[ArrayKey, int], int] = {}  # level of the first reader of a slot; level 0 reads nothing
    last = emitter.structure.highest_level + 1
    for name, classes in emitter.structure.classes.items():
        level = min((v for found in classes for v in found.levels if v), default=last)
        for pin, access in enumerate(emitter.placement.accesses[name]):
            key = access.array or ArrayKey("pin", name, pin)
            slots = emitter.placement.slots[name]
            for slot in [access.slot] if access.slot is not None else [s - access.distance for s in slots]:
                reads[key, slot] = min(reads.get((key, slot), level), level)
    early: dict[int, list[Move]] = defaultdict(list)
    for level, found in list(moves.items()):
        is_early = [reads.get((move.target, move.target_slot), 0) > level + 1 for move in found]
        early[level + 1] = [move for move, ready in zip(found, is_early, strict=True) if ready]
        moves[level] = [move for move, ready in zip(found, is_early, strict=True) if not ready]
    return early


class Kernels:
    """Device functions of an emitter's functions, jobs and launches of them, and moves."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter

    def definitions(self) -> Iterator[str]:
        """Yield a device function per function of the emitter, and one that sets a word of the inputs."""
        yield f"enum {{ THREADS = {THREADS} }};"
        for name in self.emitter.blocks:
            for number in range(len(self.emitter.phases[name])):
                yield from self._function(name, number)
        yield "__device__ static void set_input(State& st, int i, int s, u64 x) { switch (i) {"
        for i, (_, _, width) in enumerate(words_of(self.emitter.structure.design.inputs)):
            yield f"  case {i}: st.in{i}[s] = ({type_of(width)})(x & {mask(width):#x}ull); break;"
        yield "} }"

    def _function(self, name: str, number: int) -> Iterator[str]:
        """Yield function of a class or of the next state: what the loop of a processor has as its body."""
        emitter, phase = self.emitter, self.emitter.phases[name][number]
        is_state = number == len(emitter.phases[name]) - 1
        body = Body(emitter, name, emitter.blocks[name], phase, is_state=is_state)
        lines = body.lines()
        yield f"__device__ static void g{self._label(name, number)}(State& st, const int cur, const int k) {{"
        yield _BUFFERS
        if body.has_broadcast:
            yield f"  const int s = k % {emitter.stimuli};"
        yield from (f"  {line}" for line in (*body.pointers, *lines))
        yield "}"

    def _label(self, name: str, number: int) -> str:
        return f"{self.emitter.numbers[name]}_{number}"

    def wrappers(self) -> Iterator[str]:
        """Yield a kernel per device function, for a range of slots."""
        n = self.emitter.stimuli
        for name in self.emitter.blocks:
            for number in range(len(self.emitter.phases[name])):
                label = self._label(name, number)
                yield f"__global__ void k{label}(State* state, int lo, int hi) {{"
                yield f"  const int k = lo * {n} + blockIdx.x * blockDim.x + threadIdx.x;"
                yield f"  if (k < hi * {n}) g{label}(*state, state->cur, k); }}"

    def launch(self, name: str, number: int, low: int, high: int) -> str:
        """Return the launch of a wrapper."""
        blocks = self.job(name, number, low, high).blocks
        return f"k{self._label(name, number)}<<<{blocks}, THREADS, 0, stream>>>(state, {low}, {high});"

    def job(self, name: str, number: int, low: int, high: int) -> _Job:
        """Return a block's function for a range of slots."""
        n = self.emitter.stimuli
        call = f"g{self._label(name, number)}(st, cur, lane + {low * n});"
        return _Job(text=f"if (lane < {(high - low) * n}) {call}", lanes=(high - low) * n)

    def output_jobs(self) -> Iterator[_Job]:
        """Yield the outputs of a cycle and their sums; the first job also counts the cycle."""
        outputs, n = self.emitter.structure.outputs, self.emitter.stimuli
        for first in range(0, max(1, len(outputs)), _OUTPUTS_PER_JOB):
            part = range(first, min(first + _OUTPUTS_PER_JOB, len(outputs)))
            lines = [
                *([] if first else ["if (lane == 0) io.cycle++;"]),
                "for (int s = lane; s < STIMULI; s += lanes) {",
                *(f"  const u64 x{i} = {self.emitter.output_word(outputs[i])};" for i in part),
                f"  u64* const out = io.out + (size_t)b * {len(outputs) * n} + s; (void)out;",
                *(f"  out[{i * n}] = x{i};" for i in part),
                f"  add(io.sum[s], {' + '.join(f'x{i} * {_factor(i)}' for i in part) or '0'}); }}",
            ]
            yield _Job(text="\n    ".join(lines), lanes=n)

    # ---- moves -------------------------------------------------------------------------------------------

    def moves_by_level(self, moves: Iterable[Move]) -> dict[int, list[Move]]:
        """Return moves of every cycle, by the level after which they run; constants of pins are set once."""
        by_level: dict[int, list[Move]] = defaultdict(list)
        for move in moves:
            if move.source is not None or move.target.kind != "pin":
                by_level[0 if move.source is None else move.level].append(move)
        return by_level

    def moves_kernel(self, name: str, moves: Sequence[Move]) -> Iterator[str]:
        """Yield a kernel of moves."""
        yield f"__global__ void {name}(State* state) {{"
        yield "  State& st = *state; const int cur = st.cur; (void)cur;"
        yield "  const int lane = blockIdx.x * blockDim.x + threadIdx.x, lanes = gridDim.x * blockDim.x;"
        yield f"  {self.moves_text(moves)}"
        yield "}"

    def launch_moves(self, name: str, moves: int) -> str:
        """Return the launch of a kernel of moves."""
        return f"{name}<<<{self.shape(moves)}, 0, stream>>>(state);"

    def moves_job(self, moves: Sequence[Move]) -> _Job:
        """Return the moves as a job."""
        return _Job(text=self.moves_text(moves), lanes=self.words(len(moves)))

    def words(self, words: int) -> int:
        """Return the lanes for a loop over words of all stimuli."""
        return min(max(1, words * self.emitter.stimuli), _MOST_BLOCKS * THREADS)

    def shape(self, words: int) -> str:
        """Return the blocks and threads for a loop over words."""
        return f"{-(-self.words(words) // THREADS)}, THREADS"

    def moves_text(self, moves: Sequence[Move]) -> str:
        """Return the loops of `lane` over all moves."""
        return "\n  ".join(self._moves(moves))

    def _moves(self, moves: Sequence[Move]) -> Iterator[str]:
        n = self.emitter.stimuli
        groups: dict[tuple[ArrayKey, ArrayKey], list[tuple[int, int]]] = defaultdict(list)
        for move in moves:
            if move.source is None:
                to = f"({self.emitter.base(move.target)})[{move.target_slot * n} + s]"
                yield f"for (int s = lane; s < {n}; s += lanes) {to} = {move.source_slot:#x}ull;"
            else:
                groups[move.target, move.source].append((move.target_slot, move.source_slot))
        for (target, source), pairs in groups.items():
            to, of = self.emitter.base(target), self.emitter.base(source)
            for (a, b), (da, db), count in affine_runs(sorted(pairs)):
                yield f"for (int j = lane; j < {count * n}; j += lanes) {{"
                yield f"  const int i = j / {n}, s = j % {n};"
                yield f"  ({to})[({a} + i * ({da})) * {n} + s] = ({of})[({b} + i * ({db})) * {n} + s]; }}"


def _factor(output: int) -> str:
    return f"{_FACTOR * (2 * output + 1) & mask(LIMB):#x}ull"
