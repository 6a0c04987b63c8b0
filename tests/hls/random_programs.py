"""Random C programs without undefined behaviour, for differential tests of high-level synthesis.

Every expression is masked to a small range, divisors and shift counts are made safe, subscripts are masked
to the array's size (a power of two) or are loop variables within it, and loops have small bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

SIZE = 8
ARITHMETIC = ("+", "-", "arith", "*", "/", "/c", "%", "%c", "-", "~")
LOGIC = ("&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", "&&", "||", "?:", "!")
FORMS = ARITHMETIC + LOGIC


@dataclass
class _Generator:
    random: Random
    lines: list[str] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=lambda: ["x", "y"])
    arrays: dict[str, int] = field(default_factory=lambda: {"A": 1, "B": 1, "M": 2})
    fresh: int = 0

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 1) + text)

    def index(self) -> str:
        pick = self.random.random()
        if self.loops and pick < 0.5:
            return self.random.choice(self.loops)
        if self.loops and pick < 0.75:
            sign = self.random.choice("+-")
            shift = f"{self.random.choice(self.loops)} {sign} {self.random.randint(1, 3)}"
            return f"(({shift}) & {SIZE - 1})"
        return f"(({self.expression(1)}) & {SIZE - 1})"

    def element(self) -> str:
        name = self.random.choice(list(self.arrays))
        return name + "".join(f"[{self.index()}]" for _ in range(self.arrays[name]))

    def leaf(self) -> str:
        pick = self.random.random()
        if pick < 0.25:
            return str(self.random.randint(-9, 99))
        if pick < 0.5 and self.loops:
            return self.random.choice(self.loops)
        if pick < 0.75:
            return self.random.choice(self.scalars)
        return self.element()

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.2:
            return self.leaf()
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        form = self.random.choice(FORMS)
        match form:
            case "/" | "%":
                return f"((({left}) & 4095) {form} ((({right}) & 7) + 1))"
            case "/c" | "%c":
                divisor = self.random.choice([-7, -3, -1, 2, 3, 5, 8, 10, 100])
                return f"(({left}) {form[0]} {divisor})"
            case "<<":
                return f"((({left}) & 255) << (({right}) & 7))"
            case ">>":
                return f"(({left}) >> (({right}) & 15))"
            case "?:":
                return f"(({left}) > ({right}) ? ({self.expression(depth - 1)}) : ({left}))"
            case "~" | "!":
                return f"({form}({left}))"
            case "*":
                return f"((({left}) & 1023) * (({right}) & 1023))"
            case "+" | "-" | "arith":
                sign = "+" if form == "arith" else form
                return f"((({left}) & 65535) {sign} (({right}) & 65535))"
            case _:
                return f"(({left}) {form} ({right}))"

    def statement(self, depth: int) -> None:
        pick = self.random.random()
        if pick < 0.22 and len(self.loops) < 3:
            self.loop(depth)
        elif pick < 0.3 and len(self.loops) < 3:
            self.while_loop(depth)
        elif pick < 0.5 and depth < 5:
            self.emit(depth, f"if ({self.expression(2)}) {{")
            self.body(depth + 1, 2)
            if self.random.random() < 0.5:
                self.emit(depth, "} else {")
                self.body(depth + 1, 2)
            self.emit(depth, "}")
        elif pick < 0.72:
            target = self.random.choice(self.scalars)
            self.emit(depth, f"{target} = ({self.expression(3)}) & 65535;")
        else:
            self.emit(depth, f"{self.element()} = ({self.expression(3)}) & 65535;")

    def body(self, depth: int, most: int) -> None:
        for _ in range(self.random.randint(1, most)):
            self.statement(depth)

    def loop(self, depth: int) -> None:
        self.fresh += 1
        name = f"i{self.fresh}"
        header = self.random.choice(
            (
                f"for (int {name} = 0; {name} < {self.random.randint(1, SIZE)}; {name}++)",
                f"for (int {name} = {SIZE - 1}; {name} >= 0; {name}--)",
                f"for (int {name} = {self.random.randint(0, 3)}; {name} < {SIZE}; {name} += 2)",
                f"for (int {name} = (x & 3); {name} <= (y & {SIZE - 1}); {name}++)",
            )
        )
        self.emit(depth, header + " {")
        # A bound that reads x or y must not change: do not assign them inside.
        kept = self.scalars
        if "x & 3" in header:
            self.scalars = [s for s in kept if s not in ("x", "y")] or ["z"]
        self.loops.append(name)
        self.body(depth + 1, 3)
        self.loops.pop()
        self.scalars = kept
        self.emit(depth, "}")

    def while_loop(self, depth: int) -> None:
        self.fresh += 1
        name = f"w{self.fresh}"
        self.emit(depth, f"int {name} = ({self.expression(1)}) & {SIZE - 1};")
        style = self.random.random() < 0.5
        guard = f"{name} > 0 && A[{name}] != {self.random.randint(0, 20)}"
        self.emit(depth, f"while ({guard}) {{" if style else "do {")
        self.loops.append(name)
        self.body(depth + 1, 2)
        self.loops.pop()
        self.emit(depth + 1, f"{name}--;")
        self.emit(depth, "}" if style else f"}} while ({name} > 0);")


def random_program(seed: int) -> str:
    """C source of `int fuzz(int x, int y, int A[8], int B[8], int M[8][8])`, the same for the same seed."""
    generator = _Generator(random=Random(seed))
    generator.emit(0, "int z = 1;")
    generator.scalars.append("z")
    if generator.random.random() < 0.4:
        generator.emit(0, f"int T[{SIZE}];")
        generator.emit(0, f"for (int t = 0; t < {SIZE}; t++) T[t] = t * x;")
        generator.arrays["T"] = 1
    generator.body(0, 5)
    generator.emit(0, "return (x ^ y) + z;")
    header = f"int fuzz(int x, int y, int A[{SIZE}], int B[{SIZE}], int M[{SIZE}][{SIZE}])"
    return header + "\n{\n" + "\n".join(generator.lines) + "\n}\n"
