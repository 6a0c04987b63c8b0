"""The one exception of high-level synthesis."""

from __future__ import annotations


class HlsError(ValueError):
    """A program or an option is outside what the engine accepts.

    The message reads `<rule>, got <value> (<file>:<line>)`.
    """

    def __init__(self, rule: str, got: str, *, file: str = "", line: int | None = None) -> None:
        self.rule = rule
        self.got = got
        self.file = file
        self.line = line
        place = f" ({file}:{line})" if line is not None else f" ({file})" if file else ""
        super().__init__(f"{rule}, got {got}{place}")


class NotApplicable(Exception):
    """A directive cannot be applied to this program; the message is the reason, for `directive_outcomes`."""
