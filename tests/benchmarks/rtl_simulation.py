"""Speed, build time and size of RTL simulators, and random designs, as tables of docs/results.md.

    python -m tests.benchmarks.rtl_simulation speed --family gemm_os --size 32 [--stimuli 64]
    python -m tests.benchmarks.rtl_simulation fuzz --first 0 --count 2000 [--bundle 20]

Times are processor seconds: builds with their children, runs of one thread. The best of three runs counts.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path

from pipelines.rtlreuse import ENGINES, RtlError, Simulator, build_reuse, build_verilator
from pipelines.rtlreuse.designs import FAMILIES
from pipelines.rtlreuse.fuzzing import bundle, random_design
from pipelines.rtlreuse.netlist import read_verilog

RUNS = 3
CYCLES = 300  # of a random design


def processor_s() -> float:
    """Processor time of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def measure_speed(family: str, size: int, stimuli: int, engines: list[str], cycles: int) -> None:
    """Print a row per engine; the digests must be equal."""
    source = FAMILIES[family](size)
    digests: dict[str, list[int]] = {}
    print(
        "| design | engine | stimuli | build s | KiB | thousand cycles/s |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    with tempfile.TemporaryDirectory(prefix="simulators-") as name:
        for engine in engines:
            if engine == "verilator":  # its runtime is compiled once per machine
                warm = "module top (input a, output b); assign b = a; endmodule"
                ENGINES[engine](warm, top="top", folder=Path(name))
            start = processor_s()
            program = ENGINES[engine](source.verilog, top=source.top, folder=Path(name), stimuli=stimuli)
            build_s = processor_s() - start
            simulator = Simulator(program)
            times: list[float] = []
            for _ in range(RUNS):
                simulator.reset()
                start = processor_s()
                digests[engine] = simulator.run(cycles, seed=1).digests.tolist()
                times.append(processor_s() - start)
            rate = cycles * stimuli / min(times) / 1000
            cells = (
                f"{family} {size}",
                engine,
                stimuli,
                f"{build_s:.2f}",
                program.bytes // 1024,
                f"{rate:,.0f}",
            )
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    print("outputs equal" if len({str(d) for d in digests.values()}) == 1 else f"outputs differ: {digests}")


def compare_random(first: int, count: int, size: int) -> int:
    """Compare bundles of random designs with Verilator; returns how many bundles differ."""
    differing = compared = rejected = 0
    with tempfile.TemporaryDirectory(prefix="simulators-") as name:
        folder = Path(name)
        for begin in range(first, first + count, size):
            seeds: list[int] = []
            for seed in range(begin, min(begin + size, first + count)):
                design = random_design(seed, name=f"d{seed}", modules=2 + seed % 4)
                try:
                    read_verilog(design.verilog, top=design.top)
                    seeds.append(seed)
                except RtlError as error:
                    rejected += 1
                    print(f"seed {seed}: {error}", flush=True)
            source = bundle(seeds)
            ours = build_reuse(source.verilog, top=source.top, folder=folder, compiler="g++")
            theirs = build_verilator(
                source.verilog, top=source.top, folder=folder, ports=ours.ports, level="-O0"
            )
            results = [Simulator(p).run(CYCLES, seed=begin, is_traced=True) for p in (ours, theirs)]
            equal = results[0].digests.tolist() == results[1].digests.tolist()
            differing += not equal
            compared += len(seeds)
            print(f"seeds {begin} on: {len(seeds)} designs {'equal' if equal else 'DIFFER'}", flush=True)
            for program in (ours, theirs):
                program.path.unlink()
    print(f"{compared} designs compared, {differing} bundles differ, {rejected} rejected by the front end")
    return differing


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed")
    speed.add_argument("--family", required=True, choices=FAMILIES)
    speed.add_argument("--size", type=int, required=True)
    speed.add_argument("--stimuli", type=int, default=1)
    speed.add_argument("--cycles", type=int, default=100_000)
    speed.add_argument("--engines", default=",".join(ENGINES))
    fuzz = commands.add_parser("fuzz")
    fuzz.add_argument("--first", type=int, default=0)
    fuzz.add_argument("--count", type=int, default=2000)
    fuzz.add_argument("--bundle", type=int, default=20)
    options = parser.parse_args()
    if options.command == "speed":
        engines = options.engines.split(",")
        measure_speed(options.family, options.size, options.stimuli, engines, options.cycles)
    else:
        sys.exit(min(1, compare_random(options.first, options.count, options.bundle)))


if __name__ == "__main__":
    main()
