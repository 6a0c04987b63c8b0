"""Random loop nests over arrays, for differential tests of memory transformations.

Subscripts are affine in the loop variables, halved, masked or data-dependent, always in bounds; loops are
constant, triangular, backwards, stepping or bounded by an argument. Some elements with unchanging indices
accumulate values, sometimes under conditions, and some loops are left early.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

SIZE = 8


@dataclass
class _Nest:
    random: Random
    kind: str
    leaves: bool
    lines: list[str] = field(default_factory=list)
    loops: list[tuple[str, int, int]] = field(default_factory=list)
    fresh: int = 0
    budget: int = 14

    def emit(self, text: str) -> None:
        self.lines.append("    " * (len(self.loops) + 1) + text)

    def index(self) -> str:
        pick = self.random.random()
        if not self.loops or pick < 0.12:
            return str(self.random.randrange(SIZE))
        name, low, high = self.random.choice(self.loops)
        if pick < 0.5:
            return name
        if pick < 0.62:
            shift = self.random.randint(-low, SIZE - 1 - high)
            return f"{name} + {shift}" if shift >= 0 else f"{name} - {-shift}"
        if pick < 0.7:
            return f"{SIZE - 1} - {name}"
        if pick < 0.76 and 2 * high < SIZE:
            return f"2 * {name}" if 2 * high + 1 >= SIZE else f"2 * {name} + {self.random.randrange(2)}"
        if pick < 0.82:
            return f"{name} / 2"
        if pick < 0.9:
            other = self.random.choice(self.loops)[0]
            return f"(({name} + {other}) & {SIZE - 1})"
        if pick < 0.95:
            return "(n & 3)"
        return f"(K[{name}] & {SIZE - 1})"

    def element(self) -> str:
        array = self.random.choice(("A", "A", "B", "V", "T"))
        count = 2 if array in "AB" else 1
        return array + "".join(f"[{self.index()}]" for _ in range(count))

    def value(self, depth: int) -> str:
        pick = self.random.random()
        if depth <= 0 or pick < 0.45:
            leaf = self.random.random()
            if leaf < 0.7:
                return self.element()
            return str(self.random.randint(1, 9)) if leaf < 0.85 or not self.loops else self.loops[-1][0]
        operator = self.random.choice(("+", "-", "*"))
        return f"({self.value(depth - 1)} {operator} {self.value(depth - 1)})"

    def assignment(self) -> None:
        pick = self.random.random()
        place = self.element()
        if pick < 0.5:
            self.emit(f"{place} {self.random.choice(('+=', '-=', '*='))} {self.value(1)};")
        elif pick < 0.6:
            self.emit(f"s = s * 3 + {self.value(1)};")
        elif pick < 0.7:
            self.emit(f"{place} = s;")
        else:
            self.emit(f"{place} = {self.value(2)};")

    def statement(self) -> None:
        self.budget -= 1
        pick = self.random.random()
        if pick < 0.32 and len(self.loops) < 3 and self.budget > 0:
            self.loop()
        elif pick < 0.42:
            self.emit(f"if ({self.value(1)} > {self.random.randint(-3, 9)}) {{")
            self.assignment()
            if self.random.random() < 0.4:
                self.emit("} else {")
                self.assignment()
            self.emit("}")
        elif pick < 0.46 and self.leaves and self.loops:
            word = self.random.choice(("break", "continue"))
            self.emit(f"if ({self.value(1)} > 40) {word};")
        else:
            self.assignment()

    def loop(self) -> None:
        self.fresh += 1
        name = f"i{self.fresh}"
        self.emit(self.header(name))
        for _ in range(self.random.randint(1, 3)):
            self.statement()
        self.loops.pop()
        self.emit("}")

    def header(self, name: str) -> str:
        pick = self.random.randrange(9)
        low, high = 0, SIZE - 1
        outer = self.random.choice(self.loops)[0] if self.loops else None
        if pick <= 2 or (outer is None and pick <= 5):
            low, high = self.random.choice(((0, SIZE - 1), (1, SIZE - 2), (2, 5), (0, 3)))
            text = f"for (int {name} = {low}; {name} <= {high}; {name}++) {{"
        elif pick == 3:
            text = f"for (int {name} = 0; {name} < {outer}; {name}++) {{"
        elif pick == 4:
            text = f"for (int {name} = {outer}; {name} < {SIZE}; {name}++) {{"
        elif pick == 5:
            text = f"for (int {name} = {SIZE - 1}; {name} > {outer}; {name}--) {{"
        elif pick == 6:
            step = self.random.choice((2, 3, 4))
            text = f"for (int {name} = {self.random.randrange(2)}; {name} < {SIZE}; {name} += {step}) {{"
        elif pick == 7:
            text = f"for (int {name} = 0; {name} < (n & 7); {name}++) {{"
        else:
            text = f"for (int {name} = {SIZE - 1}; {name} >= 0; {name}--) {{"
        self.loops.append((name, low, high))
        return text


def random_nest(random: Random, *, kind: str = "int", leaves: bool = True) -> str:
    """C source of `kind nest(int n, kind A[8][8], kind B[8][8], kind V[8], int K[8])`."""
    nest = _Nest(random=random, kind=kind, leaves=leaves)
    nest.emit(f"{kind} s = 1;")
    nest.emit(f"{kind} T[{SIZE}];")
    nest.emit(f"for (int t = 0; t < {SIZE}; t++) T[t] = V[t] + t;")
    for _ in range(2):
        nest.loop()
    nest.emit("return s;")
    matrices = "".join(f"{kind} {name}[{SIZE}][{SIZE}], " for name in "AB")
    header = f"{kind} nest(int n, {matrices}{kind} V[{SIZE}], int K[{SIZE}])"
    return header + "\n{\n" + "\n".join(nest.lines) + "\n}\n"
