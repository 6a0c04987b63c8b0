"""Assignments, `++` and `--`, and the operators that choose what is evaluated: `&&`, `||`, `?:`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_cast, make_select, negated
from pipelines.c.errors import HlsError
from pipelines.c.reading.addressing import same_object
from pipelines.c.reading.ctypes import (
    ArrayOf,
    Pointer,
    Scalar,
    Struct,
    leading_member,
    memory_members,
    spelled,
)
from pipelines.c.reading.expressions import Expressions, table_part
from pipelines.c.reading.session import (
    Address,
    Cell,
    Chosen,
    Place,
    PointerChoice,
    PointerSlot,
    PointerTable,
    Session,
    Storage,
    affected,
    cases_of,
    either,
    selected,
    target_of,
    with_parts,
)
from pipelines.c.reading.values import BINARY, UPDATES, Result
from pipelines.c.signature import common_type
from pipelines.c.text.spellings import SAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Turns assignments into statements."""

    expressions: Expressions

    def assignment(self, node: c_ast.Assignment | c_ast.UnaryOp, used: bool) -> Result:
        """Read an assignment, a compound one, `++` or `--`.

        Args:    used: whether the expression's value is used.
        Returns: the value; None when it is not used.
        """
        if isinstance(node, c_ast.UnaryOp):
            return self._update(node, used)
        if node.op == "=":
            return self._plain(node, used)
        return self._compound(node, used)

    def _operands(self, node: c_ast.Assignment) -> tuple[Place, Result]:
        """Return the target and right side of an assignment, evaluated once each, from left to right."""
        e = self.expressions
        places: list[Place] = []

        def read_target() -> Result:
            places.append(e.place(node.lvalue))
            return Address(kind=places[0].kind, storage=places[0].storage, indices=places[0].indices)

        kept, value = e.sequence(read_target, lambda: e.read(node.rvalue))
        target = e.pointers.address(kept, node)
        assert target.storage is not None
        return replace(places[0], storage=target.storage, indices=target.indices), value

    def _plain(self, node: c_ast.Assignment, used: bool) -> Result:
        place, value = self._operands(node)
        return self.assign(place, value, node, used=used)

    def _compound(self, node: c_ast.Assignment, used: bool) -> Result:
        e = self.expressions
        place, right = self._operands(node)
        present = e.value_at(place, node)
        return self.assign(place, e.combine(BINARY[node.op[:-1]], present, right, node), node, used=used)

    def _update(self, node: c_ast.UnaryOp, used: bool) -> Result:
        e = self.expressions
        place = e.place(node.expr)
        before = e.value_at(place, node)
        line = e.session.line_of(node)
        if used and node.op in ("p++", "p--"):
            before = self._saved(before, line)
        after = e.combine(UPDATES[node.op], before, ir.Constant(value=1), node)
        value = self.assign(place, after, node, used=used and node.op in ("++", "--"))
        return before if node.op in ("p++", "p--") else value

    def _saved(self, value: Result, line: int) -> Result:
        """Return the value saved against later assignments."""
        session = self.expressions.session
        match value:
            case None | Place():
                return value
            case Address():
                return with_parts(
                    value, lambda i: i if isinstance(i, ir.Constant) else session.saved(i, "index", line)
                )
            case _:
                return session.saved(value, "previous", line)

    # ---- by kind of place -------------------------------------------------------------------------

    def assign(self, place: Place, value: Result, node: c_ast.Node, *, used: bool = False) -> Result:
        """Assign a value, converted to the place's type.

        Returns: the new value of the place, None when it is not used.
        """
        e = self.expressions
        kind = place.kind
        match kind:
            case Scalar():
                return self._assign_number(place, e.converted(value, kind, node), node, used)
            case Pointer():
                return self._assign_pointer(place, e.pointers.pointed(value, kind, node), node)
            case Struct():
                source = e.converted(value, kind, node)
                assert isinstance(source, Place)
                self.copy(place, source, node)
                return place
            case _:
                rule = "an assignment must change a number, a structure or a pointer"
                raise e.session.refuse(node, rule, spelled(kind))

    def _assign_number(self, place: Place, value: Result, node: c_ast.Node, used: bool) -> Result:
        e = self.expressions
        number = e.as_number(value, node)
        if used and not isinstance(place.storage, Cell) and not isinstance(number, ir.Constant):
            number = e.session.saved(number, "assigned", e.session.line_of(node))
        e.places.store(place, number, node)
        if not used:
            return None
        if isinstance(place.storage, Cell):
            return e.places.load(place, node, None)
        return make_cast(number, place.kind.value_type) if isinstance(place.kind, Scalar) else number

    def _assign_pointer(self, place: Place, address: Address, node: c_ast.Node) -> Result:
        session = self.expressions.session
        slot = place.storage
        if isinstance(slot, Chosen):
            return self._assign_to_one(slot, address, node)
        if isinstance(slot, PointerTable):
            return self._assign_in_table(place, slot, address, node)
        if not isinstance(slot, PointerSlot):
            raise session.refuse(node, "a pointer must be a variable", "another object")
        if slot.targets:
            return self._assign_chosen(place, slot, address, node)
        if address.storage is None or isinstance(address.storage, Chosen):
            raise self._choice(slot, address, node)
        if slot.base is None:
            self._bind(slot, address)
        if not same_object(slot.base or address, address):
            raise self._choice(slot, address, node)
        self._hold(slot, address.storage, node)
        line = session.line_of(node)
        for own, value in zip(slot.indices, address.indices, strict=True):
            if isinstance(own, ir.Read) and own != value:
                session.emit(ir.Assign(variable=own.variable, value=value, line=line), node)
        return replace(address, indices=slot.indices)

    def _assign_to_one(self, places: Chosen, address: Address, node: c_ast.Node) -> Result:
        """Assign to the present one of several pointers."""
        session, line = self.expressions.session, self.expressions.session.line_of(node)
        kept = with_parts(
            address, lambda i: i if isinstance(i, ir.Constant) else session.saved(i, "pointer", line)
        )
        rest: tuple[ir.Statement, ...] = ()
        for number, (condition, one) in enumerate(reversed(places.cases)):
            with session.collect() as body:
                self._assign_pointer(self.expressions.places.target(one, node), kept, node)
            choice = ir.If(condition=condition, then=tuple(body), otherwise=rest, line=line)
            rest = tuple(body) if number == 0 else (choice,)
        for statement in rest:
            session.emit(statement, node)
        return kept

    def _assign_in_table(
        self, place: Place, table: PointerTable, address: Address, node: c_ast.Node
    ) -> Result:
        session, line = self.expressions.session, self.expressions.session.line_of(node)
        which, positions = self._numbered(table, address, len(table.indices), node)
        new = [(table.which, which)] if table.which is not None else []
        new += [
            (array, value) for array, value in zip(table.indices, positions, strict=True) if value is not None
        ]
        into = [(self.expressions.places.array_element(table_part(a, place), node), v) for a, v in new]
        stores: list[ir.Statement] = [
            ir.Store(array=array, indices=indices, value=make_cast(value, array.type), line=line)
            for (array, indices), value in into
        ]
        if any(affected(e, stores) for s in stores for e in ir.statement_expressions(s)):

            def save(value: ir.Expression) -> ir.Expression:
                return value if isinstance(value, ir.Constant) else session.saved(value, "pointer", line)

            stores = [ir.map_own_expressions(store, save) for store in stores]
        for store in stores:
            session.emit(store, node)
        return address

    def _numbered(
        self, slot: PointerSlot | PointerTable, address: Address, depth: int, node: c_ast.Node
    ) -> tuple[ir.Expression, list[ir.Expression | None]]:
        """Return number of the object that a pointer points into, and its indices; None if it is unused."""
        cases, numbers = cases_of(address), list[int]()
        for _, one in cases:
            target = target_of(one)
            if target not in slot.targets:
                raise self._choice(slot, address, node)
            numbers.append(slot.targets.index(target))
            self.expressions.session.void_kinds[slot.key, numbers[-1]] = one.kind
            if one.storage is not None:
                self._hold(slot, one.storage, node)
        kinds = [(own, ir.Constant(value=number)) for (own, _), number in zip(cases, numbers, strict=True)]
        indices: list[ir.Expression | None] = []
        for position in range(depth):
            values = [(own, one.indices[position]) for own, one in cases if position < len(one.indices)]
            indices.append(selected(values) if values else None)
        return selected(kinds), indices

    def _hold(self, slot: PointerSlot | PointerTable, storage: Storage, node: c_ast.Node) -> None:
        """Note that a pointer points into an object.

        Raises: HlsError: a loop allocates it, and another pointer outside the loop may have it.
        """
        session = self.expressions.session
        if slot.loops < session.allocated.get(storage, 0):
            rule = "memory that a loop allocates must have one pointer outside the loop (copy the numbers)"
            if isinstance(slot, PointerTable):
                raise session.refuse(node, rule, f"the pointers of {slot.name}")
            holder = session.holders.setdefault(storage, slot)
            if holder is not slot:
                raise session.refuse(node, rule, f"{holder.name} and {slot.name}")

    def _choice(self, slot: PointerSlot | PointerTable, address: Address, node: c_ast.Node) -> HlsError:
        """Return the error that lets a pointer point into one of several objects, or be null."""
        rule = "a pointer must always point into one array (write the access for each array)"
        refusal = self.expressions.session.refuse(node, rule, f"another object for {slot.name}")
        objects = [one for _, one in cases_of(address)]
        if isinstance(slot, PointerSlot) and slot.base is not None:
            objects.append(slot.base)
        targets = [target_of(one) for one in objects]
        known = tuple(target for target in targets if target is not None)
        return PointerChoice(slot.key, known, refusal) if len(known) == len(targets) else refusal

    def _assign_chosen(self, place: Place, slot: PointerSlot, address: Address, node: c_ast.Node) -> Result:
        """Assign a pointer that points into one of several objects: the number of the object, and indices."""
        session, line = self.expressions.session, self.expressions.session.line_of(node)
        assert slot.which is not None
        which, positions = self._numbered(slot, address, len(slot.indices), node)
        new = [(slot.which, which)]
        for index, value in zip(slot.indices, positions, strict=True):
            assert isinstance(index, ir.Read)
            new += [] if value is None else [(index.variable, value)]
        new = [(variable, value) for variable, value in new if value != ir.Read(variable=variable)]
        own: list[ir.Statement] = [
            ir.Assign(variable=variable, value=value, line=line) for variable, value in new
        ]
        if any(affected(value, own) for _, value in new):
            new = [(variable, session.saved(value, "pointer", line)) for variable, value in new]
        for variable, value in new:
            session.emit(ir.Assign(variable=variable, value=value, line=line), node)
        return self.expressions.pointer_at(place, node)

    def _bind(self, slot: PointerSlot, address: Address) -> None:
        """Bind a pointer to its object; its indices become variables unless they never change."""
        session = self.expressions.session
        indices: list[ir.Expression] = []
        for index in address.indices:
            if slot.fixed and isinstance(index, ir.Constant):
                indices.append(index)
            else:
                indices.append(ir.Read(variable=ir.Variable(name=session.unique(f"{slot.name}_at"))))
        slot.base, slot.indices = address, tuple(indices)
        if slot.exposed:
            session.expose(slot)

    def copy(self, target: Place, source: Place, node: c_ast.Node) -> None:
        """Assign a structure, an array inside one, or a scalar, member by member."""
        e = self.expressions
        match target.kind:
            case Struct() if target.kind.positions and target.bytewise:
                self._copy_memory(target, source, node)
            case Struct() if target.kind.union:
                name = leading_member(target.kind)
                self.copy(e.places.member(target, name, node), e.places.member(source, name, node), node)
            case Struct():
                for name in target.kind.members:
                    self.copy(e.places.member(target, name, node), e.places.member(source, name, node), node)
            case ArrayOf():
                self._copy_elements(target, source, target.kind.size or 0, node)
            case Pointer():
                self._assign_pointer(target, e.pointer_at(source, node), node)
            case _:
                e.places.store(target, e.places.load(source, node, None), node)

    def _copy_memory(self, target: Place, source: Place, node: c_ast.Node) -> None:
        """Assign a structure with bit-fields in memory, with the bits between them."""
        e = self.expressions
        assert isinstance(target.kind, Struct)
        for part in memory_members(target.kind):
            kind = Scalar(type=part.type)
            for number in range(part.count):
                offset = part.offset_bytes + number * part.type.width_bits // 8
                into = e.places.byte_at(target, offset, kind)
                value: ir.Expression = ir.Constant(value=0, type=part.type)
                if source.bytewise:
                    value = e.places.load(e.places.byte_at(source, offset, kind), node, None)
                e.places.store(into, value, node)
        if not source.bytewise:
            for name in target.kind.members:
                self.copy(e.places.member(target, name, node), e.places.member(source, name, node), node)

    def _copy_elements(self, target: Place, source: Place, size: int, node: c_ast.Node) -> None:
        e = self.expressions
        session = e.session
        if size <= MAXIMUM_COPIED_STATEMENTS:
            for number in range(size):
                index = ir.Constant(value=number)
                into, part = (e.places.element(p, index, node) for p in (target, source))
                self.copy(into, part, node)
            return
        line = session.line_of(node)
        variable = ir.Variable(name=session.unique("copied"))
        index = ir.Read(variable=variable)
        with session.collect() as body:
            self.copy(e.places.element(target, index, node), e.places.element(source, index, node), node)
        session.emit(counting_loop(session.unique_loop("copy"), variable, size, body, line), node)


def _with_null(value: Result, other: Result) -> Result:
    """Return an operand of `?:`: the null pointer for a zero beside a pointer."""
    if isinstance(other, Address) and isinstance(value, ir.Constant) and value.value == 0:
        return Address(kind=other.kind, storage=None)
    return value


MAXIMUM_COPIED_STATEMENTS = 16


def counting_loop(
    name: str, variable: ir.Variable, count: int, body: Sequence[ir.Statement], line: int
) -> ir.For:
    """Add `for (variable = 0; variable < count; variable++) body`."""
    return ir.For(
        name=name,
        variable=variable,
        lower=ir.Constant(value=0, type=variable.type),
        comparison="lt",
        upper=ir.Constant(value=count, type=variable.type),
        step=1,
        body=tuple(body),
        line=line,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Reads the operators that choose what is evaluated."""

    session: Session
    expressions: Expressions
    _of_structures: set[int] = field(default_factory=set[int])  # known nodes, so that none is read twice

    def connect(self, node: c_ast.BinaryOp) -> ir.Expression:
        """Return `&&` and `||`: the right operand is evaluated only when the left one does not decide."""
        left = self.expressions.condition(node.left)
        conjunction = node.op == "&&"
        if isinstance(left, ir.Constant):
            if bool(left.value) != conjunction:
                return ir.Constant(value=int(not conjunction))
            return self.expressions.condition(node.right)
        if not self.expressions.has_effects(node.right):
            left = self.expressions.held(left, node)
            needed = left if conjunction else negated(left)
            with self.expressions.under(needed, node):
                right = self.expressions.condition(node.right)
            if conjunction:
                return make_select(left, right, ir.Constant(value=0))
            return make_select(left, ir.Constant(value=1), right)
        line = self.session.line_of(node)
        outcome = self.session.saved(left, "condition", line)
        with self.session.collect() as body:
            right = self.expressions.condition(node.right)
            self.session.emit(ir.Assign(variable=outcome.variable, value=right, line=line), node)
        chosen: ir.Expression = outcome if conjunction else negated(outcome)
        self.session.emit(ir.If(condition=chosen, then=tuple(body), otherwise=(), line=line), node)
        return outcome

    def choose(self, node: c_ast.TernaryOp) -> Result:
        """Return the value of `?:`: a selection, or a condition when a side changes something."""
        if isinstance(node.iftrue, c_ast.ID) and node.iftrue.name == SAME:
            return self._choose_itself(node)
        condition = self.expressions.condition(node.cond)
        if isinstance(condition, ir.Constant):
            return self._chosen(node, bool(condition.value))
        sides = (node.iftrue, node.iffalse)
        if id(node) in self._of_structures or any(self.expressions.has_effects(side) for side in sides):
            return self._branches(node, condition)
        condition = self.expressions.held(condition, node)
        with self.expressions.under(condition, node):
            if_true = self.expressions.read(node.iftrue)
        with self.expressions.under(negated(condition), node):
            if_false = self.expressions.read(node.iffalse)
        if_true, if_false = _with_null(if_true, if_false), _with_null(if_false, if_true)
        if isinstance(if_true, Place) or isinstance(if_false, Place):
            self._of_structures.add(id(node))
            return self._branches(node, condition)
        if isinstance(if_true, Address) and isinstance(if_false, Address):
            return self._one_of(condition, if_true, if_false)
        if if_true is None and if_false is None:
            return None
        first, second = self._balanced(if_true, if_false, node)
        return make_select(condition, first, second)

    def _choose_itself(self, node: c_ast.TernaryOp) -> Result:
        """Return the value of `a ?: b`: that of `a` unless it is zero or null. `a` is evaluated once."""
        e = self.expressions
        self.session.later_forms = True
        value = e.read(node.cond)
        if self.expressions.has_effects(node.cond) and isinstance(value, ir.Expression):
            value = self.session.saved(value, "previous", self.session.line_of(node))
        condition = e.truth(value, node.cond)
        if e.has_effects(node.iffalse):
            return self._branches(node, condition, value)
        with e.under(negated(condition), node):
            other = _with_null(e.read(node.iffalse), value)
        if isinstance(value, Address) and isinstance(other, Address):
            return self._one_of(condition, value, other)
        first, second = self._balanced(value, other, node)
        return make_select(condition, first, second)

    def _chosen(self, node: c_ast.TernaryOp, first: bool) -> Result:
        """Return the operand of `?:` that a constant condition selects, in the common type of both."""
        value = self.expressions.read(node.iftrue if first else node.iffalse)
        if value is None or isinstance(value, Address | Place):
            return value
        other = self.expressions.kind_of(node.iffalse if first else node.iftrue)
        if not isinstance(other, Scalar):
            return value
        return make_cast(value, common_type(ir.type_of(value), other.type))

    def _balanced(
        self, if_true: Result, if_false: Result, node: c_ast.Node
    ) -> tuple[ir.Expression, ir.Expression]:
        first, second = self.expressions.as_number(if_true, node), self.expressions.as_number(if_false, node)
        kind = common_type(ir.type_of(first), ir.type_of(second))
        return make_cast(first, kind), make_cast(second, kind)

    def _one_of(self, condition: ir.Expression, first: Address, second: Address) -> Address:
        if first.storage is second.storage is None:
            return first
        if not same_object(first, second) or isinstance(first.storage, Chosen):
            self.session.later_forms = True
            return either(condition, first, second)
        pairs = zip(first.indices, second.indices, strict=True)
        return replace(first, indices=tuple(make_select(condition, a, b) for a, b in pairs))

    def _branches(self, node: c_ast.TernaryOp, condition: ir.Expression, itself: Result = None) -> Result:
        """Return `?:` with side effects: a condition that assigns the value to a variable.

        Args: itself: the value of the first operand of `?:` without a second one.
        """
        line = self.session.line_of(node)
        with self.session.collect() as then:
            if_true = self.expressions.read(node.iftrue) if itself is None else itself
        with self.session.collect() as otherwise:
            if_false = self.expressions.read(node.iffalse)
        if_true, if_false = _with_null(if_true, if_false), _with_null(if_false, if_true)
        result: Result = None
        if isinstance(if_true, Place) and isinstance(if_false, Place):
            result = self.expressions.hooks.new_object(if_true.kind, "choice", node)
            for body, value in ((then, if_true), (otherwise, if_false)):
                self._into(body, lambda r=result, v=value: self.expressions.hooks.copy(r, v, node))
        elif isinstance(if_true, Address) and isinstance(if_false, Address):
            if not same_object(if_true, if_false) or isinstance(if_true.storage, Chosen):
                sides = (
                    self._save_indices(then, if_true, line),
                    self._save_indices(otherwise, if_false, line),
                )
                condition = self.session.saved(condition, "condition", line)
                self.session.emit(
                    ir.If(condition=condition, then=tuple(then), otherwise=tuple(otherwise), line=line), node
                )
                return self._one_of(condition, *sides)
            names = [self.session.unique("index") for _ in if_true.indices]
            variables = [ir.Variable(name=n) for n in names]
            self._assign_all(then, variables, if_true.indices, line)
            self._assign_all(otherwise, variables, if_false.indices, line)
            result = replace(if_true, indices=tuple(ir.Read(variable=v) for v in variables))
        elif if_true is not None and if_false is not None:
            first, second = self._balanced(if_true, if_false, node)
            variable = ir.Variable(name=self.session.unique("choice"), type=ir.type_of(first))
            self._assign_all(then, [variable], (first,), line)
            self._assign_all(otherwise, [variable], (second,), line)
            result = ir.Read(variable=variable)
        self.session.emit(
            ir.If(condition=condition, then=tuple(then), otherwise=tuple(otherwise), line=line), node
        )
        return result

    def _save_indices(self, body: list[ir.Statement], value: Address, line: int) -> Address:
        """Return a pointer whose indices are saved at the end of a body."""
        with self.session.collect() as more:
            kept = with_parts(
                value, lambda i: i if isinstance(i, ir.Constant) else self.session.saved(i, "index", line)
            )
        body.extend(more)
        return kept

    def _into(self, body: list[ir.Statement], emit: Callable[[], None]) -> None:
        with self.session.collect() as more:
            emit()
        body.extend(more)

    def _assign_all(
        self,
        body: list[ir.Statement],
        variables: list[ir.Variable],
        values: tuple[ir.Expression, ...],
        line: int,
    ) -> None:
        for variable, value in zip(variables, values, strict=True):
            body.append(ir.Assign(variable=variable, value=value, line=line))
