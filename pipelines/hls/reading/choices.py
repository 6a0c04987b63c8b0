"""`&&`, `||` and `?:`: selections where nothing has side effects, else conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_cast, make_select, negated
from pipelines.hls.reading.ctypes import Scalar, common_type
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.places import same_object
from pipelines.hls.reading.session import Address, Place, Session
from pipelines.hls.reading.values import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Reads the operators that choose what is evaluated."""

    session: Session
    expressions: Expressions
    _of_structures: set[int] = field(default_factory=set[int])  # known ones, so that none is read twice

    def connect(self, node: c_ast.BinaryOp) -> ir.Expression:
        """`&&` and `||`: the right operand is evaluated only when it matters."""
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
        found = self.session.saved(left, "condition", line)
        with self.session.collect() as body:
            right = self.expressions.condition(node.right)
            self.session.emit(ir.Assign(variable=found.variable, value=right, line=line), node)
        chosen: ir.Expression = found if conjunction else negated(found)
        self.session.emit(ir.If(condition=chosen, then=tuple(body), otherwise=(), line=line), node)
        return found

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
        """The operand of `?:` whose condition is known, with the type both have together."""
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
        """`?:` with side effects: a condition statement that leaves the value in a variable."""
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
