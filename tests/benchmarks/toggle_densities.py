"""Mean toggles per execution by kind and width, for `pipelines/dataset/features/toggle_densities.json`.

    python -m tests.benchmarks.toggle_densities FOLDER [--release releases/v2] [--split by_kernel_v2]

Designs of the part train that have a row in table `run_features` run again in the cycle model; FOLDER keeps
the counts of each, so that a call goes on where an earlier one stopped. The mean is over designs that execute
a kind at least ten times.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.cyclemodel import CycleModel, build_model, run_model
from pipelines.dataset.features import density_counts, first_runs
from pipelines.hls import compile_program, options_of
from pipelines.programs import draw_data
from pipelines.schemas import OK, DesignRow, ProgramRow, RunRow, read_table, table_spec
from tests.benchmarks.harness import options_parser

LEAST_EXECUTIONS = 10
Item = tuple[ProgramRow, DesignRow, RunRow]


def training_runs(release: Path, split: str) -> Iterator[Item]:
    """Designs of the part train with features of a run, and the run."""
    places = read_table(release, table_spec("splits"))
    training = {row.program_id for row in places if row.split == split and row.part == "train"}
    known = {row.design_id for row in read_table(release, table_spec("run_features")) if row.status == OK}
    programs = {row.program_id: row for row in read_table(release, table_spec("programs"))}
    designs = [
        row
        for row in read_table(release, table_spec("designs"))
        if row.program_id in training and row.design_id in known
    ]
    first = first_runs(designs, read_table(release, table_spec("runs")))
    for design in designs:
        yield programs[design.program_id], design, first[design.design_id]


def counts_of(item: Item, folder: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Executions and toggles of a design by kind and width."""
    program, design, run = item
    path = folder / f"{design.design_id}.json"
    if path.is_file():
        executions, toggles = json.loads(path.read_text())
        return executions, toggles
    compiled = compile_program(program.source, top=program.top, options=options_of(design), file=program.name)
    data = draw_data(compiled.interface, program.inputs, seed=run.seed)
    with TemporaryDirectory() as work:
        model = build_model(compiled, folder=Path(work), toggles=True)
        assert isinstance(model, CycleModel), model
        counts = density_counts(compiled, run_model(model, [data], folder=Path(work) / "run")[0])
    path.write_text(json.dumps(counts) + "\n")
    return counts


def densities(items: list[Item], folder: Path) -> dict[str, float]:
    """Mean toggles per execution by kind and width."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for number, item in enumerate(items):
        executions, toggles = counts_of(item, folder)
        for key, count in executions.items():
            if count >= LEAST_EXECUTIONS:
                shares[key].append(toggles[key] / count)
        if number % 20 == 0:
            sys.stderr.write(f"{number} of {len(items)} designs\n")
    return {key: round(sum(own) / len(own), 3) for key, own in sorted(shares.items())}


def main() -> None:
    """Print the file."""
    parser = options_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument("--split", default="by_kernel_v2")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    items = list(training_runs(options.release, options.split))
    means = densities(items, options.folder)
    command = "python -m tests.benchmarks.toggle_densities FOLDER"
    content = {"command": command, "designs": len(items), "densities": means}
    sys.stdout.write(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
