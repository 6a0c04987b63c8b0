"""An interpreter of RV32IM, one instruction after the other, from the manual's definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

WORD = (1 << 32) - 1


class Retired(NamedTuple):
    """An instruction that has been executed; register 0 and value 0 when it writes none."""

    pc: int
    rd: int
    value: int


def signed(value: int, width: int = 32) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


@dataclass
class Machine:
    code: Sequence[int]
    data_words: int
    io: int = 0
    data: dict[int, int] = field(default_factory=dict[int, int])
    registers: list[int] = field(default_factory=lambda: [0] * 32)
    written: list[int] = field(default_factory=list[int])

    def run(self, count: int) -> Iterator[Retired]:
        pc = 0
        for _ in range(count):
            word = self.code[pc // 4] if pc // 4 < len(self.code) else 0
            rd, value, following = self._execute(pc, word)
            if rd:
                self.registers[rd] = value & WORD
            yield Retired(pc, rd, value & WORD if rd else 0)
            pc = following & WORD

    def _execute(self, pc: int, word: int) -> tuple[int, int, int]:
        opcode, rd, f3, f7 = word & 127, word >> 7 & 31, word >> 12 & 7, word >> 25
        x, y = self.registers[word >> 15 & 31], self.registers[word >> 20 & 31]
        immediate = signed(word >> 20, 12)
        following = pc + 4
        if opcode == 0x33:
            return rd, multiply(f3, x, y) if f7 == 1 else calculate(f3, x, y, bool(f7 & 32)), following
        if opcode == 0x13:
            is_other = f3 == 5 and bool(f7 & 32)
            return rd, calculate(f3, x, immediate & WORD, is_other), following
        if opcode == 0x03:
            return rd, self._load(f3, (x + immediate) & WORD), following
        if opcode == 0x23:
            self._store(f3, (x + signed(f7 << 5 | rd, 12)) & WORD, y)
            return 0, 0, following
        if opcode == 0x63:
            bits = (word >> 8 & 15) << 1 | (f7 & 63) << 5 | (word >> 7 & 1) << 11 | (word >> 31) << 12
            return 0, 0, pc + signed(bits, 13) if branches(f3, x, y) else following
        if opcode == 0x6F:
            bits = (
                (word >> 21 & 1023) << 1
                | (word >> 20 & 1) << 11
                | (word >> 12 & 255) << 12
                | word >> 31 << 20
            )
            return rd, following, pc + signed(bits, 21)
        if opcode == 0x67:
            return rd, following, (x + immediate) & ~1
        assert opcode in (0x37, 0x17), hex(word)
        return rd, (word & 0xFFFFF000) + (pc if opcode == 0x17 else 0), following

    def _load(self, f3: int, address: int) -> int:
        word = self.io if address >> 16 else self.data.get(address // 4 % self.data_words, 0)
        width = {0: 8, 1: 16, 2: 32, 4: 8, 5: 16}[f3]
        part = (word >> 8 * (address % 4)) & ((1 << width) - 1)
        return signed(part, width) if f3 < 3 else part

    def _store(self, f3: int, address: int, value: int) -> None:
        if address >> 16:
            self.written.append(value)
            return
        place, shift = address // 4 % self.data_words, 8 * (address % 4)
        mask = ((1 << {0: 8, 1: 16, 2: 32}[f3]) - 1) << shift
        self.data[place] = (self.data.get(place, 0) & ~mask) | (value << shift & mask & WORD)


def calculate(f3: int, x: int, y: int, is_other: bool) -> int:
    shift = y & 31
    right = signed(x) >> shift if is_other else x >> shift
    table = (
        x - y if is_other else x + y,
        x << shift,
        signed(x) < signed(y),
        x < y,
        x ^ y,
        right,
        x | y,
        x & y,
    )
    return int(table[f3])


def multiply(f3: int, x: int, y: int) -> int:
    a, b = signed(x), signed(y)
    if f3 < 4:
        return (x * y, a * b >> 32, a * y >> 32, x * y >> 32)[f3]
    is_signed = f3 in (4, 6)
    n, d = (a, b) if is_signed else (x, y)
    if d == 0:
        return WORD if f3 in (4, 5) else n
    quotient = abs(n) // abs(d) * (-1 if (n < 0) != (d < 0) else 1)
    return quotient if f3 in (4, 5) else n - d * quotient


def branches(f3: int, x: int, y: int) -> bool:
    less = x < y if f3 & 2 else signed(x) < signed(y)
    return bool((less if f3 & 4 else x == y) ^ (f3 & 1))
