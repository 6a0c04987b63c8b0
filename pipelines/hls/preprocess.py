"""C text to a syntax tree: gcc's preprocessor, then pycparser.

Belongs here: preprocessing, parsing, and their errors as one message with file and line. Does not: what
the tree means.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import gettempdir

from pycparser import c_ast, c_parser

from pipelines.hls.errors import HlsError
from pipelines.tools import ToolRun, find_tool, run_tool

INCLUDE_FOLDER = Path(__file__).parent / "include"
SOURCE_LIMIT_BYTES = 1 << 20
PREPROCESSED_LIMIT_BYTES = 4 << 20
PREPROCESS_TIMEOUT_S = 20.0

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"')
_ENTERED = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)" 1\b', re.MULTILINE)
_MACROS = (
    "SIMFOUNDRY_HLS=1",
    "__attribute__(x)=",
    "__extension__=",
    "__inline=inline",
    "__inline__=inline",
    "__restrict=restrict",
    "__restrict__=restrict",
    "__const=const",
    "__const__=const",
    "__volatile__=volatile",
    "__signed=signed",
    "__signed__=signed",
)
_GCC_ERROR = re.compile(r"^([^:\n]+):(\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_PARSE_ERROR = re.compile(r"^(.*?):(\d+)(?::\d+)?: (.*)$", re.DOTALL)
_NOT_C11 = {
    "asm": "inline assembly (write C)",
    "__asm__": "inline assembly (write C)",
    "__asm": "inline assembly (write C)",
    "__int128": "a 128-bit integer (write two of 64 bits)",
    "_Complex": "a complex number (write a struct of two)",
    "complex": "a complex number (write a struct of two)",
    "typeof": "typeof (write the type)",
    "__typeof__": "typeof (write the type)",
    "class": "C++ (write C)",
    "template": "C++ (write C)",
    "namespace": "C++ (write C)",
    "using": "C++ (write C)",
}


def preprocess(source: str, *, file: str) -> str:
    """Expand macros and includes with gcc.

    Args:    source: C text; file: name for messages.
    Returns: preprocessed text whose line markers name the source `<stdin>`.
    Raises:  HlsError: the text is empty or too large, the preprocessor refuses it, or it includes a file
             other than this engine's own headers. ToolMissing: gcc is not installed.
    """
    if not source.strip():
        raise HlsError("a program must have a function", "an empty file", file=file)
    try:
        size_bytes = len(source.encode())
    except UnicodeEncodeError:
        raise HlsError("a program must be Unicode text", "half a character", file=file) from None
    if size_bytes > SOURCE_LIMIT_BYTES:
        raise HlsError(
            f"a program must be at most {SOURCE_LIMIT_BYTES} bytes", f"{size_bytes} bytes", file=file
        )
    run = _run_gcc(source)
    if run.timed_out or run.returncode != 0:
        found = _GCC_ERROR.search(run.stderr)
        rule = "a program must pass the C preprocessor"
        if found is None:
            raise HlsError(rule, run.last_words(200), file=file)
        raise HlsError(rule, found[3], file=shown_file(found[1], file), line=int(found[2]))
    _check_includes(run.stdout, file)
    return run.stdout


def is_own_header(name: str) -> bool:
    """Whether a file of the preprocessed text is one of this engine's headers."""
    return name.startswith(str(INCLUDE_FOLDER))


def _run_gcc(source: str, mode: str = "-E") -> ToolRun:
    argv = [find_tool("gcc", "gcc"), mode, "-x", "c", "-std=c11", "-nostdinc"]
    argv += [f"-D{macro}" for macro in _MACROS]
    argv += ["-isystem", str(INCLUDE_FOLDER), "-"]
    return run_tool(argv, folder=Path(gettempdir()), timeout_s=PREPROCESS_TIMEOUT_S, stdin=source)


def _check_includes(text: str, file: str) -> None:
    own = str(INCLUDE_FOLDER)
    for name in _ENTERED.findall(text):
        if not name.startswith(own):
            headers = sorted(p.relative_to(INCLUDE_FOLDER).as_posix() for p in INCLUDE_FOLDER.rglob("*.h"))
            accepted = ", ".join(f"<{name}>" for name in headers)
            raise HlsError(f"#include must be one of {accepted}", f'"{name}"', file=file)
    if len(text) > PREPROCESSED_LIMIT_BYTES:
        raise HlsError(
            f"a preprocessed program must be at most {PREPROCESSED_LIMIT_BYTES} bytes",
            "more",
            file=file,
        )


def parse(source: str, *, file: str) -> c_ast.FileAST:
    """Preprocess and parse C.

    Raises: HlsError: a syntax error, with its line.
    """
    text = preprocess(source, file=file)
    try:
        return c_parser.CParser().parse(text, filename=file)
    except c_parser.ParseError as error:
        raise _syntax_error(str(error), source, text, file) from None
    except RecursionError:
        raise HlsError(
            "expressions and statements must nest less deeply", "nesting too deep", file=file
        ) from None


def shown_file(name: str, file: str) -> str:
    """How messages name a file of the preprocessed text: the program itself, one of its headers, or ours."""
    if name in ("", "<stdin>", Path(file).name):
        return file
    return f"<{Path(name).name}>" if is_own_header(name) else name


def _syntax_error(message: str, source: str, text: str, file: str) -> HlsError:
    """The error for what the parser refused; gcc is asked where the parser does not say the line."""
    rule = "a program must be C11"
    found = _PARSE_ERROR.match(message)
    if found is None:
        found = _GCC_ERROR.search(_run_gcc(source, "-fsyntax-only").stderr)
    if found is None:
        return HlsError(rule, f"a syntax error: {' '.join(message.split())[:200]}", file=file)
    name, line = found[1], int(found[2])
    words = re.findall(r"\w+", _line_of(text, name, line))
    said = next((_NOT_C11[w] for w in words if w in _NOT_C11), None)
    said = said or f"a syntax error: {' '.join(found[3].split())[:200]}"
    return HlsError(rule, said, file=shown_file(name, file), line=line)


def _line_of(text: str, name: str, line: int) -> str:
    """A line of the preprocessed text by the file and number it had."""
    at_file, at_line = "", 0
    for content in text.splitlines():
        marker = _MARKER.match(content)
        if marker is not None:
            at_line, at_file = int(marker[1]), marker[2]
            continue
        if at_line == line and at_file in (name, "<stdin>"):
            return content
        at_line += 1
    return ""
