"""The one exception of this package: what its lowering to MLIR does not do."""

from __future__ import annotations


class NotLowered(ValueError):
    """A program has something that is not lowered to MLIR; the message reads `<rule>, got <value> (line)`."""

    def __init__(self, rule: str, got: str, *, line: int | None = None) -> None:
        place = "" if line is None else f" (line {line})"
        super().__init__(f"{rule}, got {got}{place}")
