"""Array elements that a body reads and writes, and replacement of accesses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pipelines.c import ir
from pipelines.c.analysis.affine import Affine
from pipelines.c.analysis.facts import Facts

Key = tuple[tuple[tuple[tuple[str, int], ...], int], ...]
"""Terms and constant of each index: accesses with equal keys at one point touch one element."""

Shape = tuple[tuple[tuple[str, int], ...], ...]
"""The terms of a key: two different keys of one shape never meet."""


def key_of(forms: Iterable[Affine]) -> Key:
    """Return the key of an element."""
    return tuple((f.terms, f.constant) for f in forms)


def shape_of(key: Key) -> Shape:
    """Return the shape of a key."""
    return tuple(terms for terms, _ in key)


@dataclass(slots=True)
class Site:
    """An element that a body accesses at least once.

    Attributes:
        indices: the index expressions of its first access.
        places: facts at each of its accesses.
        certain: some access happens whenever the body runs.
        entry: it is loaded even when the body does not run.
        read_first: a load may come before every unconditional store.
        written: some store is unconditional.
        blocked: some access to it cannot be replaced.
    """

    array: ir.Array
    forms: tuple[Affine, ...]
    key: Key
    indices: tuple[ir.Expression, ...]
    places: list[Facts] = field(default_factory=list[Facts])
    loads: int = 0
    stores: int = 0
    certain: bool = False
    entry: bool = False
    read_first: bool = False
    written: bool = False
    blocked: bool = False

    @property
    def written_first(self) -> bool:
        """An unconditional store comes before every load."""
        return self.written and not self.read_first


@dataclass(slots=True)
class Accesses:
    """The accesses of a body to some arrays, collected in program order.

    Attributes:
        array_names: of the arrays whose accesses are collected.
        arrays: the sites of each array by key.
        of_object: the site of a load (or store) object, by its identity.
    """

    array_names: frozenset[str]
    arrays: dict[str, dict[Key, Site]] = field(default_factory=dict[str, dict[Key, Site]])
    of_object: dict[int, Site] = field(default_factory=dict[int, Site])
    left: bool = False

    def body(self, body: tuple[ir.Statement, ...], facts: Facts, certain: bool) -> None:
        """Collect the accesses of a body; `certain` when it runs whenever the whole does."""
        place = facts.snapshot()
        for statement in body:
            self.statement(statement, facts, place, certain and not self.left)
            facts.after(statement)

    def statement(self, statement: ir.Statement, facts: Facts, place: Facts, certain: bool) -> None:
        """Collect the accesses of a statement and the bodies in it."""
        late = isinstance(statement, ir.While) and not statement.test_first
        facts.before(statement)
        if not late:
            self.own(statement, facts, place, certain)
        self.left = self.left or isinstance(statement, ir.Leave)
        inner_certain = certain and _runs_inner_body(statement)
        for body, inner in facts.inside(statement):
            self.body(body, inner, inner_certain)
        if late:
            self.own(statement, facts, place, certain and not self.left)

    def own(self, statement: ir.Statement, facts: Facts, place: Facts, certain: bool) -> None:
        """Collect the accesses of a statement without its inner bodies."""
        for expression in ir.statement_expressions(statement):
            self.expression(expression, facts, place, certain)
        if isinstance(statement, ir.Store) and statement.array.name in self.array_names:
            site = self.site(statement, facts, place)
            site.stores += 1
            if certain and statement.predicate is None:
                site.certain = site.written = True

    def expression(self, expression: ir.Expression, facts: Facts, place: Facts, certain: bool) -> None:
        """Collect the loads of an expression."""
        for part in loads_of(expression):
            if part.array.name in self.array_names:
                site = self.site(part, facts, place)
                site.loads += 1
                site.read_first = site.read_first or not site.written
                site.certain = site.certain or (certain and part.predicate is None)

    def site(self, access: ir.Load | ir.Store, facts: Facts, place: Facts) -> Site:
        """Return the site of an access, created for the first access to its element."""
        forms = tuple(facts.read(i) for i in access.indices)
        key = key_of(forms)
        sites = self.arrays.setdefault(access.array.name, {})
        site = sites.get(key)
        if site is None:
            site = sites[key] = Site(access.array, forms, key, access.indices)
        if not site.places or site.places[-1] is not place:
            site.places.append(place)
        other = self.of_object.setdefault(id(access), site)
        if other is not site:
            other.blocked = site.blocked = True
        return site

    def block_loads(self, expression: ir.Expression, facts: Facts) -> None:
        """Collect loads that must not be replaced."""
        place = facts.snapshot()
        for part in loads_of(expression):
            if part.array.name in self.array_names:
                site = self.site(part, facts, place)
                site.loads += 1
                site.read_first = site.blocked = True

    def mark_entry(self) -> None:
        """Mark the sites collected so far as sites of a loop's condition, evaluated before the body."""
        for sites in self.arrays.values():
            for site in sites.values():
                site.entry, site.blocked = site.certain, not site.certain

    def is_alone(self, site: Site) -> bool:
        """Tell whether no access of another site can touch this element, whose indices do not change."""
        shape = shape_of(site.key)
        return all(
            shape_of(other.key) == shape or all(are_disjoint(site, other, p) for p in other.places)
            for other in self.arrays[site.array.name].values()
            if other is not site
        )


def loads_of(expression: ir.Expression) -> list[ir.Load]:
    """Return the loads of an expression, outer before inner, from left to right."""
    loads: list[ir.Load] = []
    rest = [expression]
    while rest:
        part = rest.pop()
        match part:
            case ir.Constant() | ir.Read():
                continue
            case ir.Load():
                loads.append(part)
                if part.predicate is not None:
                    rest.append(part.predicate)
                rest.extend(reversed(part.indices))
            case ir.Binary():
                rest.append(part.right)
                rest.append(part.left)
            case ir.Unary() | ir.Cast():
                rest.append(part.operand)
            case ir.Select():
                rest += (part.if_false, part.if_true, part.condition)
    return loads


def loaded_arrays(body: tuple[ir.Statement, ...]) -> frozenset[str]:
    """Return the names of the arrays a body reads."""
    return frozenset(
        load.array.name
        for statement in ir.walk_statements(body)
        for expression in ir.statement_expressions(statement)
        for load in loads_of(expression)
    )


def are_disjoint(first: Site, second: Site, facts: Facts) -> bool:
    """Tell whether two elements provably differ in some dimension at a place."""
    return any(facts.differs(a, b) for a, b in zip(first.forms, second.forms, strict=True))


def _runs_inner_body(statement: ir.Statement) -> bool:
    """Tell whether an inner body always runs when the statement does."""
    match statement:
        case ir.For():
            return bool(statement.trip_count)
        case ir.While():
            return not statement.test_first
        case ir.Block():
            return True
        case _:
            return False


def escaping_labels(statement: ir.Statement) -> frozenset[str]:
    """Return the labels of blocks around a statement that it may leave."""
    inside: set[str] = set()
    left: set[str] = set()
    for part in ir.walk_statements((statement,)):
        if isinstance(part, ir.Block):
            inside.add(part.label)
        elif isinstance(part, ir.Leave):
            left.add(part.label)
    return frozenset(left - inside)


def replace_loads(
    expression: ir.Expression, visit: Callable[[ir.Load], ir.Expression | None]
) -> ir.Expression:
    """Return the expression with loads replaced where `visit` returns an expression; inner loads come first.

    `visit` gets the load as it stands in the expression; when it returns None and the load's indices changed,
    the load is rebuilt.
    """
    if isinstance(expression, ir.Load):
        replacement = visit(expression)
        if replacement is not None:
            return replacement
    return ir.map_children(expression, lambda e: replace_loads(e, visit))
