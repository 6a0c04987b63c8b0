"""Speed, build time and size of RTL simulators, as tables of docs/results/rtl_simulation.md.

    python -m tests.benchmarks.rtl_simulation speed --family gemm_os --size 32 [--stimuli 64]

Times are processor seconds: builds with their children, runs of one thread. The best of three runs counts.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from pipelines.rtl.reuse import ENGINES, Simulator
from pipelines.rtl.reuse.designs import FAMILIES
from tests.benchmarks.harness import options_parser, print_header, print_row, timed

RUNS = 3


def measure_speed(family: str, size: int, stimuli: int, engines: list[str], cycles: int) -> None:
    """Print a row per engine; the digests must be equal."""
    source = FAMILIES[family](size)
    digests: dict[str, list[int]] = {}
    print_header("design | engine | stimuli | build s | KiB | thousand cycles/s")
    with tempfile.TemporaryDirectory(prefix="simulators-") as name:
        for engine in engines:
            if engine == "verilator":  # its runtime is compiled once per machine
                warm = "module top (input a, output b); assign b = a; endmodule"
                ENGINES[engine](warm, top="top", folder=Path(name))
            build = partial(
                ENGINES[engine], source.verilog, top=source.top, folder=Path(name), stimuli=stimuli
            )
            program, spent = timed(build)
            simulator = Simulator(program)
            times: list[float] = []
            for _ in range(RUNS):
                simulator.reset()
                result = simulator.run(cycles, seed=1)
                digests[engine] = result.digests.tolist()
                times.append(result.processor_s)
            if min(times) == 0:
                raise SystemExit(f"{cycles} cycles take no measurable time; accepted: more --cycles")
            rate = cycles * stimuli / min(times) / 1000
            cells = (
                f"{family} {size}",
                engine,
                stimuli,
                f"{spent.processor_s:.2f}",
                program.bytes // 1024,
                f"{rate:,.0f}",
            )
            print_row(*cells)
    print("outputs equal" if len({str(d) for d in digests.values()}) == 1 else f"outputs differ: {digests}")


def main() -> None:
    """Read the command line."""
    parser = options_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed")
    speed.add_argument("--family", required=True, choices=FAMILIES)
    speed.add_argument("--size", type=int, required=True)
    speed.add_argument("--stimuli", type=int, default=1)
    speed.add_argument("--cycles", type=int, default=100_000)
    speed.add_argument("--engines", default=",".join(ENGINES))
    options = parser.parse_args()
    engines = options.engines.split(",")
    measure_speed(options.family, options.size, options.stimuli, engines, options.cycles)


if __name__ == "__main__":
    main()
