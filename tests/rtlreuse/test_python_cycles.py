"""Drawn circuits of wide words, a memory and resets against a cycle simulation in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import xor
from pathlib import Path
from random import Random

import pytest

from pipelines.rtl.reuse import Simulator, build_reuse

Values = dict[str, int]
INPUTS = {"a": 130, "b": 64, "c": 7, "en": 1, "rst": 1}
REGISTERS = {"r0": 1, "r1": 9, "r2": 64, "r3": 65, "r4": 128}
WORDS, WORD = 6, 70
"""Of the memory; addresses have 3 bits, so that two of them lie beyond its end."""


@dataclass
class Circuit:
    """Wires in order: Verilog, and the value from those before."""

    draw: Random
    widths: dict[str, int] = field(default_factory=lambda: {**INPUTS, **REGISTERS, "q": WORD})
    lines: list[str] = field(default_factory=list[str])
    rules: list[tuple[str, Callable[[Values], int]]] = field(
        default_factory=list[tuple[str, Callable[[Values], int]]]
    )

    def wire(self, width: int, text: str, rule: Callable[[Values], int]) -> str:
        name = f"n{len(self.rules)}"
        self.widths[name] = width
        self.lines.append(f"  wire [{width - 1}:0] {name} = {text};")
        self.rules.append((name, lambda v: rule(v) & (1 << width) - 1))
        return name

    def fitted(self, width: int) -> str:
        """Some signal in a width, cut or with zeros above, or the complement of that."""
        name, flip = self.draw.choice(list(self.widths)), self.draw.choice((0, -1))
        return self.wire(width, f"~{name}" if flip else name, lambda v: v[name] ^ flip)

    def operation(self, form: int) -> str:
        width = self.draw.choice((1, 5, 32, 63, 64, 65, 100, 129))
        x, y, few = self.fitted(width), self.fitted(width), self.fitted(4)
        sign = 1 << width - 1
        forms: dict[str, tuple[int, Callable[[Values], int]]] = {
            f"{x} + {y}": (width, lambda v: v[x] + v[y]),
            f"{x} - {y}": (width, lambda v: v[x] - v[y]),
            f"{x} * {y}": (width, lambda v: v[x] * v[y]),
            f"({x} & {y}) ^ ~{y}": (width, lambda v: (v[x] & v[y]) ^ ~v[y]),
            f"{x} << {few}": (width, lambda v: v[x] << v[few]),
            f"{x} >> {few}": (width, lambda v: v[x] >> v[few]),
            f"$signed({x}) >>> {few}": (width, lambda v: (v[x] ^ sign) - sign >> v[few]),
            f"{x} < {y}": (1, lambda v: v[x] < v[y]),
            f"$signed({x}) < $signed({y})": (1, lambda v: v[x] ^ sign < v[y] ^ sign),
            f"^{x}": (1, lambda v: v[x].bit_count() & 1),
            f"&{x} | ~|{y}": (1, lambda v: v[x] + 1 == sign << 1 or v[y] == 0),
            f"{few}[0] ? {x} : {y}": (width, lambda v: v[x] if v[few] & 1 else v[y]),
            f"{{{x}, {few}}}": (width + 4, lambda v: v[x] << 4 | v[few]),
        }
        text = list(forms)[form % len(forms)]
        return self.wire(forms[text][0], text, forms[text][1])


def _circuit(seed: int) -> tuple[str, Callable[[Values, Values, list[int]], int]]:
    """Verilog, and a step in Python, which changes registers and memory and answers the output."""
    circuit = Circuit(draw=Random(seed))
    operations = [circuit.operation(form) for form in range(39)]
    nexts = {name: circuit.fitted(width) for name, width in REGISTERS.items()}
    where, what = circuit.fitted(3), circuit.fitted(WORD)
    ports = ", ".join(f"input [{width - 1}:0] {name}" for name, width in INPUTS.items())
    text = [
        f"module top (input clk, {ports}, output [149:0] y);",
        *(f"  reg [{width - 1}:0] {name} = 0;" for name, width in REGISTERS.items()),
        f"  reg [{WORD - 1}:0] m [0:{WORDS - 1}];",
        f"  wire [{WORD - 1}:0] q = m[r1[2:0]];",
        *circuit.lines,
        f"  assign y = {' ^ '.join(operations)};",
        f"  always @(posedge clk) if (en) m[{where}] <= {what};",
        *(
            f"  always @(posedge clk) if (rst) {name} <= {k}; else if (en | {k % 2}) {name} <= {wire};"
            for k, (name, wire) in enumerate(nexts.items())
        ),
        "endmodule",
    ]

    def step(inputs: Values, state: Values, memory: list[int]) -> int:
        address = state["r1"] & 7
        values = {**inputs, **state, "q": memory[address] if address < WORDS else 0}
        for name, rule in circuit.rules:
            values[name] = rule(values)
        if values["en"] and values[where] < WORDS:
            memory[values[where]] = values[what]
        for number, (name, wire) in enumerate(nexts.items()):
            if values["rst"]:
                state[name] = number & (1 << REGISTERS[name]) - 1
            elif values["en"] or number % 2:
                state[name] = values[wire]
        return reduce(xor, (values[name] for name in operations))

    return "\n".join(text), step


@pytest.mark.parametrize(("seed", "stimuli"), [(1, 1), (2, 3)])
def test_drawn_circuits_equal_python(seed: int, stimuli: int, programs: Path) -> None:
    text, step = _circuit(seed)
    draw = Random(seed)
    states = [(dict.fromkeys(REGISTERS, 0), [0] * WORDS) for _ in range(stimuli)]
    simulator = Simulator(build_reuse(text, top="top", folder=programs, stimuli=stimuli, is_quick=True))
    try:
        for cycle in range(60):
            drawn = [
                {n: draw.getrandbits(w) >> draw.choice((0, w // 2)) for n, w in INPUTS.items()}
                | {"rst": int(draw.random() < 0.05 or not cycle)}
                for _ in range(stimuli)
            ]
            outputs = simulator.step({name: [values[name] for values in drawn] for name in INPUTS})["y"]
            expected = [step(values, *state) for values, state in zip(drawn, states, strict=True)]
            assert outputs == (expected if stimuli > 1 else expected[0]), f"cycle {cycle}"
    finally:
        simulator.close()
