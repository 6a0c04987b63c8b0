"""Random programs with objects of static storage: hardware against native C of the same with arguments.

    python -m tests.benchmarks.static_objects --from 0 --count 2000 --keep FILE

Each seed gives one program of `tests/hls/object_programs.py`. Its design must have every output of the
program that it came from, and the cycle model equal values. One JSON line per seed is kept, so that an
interrupted run goes on. A difference is printed with its seed and makes the exit status 1.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipelines.c import read_interface
from pipelines.c.signature import same_values
from pipelines.cyclemodel import count_cycles
from pipelines.hls import HlsOptions, compile_program
from pipelines.programs import draw_data
from tests.benchmarks.harness import KeptRows, options_parser

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hls"))

from batches import run_natively
from object_programs import object_program

BATCH = 20


def differences(seeds: Sequence[int], folder: Path) -> Iterator[tuple[int, str | None]]:
    """What differs for each seed, None when nothing does."""
    programs = {seed: object_program(seed) for seed in seeds}
    rows = {seed: program.original for seed, program in programs.items()}
    interfaces = {seed: read_interface(row.source, row.top) for seed, row in rows.items()}
    values = {seed: draw_data(interfaces[seed], rows[seed].inputs, seed=seed) for seed in seeds}
    cases = {seed: (rows[seed].source, interfaces[seed], values[seed]) for seed in seeds}
    natives = run_natively(cases, folder)
    for seed, program in programs.items():
        compiled = compile_program(program.text, top=program.original.top, options=HlsOptions())
        data = program.data(compiled.interface, values[seed])
        counted = count_cycles(compiled, data, folder=folder / f"m{seed}")
        native, names = natives[seed], [a.name for a in interfaces[seed].arrays if a.written]
        if counted.status != "ok" or native.problem is not None:
            yield seed, f"{counted.status}: {counted.reason or native.problem}"
        elif counted.returned != native.returned:
            yield seed, "the result"
        else:
            unequal = [n for n in names if n not in counted.outputs]
            unequal += [
                n
                for n in names
                if n in counted.outputs and not same_values(counted.outputs[n], native.outputs[n])
            ]
            yield seed, ", ".join(unequal) or None


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--keep", type=Path, required=True)
    options = parser.parse_args()
    kept = KeptRows(options.keep, lambda row: row["seed"])
    wanted = range(options.first, options.first + options.count)
    missing = [seed for seed in wanted if seed not in kept.rows]
    for start in range(0, len(missing), BATCH):
        with tempfile.TemporaryDirectory() as folder:
            for seed, difference in differences(missing[start : start + BATCH], Path(folder)):
                kept.add({"seed": seed, "difference": difference})
    found = {seed: kept.rows[seed]["difference"] for seed in wanted}
    failed = {seed: difference for seed, difference in found.items() if difference is not None}
    for seed, difference in failed.items():
        print(f"seed {seed}: {difference}")
    print(f"{len(wanted) - len(failed)} of {len(wanted)} programs equal native C")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
