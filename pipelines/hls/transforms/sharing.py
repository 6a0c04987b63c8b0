"""Loads of one element under different predicates become one load.

A load whose predicate implies that of an earlier load of the same element takes its value. Two loads that
differ in one literal, which is the opposite in the other, become one without that literal at the place of
the first: whatever holds, one of them happens.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from pipelines.hls import ir
from pipelines.hls.transforms.copying import Body, FreshNames, map_loads, map_own
from pipelines.hls.transforms.predicates import (
    Literals,
    Predicate,
    Predicates,
    knowledge_of,
    split_by_opposite,
)

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
    found: list[ir.Statement] = field(default_factory=list[ir.Statement])
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
        self.found.append(ir.Assign(variable=variable, value=load, line=load.line))
        if meaning.exact:
            fetched = _Fetched(variable, meaning.literals, len(self.found) - 1)
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
        statement = self.found[other.position]
        assert isinstance(statement, ir.Assign)
        assert isinstance(statement.value, ir.Load)
        load = replace(statement.value, predicate=condition if common else None)
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
            self.predicates.learn(mapped, len(self.found) - 1)
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
    return tuple(walk.found)
