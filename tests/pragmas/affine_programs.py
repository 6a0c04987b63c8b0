"""Small random affine programs: as C text, and run instance by instance to know every fact about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st

SIDE = 64
"""Elements of a dimension of every array; subscripts start at OFFSET so that none is negative."""
OFFSET = 24


@dataclass(frozen=True, kw_only=True)
class Counted:
    """`for (name = low; ...; name += step)`: `trips` iterations, and `per` more for each of an outer loop.

    `per` is ("", 0) for a constant loop, else (outer iterator, 1 or -1): the bound follows that iterator.
    """

    name: str
    low: int
    step: int
    trips: int
    per: tuple[str, int]
    body: tuple[Counted | Store, ...]

    def end(self, values: dict[str, int]) -> int:
        outer, factor = self.per
        direction = 1 if self.step > 0 else -1
        return self.low + self.step * self.trips + direction * factor * values.get(outer, 0)

    def iterators(self, values: dict[str, int]) -> range:
        return range(self.low, self.end(values), self.step)


@dataclass(frozen=True, kw_only=True)
class Store:
    """`array[subscripts] = reads summed + 1`; a subscript is a constant and coefficients of iterators."""

    array: str
    subscripts: tuple[tuple[int, tuple[tuple[str, int], ...]], ...]
    reads: tuple[tuple[str, tuple[tuple[int, tuple[tuple[str, int], ...]], ...]], ...]


def c_text(body: tuple[Counted | Store, ...]) -> str:
    lines = [f"void f(int A[{SIDE}][{SIDE}], int B[{SIDE}])", "{", *_lines(body, "    "), "}"]
    return "\n".join(lines) + "\n"


def _lines(body: tuple[Counted | Store, ...], indent: str) -> Iterator[str]:
    for item in body:
        if isinstance(item, Store):
            terms = " + ".join([*(_element(*read) for read in item.reads), "1"])
            yield f"{indent}{_element(item.array, item.subscripts)} = {terms};"
            continue
        sign = "<" if item.step > 0 else ">"
        end = f"{item.low + item.step * item.trips}"
        if item.per[1]:
            direction = item.per[1] if item.step > 0 else -item.per[1]
            end += f" + {direction} * {item.per[0]}"
        n = item.name
        yield f"{indent}for (int {n} = {item.low}; {n} {sign} {end}; {n} += {item.step}) {{"
        yield from _lines(item.body, indent + "    ")
        yield f"{indent}}}"


def _element(array: str, subscripts: tuple[tuple[int, tuple[tuple[str, int], ...]], ...]) -> str:
    texts = [" + ".join([f"{c} * {name}" for name, c in terms] + [str(k)]) for k, terms in subscripts]
    return array + "".join(f"[{text}]" for text in texts)


# ---- running -------------------------------------------------------------------------------------------

Instance = tuple[int, tuple[tuple[str, int], ...]]


@dataclass
class Facts:
    """What running a program instance by instance shows.

    `flows`: (source, target, kind, array, loop) to the smallest distance.
    """

    trips: dict[str, list[int]] = field(default_factory=dict)
    flows: dict[tuple[int, int, str, str, str | None], int] = field(default_factory=dict)
    exposed: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)
    written: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)
    footprints: dict[tuple[str, str], int] = field(default_factory=dict)


def run(body: tuple[Counted | Store, ...]) -> Facts:
    """Run a program; loops are named L0, L1, ... and statements 0, 1, ... in source order."""
    runner = _Runner(loops={}, statements={}, facts=Facts())
    runner.number(body)
    runner.body(body, {}, ())
    for place, touched in runner.touched.items():
        key = (place[0], place[2])
        runner.facts.footprints[key] = max(runner.facts.footprints.get(key, 0), len(touched))
    return runner.facts


@dataclass
class _Runner:
    loops: dict[int, str]
    statements: dict[int, int]
    facts: Facts
    last: dict[tuple[str, tuple[int, ...]], Instance] = field(default_factory=dict)
    readers: dict[tuple[str, tuple[int, ...]], list[Instance]] = field(default_factory=dict)
    touched: dict[tuple[str, tuple[int, ...], str], set[tuple[int, ...]]] = field(default_factory=dict)

    def number(self, body: tuple[Counted | Store, ...]) -> None:
        for item in body:
            if isinstance(item, Store):
                self.statements[id(item)] = len(self.statements)
            else:
                self.loops[id(item)] = f"L{len(self.loops)}"
                self.number(item.body)

    def body(self, body: tuple[Counted | Store, ...], values: dict[str, int], at: tuple) -> None:
        for item in body:
            if isinstance(item, Store):
                self.store(item, values, (self.statements[id(item)], at))
                continue
            name = self.loops[id(item)]
            iterators = item.iterators(values)
            self.facts.trips.setdefault(name, []).append(len(iterators))
            for counter, value in enumerate(iterators):
                self.body(item.body, {**values, item.name: value}, (*at, (name, counter)))

    def store(self, store: Store, values: dict[str, int], instance: Instance) -> None:
        for array, subscripts in store.reads:
            element = _place(subscripts, values)
            self.touch(array, element, instance)
            source = self.last.get((array, element))
            if source is None:
                self.facts.exposed.setdefault(array, set()).add(element)
            else:
                self.flow("raw", array, source, instance)
            self.readers.setdefault((array, element), []).append(instance)
        element = _place(store.subscripts, values)
        cell = (store.array, element)
        self.touch(store.array, element, instance)
        self.facts.written.setdefault(store.array, set()).add(element)
        if cell in self.last:
            self.flow("waw", store.array, self.last[cell], instance)
        for reader in self.readers.pop(cell, []):
            self.flow("war", store.array, reader, instance)
        self.last[cell] = instance

    def touch(self, array: str, element: tuple[int, ...], instance: Instance) -> None:
        at = instance[1]
        for depth in range(len(at) + 1):
            place = at[depth - 1][0] if depth else ""
            key = (place, tuple(counter for _, counter in at[:depth]), array)
            self.touched.setdefault(key, set()).add(element)

    def flow(self, kind: str, array: str, source: Instance, target: Instance) -> None:
        loop, distance = _carrier(source[1], target[1])
        if loop is None and source[0] == target[0]:
            return
        key = (source[0], target[0], kind, array, loop)
        self.facts.flows[key] = min(distance, self.facts.flows.get(key, distance))


def _place(subscripts: tuple, values: dict[str, int]) -> tuple[int, ...]:
    return tuple(k + sum(c * values[name] for name, c in terms) for k, terms in subscripts)


def _carrier(source: tuple, target: tuple) -> tuple[str | None, int]:
    for (loop, first), (other, second) in zip(source, target, strict=False):
        if loop != other:
            break
        if first != second:
            return loop, second - first
    return None, 0


def results(body: tuple[Counted | Store, ...], turned: str | None = None) -> dict:
    """What a program leaves in its arrays, the iterations of one loop in reverse order when it is named."""
    memory: dict[tuple[str, tuple[int, ...]], int] = {}
    names = iter(range(1000))

    def go(items: tuple[Counted | Store, ...], values: dict[str, int]) -> None:
        for item in items:
            if isinstance(item, Store):
                _assign(item, values, memory)
                continue
            iterators = item.iterators(values)
            for value in reversed(iterators) if loops[id(item)] == turned else iterators:
                go(item.body, {**values, item.name: value})

    def number(items: tuple[Counted | Store, ...]) -> None:
        for item in items:
            if isinstance(item, Counted):
                loops[id(item)] = f"L{next(names)}"
                number(item.body)

    loops: dict[int, str] = {}
    number(body)
    go(body, {})
    return memory


def _assign(store: Store, values: dict[str, int], memory: dict) -> None:
    """The sum of what is read, and a number that differs from iteration to iteration."""
    total = 1
    for array, subscripts in store.reads:
        cell = (array, _place(subscripts, values))
        total += memory.get(cell, sum(k * 31**n for n, k in enumerate(cell[1], 1)))
    total += sum(value * 101**n for n, value in enumerate(values.values(), 1))
    memory[store.array, _place(store.subscripts, values)] = total


# ---- drawing -------------------------------------------------------------------------------------------


def programs() -> st.SearchStrategy[tuple[Counted | Store, ...]]:
    """One or two nests of up to three loops."""
    return st.composite(_draw_program)()


def _draw_program(draw: Callable) -> tuple[Counted | Store, ...]:
    names = iter("ijklmnopqrst")
    return tuple(_draw_loop(draw, names, ()) for _ in range(draw(st.integers(1, 2))))


def _draw_loop(draw: Callable, names: Iterator[str], around: tuple[str, ...]) -> Counted:
    name = next(names)
    step = draw(st.sampled_from([1, 1, 1, -1, 2, -2]))
    trips = draw(st.integers(2, 4))
    per = ("", 0)
    if around and draw(st.booleans()):
        per = (draw(st.sampled_from(around)), draw(st.sampled_from([1, -1])))
    inside = (*around, name)
    body: list[Counted | Store] = [_draw_store(draw, inside) for _ in range(draw(st.integers(0, 2)))]
    if len(inside) < 3 and (not body or draw(st.booleans())):
        loop = _draw_loop(draw, names, inside)
        body.insert(draw(st.integers(0, len(body))), loop)
    if not body:
        body.append(_draw_store(draw, inside))
    return Counted(name=name, low=draw(st.integers(0, 3)), step=step, trips=trips, per=per, body=tuple(body))


def _draw_store(draw: Callable, around: tuple[str, ...]) -> Store:
    array, subscripts = _draw_access(draw, around)
    reads = [_draw_access(draw, around) for _ in range(draw(st.integers(0, 2)))]
    if draw(st.integers(0, 2)) == 0:
        reads.insert(draw(st.integers(0, len(reads))), (array, subscripts))
    return Store(array=array, subscripts=subscripts, reads=tuple(reads))


def _draw_access(draw: Callable, around: tuple[str, ...]) -> tuple[str, tuple]:
    array, rank = draw(st.sampled_from([("A", 2), ("B", 1)]))
    return array, tuple(_draw_subscript(draw, around) for _ in range(rank))


def _draw_subscript(draw: Callable, around: tuple[str, ...]) -> tuple[int, tuple[tuple[str, int], ...]]:
    terms: dict[str, int] = {}
    for name in draw(st.lists(st.sampled_from(around), max_size=2, unique=True)):
        terms[name] = draw(st.sampled_from([1, 1, 1, -1, 2]))
    return OFFSET + draw(st.integers(-1, 2)), tuple(terms.items())
