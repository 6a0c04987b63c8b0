"""Option --dimension of commands that read ONNX models."""

from __future__ import annotations

from collections.abc import Sequence

from assets.errors import FoundryError


def sizes_of(texts: Sequence[str]) -> dict[str, int]:
    """Return the sizes of dimensions by name.

    Raises: FoundryError: a text is not NAME=SIZE.
    """
    sizes: dict[str, int] = {}
    for text in texts:
        name, _, size = text.rpartition("=")
        if not name or not size.isascii() or not size.isdigit() or not 0 < int(size[:10]) <= 1 << 24:
            raise FoundryError(f"unknown --dimension: {text}; accepted: NAME=SIZE, such as sequence=128")
        sizes[name] = int(size)
    return sizes
