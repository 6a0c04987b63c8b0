"""The operation graph of a statement, and the elements it accesses.

What costs nothing is no operation: constants, conversions between integer types, integer values of loop
counters and constants alone (a tool steps them), affine subscripts, and values that are the same in the
whole program (a tool computes them once). Equal values of a statement are one operation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pipelines.c import ir
from pipelines.c.signature import ScalarType
from pipelines.pragmas.analysis.accumulation import (
    MAXIMUM,
    MINIMUM,
    Accumulation,
    find_accumulation,
)
from pipelines.pragmas.analysis.forms import read_form
from pipelines.pragmas.analysis.nest import Assignment, Nest, outside, spelled_element
from pipelines.pragmas.errors import SubscriptError
from pipelines.pragmas.summary import READ, WRITE, Access, Affine, Operation

_KINDS = {"shl": "shift", "shr": "shift", "and": "logic", "or": "logic", "xor": "logic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a statement does.

    Attributes:
        accesses: reads, then the write; subscripts over counters.
        guarded: indices of reads that happen under a condition only.
        accumulates: index of the read of the target's earlier value, None when it is no accumulation.
    """

    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]
    guarded: frozenset[int] = frozenset()
    accumulates: int | None = None


def read_body(assignment: Assignment, nest: Nest, written: frozenset[str]) -> Body:
    """Read the operations of a statement.

    Args:   written: names of scalars that some statement assigns.
    Raises: SubscriptError: a subscript that is not affine, unless the nest is relaxed.
    """
    iterators = frozenset(level.iterator for level in nest.levels.values())
    return _Builder(assignment=assignment, nest=nest, written=written, iterators=iterators).build()


def type_name(kind: ScalarType) -> str:
    """Return the name of a type in operations: `float`, `double`, `int32`, `uint8`."""
    return kind.c_name.removesuffix("_t")


@dataclass(slots=True, kw_only=True)
class _Builder:
    assignment: Assignment
    nest: Nest
    written: frozenset[str]
    iterators: frozenset[str]
    operations: list[Operation] = field(default_factory=list[Operation])
    accesses: list[Access] = field(default_factory=list[Access])
    guarded: set[int] = field(default_factory=set[int])
    known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def build(self) -> Body:
        node = self.assignment.node
        subscripts = self.subscripts(node.array, node.indices) if isinstance(node, ir.Store) else ()
        name, kind = target_of(node)
        accumulation = find_accumulation(node.value, lambda e: self.is_element(e, name, subscripts))
        earlier, value = (
            (None, self.visit(node.value)) if accumulation is None else self.accumulate(accumulation)
        )
        if isinstance(node, ir.Store) and not all(s.exact for s in subscripts):
            value += tuple(o for index in node.indices for o in self.visit(index))
        self.accesses.append(Access(array=name, kind=WRITE, subscripts=subscripts))
        self.add("store", kind, value, access=len(self.accesses) - 1)
        return Body(
            operations=tuple(self.operations),
            accesses=tuple(self.accesses),
            guarded=frozenset(self.guarded),
            accumulates=earlier,
        )

    def add(
        self, kind: str, of: ScalarType, operands: tuple[int, ...], *, access: int | None = None, **more: bool
    ) -> tuple[int, ...]:
        operands = tuple(dict.fromkeys(operands))
        self.operations.append(
            Operation(kind=kind, type=type_name(of), operands=operands, access=access, **more)
        )
        return (len(self.operations) - 1,)

    # ---- elements ---------------------------------------------------------------------------------

    def subscripts(self, array: ir.Array, indices: tuple[ir.Expression, ...]) -> tuple[Affine, ...]:
        forms = tuple(read_form(index, self.assignment.known) for index in indices)
        if not all(form.exact for form in forms) and not self.nest.relaxed:
            problem = f"subscript is not affine: {spelled_element(array, indices)}"
            raise SubscriptError(str(outside(problem, self.nest.file, self.assignment.node.line)))
        return forms

    def is_element(self, value: ir.Expression, name: str, subscripts: tuple[Affine, ...]) -> bool:
        """Tell whether a value is surely that element's."""
        match value:
            case ir.Read():
                return value.variable.name == name and not subscripts
            case ir.Load() if value.array.name == name:
                own = self.subscripts(value.array, value.indices)
                return own == subscripts and all(s.exact for s in own)
            case _:
                return False

    def load(self, load: ir.Load) -> tuple[int, ...]:
        subscripts = self.subscripts(load.array, load.indices)
        exact = all(s.exact for s in subscripts)
        operands = () if exact else tuple(o for index in load.indices for o in self.visit(index))
        condition = () if load.predicate is None else self.visit(load.predicate)
        key = ("load", load.array.name, subscripts if exact else load.indices, load.predicate)
        operation = self.fetch(key, load.array.name, load.array.type, subscripts, operands + condition)
        if load.predicate is not None:
            self.guarded.add(self.operations[operation[0]].access or 0)
        return operation

    def fetch(
        self,
        key: tuple[object, ...],
        name: str,
        kind: ScalarType,
        subscripts: tuple[Affine, ...],
        operands: tuple[int, ...],
    ) -> tuple[int, ...]:
        if key in self.known:
            return (self.known[key],)
        self.accesses.append(Access(array=name, kind=READ, subscripts=subscripts))
        operation = self.add("load", kind, operands, access=len(self.accesses) - 1)
        self.known[key] = operation[0]
        return operation

    # ---- values -----------------------------------------------------------------------------------

    def visit(self, value: ir.Expression) -> tuple[int, ...]:
        """Return the operation that gives a value; for a value that costs nothing those it is made of."""
        match value:
            case ir.Constant():
                return ()
            case ir.Read(variable=variable):
                if self.is_iterator(variable.name):
                    return ()
                return self.fetch(("read", variable.name), variable.name, variable.type, (), ())
            case ir.Load():
                return self.load(value)
            case _:
                if value_is_counted(value, self.iterators - self.written):
                    return ()
                operands = tuple(o for part in ir.child_expressions(value) for o in self.visit(part))
                kind, of = _kind_of(value)
                if kind is None or is_constant(value, self.written | self.iterators):
                    return operands
                return self.once(("value", value), kind, of, operands)

    def is_iterator(self, name: str) -> bool:
        return name not in self.written and name in self.iterators

    def once(
        self, key: tuple[object, ...], kind: str, of: ScalarType, operands: tuple[int, ...]
    ) -> tuple[int, ...]:
        if key not in self.known:
            self.known[key] = self.add(kind, of, operands)[0]
        return (self.known[key],)

    # ---- accumulations ----------------------------------------------------------------------------

    def accumulate(self, accumulation: Accumulation) -> tuple[int | None, tuple[int, ...]]:
        """Return the combined value, the associative operation last; and the access of the earlier value."""
        rest = self.visit(accumulation.rest)
        earlier = self.visit(accumulation.earlier)
        of = ir.type_of(accumulation.rest)
        if accumulation.operator in (MINIMUM, MAXIMUM):
            test = self.add("compare", of, (*earlier, *rest), reduction=True)
            value = self.add("select", of, (*test, *earlier, *rest), reduction=True)
        else:
            operator = "sub" if accumulation.negative else accumulation.operator
            whole = ir.Binary(operator=operator, left=accumulation.earlier, right=accumulation.rest, type=of)
            value = self.add(_arithmetic_kind(whole), of, (*earlier, *rest), reduction=True)
        return self.operations[earlier[0]].access, value


def target_of(node: ir.Assign | ir.Store) -> tuple[str, ScalarType]:
    """Return the name and element type of what a statement writes."""
    if isinstance(node, ir.Assign):
        return node.variable.name, node.variable.type
    return node.array.name, node.array.type


def value_is_counted(value: ir.Expression, iterators: frozenset[str]) -> bool:
    """Tell whether an integer value is made of constants and loop iterators alone."""
    if ir.type_of(value).floating:
        return False
    match value:
        case ir.Constant():
            return True
        case ir.Read(variable=variable):
            return variable.name in iterators
        case ir.Load():
            return False
        case _:
            return all(value_is_counted(part, iterators) for part in ir.child_expressions(value))


def is_constant(value: ir.Expression, changing: frozenset[str]) -> bool:
    """Tell whether a value is the same in the whole program."""
    return all(
        not isinstance(part, ir.Load) and not (isinstance(part, ir.Read) and part.variable.name in changing)
        for part in ir.walk_expressions(value)
    )


def _kind_of(value: ir.Unary | ir.Binary | ir.Select | ir.Cast) -> tuple[str | None, ScalarType]:
    """Return the kind and type of an operation; None for one that costs nothing."""
    match value:
        case ir.Cast():
            inner = ir.type_of(value.operand)
            same = value.bits or (not inner.floating and not value.type.floating) or inner == value.type
            return (None if same else "cast"), value.type
        case ir.Unary():
            return value.operator, value.type
        case ir.Select():
            return "select", value.type
        case ir.Binary():
            of = ir.type_of(value.left)
            if value.operator in ir.COMPARISONS:
                return "compare", of
            return _arithmetic_kind(value), of


def _arithmetic_kind(value: ir.Binary) -> str:
    """Return kind of an arithmetic operation; one with a constant that is cheaper has a kind of its own."""
    by_constant = isinstance(value.right, ir.Constant) or isinstance(value.left, ir.Constant)
    floating = value.type.floating
    if value.operator in ("div", "rem") and isinstance(value.right, ir.Constant):
        return f"{value.operator}_constant"
    if value.operator == "mul" and by_constant and (not floating or _is_doubling(value)):
        return "mul_constant"
    return _KINDS.get(value.operator, value.operator)


def _is_doubling(value: ir.Binary) -> bool:
    return any(isinstance(p, ir.Constant) and abs(p.number) in (1, 2) for p in (value.left, value.right))


def over_iterators(access: Access, nest: Nest) -> Access:
    """Return the access with subscripts over iterators in place of counters."""
    return replace(access, subscripts=tuple(_over_iterators(s, nest) for s in access.subscripts))


def _over_iterators(form: Affine, nest: Nest) -> Affine:
    """Return the innermost first: `counter = (iterator - start) / step`, which divides every coefficient."""
    if not form.exact:
        return form
    terms, left, number = dict[str, int](), dict(form.terms), form.constant
    for name, level in reversed(list(nest.levels.items())):
        coefficient = left.pop(name, 0)
        if not coefficient:
            continue
        if coefficient % level.step:
            return Affine(exact=False)
        terms[name] = coefficient // level.step
        number -= terms[name] * level.start.constant
        for outer, factor in level.start.terms:
            left[outer] = left.get(outer, 0) - terms[name] * factor
    ordered = tuple((name, terms[name]) for name in nest.levels if terms.get(name))
    return Affine(terms=ordered, constant=number)
