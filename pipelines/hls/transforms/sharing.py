"""Loads of one element under different predicates become one load.

Belongs here: straight-line bodies after if-conversion, where branches load what the condition or the other
branch loads, too. Does not: values that were stored (`forward.py`), or that live across iterations.

A predicate implies a set of literals, each that a variable is zero or that it is not. A load whose literals
include those of an earlier load of the same element takes its value. Two loads that differ in one literal,
which is the opposite in the other, become one without that literal at the place of the first: whatever
holds, one of them happens.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.transforms.copying import Body, FreshNames, map_own, with_operand
from pipelines.hls.transforms.folding import Interval, is_bit
from pipelines.interface import INT32

_Literal = tuple[str, bool]
"""A variable, and whether it must be other than zero."""

_Shape = tuple[object, ...]
"""Indices without the constants added to them, as nested tuples; equal ones are equal indices."""

_Element = tuple[str, _Shape, tuple[int, ...]]
"""An element: the array, the shape of its indices, and the constants added to them."""


@dataclass(frozen=True, slots=True)
class _Predicate:
    """What a predicate implies; `exact` when it also holds whenever all of that does."""

    literals: frozenset[_Literal] = frozenset()
    exact: bool = True


@dataclass(slots=True)
class _Fetched:
    """A load that was done: the variable with its value, its literals, and its place in the new body."""

    variable: ir.Variable
    literals: frozenset[_Literal]
    position: int


_Group = dict[tuple[int, ...], list[_Fetched]]


@dataclass(slots=True, kw_only=True)
class _Sharing:
    """One walk over a body.

    Attributes:
        repeated: elements that more than one load of the body names.
        assigned: how often the body assigns each variable.
        fetched: loads whose value still is the element's, by array and shape of the indices.
        known: what a variable that is assigned once implies.
        bits: ranges of the variables that are 0 or 1.
        places: where a variable with exactly these literals was first assigned, and which.
    """

    names: FreshNames
    repeated: frozenset[_Element]
    assigned: Counter[str]
    found: list[ir.Statement] = field(default_factory=list[ir.Statement])
    fetched: dict[str, dict[_Shape, _Group]] = field(default_factory=dict[str, dict[_Shape, _Group]])
    readers: dict[str, list[_Element]] = field(default_factory=dict[str, list[_Element]])
    known: dict[str, _Predicate] = field(default_factory=dict[str, _Predicate])
    bits: dict[str, Interval] = field(default_factory=dict[str, Interval])
    places: dict[frozenset[_Literal], tuple[int, ir.Variable]] = field(
        default_factory=dict[frozenset[_Literal], tuple[int, ir.Variable]]
    )

    # ---- predicates -------------------------------------------------------------------------------

    def implied(self, predicate: ir.Expression | None) -> _Predicate:
        """What a predicate implies, nothing for one that always holds."""
        match predicate:
            case None:
                return _Predicate()
            case ir.Read(variable=variable):
                if self.assigned[variable.name] == 0:
                    return _Predicate(frozenset(((variable.name, True),)))
                return self.known.get(variable.name, _Predicate(exact=False))
            case ir.Binary(operator="and", left=left, right=right):
                first, second = self.implied(left), self.implied(right)
                exact = first.exact and second.exact and is_bit(left, self.bits) and is_bit(right, self.bits)
                return _Predicate(first.literals | second.literals, exact)
            case _:
                return _Predicate(exact=False)

    def learn(self, statement: ir.Assign) -> None:
        """Know what a variable implies from now on, if it keeps its value."""
        name, value = statement.variable.name, statement.value
        if self.assigned[name] != 1 or statement.variable.type != INT32:
            return
        if is_bit(value, self.bits):
            self.bits[name] = (0, 1)
        meaning = self.implied(value) if isinstance(value, ir.Read | ir.Binary) else _Predicate(exact=False)
        if isinstance(value, ir.Binary) and value.operator == "eq" and value.right == ir.Constant(value=0):
            meaning = self.opposite(value.left)
        own = _Predicate(frozenset(((name, True),)))
        self.known[name] = meaning if meaning.exact else own
        self.places.setdefault(self.known[name].literals, (len(self.found) - 1, statement.variable))

    def opposite(self, value: ir.Expression) -> _Predicate:
        """What it implies that a value is zero."""
        meaning = self.implied(value)
        if not isinstance(value, ir.Read) or not meaning.exact or len(meaning.literals) != 1:
            return _Predicate(exact=False)
        ((name, holds),) = meaning.literals
        return _Predicate(frozenset(((name, not holds),)))

    # ---- loads ------------------------------------------------------------------------------------

    def expression(self, expression: ir.Expression) -> ir.Expression:
        """The expression with known elements read from variables; new ones are fetched before it."""
        match expression:
            case ir.Constant() | ir.Read():
                return expression
            case ir.Load():
                return self.load(expression)
            case ir.Binary():
                left, right = self.expression(expression.left), self.expression(expression.right)
                same = left is expression.left and right is expression.right
                return expression if same else replace(expression, left=left, right=right)
            case ir.Cast() | ir.Unary():
                operand = self.expression(expression.operand)
                return expression if operand is expression.operand else with_operand(expression, operand)
            case ir.Select():
                parts = (expression.condition, expression.if_true, expression.if_false)
                condition, if_true, if_false = (self.expression(p) for p in parts)
                return replace(expression, condition=condition, if_true=if_true, if_false=if_false)

    def load(self, load: ir.Load) -> ir.Expression:
        """The value of a load: that of an earlier one, or a new variable if others may share it."""
        predicate = None if load.predicate is None else self.expression(load.predicate)
        indices = tuple(self.expression(i) for i in load.indices)
        if predicate is not load.predicate or any(
            a is not b for a, b in zip(indices, load.indices, strict=True)
        ):
            load = ir.Load(array=load.array, indices=indices, line=load.line, predicate=predicate)
        variables: list[str] = []
        element = _element(load, variables)
        if element is None or element not in self.repeated:
            return load
        array, shape, constants = element
        group = self.fetched.setdefault(array, {}).setdefault(shape, {})
        meaning = self.implied(predicate)
        for other in group.get(constants, ()):
            if other.literals <= meaning.literals or self.weakened(other, meaning):
                return ir.Read(variable=other.variable)
        variable = self.names.variable(f"{array}_v", load.array.type)
        self.found.append(ir.Assign(variable=variable, value=load, line=load.line))
        if meaning.exact:
            fetched = _Fetched(variable, meaning.literals, len(self.found) - 1)
            group.setdefault(constants, []).append(fetched)
            for name in variables:
                self.readers.setdefault(name, []).append(element)
        return ir.Read(variable=variable)

    def weakened(self, other: _Fetched, meaning: _Predicate) -> bool:
        """Do an earlier load without the one literal that is the opposite in a later one, if it can be."""
        different = other.literals - meaning.literals
        if len(different) != 1 or not meaning.exact:
            return False
        ((name, holds),) = different
        common = other.literals - different
        if meaning.literals != common | {(name, not holds)}:
            return False
        place = self.places.get(common)
        if common and (place is None or place[0] > other.position):
            return False
        statement = self.found[other.position]
        assert isinstance(statement, ir.Assign)
        assert isinstance(statement.value, ir.Load)
        predicate = None if place is None or not common else ir.Read(variable=place[1])
        load = replace(statement.value, predicate=predicate)
        self.found[other.position] = replace(statement, value=load)
        other.literals = common
        return True

    # ---- statements -------------------------------------------------------------------------------

    def statement(self, statement: ir.Statement) -> None:
        """Add what an assignment or a store becomes."""
        mapped = map_own(statement, self.expression)
        self.found.append(mapped)
        if isinstance(mapped, ir.Assign):
            for array, shape, constants in self.readers.pop(mapped.variable.name, ()):
                self.fetched.get(array, {}).get(shape, {}).pop(constants, None)
            self.learn(mapped)
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
    assigned = Counter(s.variable.name for s in body if isinstance(s, ir.Assign))
    walk = _Sharing(names=names, repeated=repeated, assigned=assigned)
    for statement in body:
        walk.statement(statement)
    return tuple(walk.found)
