"""Programs in C and C++ that come with the project, compiled once per version of their sources."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from pipelines.base.sealing import build_once
from pipelines.base.tools import find_tool, run_tool

BUILD_LIMIT_S = 120.0


def compiled_program(
    engine_folder: Path,
    *,
    engine: str,
    sources: Sequence[Path],
    flags: Sequence[str],
    error: Callable[[str], Exception],
    compiler: str = "g++",
) -> Path:
    """Return a program, compiled when the folder does not hold it undamaged.

    Args:
        engine_folder: folder of compiled programs, one per version. engine: name of the program.
        sources: the file that is compiled, then those that it includes.
        error: makes the caller's exception from a message.
    Raises: ToolMissing: no compiler. error: it does not compile the program.
    """
    content = b"".join(path.read_bytes() for path in sources) + " ".join(flags).encode()

    def build(folder: Path) -> Path:
        argv = [find_tool(compiler, compiler), *flags, str(sources[0]), "-o", "program"]
        run = run_tool(argv, folder=folder, timeout_s=BUILD_LIMIT_S)
        if run.returncode != 0:
            raise error(f"{compiler} failed to compile the {engine}: {run.last_words()}")
        return folder / "program"

    name = f"{engine}-{hashlib.sha256(content).hexdigest()[:12]}"
    return build_once(engine_folder.absolute(), name, build)
