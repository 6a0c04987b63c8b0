"""Memory dependences inside a block and between iterations of a loop block.

Subscripts are in bounds (anything else is undefined in C), so dimensions are compared one by one. Arithmetic
decides accesses whose subscripts differ by constants. Integer sets decide what this leaves open: nests,
predicates, subscripts that differ in more than a constant. Ranges decide subscripts that are not affine;
otherwise the accesses are assumed to meet in the next iteration. Arrays never overlap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

from pipelines.c.cdfg import MEMORY_OPCODES, Block, Operation
from pipelines.hls.polyhedra import question, smallest
from pipelines.hls.subscripts import BlockForms, wrapped

QUESTION_LIMIT = 100_000
"""Characters of isl questions per block; beyond them the conservative answers are used. A simple question has
300 characters and takes half a millisecond."""


PREDICATED_PAIRS = 10_000
"""Pairs of accesses per array up to which predicates are considered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """`target` of iteration n + distance must not overtake `source` of iteration n."""

    source: int
    target: int
    distance: int


_Question = tuple[object, ...]

Shape = tuple[tuple[tuple[int, int], ...], ...]
"""The terms of each subscript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """A load or store as dependences see it.

    Attributes:
        shape, constants: terms and constant of each subscript, modulo 2^32.
        strides: change of each subscript from one iteration to the next, None when it is no constant.
        regular: arithmetic on constants decides between it and others of its shape.
    """

    operation: Operation
    shape: Shape
    constants: tuple[int, ...]
    strides: tuple[int | None, ...]
    regular: bool

    @property
    def stores(self) -> bool:
        return self.operation.opcode == "store"


def _access(operation: Operation, forms: BlockForms) -> _Access:
    affine = [forms.form(i) for i in operation.subscripts]
    strides = tuple(None if (s := forms.stride(f)) is None else wrapped(s) for f in affine)
    reduced = (((leaf, wrapped(c)) for leaf, c in f.terms) for f in affine)
    return _Access(
        operation=operation,
        shape=tuple(tuple((leaf, c) for leaf, c in terms if c) for terms in reduced),
        constants=tuple(wrapped(f.constant) for f in affine),
        strides=strides,
        regular=operation.predicate is None and None not in strides,
    )


def _meets(first: tuple[int, ...], second: tuple[int, ...], strides: Sequence[int]) -> int | None:
    """Return the iterations after which `second` touches what `first` did; -1 for always, None for never."""
    common = -1
    for left, right, stride in zip(first, second, strides, strict=True):
        difference = wrapped(left - right)
        if stride == 0:
            if difference:
                return None
            continue
        if difference % stride:
            return None
        distance = difference // stride
        if distance < 0 or common not in (-1, distance):
            return None
        common = distance
    return common


@dataclass(slots=True)
class AccessPairs:
    """Answers for pairs of accesses of one block, each computed once."""

    block: Block
    forms: BlockForms = field(init=False)
    accesses: dict[int, _Access] = field(init=False)
    answers: dict[tuple[object, ...], int | None] = field(
        default_factory=dict[tuple[object, ...], int | None]
    )
    asked_characters: int = 0

    def __post_init__(self) -> None:
        self.forms = BlockForms(block=self.block)
        accesses = (o for o in self.block.operations if o.opcode in MEMORY_OPCODES)
        self.accesses = {o.index: _access(o, self.forms) for o in accesses}

    @property
    def repeats(self) -> bool:
        """The block branches to itself."""
        return self.block.index in self.block.successors

    def same_iteration(self, first: int, second: int) -> bool:
        """Tell whether two accesses of one array may touch one element in the same iteration."""
        return self.meet_at_once(self.accesses[first], self.accesses[second])

    def distance(self, first: int, second: int) -> int | None:
        """Return smallest number of iterations, 1 or more, after which `second` may touch what `first` did.

        Returns: None when it never does.
        """
        return self.meet_later(self.accesses[first], self.accesses[second])

    def meet_at_once(self, first: _Access, second: _Access) -> bool:
        """Return `same_iteration` of accesses."""
        return self._answer(first, second, later=False) is not None

    def meet_later(self, first: _Access, second: _Access) -> int | None:
        """Return `distance` of accesses."""
        trips = self.block.trip_count
        if not self.repeats or (trips is not None and trips < 2):
            return None
        distance = self._answer(first, second, later=True)
        return None if distance is not None and trips is not None and distance >= trips else distance

    def _answer(self, first: _Access, second: _Access, *, later: bool) -> int | None:
        """Return smallest distance: 0 for the same iteration, from 1 on for a later one; None for never."""
        predicates = first.operation.predicate, second.operation.predicate
        change = tuple(b - a for a, b in zip(first.constants, second.constants, strict=True))
        key = (first.shape, second.shape, change, predicates, later)
        if first.shape != second.shape:
            key = (*key, first.constants)  # ranges of the subscripts count too
        if key not in self.answers:
            self.answers[key] = self._decide(first, second, later=later)
        return self.answers[key]

    def _decide(self, first: _Access, second: _Access, *, later: bool) -> int | None:
        least = self._quick(first, second, later=later)
        if least is None or not self._worth_asking(first, second, later=later):
            return least
        if self.asked_characters >= QUESTION_LIMIT:
            return least
        text = question(self.forms, first.operation, second.operation, later=later)
        self.asked_characters += len(text)
        exact = smallest(text)
        return None if exact is None else max(least, exact)

    def _quick(self, first: _Access, second: _Access, *, later: bool) -> int | None:
        """Return a lower bound of the distance, by arithmetic on each subscript."""
        least = 1 if later else 0
        exact: set[int] = set()
        for position in range(len(first.shape)):
            verdict = self._subscript(first, second, position, later=later)
            if verdict is None:
                return None
            exact.update((verdict,) if verdict > 0 else ())
        return None if len(exact) > 1 else max([least, *exact])

    def _subscript(self, first: _Access, second: _Access, position: int, *, later: bool) -> int | None:
        """Return the distance at which one subscript is equal; 0 when unknown, None when it never is."""
        indices = first.operation.subscripts[position], second.operation.subscripts[position]
        stride = first.strides[position]
        if first.shape[position] == second.shape[position]:
            if not later:
                return 0 if first.constants[position] == second.constants[position] else None
            if stride is not None:
                constants = first.constants[position], second.constants[position]
                distance = _meets((constants[0],), (constants[1],), (stride,))
                return None if distance in (0, None) else max(distance or 0, 0)
        low, high = zip(*(self.forms.bounds(i) for i in indices), strict=True)
        if max(low) > min(high):
            return None
        return 0 if self._divisible(indices, later=later) else None

    def _divisible(self, indices: tuple[int, int], *, later: bool) -> bool:
        """Tell whether the greatest common divisor lets two affine subscripts be equal."""
        forms = self.forms.form(indices[0]), self.forms.form(indices[1])
        if not (forms[0].exact and forms[1].exact):
            return True
        difference = forms[1].plus(forms[0], -1)
        factors = [c for _, c in (forms[0].terms + forms[1].terms if later else difference.terms)]
        divisor = gcd(*factors)
        return difference.constant % divisor == 0 if divisor else difference.constant == 0

    def _worth_asking(self, first: _Access, second: _Access, *, later: bool) -> bool:
        """Tell whether integer sets may give a better answer than arithmetic on each subscript."""
        if first.operation.predicate is not None or second.operation.predicate is not None:
            return True
        if later and self.block.nest:
            return True
        if first.shape == second.shape:
            return later and None in first.strides and not self._unbound(first, second)
        return not self._unbound(first, second)

    def _unbound(self, first: _Access, second: _Access) -> bool:
        """Tell whether every differing subscript contains a value that may be anything."""
        return all(
            left == right
            or any(
                leaf not in self.forms.strides and leaf not in self.forms.levels for leaf, _ in left + right
            )
            for left, right in zip(first.shape, second.shape, strict=True)
        )


# ---- every pair that counts -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """Accesses that meet one another within an iteration, in program order.

    Implied orderings are left out: earlier accesses order only `head` (up to the first store), and only
    `tail` (from the last store) orders later ones.
    """

    members: tuple[_Access, ...]

    @property
    def head(self) -> tuple[_Access, ...]:
        stores = [k for k, m in enumerate(self.members) if m.stores]
        return self.members[: stores[0] + 1] if stores else self.members

    @property
    def tail(self) -> tuple[_Access, ...]:
        stores = [k for k, m in enumerate(self.members) if m.stores]
        return self.members[stores[-1] :] if stores else self.members

    @property
    def stores(self) -> bool:
        return any(m.stores for m in self.members)

    def inside(self) -> Iterator[Dependence]:
        since: list[_Access] = []
        for member in self.members:
            for earlier in since:
                if earlier.stores or member.stores:
                    yield _dependence(earlier, member, 0)
            since = [member] if member.stores else [*since, member]

    def before(self, later: _Run, distance: int) -> Iterator[Dependence]:
        """Yield the orderings with a run of a later iteration."""
        for source in self.tail:
            for target in later.head:
                if source.stores or target.stores:
                    yield _dependence(source, target, distance)


def _dependence(source: _Access, target: _Access, distance: int) -> Dependence:
    return Dependence(source=source.operation.index, target=target.operation.index, distance=distance)


def _line(access: _Access) -> tuple[tuple[int, ...], int]:
    """Return elements that a regular access visits, and its position: larger is earlier by one iteration."""
    for constant, stride in zip(access.constants, access.strides, strict=True):
        if stride:
            position = constant // stride
            moved = zip(access.constants, access.strides, strict=True)
            return tuple(wrapped(c - position * (s or 0)) for c, s in moved), position
    return access.constants, 0


def _regular_dependences(members: Sequence[_Access], pairs: AccessPairs) -> Iterator[Dependence]:
    """Yield the orderings among accesses whose subscripts differ by constants and change by constants."""
    lines: dict[tuple[int, ...], dict[int, list[_Access]]] = defaultdict(lambda: defaultdict(list))
    for member in members:
        line, position = _line(member)
        lines[line][position].append(member)
    moves = any(members[0].strides)
    trips = pairs.block.trip_count
    for positions in lines.values():
        ordered = [(p, _Run(tuple(positions[p]))) for p in sorted(positions, reverse=True)]
        for number, (position, run) in enumerate(ordered):
            yield from run.inside()
            if not pairs.repeats:
                continue
            if not moves and (trips is None or trips > 1):
                yield from run.before(run, 1)
            for other, later in ordered[number + 1 :]:
                if trips is not None and position - other >= trips:
                    break
                yield from run.before(later, position - other)
                if later.stores:
                    break


def _pair_dependences(
    first: Iterable[_Access], second: Iterable[_Access], pairs: AccessPairs
) -> Iterator[Dependence]:
    """Yield the orderings of every access of one group with every one of another (or the same) group."""
    others = list(second)
    for one in first:
        for other in others:
            if not (one.stores or other.stores):
                continue
            earlier, later = sorted((one, other), key=lambda a: a.operation.index)
            if one is not other and pairs.meet_at_once(earlier, later):
                yield _dependence(earlier, later, 0)
            for source, target in ((one, other), (other, one)) if one is not other else ((one, one),):
                distance = pairs.meet_later(source, target)
                if distance is not None:
                    yield _dependence(source, target, distance)


def _simplified(accesses: Sequence[_Access]) -> Sequence[_Access]:
    """Return the accesses of one array; predicates are dropped when there are very many."""
    if len(accesses) * sum(a.stores for a in accesses) <= PREDICATED_PAIRS:
        return accesses
    return [
        replace(a, operation=replace(a.operation, predicate=None), regular=None not in a.strides)
        for a in accesses
    ]


def memory_dependences(block: Block) -> tuple[Dependence, ...]:
    """Return every ordering that memory imposes on a block's loads and stores.

    Returns: pairs within an iteration (distance 0, in program order), and for a block that branches to
             itself, pairs between iterations with the smallest distance at which they may meet. Orderings
             that follow from others are left out.
    """
    stored = {o.name for o in block.operations if o.opcode == "store"}
    if not any(o.opcode in MEMORY_OPCODES and o.name in stored for o in block.operations):
        return ()
    pairs = AccessPairs(block=block)
    arrays: dict[str, list[_Access]] = defaultdict(list)
    for access in pairs.accesses.values():
        if access.operation.name in stored:
            arrays[access.operation.name].append(access)
    dependences: dict[Dependence, None] = {}
    for accesses in arrays.values():
        groups: dict[object, list[_Access]] = defaultdict(list)
        for access in _simplified(accesses):
            groups[access.shape, access.regular or access.operation.predicate].append(access)
        ordered = list(groups.values())
        for number, group in enumerate(ordered):
            inner = _regular_dependences if group[0].regular else _irregular_dependences
            dependences.update(dict.fromkeys(inner(group, pairs)))
            for other in ordered[number + 1 :]:
                dependences.update(dict.fromkeys(_pair_dependences(group, other, pairs)))
    return tuple(sorted(dependences, key=lambda d: (d.source, d.target, d.distance)))


def _irregular_dependences(members: Sequence[_Access], pairs: AccessPairs) -> Iterator[Dependence]:
    for number, member in enumerate(members):
        yield from _pair_dependences([member], members[number:], pairs)
