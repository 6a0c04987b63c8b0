"""C++ of parts: several cycles of each, what it fetches from others, and the whole state (batch.h)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pipelines.rtl.reuse.emission import Emitter, strided_copy
from pipelines.rtl.reuse.partition import Part, SubCycle
from pipelines.rtl.reuse.placement import ArrayKey, Move
from pipelines.rtl.reuse.ranges import affine_runs

_BUFFERS = "  const int cur = st.cur, nxt = cur ^ 1; (void)cur; (void)nxt;"


def batch_text(emitter: Emitter, parts: Sequence[Part]) -> str:
    """Return the functions `run_part`, `publish`, `fetch` and `gather` of batch.h."""
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
        needs = [self._needs(part.whole, part.registers) for part in self.parts]
        for number in range(len(self.parts)):
            own = _united(needed.owned_by(number) for needed in needs)
            yield f"static void publish{number}(State& st, State* shared) {{"
            yield _BUFFERS
            yield from self._copies(own, to="shared[{}].", of="st.")
            yield "}"
            yield f"static void fetch{number}(State& st, const State* parts) {{"
            yield _BUFFERS
            yield from self._copies(needs[number], to="st.", of="parts[{}].")
            yield "}"
        yield from self._dispatch("publish", "State& st, State* shared", "publish", "st, shared")
        yield from self._dispatch("fetch", "State& st, const State* parts", "fetch", "st, parts")
        yield "static void gather(State& st, const State* parts) {"
        yield "  const int cur = st.cur = parts[0].cur; (void)cur;"
        everything = self._needs(range(len(self.emitter.structure.instances)), ())
        yield from self._copies(everything, to="st.", of="parts[{}].")
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

    def _needs(self, whole: Iterable[int], registers: Iterable[tuple[int, int]]) -> _Needs:
        """Return what is needed of others, by their owners: whole instances, and registers by their nodes."""
        structure, blocks = self.emitter.structure, self.emitter.blocks
        needs = _Needs()
        for instance in whole:
            block, owner = structure.instances[instance].block, self.owners[instance]
            for number in range(len(blocks[block].registers)):
                needs.registers[owner, block, number].add(self.slot_of[instance])
            if blocks[block].memories:
                needs.memories[owner, block].add(self.slot_of[instance])
        for instance, node in registers:
            block = structure.instances[instance].block
            number = blocks[block].nodes[node].value
            needs.registers[self.owners[instance], block, number].add(self.slot_of[instance])
        return needs

    def _copies(self, needs: _Needs, *, to: str, of: str) -> Iterator[str]:
        """Yield the copies between two states, whose names have a place for the number of the owner."""
        n = self.emitter.stimuli
        for (owner, block, number), slots in sorted(needs.registers.items()):
            base = self.emitter.base(ArrayKey("register", block, number))
            target = base.replace("st.", to.format(owner), 1)
            source = base.replace("st.", of.format(owner), 1)
            for (first, _), (step, _), count in affine_runs([(s, s) for s in sorted(slots)]):
                if step == 1:
                    at = first * n
                    yield f"  memcpy({target} + {at}, {source} + {at}, {count * n} * sizeof(*({target})));"
                else:
                    yield from strided_copy((target, first, step), (source, first, step), count, n)
        for (owner, block), slots in sorted(needs.memories.items()):
            for number, memory in enumerate(self.emitter.blocks[block].memories):
                name = self.emitter.memories[block, number]
                target, source = to.format(owner) + name, of.format(owner) + name
                for slot in sorted(slots):
                    at, count = slot * n * memory.size, n * memory.size
                    yield f"  memcpy({target} + {at}, {source} + {at}, {count} * sizeof(*{target}));"


@dataclass(frozen=True, slots=True)
class _Needs:
    """Slots of registers, by owner, block and number, and of memories, by owner and block."""

    registers: dict[tuple[int, str, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    memories: dict[tuple[int, str], set[int]] = field(default_factory=lambda: defaultdict(set))

    def owned_by(self, owner: int) -> _Needs:
        """Return what one part owns of it."""
        return _Needs(
            {key: slots for key, slots in self.registers.items() if key[0] == owner},
            {key: slots for key, slots in self.memories.items() if key[0] == owner},
        )


def _united(all_needs: Iterable[_Needs]) -> _Needs:
    united = _Needs()
    for needs in all_needs:
        for key, slots in needs.registers.items():
            united.registers[key].update(slots)
        for key, slots in needs.memories.items():
            united.memories[key].update(slots)
    return united
