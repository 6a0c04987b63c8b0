"""Assignments, `++` and `--`, and the operators that choose what is evaluated: `&&`, `||`, `?:`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_cast, make_select, negated
from pipelines.hls.reading.ctypes import ArrayOf, Pointer, Scalar, Struct, leading_member, spelled
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.places import same_object
from pipelines.hls.reading.session import Address, Cell, Place, PointerSlot, Session
from pipelines.hls.reading.values import BINARY, UPDATES, Result
from pipelines.interface import common_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Turns assignments into statements."""

    expressions: Expressions

    def assignment(self, node: c_ast.Assignment | c_ast.UnaryOp, used: bool) -> Result:
        """An assignment, a compound one, `++` or `--`.

        Args:    used: whether the expression's value is used.
        Returns: the value; None when it is not used.
        """
        if isinstance(node, c_ast.UnaryOp):
            return self._update(node, used)
        if node.op == "=":
            return self._plain(node, used)
        return self._compound(node, used)

    def _operands(self, node: c_ast.Assignment) -> tuple[Place, Result]:
        """Target and right side of an assignment, evaluated once each, from left to right."""
        e = self.expressions
        places: list[Place] = []

        def read_target() -> Result:
            places.append(e.place(node.lvalue))
            return Address(kind=places[0].kind, storage=places[0].storage, indices=places[0].indices)

        kept, value = e.sequence(read_target, lambda: e.read(node.rvalue))
        return replace(places[0], indices=e.pointers.address(kept, node).indices), value

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
        """The value saved against later assignments."""
        session = self.expressions.session
        match value:
            case None | Place():
                return value
            case Address():
                fixed = (
                    i if isinstance(i, ir.Constant) else session.saved(i, "index", line)
                    for i in value.indices
                )
                return replace(value, indices=tuple(fixed))
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
        return e.places.load(place, node, None) if isinstance(place.storage, Cell) else number

    def _assign_pointer(self, place: Place, address: Address, node: c_ast.Node) -> Result:
        session = self.expressions.session
        slot = place.storage
        if not isinstance(slot, PointerSlot):
            raise session.refuse(node, "a pointer must be a variable", "an array of pointers")
        if address.storage is None:
            rule = "a pointer must point to an object (test a flag instead of a null pointer)"
            raise session.refuse(node, rule, "a null pointer")
        if slot.base is None:
            self._bind(slot, address)
        if not same_object(slot.base or address, address):
            rule = "a pointer must always point into one array (write the access for each array)"
            raise session.refuse(node, rule, f"another array for {slot.name}")
        if slot.loops < session.allocated.get(address.storage, 0):
            holder = session.holders.setdefault(address.storage, slot)
            if holder is not slot:
                rule = (
                    "memory that a loop allocates must have one pointer outside the loop (copy the numbers)"
                )
                raise session.refuse(node, rule, f"{holder.name} and {slot.name}")
        line = session.line_of(node)
        for own, value in zip(slot.indices, address.indices, strict=True):
            if isinstance(own, ir.Read) and own != value:
                session.emit(ir.Assign(variable=own.variable, value=value, line=line), node)
        return replace(address, indices=slot.indices)

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

    def copy(self, target: Place, source: Place, node: c_ast.Node) -> None:
        """Assign a structure, an array inside one, or a scalar, member by member."""
        e = self.expressions
        match target.kind:
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


MAXIMUM_COPIED_STATEMENTS = 16


def counting_loop(
    name: str, variable: ir.Variable, count: int, body: Sequence[ir.Statement], line: int
) -> ir.For:
    """`for (variable = 0; variable < count; variable++) body`."""
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
        """`&&` and `||`: the right operand is evaluated only when the left one does not decide."""
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
        """The value of `?:`: a selection, or a condition when a side changes something."""
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
        if isinstance(if_true, Place) or isinstance(if_false, Place):
            self._of_structures.add(id(node))
            return self._branches(node, condition)
        if isinstance(if_true, Address) and isinstance(if_false, Address):
            self._require_same(if_true, if_false, node)
            pairs = zip(if_true.indices, if_false.indices, strict=True)
            return replace(if_true, indices=tuple(make_select(condition, a, b) for a, b in pairs))
        if if_true is None and if_false is None:
            return None
        first, second = self._balanced(if_true, if_false, node)
        return make_select(condition, first, second)

    def _chosen(self, node: c_ast.TernaryOp, first: bool) -> Result:
        """The operand of `?:` that a constant condition selects, in the common type of both."""
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

    def _require_same(self, first: Address, second: Address, node: c_ast.Node) -> None:
        if not same_object(first, second):
            rule = "a pointer must always point into one array (write the access in both branches)"
            raise self.session.refuse(node, rule, "a choice between two arrays")

    def _branches(self, node: c_ast.TernaryOp, condition: ir.Expression) -> Result:
        """`?:` with side effects: a condition that assigns the value to a variable."""
        line = self.session.line_of(node)
        with self.session.collect() as then:
            if_true = self.expressions.read(node.iftrue)
        with self.session.collect() as otherwise:
            if_false = self.expressions.read(node.iffalse)
        result: Result = None
        if isinstance(if_true, Place) and isinstance(if_false, Place):
            result = self.expressions.hooks.new_object(if_true.kind, "choice", node)
            for body, value in ((then, if_true), (otherwise, if_false)):
                self._into(body, lambda r=result, v=value: self.expressions.hooks.copy(r, v, node))
        elif isinstance(if_true, Address) and isinstance(if_false, Address):
            self._require_same(if_true, if_false, node)
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
