"""Random C programs of every type, statement and directive, without undefined behaviour.

A program is a tree of texts so that it can be shrunk: `Program.statements` are the top-level pieces and
each compound piece has a body. Signed arithmetic goes through macros that compute in the unsigned type,
subscripts are masked to the arrays' sizes, divisors are at least 1, shift counts below the width, and
conversions from floating values are clamped. Loops have small bounds; `while` loops count down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

SIZE = 8
INTEGERS = tuple(f"{sign}int{width}_t" for width in (8, 16, 32, 64) for sign in ("", "u"))
FLOATS = ("float", "double")
ARRAYS = {
    "A": ("int32_t", 1),
    "B": ("uint8_t", 1),
    "M": ("int16_t", 2),
    "F": ("float", 1),
    "D": ("double", 1),
}
PARAMETERS = {"x": "int32_t", "y": "uint8_t", "w": "int64_t", "p": "float"}
SIGNATURE = (
    "int32_t fuzz(int32_t x, uint8_t y, int64_t w, float p, int32_t A[8], uint8_t B[8], int16_t M[8][8], "
    "float F[8], double D[8])"
)
PRELUDE = """#include <stdint.h>
#include <math.h>
#define ADD(a, b) ((int32_t)((uint32_t)(a) + (uint32_t)(b)))
#define SUB(a, b) ((int32_t)((uint32_t)(a) - (uint32_t)(b)))
#define MUL(a, b) ((int32_t)((uint32_t)(a) * (uint32_t)(b)))
#define ADDL(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define SUBL(a, b) ((int64_t)((uint64_t)(a) - (uint64_t)(b)))
#define MULL(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
static const int16_t TABLE[8] = {3, -1, 200, 17, -300, 5, 0, 1023};
struct pair { int32_t first; float second; };
static int32_t clamped(double v) { return v > -1e9 && v < 1e9 ? (int32_t)v : 77; }
static int32_t mixed(int32_t a, uint32_t b) { if (a < 0) return (int32_t)(b >> 3); return a ^ (int32_t)b; }
static float scaled(float v[8], int n)
{
    float s = 0;
    for (int q = 0; q < 4; q++)
        s += v[(q + n) & 7];
    return s;
}
"""


@dataclass(frozen=True)
class Piece:
    """A statement: text before, pieces inside, text after; a plain one has only `head`."""

    head: str
    body: tuple[Piece, ...] = ()
    tail: str = ""

    def lines(self, depth: int) -> Iterator[str]:
        yield "    " * depth + self.head
        for piece in self.body:
            yield from piece.lines(depth + 1)
        if self.tail:
            yield "    " * depth + self.tail


@dataclass(frozen=True)
class Program:
    """A whole program; `text` is its C source with the top function `fuzz`."""

    statements: tuple[Piece, ...]

    @property
    def text(self) -> str:
        lines = [line for piece in self.statements for line in piece.lines(1)]
        return PRELUDE + SIGNATURE + "\n{\n" + "\n".join(lines) + "\n}\n"


@dataclass
class _Generator:
    random: Random
    loops: list[str] = field(default_factory=list)
    scalars: dict[str, str] = field(default_factory=lambda: dict(PARAMETERS))
    arrays: dict[str, tuple[str, int]] = field(default_factory=lambda: dict(ARRAYS))
    fresh: int = 0
    breakable: bool = False
    nesting: int = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # ---- expressions, by kind of value --------------------------------------------------------------

    def index(self) -> str:
        chance = self.random.random()
        if self.loops and chance < 0.5:
            return self.random.choice(self.loops)
        if self.loops and chance < 0.8:
            return (
                f"(({self.random.choice(self.loops)} {self.pick('+', '-')} {self.random.randint(1, 3)}) & 7)"
            )
        if self.nesting > 0:
            return f"({self.random.choice(['x', 'y', 'w'])} & 7)"
        self.nesting += 1
        inner = self.integer(1)
        self.nesting -= 1
        return f"({inner} & 7)"

    def element(self, name: str) -> str:
        return name + "".join(f"[{self.index()}]" for _ in range(self.arrays[name][1]))

    def named(self, floating: bool) -> str:
        """A variable or array element of one kind."""
        candidates = [n for n, kind in self.scalars.items() if (kind in FLOATS) == floating]
        arrays = [n for n, (kind, _) in self.arrays.items() if (kind in FLOATS) == floating]
        if candidates and self.random.random() < 0.5:
            return self.random.choice(candidates)
        return self.element(self.random.choice(arrays))

    def integer(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.15:
            return self.integer_leaf()
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        form = self.random.randint(0, 21)
        simple = {0: "ADD", 1: "SUB", 2: "MUL", 3: "ADDL", 4: "SUBL", 5: "MULL"}
        if form in simple:
            return f"{simple[form]}({a}, {b})"
        texts = (
            f"({a} / (int32_t)(({b} & 7) + 1))",
            f"({a} % (int32_t)(({b} & 15) + 1))",
            f"((uint32_t){a} / (uint32_t)(({b} & 1023) + 1))",
            f"({a} / {self.random.choice([-7, -3, 2, 3, 8, 10, 100])})",
            f"({a} % {self.random.choice([-5, 3, 4, 10])})",
            f"((uint32_t){a} << ({b} & 15))",
            f"({a} >> ({b} & 7))",
            f"((uint64_t){a} >> ({b} & 31))",
            f"({a} {self.pick('&', '|', '^')} {b})",
            f"({a} {self.pick('<', '<=', '>', '>=', '==', '!=')} {b})",
            f"({a} {self.pick('&&', '||')} {b})",
            f"({self.pick('~', '!')}{a})",
            f"({a} > {b} ? {self.integer(depth - 1)} : {a})",
            f"(({self.random.choice(INTEGERS)}){a})",
            f"clamped({self.floating(depth - 1)})",
            f"mixed((int32_t){a}, (uint32_t){b})",
        )
        return texts[form - 6]

    def integer_leaf(self) -> str:
        chance = self.random.random()
        if chance < 0.2:
            return str(self.random.randint(-9, 99)) if self.random.random() < 0.8 else "0x7fffff01"
        if chance < 0.4 and self.loops:
            return self.random.choice(self.loops)
        if chance < 0.5:
            return f"TABLE[{self.index()}]"
        return self.named(floating=False)

    def floating(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.2:
            if self.random.random() < 0.3:
                return self.pick("0.5f", "1.25", "-3.0f", "1e-3", "7")
            return self.named(floating=True)
        a, b = self.floating(depth - 1), self.floating(depth - 1)
        texts = (
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"({a} / ({b} + 1.5f))",
            f"({self.pick('float', 'double')}){self.integer(depth - 1)}",
            f"(float)({a})",
            f"(- {a})",
            f"({a} {self.pick('<', '>=', '==')} {b} ? {a} : {b})",
            f"sqrtf(fabsf((float)({a})))",
            f"fabs({a})",
        )
        weights = (6, 6, 6, 1, 3, 2, 2, 3, 1, 2)
        return self.random.choices(texts, weights)[0]

    def value(self, kind: str, depth: int) -> str:
        """An expression that may be assigned to a type."""
        if kind in FLOATS:
            return f"({kind})({self.floating(depth)})"
        return f"({kind})({self.integer(depth)})"

    def condition(self) -> str:
        if self.random.random() < 0.3:
            return f"{self.floating(1)} {self.pick('<', '>', '<=', '!=')} {self.floating(1)}"
        return self.integer(2)

    # ---- statements ---------------------------------------------------------------------------------

    def statement(self, depth: int) -> Piece:
        chance = self.random.random()
        if chance < 0.22 and len(self.loops) < 3 and depth < 4:
            return self.loop(depth)
        if chance < 0.28 and len(self.loops) < 2 and depth < 4:
            return self.countdown(depth)
        if chance < 0.44 and depth < 5:
            return self.branch(depth)
        if chance < 0.48 and depth < 4:
            return self.switch(depth)
        if chance < 0.52 and self.breakable:
            return Piece(f"if ({self.condition()}) {self.pick('break', 'continue')};")
        if chance < 0.522 and depth > 1:
            return Piece(f"if ({self.condition()}) return (int32_t){self.integer(1)};")
        return self.assignment()

    def assignment(self) -> Piece:
        chance = self.random.random()
        targets = {n: k for n, k in self.scalars.items() if n not in self.loops}
        if chance < 0.45 and targets:
            place = self.random.choice(list(targets))
            kind = targets[place]
        else:
            array = self.random.choice(list(self.arrays))
            place, kind = self.element(array), self.arrays[array][0]
        form = self.random.random()
        if form < 0.12 and kind in INTEGERS and kind.startswith("u"):
            return Piece(f"{place} {self.pick('+', '-', '^', '|', '&')}= ({kind}){self.integer(2)};")
        if form < 0.2 and kind in FLOATS:
            return Piece(f"{place} {self.pick('+', '-', '*')}= {self.floating(2)};")
        if form < 0.24 and kind == "float":
            return Piece(f"{place} = scaled(F, (int)({self.integer(1)} & 7));")
        if form < 0.28 and kind in ("uint8_t", "uint16_t", "uint32_t"):
            return Piece(f"{place}{self.pick('++', '--')};")
        return Piece(f"{place} = {self.value(kind, self.random.randint(1, 3))};")

    def body(self, depth: int, most: int) -> tuple[Piece, ...]:
        return tuple(self.statement(depth) for _ in range(self.random.randint(1, min(most, 3 - depth // 2))))

    def branch(self, depth: int) -> Piece:
        then = self.body(depth + 1, 2)
        if self.random.random() < 0.5:
            other = Piece("} else {", self.body(depth + 1, 2))
            then = (*then, replace(other, tail=""))
        return Piece(f"if ({self.condition()}) {{", then, "}")

    def switch(self, depth: int) -> Piece:
        kept, self.breakable = self.breakable, False
        cases: list[Piece] = []
        for label in self.random.sample(range(4), self.random.randint(1, 3)):
            ending = Piece("break;") if self.random.random() < 0.7 else Piece(";")
            cases.append(Piece(f"case {label}: {{", (*self.body(depth + 2, 2),), "}"))
            cases.append(ending)
        if self.random.random() < 0.6:
            cases.append(Piece("default: {", self.body(depth + 2, 1), "}"))
        self.breakable = kept
        return Piece(f"switch ({self.integer(1)} & 3) {{", tuple(cases), "}")

    def loop(self, depth: int) -> Piece:
        name = self.name("i")
        kind = self.pick("int", "int", "int", "unsigned", "short")
        most = self.random.randint(1, SIZE)
        headers = [
            f"for ({kind} {name} = 0; {name} < {most}; {name}++) {{",
            f"for (int {name} = {SIZE - 1}; {name} >= 0; {name}--) {{",
            f"for (int {name} = {self.random.randint(0, 3)}; {name} < {SIZE}; {name} += 2) {{",
        ]
        if self.loops:
            headers.append(f"for (int {name} = 0; {name} <= (int)({self.loops[-1]} & 7); {name}++) {{")
        header = self.random.choice(headers)
        return self.looped(header, name, depth)

    def looped(
        self, header: str, name: str, depth: int, after: tuple[Piece, ...] = (), tail: str = "}"
    ) -> Piece:
        kept, self.breakable = self.breakable, not after
        self.loops.append(name)
        inside = self.body(depth + 1, 2)
        self.loops.pop()
        self.breakable = kept
        return Piece(header, (*inside, *after), tail)

    def countdown(self, depth: int) -> Piece:
        name = self.name("c")
        step = (Piece(f"{name}--;"),)
        if self.random.random() < 0.5:
            header, tail = f"while ({name} > 0 && A[{name}] != {self.random.randint(0, 20)}) {{", "}"
        else:
            header, tail = "do {", f"}} while ({name} > 0);"
        inner = self.looped(header, name, depth, step, tail)
        declared = Piece(f"int {name} = (int)({self.integer(1)} & 7);")
        return Piece("{", (declared, inner), "}")

    def declarations(self) -> list[Piece]:
        pieces = [Piece("int32_t z = 1;")]
        self.scalars["z"] = "int32_t"
        for _ in range(self.random.randint(0, 3)):
            kind = self.random.choice([*INTEGERS, *FLOATS])
            name = self.name("v")
            pieces.append(Piece(f"{kind} {name} = {self.value(kind, 1)};"))
            self.scalars[name] = kind
        if self.random.random() < 0.4:
            kind = self.pick("int32_t", "uint16_t", "float", "int64_t")
            pieces.append(Piece(f"{kind} T[8] = {{1, 2, 3}};"))
            self.arrays["T"] = (kind, 1)
        if self.random.random() < 0.3:
            pieces.append(Piece("struct pair s = {4, 0.5f};"))
            self.scalars |= {"s.first": "int32_t", "s.second": "float"}
        return pieces


def typed_program(seed: int) -> Program:
    """A program, the same for the same seed."""
    generator = _Generator(random=Random(seed))
    pieces = generator.declarations()
    pieces += [generator.statement(0) for _ in range(generator.random.randint(1, 3))]
    pieces.append(Piece("return (int32_t)(x ^ y) + (int32_t)(z & 65535);"))
    return Program(tuple(pieces))


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one piece less, or with a compound piece replaced by its body, largest cuts first."""
    for statements in _smaller_bodies(program.statements):
        yield Program(statements)


def _smaller_bodies(body: tuple[Piece, ...]) -> Iterator[tuple[Piece, ...]]:
    for place, piece in enumerate(body):
        before, after = body[:place], body[place + 1 :]
        if not piece.head.startswith("return") and not piece.head.startswith("} else"):
            yield before + after
            if piece.body and piece.head.startswith(("if", "for", "{")):
                yield before + tuple(p for p in piece.body if not p.head.startswith("} else")) + after
        if piece.head.startswith("} else"):
            yield before + after
        for inner in _smaller_bodies(piece.body):
            yield (*before, replace(piece, body=inner), *after)
