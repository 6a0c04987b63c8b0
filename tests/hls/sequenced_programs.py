"""Random C with side effects inside expressions, in orders of evaluation that C defines.

The operands of an operator that does not order them use different variables; those of `&&`, `||`, `,` and
`?:` may share. Functions only add to the file's array, so that their order does not matter. Signed overflow
wraps (the tests compile with -fwrapv) and subscripts are masked.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

VARIABLES = ("a", "b", "c", "d", "e", "g")
TYPES = ("int", "unsigned", "short", "unsigned char", "long", "signed char")


class Generator:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.functions: list[str] = []

    def split(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Variables dealt to two operands."""
        left = [n for n in names if self.random.random() < 0.5]
        return left, [n for n in names if n not in left]

    def value(self, names: Sequence[str], depth: int) -> str:
        """An expression that uses and changes variables of `names` alone."""
        pick = self.random.randrange(14) if depth and names else 0
        if pick < 2 or not names:
            return self.random.choice([*names, str(self.random.randrange(-9, 100))])
        left, right = self.split(names)
        if pick < 5:
            operator = self.random.choice(["+", "-", "*", "^", "&", "|", "<", "==", ">="])
            return f"({self.value(left, depth - 1)} {operator} {self.value(right, depth - 1)})"
        if pick < 7:
            operator = self.random.choice(["&&", "||", ","])
            return f"({self.value(names, depth - 1)} {operator} {self.value(names, depth - 1)})"
        if pick < 8:
            parts = [self.value(names, depth - 1) for _ in range(3)]
            return f"({parts[0]} ? {parts[1]} : {parts[2]})"
        name = self.random.choice(list(names))
        others = [n for n in names if n != name]
        if pick < 10:
            return self.random.choice(["{}++", "{}--", "++{}", "--{}"]).format(name)
        if pick < 12:
            operator = self.random.choice(["=", "+=", "^=", "-=", "*="])
            return f"({name} {operator} {self.value(others, depth - 1)})"
        if pick < 13 and self.functions and "a" in names:
            function = self.random.choice(self.functions)
            return f"{function}(&a, {self.value([n for n in names if n != 'a'], depth - 1)})"
        return f"{self.random.choice(['!', '-', '~'])}({self.value(names, depth - 1)})"

    def statement(self, depth: int) -> str:
        """A statement; loops end after a bounded number of iterations."""
        pick = self.random.randrange(8) if depth else 0
        condition = self.value(VARIABLES, 2)
        if pick < 3:
            return f"{self.value(VARIABLES, 4)};"
        if pick == 3:
            added = self.value(VARIABLES[3:], 3)
            return f"{{ int t = {added}; T[{self.value(VARIABLES[:3], 2)} & 7] += t; }}"
        if pick == 4:
            return f"if ({condition}) {{ {self.block(depth - 1)} }} else {{ {self.block(depth - 1)} }}"
        if pick == 5:
            jump = self.random.choice(["break;", "continue;", "return a;", ""])
            return (
                f"while (left-- > 0 && {condition}) {{ {self.block(depth - 1)} if (left & 1) {{ {jump} }} }}"
            )
        if pick == 6:
            return f"do {{ {self.block(depth - 1)} }} while (--left > 0 && {condition});"
        ends = [self.random.choice(["break;", "", "return b;"]) for _ in range(3)]
        cases = [f"case {n}: {self.block(depth - 1)} {end}" for n, end in enumerate(ends)]
        cases.insert(self.random.randrange(4), f"default: {self.block(depth - 1)}")
        return f"switch ({condition} & 3) {{ {' '.join(cases)} }}"

    def block(self, depth: int) -> str:
        """Some statements."""
        return " ".join(self.statement(depth) for _ in range(self.random.randrange(1, 3)))

    def function(self, name: str) -> str:
        """A function that changes its arguments and an array of the file."""
        kinds = [self.random.choice(TYPES) for _ in VARIABLES[1:]]
        declared = " ".join(
            f"{kind} {v} = x + {n};" for n, (v, kind) in enumerate(zip(VARIABLES[1:], kinds, strict=True))
        )
        body = " ".join(self.statement(2) for _ in range(3))
        return (
            f"static int {name}(int *p, int x)\n{{\n    int left = 5, a = *p;\n    {declared}\n    {body}\n"
            f"    *p ^= b + g;\n    return a + c * d - e;\n}}\n"
        )

    def program(self) -> str:
        """A whole program with the top function `f`."""
        text = "static int T[8];\n"
        for number in range(4):
            text += self.function(f"f{number}")
            self.functions.append(f"f{number}")
        calls = "".join(f"    A[{n}] += f{n}(&A[{n + 4}], A[{n + 8}]);\n" for n in range(4))
        copies = "    for (int i = 0; i < 8; i++)\n        A[i + 12] ^= T[i];\n"
        return f"{text}int f(int A[20])\n{{\n{calls}{copies}    return T[3];\n}}\n"


def sequenced_program(seed: int) -> str:
    """A program, the same for the same seed."""
    return Generator(seed).program()
