"""A program as the model sees it: names in scope, and places where something may be replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast, c_parser

from models.program_lm.symbols import (
    CONDITION,
    EXPRESSION,
    LOOP,
    MOST_NESTING,
    SINGLE_TYPES,
    STATEMENT,
    FunctionSymbol,
    Interval,
    Lexed,
    ReadProgram,
    Site,
    SourceError,
    Symbol,
    both_intervals,
    interval_of,
    lex,
)
from pipelines.c import parse_text

_TYPE_WORDS = frozenset([*SINGLE_TYPES, "signed", "void"])
_INTEGER_ASSIGNMENTS = frozenset(["%=", "&=", "|=", "^=", "<<=", ">>="])
_HEADERS = "".join(f"typedef int {name};" for name in SINGLE_TYPES if name.endswith("_t"))


def read_program(source: str) -> ReadProgram:
    """Read a program of the first two stages, or one like them.

    Raises: SourceError: it has something that they do not write.
    """
    reader = _Reader(lexed=lex(source))
    try:
        reader.program()
    except RecursionError:
        raise SourceError(f"statements must nest at most {MOST_NESTING} deep, got more") from None
    return ReadProgram(
        source=source, lexed=reader.lexed, functions=tuple(reader.functions), sites=tuple(reader.sites)
    )


def _parse(lexed: Lexed) -> c_ast.FileAST:
    """Parse the tokens, one per line from line 2 on; macros stand in it as names and calls."""
    try:
        return parse_text("\n".join([_HEADERS, *(t.text for t in lexed.tokens)]), file="program.c")
    except c_parser.ParseError as error:
        raise SourceError(f"a program must be C11, got {' '.join(str(error).split())[:200]}") from None


def _token_of(node: c_ast.Node) -> int:
    return int(node.coord.line) - 2


def _nodes(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """Yield a node and everything in it."""
    waiting = [] if node is None else [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += [child for _, child in reversed(inner.children())]


def _names(*nodes: c_ast.Node | None) -> Iterator[str]:
    return (str(n.name) for node in nodes for n in _nodes(node) if isinstance(n, c_ast.ID | c_ast.Decl))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """What is around a statement: its function's body, the loops around it."""

    begin: int
    end: int
    trips: int = 1
    depth: int = 0
    nesting: int = 0


@dataclass(slots=True, kw_only=True)
class _Reader:
    lexed: Lexed
    functions: list[FunctionSymbol] = field(default_factory=list[FunctionSymbol])
    sites: list[Site] = field(default_factory=list[Site])
    scope: list[Symbol] = field(default_factory=list[Symbol])
    steering: frozenset[str] = frozenset()
    returns_integer: bool = True
    order: int = 0

    # ---- tokens ----

    def text(self, at: int) -> str:
        return self.lexed.tokens[at].text

    def find(self, at: int, *ends: str) -> int:
        """Find the first of some tokens, past everything in brackets."""
        while self.text(at) not in ends:
            at = self.lexed.partners.get(at, at) + 1
        return at

    # ---- declarations ----

    def program(self) -> None:
        for name, value in self.lexed.constants.items():
            self.declare(
                Symbol(name=name, type="int", assignable=False, interval=(value, value), constant=True)
            )
        for name, count in self.lexed.macros.items():
            self.define(name, "int", [False] * count)
            self.order += 1
        for node in _parse(self.lexed).ext:
            if isinstance(node, c_ast.FuncDef):
                self.function(node)
            elif not isinstance(node, c_ast.Typedef):
                self.declare(self.symbol(node))

    def declare(self, symbol: Symbol) -> None:
        self.scope.append(replace(symbol, order=self.order))
        self.order += 1

    def define(self, name: str, returns: str, arguments: Sequence[bool]) -> None:
        floating = returns in ("float", "double")
        self.functions.append(
            FunctionSymbol(name=name, floating=floating, arguments=tuple(arguments), order=self.order)
        )

    def symbol(self, node: c_ast.Node) -> Symbol:
        """Return the symbol of a declaration."""
        shape: list[int] = []
        kind = node.type
        while isinstance(kind, c_ast.ArrayDecl):
            extent = None if kind.dim is None else interval_of(kind.dim, self.scope)
            if extent is None or extent[0] != extent[1] or extent[0] < 1:
                raise SourceError(f"an extent must be a constant, got another (token {_token_of(node)})")
            shape.append(extent[0])
            kind = kind.type
        is_const = "const" in node.quals
        return Symbol(name=node.name, type=_type_words(kind), shape=tuple(shape), assignable=not is_const)

    def function(self, node: c_ast.FuncDef) -> None:
        kept = len(self.scope)
        returns = _type_words(node.decl.type.type)
        declared = node.decl.type.args.params if node.decl.type.args else []
        parameters = [self.symbol(d) for d in declared if d.name or _type_words(d.type) != "void"]
        opening = _token_of(node.body)
        loops = [n for n in _nodes(node.body) if isinstance(n, c_ast.For | c_ast.While | c_ast.DoWhile)]
        heads = [n for loop in loops for role, n in loop.children() if role != "stmt"]
        self.steering = frozenset(_names(*heads))
        self.returns_integer = returns not in ("float", "double")
        for parameter in parameters:
            free = parameter.assignable and parameter.name not in self.steering
            self.declare(replace(parameter, assignable=free))
        self.block(node.body, opening, _Place(begin=opening + 1, end=self.lexed.partners[opening]))
        del self.scope[kept:]
        if returns != "void" and parameters and all(not p.shape for p in parameters):
            self.define(node.decl.name, returns, [p.floating for p in parameters])
        self.order += 1

    # ---- statements: each method answers the token behind what it reads ----

    def site(self, kind: str, first: int, last: int, place: _Place, **more: bool) -> None:
        scope = tuple(self.scope)
        around = {"begin": place.begin, "end": place.end, "trips": place.trips, "depth": place.depth}
        self.sites.append(Site(kind=kind, first=first, last=last, scope=scope, **around, **more))

    def block(self, node: c_ast.Compound, at: int, place: _Place) -> int:
        kept = len(self.scope)
        at += 1
        for item in node.block_items or []:
            if not isinstance(item, c_ast.Decl) or self.text(_token_of(item) - 1) != ",":
                self.site(STATEMENT, at, at, place)
            at = self.statement(item, at, place)
        del self.scope[kept:]
        return at + 1

    def body(self, node: c_ast.Node, at: int, place: _Place) -> int:
        """Read the statement or block after a head of `if` or a loop."""
        if place.nesting > MOST_NESTING:
            raise SourceError(f"statements must nest at most {MOST_NESTING} deep, got more")
        place = replace(place, nesting=place.nesting + 1)
        if isinstance(node, c_ast.Compound):
            return self.block(node, at, place)
        return self.statement(node, at, place, single=True)

    def statement(self, node: c_ast.Node, at: int, place: _Place, *, single: bool = False) -> int:
        match node:
            case c_ast.Compound():
                return self.block(node, at, replace(place, nesting=place.nesting + 1))
            case c_ast.For():
                return self.counted_loop(node, at, place, single)
            case c_ast.If():
                return self.branch(node, at, place, single)
            case c_ast.While():
                deeper = replace(place, depth=place.depth + 1)
                return self.body(node.stmt, self.lexed.partners[at + 1] + 1, deeper)
            case c_ast.Switch():
                return self.cases(node.stmt, self.lexed.partners[at + 1] + 1, place)
            case c_ast.Return(expr=c_ast.Node()):
                return self.expression(at + 1, place, ";", integer=self.returns_integer) + 1
            case c_ast.Decl():
                return self.local_declaration(node, place)
            case (c_ast.Assignment() as written) | c_ast.ExprList(exprs=[c_ast.Assignment() as written, *_]):
                return self.assignment(written, at, place, single)
            case c_ast.Label():
                return self.statement(node.stmt, at + 2, place, single=single)
            case c_ast.DoWhile():
                return self.find(self.find(at, "while"), ";") + 1
            case _:
                return self.find(at, ";") + 1

    def cases(self, node: c_ast.Compound, at: int, place: _Place) -> int:
        at += 1
        for case in node.block_items or []:
            at = self.find(at, ":") + 1
            for item in case.stmts or []:
                at = self.statement(item, at, place)
        return at + 1

    def expression(self, first: int, place: _Place, *ends: str, integer: bool) -> int:
        last = self.find(first, *ends)
        self.site(EXPRESSION, first, last, place, integer=integer)
        return last

    def local_declaration(self, node: c_ast.Decl, place: _Place) -> int:
        symbol = self.symbol(node)
        at = self.find(_token_of(node), "=", ",", ";")
        if node.init is not None and not isinstance(node.init, c_ast.InitList):
            at = self.expression(at + 1, place, ",", ";", integer=not symbol.floating)
        free = symbol.assignable and symbol.name not in self.steering
        self.declare(replace(symbol, assignable=free))
        return self.find(at, ",", ";") + 1

    def assignment(self, node: c_ast.Assignment, first: int, place: _Place, single: bool) -> int:
        target, _ = self.symbol_of(node.lvalue)
        last = self.find(first, ";") + 1
        if target is not None:
            integer = node.op in _INTEGER_ASSIGNMENTS or not target.floating
            self.expression(self.find(first, node.op) + 1, place, ";", integer=integer)
            if target.name not in self.steering:
                self.site(STATEMENT, first, last, place, single=single)
        return last

    def symbol_of(self, node: c_ast.Node) -> tuple[Symbol | None, int]:
        """Return the name under subscripts, as far as it is in scope, and the number of subscripts."""
        depth = 0
        while isinstance(node, c_ast.ArrayRef):
            node, depth = node.name, depth + 1
        name = node.name if isinstance(node, c_ast.ID) else ""
        return next((s for s in reversed(self.scope) if s.name == name), None), depth

    def branch(self, node: c_ast.If, first: int, place: _Place, single: bool) -> int:
        end = self.lexed.partners[first + 1]
        self.site(CONDITION, first + 2, end, place)
        at = self.body(node.iftrue, end + 1, place)
        if node.iffalse is not None:
            at = self.body(node.iffalse, at + 1, place)
        if self.may_replace(node, c_ast.Break | c_ast.Continue | c_ast.Return):
            self.site(STATEMENT, first, at, place, single=single)
        return at

    def may_replace(self, node: c_ast.Node, leaves: type) -> bool:
        """Tell whether a statement neither leaves what is around it nor may write what a loop depends on."""
        inside = list(_nodes(node))
        steering = self.steering - {n.name for n in inside if isinstance(n, c_ast.Decl)}
        written = [n.lvalue for n in inside if isinstance(n, c_ast.Assignment)]
        written += [n.expr for n in inside if isinstance(n, c_ast.UnaryOp) and n.op in ("p++", "p--")]
        names = {n.name for n in written if isinstance(n, c_ast.ID)}
        return not names & steering and not any(isinstance(n, leaves) for n in inside)

    def counted_loop(self, node: c_ast.For, first: int, place: _Place, single: bool) -> int:
        end = self.lexed.partners[first + 1] + 1
        loop = self.loop_variable(node)
        kept = len(self.scope)
        inside = replace(place, depth=place.depth + 1)
        if loop is not None:
            interval = both_intervals(loop.interval, self.used_interval(loop.name, node.stmt))
            self.bound_length(first, end, interval)
            kept = len(self.scope)
            self.declare(replace(loop, interval=interval))
            if interval is not None:
                inside = replace(inside, trips=place.trips * max(1, interval[1] - interval[0] + 1))
        last = self.body(node.stmt, end, inside)
        del self.scope[kept:]
        if loop is not None and self.may_replace(node, c_ast.Return):
            self.site(LOOP, first, last, place, single=single)
        return last

    # ---- ranges ----

    def bound_length(self, first: int, last: int, interval: Interval | None) -> None:
        """Learn from `v < rows` that rows is at most one more than the largest v."""
        words = [token.text for token in self.lexed.tokens[first:last]]
        if "<" not in words or interval is None:
            return
        name = words[words.index("<") + 1]
        for place, symbol in enumerate(self.scope):
            if symbol.name == name and not (
                symbol.constant or symbol.loop or symbol.shape or symbol.floating
            ):
                most = min(interval[1] + 1, symbol.most or interval[1] + 1)
                self.scope[place] = replace(symbol, most=most)

    def loop_variable(self, node: c_ast.For) -> Symbol | None:
        """Return variable of a loop from the tokens of its head, with its range where the head says it."""
        if not isinstance(node.init, c_ast.DeclList) or node.cond is None or node.next is None:
            return None
        variable = node.init.decls[0]
        plain = Symbol(name=variable.name, type=_type_words(variable.type), assignable=False, loop=True)
        match node.cond:
            case c_ast.BinaryOp(op="<" | "<=" | ">" | ">=" as relation, left=c_ast.ID(name=plain.name)):
                start = interval_of(variable.init, self.scope)
                bound = interval_of(node.cond.right, self.scope)
            case _:
                return plain
        if start is None or bound is None:
            return plain
        if relation in ("<", "<="):
            last = bound[1] - (relation == "<")
            step = self.step(node.next)
            interval = start[0], last - (last - start[1]) % step if start[0] == start[1] else last
        else:
            interval = bound[0] + (relation == ">"), start[1]
        return replace(plain, interval=interval) if interval[0] <= interval[1] else plain

    def step(self, node: c_ast.Node) -> int:
        """Return the step of a head that ends in `v += step`; 1 for all others."""
        if not isinstance(node, c_ast.Assignment) or node.op != "+=":
            return 1
        step = interval_of(node.rvalue, [s for s in self.scope if s.constant])
        return 1 if step is None else max(1, step[0])

    def used_interval(self, name: str, node: c_ast.Node) -> Interval | None:
        """Bound a loop variable, whose loop ends at run time, by its use as a plain subscript."""
        most: int | None = None
        for use in _nodes(node):
            match use:
                case c_ast.ArrayRef(name=array, subscript=c_ast.ID(name=used)) if used == name:
                    symbol, dimension = self.symbol_of(array)
                    shape = () if symbol is None else symbol.shape[dimension:]
                    extent = next(iter(shape), None)
                    most = extent if most is None else min(most, extent or most)
                case _:
                    pass
        return None if most is None else (0, most - 1)


def _type_words(node: c_ast.Node) -> str:
    """Return a type of a number without its qualifiers.

    Raises: SourceError: another type.
    """
    kind = node.type if isinstance(node, c_ast.TypeDecl) else node
    words = list(kind.names) if isinstance(kind, c_ast.IdentifierType) else [type(kind).__name__.lower()]
    for word in words:
        if word not in _TYPE_WORDS:
            raise SourceError(f"a type must stand here, got {word} (token {_token_of(node)})")
    return " ".join(words)
