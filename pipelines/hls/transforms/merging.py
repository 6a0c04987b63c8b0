"""Accesses of opposite branches through one port: the index is selected, not the access.

Two stores to one array whose predicates differ in one literal, which is the opposite in the other, never
happen both: they become one store, of the selected value at the selected index, at the place of the second.
Two such loads become one at the place of the first, where the index of the second must be known. A selected
index is not affine, which may make dependences longer: indices are selected only in arrays that the body
does not both load and store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_select
from pipelines.hls.transforms.copying import Body, FreshNames, map_loads, map_own
from pipelines.hls.transforms.predicates import (
    Literal,
    Literals,
    Predicate,
    Predicates,
    exclude_each_other,
    knowledge_of,
    split_by_opposite,
)


@dataclass(frozen=True, slots=True)
class _Open:
    """An access that a later one may join: its literals and its place."""

    literals: Literals
    position: int


@dataclass(slots=True, kw_only=True)
class _Merging:
    """One walk over a body.

    Attributes:
        loaded, stored: how many loads and stores the body has of each array that has ports.
        stores: stores since which no access that may happen with them was made, by array.
        loads: loads that are values of variables, by array and literals.
        changed: the place of the last assignment of each variable so far.
    """

    names: FreshNames
    loaded: Counter[str]
    stored: Counter[str]
    predicates: Predicates
    found: list[ir.Statement | None] = field(default_factory=list[ir.Statement | None])
    stores: dict[str, list[_Open]] = field(default_factory=dict[str, list[_Open]])
    loads: dict[tuple[str, Literals], list[_Open]] = field(
        default_factory=dict[tuple[str, Literals], list[_Open]]
    )
    changed: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, statement: ir.Statement) -> int:
        """Add a statement; its place."""
        self.found.append(statement)
        if isinstance(statement, ir.Assign):
            self.changed[statement.variable.name] = len(self.found) - 1
        return len(self.found) - 1

    def held(self, value: ir.Expression, stem: str, line: int) -> ir.Read:
        """A value in a variable of its own."""
        variable = self.names.variable(stem, ir.type_of(value))
        self.add(ir.Assign(variable=variable, value=value, line=line))
        return ir.Read(variable=variable)

    def is_known_at(self, indices: tuple[ir.Expression, ...], position: int) -> bool:
        """Whether indices have the values at a place that they have here."""
        parts = [part for index in indices for part in ir.walk_expressions(index)]
        return not any(
            isinstance(p, ir.Load)
            or (isinstance(p, ir.Read) and self.changed.get(p.variable.name, -1) >= position)
            for p in parts
        )

    # ---- statements -------------------------------------------------------------------------------

    def statement(self, statement: ir.Statement) -> None:
        """Add what an assignment or a store becomes."""
        mapped = map_own(statement, self.expression)
        if isinstance(mapped, ir.Store):
            self.store(mapped)
        else:
            assert isinstance(mapped, ir.Assign)
            self.predicates.learn(mapped, self.add(mapped))

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """An expression whose loads are joined with opposite ones before, where that can be."""
        return map_loads(expression, self.load)

    # ---- loads ------------------------------------------------------------------------------------

    def load(self, load: ir.Load) -> ir.Expression:
        """A load, or the variable that holds its value."""
        name = load.array.name
        meaning = self.predicates.implied(load.predicate)
        if name in self.stores:
            self.keep_exclusive(name, meaning.literals)
        if self.stored[name] or self.loaded[name] < 2 or load.predicate is None or not meaning.exact:
            return load
        for literal in sorted(meaning.literals):
            opposite = (literal[0], not literal[1])
            waiting = self.loads.get((name, meaning.literals - {literal} | {opposite}), [])
            for other in waiting:
                joined = self.joined_load(other, load, meaning)
                if joined is not None:
                    waiting.remove(other)
                    return joined
        value = self.held(load, f"{name}_v", load.line)
        self.loads.setdefault((name, meaning.literals), []).append(
            _Open(meaning.literals, len(self.found) - 1)
        )
        return value

    def joined_load(self, other: _Open, load: ir.Load, meaning: Predicate) -> ir.Expression | None:
        """One load for an earlier one and the opposite one; None when it cannot be."""
        split = split_by_opposite(other.literals, meaning)
        first = self.found[other.position]
        assert isinstance(first, ir.Assign)
        assert isinstance(first.value, ir.Load)
        if split is None or not self.is_known_at(load.indices, other.position):
            return None
        common, literal = split
        condition = self.predicates.condition(common, other.position)
        if common and condition is None:
            return None
        indices = tuple(
            _selected(literal, a, b) for a, b in zip(first.value.indices, load.indices, strict=True)
        )
        both = replace(first.value, indices=indices, predicate=condition if common else None)
        self.found[other.position] = replace(first, value=both)
        if common:
            key = (load.array.name, common)
            self.loads.setdefault(key, []).append(_Open(common, other.position))
        return ir.Read(variable=first.variable)

    # ---- stores -----------------------------------------------------------------------------------

    def keep_exclusive(self, array: str, literals: Literals) -> None:
        """An access: stores that it may happen with can no longer be moved behind it."""
        self.stores[array] = [s for s in self.stores[array] if exclude_each_other(s.literals, literals)]

    def store(self, store: ir.Store) -> None:
        """Add a store, joined with opposite ones before it."""
        name = store.array.name
        meaning = self.predicates.implied(store.predicate)
        for other in self.stores.get(name, ()):
            joined = self.joined_store(other, store, meaning)
            if joined is not None:
                self.found[other.position] = None
                self.stores[name].remove(other)
                self.store(joined)
                return
        if name in self.stores:
            self.keep_exclusive(name, meaning.literals)
        waits = meaning.exact and meaning.literals and self.stored[name] > 1
        if waits:
            store = replace(store, value=self.held(store.value, f"{name}_new", store.line))
        position = self.add(store)
        if waits:
            self.stores.setdefault(name, []).append(_Open(meaning.literals, position))

    def joined_store(self, other: _Open, store: ir.Store, meaning: Predicate) -> ir.Store | None:
        """One store for an earlier one and the opposite one; None when it cannot be."""
        split = split_by_opposite(other.literals, meaning)
        first = self.found[other.position]
        assert isinstance(first, ir.Store)
        if split is None or not self.is_known_at(first.indices, other.position):
            return None
        common, literal = split
        condition = self.predicates.condition(common, len(self.found))
        if common and condition is None:
            return None
        if first.indices != store.indices and self.loaded[store.array.name]:
            return None
        return replace(
            store,
            indices=tuple(
                _selected(literal, a, b) for a, b in zip(first.indices, store.indices, strict=True)
            ),
            value=_selected(literal, first.value, store.value),
            predicate=condition if common else None,
        )


def _selected(literal: Literal, if_so: ir.Expression, otherwise: ir.Expression) -> ir.Expression:
    """One value when a literal holds, the other when it does not."""
    name, holds = literal
    condition = ir.Read(variable=ir.Variable(name=name))
    return make_select(condition, if_so, otherwise) if holds else make_select(condition, otherwise, if_so)


def merge_accesses(body: Body, names: FreshNames) -> Body:
    """Make one access of accesses of opposite branches to the same array.

    Args:    body: of assignments and stores only.
    Returns: an equivalent body. Arrays in registers stay as they are: they have no ports to save.
    """
    loads = [
        part
        for statement in body
        for expression in ir.statement_expressions(statement)
        for part in ir.walk_expressions(expression)
        if isinstance(part, ir.Load) and not part.array.registers
    ]
    stores = [s for s in body if isinstance(s, ir.Store) and not s.array.registers]
    walk = _Merging(
        names=names,
        loaded=Counter(load.array.name for load in loads),
        stored=Counter(store.array.name for store in stores),
        predicates=knowledge_of(body),
    )
    for statement in body:
        walk.statement(statement)
    return tuple(s for s in walk.found if s is not None)
