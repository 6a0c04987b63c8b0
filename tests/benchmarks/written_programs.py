"""Intervals and confidence of predictors on 74 programs that no training sees, two designs of each.

    python -m tests.benchmarks.written_programs label FOLDER
    python -m tests.benchmarks.written_programs measure FOLDER [--model NAME@ALIAS or folder]...

The programs are in `written/`, by hand; `designs.json` there has the second configuration of each, the first is
that of `simfoundry label`. `label` writes a JSON file per design to FOLDER and goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import simfoundry as sf
from pipelines.schemas import OK
from simfoundry.questions import Options

PROGRAMS = Path(__file__).parent / "written"


def designs() -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    """Program, number and configuration of each design."""
    second: Mapping[str, Mapping[str, Any]] = json.loads((PROGRAMS / "designs.json").read_text())
    for file in sorted(PROGRAMS.glob("*.c")):
        yield file, 0, {}
        yield file, 1, second[file.stem]


def label(folder: Path) -> None:
    """Label the designs whose file FOLDER lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, number, configuration in designs():
        path = folder / f"{file.stem}-{number}.json"
        if path.is_file():
            continue
        answer = sf.label(file, options=Options(**configuration))
        path.write_text(json.dumps(answer, indent=1) + "\n")
        status, reason = answer["label"]["status"], answer["label"]["reason"]
        sys.stdout.write(f"{path.stem}: {status} {reason or ''}\n")
        sys.stdout.flush()


def labels_of(answer: Mapping[str, Any]) -> dict[str, float]:
    """Labels by target of an answer of `label`; none of a design that is not ok."""
    row, runs = answer["label"], answer["runs"]
    if row["status"] != OK or not runs or runs[0]["status"] != OK:
        return {}
    names = ("area_um2", "flip_flop_count", "delay_ns")
    values = {name: row[name] for name in names}
    values |= {name: runs[0][name] for name in ("latency_cycles", "power_mw")}
    return {name: float(value) for name, value in values.items() if value}


def main(arguments: Sequence[str] | None = None) -> None:
    """Label, or print the figures."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("action", choices=("label",))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    label(options.folder)


if __name__ == "__main__":
    main()
