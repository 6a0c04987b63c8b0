"""Accesses under predicates: what predicates imply, shared loads, one port for opposite branches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.copying import Body, FreshNames, map_loads, map_own
from pipelines.c.analysis.folding import Interval, is_bit
from pipelines.c.arithmetic import make_select
from pipelines.c.signature import INT32

Literal = tuple[str, bool]
"""A variable, and whether it is not zero."""

Literals = frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Predicate:
    """Literals that a predicate implies; `exact` when they also imply the predicate."""

    literals: Literals = frozenset()
    exact: bool = True


_UNKNOWN = Predicate(exact=False)


@dataclass(slots=True, kw_only=True)
class Predicates:
    """Implications of variables, extended in order by each statement of a body.

    Attributes:
        assigned: number of assignments in the body per variable.
        known: literals that a variable with one assignment implies.
        bits: ranges of the variables that are 0 or 1.
        places: first variable with exactly these literals, and its position.
    """

    assigned: Counter[str]
    known: dict[str, Predicate] = field(default_factory=dict[str, Predicate])
    bits: dict[str, Interval] = field(default_factory=dict[str, Interval])
    places: dict[Literals, tuple[int, ir.Variable]] = field(
        default_factory=dict[Literals, tuple[int, ir.Variable]]
    )

    def implied(self, predicate: ir.Expression | None) -> Predicate:
        """Return the literals that a predicate implies; none for one that always holds."""
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
        """Record the implications of a variable that is assigned once."""
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
        """Return the literals that a zero value implies."""
        meaning = self.implied(value)
        if not isinstance(value, ir.Read) or not meaning.exact or len(meaning.literals) != 1:
            return _UNKNOWN
        ((name, holds),) = meaning.literals
        return Predicate(frozenset(((name, not holds),)))

    def condition(self, literals: Literals, position: int) -> ir.Read | None:
        """Return a variable with exactly these literals, at least one, that is assigned before a position."""
        place = self.places.get(literals)
        return None if place is None or place[0] >= position else ir.Read(variable=place[1])


def knowledge_of(body: Body) -> Predicates:
    """Return the implications before the first statement of a body."""
    return Predicates(assigned=Counter(s.variable.name for s in body if isinstance(s, ir.Assign)))


def split_by_opposite(first: Literals, second: Predicate) -> tuple[Literals, Literal] | None:
    """Return the literals that two predicates share, and the one of the first that is opposite in the second.

    Returns: None when they differ otherwise; when the shared literals hold, exactly one of the predicates
             does.
    """
    different = first - second.literals
    if len(different) != 1 or not second.exact:
        return None
    ((name, holds),) = different
    common = first - different
    return (common, (name, holds)) if second.literals == common | {(name, not holds)} else None


def exclude_each_other(first: Literals, second: Literals) -> bool:
    """Tell whether two sets of literals exclude each other."""
    return any((name, not holds) in second for name, holds in first)


_Shape = tuple[object, ...]
"""Indices without their added constants, as nested tuples; equal tuples are equal indices."""

_Element = tuple[str, _Shape, tuple[int, ...]]
"""An element: the array, the shape of its indices, and their added constants."""


@dataclass(slots=True)
class _Fetched:
    """A completed load: the variable with its value, its literals, and its position in the new body."""

    variable: ir.Variable
    literals: Literals
    position: int


_Group = dict[tuple[int, ...], list[_Fetched]]


@dataclass(slots=True, kw_only=True)
class _Sharing:
    """One walk over a body.

    Attributes:
        repeated: elements with more than one load in the body.
        fetched: loads that are still valid, by array and shape of the indices.
    """

    names: FreshNames
    repeated: frozenset[_Element]
    predicates: Predicates
    statements: list[ir.Statement] = field(default_factory=list[ir.Statement])
    fetched: dict[str, dict[_Shape, _Group]] = field(default_factory=dict[str, dict[_Shape, _Group]])
    readers: dict[str, list[_Element]] = field(default_factory=dict[str, list[_Element]])

    # ---- loads ------------------------------------------------------------------------------------

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """Return expression with known elements read from variables; new elements are loaded before it."""
        return map_loads(expression, self.load)

    def load(self, load: ir.Load) -> ir.Expression:
        """Load the value of a load: that of an earlier one, or a new variable that later loads may share."""
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
        """Drop from an earlier load the one literal that is opposite in a later one, if possible."""
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
        mapped = map_own(statement, self.expression)
        self.statements.append(mapped)
        if isinstance(mapped, ir.Assign):
            for array, shape, constants in self.readers.pop(mapped.variable.name, ()):
                self.fetched.get(array, {}).get(shape, {}).pop(constants, None)
            self.predicates.learn(mapped, len(self.statements) - 1)
        elif isinstance(mapped, ir.Store):
            self.stored(mapped)

    def stored(self, store: ir.Store) -> None:
        """Drop the elements that a store may change: all except those that differ by a constant."""
        name = store.array.name
        split = _split(store.indices, [])
        known = self.fetched.pop(name, {})
        if split is not None and split[0] in known:
            same = known[split[0]]
            same.pop(split[1], None)
            self.fetched[name] = {split[0]: same}


def _split(indices: tuple[ir.Expression, ...], variables: list[str]) -> tuple[_Shape, tuple[int, ...]] | None:
    """Return shape and constants of indices, None if they read memory; append their variables to the list."""
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
    """Return an expression as nested tuples; None when it reads memory."""
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

    A load takes the value of an earlier load of the same element whose predicate it implies. Two loads whose
    predicates differ in one opposite literal become one load without that literal at the place of the first,
    because one of them always happens.

    Args:    body: of assignments and stores only; indices are canonical sums, else fewer loads are shared.
    Returns: an equivalent body; each load that may be shared gets a variable.
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
    sharing = _Sharing(names=names, repeated=repeated, predicates=knowledge_of(body))
    for statement in body:
        sharing.statement(statement)
    return tuple(sharing.statements)


@dataclass(frozen=True, slots=True)
class _Open:
    """An access that a later one may join: its literals and its position."""

    literals: Literals
    position: int


@dataclass(slots=True, kw_only=True)
class _Merging:
    """One walk over a body.

    Attributes:
        loaded, stored: number of loads and stores in the body per array with ports.
        stores: stores without a later access that may happen together with them, by array.
        loads: loads that are values of variables, by array and literals.
        changed: position of the last assignment so far per variable.
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
        self.statements.append(statement)
        if isinstance(statement, ir.Assign):
            self.changed[statement.variable.name] = len(self.statements) - 1
        return len(self.statements) - 1

    def held(self, value: ir.Expression, stem: str, line: int) -> ir.Read:
        """Return a value saved in a new variable."""
        variable = self.names.variable(stem, ir.type_of(value))
        self.add(ir.Assign(variable=variable, value=value, line=line))
        return ir.Read(variable=variable)

    def is_known_at(self, indices: tuple[ir.Expression, ...], position: int) -> bool:
        """Tell whether indices have the same values at a position as here."""
        parts = [part for index in indices for part in ir.walk_expressions(index)]
        return not any(
            isinstance(p, ir.Load)
            or (isinstance(p, ir.Read) and self.changed.get(p.variable.name, -1) >= position)
            for p in parts
        )

    # ---- statements -------------------------------------------------------------------------------

    def statement(self, statement: ir.Statement) -> None:
        mapped = map_own(statement, self.expression)
        if isinstance(mapped, ir.Store):
            self.store(mapped)
        else:
            assert isinstance(mapped, ir.Assign)
            self.predicates.learn(mapped, self.add(mapped))

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """Return an expression whose loads are joined with earlier opposite ones where possible."""
        return map_loads(expression, self.load)

    # ---- loads ------------------------------------------------------------------------------------

    def load(self, load: ir.Load) -> ir.Expression:
        """Load a load, or the variable that holds its value."""
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
        """Return one load for an earlier one and its opposite; None when impossible."""
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
        """Keep only the stores that exclude an access, because the others cannot move behind it."""
        self.stores[array] = [s for s in self.stores[array] if exclude_each_other(s.literals, literals)]

    def store(self, store: ir.Store) -> None:
        """Add a store, joined with earlier opposite ones."""
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
        """Return one store for an earlier one and its opposite; None when impossible."""
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
    """Return one value when a literal holds, the other when it does not."""
    name, holds = literal
    condition = ir.Read(variable=ir.Variable(name=name))
    return make_select(condition, if_so, otherwise) if holds else make_select(condition, otherwise, if_so)


def merge_accesses(body: Body, names: FreshNames) -> Body:
    """Make one access of accesses of opposite branches to the same array.

    Two stores whose predicates differ in one opposite literal never both happen: they become one store, of
    the selected value at the selected index, at the place of the second. Two such loads become one at the
    place of the first, where the index of the second must be known. A selected index is not affine, which may
    lengthen dependences, so indices are selected only in arrays that the body does not both load and store.

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
    merging = _Merging(
        names=names,
        loaded=Counter(load.array.name for load in loads),
        stored=Counter(store.array.name for store in stores),
        predicates=knowledge_of(body),
    )
    for statement in body:
        merging.statement(statement)
    return tuple(s for s in merging.statements if s is not None)
