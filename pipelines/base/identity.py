"""Content identity: the same content has the same id everywhere and always."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical_json(value: Any) -> str:
    """Return JSON text that is equal for equal values: sorted keys, no spaces, ASCII only.

    Raises: ValueError: a number is NaN or infinite, which JSON cannot represent.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def content_hash(*parts: Any) -> str:
    """Return the first 32 hexadecimal digits of the SHA-256 of the canonical JSON of the parts."""
    return hashlib.sha256(canonical_json(parts).encode("ascii")).hexdigest()[:32]


def text_sha256(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file of this project, hexadecimal. Raises: OSError: it cannot be read."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
