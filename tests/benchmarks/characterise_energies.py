"""Measure the energy of a toggle at the operands of each operator and functional unit, with our power engine.

    python -m tests.benchmarks.characterise_energies [--liberty osu018] --json FILE

Every operator and unit is synthesised alone and its netlist simulated, glitches included, on random data:
integers of random sign and number of bits, floating values between 1/16 and 16. The energy above that of
constant operands without a start, divided by the toggles of the operand ports, is the energy of a toggle;
`single`, of floating-point units, is the mean over both operands of the energy while that operand alone
changes. A register's idle energy is that of its clock.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.hls.units.catalogue import FunctionalUnit
from pipelines.hls.units.timing import family
from pipelines.power import TraceStimulus, encode_netlist, power_parts, run_engine
from pipelines.silicon.synthesis import analyse_timing, find_liberty, load_liberty
from pipelines.silicon.synthesis.netlist import Netlist, parse_netlist
from tests.benchmarks.harness import options_parser

sys.path.insert(0, str(Path(__file__).resolve().parent))
from characterise_operators import BINARY, COMPARE, SHIFT, WIDTHS, Bench
from characterise_units import alone, measured_units

CYCLES = 400
PERIOD_NS = 10.0
OUTPUT_LOAD_PF = 0.02
CONSTANT = 0xA5A5A5A5A5A5A5A5
Words = NDArray[np.uint64]


def _integers(width: int, count: int, generator: np.random.Generator) -> Words:
    bits = generator.integers(0, width, count)
    values = generator.integers(0, 1 << 62, count) >> (62 - np.minimum(bits, 62))
    signed = np.where(generator.integers(0, 2, count) == 1, -values, values)
    return signed.astype(np.int64).view(np.uint64) & np.uint64((1 << width) - 1)


def _floats(width: int, count: int, generator: np.random.Generator) -> Words:
    values = np.exp2(generator.uniform(-4, 4, count)) * generator.choice([-1.0, 1.0], count)
    if width == 32:
        return values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return values.view(np.uint64)


def _toggles(words: Words) -> int:
    return int(np.bitwise_count(words[1:] ^ words[:-1]).sum())


@dataclass(slots=True, kw_only=True)
class Meter:
    """Energies of small modules."""

    bench: Bench
    liberty: Any
    engines: Path

    def netlist(self, verilog: str) -> Netlist:
        self.bench.measure(verilog)
        return parse_netlist((self.bench.folder / "netlist.json").read_bytes(), "top")

    def energy_pj(self, netlist: Netlist, ports: Mapping[str, Words]) -> float:
        """Energy of a trace in pJ, without that of the input ports' nets."""
        timing = analyse_timing(netlist, self.liberty)
        encoded = encode_netlist(netlist, self.liberty, timing)
        used = [n for n, nets in netlist.inputs.items() if encoded.clock not in nets]
        size = min(words.size for words in ports.values())
        driven = {n: ports.get(n, np.zeros(size, np.uint64)) for n in used}
        stimulus = TraceStimulus(encoded=encoded, ports=driven)
        run = run_engine(
            encoded,
            lambda: stimulus.content(delays=True),
            folder=self.bench.folder / "run",
            engine_folder=self.engines,
            timeout_s=300,
        )
        if run.status != "ok":
            raise RuntimeError(f"simulation must succeed, got {run.status}: {run.reason}")
        activity, _ = stimulus.result(run.content)
        parts = power_parts(netlist, self.liberty, timing, activity, clock_period_ns=PERIOD_NS)
        return parts.total_mw * PERIOD_NS * (stimulus.cycles - 1)

    def per_toggle_pj(
        self, verilog: str, ports: Mapping[str, Words], fixed: Mapping[str, Words] | None = None
    ) -> float:
        """Energy above that of constant operands and no start, per toggle of the operands.

        Args: fixed: other ports, the same in both runs.
        """
        netlist, others = self.netlist(verilog), dict(fixed or {})
        idle = {name: np.full_like(words, words[0]) for name, words in ports.items()}
        idle |= {name: np.zeros_like(words) if name == "go" else words for name, words in others.items()}
        active = self.energy_pj(netlist, {**ports, **others}) - self.energy_pj(netlist, idle)
        return active / max(1, sum(map(_toggles, ports.values())))


def _operators(width: int) -> Iterator[tuple[str, str, dict[str, int], dict[str, int]]]:
    """Name, Verilog, width of each changing port and of each constant one."""
    result = f"output [{width - 1}:0] y"
    pair = f"input [{width - 1}:0] a, input [{width - 1}:0] b"
    for name, text in BINARY.items():
        yield (
            name,
            f"module top({pair}, {result}); assign y = {text}; endmodule\n",
            {"a": width, "b": width},
            {},
        )
    for name, text in COMPARE.items():
        yield (
            name,
            f"module top({pair}, output y); assign y = {text}; endmodule\n",
            {"a": width, "b": width},
            {},
        )
    distance = width.bit_length() - 1
    for name, text in SHIFT.items():
        ports = f"input [{width - 1}:0] a, input [{distance - 1}:0] s"
        yield (
            name,
            f"module top({ports}, {result}); assign y = {text}; endmodule\n",
            {"a": width, "s": distance},
            {},
        )
    number = CONSTANT % (1 << (width - 1))
    one = f"input [{width - 1}:0] a"
    constants = {"add": "a + {}", "mul": "a * {}", "lt": "$signed(a) < $signed({})", "eq": "a == {}"}
    for name, text in constants.items():
        size = 1 if name in COMPARE else width
        expression = text.format(f"{width}'d{number}")
        verilog = f"module top({one}, output [{size - 1}:0] y); assign y = {expression}; endmodule\n"
        yield f"{name}_constant", verilog, {"a": width}, {}
    chosen = f"module top({pair}, input s, {result}); assign y = s ? b : a; endmodule\n"
    yield "mux2", chosen, {"a": width, "b": width}, {"s": 1}
    yield "mux2_select", chosen, {"s": 1}, {"a": width, "b": width}


def _unit_ports(
    unit: FunctionalUnit, generator: np.random.Generator
) -> tuple[dict[str, Words], dict[str, Words]]:
    """Operands that change with every operation, and control ports."""
    repeat = unit.busy_cycles
    count = max(CYCLES // repeat, 20)
    floating = unit.module.startswith("float_")
    draw = _floats if floating else _integers
    operands = {name: np.repeat(draw(width, count, generator), repeat) for name, width in unit.ports}
    cycles = count * repeat
    starts = (np.arange(cycles) % repeat == 0).astype(np.uint64)
    zeros = np.zeros(cycles, np.uint64)
    reset = zeros.copy()
    reset[0] = 1
    return operands, {"rst": reset, "go": starts if unit.started else zeros, "mode": zeros}


def _operands(widths: Mapping[str, int], generator: np.random.Generator) -> dict[str, Words]:
    return {
        name: _integers(width, CYCLES, generator)
        if width > 1
        else generator.integers(0, 2, CYCLES).astype(np.uint64)
        for name, width in widths.items()
    }


def _constants(widths: Mapping[str, int]) -> dict[str, Words]:
    """Constant words; those of port b are shifted by one bit."""
    return {
        name: np.full(CYCLES, 0 if width == 1 else CONSTANT * (1 + (name == "b")) % (1 << width), np.uint64)
        for name, width in widths.items()
    }


def operator_energies(meter: Meter, generator: np.random.Generator) -> dict[str, dict[str, float]]:
    """Energies of combinational operators by name and width."""
    energies: dict[str, dict[str, float]] = {}
    for width in WIDTHS:
        for name, verilog, changing, constant in _operators(width):
            ports, fixed = _operands(changing, generator), _constants(constant)
            energy = meter.per_toggle_pj(verilog, ports, fixed)
            energies.setdefault(name, {})[str(width)] = round(energy, 5)
    return energies


def unit_energies(meter: Meter, generator: np.random.Generator) -> dict[str, dict[str, dict[str, float]]]:
    """Energies of functional units by family and width: all operands change, or one of two floating ones."""
    energies: dict[str, dict[str, dict[str, float]]] = {"units": {}, "single": {}}
    for unit in measured_units():
        operands, control = _unit_ports(unit, generator)
        name, width = family(unit)
        energy = meter.per_toggle_pj(alone(unit), operands, control)
        energies["units"].setdefault(name, {})[str(width)] = round(energy, 5)
        if len(operands) > 1 and unit.module.startswith("float_"):
            single = np.mean([_single_pj(meter, alone(unit), operands, control, port) for port in operands])
            energies["single"].setdefault(name, {})[str(width)] = round(float(single), 5)
    return energies


def _single_pj(
    meter: Meter, verilog: str, operands: Mapping[str, Words], control: Mapping[str, Words], port: str
) -> float:
    """Energy of a toggle at a port while the other operands keep their second value."""
    kept = {name: np.full_like(words, words[1]) for name, words in operands.items() if name != port}
    return meter.per_toggle_pj(verilog, {port: operands[port]}, {**control, **kept})


def register_energies(meter: Meter, generator: np.random.Generator) -> dict[str, float]:
    """Energy of a flip-flop per cycle and per toggle, of an output port per toggle, and leakage per area."""
    text = (
        "module top(input clk, input [31:0] d, output reg [31:0] q); always @(posedge clk) q <= d; endmodule"
    )
    netlist = meter.netlist(text)
    still, data = np.zeros(CYCLES, np.uint64), _integers(32, CYCLES, generator)
    idle, active = (meter.energy_pj(netlist, {"d": words}) for words in (still, data))
    leakage = meter.bench.measure(text)
    return {
        "clock": round(idle / (32 * (CYCLES - 1)), 5),
        "register": round((active - idle) / _toggles(data), 5),
        "port": round(0.5 * OUTPUT_LOAD_PF * meter.liberty.nominal_voltage_v**2, 5),
        "leakage": float(f"{(leakage.leakage_mw or 0.0) / (leakage.area_um2 or 1.0):.3g}"),
    }


def characterise(liberty: str | None) -> dict[str, Any]:
    """Energies in pJ of every operator and unit, by width."""
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(find_liberty(liberty), folder / "work")
        meter = Meter(bench=bench, liberty=load_liberty(bench.target.liberty), engines=folder / "engines")
        return {
            "liberty": liberty or "osu018",
            "command": "python -m tests.benchmarks.characterise_energies --json FILE",
            "unit": "pJ per toggle of an operand bit; clock: pJ per flip-flop and cycle; leakage: mW per um2",
            "operators": operator_energies(meter, generator),
            **unit_energies(meter, generator),
            **register_energies(meter, generator),
        }


def main() -> None:
    """Print the table and write it."""
    parser = options_parser(__doc__)
    parser.add_argument("--liberty", help="library name or liberty file; osu018 by default")
    parser.add_argument("--json", type=Path, required=True, help="file for the energies")
    options = parser.parse_args()
    text = json.dumps(characterise(options.liberty), indent=1) + "\n"
    options.json.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
