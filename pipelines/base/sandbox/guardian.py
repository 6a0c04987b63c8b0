"""A process that outlives its parent and ends the confined runs that the parent leaves.

bubblewrap ends its processes when its parent ends, but not in the first milliseconds, before they are bound
to each other. Standard input has `+` for each run that begins, `-` for each run that ends, and ends with the
parent.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from pathlib import Path

_LOOKS = 20
_LOOK_S = 0.1
"""A process that was forked just before the end has 2 s to become bubblewrap."""


def main() -> None:
    """Wait for the end of the parent, then end every bubblewrap with the mark in the first argument."""
    running = 0
    while content := os.read(0, 4096):
        running += content.count(b"+") - content.count(b"-")
    if running <= 0:
        return
    for _ in range(_LOOKS):
        end_marked(os.fsencode(sys.argv[1]))
        select.select([], [], [], _LOOK_S)


def end_marked(mark: bytes) -> None:
    """Send SIGKILL to every bubblewrap with a mark among its arguments."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            program, *arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if mark in arguments and program.endswith(b"bwrap"):
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:
            continue  # it ended, or is another user's


if __name__ == "__main__":
    main()
