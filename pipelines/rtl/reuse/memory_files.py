"""Files of `$readmemh` and `$readmemb`: their words, and whether these fit the memories of a design."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.rtl.reuse.errors import MemoryFileError, RtlError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ARGUMENT = r"(?:\s*,\s*([^,()]*?)\s*)?"
_CALL = re.compile(rf"\$readmem([hb])\s*\(\s*([^,()]*?)\s*,\s*([^,()\[\]]*?)\s*{_ARGUMENT}{_ARGUMENT}\)")
_NAMED_TEXT = r'\b%s\s*[=(]\s*"([^"]*)"'
_MODULE = re.compile(r"\bmodule\s+(?:automatic\s+|static\s+)?(\w+)")
_ADDRESS = re.compile(r"@[0-9a-fA-F_]+")
_WORDS = {"h": re.compile(r"[0-9a-fA-FxXzZ?_]+"), "b": re.compile(r"[01xXzZ?_]+")}
_DIGITS = {"h": "hexadecimal", "b": "binary"}
_SHOWN = 40
"""Characters of a wrong word that a message has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryShape:
    """Addresses of a memory in a module, as Yosys names that: the first one, how many, and bits of a word."""

    module: str
    name: str
    first: int
    size: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call: its module, base, files that it may read, memory, and addresses where they are numbers."""

    module: str
    base: str
    files: frozenset[str]
    memory: str
    start: int | None
    finish: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of a file; `address` is the number behind @ just before it."""

    text: str
    line: int
    address: int | None


def plain_words(text: str, files: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files as words and addresses alone, one a line, with 0 for undefined digits, as all engines
    read them.

    Returns: content by name, and for every file that has other text than words the reason.
    """
    calls, plain, refused = list(_calls(text)), dict[str, bytes](), dict[str, str]()
    for name, content in files.items():
        bases = {call.base for call in calls if name in call.files} or {call.base for call in calls} or {"h"}
        try:
            words = list(_words(name, content, "h" if "h" in bases else "b"))
        except RtlError as error:
            refused[name] = str(error)
            continue
        lines = [f"{'' if w.address is None else f'@{w.address:x} '}{w.text}\n" for w in words]
        plain[name] = "".join(lines).encode()
    return plain, refused


def words_beyond(
    text: str, files: Mapping[str, bytes], memories: Sequence[MemoryShape]
) -> Iterator[tuple[str, str]]:
    """Yield files with a word that has no place in its memory, and the reason; files as of `plain_words`."""
    for call in _calls(text):
        module = re.compile(rf"(?<!\w){re.escape(call.module)}(?!\w)")
        own = (m for m in memories if module.search(m.module))  # also of variants by parameters and instances
        shapes = {(m.first, m.size, m.width) for m in own if m.name.rpartition(".")[2] == call.memory}
        for name in sorted(call.files & set(files)):
            reasons = [_beyond(name, files[name], call, *shape) for shape in sorted(shapes)]
            if reasons and all(reasons):
                yield name, reasons[-1]


def require_ascending(text: str) -> None:
    """Check that no call fills a memory from its last word to the first, on which engines differ.

    Raises: MemoryFileError: one does.
    """
    for call in _calls(text):
        if call.start is not None and call.finish is not None and call.start > call.finish:
            raise MemoryFileError(
                f"$readmem{call.base} of memory {call.memory} from address {call.start} down to "
                f"{call.finish}; accepted: from a lower to a higher address"
            )


def image_words(name: str, content: bytes) -> list[int]:
    """Return the words of a file of hexadecimal words without addresses, 0 for undefined digits.

    Raises: RtlError: it has other text, or an address.
    """
    words = list(_words(name, content, "h"))
    for word in words:
        if word.address is not None:
            raise RtlError(
                f"memory file {name}:{word.line}: address @{word.address:x}; accepted: words alone"
            )
    return [int(word.text, 16) for word in words]


def _calls(text: str) -> Iterator[_Call]:
    code = _COMMENT.sub(" ", text)
    for match in _CALL.finditer(code):
        base, file, memory, *ends = (group or "" for group in match.groups())
        module = next(reversed(_MODULE.findall(code, 0, match.start())), "")
        is_name = re.fullmatch(r"\w+", file) is not None
        names = re.findall(_NAMED_TEXT % file, code) if is_name else [file.strip('"')]
        start, finish = (int(end) if end.isascii() and end.isdigit() else None for end in ends)
        yield _Call(
            module=module, base=base, files=frozenset(names), memory=memory, start=start, finish=finish
        )


def _words(name: str, content: bytes, base: str) -> Iterator[_Word]:
    """Yield the words of a file without comments. Raises: RtlError: it has other text."""
    text = _COMMENT.sub(lambda match: " " + "\n" * match[0].count("\n"), content.decode("latin-1"))
    address = None
    for number, line in enumerate(text.split("\n"), 1):
        for word in line.split():
            if _ADDRESS.fullmatch(word) and word.strip("@_"):
                address = int(word[1:].replace("_", ""), 16)
            elif _WORDS[base].fullmatch(word) and word.strip("_"):
                digits = re.sub("[xXzZ?]", "0", word.replace("_", ""))
                yield _Word(text=digits, line=number, address=address)
                address = None
            else:
                raise RtlError(
                    f"memory file {name}:{number}: {word[:_SHOWN]!a}; accepted: {_DIGITS[base]} words, "
                    "x, z and _ in them, addresses such as @1f, and comments"
                )


def _beyond(name: str, content: bytes, call: _Call, first: int, size: int, width: int) -> str:
    """Describe the first word without a place; empty if all have one."""
    last = first + size - 1 if call.finish is None else min(call.finish, first + size - 1)
    address = first if call.start is None else call.start
    for word in _words(name, content, "h"):
        address = address if word.address is None else word.address
        shown = (
            f"memory file {name}: word {word.text[:_SHOWN]} for address {address:#x} of memory {call.memory}"
        )
        digits = word.text.lstrip("0")
        if (len(digits) if call.base == "b" else int(digits or "0", 16).bit_length()) > width:
            return f"{shown}; accepted: at most {width} bits, 0 before them"
        if not first <= address <= last:
            return f"{shown}; accepted: {max(first, call.start or first):#x} to {last:#x}"
        address += 1
    return ""
