"""Small local arrays as registers, one variable per element.

A constant index selects its element. Any other index reads through a tree of selections over the elements,
and stores through a selection in each element.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product

from pipelines.c import ir
from pipelines.c.analysis.accesses import loads_of, replace_loads
from pipelines.c.analysis.copying import FreshNames, fresh_names, map_own
from pipelines.c.arithmetic import both, choose, equals, make_select
from pipelines.c.errors import NotApplicable

THRESHOLD_ELEMENTS = 64
"""Arrays of at most this many elements with only constant indices become registers by default. Such an
element costs one flip-flop per bit and no multiplexer except those of its assignments, and each access is
free; a memory costs about the same area, because there is no library macro below some hundred words, and has
a port for which all accesses wait."""

MAXIMUM_ELEMENTS = 1024
"""Largest array, in elements, that a directive keeps in registers; with more the selections exceed any
device."""


def is_constant_index(access: ir.Load | ir.Store) -> bool:
    """Tell whether all indices of an access are constant."""
    return all(isinstance(i, ir.Constant) for i in access.indices)


def _accesses(function: ir.Function) -> dict[str, list[ir.Load | ir.Store]]:
    accesses: dict[str, list[ir.Load | ir.Store]] = {a.name: [] for a in function.arrays}
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.Store):
            accesses[statement.array.name].append(statement)
        for expression in ir.statement_expressions(statement):
            for load in loads_of(expression):
                accesses[load.array.name].append(load)
    return accesses


def arrays_in_registers(function: ir.Function, threshold_elements: int) -> tuple[ir.Array, ...]:
    """Return the local arrays that become registers.

    Arrays marked `registers`, and arrays of at most `threshold_elements` elements whose indices are all
    constant. A table of constants that is read with other indices stays a table unless marked.

    Raises: NotApplicable: a marked array has more than `MAXIMUM_ELEMENTS` elements.
    """
    accesses = _accesses(function)
    chosen: list[ir.Array] = []
    for array in function.arrays:
        if array.external:
            continue
        if array.registers:
            if array.element_count > MAXIMUM_ELEMENTS:
                raise NotApplicable(
                    f"{array.name} has {array.element_count} elements;"
                    f" at most {MAXIMUM_ELEMENTS} are kept in registers"
                )
            chosen.append(array)
        elif array.element_count <= threshold_elements and all(map(is_constant_index, accesses[array.name])):
            chosen.append(array)
    return tuple(chosen)


Place = tuple[int, ...]


@dataclass(slots=True)
class _Registers:
    """Replaces the accesses to some arrays; `pending` has statements to insert before the present one."""

    elements: dict[str, dict[Place, ir.Variable]]
    names: FreshNames
    pending: list[ir.Statement] = field(default_factory=list[ir.Statement])
    line: int = 0
    inline: bool = False

    def body(self, body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        statements: list[ir.Statement] = []
        for statement in body:
            self.line, self.inline = statement.line, isinstance(statement, ir.While)
            rebuilt = map_own(statement, self.expression)
            replaced: list[ir.Statement] = [rebuilt]
            if isinstance(rebuilt, ir.Store) and rebuilt.array.name in self.elements:
                replaced = self.store(rebuilt)
            statements += self.pending
            self.pending = []
            bodies = tuple(self.body(b) for b in ir.child_bodies(rebuilt))
            statements += [ir.with_bodies(rebuilt, bodies)] if bodies else replaced
        return tuple(statements)

    def store(self, store: ir.Store) -> list[ir.Statement]:
        """Return the assignments to the elements that a store may refer to."""
        elements = self.elements[store.array.name]
        indices = tuple(self.named(i) for i in store.indices)
        targets = [p for p in elements if all(_may_be(i, k) for i, k in zip(indices, p, strict=True))]
        value = store.value if len(targets) == 1 else self.named(store.value)
        assignments: list[ir.Statement] = []
        for place in targets:
            condition = store.predicate
            for index, number in zip(indices, place, strict=True):
                if not isinstance(index, ir.Constant):
                    condition = both(equals(index, number), condition)
            register = elements[place]
            chosen = value
            if condition is not None:
                chosen = make_select(condition, value, ir.Read(variable=register))
            assignments.append(ir.Assign(variable=register, value=chosen, line=store.line))
        return assignments

    def expression(self, expression: ir.Expression) -> ir.Expression:

        def visit(load: ir.Load) -> ir.Expression | None:
            if load.array.name not in self.elements:
                return None
            indices = tuple(self.named(replace_loads(i, visit)) for i in load.indices)
            return self.selected(self.elements[load.array.name], load.array.shape, indices, ())

        return replace_loads(expression, visit)

    def selected(
        self,
        elements: dict[Place, ir.Variable],
        shape: tuple[int, ...],
        indices: tuple[ir.Expression, ...],
        place: Place,
    ) -> ir.Expression:
        """Return the element at some indices, the first of which are resolved to `place`."""
        depth = len(place)
        if depth == len(indices):
            return ir.Read(variable=elements[place])
        index = indices[depth]
        if isinstance(index, ir.Constant):
            number = min(max(index.value, 0), shape[depth] - 1)
            return self.selected(elements, shape, indices, (*place, number))
        choices = [(k, self.selected(elements, shape, indices, (*place, k))) for k in range(shape[depth])]
        return choose(index, choices)

    def named(self, expression: ir.Expression) -> ir.Expression:
        """Return value in a variable, unless it is one already or the place allows no statement before."""
        if self.inline or isinstance(expression, ir.Constant | ir.Read):
            return expression
        variable = self.names.variable("at", ir.type_of(expression))
        self.pending.append(ir.Assign(variable=variable, value=expression, line=self.line))
        return ir.Read(variable=variable)


def _may_be(index: ir.Expression, number: int) -> bool:
    return not isinstance(index, ir.Constant) or index.value == number


def _variables(array: ir.Array, names: FreshNames) -> dict[Place, ir.Variable]:
    return {
        place: names.variable(f"{array.name}_{'_'.join(map(str, place))}", array.type)
        for place in product(*(range(n) for n in array.shape))
    }


def arrays_to_registers(function: ir.Function, threshold_elements: int = THRESHOLD_ELEMENTS) -> ir.Function:
    """Keep small local arrays in registers.

    Args:    threshold_elements: see `arrays_in_registers`; 0 = marked arrays only.
    Returns: an equivalent function; initial values are assigned at its start.
    Raises:  NotApplicable: a marked array has more than `MAXIMUM_ELEMENTS` elements.
    """
    chosen = arrays_in_registers(function, threshold_elements)
    if not chosen:
        return function
    names = fresh_names(function)
    elements = {a.name: _variables(a, names) for a in chosen}
    line = function.body[0].line if function.body else 0
    start = [
        ir.Assign(variable=variable, value=ir.Constant(value=value, type=array.type), line=line)
        for array in chosen
        if array.initial is not None
        for variable, value in zip(elements[array.name].values(), array.initial, strict=True)
    ]
    body = _Registers(elements, names).body(function.body)
    arrays = tuple(a for a in function.arrays if a.name not in elements)
    return replace(function, body=(*start, *body), arrays=arrays)
