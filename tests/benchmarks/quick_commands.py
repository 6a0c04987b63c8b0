"""Processor time of quick commands: user and system, children included, best of several runs.

    python -m tests.benchmarks.quick_commands [--repeats 5] [--project FOLDER] [--record]

Each command runs once before it is measured, so that bytecode and compiled loops are there. `models` is asked
in a project without a registry. With --project also a cached `simfoundry run scale=smoke` in that folder,
where it must have run before.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from tests.benchmarks.harness import ROOT, options_parser, print_header, print_machine, run_simfoundry
from tests.benchmarks.recording import add_record_option, record

PROGRAM = "void scale(int a[8]) { for (int i = 0; i < 8; i++) a[i] = 3 * a[i]; }\n"
COMMANDS = (
    ("predict FILE --top scale --model lightgbm-hls@champion", 1.0),
    ("predict FILE --top scale --model tenset-mlp@champion", 1.0),
    ("predict FILE --top scale --model numeric-lm-hls@champion", 3.5),
    ("label FILE --targets cycles", 1.2),
    ("network --pods 4", 0.8),
    ("network --pods 16", 2.0),
    ("models", 3.0),
)
"""Commands with their goals in seconds; the third predictor needs torch."""
RUN = ("run scale=smoke", 12.0)
CACHED = "cached second run, processor time"


def new_project(folder: Path) -> Path:
    """A project like a fresh clone: without tables, registry and cache."""
    for name in ("dvc.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "scale.c").write_text(PROGRAM)
    return folder


def measure(text: str, goal_s: float, options: argparse.Namespace, project: Path, repeats: int) -> str:
    """Measure a command, record its time, and return a row of the table: command, best time, goal."""
    arguments = ["scale.c" if word == "FILE" else word for word in text.split()]
    run_simfoundry(arguments, project)
    best_s = min(run_simfoundry(arguments, project).processor_s for _ in range(repeats))
    missed = ": **missed**" if best_s > goal_s else ""
    if options.record:
        figure = CACHED if text == RUN[0] else f"`{text}`"
        record("main_job", figure, round(best_s, 2), missed=best_s > goal_s)
    return f"| `{text}` | {best_s:.2f} s{missed} | {goal_s:g} s |"


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--project", type=Path, help="where `simfoundry run scale=smoke` has run")
    add_record_option(parser)
    options = parser.parse_args()
    print_machine()
    print_header("command | processor time | goal")
    with tempfile.TemporaryDirectory() as scratch:
        project = new_project(Path(scratch))
        for text, goal_s in COMMANDS:
            print(measure(text, goal_s, options, project, options.repeats), flush=True)
    if options.project is not None:
        print(measure(*RUN, options, options.project.resolve(), min(options.repeats, 2)))


if __name__ == "__main__":
    main()
