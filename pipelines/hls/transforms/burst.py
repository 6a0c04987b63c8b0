"""The local copy of a part of an external array: its layout, and the loops that fill it and write it back.

Off-chip memory delivers one word of `WORD_BITS` per cycle, so the array and the copy are partitioned
cyclically by flat index into as many lanes as elements fit in a word; both loops move one word per iteration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from pipelines.c import ir
from pipelines.c.analysis.accesses import Site
from pipelines.c.analysis.affine import Affine
from pipelines.c.analysis.copying import FreshNames
from pipelines.c.analysis.facts import MAXIMUM_ALTERNATIVES, Facts
from pipelines.c.arithmetic import both, make_binary, make_select
from pipelines.c.errors import NotApplicable

Terms = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """One dimension of a box: indices `base` to `base + size - 1` out of the array's `elements`.

    Attributes:
        low_inside, high_inside: the first and the last index are provably inside the array.
    """

    base: Affine
    size: int
    elements: int
    low_inside: bool
    high_inside: bool

    @property
    def is_whole(self) -> bool:
        """Whether the box covers the whole dimension."""
        return self.size == self.elements and not self.base.terms


def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the distance in the flat array between neighbours in each dimension."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides)


def coordinates(flat: Affine, shape: tuple[int, ...], facts: Facts) -> tuple[Affine, ...] | None:
    """Split a flat index into one index per dimension; None when they cannot be separated."""
    if not flat.exact:
        return None
    leading: list[Affine] = []
    rest = flat
    for stride in strides_of(shape)[:-1]:
        outer = tuple((leaf, c // stride) for leaf, c in rest.terms if c % stride == 0)
        inner = Affine(tuple((leaf, c) for leaf, c in rest.terms if c % stride))
        low, high = facts.interval(inner)
        constant = rest.constant % stride
        constant += -((low + constant) // stride) * stride
        if high + constant >= stride:
            return None
        leading.append(Affine(outer, (rest.constant - constant) // stride))
        rest = inner.shifted(constant)
    return (*leading, rest)


def box_of(
    sites: Iterable[Site],
    shape: tuple[int, ...],
    changed: frozenset[str],
    facts: Facts,
) -> tuple[Extent, ...]:
    """Return a small box that contains every element of some sites.

    Args:    sites: with as many forms as `shape` has dimensions; changed: variables that change inside;
             facts: at the point where the box is filled.
    Returns: one extent per dimension; the whole dimension where no smaller one is known.
    """
    accesses = [(site.forms, place) for site in sites for place in site.places]
    return tuple(
        _extent([(forms[d], place) for forms, place in accesses], size, changed, facts)
        for d, size in enumerate(shape)
    )


def _extent(
    forms: list[tuple[Affine, Facts]], elements: int, changed: frozenset[str], facts: Facts
) -> Extent:
    whole = Extent(base=Affine(), size=elements, elements=elements, low_inside=True, high_inside=True)
    if not all(form.exact for form, _ in forms):
        return whole
    lower = [_bounds(form, place, changed, largest=False) for form, place in forms]
    upper = [_bounds(form, place, changed, largest=True) for form, place in forms]
    shared = set(lower[0]).intersection(*lower[1:], *upper)
    best = whole
    for terms in sorted(shared, key=lambda t: (len(t), t)):
        low, high = min(b[terms] for b in lower), max(b[terms] for b in upper)
        if not terms:
            low, high = max(low, 0), min(high, elements - 1)
        size = max(1, high - low + 1)
        if size < best.size:
            base = Affine(terms, low)
            first, last = facts.interval(base)
            best = Extent(
                base=base,
                size=size,
                elements=elements,
                low_inside=first >= 0,
                high_inside=last + size <= elements,
            )
    return best


def _bounds(form: Affine, facts: Facts, changed: frozenset[str], *, largest: bool) -> dict[Terms, int]:
    """Return the bounds of a form in unchanging leaves: the best constant per combination of leaves."""
    bounds: dict[Terms, int] = {}
    pick = min if largest else max
    for bound in _without_changing(form, facts, changed, largest, [MAXIMUM_ALTERNATIVES]):
        old = bounds.get(bound.terms)
        bounds[bound.terms] = bound.constant if old is None else pick(old, bound.constant)
    return bounds


def _without_changing(
    form: Affine, facts: Facts, changed: frozenset[str], largest: bool, budget: list[int]
) -> list[Affine]:
    """Return the bounds of a form with the changing leaves replaced by their bounds, innermost first."""
    order = {name: number for number, name in enumerate(facts.loops)}
    moving = [
        (leaf, coefficient)
        for leaf, coefficient in form.terms
        if facts.mentions(Affine(((leaf, 1),)), changed)
    ]
    if not moving:
        return [form]
    leaf, coefficient = max(moving, key=lambda m: order.get(m[0], len(order)))
    upwards = (coefficient > 0) == largest
    low, high = facts.numeric(leaf)
    bounds = [Affine((), high if upwards else low)]
    fact = facts.loops.get(leaf)
    if fact is not None:
        bounds = [*(fact.upper if upwards else fact.lower), *bounds]
    without = form.plus(Affine(((leaf, 1),)), -coefficient)
    forms: list[Affine] = []
    for bound in bounds:
        if budget[0] > 0 or not forms:
            budget[0] -= 1
            forms += _without_changing(without.plus(bound, coefficient), facts, changed, largest, budget)
    return forms


WORD_BITS = 512
"""Width of a transfer, as in Merlin and most high-bandwidth memories."""

MAXIMUM_BUFFER_BITS = 1 << 25
"""Largest copy in bits: about the on-chip memory of the largest devices for one array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Layout of the copy: rows of the box, each a run of the flat array in whole words.

    Attributes:
        shape: of the array; box: the part that the copy holds.
        split: the dimension along which a run goes; runs contain the later dimensions whole.
        offset: position of a run's first element in its first word; None when it varies.
        words: per row.
    """

    array: ir.Array
    buffer: ir.Array
    shape: tuple[int, ...]
    box: tuple[Extent, ...]
    split: int
    run: int
    offset: int | None
    words: int
    lanes: int

    @property
    def row_strides(self) -> tuple[int, ...]:
        """Distance in the copy between neighbours in each dimension before the run."""
        sizes = tuple(e.size for e in self.box[: self.split])
        return tuple(s * self.words * self.lanes for s in strides_of(sizes)) if sizes else ()

    def first(self, indices: tuple[Affine, ...]) -> Affine:
        """Return the flat index of the first element of the run that contains an element."""
        strides = strides_of(self.shape)
        start = self.box[self.split].base.times(strides[self.split])
        for index, stride in zip(indices[: self.split], strides, strict=False):
            start = start.plus(index, stride)
        return start

    def place(self, indices: tuple[Affine, ...], facts: Facts) -> ir.Expression:
        """Return the index in the copy of an element."""
        strides = strides_of(self.shape)
        total = Affine((), self.offset or 0)
        for d, index in enumerate(indices):
            if d < self.split:
                total = total.plus(index.plus(self.box[d].base, -1), self.row_strides[d])
            elif d == self.split:
                total = total.plus(index.plus(self.box[d].base, -1), strides[d])
            else:
                total = total.plus(index, strides[d])
        place = facts.expression_of(total)
        if self.offset is not None:
            return place
        return make_binary("add", place, _masked(self.first(indices), self.lanes - 1, facts))


def _masked(form: Affine, mask: int, facts: Facts) -> ir.Expression:
    return make_binary("and", facts.expression_of(form), ir.Constant(value=mask))


def layout_of(
    array: ir.Array, shape: tuple[int, ...], box: tuple[Extent, ...], facts: Facts, name: str
) -> Layout:
    """Return the layout of the copy of a box."""
    lanes = WORD_BITS // array.type.width_bits
    split = len(shape) - 1
    while split > 0 and box[split].is_whole:
        split -= 1
    strides = strides_of(shape)
    run = box[split].size * strides[split]
    start = Affine()
    aligned = True
    for extent, stride in zip(box[: split + 1], strides, strict=False):
        start = start.plus(extent.base, stride)
        aligned = aligned and (extent is box[split] or extent.size == 1 or stride % lanes == 0)
    offset = facts.residue_modulo(start, lanes) if aligned else None
    words = -(-((lanes - 1 if offset is None else offset) + run) // lanes)
    elements = words * lanes * prod(e.size for e in box[:split])
    if elements * array.type.width_bits > MAXIMUM_BUFFER_BITS:
        raise NotApplicable(
            f"the copy of {array.name} would have {elements * array.type.width_bits} bits;"
            f" at most {MAXIMUM_BUFFER_BITS} are kept on chip"
        )
    buffer = ir.Array(name=name, type=array.type, shape=(elements,), external=False)
    return Layout(
        array=array,
        buffer=buffer,
        shape=shape,
        box=box,
        split=split,
        run=run,
        offset=offset,
        words=words,
        lanes=lanes,
    )


# ---- transfers --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Transfer:
    """Writes the loops that fill the copy or write it back."""

    layout: Layout
    facts: Facts
    names: FreshNames
    loop: str
    line: int
    before: list[ir.Statement] = field(default_factory=list[ir.Statement])
    inside: list[ir.Statement] = field(default_factory=list[ir.Statement])

    def statements(self, *, out: bool) -> tuple[ir.Statement, ...]:
        """Return the loops over rows and words, with the statements before them."""
        self.before, self.inside = [], []
        layout = self.layout
        name = self.names.take(f"{self.loop}_{'write' if out else 'fill'}_{layout.array.name}")
        rows = [self.names.variable(f"{layout.array.name}_row") for _ in range(layout.split)]
        word = self.names.variable(f"{layout.array.name}_word")
        moves = self.lanes(rows, word, out=out)
        directive = ir.Directive(kind="pipeline", loop=name, value=1)
        loop: ir.Statement = self.counted(name, word, layout.words, (*self.inside, *moves), (directive,))
        for d in reversed(range(layout.split)):
            outer = self.names.take(f"{name}_row")
            loop = self.counted(outer, rows[d], layout.box[d].size, (loop,), ())
        return (*self.before, loop)

    def counted(
        self,
        name: str,
        variable: ir.Variable,
        trips: int,
        body: tuple[ir.Statement, ...],
        directives: tuple[ir.Directive, ...],
    ) -> ir.For:
        """Return a loop of `trips` iterations from 0 that counts in a variable."""
        return ir.For(
            name=name,
            body=body,
            line=self.line,
            directives=directives,
            variable=variable,
            lower=ir.Constant(value=0),
            comparison="lt",
            upper=ir.Constant(value=trips),
            step=1,
        )

    def lanes(self, rows: list[ir.Variable], word: ir.Variable, *, out: bool) -> list[ir.Statement]:
        """Return the moves of one word, one per lane."""
        layout, facts = self.layout, self.facts
        indices = tuple(
            extent.base.plus(Affine(((facts.leaves.of_variable(row), 1),)))
            for extent, row in zip(layout.box, rows, strict=False)
        )
        first = layout.first(indices)
        position = Affine(((facts.leaves.of_variable(word), layout.lanes),))
        row_place = Affine()
        for row, stride in zip(rows, layout.row_strides, strict=True):
            row_place = row_place.plus(Affine(((row.name, 1),)), stride)
        if layout.offset is None:
            start = _masked(first, -layout.lanes, facts)
        else:
            start = facts.expression_of(first.shifted(-layout.offset))
        guards = self.guards(rows, word, first)
        moves: list[ir.Statement] = []
        for lane, guard in guards:
            local = facts.expression_of(row_place.plus(position).shifted(lane))
            flat = make_binary("add", start, facts.expression_of(position.shifted(lane)))
            source, target = (layout.array, flat), (layout.buffer, local)
            if out:
                source, target = target, source
            value = ir.Load(array=source[0], indices=(source[1],), line=self.line, predicate=guard)
            moves.append(
                ir.Store(array=target[0], indices=(target[1],), value=value, line=self.line, predicate=guard)
            )
        return moves

    # ---- which elements of a word are moved -------------------------------------------------------

    def guards(
        self, rows: list[ir.Variable], word: ir.Variable, first: Affine
    ) -> list[tuple[int, ir.Expression | None]]:
        """Return the active lanes, each with its condition."""
        layout = self.layout
        row_guard = self.row_guard(rows)
        low, high = self.limits()
        read = ir.Read(variable=word)
        scaled = make_binary("mul", read, ir.Constant(value=layout.lanes))
        shift = self.run_offset(first)
        guards: list[tuple[int, ir.Expression | None]] = []
        for lane in range(layout.lanes):
            guard = row_guard
            at = make_binary("sub", make_binary("add", scaled, ir.Constant(value=lane)), shift)
            start, end = self.word_of(low, lane), self.word_of(high, lane)
            if isinstance(start, int) and isinstance(end, int) and max(start, 0) >= min(end, layout.words):
                continue
            if end is None:
                guard = both(make_binary("lt", at, _as_expression(high)), guard)
            elif end < layout.words:
                guard = both(make_binary("lt", read, ir.Constant(value=end)), guard)
            if start is None:
                guard = both(make_binary("ge", at, _as_expression(low)), guard)
            elif start > 0:
                guard = both(make_binary("ge", read, ir.Constant(value=start)), guard)
            guards.append((lane, guard))
        return guards

    def word_of(self, limit: int | ir.Expression, lane: int) -> int | None:
        """Return the first word whose element in a lane is not before an offset; None when it varies."""
        if self.layout.offset is None or not isinstance(limit, int):
            return None
        return -((lane - self.layout.offset - limit) // self.layout.lanes)

    def run_offset(self, first: Affine) -> ir.Expression:
        """Return the position of the run's first element in its first word."""
        if self.layout.offset is not None:
            return ir.Constant(value=self.layout.offset)
        return _masked(first, self.layout.lanes - 1, self.facts)

    def limits(self) -> tuple[int | ir.Expression, int | ir.Expression]:
        """Return first moved offset in a run and the one after the last: elements inside array and box."""
        extent = self.layout.box[self.layout.split]
        stride = strides_of(self.layout.shape)[self.layout.split]
        low: int | ir.Expression = 0
        high: int | ir.Expression = self.layout.run
        if not extent.low_inside:
            short = self.facts.expression_of(extent.base.times(-stride))
            low = self.held("first", _larger(short, ir.Constant(value=0)))
        if not extent.high_inside:
            room = self.facts.expression_of(extent.base.times(-stride).shifted(extent.elements * stride))
            high = self.held("end", _smaller(room, ir.Constant(value=self.layout.run)))
        return low, high

    def row_guard(self, rows: list[ir.Variable]) -> ir.Expression | None:
        """Return the condition that a row lies inside the array."""
        guard: ir.Expression | None = None
        for extent, row in zip(self.layout.box, rows, strict=False):
            index = self.facts.expression_of(extent.base.plus(Affine(((row.name, 1),))))
            if not extent.low_inside:
                guard = both(make_binary("ge", index, ir.Constant(value=0)), guard)
            if not extent.high_inside:
                guard = both(make_binary("lt", index, ir.Constant(value=extent.elements)), guard)
        if guard is None:
            return None
        variable = self.names.variable(f"{self.layout.array.name}_in")
        self.inside.append(ir.Assign(variable=variable, value=guard, line=self.line))
        return ir.Read(variable=variable)

    def held(self, stem: str, value: ir.Expression) -> ir.Expression:
        """Return a value computed once before the loops, read from a new variable."""
        variable = self.names.variable(f"{self.layout.array.name}_{stem}")
        self.before.append(ir.Assign(variable=variable, value=value, line=self.line))
        return ir.Read(variable=variable)


def _as_expression(value: int | ir.Expression) -> ir.Expression:
    return ir.Constant(value=value) if isinstance(value, int) else value


def _smaller(first: ir.Expression, second: ir.Expression) -> ir.Expression:
    return make_select(make_binary("lt", first, second), first, second)


def _larger(first: ir.Expression, second: ir.Expression) -> ir.Expression:
    return make_select(make_binary("gt", first, second), first, second)
