"""Expressions that change something: assignments, `++` and `--`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.reading.ctypes import ArrayOf, Pointer, Scalar, Struct, spelled
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.places import same_object
from pipelines.hls.reading.session import Address, Cell, Place, PointerSlot
from pipelines.hls.reading.values import BINARY, UPDATES, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Turns assignments into statements."""

    expressions: Expressions

    def assignment(self, node: c_ast.Assignment | c_ast.UnaryOp, used: bool) -> Result:
        """An assignment, a compound one, `++` or `--`.

        Args:    used: whether the expression's value is wanted.
        Returns: the value; None when it is not used.
        """
        if isinstance(node, c_ast.UnaryOp):
            return self._update(node, used)
        if node.op == "=":
            return self._plain(node, used)
        return self._compound(node, used)

    def _operands(self, node: c_ast.Assignment) -> tuple[Place, Result]:
        """What an assignment changes, and its right side, evaluated once each, from left to right."""
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
        """A value that later assignments do not change."""
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
        """Give a place a value, converted to its type.

        Returns: the value the place has then, None when it is not used.
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
        line = session.line_of(node)
        for own, value in zip(slot.indices, address.indices, strict=True):
            if isinstance(own, ir.Read) and own != value:
                session.emit(ir.Assign(variable=own.variable, value=value, line=line), node)
        return replace(address, indices=slot.indices)

    def _bind(self, slot: PointerSlot, address: Address) -> None:
        """Let a pointer point into an object for good; its indices become variables unless they stay."""
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
