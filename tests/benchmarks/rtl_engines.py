"""Designs by every engine with the processor time of builds, as rows of table `simulations`.

    python -m tests.benchmarks.rtl_engines collect --cache FOLDER [--group picker]
    python -m tests.benchmarks.rtl_engines write --cache FOLDER --data FOLDER [--group picker]
    python -m tests.benchmarks.rtl_engines regret --data FOLDER
    python -m tests.benchmarks.rtl_engines scale --designs conv2d:2048,gemm_os:128 [--engines reuse]
    python -m tests.benchmarks.rtl_engines batches --designs gemm_os:32
    python -m tests.benchmarks.rtl_engines equal --engines reuse,verilator --designs gemm_os:8,wide:16
    python -m tests.benchmarks.rtl_engines equal --engines reuse,cxxrtl --release releases/v2 [--skip 9]

`collect` builds the designs of a group of `conf/simulations/picker.yaml`, small ones first, and keeps every
design in the cache; it goes on where it was ended. `equal` compares all outputs of 10,000 cycles with three
seeds between engines, also of designs of high-level synthesis drawn from a release. Tools run without
confinement: designs are our own, and confinement hides their processor time. `write` makes the tables.
`regret` leaves each family out in turn.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import pipelines.rtl.reuse.building
import pipelines.silicon.synthesis.yosys
from models.rtl_engine import FitOptions
from models.rtl_engine.data import CYCLES, read_measured, regret
from models.rtl_engine.train import fit_picker
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash, text_sha256
from pipelines.base.sandbox import ConfinedRun
from pipelines.dataset.releases import open_release
from pipelines.hls import TOOL, compile_program, options_of
from pipelines.rtl.reuse import ENGINES, VERILATOR, Simulator, build_reuse, build_verilator
from pipelines.rtl.reuse.cxxrtl import CXXRTL
from pipelines.rtl.reuse.dataset import (
    WIRE,
    SimulationGroup,
    design_features,
    simulate_design,
    state_bytes,
)
from pipelines.rtl.reuse.designs import FAMILIES
from pipelines.rtl.reuse.elaboration import elaborate
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.netlist import read_verilog
from pipelines.rtl.reuse.partition import partition, replication
from pipelines.rtl.reuse.simulator import cycle_cpu_ns
from pipelines.rtl.reuse.structure import analyse
from pipelines.schemas import OK, SimulationRow, table_spec, write_table
from tests.benchmarks.harness import options_parser, print_header, print_row, processor_s

CONFIGURATION = Path("conf/simulations/picker.yaml")
SWEEP_RUNS = 15
EQUAL_CYCLES, EQUAL_SEEDS = 10_000, (0, 1, 2)
_KIND = "simulations"


def read_group(name: str) -> SimulationGroup:
    """A group of the configuration."""
    fields = yaml.safe_load(CONFIGURATION.read_text())["groups"][name]
    sizes = {family: tuple(found) for family, found in fields.pop("sizes").items()}
    lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
    return SimulationGroup(name=name, sizes=sizes, **{**fields, **lists})


def run_unconfined(
    argv: Sequence[str],
    *,
    folder: Path,
    files: Mapping[str, bytes] | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float | None = None,
    **_: Any,
) -> ConfinedRun:
    """What the sandbox does, without it.

    Raises: subprocess.TimeoutExpired: it takes longer than `limit_s`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    run = subprocess.run(
        list(argv),
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **(environment or {})},
        capture_output=True,
        check=False,
        text=True,
        timeout=limit_s,
    )
    return ConfinedRun(returncode=run.returncode, stdout=run.stdout, stderr=run.stderr, wall_s=0.0)


def unconfine(limit_s: float | None = None) -> dict[str, float]:
    """Run tools without confinement from now on. Returns: processor time of the latest build, by engine."""
    run = partial(run_unconfined, limit_s=limit_s)
    pipelines.rtl.reuse.building.run_confined = run
    pipelines.silicon.synthesis.yosys.run_confined = run
    spent: dict[str, float] = {}

    def timed(engine: str, build: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            start = processor_s()
            program = build(*args, **options)
            spent[engine] = processor_s() - start
            return program

        return call

    for engine, build in list(ENGINES.items()):
        ENGINES[engine] = timed(engine, build)
    return spent


def collect(group: SimulationGroup, cache: ContentCache) -> None:
    """Rows of every design, in the cache."""
    spent = unconfine()
    draws = [(i, family, size) for family, sizes in group.sizes.items() for i, size in enumerate(sizes)]
    for _, family, size in sorted(draws):

        def make(family: str = family, size: int = size) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = []
            for engine in group.engines:
                [row] = simulate_design(family, size, group, cache.folder / "engines", engines=(engine,))
                row["build_cpu_s"] = spent.get(engine) if row["status"] == "ok" else None
                rows.append(row)
            return rows

        rows = cache.cached(_KIND, design_key(group, family, size), make, list)
        for row in rows:
            named = ("engine", "status", "build_cpu_s", "cycle_cpu_ns", "program_bytes", "instance_nodes")
            print(family, size, *(row[name] for name in named), row["reason"] or row["digest"], flush=True)


def design_key(group: SimulationGroup, family: str, size: int) -> str:
    """Of the rows of a design."""
    return content_hash("measured", family, size, group.engines, group.cycles, group.stimuli, group.seeds)


def write(group: SimulationGroup, cache: ContentCache, data: Path) -> None:
    """Tables of the designs that are in the cache."""

    def absent() -> list[dict[str, Any]]:
        raise LookupError

    rows: list[SimulationRow] = []
    for family, sizes in group.sizes.items():
        for size in sizes:
            try:
                known = cache.cached(_KIND, design_key(group, family, size), absent, list)
            except LookupError:
                continue
            rows += [SimulationRow(**row) for row in known]
    write_table(data, table_spec("simulations"), rows, group.name)
    print(f"{len(rows)} rows")


def measure_regret(data: Path) -> None:
    """Leave each family out, learn from the others, and choose for it."""
    designs = read_measured([data])
    losses: dict[str, list[float]] = defaultdict(list)
    picks: Counter[tuple[int, str]] = Counter()
    always: dict[str, list[float]] = defaultdict(list)
    for family in sorted({d.family for d in designs}):
        picker = fit_picker([d for d in designs if d.family != family], FitOptions(), 0)
        for design in (d for d in designs if d.family == family):

            def choose(
                cycles: int, engines: Sequence[str], design: Any = design, picker: Any = picker
            ) -> str:
                chosen = picker.choose(design.features, cycles, engines)
                picks[cycles, chosen] += 1
                return chosen

            losses[family].append(regret(design, choose))
            for engine in ENGINES:
                fixed = regret(design, lambda _, engines, e=engine: e if e in engines else "reuse")
                always[engine].append(fixed)
    for family, found in losses.items():
        print_row(family, len(found), f"{100 * np.mean(found):.1f}")
    print(f"all: {100 * np.mean([x for found in losses.values() for x in found]):.1f} % of {len(designs)}")
    for engine, found in always.items():
        print(f"always {engine}: {100 * np.mean(found):.1f} %")
    for cycles in CYCLES:
        print(cycles, {e: n for (c, e), n in sorted(picks.items()) if c == cycles})
        best = Counter(min(d.seconds(cycles), key=d.seconds(cycles).__getitem__) for d in designs)
        print("  fastest", dict(best))


def measure_scale(designs: str, engines: str, stimuli: int, limit_s: float) -> None:
    """A row per design and engine: build, size, memory, speed, and a hash of all outputs of 500 cycles.

    Args: limit_s: of elapsed time of a step of a build; a build that exceeds it is a row without figures.
    """
    spent = unconfine(limit_s)
    print_header(
        "design | PEs or cores | operations | engine | build s | KiB | state KiB | ns per cycle | outputs"
    )
    with tempfile.TemporaryDirectory(prefix="simulators-") as name:
        for family, _, size in (text.partition(":") for text in designs.split(",")):
            source = FAMILIES[family](int(size))
            features = design_features(source)
            for engine in engines.split(","):
                if engine == VERILATOR:
                    ENGINES[engine](WIRE, top="top", folder=Path(name))
                cells = [family, size, features["instance_nodes"], engine]
                try:
                    program = ENGINES[engine](source.verilog, top="top", folder=Path(name), stimuli=stimuli)
                except (RtlError, subprocess.TimeoutExpired) as error:
                    print_row(*cells, str(error)[:200])
                    continue
                simulator = Simulator(program)
                outputs = text_sha256(str(simulator.run(500, seed=3).digests.tolist()))
                cells.append(f"{spent[engine]:.2f}")
                cells += [program.bytes // 1024, (state_bytes(simulator) or 0) // 1024]
                cells += [f"{cycle_cpu_ns(simulator) / stimuli:,.1f}", outputs[:8]]
                print_row(*cells)


def _cycles_of_a_run(simulator: Simulator) -> int:
    """Cycles that take some 0.05 s, a multiple of four; the first 2,000 are not measured."""
    return max(2000, int(2000 * 0.05 / simulator.run(2000, seed=3).wall_s) // 4 * 4)


def measure_batches(designs: str) -> None:
    """Elapsed time per cycle by threads and cycles per task, also of Verilator; what parts compute twice."""
    unconfine()
    print_header("design | threads | cycles per task | evaluated lanes | ns per cycle, elapsed | equal")
    with tempfile.TemporaryDirectory(prefix="simulators-") as name:
        for family, _, size in (text.partition(":") for text in designs.split(",")):
            source = FAMILIES[family](int(size))
            structure = analyse(elaborate(read_verilog(source.verilog, top="top")))
            grid = [(threads, batch) for threads in (1, 2) for batch in (1, 2, 4)]
            simulators = {
                (t, b): Simulator(
                    build_reuse(source.verilog, top="top", folder=Path(name), threads=t, batch=b)
                )
                for t, b in grid
            }
            digests = {key: simulators[key].run(400, seed=3).digests.tolist() for key in grid}
            counts = {key: _cycles_of_a_run(simulators[key]) for key in grid}
            best = dict.fromkeys(grid, float("inf"))
            for _ in range(SWEEP_RUNS):  # in turn, so that other load meets all of them
                for key in grid:
                    best[key] = min(best[key], simulators[key].run(counts[key], seed=3).wall_s / counts[key])
            for threads in (1, 2):
                other = Simulator(
                    build_verilator(source.verilog, top="top", folder=Path(name), threads=threads)
                )
                is_equal = other.run(400, seed=3).digests.tolist() == digests[1, 1]
                cycles = _cycles_of_a_run(other)
                least = min(other.run(cycles, seed=3).wall_s / cycles for _ in range(SWEEP_RUNS))
                cells = [f"{family} {size}, Verilator", threads, "", "", f"{1e9 * least:,.0f}", is_equal]
                print_row(*cells)
            for threads, batch in grid:
                share = replication(structure, partition(structure, threads, batch))
                cells = [
                    f"{family} {size}",
                    threads,
                    batch,
                    f"{share:.2f}",
                    f"{1e9 * best[threads, batch]:,.0f}",
                ]
                cells.append(digests[threads, batch] == digests[1, 1])
                print_row(*cells)


def released_designs(folder: Path, skip: int, count: int) -> Iterator[tuple[str, str, str]]:
    """Id, Verilog and top module of designs of a release, in an order by their identity."""
    release = open_release(folder)
    programs = {
        row.program_id: row
        for part in release.partitions("programs")
        for row in release.rows("programs", part)
    }
    designs = [row for part in release.partitions("designs") for row in release.rows("designs", part)]
    own = [row for row in designs if row.status == OK and row.tool == TOOL]
    for design in sorted(own, key=lambda row: text_sha256(f"simulated {row.design_id}"))[skip : skip + count]:
        program = programs[design.program_id]
        compiled = compile_program(
            program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
        )
        if text_sha256(compiled.verilog) != design.rtl_sha256:
            raise SystemExit(f"design {design.design_id} has other Verilog than in the release")
        yield design.design_id, compiled.verilog, compiled.module


def compare_outputs(designs: Iterable[tuple[str, str, str]], engines: Sequence[str]) -> None:
    """A row per design: whether the engines have the same digests of all outputs, or what failed."""
    verdicts: Counter[str] = Counter()
    print_header("design | equal")
    for name, verilog, top in designs:
        digests: set[str] = set()
        verdict = ""
        known: dict[str, Any] = {}
        with tempfile.TemporaryDirectory(prefix="simulators-") as folder:
            for engine in engines:
                try:
                    options = known if engine in {CXXRTL, VERILATOR} else {}
                    program = ENGINES[engine](verilog, top=top, folder=Path(folder), **options)
                except RtlError as error:
                    verdict = f"{engine} failed: {error}"
                    break
                known = {"ports": program.ports}
                with closing(Simulator(program)) as simulator:
                    runs = [simulator.run(EQUAL_CYCLES, seed=seed) for seed in EQUAL_SEEDS]
                    digests.add(str([run.digests.tolist() for run in runs]))
        verdict = verdict or str(len(digests) == 1)
        verdicts[verdict.partition(":")[0]] += 1
        print_row(name, verdict)
    print(", ".join(f"{verdict}: {count}" for verdict, count in sorted(verdicts.items())))


def main() -> None:
    """Read the command line."""
    parser = options_parser(__doc__)
    parser.add_argument("command", choices=("collect", "write", "regret", "scale", "batches", "equal"))
    parser.add_argument("--designs", default="")
    parser.add_argument("--engines", help="reuse by default; of `equal` reuse,verilator")
    parser.add_argument("--stimuli", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1200, help="of `scale`, seconds of a step of a build")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--group", default="picker")
    parser.add_argument("--release", type=Path)
    parser.add_argument("--skip", type=int, default=0, help="designs of the release")
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    if options.command == "regret":
        measure_regret(options.data)
        return
    if options.command == "equal":
        unconfine()
        engines = (options.engines or f"reuse,{VERILATOR}").split(",")
        if len(set(engines)) < 2:
            parser.error(f"equal compares engines, got --engines {options.engines}; accepted: two or more")
        if options.release is not None:
            compare_outputs(released_designs(options.release, options.skip, options.count), engines)
            return
        named = [text.partition(":") for text in options.designs.split(",")]
        compare_outputs(((f"{f} {n}", FAMILIES[f](int(n)).verilog, "top") for f, _, n in named), engines)
        return
    if options.command == "scale":
        measure_scale(options.designs, options.engines or "reuse", options.stimuli, options.limit)
        return
    if options.command == "batches":
        measure_batches(options.designs)
        return
    group, cache = read_group(options.group), ContentCache(folder=options.cache)
    if options.command == "collect":
        collect(group, cache)
    else:
        write(group, cache, options.data)


if __name__ == "__main__":
    main()
