"""Text of FIRRTL to its syntax tree; modules are parsed when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.firrtl.syntax import (
    ASYNC,
    CLOCK,
    RESET,
    SINT,
    UINT,
    Access,
    Bundle,
    Call,
    Connect,
    Expression,
    Field,
    FieldOf,
    Ground,
    Index,
    Instance,
    Invalidate,
    Literal,
    Memory,
    MemoryPort,
    Module,
    Node,
    Port,
    Ref,
    Register,
    Statement,
    Type,
    Vector,
    When,
    Wire,
)

_HEADER = re.compile(r"^ *(?:public +)?(module|extmodule|intmodule|circuit) +([\w$]+) *:", re.ASCII)
_INFO = re.compile(r"\s*@\[[^\]]*\]\s*$")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w$]+|`[^`]*`|<=|<-|=>|[-(){}\[\]<>,.:=]|\S', re.ASCII)
_IGNORED = re.compile(r"(?:(?:printf|fprintf|fflush|assert|assume|cover|stop|intrinsic) *\(|skip$)")
_BASES = {"h": 16, "d": 10, "o": 8, "b": 2}
_RADIX = re.compile(r"0([hdob])(-?)([\da-fA-F]+)")
_MOST_SHOWN = 80
MOST_ELEMENTS = 1 << 20
"""Elements of a type of vectors and bundles."""


class _Line(NamedTuple):
    number: int
    indent: int
    text: str


class Circuit:
    """The modules of a circuit by name."""

    def __init__(self, text: str) -> None:
        """Find the modules.

        Raises: RtlError: no circuit.
        """
        self.main = ""
        self._lines = text.splitlines()
        self._starts: dict[str, tuple[int, int]] = {}
        headers = [(i, m) for i, line in enumerate(self._lines) if (m := _HEADER.match(line))]
        ends = [*(i for i, _ in headers[1:]), len(self._lines)]
        for (start, match), end in zip(headers, ends, strict=False):
            if match[1] == "circuit":
                self.main = match[2]
            else:
                self._starts[match[2]] = (start, end)
        if not self.main or not self._starts:
            raise RtlError("no FIRRTL: `circuit NAME :` and a module are missing")

    def module(self, name: str) -> Module:
        """Parse a module.

        Raises: RtlError: it does not exist, or a line is not understood.
        """
        if name not in self._starts:
            raise RtlError(f"unknown module: {name}")
        start, end = self._starts[name]
        kind = self._lines[start].split()
        lines = [*_content(self._lines, start + 1, end)]
        if "module" in kind[:2]:
            return _Parser(lines).module(name)
        return _external(name, lines)


def _content(lines: Sequence[str], start: int, end: int) -> Iterator[_Line]:
    """Yield the lines that are neither empty nor for messages, without comments and places."""
    for number in range(start, end):
        raw = lines[number]
        text = raw.strip()
        if not text or text[0] == ";" or _IGNORED.match(text):
            continue
        text = _INFO.sub("", text)
        if ";" in text and '"' not in text:
            text = text.partition(";")[0].rstrip()
        yield _Line(number + 1, len(raw) - len(raw.lstrip()), text)


def _external(name: str, lines: Sequence[_Line]) -> Module:
    ports = [line for line in lines if line.text.startswith(("input ", "output "))]
    others = [
        line.text.partition(" ")[2].partition("=") for line in lines if line.text.startswith("parameter ")
    ]
    defined = [line.text.partition("=")[2].strip() for line in lines if line.text.startswith("defname")]
    parsed = _Parser(ports).module(name)
    return Module(
        name=name,
        ports=parsed.ports,
        body=(),
        external=defined[0] if defined else name,
        parameters=[(key.strip(), value.strip()) for key, _, value in others],
    )


class _Parser:
    """Statements of one module."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self.lines, self.at = lines, 0

    def module(self, name: str) -> Module:
        try:
            return self._module(name)
        except RecursionError as error:
            self.at -= 1
            raise self._error("nested too deep") from error

    def _module(self, name: str) -> Module:
        ports: list[Port] = []
        while self.at < len(self.lines) and self.lines[self.at].text.startswith(("input ", "output ")):
            tokens = self._next()
            direction, port = tokens.name(), tokens.name()
            tokens.expect(":")
            ports.append(Port(port, tokens.type(), direction == "input"))
        body = self.block(self.lines[self.at].indent if self.at < len(self.lines) else 0)
        if self.at < len(self.lines):
            raise self._error("indentation")
        return Module(name=name, ports=ports, body=body)

    def _error(self, what: str) -> RtlError:
        line = self.lines[min(self.at, len(self.lines) - 1)]
        return RtlError(f"FIRRTL line {line.number}: {what}: {line.text[:_MOST_SHOWN]}")

    def _next(self) -> _Tokens:
        line = self.lines[self.at]
        self.at += 1
        return _Tokens(line)

    def block(self, indent: int) -> list[Statement]:
        """Return the statements of one indentation."""
        statements: list[Statement] = []
        while self.at < len(self.lines) and self.lines[self.at].indent >= indent:
            statement = self.statement()
            if statement is not None:
                statements.append(statement)
        return statements

    def statement(self) -> Statement | None:
        tokens = self._next()
        word = tokens.peek()
        method = _STATEMENTS.get(word)
        is_name = tokens.peek(1) in ("<=", "<-", ".", "[") or tokens.tokens[1:] == ["is", "invalid"]
        if method is None or is_name:
            return tokens.connection()
        tokens.name()
        return method(self, tokens)

    def wire(self, tokens: _Tokens) -> Statement:
        name = tokens.name()
        tokens.expect(":")
        return Wire(name, tokens.type())

    def node(self, tokens: _Tokens) -> Statement:
        name = tokens.name()
        tokens.expect("=")
        return Node(name, tokens.expression())

    def instance(self, tokens: _Tokens) -> Statement:
        name = tokens.name()
        tokens.expect("of")
        return Instance(name, tokens.name())

    def register(self, tokens: _Tokens) -> Statement:
        name = tokens.name()
        tokens.expect(":")
        kind = tokens.type()
        tokens.expect(",")
        clock = tokens.expression()
        if tokens.peek() != "with":
            return Register(name, kind, clock, None, None)
        tokens.expect("with")
        tokens.expect(":")
        if tokens.is_done():
            tokens = self._next()
        if tokens.peek() == "(":
            tokens.expect("(")
        tokens.expect("reset")
        tokens.expect("=>")
        tokens.expect("(")
        reset = tokens.expression()
        tokens.expect(",")
        return Register(name, kind, clock, reset, tokens.expression())

    def register_with_reset(self, tokens: _Tokens) -> Statement:
        name = tokens.name()
        tokens.expect(":")
        kind = tokens.type()
        parts: list[Expression] = []
        for _ in range(3):
            tokens.expect(",")
            parts.append(tokens.expression())
        return Register(name, kind, *parts)

    def when(self, tokens: _Tokens) -> Statement:
        condition = tokens.expression()
        tokens.expect(":")
        then = self._inner(tokens, tokens.line.indent)
        otherwise: list[Statement] = []
        if self.at < len(self.lines):
            line = self.lines[self.at]
            if line.indent == tokens.line.indent and line.text.startswith("else"):
                following = self._next()
                following.expect("else")
                if following.peek() == "when":
                    following.expect("when")
                    otherwise = [self.when(following)]
                else:
                    following.expect(":")
                    otherwise = self._inner(following, following.line.indent)
        return When(condition, then, otherwise)

    def _inner(self, tokens: _Tokens, indent: int) -> list[Statement]:
        """Read what a condition governs: a statement behind it, or the lines that are indented more."""
        if not tokens.is_done():
            raise tokens.error("a statement behind a colon is not read")
        if self.at < len(self.lines) and self.lines[self.at].indent > indent:
            return self.block(self.lines[self.at].indent)
        return []

    def memory(self, tokens: _Tokens) -> Statement:
        name = tokens.name()
        entries: list[tuple[str, str]] = []
        kind: Type | None = None
        while self.at < len(self.lines) and self.lines[self.at].indent > tokens.line.indent:
            line = self.lines[self.at]
            key, _, value = (part.strip() for part in line.text.partition("=>"))
            if key == "data-type":
                kind = _Tokens(line._replace(text=value)).type()
            entries.append((key, value))
            self.at += 1
        values = dict(entries)
        if (
            kind is None
            or values.get("write-latency", "1") != "1"
            or values["read-latency"] not in ("0", "1")
        ):
            raise tokens.error("memory without type, or latencies other than read 0 or 1 and write 1")
        ports = tuple((key, port) for key, port in entries if key in ("reader", "writer", "readwriter"))
        return Memory(name, kind, int(values["depth"]), int(values["read-latency"]), ports)

    def combinational_memory(self, tokens: _Tokens) -> Statement:
        return self._simple_memory(tokens, 0)

    def sequential_memory(self, tokens: _Tokens) -> Statement:
        return self._simple_memory(tokens, 1)

    def _simple_memory(self, tokens: _Tokens, read_latency: int) -> Statement:
        name = tokens.name()
        tokens.expect(":")
        kind = tokens.memory_type()
        if not isinstance(kind, Vector):
            raise tokens.error("memory without a size")
        tokens.require_few(kind.element)
        return Memory(name, kind.element, kind.size, read_latency, ())

    def port(self, tokens: _Tokens) -> Statement:
        kind = tokens.word_before()
        tokens.expect("mport")
        name = tokens.name()
        tokens.expect("=")
        memory = tokens.name()
        tokens.expect("[")
        index = tokens.expression()
        tokens.expect("]")
        tokens.expect(",")
        return MemoryPort(kind, name, memory, index, tokens.expression())

    def connect(self, tokens: _Tokens) -> Statement:
        sink = tokens.expression()
        tokens.expect(",")
        return Connect(sink, tokens.expression(), False)

    def invalidate(self, tokens: _Tokens) -> Statement:
        return Invalidate(tokens.expression())

    def rejected(self, tokens: _Tokens) -> Statement:
        raise tokens.error(f"not supported: {tokens.word_before()}")


_STATEMENTS = {
    "wire": _Parser.wire,
    "node": _Parser.node,
    "inst": _Parser.instance,
    "reg": _Parser.register,
    "regreset": _Parser.register_with_reset,
    "when": _Parser.when,
    "mem": _Parser.memory,
    "cmem": _Parser.combinational_memory,
    "smem": _Parser.sequential_memory,
    "infer": _Parser.port,
    "read": _Parser.port,
    "write": _Parser.port,
    "rdwr": _Parser.port,
    "connect": _Parser.connect,
    "invalidate": _Parser.invalidate,
    "attach": _Parser.rejected,
    "define": _Parser.rejected,
    "propassign": _Parser.rejected,
    "layerblock": _Parser.rejected,
    "match": _Parser.rejected,
}


class _Tokens:
    """Tokens of a line, with types and expressions."""

    def __init__(self, line: _Line) -> None:
        self.line = line
        self.tokens = _TOKEN.findall(line.text)
        self.at = 0

    def error(self, what: str) -> RtlError:
        return RtlError(f"FIRRTL line {self.line.number}: {what}: {self.line.text[:_MOST_SHOWN]}")

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def is_done(self) -> bool:
        return self.at == len(self.tokens)

    def word_before(self) -> str:
        return self.tokens[self.at - 1]

    def name(self) -> str:
        token = self.peek()
        self.at += 1
        if token[:1] == "`":
            return token.strip("`")
        if not token or not (token[0].isalnum() or token[0] in "_$"):
            raise self.error(f"a name is missing before {token or 'the end'!r}")
        return token

    def expect(self, token: str) -> None:
        if self.peek() != token:
            raise self.error(f"{token!r} is missing")
        self.at += 1

    def number(self) -> int:
        sign = -1 if self.peek() == "-" else 1
        if sign < 0:
            self.at += 1
        token = self.name()
        if not token.isdigit():
            raise self.error(f"not a number: {token}")
        return sign * self._integer(token, 10)

    def _integer(self, digits: str, base: int) -> int:
        try:
            return int(digits, base)
        except ValueError as error:  # no digits, or thousands of them
            raise self.error(f"not a number: {digits[:_MOST_SHOWN]!r}") from error

    def connection(self) -> Statement:
        """Connect or invalidate, in the form with an operator."""
        sink = self.expression()
        operator = self.peek()
        self.at += 1
        if operator == "is":
            self.expect("invalid")
            return Invalidate(sink)
        if operator not in ("<=", "<-"):
            raise self.error("not understood")
        return Connect(sink, self.expression(), operator == "<-")

    def type(self) -> Type:
        result = self.memory_type()
        self.require_few(result)
        return result

    def require_few(self, kind: Type) -> None:
        """Check the number of elements of a type: each becomes a signal."""
        if _elements(kind) > MOST_ELEMENTS:
            raise self.error(f"a type of {_elements(kind)} elements; accepted: at most {MOST_ELEMENTS}")

    def memory_type(self) -> Type:
        """Return a type whose last size may be that of a memory."""
        result = self._plain_type()
        while self.peek() == "[":
            self.at += 1
            result = Vector(result, self.number())
            self.expect("]")
        return result

    def _plain_type(self) -> Type:
        if self.peek() == "{":
            return self._bundle()
        kind = self.name()
        if kind in (UINT, SINT):
            return Ground(kind, self._width())
        if kind in (CLOCK, RESET, ASYNC):
            return Ground(kind, 1)
        raise self.error(f"type not supported: {kind}")

    def _bundle(self) -> Bundle:
        fields: list[FieldOf] = []
        self.expect("{")
        while self.peek() != "}":
            is_flipped = self.peek() == "flip" and self.peek(1) != ":"
            self.at += is_flipped
            name = self.name()
            self.expect(":")
            fields.append(FieldOf(name, self.type(), is_flipped))
            if self.peek() == ",":
                self.at += 1
        self.expect("}")
        return Bundle(tuple(fields))

    def _width(self) -> int | None:
        if self.peek() != "<":
            return None
        self.at += 1
        width = self.number()
        self.expect(">")
        return width

    def expression(self) -> Expression:
        result = self._plain_expression()
        while self.peek() in (".", "["):
            if self.peek() == ".":
                self.at += 1
                result = Field(result, self.name())
                continue
            self.at += 1
            index = self.expression() if not self.peek().isdigit() else self.number()
            result = Index(result, index) if isinstance(index, int) else Access(result, index)
            self.expect("]")
        return result

    def _plain_expression(self) -> Expression:
        name = self.name()
        if name in (UINT, SINT) and self.peek() in ("<", "("):
            width = self._width()
            self.expect("(")
            value = self._value()
            self.expect(")")
            return Literal(name, width, value)
        return self._call(name) if self.peek() == "(" else Ref(name)

    def _value(self) -> int:
        token = self.peek()
        if token[:1] == '"':
            self.at += 1
            text = token[1:-1].replace("_", "")
            base = _BASES.get(text[:1])
            digits = text[1:] if base else text
            return self._integer(digits.replace("+", ""), base or 10)
        sign = -1 if self.peek() == "-" else 1
        if sign < 0:
            self.at += 1
        match = _RADIX.fullmatch(self.peek())
        if match:
            self.at += 1
            return sign * self._integer(match[3], _BASES[match[1]])
        return sign * self.number()

    def _call(self, operation: str) -> Expression:
        operands: list[Expression] = []
        numbers: list[int] = []
        self.expect("(")
        while self.peek() != ")":
            if self.peek().isdigit() or self.peek() == "-":
                numbers.append(self.number())
            else:
                operands.append(self.expression())
            if self.peek() == ",":
                self.at += 1
        self.expect(")")
        return Call(operation, tuple(operands), tuple(numbers))


def _elements(kind: Type) -> int:
    if isinstance(kind, Vector):
        return max(kind.size, 0) * _elements(kind.element)
    return sum(_elements(part.type) for part in kind.fields) if isinstance(kind, Bundle) else 1
