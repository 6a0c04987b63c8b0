"""Compiling and starting attacks.c, and looking for what it left running."""

from __future__ import annotations

from pathlib import Path

from pipelines.base.sandbox import ConfinedRun, Limits, run_confined
from pipelines.base.tools import find_tool

ATTACKS = Path(__file__).parent / "attacks.c"
MIB = 1 << 20


def compile_attacks(folder: Path, *options: str, source: Path = ATTACKS) -> Path:
    """Compile with a gcc that is confined itself."""
    gcc = find_tool("gcc", "gcc")
    run = run_confined(
        (gcc, "-w", *options, str(source), "-o", "attacks"),
        folder=folder,
        readable=(source,),
        limits=Limits(processes=8, wall_s=60),
    )
    assert (run.returncode, run.stderr) == (0, "")
    return folder / "attacks"


def attack(program: Path, folder: Path, *words: str, **limits: float | None) -> ConfinedRun:
    return run_confined(
        (str(program), *words),
        folder=folder / "box",
        readable=(program,),
        limits=Limits(**limits),
        environment={"ASAN_OPTIONS": "detect_leaks=0"},
    )


def left_running(program: Path) -> list[str]:
    """Command lines that still name the program."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(program) in text:
            found.append(text)
    return found
