"""The C front end: a pycparser tree to the structured intermediate representation.

Belongs here: declarations, statements and loops of the accepted subset of C, each refusal with its line.
Does not: expressions (`expressions.py`), optimisation, timing.

Accepted: one top function of int scalars and 1- to 3-dimensional int arrays of constant size; local
scalars and arrays; `for`, `while`, `do`, `if`; all integer operators; a `return` at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_binary
from pipelines.hls.directives import parse_pragma
from pipelines.hls.errors import HlsError
from pipelines.hls.expressions import ASSIGNMENT_OPERATORS, ExpressionReader, Symbol
from pipelines.hls.preprocess import parse
from pipelines.interface import INT32, Argument, Interface, ScalarType

_INT_SPELLINGS = (["int"], ["signed"], ["int", "signed"])
_LOOP_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "!=": "ne"}
MAXIMUM_DIMENSIONS = 3
MAXIMUM_ELEMENTS = 1 << 24


@dataclass(slots=True)
class _FunctionReader:
    """Reads one function; `scopes` maps source names to symbols, innermost last."""

    file: str
    typedefs: dict[str, c_ast.Node]
    scopes: list[dict[str, Symbol]] = field(default_factory=lambda: [{}])
    arrays: list[ir.Array] = field(default_factory=list[ir.Array])
    taken: dict[str, int] = field(default_factory=dict[str, int])
    loop_count: int = 0
    loop_names: set[str] = field(default_factory=set[str])
    ignored: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    # ---- errors and names -------------------------------------------------------------------------

    def refuse(self, node: c_ast.Node | None, rule: str, got: str) -> HlsError:
        line = node.coord.line if node is not None and node.coord else None
        return HlsError(rule, got, file=self.file, line=line)

    def line_of(self, node: c_ast.Node) -> int:
        return node.coord.line if node.coord else 0

    def unique(self, name: str) -> str:
        count = self.taken.get(name, 0)
        self.taken[name] = count + 1
        return name if count == 0 else self.unique(f"{name}_{count}")

    def lookup(self, node: c_ast.ID) -> Symbol:
        for scope in reversed(self.scopes):
            if node.name in scope:
                return scope[node.name]
        raise self.refuse(node, "a name must be declared in the function", repr(node.name))

    # ---- declarations -----------------------------------------------------------------------------

    def scalar_type(self, node: c_ast.Node, owner: c_ast.Node) -> ScalarType:
        """The type of a TypeDecl; int is the one accepted."""
        if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.IdentifierType):
            names = sorted(node.type.names)
            if names in _INT_SPELLINGS:
                return INT32
            if len(names) == 1 and names[0] in self.typedefs:
                return self.scalar_type(self.typedefs[names[0]], owner)
            raise self.refuse(owner, "a type must be int or int32_t", repr(" ".join(node.type.names)))
        kind = {c_ast.PtrDecl: "a pointer", c_ast.FuncDecl: "a function"}.get(type(node), "another type")
        raise self.refuse(owner, "a variable must be an int or an array of int", kind)

    def declare(self, decl: c_ast.Decl, *, external: bool) -> Symbol:
        """Declare a variable or an array in the innermost scope."""
        if "static" in decl.storage or "extern" in decl.storage:
            raise self.refuse(decl, "a local must be automatic", " ".join(decl.storage))
        shape: list[int] = []
        node = decl.type
        while isinstance(node, c_ast.ArrayDecl):
            shape.append(self.dimension(node, decl))
            node = node.type
        kind = self.scalar_type(node, decl)
        if decl.name in self.scopes[-1]:
            raise self.refuse(decl, "a name must be declared once in a scope", repr(decl.name))
        name = self.unique(decl.name)
        if not shape:
            symbol: Symbol = ir.Variable(name=name, type=kind)
        else:
            if len(shape) > MAXIMUM_DIMENSIONS:
                raise self.refuse(
                    decl,
                    f"an array must have 1 to {MAXIMUM_DIMENSIONS} dimensions",
                    str(len(shape)),
                )
            symbol = ir.Array(name=name, type=kind, shape=tuple(shape), external=external)
            if symbol.element_count > MAXIMUM_ELEMENTS:
                raise self.refuse(
                    decl,
                    f"an array must have at most {MAXIMUM_ELEMENTS} elements",
                    str(symbol.element_count),
                )
            self.arrays.append(symbol)
        self.scopes[-1][decl.name] = symbol
        return symbol

    def dimension(self, node: c_ast.ArrayDecl, owner: c_ast.Decl) -> int:
        if node.dim is None:
            raise self.refuse(owner, "an array must have a constant size", f"{owner.name}[]")
        size = self.expressions().read(node.dim)
        if not isinstance(size, ir.Constant) or size.value < 1:
            got = str(size.value) if isinstance(size, ir.Constant) else "an expression"
            raise self.refuse(owner, "an array size must be a positive constant", got)
        return size.value

    def expressions(self) -> ExpressionReader:
        return ExpressionReader(lookup=self.lookup, refuse=self.refuse)

    # ---- statements -------------------------------------------------------------------------------

    def body(self, node: c_ast.Node | None) -> tuple[ir.Statement, ...]:
        """A statement or block in a scope of its own."""
        if node is None:
            return ()
        self.scopes.append({})
        try:
            items = (node.block_items or []) if isinstance(node, c_ast.Compound) else [node]
            return self.statements(items)
        finally:
            self.scopes.pop()

    def statements(self, items: list[c_ast.Node]) -> tuple[ir.Statement, ...]:
        found: list[ir.Statement] = []
        pragmas: list[c_ast.Pragma] = []
        for item in items:
            if isinstance(item, c_ast.Pragma):
                pragmas.append(item)
                continue
            if found and isinstance(found[-1], ir.Return):
                raise self.refuse(item, "return must be the last statement of the function", "code after it")
            found.extend(self.statement(item, pragmas))
            pragmas = []
        self.ignore(pragmas)
        return tuple(found)

    def ignore(self, pragmas: list[c_ast.Pragma]) -> None:
        self.ignored.extend((p.string, self.line_of(p)) for p in pragmas)

    def statement(self, node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> list[ir.Statement]:
        match node:
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                return self.loop(node, None, pragmas)
            case c_ast.Label() if isinstance(node.stmt, c_ast.For | c_ast.While | c_ast.DoWhile):
                return self.loop(node.stmt, node.name, pragmas)
            case _:
                self.ignore(pragmas)
        match node:
            case c_ast.Decl():
                return self.declaration(node)
            case c_ast.DeclList():
                return [s for d in node.decls for s in self.declaration(d)]
            case c_ast.Assignment() | c_ast.UnaryOp():
                return [self.assignment(node)]
            case c_ast.If():
                condition = self.expressions().read_condition(node.cond)
                then, otherwise = self.body(node.iftrue), self.body(node.iffalse)
                return [ir.If(condition=condition, then=then, otherwise=otherwise, line=self.line_of(node))]
            case c_ast.Compound():
                return list(self.body(node))
            case c_ast.EmptyStatement():
                return []
            case c_ast.Return():
                value = None if node.expr is None else self.expressions().read(node.expr)
                return [ir.Return(value=value, line=self.line_of(node))]
            case _:
                raise self.refuse(
                    node,
                    "a statement must be a declaration, an assignment, if, for, while, do or a final return",
                    _STATEMENT_NAMES.get(type(node).__name__, type(node).__name__),
                )

    def declaration(self, node: c_ast.Node) -> list[ir.Statement]:
        if not isinstance(node, c_ast.Decl):
            raise self.refuse(node, "a declaration must declare an int or an array", type(node).__name__)
        initial = None if node.init is None else node.init
        value = None
        if initial is not None and not isinstance(node.type, c_ast.ArrayDecl):
            value = self.expressions().read(initial)
        symbol = self.declare(node, external=False)
        if isinstance(symbol, ir.Array):
            if initial is not None:
                raise self.refuse(
                    node,
                    "a local array must be filled by statements",
                    f"an initialiser of {node.name}",
                )
            return []
        if value is None:
            return []
        return [ir.Assign(variable=symbol, value=value, line=self.line_of(node))]

    def assignment(self, node: c_ast.Assignment | c_ast.UnaryOp) -> ir.Statement:
        """`=`, a compound assignment, `++` or `--` as a statement."""
        reader = self.expressions()
        if isinstance(node, c_ast.UnaryOp):
            if node.op not in ("++", "--", "p++", "p--"):
                raise self.refuse(node, "an expression statement must change a variable", f"unary {node.op}")
            target, operator = node.expr, "add" if "++" in node.op else "sub"
            right: ir.Expression = ir.Constant(value=1)
        else:
            target, operator = node.lvalue, ASSIGNMENT_OPERATORS[node.op]
            right = reader.read(node.rvalue)
        line = self.line_of(node)
        place = reader.read_place(target)
        value = right
        if operator is not None:
            value = make_binary(operator, reader.read(target), right)
        if isinstance(place, ir.Read):
            return ir.Assign(variable=place.variable, value=value, line=line)
        return ir.Store(array=place.array, indices=place.indices, value=value, line=line)

    # ---- loops ------------------------------------------------------------------------------------

    def loop(self, node: c_ast.Node, label: str | None, pragmas: list[c_ast.Pragma]) -> list[ir.Statement]:
        name = label or f"L{self.loop_count}"
        self.loop_count += 1
        if name in self.loop_names:
            raise self.refuse(node, "a loop label must be unique", repr(name))
        self.loop_names.add(name)
        leading = [p for p in _items(node.stmt) if isinstance(p, c_ast.Pragma) and _is_vitis(p)]
        directives = self.loop_directives([*pragmas, *leading], name)
        node_body = _without(node.stmt, leading)
        self.scopes.append({})
        try:
            if isinstance(node, c_ast.For):
                return self.for_loop(node, node_body, name, directives)
            return [self.while_loop(node, node_body, name, directives)]
        finally:
            self.scopes.pop()

    def loop_directives(self, pragmas: list[c_ast.Pragma], loop: str) -> tuple[ir.Directive, ...]:
        found: list[ir.Directive] = []
        for pragma in pragmas:
            spelled = parse_pragma(pragma.string, loop)
            if spelled is None:
                self.ignore([pragma])
            else:
                found.extend(spelled)
        return tuple(found)

    def while_loop(
        self,
        node: c_ast.While | c_ast.DoWhile,
        body: c_ast.Node,
        name: str,
        directives: tuple[ir.Directive, ...],
    ) -> ir.While:
        condition = self.expressions().read_condition(node.cond)
        return ir.While(
            name=name,
            condition=condition,
            body=self.body(body),
            line=self.line_of(node),
            directives=directives,
            test_first=isinstance(node, c_ast.While),
        )

    def for_loop(
        self,
        node: c_ast.For,
        body_node: c_ast.Node,
        name: str,
        directives: tuple[ir.Directive, ...],
    ) -> list[ir.Statement]:
        """A counted loop when variable, bound and step allow it, else its `while` form."""
        before = [] if node.init is None else self.statement(node.init, [])
        condition = (
            ir.Constant(value=1) if node.cond is None else self.expressions().read_condition(node.cond)
        )
        body = self.body(body_node)
        after = [] if node.next is None else self.statement(node.next, [])
        counted = self.counted(node, name, before, condition, body, after, directives)
        if counted is not None:
            return [*before[:-1], counted]
        loop = ir.While(
            name=name,
            condition=condition,
            body=(*body, *after),
            line=self.line_of(node),
            directives=directives,
        )
        return [*before, loop]

    def counted(
        self,
        node: c_ast.For,
        name: str,
        before: list[ir.Statement],
        condition: ir.Expression,
        body: tuple[ir.Statement, ...],
        after: list[ir.Statement],
        directives: tuple[ir.Directive, ...],
    ) -> ir.For | None:
        if not (before and isinstance(before[-1], ir.Assign) and len(after) == 1):
            return None
        variable = before[-1].variable
        bound = _bound_of(condition, variable)
        step = _step_of(after[0], variable)
        if bound is None or step is None or variable.name in ir.assigned_variables(body):
            return None
        comparison, upper = bound
        if (comparison in ("lt", "le") and step < 0) or (comparison in ("gt", "ge") and step > 0):
            return None
        changed = ir.assigned_variables(body) | {variable.name}
        for part in ir.walk_expressions(upper):
            if isinstance(part, ir.Load) or (isinstance(part, ir.Read) and part.variable.name in changed):
                return None
        return ir.For(
            name=name,
            variable=variable,
            lower=before[-1].value,
            comparison=comparison,
            upper=upper,
            step=step,
            body=body,
            line=self.line_of(node),
            directives=directives,
        )


def _items(node: c_ast.Node) -> list[c_ast.Node]:
    """The statements of a block; none for a single statement."""
    return list(node.block_items or []) if isinstance(node, c_ast.Compound) else []


def _is_vitis(pragma: c_ast.Pragma) -> bool:
    """Whether a pragma inside a loop body belongs to that loop, as Vitis has it."""
    return pragma.string.split()[:1] == ["HLS"]


def _without(node: c_ast.Node, pragmas: list[c_ast.Pragma]) -> c_ast.Node:
    if not isinstance(node, c_ast.Compound):
        return node
    return c_ast.Compound([i for i in _items(node) if not any(i is p for p in pragmas)], node.coord)


_STATEMENT_NAMES = {
    "FuncCall": "a function call",
    "Switch": "switch",
    "Break": "break",
    "Continue": "continue",
    "Goto": "goto",
    "Label": "a label that is not on a loop",
    "ID": "an expression without effect",
    "Constant": "an expression without effect",
    "BinaryOp": "an expression without effect",
    "TernaryOp": "an expression without effect",
    "ExprList": "the comma operator",
}


def _bound_of(condition: ir.Expression, variable: ir.Variable) -> tuple[str, ir.Expression] | None:
    """Comparison and bound of a condition on the loop variable."""
    if not isinstance(condition, ir.Binary) or condition.operator not in _LOOP_COMPARISONS.values():
        return None
    if condition.left == ir.Read(variable=variable):
        return condition.operator, condition.right
    if condition.right == ir.Read(variable=variable):
        mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne"}
        return mirrored[condition.operator], condition.left
    return None


def _step_of(statement: ir.Statement, variable: ir.Variable) -> int | None:
    """The constant a statement adds to the loop variable, when that is all it does."""
    if not isinstance(statement, ir.Assign) or statement.variable != variable:
        return None
    value = statement.value
    if not (
        isinstance(value, ir.Binary)
        and value.operator in ("add", "sub")
        and value.left == ir.Read(variable=variable)
        and isinstance(value.right, ir.Constant)
    ):
        return None
    return value.right.value if value.operator == "add" else -value.right.value


def _find_top(tree: c_ast.FileAST, top: str, file: str) -> c_ast.FuncDef:
    functions = {n.decl.name: n for n in tree.ext if isinstance(n, c_ast.FuncDef)}
    if top not in functions:
        known = ", ".join(sorted(functions)) or "none"
        raise HlsError(f"top must be a function of the file (there: {known})", repr(top), file=file)
    return functions[top]


def _check_returns(body: tuple[ir.Statement, ...], file: str) -> None:
    for statement in body:
        for inner in ir.child_bodies(statement):
            for nested in ir.walk_statements(inner):
                if isinstance(nested, ir.Return):
                    raise HlsError(
                        "return must be the last statement of the function",
                        "a return inside a block",
                        file=file,
                        line=nested.line,
                    )


def read_function(source: str, *, top: str, file: str = "program.c") -> ir.Function:
    """Read a C program as the structured intermediate representation.

    Args:    source: C text; top: name of the function to read; file: name for messages.
    Returns: the function; loops named by label or L0, L1, … in source order.
    Raises:  HlsError: outside the accepted subset; the message has the line.
    """
    tree = parse(source, file=file)
    typedefs = {n.name: n.type for n in tree.ext if isinstance(n, c_ast.Typedef)}
    definition = _find_top(tree, top, file)
    reader = _FunctionReader(file=file, typedefs=typedefs)
    declared = definition.decl.type
    result = declared.type
    is_void = isinstance(result, c_ast.TypeDecl) and getattr(result.type, "names", None) == ["void"]
    returns = None if is_void else reader.scalar_type(result, definition.decl)
    parameters: list[ir.Variable | ir.Array] = []
    declarations: list[c_ast.Node] = list(declared.args.params) if declared.args else []
    for node in declarations:
        if isinstance(node, c_ast.Typename) and getattr(node.type.type, "names", None) == ["void"]:
            continue
        if not isinstance(node, c_ast.Decl) or node.name is None:
            raise reader.refuse(node, "a parameter must have a name and a type", type(node).__name__)
        parameters.append(reader.declare(node, external=True))
    try:
        body = reader.statements(definition.body.block_items or [])
    except RecursionError:
        raise HlsError("statements must nest less deeply", "nesting too deep", file=file) from None
    _check_returns(body, file)
    if returns is not None and not (body and isinstance(body[-1], ir.Return) and body[-1].value):
        raise reader.refuse(definition.decl, f"{top} must end by returning a value", "no final return")
    return ir.Function(
        name=top,
        parameters=tuple(parameters),
        arrays=tuple(reader.arrays),
        returns=returns,
        body=body,
        ignored_pragmas=tuple(reader.ignored),
    )


def interface_of(function: ir.Function) -> Interface:
    """Arguments in order, with what the function reads and writes, and the type of the result."""
    read = {e.array.name for e in ir.all_expressions(function.body) if isinstance(e, ir.Load)}
    written = ir.stored_arrays(function.body)
    arguments = tuple(
        Argument(
            name=p.name,
            type=p.type,
            shape=p.shape if isinstance(p, ir.Array) else (),
            read=isinstance(p, ir.Variable) or p.name in read,
            written=p.name in written,
        )
        for p in function.parameters
    )
    return Interface(top=function.name, arguments=arguments, returns=function.returns)


def read_interface(source: str, top: str, *, file: str = "program.c") -> Interface:
    """Interface of a C function; raises what `read_function` raises."""
    return interface_of(read_function(source, top=top, file=file))
