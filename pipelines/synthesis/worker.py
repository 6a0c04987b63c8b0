"""The process that runs pyosys on one design: run by path, with the commands in a file.

It is a separate process because an error in a command ends it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyosys import libyosys as yosys


def run_commands(commands: list[str], log: str) -> None:
    """Run yosys commands in order on a new design; their output goes to the log file."""
    library: Any = yosys
    design = library.Design()
    for command in commands:
        library.run_pass(f"tee -q -a {log} {command}", design)


if __name__ == "__main__":
    run_commands(Path(sys.argv[1]).read_text("utf-8").splitlines(), sys.argv[2])
