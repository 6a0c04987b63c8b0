"""`memcpy`, `memmove` and `memset`: loops over whole elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary, make_bit_cast, make_cast
from pipelines.hls.reading.ctypes import SIZE, ArrayOf, CType, Scalar, Struct, layout_of, spelled
from pipelines.hls.reading.effects import MAXIMUM_COPIED_STATEMENTS, Effects
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.filling import Filler
from pipelines.hls.reading.places import as_index
from pipelines.hls.reading.session import Address, Place, Session
from pipelines.hls.reading.values import Result
from pipelines.interface import INT32

MEMORY_CALLS = ("memcpy", "memmove", "memset")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCalls:
    """Reads calls that copy or set memory."""

    session: Session
    expressions: Expressions
    effects: Effects
    filler: Filler

    def call(self, name: str, arguments: list[c_ast.Node], node: c_ast.FuncCall) -> Result:
        """A call; its value is its first argument."""
        if len(arguments) != 3:
            raise self.session.refuse(node, f"{name} must have 3 arguments", str(len(arguments)))
        readers = [lambda a=a: self.expressions.read(a) for a in arguments]
        first, second, third = self.expressions.sequence(*readers)
        target = self.expressions.pointers.address(first, node)
        size_bytes = make_cast(self.expressions.as_number(third, node), SIZE)
        if name == "memset":
            self._set(target, self.expressions.as_number(second, node), size_bytes, node)
        else:
            source = self.expressions.pointers.address(second, node)
            self._copy(name, target, source, size_bytes, node)
        return target

    def _set(
        self, target: Address, value: ir.Expression, size_bytes: ir.Expression, node: c_ast.Node
    ) -> None:
        byte = value.value & 0xFF if isinstance(value, ir.Constant) and not value.type.floating else None
        if byte != 0 and not (isinstance(target.kind, Scalar) and target.kind.type.width_bits == 8):
            rule = "memset must set to 0 or have elements of one byte (write a loop)"
            raise self.session.refuse(node, rule, f"elements of type {spelled(target.kind)}")
        target, count = self._elements(target, target.kind, size_bytes, node)

        def each(index: ir.Expression) -> None:
            place = self._at(target, index, node)
            if isinstance(place.kind, Scalar):
                self.effects.assign(place, value, node)
            else:
                self.filler.fill(place, [], node)

        self._repeat("memset", count, each, node)

    def _copy(
        self, name: str, target: Address, source: Address, size_bytes: ir.Expression, node: c_ast.Node
    ) -> None:
        if name == "memmove" and target.storage is source.storage:
            rule = "memmove must copy between different arrays (write a loop)"
            raise self.session.refuse(node, rule, "one array")
        if not _same_layout(target.kind, source.kind):
            rule = f"{name} must copy elements of one layout (write a loop with casts)"
            got = f"{spelled(source.kind)} to {spelled(target.kind)}"
            raise self.session.refuse(node, rule, got)
        into, count = self._elements(target, target.kind, size_bytes, node)
        from_, _ = self._elements(source, source.kind, size_bytes, node)

        def each(index: ir.Expression) -> None:
            self._copy_part(self._at(into, index, node), self._at(from_, index, node), node)

        self._repeat(name, count, each, node)

    def _copy_part(self, target: Place, source: Place, node: c_ast.Node) -> None:
        if isinstance(target.kind, Scalar) and isinstance(source.kind, Scalar):
            value = self.expressions.places.load(source, node, None)
            kinds = target.kind.type, source.kind.type
            if kinds[0].floating != kinds[1].floating:
                value = make_bit_cast(value, kinds[0])
            self.expressions.places.store(target, make_cast(value, kinds[0]), node)
        else:
            self.effects.copy(target, source, node)

    def _elements(
        self, address: Address, kind: CType, size_bytes: ir.Expression, node: c_ast.Node
    ) -> tuple[Address, ir.Expression]:
        """Where to begin, and how many elements a number of bytes are."""
        layout = layout_of(kind)
        element_bytes = 1 if layout is None else layout.size or 1
        if isinstance(size_bytes, ir.Constant) and size_bytes.value % element_bytes:
            if isinstance(kind, ArrayOf):
                inner = self.expressions.places.decayed(self.expressions.places.target(address, node))
                return self._elements(inner, kind.element, size_bytes, node)
            rule = f"a size must be a multiple of {element_bytes} bytes"
            raise self.session.refuse(node, rule, str(size_bytes.value))
        count = make_binary("div", size_bytes, ir.Constant(value=element_bytes, type=SIZE))
        return address, as_index(count)

    def _at(self, address: Address, index: ir.Expression, node: c_ast.Node) -> Place:
        places = self.expressions.places
        return places.target(places.moved(address, index, node), node)

    def _repeat(
        self, name: str, count: ir.Expression, each: Callable[[ir.Expression], None], node: c_ast.Node
    ) -> None:
        if isinstance(count, ir.Constant) and count.value <= MAXIMUM_COPIED_STATEMENTS:
            for number in range(count.value):
                each(ir.Constant(value=number))
            return
        line = self.session.line_of(node)
        if not isinstance(count, ir.Constant):
            count = self.session.saved(count, f"{name}_end", line)
        variable = ir.Variable(name=self.session.unique(f"{name}_at"), type=INT32)
        loop_name = self.session.unique_loop(name)
        with self.session.collect() as body:
            each(ir.Read(variable=variable))
        loop = ir.For(
            name=loop_name,
            variable=variable,
            lower=ir.Constant(value=0),
            comparison="lt",
            upper=count,
            step=1,
            body=tuple(body),
            line=line,
        )
        self.session.emit(loop, node)


def _same_layout(first: CType, second: CType) -> bool:
    """Whether elements of two types can be copied one by one: equal types, or numbers of one width."""
    match first, second:
        case (Scalar(), Scalar()):
            return first.type.width_bits == second.type.width_bits
        case (ArrayOf(), ArrayOf()):
            return first.size == second.size and _same_layout(first.element, second.element)
        case (Struct(), Struct()):
            return first is second
        case _:
            return False
