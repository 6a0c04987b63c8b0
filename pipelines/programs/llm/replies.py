"""Replies as C text: extraction of the program, and checks of its text before anything else reads it.

The rules exist because the preprocessor runs before the front end can judge: no directive of a reply may
read a file, and no spelling may hide one. C of this subset needs no quotes, backslashes or names of the
compiler, so they are refused outright.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.programs.errors import ProgramError

HEADERS = ("stdint.h", "stdbool.h", "stddef.h", "limits.h", "float.h", "math.h", "string.h")
"""Headers of the engine that declare no input, output or processes."""
MOST_NESTING = 64
MOST_TOKENS = 8000
MOST_MACROS = 200
LONGEST_MACRO = 200

_FENCED = re.compile(r"```[ \t]*+([A-Za-z0-9+]*+)[ \t]*+\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_COMMENT_OR_QUOTE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_INCLUDE = re.compile(r"#[ \t]*include[ \t]*<([\w./]+)>[ \t]*")
_DEFINE = re.compile(r"#[ \t]*define[ \t]+[A-Za-z_]\w*(?:\([\w, \t]*\))?[^#]*")
_COMPILER_NAME = re.compile(r"\b(__\w+|asm|_Pragma|typeof|_Generic|_Static_assert|defined)\b")
_OUTSIDE_NAME = re.compile(
    r"\b(system|fork|vfork|exec\w*|popen|fopen|open|read|write|socket|kill|ptrace|syscall|mmap|dlopen|signal|"
    r"exit|abort|malloc|calloc|realloc|free|printf|scanf|puts|gets|getenv|setjmp|longjmp|goto)\b"
)


class ReplyRejected(ProgramError):
    """A reply is not an acceptable program; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLimits:
    """Limits on the text of a reply.

    Attributes:
        most_source_bytes: of the program; prose around it does not count.
    """

    most_source_bytes: int = 16_384


def program_of_reply(text: str, limits: TextLimits) -> str:
    """Return the C text of a reply: its last fenced block of C, or all of it, without comments.

    Args:    text: any text.
    Returns: printable ASCII whose preprocessor lines are plain #define and #include of some headers.
    Raises:  ReplyRejected: the text breaks a rule.
    """
    code = _code(text)
    if len(code.encode("utf-8", errors="replace")) > limits.most_source_bytes:
        raise ReplyRejected(f"a program must be at most {limits.most_source_bytes} bytes, got more")
    code = _without_comments(code)
    _require_characters(code)
    _require_lines(code)
    _require_names(code)
    _require_nesting(code)
    return "\n".join(line.rstrip() for line in code.strip().splitlines()) + "\n"


def _code(text: str) -> str:
    blocks = [block[2] for block in _FENCED.finditer(text) if block[1].lower() in ("", "c", "c11", "h")]
    code = blocks[-1] if blocks else text
    if not code.strip():
        raise ReplyRejected("a reply must have a program, got an empty text")
    if "{" not in code or ";" not in code:
        raise ReplyRejected("a reply must have a program in C, got other text")
    return code


def _without_comments(code: str) -> str:
    """Return the text with spaces for comments; quotes stay, to be refused."""

    def replacement(token: re.Match[str]) -> str:
        return token[0] if token[0][0] in "\"'" else "\n" * token[0].count("\n") or " "

    return _COMMENT_OR_QUOTE.sub(replacement, code)


def _require_characters(code: str) -> None:
    for character in code:
        if character not in "\n\t" and not " " <= character <= "~":
            raise ReplyRejected(f"a program must be printable ASCII, got character {ord(character):#x}")
    for spelling, name in (
        ("\\", "a backslash"),
        ('"', "a quote"),
        ("'", "a quote"),
        ("`", "a backquote"),
        ("??", "a trigraph"),
        ("%:", "a digraph"),
        ("<:", "a digraph"),
        ("<%", "a digraph"),
        ("//", "a comment in a comment"),
        ("/*", "a comment without an end"),
    ):
        if spelling in code:
            line = code[: code.index(spelling)].count("\n") + 1
            raise ReplyRejected(f"a program must do without {spelling}, got {name} (program.c:{line})")


def _require_lines(code: str) -> None:
    """Require that preprocessor lines are only #include <header> and #define, and few."""
    macros = 0
    for number, line in enumerate(code.splitlines(), start=1):
        words = line.strip()
        if "#" not in words:
            continue
        include = _INCLUDE.fullmatch(words)
        if include is not None and include[1] in HEADERS:
            continue
        if include is not None:
            valid = ", ".join(f"<{name}>" for name in HEADERS)
            raise ReplyRejected(f"#include must be one of {valid}, got <{include[1]}> (program.c:{number})")
        macros += 1
        if not _DEFINE.fullmatch(words):
            rule = "a preprocessor line must be #include <...> or #define"
            raise ReplyRejected(f"{rule}, got {words[:60]} (program.c:{number})")
        if macros > MOST_MACROS or len(words) > LONGEST_MACRO:
            rule = f"macros must be at most {MOST_MACROS} of {LONGEST_MACRO} characters"
            raise ReplyRejected(f"{rule}, got more (program.c:{number})")


def _require_names(code: str) -> None:
    for pattern, rule in (
        (_COMPILER_NAME, "a program must use no name of the compiler"),
        (_OUTSIDE_NAME, "a program must only compute"),
    ):
        name = pattern.search(code)
        if name is not None:
            line = code[: name.start()].count("\n") + 1
            raise ReplyRejected(f"{rule}, got {name[1][:40]} (program.c:{line})")


def _require_nesting(code: str) -> None:
    """Require few tokens and brackets, because later readers recurse."""
    depth = deepest = tokens = 0
    for token in _TOKEN.finditer(code):
        tokens += 1
        depth += (token[0] in "([{") - (token[0] in ")]}")
        deepest = max(deepest, depth)
    if tokens > MOST_TOKENS:
        raise ReplyRejected(f"a program must have at most {MOST_TOKENS} tokens, got {tokens}")
    if deepest > MOST_NESTING:
        raise ReplyRejected(f"brackets must nest at most {MOST_NESTING} deep, got {deepest}")
