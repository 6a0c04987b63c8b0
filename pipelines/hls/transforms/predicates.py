"""Accesses under predicates: what predicates imply, shared loads, one port for opposite branches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_select
from pipelines.hls.transforms.copying import Body, FreshNames, map_loads, map_own
from pipelines.hls.transforms.folding import Interval, is_bit
from pipelines.interface import INT32

Literal = tuple[str, bool]
"""A variable, and whether it must be other than zero."""

Literals = frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a predicate implies; `exact` when it also holds whenever all of that does."""

    literals: Literals = frozenset()
    exact: bool = True


_UNKNOWN = Predicate(exact=False)


@dataclass(slots=True, kw_only=True)
class Predicates:
    """Knowledge that grows with the statements of a body, to be told of each in order.

    Attributes:
        assigned: how often the body assigns each variable.
        known: what a variable that is assigned once implies.
        bits: ranges of the variables that are 0 or 1.
        places: where a variable with exactly these literals was first assigned, and which.
    """

    assigned: Counter[str]
    known: dict[str, Predicate] = field(default_factory=dict[str, Predicate])
    bits: dict[str, Interval] = field(default_factory=dict[str, Interval])
    places: dict[Literals, tuple[int, ir.Variable]] = field(
        default_factory=dict[Literals, tuple[int, ir.Variable]]
    )

    def implied(self, predicate: ir.Expression | None) -> Predicate:
        """What a predicate implies, nothing for one that always holds."""
        match predicate:
            case None:
                return Predicate()
            case ir.Read(variable=variable):
                if self.assigned[variable.name] == 0:
                    return Predicate(frozenset(((variable.name, True),)))
                return self.known.get(variable.name, _UNKNOWN)
            case ir.Binary(operator="and", left=left, right=right):
                first, second = self.implied(left), self.implied(right)
                exact = first.exact and second.exact and is_bit(left, self.bits) and is_bit(right, self.bits)
                return Predicate(first.literals | second.literals, exact)
            case _:
                return _UNKNOWN

    def learn(self, statement: ir.Assign, position: int) -> None:
        """Know what a variable implies from now on, if it keeps its value."""
        name, value = statement.variable.name, statement.value
        if self.assigned[name] != 1 or statement.variable.type != INT32:
            return
        if is_bit(value, self.bits):
            self.bits[name] = (0, 1)
        meaning = _UNKNOWN
        zero_test = isinstance(value, ir.Binary) and value.right == ir.Constant(value=0)
        if isinstance(value, ir.Binary) and zero_test and value.operator in ("eq", "ne"):
            meaning = self._opposite(value.left) if value.operator == "eq" else self.implied(value.left)
        elif isinstance(value, ir.Read | ir.Binary):
            meaning = self.implied(value)
        self.known[name] = meaning if meaning.exact else Predicate(frozenset(((name, True),)))
        self.places.setdefault(self.known[name].literals, (position, statement.variable))

    def _opposite(self, value: ir.Expression) -> Predicate:
        """What it implies that a value is zero."""
        meaning = self.implied(value)
        if not isinstance(value, ir.Read) or not meaning.exact or len(meaning.literals) != 1:
            return _UNKNOWN
        ((name, holds),) = meaning.literals
        return Predicate(frozenset(((name, not holds),)))

    def condition(self, literals: Literals, position: int) -> ir.Read | None:
        """A variable that holds exactly these literals, at least one, and is assigned before a place."""
        place = self.places.get(literals)
        return None if place is None or place[0] >= position else ir.Read(variable=place[1])


def knowledge_of(body: Body) -> Predicates:
    """What is known before the first statement of a body."""
    return Predicates(assigned=Counter(s.variable.name for s in body if isinstance(s, ir.Assign)))


def split_by_opposite(first: Literals, second: Predicate) -> tuple[Literals, Literal] | None:
    """What two predicates share and the one literal of the first that is the opposite in the second.

    Returns: None when they differ in anything else; whenever what they share holds, so does one of them.
    """
    different = first - second.literals
    if len(different) != 1 or not second.exact:
        return None
    ((name, holds),) = different
    common = first - different
    return (common, (name, holds)) if second.literals == common | {(name, not holds)} else None


def exclude_each_other(first: Literals, second: Literals) -> bool:
    """Whether two sets of literals cannot hold at once."""
    return any((name, not holds) in second for name, holds in first)


_Shape = tuple[object, ...]
"""Indices without the constants added to them, as nested tuples; equal ones are equal indices."""

_Element = tuple[str, _Shape, tuple[int, ...]]
"""An element: the array, the shape of its indices, and the constants added to them."""


@dataclass(slots=True)
class _Fetched:
    """A load that was done: the variable with its value, its literals, and its place in the new body."""

    variable: ir.Variable
    literals: Literals
    position: int


_Group = dict[tuple[int, ...], list[_Fetched]]


@dataclass(slots=True, kw_only=True)
class _Sharing:
    """One walk over a body.

    Attributes:
        repeated: elements that more than one load of the body names.
        fetched: loads whose value still is the element's, by array and shape of the indices.
    """

    names: FreshNames
    repeated: frozenset[_Element]
    predicates: Predicates
    statements: list[ir.Statement] = field(default_factory=list[ir.Statement])
    fetched: dict[str, dict[_Shape, _Group]] = field(default_factory=dict[str, dict[_Shape, _Group]])
    readers: dict[str, list[_Element]] = field(default_factory=dict[str, list[_Element]])

    # ---- loads ------------------------------------------------------------------------------------

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """The expression with known elements read from variables; new ones are fetched before it."""
        return map_loads(expression, self.load)

    def load(self, load: ir.Load) -> ir.Expression:
        """The value of a load: that of an earlier one, or a new variable if others may share it."""
        variables: list[str] = []
        element = _element(load, variables)
        if element is None or element not in self.repeated:
            return load
        array, shape, constants = element
        group = self.fetched.setdefault(array, {}).setdefault(shape, {})
        meaning = self.predicates.implied(load.predicate)
        for other in group.get(constants, ()):
            if other.literals <= meaning.literals or self.weakened(other, meaning):
                return ir.Read(variable=other.variable)
        variable = self.names.variable(f"{array}_v", load.array.type)
        self.statements.append(ir.Assign(variable=variable, value=load, line=load.line))
        if meaning.exact:
            fetched = _Fetched(variable, meaning.literals, len(self.statements) - 1)
            group.setdefault(constants, []).append(fetched)
            for name in variables:
                self.readers.setdefault(name, []).append(element)
        return ir.Read(variable=variable)

    def weakened(self, other: _Fetched, meaning: Predicate) -> bool:
        """Do an earlier load without the one literal that is the opposite in a later one, if it can be."""
        split = split_by_opposite(other.literals, meaning)
        if split is None:
            return False
        common, _ = split
        condition = self.predicates.condition(common, other.position)
        if common and condition is None:
            return False
        statement = self.statements[other.position]
        assert isinstance(statement, ir.Assign)
        assert isinstance(statement.value, ir.Load)
        load = replace(statement.value, predicate=condition if common else None)
        self.statements[other.position] = replace(statement, value=load)
        other.literals = common
        return True

    # ---- statements -------------------------------------------------------------------------------

    def statement(self, statement: ir.Statement) -> None:
        """Add what an assignment or a store becomes."""
        mapped = map_own(statement, self.expression)
        self.statements.append(mapped)
        if isinstance(mapped, ir.Assign):
            for array, shape, constants in self.readers.pop(mapped.variable.name, ()):
                self.fetched.get(array, {}).get(shape, {}).pop(constants, None)
            self.predicates.learn(mapped, len(self.statements) - 1)
        elif isinstance(mapped, ir.Store):
            self.stored(mapped)

    def stored(self, store: ir.Store) -> None:
        """Forget the elements that a store may change: all but those that differ by a constant."""
        name = store.array.name
        split = _split(store.indices, [])
        known = self.fetched.pop(name, {})
        if split is not None and split[0] in known:
            same = known[split[0]]
            same.pop(split[1], None)
            self.fetched[name] = {split[0]: same}


def _split(indices: tuple[ir.Expression, ...], variables: list[str]) -> tuple[_Shape, tuple[int, ...]] | None:
    """Shape and constants of indices, whose variables are added to the list; None when they read memory."""
    shape: list[object] = []
    constants: list[int] = []
    for index in indices:
        base, constant = index, 0
        match index:
            case ir.Constant():
                shape.append(None)
                constants.append(index.value)
                continue
            case ir.Binary(operator="add", right=ir.Constant(value=value)):
                base, constant = index.left, value
            case ir.Binary(operator="sub", right=ir.Constant(value=value)):
                base, constant = index.left, -value
            case _:
                pass
        form = _form(base, variables)
        if form is None:
            return None
        shape.append(form)
        constants.append(constant)
    return tuple(shape), tuple(constants)


def _form(expression: ir.Expression, variables: list[str]) -> object:
    """An expression as nested tuples; None when it reads memory."""
    match expression:
        case ir.Read():
            variables.append(expression.variable.name)
            return expression.variable.name
        case ir.Constant():
            return expression.value, expression.type
        case ir.Load():
            return None
        case _:
            parts = tuple(_form(e, variables) for e in ir.child_expressions(expression))
            if None in parts:
                return None
            operator = expression.operator if isinstance(expression, ir.Binary | ir.Unary) else ""
            bits = isinstance(expression, ir.Cast) and expression.bits
            return operator, bits, expression.type, parts


def _element(load: ir.Load, variables: list[str]) -> _Element | None:
    split = _split(load.indices, variables)
    return None if split is None else (load.array.name, *split)


def share_loads(body: Body, names: FreshNames) -> Body:
    """Make one load of loads of the same element under different predicates.

    Args:    body: of assignments and stores only; indices are canonical sums, else fewer loads are shared.
    Returns: an equivalent body; loads that may be shared get a variable each.
    """
    loads = Counter(
        _element(part, [])
        for statement in body
        for expression in ir.statement_expressions(statement)
        for part in ir.walk_expressions(expression)
        if isinstance(part, ir.Load)
    )
    repeated = frozenset(e for e, count in loads.items() if e is not None and count > 1)
    if not repeated:
        return body
    walk = _Sharing(names=names, repeated=repeated, predicates=knowledge_of(body))
    for statement in body:
        walk.statement(statement)
    return tuple(walk.statements)


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
    statements: list[ir.Statement | None] = field(default_factory=list[ir.Statement | None])
    stores: dict[str, list[_Open]] = field(default_factory=dict[str, list[_Open]])
    loads: dict[tuple[str, Literals], list[_Open]] = field(
        default_factory=dict[tuple[str, Literals], list[_Open]]
    )
    changed: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, statement: ir.Statement) -> int:
        """Add a statement; its place."""
        self.statements.append(statement)
        if isinstance(statement, ir.Assign):
            self.changed[statement.variable.name] = len(self.statements) - 1
        return len(self.statements) - 1

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
            _Open(meaning.literals, len(self.statements) - 1)
        )
        return value

    def joined_load(self, other: _Open, load: ir.Load, meaning: Predicate) -> ir.Expression | None:
        """One load for an earlier one and the opposite one; None when it cannot be."""
        split = split_by_opposite(other.literals, meaning)
        first = self.statements[other.position]
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
        self.statements[other.position] = replace(first, value=both)
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
                self.statements[other.position] = None
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
        first = self.statements[other.position]
        assert isinstance(first, ir.Store)
        if split is None or not self.is_known_at(first.indices, other.position):
            return None
        common, literal = split
        condition = self.predicates.condition(common, len(self.statements))
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
    return tuple(s for s in walk.statements if s is not None)
