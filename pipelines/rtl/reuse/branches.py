"""What a function of one lane computes only where a condition asks for it: multiplexers become branches.

A node that only one side of a multiplexer needs is computed in a branch, with all others of its condition.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.rtl.reuse.ir import Node

LEAST = 3
"""Operations that a branch spares at least; a condition that is foretold wrongly costs some 15 cycles."""
ROOT = 0


@dataclass(slots=True, kw_only=True)
class Branch:
    """Multiplexers of one condition, with what only one of their sides needs.

    Attributes: muxes: their nodes. yes, no: items of the sides, in order of dependence.
    """

    condition: int
    muxes: Sequence[int]
    yes: list[Item] = field(default_factory=list["Item"])
    no: list[Item] = field(default_factory=list["Item"])


Item = int | Branch
"""A node, or a branch."""


def plan(
    nodes: Sequence[Node], computed: Sequence[int], loaded: Container[int], roots: Sequence[int]
) -> list[Item]:
    """Return the nodes of a function as items in order of dependence, cone by cone of its roots.

    Args: computed: numbers of the nodes in order of dependence, without constants. loaded: those of them
          that are read and not computed. roots: nodes that are used, in order.
    """
    known = set(computed)
    roots = [n for n in roots if n in known]
    args = {n: [] if n in loaded else [a for a in nodes[n].args if a in known] for n in computed}
    needed = set(roots)
    for n in reversed(computed):
        needed.update(args[n] if n in needed else ())
    computed = [n for n in computed if n in needed]
    muxes = {n: nodes[n].args for n in computed if nodes[n].op == "mux" and n not in loaded}
    alone = _Regions(muxes, [(n,) for n in computed], args, roots)
    turns = _turns(computed, args, _worth(muxes, alone))
    regions = _Regions(muxes, turns, args, roots)
    return regions.items(roots)


def nodes_of(item: Item) -> Iterator[int]:
    """Yield the nodes of an item, those of branches included."""
    if isinstance(item, int):
        yield item
        return
    for inner in (*item.yes, *item.no):
        yield from nodes_of(inner)
    yield from item.muxes


_Key = tuple[int, int]


def _worth(muxes: Mapping[int, Sequence[int]], alone: _Regions) -> dict[int, _Key]:
    """Return the region and condition of multiplexers, of which all together spare enough."""
    spared: dict[_Key, int] = defaultdict(int)
    keys: dict[int, _Key] = {}
    for n, (condition, _, _) in muxes.items():
        keys[n] = (alone.region[n], condition)
        spared[keys[n]] += alone.spared(n)
    return {n: key for n, key in keys.items() if spared[key] >= LEAST}


def _turns(
    computed: Sequence[int], args: Mapping[int, Sequence[int]], keys: Mapping[int, _Key]
) -> list[tuple[int, ...]]:
    """Return nodes in an order of dependence, multiplexers of one key together where nothing prevents it."""
    users: dict[int, list[int]] = defaultdict(list)
    missing = {n: len(args[n]) for n in computed}
    left: dict[_Key, int] = defaultdict(int)
    for n in computed:
        for a in args[n]:
            users[a].append(n)
        if n in keys:
            left[keys[n]] += 1
    plain: deque[int] = deque()
    ready: dict[_Key, list[int]] = defaultdict(list)

    def release(n: int) -> None:
        if n in keys:
            ready[keys[n]].append(n)
        else:
            plain.append(n)

    turns: list[tuple[int, ...]] = []

    def take(group: tuple[int, ...]) -> None:
        turns.append(group)
        for n in group:
            for user in users[n]:
                missing[user] -= 1
                if not missing[user]:
                    release(user)

    for n in computed:
        if not missing[n]:
            release(n)
    while plain or ready:
        if plain:
            take((plain.popleft(),))
            continue
        key = max(ready, key=lambda k: (len(ready[k]) / left[k], len(ready[k])))
        group = tuple(ready.pop(key))
        left[key] -= len(group)
        take(group)
    return turns


class _Regions:
    """The region of every node: the innermost side of a branch that all its uses lie in.

    Turns are nodes, or multiplexers of one condition that share their branch.
    """

    def __init__(
        self,
        muxes: Mapping[int, Sequence[int]],
        turns: Sequence[tuple[int, ...]],
        args: Mapping[int, Sequence[int]],
        roots: Iterable[int],
    ) -> None:
        self.muxes, self.turns, self.args = muxes, turns, args
        self.parent, self.depth, self.weight = [ROOT], [0], [0]
        self.owner: list[int] = [-1]
        self.region: dict[int, int] = dict.fromkeys(roots, ROOT)
        self.sides: dict[int, tuple[int, int]] = {}
        self.turn_of = {n: t for t, group in enumerate(turns) for n in group}
        for t in range(len(turns) - 1, -1, -1):
            self._place(t)
        for region in range(len(self.parent) - 1, 0, -1):
            self.weight[self.parent[region]] += self.weight[region]

    def _place(self, turn: int) -> None:
        group = self.turns[turn]
        own = self.region[group[0]]
        for n in group[1:]:
            own = self._common(own, self.region[n])
        for n in group:
            self.region[n] = own
        self.weight[own] += len(group)
        if group[0] not in self.muxes:
            for n in group:
                for a in self.args[n]:
                    self._use(a, own)
            return
        yes, no = self.sides[turn] = self._new(own, turn), self._new(own, turn)
        for n in group:
            condition, on_yes, on_no = self.muxes[n]
            for a, region in ((condition, own), (on_yes, yes), (on_no, no)):
                if a in self.args[n]:
                    self._use(a, region)

    def _new(self, parent: int, turn: int) -> int:
        self.parent.append(parent)
        self.depth.append(self.depth[parent] + 1)
        self.weight.append(0)
        self.owner.append(turn)
        return len(self.parent) - 1

    def _use(self, node: int, region: int) -> None:
        known = self.region.get(node)
        self.region[node] = region if known is None else self._common(known, region)

    def _common(self, a: int, b: int) -> int:
        while a != b:
            if self.depth[a] >= self.depth[b]:
                a = self.parent[a]
            else:
                b = self.parent[b]
        return a

    def spared(self, mux: int) -> int:
        """Return the operations that a branch of a turn spares in its sides: nodes and choices."""
        turn = self.turn_of[mux]
        return sum(self.weight[side] for side in self.sides[turn]) + len(self.turns[turn])

    # ---- items -----------------------------------------------------------------------------------------

    def items(self, roots: Sequence[int]) -> list[Item]:
        """Return the items of the root region; branches that spare too little are dissolved."""
        self._dissolve()
        self._connect()
        return self._ordered(ROOT, roots)

    def _dissolve(self) -> None:
        """Give the nodes of dissolved branches to the region around them."""
        self.stays = {t for t in self.sides if self.spared(self.turns[t][0]) >= LEAST}
        home = [ROOT] * len(self.parent)
        for region in range(1, len(self.parent)):
            around = home[self.parent[region]]
            home[region] = region if self.owner[region] in self.stays else around
        self.region = {n: home[region] for n, region in self.region.items()}
        self.parent = [home[parent] for parent in self.parent]

    def _item(self, node: int) -> int:
        """Return the number of the item of a node: its own, or the one below all nodes of its branch."""
        turn = self.turn_of[node]
        return -1 - turn if turn in self.stays else node

    def _connect(self) -> None:
        """Find what each item needs of its region."""
        self.needs: dict[int, dict[int, None]] = defaultdict(dict)
        for t, group in enumerate(self.turns):
            for n in group:
                own = self.region[n]
                if t not in self.stays:
                    for a in self.args[n]:
                        self._need(a, own, n)
                    continue
                yes, no = self.sides[t]
                condition, on_yes, on_no = self.muxes[n]
                self._need(condition, own, -1 - t)
                for a, region in ((on_yes, yes), (on_no, no)):
                    if a in self.args[n]:
                        self._need(a, region, None)

    def _need(self, node: int, region: int, item: int | None) -> None:
        """Note that an item of a region reads a node; None: the end of the region."""
        home = self.region[node]
        while region != home:
            item = -1 - self.owner[region]
            region = self.parent[region]
        if item is not None:
            self.needs[item][self._item(node)] = None

    def _ordered(self, region: int, roots: Iterable[int]) -> list[Item]:
        order: list[Item] = []
        done: set[int] = set()
        for root in roots:
            if root not in self.region or self.region[root] != region:
                continue
            stack = [(self._item(root), False)]
            while stack:
                item, has_needs = stack.pop()
                if item in done:
                    continue
                if has_needs:
                    done.add(item)
                    order.append(item if item >= 0 else self._branch(-1 - item))
                    continue
                stack.append((item, True))
                stack += [(need, False) for need in reversed(self.needs[item])]
        return order

    def _branch(self, turn: int) -> Branch:
        group = self.turns[turn]
        yes, no = self.sides[turn]
        return Branch(
            condition=self.muxes[group[0]][0],
            muxes=group,
            yes=self._ordered(yes, (self.muxes[n][1] for n in group)),
            no=self._ordered(no, (self.muxes[n][2] for n in group)),
        )
