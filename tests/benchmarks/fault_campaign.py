"""The campaign of faults in full: kills, flipped bits, full disks and mutated inputs.

    python -m tests.benchmarks.fault_campaign [--kills 50] [--flips 1000] [--disks 20] [--inputs 1000]

Prints the tables of `docs/sandbox.md`. Exit status 1 when a fault was found; each is printed. Full disks
need a user who may mount a file system in memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row

FAULTS = Path(__file__).resolve().parents[1] / "faults"


def campaign(script: str, *arguments: str) -> list[dict[str, Any]]:
    """Answers of one part, each a line of JSON."""
    argv = [sys.executable, str(FAULTS / script), *arguments]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def show(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    print()
    print_header(*header)
    for row in rows:
        print_row(*row)


def interruptions(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Kills and full disks of every command that writes."""
    asked = [
        f"{kind}:{count}" for kind, count in (("kills", options.kills), ("full-disk", options.disks)) if count
    ]
    answers = campaign("interrupted_runs.py", *asked, "--seed", str(options.seed)) if asked else []
    if answers:
        rows = [
            (a["campaign"], a["command"], a["interruptions"], a.get("failed", "-"), len(a["faults"]))
            for a in answers
        ]
        show(("interruption", "command", "runs", "failed", "faults"), rows)
    return answers


def flips(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Single flipped bits in every kind of file."""
    answers = campaign("flipped_bits.py", "--count", str(options.flips), "--seed", str(options.seed))
    rows = [(a["kind"], a["flips"], a["detected"], a["harmless"], len(a["faults"])) for a in answers]
    total = ("all", *(sum(row[k] for row in rows) for k in range(1, 5)))
    show(("file", "flips", "detected", "same result", "faults"), [*rows, total])
    return answers


def inputs(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Mutated inputs of every parser."""
    answers = campaign("mutated_inputs.py", "--count", str(options.inputs), "--seed", str(options.seed))
    rows = [
        (
            a["parser"],
            a["inputs"],
            a["outcomes"].get("accepted", 0),
            a["peak_mb"],
            a["slowest_s"],
            len(a["faults"]),
        )
        for a in answers
    ]
    show(("parser", "inputs", "accepted", "peak MB", "slowest s of processor", "faults"), rows)
    return answers


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--disks", type=int, default=20)
    parser.add_argument("--inputs", type=int, default=1000, help="of each parser")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print_machine()
    answers = [
        *(inputs(options) if options.inputs else []),
        *(flips(options) if options.flips else []),
        *interruptions(options),
    ]
    faults = [fault for answer in answers for fault in answer["faults"]]
    for fault in faults:
        print(f"\nfault: {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
