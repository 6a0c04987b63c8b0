"""Version of this engine, for keys and rows.

Belongs here: a hash of the engine's own files and of the tools it calls. Does not: versions of programs.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pipelines.cyclemodel import engine_version
from pipelines.hls import tool_version


@cache
def pragmas_version() -> str:
    """A change of the search, the bound or what measures gives another version."""
    digest = hashlib.sha256(f"{tool_version()} {engine_version()}".encode())
    folder = Path(__file__).parent
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".json")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
