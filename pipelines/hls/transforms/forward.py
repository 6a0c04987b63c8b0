"""Forwarding in straight-line code: a value that was just stored or loaded is not loaded again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.analysis.accesses import (
    Key,
    Shape,
    escaping_labels,
    key_of,
    loaded_arrays,
    loads_of,
    replace_loads,
    shape_of,
)
from pipelines.c.analysis.affine import Affine
from pipelines.c.analysis.copying import FreshNames, fresh_names
from pipelines.c.analysis.facts import Facts, variables_of


@dataclass(slots=True, eq=False)
class _Entry:
    """An element whose value is known.

    Attributes:
        line: position of the statement that stored or loaded it.
        load: the load that fetched it; None when it was stored.
        used: its value is read again and needs a variable.
        unread: it was stored, and nothing can have read it from memory since.
    """

    array: ir.Array
    key: Key
    forms: tuple[Affine, ...]
    line: int
    load: ir.Load | None
    used: bool = False
    unread: bool = False
    variable: ir.Variable | None = None


@dataclass(slots=True)
class _Plan:
    """Plan of one statement: known loads by identity, and entries that begin here."""

    statement: ir.Statement
    known: dict[int, _Entry] = field(default_factory=dict[int, _Entry])
    fetched: list[_Entry] = field(default_factory=list[_Entry])
    stored: _Entry | None = None
    dead: bool = False


@dataclass(slots=True)
class _Body:
    """Plans one body.

    Attributes:
        table: the known elements of each array, by the shape of their keys.
        readers: the elements with a variable in their indices.
    """

    names: FreshNames
    facts: Facts
    stored_here: frozenset[str]
    plans: list[_Plan] = field(default_factory=list[_Plan])
    table: dict[str, dict[Shape, dict[Key, _Entry]]] = field(
        default_factory=dict[str, dict[Shape, dict[Key, _Entry]]]
    )
    readers: dict[str, list[_Entry]] = field(default_factory=dict[str, list[_Entry]])

    # ---- known elements ---------------------------------------------------------------------------

    def add(self, entry: _Entry) -> None:
        """Add a known element, if its indices can be followed."""
        names: set[str] = set()
        for form in entry.forms:
            variables = variables_of(form, self.facts)
            if variables is None:
                return
            names |= variables
        shapes = self.table.setdefault(entry.array.name, {})
        shapes.setdefault(shape_of(entry.key), {})[entry.key] = entry
        for name in names:
            self.readers.setdefault(name, []).append(entry)

    def forget_variable(self, name: str) -> None:
        """Drop the elements whose indices read a changed variable."""
        for entry in self.readers.pop(name, ()):
            if self.find(entry.array.name, entry.key) is entry:
                self.remove(entry)

    def find(self, array: str, key: Key) -> _Entry | None:
        return self.table.get(array, {}).get(shape_of(key), {}).get(key)

    def remove(self, entry: _Entry) -> None:
        shapes = self.table[entry.array.name]
        shape = shape_of(entry.key)
        del shapes[shape][entry.key]
        if not shapes[shape]:
            del shapes[shape]

    def meeting(self, array: str, key: Key, forms: tuple[Affine, ...]) -> list[_Entry]:
        """Return the other known elements that an access to this one may touch."""
        shape = shape_of(key)
        return [
            other
            for other_shape, entries in self.table.get(array, {}).items()
            if other_shape != shape
            for other in entries.values()
            if not any(self.facts.differs(a, b) for a, b in zip(other.forms, forms, strict=True))
        ]

    # ---- statements -------------------------------------------------------------------------------

    def statement(self, statement: ir.Statement) -> None:
        plan = _Plan(statement)
        self.plans.append(plan)
        if not isinstance(statement, ir.While):
            for expression in ir.statement_expressions(statement):
                self.loads(expression, plan)
        if isinstance(statement, ir.Store):
            self.store(statement, plan)
        elif isinstance(statement, ir.Assign):
            self.facts.after(statement)
            self.forget_variable(statement.variable.name)
        elif isinstance(statement, ir.If | ir.Block | ir.For | ir.While):
            bodies = tuple(forward_body(b, inner, self.names) for b, inner in self.facts.inside(statement))
            plan.statement = ir.with_bodies(statement, bodies)
            self.facts.after(statement)
            self.after_nested(statement)
        elif isinstance(statement, ir.Leave):
            self.keep_stores(None)

    def loads(self, expression: ir.Expression, plan: _Plan) -> None:
        for part in loads_of(expression):
            if part.array.name not in self.stored_here:
                continue
            forms = tuple(self.facts.read(i) for i in part.indices)
            key = key_of(forms)
            entry = self.find(part.array.name, key)
            if entry is not None:
                entry.used = True
                plan.known[id(part)] = entry
                continue
            for other in self.meeting(part.array.name, key, forms):
                other.unread = False
            if part.predicate is None:
                fetched = _Entry(part.array, key, forms, len(self.plans) - 1, part)
                plan.fetched.append(fetched)
                plan.known[id(part)] = fetched
                self.add(fetched)

    def store(self, store: ir.Store, plan: _Plan) -> None:
        """Add the stored element; drop those that it may overwrite."""
        forms = tuple(self.facts.read(i) for i in store.indices)
        key = key_of(forms)
        for other in self.meeting(store.array.name, key, forms):
            self.remove(other)
        before = self.find(store.array.name, key)
        if before is not None:
            self.remove(before)
        if store.predicate is not None:
            return
        if before is not None and before.load is None and before.unread:
            self.plans[before.line].dead = True
        entry = _Entry(store.array, key, forms, len(self.plans) - 1, None, unread=True)
        plan.stored = entry
        self.add(entry)

    def after_nested(self, statement: ir.Statement) -> None:
        """Drop what a statement with inner bodies may have changed or read."""
        for name in ir.stored_arrays((statement,)):
            self.table.pop(name, None)
        for name in ir.assigned_variables((statement,)):
            self.forget_variable(name)
        for name in loaded_arrays((statement,)):
            self.keep_stores(name)
        if escaping_labels(statement):
            self.keep_stores(None)

    def keep_stores(self, array: str | None) -> None:
        """Keep stores to an array, or to all arrays, because they may be read from memory."""
        for name in list(self.table) if array is None else [array]:
            for entries in self.table.get(name, {}).values():
                for entry in entries.values():
                    entry.unread = False

    # ---- the new body -----------------------------------------------------------------------------

    def rewritten(self) -> tuple[ir.Statement, ...]:
        """Return the statements, rewritten by their plans."""
        return tuple(s for plan in self.plans for s in self.rewrite(plan))

    def rewrite(self, plan: _Plan) -> list[ir.Statement]:
        """Return a rewritten statement with the statements before it."""
        statements: list[ir.Statement] = []
        for entry in plan.fetched:
            if entry.used and entry.load is not None:
                value = self.value(entry.load, plan, fetched=entry)
                statements.append(ir.Assign(variable=self.variable(entry), value=value, line=entry.load.line))
        statement = plan.statement
        if any(entry.used for entry in plan.known.values()) and not isinstance(statement, ir.While):
            statement = ir.map_own_expressions(statement, lambda e: self.value(e, plan))
        if isinstance(statement, ir.Store) and plan.stored is not None and plan.stored.used:
            variable = self.variable(plan.stored)
            statements.append(ir.Assign(variable=variable, value=statement.value, line=statement.line))
            statement = replace(statement, value=ir.Read(variable=variable))
        return statements if plan.dead else [*statements, statement]

    def value(self, expression: ir.Expression, plan: _Plan, fetched: _Entry | None = None) -> ir.Expression:
        """Return an expression with known loads replaced, except the one that fetches an entry."""

        def visit(load: ir.Load) -> ir.Expression | None:
            entry = plan.known.get(id(load))
            if entry is None or not entry.used or entry is fetched:
                return None
            return ir.Read(variable=self.variable(entry))

        return replace_loads(expression, visit)

    def variable(self, entry: _Entry) -> ir.Variable:
        """Return the variable that holds an element's value."""
        if entry.variable is None:
            entry.variable = self.names.variable(f"{entry.array.name}_v", entry.array.type)
        return entry.variable


def forward_body(body: tuple[ir.Statement, ...], facts: Facts, names: FreshNames) -> tuple[ir.Statement, ...]:
    """Forward stores inside a body and, separately, inside each inner body."""
    stored = frozenset(s.array.name for s in body if isinstance(s, ir.Store))
    planner = _Body(names=names, facts=facts, stored_here=stored)
    for statement in body:
        planner.statement(statement)
    return planner.rewritten()


def forward_stores(function: ir.Function) -> ir.Function:
    """Read values that a body stored or loaded before from variables; drop stores that are overwritten.

    Args:    function: any valid function.
    Returns: an equivalent function. Only arrays that the same body stores to are considered; equal loads
             without a store in between are one operation after lowering anyway.
    """
    return replace(function, body=forward_body(function.body, Facts(), fresh_names(function)))
