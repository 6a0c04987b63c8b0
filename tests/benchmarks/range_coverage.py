"""Ranges of the evaluation's targets, and how far drawn programs cover them.

    python -m tests.benchmarks.range_coverage evaluation --json evaluation.json
    python -m tests.benchmarks.range_coverage drawn --config release_v2 --count 120 --against evaluation.json

Nothing is synthesised: a program is compiled without directives at a memory delay drawn by its identity, its
cycles are counted by the cycle model, and HLS estimates area, registers and critical path. Power is
estimated by the fit below. Prints quantiles 5 and 95 % of both sides per target, and seconds per design. A
drawn program has the weight of its part of the mix over the programs of that part in the sample, so that few
draws of a part do not move the quantiles; the rows of earlier samples are added by `--also`.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import TypeAdapter

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.dataset.labelling import ToolContext, count_design
from pipelines.hls import HlsOptions
from pipelines.programs import evaluation_workloads
from pipelines.programs.ast import AstOptions, ast_programs
from pipelines.programs.control import follows_data
from pipelines.programs.dataflow import DataflowOptions, dataflow_programs
from pipelines.programs.mix import part_of
from pipelines.schemas import OK, ProgramRow
from tests.benchmarks.harness import options_parser, write_json
from tests.support.labelling import label_options

DELAYS = (2, 5, 10)
POWER_FIT = (-8.546, 0.863)
"""log(power in mW) = a + b log(area in um2), least squares over designs of release v1; residual 0.39."""
TARGETS = (
    "cycles",
    "area_um2",
    "flip_flops",
    "delay_ns",
    "power_mw",
    "energy_nj",
    "source_bytes",
    "operators",
)


def measured(program: ProgramRow, folder: Path) -> dict[str, Any]:
    """Figures of one program; `status` is that of its run."""
    begun = time.perf_counter()
    delay = DELAYS[int(content_hash("delay", program.program_id)[:8], 16) % len(DELAYS)]
    context = ToolContext(cache=ContentCache(folder=folder), options=label_options(workers=1))
    configuration = HlsOptions(memory_read_delay_cycles=delay, memory_write_delay_cycles=delay)
    counted = count_design(program, configuration, context)
    design, run = counted.design, counted.run
    row: dict[str, Any] = {
        "name": program.name,
        "suite": program.suite,
        "status": design.status if run is None else run.status,
        "reason": design.reason if run is None else run.reason,
        "delay": delay,
        "seconds": time.perf_counter() - begun,
        "source_bytes": program.source_bytes,
        "operators": len(program.operators),
        "follows_data": follows_data(program),
    }
    if run is not None and run.latency_cycles is not None and design.estimated_area_um2 is not None:
        area = design.estimated_area_um2
        power = float(np.exp(POWER_FIT[0] + POWER_FIT[1] * np.log(area)))
        row |= {
            "cycles": run.latency_cycles,
            "area_um2": area,
            "flip_flops": design.register_bits,
            "delay_ns": design.critical_path_ns,
            "power_mw": power,
            "energy_nj": power * run.latency_cycles * 10e-3,
        }
    return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A program with its part of the mix, and that part's share of all programs."""

    program: ProgramRow
    part: str
    share: float


def drawn(config: str, count: int, seed: int) -> list[Drawn]:
    """Programs of the stages ast and dataflow of a configuration, 3 to 5."""
    folder = str(Path("conf").resolve())
    with initialize_config_dir(version_base=None, config_dir=folder):
        chosen = compose("config", overrides=[f"ast={config}", f"dataflow={config}"])
    options = {k: OmegaConf.to_container(chosen[k].options) for k in ("ast", "dataflow")}
    ast = TypeAdapter(AstOptions).validate_python(options["ast"])
    dataflow = TypeAdapter(DataflowOptions).validate_python(options["dataflow"])
    rows = ast_programs(count=round(count * 3 / 8), seed=seed, options=ast)
    more = dataflow_programs(count=count - len(rows), seed=seed, options=dataflow)
    return [
        _placed(program, number, seed=seed, shares=[part.share for part in chosen.mix], portion=portion)
        for programs, chosen, portion in ((rows, ast, 3 / 8), (more, dataflow, 5 / 8))
        for number, program in enumerate(programs)
    ]


def _placed(program: ProgramRow, number: int, *, seed: int, shares: list[float], portion: float) -> Drawn:
    part = part_of(shares, stage=program.stage, seed=seed, number=number)
    share = [*shares, 1 - sum(shares)][part]
    return Drawn(program=program, part=f"{program.stage}-{part}", share=portion * share)


def quantiles(rows: Sequence[dict[str, Any]], target: str) -> tuple[float, float]:
    """5 and 95 %, each row with its weight; with equal weights those of `numpy.quantile`."""
    counts = Counter(row["part"] for row in rows)
    present = sorted((row for row in rows if row.get(target) is not None), key=lambda row: row[target])
    weights = np.array([row["share"] / counts[row["part"]] for row in present])
    places = (np.cumsum(weights) - weights) / (weights.sum() - weights[-1])
    low, high = np.interp((0.05, 0.95), places, [row[target] for row in present])
    return float(low), float(high)


def main() -> int:
    """Measure and print."""
    parser = options_parser(__doc__)
    parser.add_argument("side", choices=("evaluation", "drawn"))
    parser.add_argument("--config", default="default")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--also", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    if arguments.side == "evaluation":
        programs = [Drawn(program=p, part="evaluation", share=1.0) for p in evaluation_workloads()]
    else:
        programs = drawn(arguments.config, arguments.count, arguments.seed)
    refused = Counter((d.program.reason or "")[:60] for d in programs if d.program.status != OK)
    rows: list[dict[str, Any]] = [row for path in arguments.also for row in json.loads(path.read_text())]
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            if program.program.status == OK:
                place = {"part": program.part, "share": program.share}
                rows.append(measured(program.program, Path(folder)) | place)
                print(rows[-1], file=sys.stderr, flush=True)
    write_json(arguments.json, rows)
    print(f"{len(rows)} programs; refused: {dict(refused)}")
    print("status", dict(Counter(row["status"] for row in rows)))
    print(f"loops that follow data: {np.mean([row['follows_data'] for row in rows]):.1%}")
    print(f"seconds per design: mean {np.mean([row['seconds'] for row in rows]):.2f}")
    other = json.loads(arguments.against.read_text()) if arguments.against else []
    for target in TARGETS:
        low, high = quantiles(rows, target)
        print(f"{target:14} {low:12.5g} {high:12.5g}", end="")
        if other:
            first, last = quantiles(other, target)
            covers = "covers" if low <= first and last <= high else "DOES NOT COVER"
            print(f"   evaluation {first:12.5g} {last:12.5g}  {covers}", end="")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
