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
_GCC_ERROR = re.compile(r"^<stdin>:(\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)
_PARSE_ERROR = re.compile(r"^(.*?):(\d+)(?::\d+)?: (.*)$", re.DOTALL)


def preprocess(source: str, *, file: str) -> str:
    """Expand macros and includes with gcc.

    Args:    source: C text; file: name for messages.
    Returns: preprocessed text whose line markers name the source `<stdin>`.
    Raises:  HlsError: the text is empty or too large, the preprocessor refuses it, or it includes a file
             other than this engine's own headers. ToolMissing: gcc is not installed.
    """
    if not source.strip():
        raise HlsError("a program must have a function", "an empty file", file=file)
    if len(source.encode()) > SOURCE_LIMIT_BYTES:
        raise HlsError(
            f"a program must be at most {SOURCE_LIMIT_BYTES} bytes",
            f"{len(source.encode())} bytes",
            file=file,
        )
    run = _run_gcc(source)
    if run.timed_out or run.returncode != 0:
        found = _GCC_ERROR.search(run.stderr)
        line = int(found[1]) if found else None
        said = found[2] if found else run.last_words(200)
        raise HlsError("a program must pass the C preprocessor", said, file=file, line=line)
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
            accepted = ", ".join(f"<{p.name}>" for p in sorted(INCLUDE_FOLDER.glob("*.h")))
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
        line, said = _locate(str(error), source)
        raise HlsError("a program must be C11", f"a syntax error: {said}", file=file, line=line) from None
    except RecursionError:
        raise HlsError(
            "expressions and statements must nest less deeply", "nesting too deep", file=file
        ) from None


def _locate(message: str, source: str) -> tuple[int | None, str]:
    """Line and text of a syntax error; gcc is asked where the parser does not say the line."""
    found = _PARSE_ERROR.match(message)
    if found is None:
        found = _GCC_ERROR.search(_run_gcc(source, "-fsyntax-only").stderr)
        if found is None:
            return None, " ".join(message.split())[:200]
        return int(found[1]), found[2]
    return int(found[2]), " ".join(found[3].split())[:200]
