"""Designs as files: Verilog, and the schedule as JSON and as a drawing."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from assets.errors import FoundryError
from assets.settings import Settings
from assets.steps.designs import label_context
from pipelines.hls import TOOL, HlsError, compile_program, options_of
from pipelines.hls.gantt import schedule_drawing, schedule_entries
from pipelines.identity import text_sha256
from pipelines.labelling import rtl_of
from pipelines.schemas import OK, DesignRow, ProgramRow, write_bytes_atomically

IDENTITY_DIGITS = 8


def require_folder(folder: Path) -> None:
    """Make a folder for reports.

    Raises: FoundryError: it is a file, or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        got = "a file" if folder.exists() else error.strerror
        raise FoundryError(
            f"a report folder must be a folder that can be written, got {got} ({folder})"
        ) from error


def write_report(folder: Path, program: ProgramRow, design: DesignRow, settings: Settings) -> list[str]:
    """Write the files of a design: `.v`, and of a design of the project's own engine `.json` and `.svg`.

    Args:    folder: exists.
    Returns: paths of the files; none when there is no design.
    Raises:  HlsError: the design cannot be made again. OSError: not writable.
    """
    if design.status != OK:
        return []
    paths: list[str] = []
    for suffix, text in _contents(program, design, settings).items():
        path = folder / f"{_stem(program, design)}.{suffix}"
        write_bytes_atomically(path, text.encode())
        path.chmod(0o644)  # a temporary file is private; a report is for everyone
        paths.append(str(path))
    return paths


def _stem(program: ProgramRow, design: DesignRow) -> str:
    """Program, tool and configuration; the digits tell directives, clocks and versions apart."""
    delay = f"delay{design.memory_read_delay_cycles}"
    return f"{program.name}-{design.tool}-{delay}-{design.design_id[:IDENTITY_DIGITS]}"


def _contents(program: ProgramRow, design: DesignRow, settings: Settings) -> dict[str, str]:
    """Text of each file by suffix."""
    if design.tool != TOOL:
        return {"v": rtl_of(program, design, label_context(settings)).verilog}
    compiled = compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )
    found = text_sha256(compiled.verilog)
    if found != design.rtl_sha256:
        raise HlsError(f"a design must compile to the Verilog {design.rtl_sha256}", found)
    row = {k: v for k, v in asdict(design).items() if not k.endswith("_wall_s")}
    report = {"program": program.name, "top": program.top, "design": row}
    blocks = schedule_entries(compiled.scheduled)
    return {
        "v": compiled.verilog,
        "json": json.dumps({**report, "blocks": blocks}, indent=1) + "\n",
        "svg": schedule_drawing(compiled.scheduled),
    }
