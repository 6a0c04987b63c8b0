"""Branches of a function of one lane, in which values are computed that only one side of a choice needs.

All choices by one condition share a branch, where nothing between them prevents it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipelines.rtl.reuse.ir import Node

LEAST, LEAST_OF_LOGIC = 3, 8
"""Operations that a branch spares at least, and one of conjunctions alone, which are cheaper than choices."""
DEEPEST = 64
"""Branches in each other; clang accepts 256 nested brackets."""
ROOT = 0
ZERO = -1
"""The value of a conjunction whose condition is 0, in the place of a node."""
_Choice = tuple[int, int, int]
"""Condition, value if it is 1, value if it is 0."""


@dataclass(slots=True, kw_only=True)
class Branch:
    """Choices by one condition, with what only one of their sides needs.

    Attributes:
        choices: value if the condition is 1, and if it is 0, by node.
        yes, no: items of the sides, in order of dependence.
    """

    condition: int
    choices: Mapping[int, tuple[int, int]]
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
    choices = _choices(nodes, [n for n in computed if n not in loaded], args)
    alone = _Regions(choices, [(n,) for n in computed], args, roots, is_shared=True)
    turns = _turns(computed, args, _worth(choices, alone))
    return _Regions(choices, turns, args, roots).items(roots)


def _choices(
    nodes: Sequence[Node], computed: Sequence[int], args: Mapping[int, Sequence[int]]
) -> dict[int, _Choice]:
    """Return what may become branches: multiplexers, and conjunctions of a bit and one without other use."""
    uses = Counter(a for n in computed for a in args[n])
    choices: dict[int, _Choice] = {}
    for n in computed:
        node = nodes[n]
        if node.op == "mux" and node.args[0] in args[n]:
            condition, yes, no = node.args
            choices[n] = (condition, yes, no)
        elif node.op == "and" and node.width == 1 and len(args[n]) == len(node.args):
            condition, own = sorted(node.args, key=lambda a: (-uses[a], a))
            if uses[own] == 1:
                choices[n] = (condition, own, ZERO)
    return choices


def nodes_of(item: Item) -> Iterator[int]:
    """Yield the nodes of an item, those of branches included."""
    if isinstance(item, int):
        yield item
        return
    for inner in (*item.yes, *item.no):
        yield from nodes_of(inner)
    yield from item.choices


_Key = tuple[int, int]


def _worth(choices: Mapping[int, _Choice], alone: _Regions) -> dict[int, _Key]:
    """Return the region and condition of choices, of which all together spare enough."""
    members: dict[_Key, list[int]] = defaultdict(list)
    for n, (condition, _, _) in choices.items():
        members[alone.region[n], condition].append(n)
    return {n: key for key, group in members.items() if alone.is_worth(group) for n in group}


def _turns(
    computed: Sequence[int], args: Mapping[int, Sequence[int]], keys: Mapping[int, _Key]
) -> list[tuple[int, ...]]:
    """Return nodes in an order of dependence, choices of one key together where nothing prevents it."""
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

    Turns are nodes, or choices by one condition that share their branch.
    """

    def __init__(
        self,
        choices: Mapping[int, _Choice],
        turns: Sequence[tuple[int, ...]],
        args: Mapping[int, Sequence[int]],
        roots: Iterable[int],
        *,
        is_shared: bool = False,
    ) -> None:
        self.choices, self.turns, self.args = choices, turns, args
        self.parent, self.depth, self.weight = [ROOT], [0], [0]
        self.owner: list[int] = [-1]
        self.known: dict[tuple[int, int], tuple[int, int]] | None = {} if is_shared else None
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
        if group[0] not in self.choices:
            for n in group:
                for a in self.args[n]:
                    self._use(a, own)
            return
        yes, no = self.sides[turn] = self._sides(own, turn)
        for n in group:
            condition, on_yes, on_no = self.choices[n]
            for a, region in ((condition, own), (on_yes, yes), (on_no, no)):
                if a in self.args[n]:
                    self._use(a, region)

    def _sides(self, own: int, turn: int) -> tuple[int, int]:
        """Return the regions of a turn's sides: its own, or those of a condition in its region."""
        key = (own, self.choices[self.turns[turn][0]][0])
        if self.known is None or key not in self.known:
            sides = self._new(own, turn), self._new(own, turn)
            if self.known is None:
                return sides
            self.known[key] = sides
        return self.known[key]

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

    def is_worth(self, group: Sequence[int]) -> bool:
        """Tell whether a branch for choices of one condition spares enough nodes and choices."""
        sides = self.sides[self.turn_of[group[0]]]
        spared = sum(self.weight[side] for side in sides) + len(group)
        is_logic = all(self.choices[n][2] == ZERO for n in group)
        return spared >= (LEAST_OF_LOGIC if is_logic else LEAST) and self.depth[sides[0]] <= DEEPEST

    # ---- items -----------------------------------------------------------------------------------------

    def items(self, roots: Sequence[int]) -> list[Item]:
        """Return the items of the root region; branches that spare too little are dissolved."""
        self._dissolve()
        self._connect()
        return self._ordered(ROOT, roots)

    def _dissolve(self) -> None:
        """Give the nodes of dissolved branches to the region around them."""
        self.stays = {turn for turn in self.sides if self.is_worth(self.turns[turn])}
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
                condition, on_yes, on_no = self.choices[n]
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
            condition=self.choices[group[0]][0],
            choices={n: self.choices[n][1:] for n in group},
            yes=self._ordered(yes, (self.choices[n][1] for n in group)),
            no=self._ordered(no, (self.choices[n][2] for n in group)),
        )
