"""Programs as people write them, and the shares of them that the engine accepts and labels.

    python -m tests.benchmarks.people_programs [--record] [FILE]...

`people/` has 60 C files: utilities, libraries and kernels that print, assert and return NULL. They were
written before the front end was changed for them and are never changed for it. Each is labelled as
`simfoundry label FILE --targets cycles` does, without a size or a range.

Accepted: a design exists. Labelled: its outputs equal native C. Empty: the design is accepted, reads no
input and has no operator, so its label says nothing. Every program that is not labelled is listed with its
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import simfoundry as sf
from assets.errors import FoundryError
from pipelines.c import HlsError
from pipelines.programs import ProgramError
from pipelines.schemas import OK
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.recording import add_record_option, record

PROGRAMS = Path(__file__).parent / "people"
GOAL = {"accepted": 0.95, "labelled": 0.9, "empty": 0.0}


def verdict(file: Path) -> tuple[set[str], str]:
    """What a program is, of the keys of GOAL, and why it is not labelled."""
    try:
        answer = sf.label(file, targets=("cycles",))
    except (HlsError, ProgramError, FoundryError) as error:
        return set(), str(error)
    design, label = answer["design"], answer["label"]
    holds = {
        "accepted": design["status"] == OK,
        "labelled": label["status"] == OK,
        "empty": design["status"] == OK and is_empty(design),
    }
    reason = "" if holds["labelled"] else f"{label['status']}: {label['reason'] or design['reason'] or ''}"
    return {name for name, holding in holds.items() if holding}, reason


def is_empty(design: dict[str, Any]) -> bool:
    """Whether a design does nothing: it reads no input and has no operator."""
    return bool(design["is_constant"]) and not design["functional_unit_count"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line per program that is not labelled or empty, and the shares."""
    parser = options_parser(__doc__)
    programs = sorted(PROGRAMS.glob("*.c"))
    parser.add_argument("files", type=Path, nargs="*", default=programs)
    add_record_option(parser)
    options = parser.parse_args(arguments)
    files: Sequence[Path] = options.files
    if options.record and files != programs:
        parser.error("--record measures all programs; leave FILE out")
    verdicts: list[set[str]] = []
    for file in files:
        holding, reason = verdict(file)
        verdicts.append(holding)
        if reason or "empty" in holding:
            words = ", ".join(sorted(holding)) or "refused"
            print(f"{file.name}: {words}: {reason}", flush=True)
    print_header("| programs | share | goal")
    for name, goal in GOAL.items():
        count = sum(name in holding for holding in verdicts)
        share = count / max(1, len(files))
        missed = share > goal if name == "empty" else share < goal
        mark = " **missed**" if missed else ""
        print_row(name, f"{count} of {len(files)}", f"{share:.0%}", f"{goal:.0%}{mark}")
        if options.record:
            record("hls", f"programs {name}", f"{count} of {len(files)} ({share:.0%})", missed=missed)


if __name__ == "__main__":
    main()
