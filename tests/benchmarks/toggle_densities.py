"""Mean toggles of a result per execution, by kind and width, for `pipelines/features/toggle_densities.json`.

    python -m tests.benchmarks.toggle_densities [--release releases/v1] [--features FOLDER]

Read from table `run_features` of the part train: mean over designs that execute a kind at least ten times.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from pipelines.schemas import OK, read_table, table_spec

LEAST_EXECUTIONS = 10


def densities(release: Path, features: Path, split: str) -> tuple[int, dict[str, float]]:
    """Number of designs, and mean toggles per execution by kind and width."""
    places = read_table(release, table_spec("splits"))
    training = {row.program_id for row in places if row.split == split and row.part == "train"}
    designs = read_table(release, table_spec("designs"))
    chosen = {d.design_id for d in designs if d.program_id in training}
    shares: defaultdict[str, list[float]] = defaultdict(list)
    rows = [r for r in read_table(features, table_spec("run_features")) if r.design_id in chosen]
    for row in (r for r in rows if r.status == OK):
        executions, toggles = json.loads(row.executions), json.loads(row.toggles)
        for kind, count in executions.items():
            if count >= LEAST_EXECUTIONS:
                shares[kind].append(toggles[kind] / count)
    return len(rows), {kind: round(sum(own) / len(own), 3) for kind, own in sorted(shares.items())}


def main() -> None:
    """Print the file."""
    parser = argparse.ArgumentParser(description="Toggles per execution by kind and width.")
    parser.add_argument("--release", type=Path, default=Path("releases/v1"))
    parser.add_argument("--features", type=Path, help="folder with the table, else the release")
    parser.add_argument("--split", default="by_kernel_v1")
    options = parser.parse_args()
    count, found = densities(options.release, options.features or options.release, options.split)
    command = "python -m tests.benchmarks.toggle_densities"
    sys.stdout.write(json.dumps({"command": command, "designs": count, "densities": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
