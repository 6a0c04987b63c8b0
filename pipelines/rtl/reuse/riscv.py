"""RV32IM instructions as words, and the program that cores of generated designs run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_OPERATIONS = {
    "add": (0, 0x00),
    "sub": (0, 0x20),
    "sll": (1, 0x00),
    "slt": (2, 0x00),
    "sltu": (3, 0x00),
    "xor": (4, 0x00),
    "srl": (5, 0x00),
    "sra": (5, 0x20),
    "or": (6, 0x00),
    "and": (7, 0x00),
    "mul": (0, 0x01),
    "mulh": (1, 0x01),
    "mulhsu": (2, 0x01),
    "mulhu": (3, 0x01),
    "div": (4, 0x01),
    "divu": (5, 0x01),
    "rem": (6, 0x01),
    "remu": (7, 0x01),
}
"""Function codes of operations on two registers."""
_IMMEDIATE = {
    "addi": 0,
    "slli": 1,
    "slti": 2,
    "sltiu": 3,
    "xori": 4,
    "srli": 5,
    "srai": 5,
    "ori": 6,
    "andi": 7,
}
_LOADS = {"lb": 0, "lh": 1, "lw": 2, "lbu": 4, "lhu": 5}
_STORES = {"sb": 0, "sh": 1, "sw": 2}
_BRANCHES = {"beq": 0, "bne": 1, "blt": 4, "bge": 5, "bltu": 6, "bgeu": 7}
MNEMONICS = (*_OPERATIONS, *_IMMEDIATE, *_LOADS, *_STORES, *_BRANCHES, "lui", "auipc", "jal", "jalr")
"""Accepted instructions."""


def encode(name: str, a: int, b: int = 0, c: int = 0) -> int:
    """Return the word of an instruction.

    Args:   a, b, c: `rd, rs1, rs2` or `rd, rs1, immediate`; `rs2, rs1, immediate` of stores; `rs1, rs2,
            offset` of branches; `rd, immediate` of lui, auipc, jal. Offsets are in bytes.
    Source: The RISC-V Instruction Set Manual, volume I, chapter on RV32I, instruction formats.
    """
    if name in _OPERATIONS:
        f3, f7 = _OPERATIONS[name]
        return _fields(0x33, rd=a, f3=f3, rs1=b, rs2=c, f7=f7)
    if name in _IMMEDIATE:
        shift = 0x400 if name == "srai" else 0
        return _fields(0x13, rd=a, f3=_IMMEDIATE[name], rs1=b) | ((c & 0xFFF) | shift) << 20
    if name in _LOADS or name == "jalr":
        opcode, f3 = (0x67, 0) if name == "jalr" else (0x03, _LOADS[name])
        return _fields(opcode, rd=a, f3=f3, rs1=b) | (c & 0xFFF) << 20
    if name in _STORES:
        return _fields(0x23, rd=c & 31, f3=_STORES[name], rs1=b, rs2=a, f7=c >> 5 & 127)
    if name in _BRANCHES:
        low, high = (c & 0x1E) | (c >> 11 & 1), (c >> 12 & 1) << 6 | (c >> 5 & 63)
        return _fields(0x63, rd=low, f3=_BRANCHES[name], rs1=a, rs2=b, f7=high)
    if name == "jal":
        bits = (b >> 20 & 1) << 31 | (b >> 1 & 0x3FF) << 21 | (b >> 11 & 1) << 20 | (b >> 12 & 0xFF) << 12
        return bits | _fields(0x6F, rd=a)
    return (b & 0xFFFFF) << 12 | _fields({"lui": 0x37, "auipc": 0x17}[name], rd=a)


def _fields(opcode: int, *, rd: int = 0, f3: int = 0, rs1: int = 0, rs2: int = 0, f7: int = 0) -> int:
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode


_Line = tuple[str, int, int, int | str] | tuple[str, int, int | str] | str
"""An instruction whose last operand may be a label, or a label."""


def assemble(lines: Sequence[_Line]) -> list[int]:
    """Return the words of a program; labels stand for offsets from the instruction that names them."""
    places: dict[str, int] = {}
    instructions: list[tuple[str | int, ...]] = []
    for line in lines:
        if isinstance(line, str):
            places[line] = 4 * len(instructions)
        else:
            instructions.append(line)
    words: list[int] = []
    for i, (name, *operands) in enumerate(instructions):
        numbers = [places[o] - 4 * i if isinstance(o, str) else int(o) for o in operands]
        words.append(encode(str(name), *numbers))
    return words


def demonstration(*, has_division: bool) -> list[int]:
    """Return an endless program: fills 16 words with a recurrence, sorts them, and adds their products.

    It writes the words and the sum to the interface, whose answer is the next seed.
    """
    mix: Callable[[], list[_Line]] = lambda: (  # noqa: E731
        [("addi", 7, 0, 23), ("remu", 6, 10, 7), ("div", 5, 10, 7), ("add", 10, 5, 6)] if has_division else []
    )
    return assemble(
        [
            ("lui", 8, 0x10),  # interface
            ("lui", 9, 0x19660),
            ("addi", 9, 9, 0x0D),
            "round",
            ("lw", 10, 8, 0),
            ("addi", 11, 0, 0),
            "fill",
            ("mul", 10, 10, 9),
            ("addi", 10, 10, 0x3F1),
            *mix(),
            ("sw", 10, 11, 0),
            ("sw", 10, 8, 0),
            ("addi", 11, 11, 4),
            ("addi", 12, 0, 64),
            ("bne", 11, 12, "fill"),
            ("addi", 13, 0, 60),
            "pass",
            ("addi", 11, 0, 0),
            "compare",
            ("lw", 14, 11, 0),
            ("lw", 15, 11, 4),
            ("bge", 15, 14, "ordered"),
            ("sw", 15, 11, 0),
            ("sw", 14, 11, 4),
            "ordered",
            ("addi", 11, 11, 4),
            ("bne", 11, 13, "compare"),
            ("addi", 13, 13, -4),
            ("bne", 13, 0, "pass"),
            ("addi", 16, 0, 0),
            ("addi", 11, 0, 0),
            "sum",
            ("lw", 14, 11, 0),
            ("lhu", 15, 11, 6),
            ("mulhu", 17, 14, 15),
            ("mul", 18, 14, 15),
            ("xor", 16, 16, 17),
            ("add", 16, 16, 18),
            ("addi", 11, 11, 4),
            ("bne", 11, 12, "sum"),
            ("sw", 16, 8, 0),
            ("srai", 16, 16, 3),
            ("sw", 16, 8, 16),
            ("jal", 0, "round"),
        ]
    )
