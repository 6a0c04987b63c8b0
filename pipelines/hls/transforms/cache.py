"""Caches: a loop works on a local copy of the part of an external array that it touches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod

from pipelines.c import ir
from pipelines.c.analysis.accesses import Accesses, Site, escaping_labels, replace_loads
from pipelines.c.analysis.affine import Affine
from pipelines.c.analysis.copying import FreshNames, find_loop, fresh_names, map_own
from pipelines.c.analysis.facts import Facts
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import Bank, BankDimension
from pipelines.hls.transforms.burst import (
    Extent,
    Layout,
    Transfer,
    box_of,
    coordinates,
    layout_of,
    strides_of,
)
from pipelines.hls.transforms.partition import with_bank_sides
from pipelines.hls.transforms.promote import collect_region, loop_of, runs_at_least_once

MAXIMUM_PLACES = 100_000
"""Box positions that are summed for the report; beyond them the cycle model computes the sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """Cost of a cache.

    Attributes:
        array: the external array; buffer: its copy.
        buffer_elements: elements of the copy, padding included.
        bytes_in, bytes_out: moved per run of the design; None when it depends on data.
        partitions: directives for the array and the copy, to be applied after unrolling.
    """

    array: str
    buffer: str
    buffer_elements: int
    bytes_in: int | None
    bytes_out: int | None
    partitions: tuple[ir.Directive, ...]


@dataclass(slots=True)
class _Cacher:
    """Rewrites a function around one loop.

    Attributes:
        array: as in the body; flat: the same array with one dimension.
        around: loops around the present statement; None when one has no constant trip count.
    """

    array: ir.Array
    flat: ir.Array
    shape: tuple[int, ...]
    loop: ir.For | ir.While
    names: FreshNames
    layout: Layout | None = None
    report: CacheReport | None = None
    around: tuple[ir.For, ...] | None = ()

    def body(self, body: tuple[ir.Statement, ...], facts: Facts) -> tuple[ir.Statement, ...]:
        statements: list[ir.Statement] = []
        for statement in body:
            if loop_of(statement) is self.loop and self.layout is None:
                statements += self.region(statement, facts)
            else:
                statements.append(self.statement(statement, facts))
            facts.after(statement)
        return tuple(statements)

    def statement(self, statement: ir.Statement, facts: Facts) -> ir.Statement:
        """Return a statement whose accesses are to the flat array or to the copy."""
        if not isinstance(statement, ir.While):
            statement = self.own(statement, facts)
        before = self.around
        if isinstance(statement, ir.For) and statement.trip_count is not None and before is not None:
            self.around = (*before, statement)
        elif isinstance(statement, ir.If | ir.While | ir.For):
            self.around = None
        bodies: list[tuple[ir.Statement, ...]] = []
        for body, inner in facts.inside(statement):
            if isinstance(statement, ir.While):
                statement = self.own(statement, inner)
            bodies.append(self.body(body, inner))
        self.around = before
        return ir.with_bodies(statement, tuple(bodies)) if bodies else statement

    def own(self, statement: ir.Statement, facts: Facts) -> ir.Statement:
        """Return a statement with its own accesses replaced, inner bodies excluded."""

        def visit(load: ir.Load) -> ir.Expression | None:
            if load.array.name != self.array.name:
                return None
            predicate = None if load.predicate is None else replace_loads(load.predicate, visit)
            array, index = self.place(load, facts)
            return replace(load, array=array, indices=(replace_loads(index, visit),), predicate=predicate)

        rebuilt = map_own(statement, lambda e: replace_loads(e, visit))
        if isinstance(statement, ir.Store) and statement.array.name == self.array.name:
            array, index = self.place(statement, facts)
            assert isinstance(rebuilt, ir.Store)
            return replace(rebuilt, array=array, indices=(replace_loads(index, visit),))
        return rebuilt

    def place(self, access: ir.Load | ir.Store, facts: Facts) -> tuple[ir.Array, ir.Expression]:
        """Return the array and the index that replace an access."""
        forms = tuple(facts.read(i) for i in access.indices)
        if self.layout is not None:
            indices = self.coordinates(forms, facts)
            assert indices is not None
            return self.layout.buffer, self.layout.place(indices, facts)
        if len(forms) == 1:
            return self.flat, access.indices[0]
        total = Affine()
        for form, stride in zip(forms, strides_of(self.array.shape), strict=True):
            total = total.plus(form, stride)
        return self.flat, facts.expression_of(total)

    def coordinates(self, forms: tuple[Affine, ...], facts: Facts) -> tuple[Affine, ...] | None:
        """Return the indices of `shape`'s dimensions of an access."""
        if len(forms) == len(self.shape):
            return forms
        return coordinates(forms[0], self.shape, facts)

    def region(self, region: ir.Statement, facts: Facts) -> list[ir.Statement]:
        """Return the loop on a copy, between the loops that fill it and write it back."""
        written = self.array.name in ir.stored_arrays((region,))
        if written and escaping_labels(region):
            raise NotApplicable(
                f"loop {self.loop.name} is left past its end, and {self.array.name} is written"
            )
        accesses = collect_region(region, self.loop, facts, frozenset((self.array.name,)))
        changed = ir.assigned_variables((region,))
        sites = self.sites(accesses)
        box = box_of(sites, self.shape, changed, facts)
        name = self.names.take(f"{self.array.name}_cache")
        layout = layout_of(self.flat, self.shape, box, facts, name)
        loads = any(site.loads for site in sites)
        fills = (
            loads
            or not any(_covers(site, box, changed) for site in sites)
            or not runs_at_least_once(self.loop, facts)
        )
        transfer = Transfer(layout, facts, self.names, self.loop.name, self.loop.line)
        statements = list(transfer.statements(out=False)) if fills else []
        self.report = self.reported(layout, fills=fills, written=written)
        statements += self.cached(region, layout, facts)
        if written:
            statements += transfer.statements(out=True)
        return statements

    def sites(self, accesses: Accesses) -> list[Site]:
        """Return the accesses in the loop, in coordinates of `shape`.

        Raises: NotApplicable: there are none.
        """
        sites = list(accesses.arrays.get(self.array.name, {}).values())
        if not sites:
            raise NotApplicable(f"loop {self.loop.name} does not access {self.array.name}")
        if len(self.shape) == len(sites[0].forms):
            return sites
        split = [[coordinates(s.forms[0], self.shape, p) for p in s.places] for s in sites]
        if any(forms is None for forms_of_site in split for forms in forms_of_site):
            self.shape = self.array.shape
            return sites
        return [
            replace(site, forms=forms, places=[place])
            for site, of_site in zip(sites, split, strict=True)
            for forms, place in zip(of_site, site.places, strict=True)
            if forms is not None
        ]

    def cached(self, region: ir.Statement, layout: Layout, facts: Facts) -> list[ir.Statement]:
        """Return the region with accesses to the copy; a counted loop's bounds are evaluated on the array."""
        if isinstance(region, ir.For):
            region = self.own(region, facts)
            (inner,) = facts.inside(region)
            self.layout = layout
            body = self.body(*inner)
        elif isinstance(region, ir.While):
            ((body, inner_facts),) = facts.inside(region)
            self.layout = layout
            region = self.own(region, inner_facts)
            body = self.body(body, inner_facts)
        else:
            ((body, inner_facts),) = facts.inside(region)
            rebuilt = self.cached(body[0], layout, inner_facts)
            return [ir.with_bodies(region, (tuple(rebuilt),))]
        self.layout = None
        return [ir.with_bodies(region, (body,))]

    def reported(self, layout: Layout, *, fills: bool, written: bool) -> CacheReport:
        elements = None if self.around is None else _elements_moved(layout.box, self.around)
        moved = None if elements is None else elements * self.array.type.width_bits // 8
        partitions = tuple(
            ir.Directive(kind="partition", variable=name, style="cyclic", value=layout.lanes, dimension=1)
            for name in (self.flat.argument or self.flat.name, layout.buffer.name)
        )
        return CacheReport(
            array=self.array.name,
            buffer=layout.buffer.name,
            buffer_elements=layout.buffer.element_count,
            bytes_in=moved if fills else 0,
            bytes_out=moved if written else 0,
            partitions=partitions,
        )


def _elements_moved(box: tuple[Extent, ...], around: tuple[ir.For, ...]) -> int | None:
    """Return the elements of a box, summed over the iterations of the loops around; None when unknown."""
    moving = {leaf for extent in box for leaf in extent.base.leaves}
    used = [loop for loop in around if loop.variable.name in moving]
    counts = [loop.trip_count or 0 for loop in used]
    others = prod(loop.trip_count or 0 for loop in around if loop.variable.name not in moving)
    names = [loop.variable.name for loop in used]
    if moving - set(names) or prod(counts) > MAXIMUM_PLACES:
        return None
    total = 0
    for numbers in product(*(range(n) for n in counts)):
        values = {
            loop.variable.name: _first_value(loop) + number * loop.step
            for loop, number in zip(used, numbers, strict=True)
        }
        total += prod(_inside(extent, values) for extent in box)
    return total * others


def _first_value(loop: ir.For) -> int:
    return loop.lower.value if isinstance(loop.lower, ir.Constant) else 0


def _inside(extent: Extent, values: dict[str, int]) -> int:
    """Return the number of indices of an extent inside the array, for values of variables."""
    base = extent.base.constant + sum(c * values[leaf] for leaf, c in extent.base.terms)
    return max(0, min(base + extent.size, extent.elements) - max(base, 0))


def _covers(site: Site, box: tuple[Extent, ...], changed: frozenset[str]) -> bool:
    """Tell whether a store provably writes every element of the box, with one loop variable per index."""
    if not (site.written and len(site.places) == 1):
        return False
    place, used = site.places[0], set[str]()
    for form, extent in zip(site.forms, box, strict=True):
        moving = [(leaf, c) for leaf, c in form.terms if leaf in changed]
        if not moving:
            if form.terms != extent.base.terms or extent.size != 1:
                return False
            continue
        leaf, coefficient = moving[0]
        fact = place.loops.get(leaf)
        if len(moving) > 1 or leaf in used or fact is None or abs(coefficient) != 1 or fact.modulus != 1:
            return False
        used.add(leaf)
        if fact.lower or fact.upper or fact.interval[1] - fact.interval[0] + 1 != extent.size:
            return False
        if not (extent.low_inside and extent.high_inside):
            return False
    return True


def cache_array(function: ir.Function, array: str, loop: str) -> tuple[ir.Function, CacheReport]:
    """Give a loop a local copy of the part of an external array that it touches.

    The array gets a single dimension and is listed in `Function.banks`; the copy is a local array
    `<array>_cache`. Apply it before unrolling.

    Args:    array: name of an external array argument; loop: name of the loop that works on the copy.
    Returns: an equivalent function, and the cache's cost. When every access is affine the copy holds a small
             box that contains them, at a position that may depend on the loops around; otherwise whole
             dimensions.
    Raises:  NotApplicable: no such loop or external array, an array that is partitioned already, a loop
             that does not access it or is left past its end, or a copy of more than
             `burst.MAXIMUM_BUFFER_BITS` bits.
    """
    target = find_loop(function, loop)
    external = next((a for a in function.arrays if a.name == array), None)
    if external is None or not external.external:
        raise NotApplicable(_no_external_array(function, array))
    parameter = next(p for p in function.parameters if isinstance(p, ir.Array) and p.name == array)
    flat = external
    if len(external.shape) > 1:
        flat = replace(external, shape=(external.element_count,), argument=array)
    names = fresh_names(function)
    cacher = _Cacher(array=external, flat=flat, shape=parameter.shape, loop=target, names=names)
    body = cacher.body(function.body, Facts())
    assert cacher.report is not None
    report = cacher.report
    buffer = ir.Array(name=report.buffer, type=external.type, shape=(report.buffer_elements,), external=False)
    arrays = (*(flat if a.name == array else a for a in function.arrays), buffer)
    banks = tuple(b for b in function.banks if b.port != array)
    if parameter.shape != flat.shape:
        banks = (*banks, _flat_bank(flat))
    return with_bank_sides(replace(function, body=body, arrays=arrays, banks=banks)), report


def _flat_bank(flat: ir.Array) -> Bank:
    count = flat.element_count
    dimension = BankDimension(style="whole", factor=1, number=0, size=count)
    return Bank(port=flat.name, argument=flat.name, shape=(count,), dimensions=(dimension,))


def _no_external_array(function: ir.Function, array: str) -> str:
    if any(a.argument == array for a in function.arrays):
        return f"{array} is partitioned; a cache deals its array over the memory's lanes itself"
    known = ", ".join(a.name for a in function.arrays if a.external) or "none"
    return f"a cache must be of an external array, got {array}; there are {known}"
