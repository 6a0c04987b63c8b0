"""C++ of parts: several cycles of each, what it fetches from others, and the whole state (batch.h)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pipelines.rtl.reuse.emission import Emitter, strided_copy
from pipelines.rtl.reuse.partition import Part, SubCycle
from pipelines.rtl.reuse.placement import ArrayKey, Move
from pipelines.rtl.reuse.ranges import affine_runs

_BUFFERS = "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"


def batch_text(emitter: Emitter, parts: Sequence[Part]) -> str:
    """Return the functions `run_part`, `fetch` and `gather` of batch.h."""
    return "\n".join(_Batches(emitter, parts).lines()) + "\n"


class _Batches:
    def __init__(self, emitter: Emitter, parts: Sequence[Part]) -> None:
        self.emitter, self.parts = emitter, parts
        self.owners = {i: number for number, part in enumerate(parts) for i in part.own}
        structure, placement = emitter.structure, emitter.placement
        self.slot_of = {
            instance: placement.slots[block][lane]
            for block, lanes in structure.lanes.items()
            for lane, instance in enumerate(lanes)
        }
        self.instance_at = {
            (structure.instances[instance].block, slot): instance for instance, slot in self.slot_of.items()
        }

    def lines(self) -> Iterator[str]:
        yield "#define BATCHES"
        yield f"enum {{ PARTS = {len(self.parts)}, BATCH = {len(self.parts[0].cycles)} }};"
        for number, part in enumerate(self.parts):
            yield f"static void part{number}(State& st, const u64* in, u64* out) {{"
            for cycle in part.cycles:
                yield from self._cycle(part, cycle)
            yield "}"
        yield from self._dispatch("run_part", "State& st, const u64* in, u64* out", "part", "st, in, out")
        for number, part in enumerate(self.parts):
            yield f"static void fetch{number}(State& st, const State* parts) {{"
            yield _BUFFERS
            yield from self._fetch(part.whole, part.registers)
            yield "}"
        yield from self._dispatch("fetch", "State& st, const State* parts", "fetch", "st, parts")
        yield "static void gather(State& st, const State* parts) {"
        yield "  const int cur = st.cur = parts[0].cur; (void)cur;"
        yield from self._fetch(range(len(self.emitter.structure.instances)), ())
        yield "}"

    def _dispatch(self, name: str, parameters: str, function: str, arguments: str) -> Iterator[str]:
        yield f"static void {name}(int part, {parameters}) {{ switch (part) {{"
        for number in range(len(self.parts)):
            yield f"  case {number}: {function}{number}({arguments}); break;"
        yield "} }"

    def _cycle(self, part: Part, cycle: SubCycle) -> Iterator[str]:
        emitter = self.emitter
        yield "  { set_inputs(st, in);"
        yield _BUFFERS
        yield from emitter.combinational_lines(
            lambda move: self._is_moved(move, cycle), lambda i, number: (i, number) in cycle.classes
        )
        yield from (emitter.output_line(i, emitter.structure.outputs[i]) for i in part.outputs)
        for name in emitter.blocks:
            yield from emitter.state_lines(name, cycle.states)
        yield "  st.cur ^= 1; in += INPUTS * STIMULI; out += OUTPUTS * STIMULI; }"

    def _is_moved(self, move: Move, cycle: SubCycle) -> bool:
        if move.source is None or move.source.kind != "node":
            return True
        return self.instance_at[move.source.block, move.source_slot] in cycle.valid

    def _fetch(self, whole: Iterable[int], registers: Iterable[tuple[int, int]]) -> Iterator[str]:
        """Yield the copies of registers and memories from the parts that own them."""
        structure, blocks = self.emitter.structure, self.emitter.blocks
        kept: dict[tuple[int, str, int], list[int]] = defaultdict(list)
        memories: dict[tuple[int, str], list[int]] = defaultdict(list)
        for instance in whole:
            block, owner = structure.instances[instance].block, self.owners[instance]
            for number in range(len(blocks[block].registers)):
                kept[owner, block, number].append(self.slot_of[instance])
            if blocks[block].memories:
                memories[owner, block].append(self.slot_of[instance])
        for instance, node in registers:
            block = structure.instances[instance].block
            number = blocks[block].nodes[node].value
            kept[self.owners[instance], block, number].append(self.slot_of[instance])
        yield from self._register_lines(kept)
        yield from self._memory_lines(memories)

    def _register_lines(self, kept: Mapping[tuple[int, str, int], Sequence[int]]) -> Iterator[str]:
        n = self.emitter.stimuli
        for (owner, block, number), slots in sorted(kept.items()):
            base = self.emitter.base(ArrayKey("register", block, number))
            source = base.replace("st.", f"parts[{owner}].", 1)
            for (first, _), (step, _), count in affine_runs([(s, s) for s in sorted(slots)]):
                if step == 1:
                    at = first * n
                    yield f"  memcpy({base} + {at}, {source} + {at}, {count * n} * sizeof(*({base})));"
                else:
                    yield from strided_copy((base, first, step), (source, first, step), count, n)

    def _memory_lines(self, memories: Mapping[tuple[int, str], Sequence[int]]) -> Iterator[str]:
        n = self.emitter.stimuli
        for (owner, block), slots in sorted(memories.items()):
            for number, memory in enumerate(self.emitter.blocks[block].memories):
                name = self.emitter.memories[block, number]
                for slot in sorted(slots):
                    at, count = slot * n * memory.size, n * memory.size
                    target = f"st.{name} + {at}, parts[{owner}].{name} + {at}"
                    yield f"  memcpy({target}, {count} * sizeof(*st.{name}));"
