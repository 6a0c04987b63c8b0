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
        parts = [file] if line is None else [f"{file}:{line}" if file else f"line {line}"]
        place = f" ({parts[0]})" if parts[0] else ""
        super().__init__(f"{rule}, got {got}{place}")


class UnsizedArgument(HlsError):
    """A pointer argument is indexed and nothing says how many elements it has.

    Attributes:
        argument: its name.
    """

    def __init__(self, argument: str, *, file: str, line: int | None) -> None:
        rule = (
            f"a pointer argument must have a size to be indexed (write {argument}[N], "
            f"#pragma simfoundry size {argument}=N, or --size {argument}=N)"
        )
        super().__init__(rule, f"*{argument}", file=file, line=line)
        self.argument = argument


class PointerUnset(HlsError):
    """A pointer is used that has no object yet, as far as the program is read."""


class StaticObjectError(HlsError):
    """An object of static storage that was a constant before it could be a port, and is refused since."""


class BytesNeeded(HlsError):
    """A structure is used as bytes, so it must be stored as memory instead of one variable per member.

    Attributes:
        key: of its type; see `reading.ctypes.Struct`.
    """

    def __init__(self, key: int, refusal: HlsError) -> None:
        super().__init__(refusal.rule, refusal.got, file=refusal.file, line=refusal.line)
        self.key = key


class NotApplicable(Exception):
    """A directive cannot be applied to this program; the message is the reason, for `directive_outcomes`."""
