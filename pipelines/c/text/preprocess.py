"""C files: local headers put in, gcc's preprocessor, pycparser's syntax tree, and the functions in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pycparser import c_ast, c_parser

from pipelines.base.files import read_bounded
from pipelines.base.sandbox import MEMORY, OUTPUT, ConfinedRun, Limits, MachineFault, run_confined
from pipelines.base.tools import PATIENCE, PROCESSOR, find_tool
from pipelines.c.errors import HlsError
from pipelines.c.text.expanded import is_expanded, without_system_headers
from pipelines.c.text.headers import INCLUDE_FOLDER, LIBRARY_FILE, header_options
from pipelines.c.text.layouts import Attributes, Position, position_of, read_layouts
from pipelines.c.text.nesting import deepest_construct
from pipelines.c.text.number_lists import cut_lists, parse_text
from pipelines.c.text.spellings import plain_spellings

SOURCE_LIMIT_BYTES = 4 << 20
"""Limit on a program with its headers, and on each other file that `--source` searches."""

PREPROCESSED_LIMIT_BYTES = 8 << 20
MAXIMUM_TOKENS = 1 << 18
"""The parser takes some 30 us per token; the largest program of the suites has 9000 tokens. A long list
of numbers is not parsed, and counts as one."""

MAXIMUM_TOKEN_CHARACTERS = 4095
"""The minimum that C11 requires for a string literal (5.2.4.1); the parser takes kilobytes per character."""

MAXIMUM_TEXT_CHARACTERS = 1 << 18
"""Characters of consecutive strings, which the parser joins one by one."""

MAXIMUM_SUFFIXES = 256
"""Consecutive `[2]` and `(int)`; for each suffix of a declarator the parser walks over those before it."""

PREPROCESS_LIMITS = Limits(
    cpu_s=10,
    wall_s=PATIENCE * 10.0,
    memory_bytes=512 << 20,
    output_bytes=PREPROCESSED_LIMIT_BYTES,
    processes=4,  # gcc and cc1
)

_EXCESSES = {
    OUTPUT: "more",
    MEMORY: f"macros that take more than {PREPROCESS_LIMITS.memory_bytes >> 20} MiB to expand",
    PROCESSOR: f"macros that take more than {PREPROCESS_LIMITS.cpu_s} s to expand",
}
_MAIN_FILE = "<stdin>"

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"')
_ENTERED = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)" 1\b', re.MULTILINE)
_MACROS = (
    "SIMFOUNDRY_HLS=1",
    "__extension__=",
    "__builtin_va_list=void*",
    "__builtin_va_arg(list,type)=(*(type*)(list))",
    "__builtin_offsetof(type,member)=offsetof(type,member)",
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
_ATTRIBUTES_KEPT = ("__attribute__(x)=__attribute__(x)", "__attribute(x)=__attribute__(x)")
_ATTRIBUTES_DROPPED = ("__attribute__(x)=", "__attribute(x)=")
_GCC_ERROR = re.compile(r"^([^:\n]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)
_TOKEN = re.compile(
    r"""^\#[^\n]*+|(?:L|u8?|U)?"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|[\w.]++|[^\s\w]""",
    re.MULTILINE,
)
_ABSENT = re.compile(r"^(.*): No such file or directory$")
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
    Raises:  HlsError: the text is empty, too large, not accepted by the preprocessor, or includes a file
             other than this engine's headers. ToolMissing: gcc or bubblewrap is not installed. SandboxError:
             the machine forbids confinement. MachineFault: the machine was too busy.
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
    run = _run_gcc(source, "-E")
    if run.limit is not None:
        rule = f"a preprocessed program must be at most {PREPROCESSED_LIMIT_BYTES} bytes"
        raise HlsError(rule, _EXCESSES[run.limit], file=file)
    for name in _ENTERED.findall(run.stdout):
        if not is_own_header(name):
            raise _foreign_header(name, file)
    if run.returncode != 0:
        raise _refused(run, file)
    text, _ = _without_layouts(run.stdout)
    excess = _excess(cut_lists(text)[0])
    if excess is not None:
        raise HlsError(*excess, file=file)
    return text


_without_layouts = lru_cache(maxsize=2)(read_layouts)


def layouts_of(source: str) -> Mapping[Position, Attributes]:
    """Return the attributes and pragmas of a program that change layouts, by position; see `read_layouts`."""
    return _without_layouts(_run_gcc(source, "-E").stdout)[1]


def is_own_header(name: str) -> bool:
    """Tell whether a file of the preprocessed text is one of this engine's headers."""
    return name == LIBRARY_NAME or (name.startswith(f"{INCLUDE_FOLDER}/") and "/../" not in name)


@lru_cache(maxsize=16)
def _run_gcc(source: str, mode: str) -> ConfinedRun:
    """Run gcc on a program; cached, because programs are often read several times in a row."""
    argv = [
        find_tool("gcc", "gcc"),
        mode,
        "-w",
        "-fmax-errors=1",
        "-x",
        "c",
        "-std=c11",
        *header_options(source),
    ]
    macros = (*_MACROS, *(_ATTRIBUTES_KEPT if mode == "-E" else _ATTRIBUTES_DROPPED))
    argv += [*(f"-D{macro}" for macro in macros), _MAIN_FILE]
    with TemporaryDirectory() as scratch:
        run = run_confined(
            argv,
            folder=Path(scratch) / "box",
            readable=(INCLUDE_FOLDER,),
            files={_MAIN_FILE: source.encode()},
            limits=PREPROCESS_LIMITS,
        )
    if run.machine_fault is not None:
        raise MachineFault(f"the C preprocessor: {run.machine_fault}")
    return run


@lru_cache(maxsize=16)
def _excess(text: str) -> tuple[str, str] | None:
    """Return the limit of the parser that a preprocessed program exceeds: the rule and the value."""
    suffixes = [0]  # consecutive ones, at each depth of brackets
    previous = ""
    text_characters = 0
    for number, match in enumerate(_TOKEN.finditer(text)):
        token = match[0]
        if number == MAXIMUM_TOKENS:
            return f"a preprocessed program must have at most {MAXIMUM_TOKENS} tokens", "more"
        if token[0] == "#":
            continue
        text_characters = len(token) + (text_characters if previous.endswith('"') else 0)
        if token.endswith('"') and text_characters > MAXIMUM_TEXT_CHARACTERS:
            rule = f"strings in a row must have at most {MAXIMUM_TEXT_CHARACTERS} characters"
            return rule, "more"
        if len(token) > MAXIMUM_TOKEN_CHARACTERS:
            rule = f"a name, number or string must have at most {MAXIMUM_TOKEN_CHARACTERS} characters"
            return rule, f"{len(token)} ({token[:20]}...)"
        if token in ("(", "["):
            suffixes[-1] = suffixes[-1] + 1 if previous in (")", "]") else 1
            if suffixes[-1] > MAXIMUM_SUFFIXES:
                return f"a declarator must have at most {MAXIMUM_SUFFIXES} suffixes in a row", "more"
            suffixes.append(0)
        elif token in (")", "]") and len(suffixes) > 1:
            suffixes.pop()
        previous = token
    return None


def _refused(run: ConfinedRun, file: str) -> HlsError:
    """Return the error for what the preprocessor refused."""
    rule = "a program must pass the C preprocessor"
    error = _GCC_ERROR.search(run.stderr)
    if error is None:
        return HlsError(rule, " ".join(run.last_words(200).split()), file=file)
    shown, line = shown_file(error[1], file), int(error[2])
    absent = _ABSENT.match(error[3])
    if absent is not None:
        return _foreign_header(absent[1], shown, line)
    quoted = run.stderr[error.end() :].split("\n", 2)[1:2]
    got = "__has_include, which is not C11" if "__has_include" in "".join(quoted) else error[3]
    return HlsError(rule, got, file=shown, line=line)


def _foreign_header(name: str, file: str, line: int | None = None) -> HlsError:
    headers = sorted(p.relative_to(INCLUDE_FOLDER).as_posix() for p in INCLUDE_FOLDER.rglob("*.h"))
    accepted = ", ".join(f"<{header}>" for header in headers if not header.startswith("simfoundry/"))
    rule = f"#include must be one of {accepted}, or of the program's folder or an --include folder"
    return HlsError(rule, f'"{name}"', file=file, line=line)


@lru_cache(maxsize=2)
def parse(source: str, *, file: str) -> c_ast.FileAST:
    """Preprocess and parse C. Nothing changes the tree, so further readings of a source get the same one.

    Raises: HlsError: a syntax error, with its line.
    """
    try:
        return _parsed(source, file)
    except HlsError as error:
        if not error.rule.startswith(_NO_C):
            raise
        raise _foreign_language(source, error) or error from None


_NO_C = ("a program must be C11", "a program must pass the C preprocessor", "#include must be")
"""Begins the rules that a text of another language breaks."""
_CPP = (
    (r"\bap_u?int\b|\bap_int\.h\b", "ap_int of C++"),
    (r"\bap_u?fixed\b|\bap_fixed\.h\b", "ap_fixed of C++"),
    (r"\bhls::stream\b|\bhls_stream\.h\b", "hls::stream of C++"),
    (r"\btemplate\s*<", "a template of C++"),
    (r"\bclass\s+\w+\s*[:{]", "a class of C++"),
    (r"\bnamespace\s+\w+\s*[{;]|\bstd::", "a namespace of C++"),
    (r"#\s*include\s*<(?:iostream|vector|array|string|cmath|cstd\w+|algorithm)>", "a header of C++"),
    (
        r"\w[\s*&>]+(?!(?:if|while|for|switch)\b)\w+\s*\((?:[^(){};]*,)?\s*(?:[\w:<>]+\s+)*[\w:<>]+\s*&\s*\w+\s*"
        r"(?:,[^(){};]*)?\)\s*\{",
        "a reference of C++",
    ),
)
"""What only C++ has, and its name in messages."""


def _foreign_language(source: str, error: HlsError) -> HlsError | None:
    """Return the error for a text of C++ that is no C; None for other texts."""
    text = _QUIET.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] == "/" else m[0], source)
    searched = ((re.search(pattern, text), name) for pattern, name in _CPP)
    matches = [(_source_line(text[: m.start()]), name) for m, name in searched if m is not None]
    if not matches:
        return None
    rule = "a program must be C: functions of numbers, arrays, structures and pointers, in a .cpp file too"
    line, name = min(matches, key=lambda match: match[0])  # of one line the first of _CPP
    return HlsError(rule, name, file=error.file, line=line)


_QUIET = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)


def _source_line(before: str) -> int:
    """Return the number of the line that a text ends in, by its last line marker."""
    number = 1
    for line in before.split("\n")[:-1]:
        marker = _MARKER.match(line)
        number = int(marker[1]) if marker is not None else number + 1
    return number


def _parsed(source: str, file: str) -> c_ast.FileAST:
    text = preprocess(source, file=file)
    try:
        try:
            return parse_text(text, file=file)
        except c_parser.ParseError as error:
            plain = plain_spellings(text)
            if plain == text:
                raise _syntax_error(str(error), source, text, file) from None
        try:
            tree = parse_text(plain, file=file)
        except c_parser.ParseError as error:
            raise _syntax_error(str(error), source, text, file) from None
        _require_places(tree, layouts_of(source), file)
        return tree
    except RecursionError:
        raise too_deep(source, file) from None


def too_deep(source: str, file: str) -> HlsError:
    """Return the error for a program that nests too deep to be read."""
    rule, name, line = deepest_construct(preprocess(source, file=file))
    return HlsError(rule, "more", file=shown_file(name, file), line=line)


def _require_places(tree: c_ast.FileAST, layouts: Mapping[Position, Attributes], file: str) -> None:
    """Refuse a program of which attributes have lost their types, since spellings before them moved these."""
    waiting = {position: own for position, own in layouts.items() if own.is_of_type}
    stack: list[c_ast.Node] = [tree]
    while stack and waiting:
        node = stack.pop()
        waiting.pop(position_of(node) or ("", 0, 0), None)
        stack.extend(child for _, child in node.children())
    for (name, line, _), own in waiting.items():
        rule = "a type with a layout of its own must stand in a line of its own"
        raise HlsError(rule, own.text, file=shown_file(name, file), line=line)


LIBRARY_NAME = "<library>"
"""File of a library function in the syntax tree."""


@cache
def library_definitions() -> dict[str, c_ast.FuncDef]:
    """Return the library functions that a program may call, by name: from the headers, and gcc's."""
    tree = parse(f'# 1 "{LIBRARY_NAME}"\n{LIBRARY_FILE.read_text()}', file=LIBRARY_NAME)
    return {node.decl.name: node for node in tree.ext if isinstance(node, c_ast.FuncDef)}


def shown_file(name: str, file: str) -> str:
    """Return the name in messages of a preprocessed file: the program, one of its headers, or ours."""
    if name in ("", _MAIN_FILE, Path(file).name):
        return file
    return f"<{Path(name).name}>" if is_own_header(name) else name


_OTHER_LETTERS = re.compile(r"\w*(?:\\[uU](?:[0-9a-fA-F]{4}){1,2}\w*)+")
"""A name with letters beyond ASCII, as gcc's preprocessor writes them."""


def _syntax_error(message: str, source: str, text: str, file: str) -> HlsError:
    """Return the error for a syntax error, as gcc words it; as the parser does for what gcc accepts."""
    rule = "a program must be C11"
    match = _GCC_ERROR.search(_run_gcc(source, "-fsyntax-only").stderr) or _PARSE_ERROR.match(message)
    if match is None:
        return HlsError(rule, f"a syntax error: {' '.join(message.split())[:200]}", file=file)
    name, line = match[1], int(match[2])
    shown, text_line = shown_file(name, file), _line_of(text, name, line)
    if (other := _OTHER_LETTERS.search(text_line)) and "Illegal character" in match[3]:
        spelled = other[0].encode().decode("unicode_escape")
        return HlsError("names must be of ASCII letters, digits and _", spelled, file=shown, line=line)
    words = re.findall(r"\w+", text_line)
    got = next((_NOT_C11[w] for w in words if w in _NOT_C11), None)
    got = got or f"a syntax error: {' '.join(match[3].split())[:200]}"
    return HlsError(rule, got, file=shown, line=line)


def _line_of(text: str, name: str, line: int) -> str:
    """Return a line of the preprocessed text by its original file and number."""
    at_file, at_line = "", 0
    for content in text.splitlines():
        marker = _MARKER.match(content)
        if marker is not None:
            at_line, at_file = int(marker[1]), marker[2]
            continue
        if at_line == line and at_file in (name, _MAIN_FILE):
            return content
        at_line += 1
    return ""


MAXIMUM_INCLUDE_DEPTH = 32
BYTE_ORDER_MARK = "\ufeff"
"""May begin a file of UTF-8, and nothing else."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b")
_COMMENT_OR_TEXT = re.compile(r"""//|/\*|\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")


def bundle_source(
    path: Path,
    *,
    include_folders: Sequence[Path] = (),
    others: Sequence[Path] = (),
    text: str | None = None,
    macros: str = "",
) -> str:
    """Return the text of a C file in which local headers replace their `#include`s.

    Args:    include_folders: searched for headers after the including file's own folder; others: further C
             files of the program, which come first, so that the file may call their functions; text: in place
             of the file's, which has no folder then; macros: lines with definitions that the caller puts
             before the text.
    Returns: the file's own text when it includes no local header. A file that includes itself is in the
             text again where that adds to the preprocessed text. A missing header is left to the
             preprocessor, which may not need it. Line markers (`# 12 "gemm.c"`) keep file and line of
             messages right; they name files relative to the program, so that equal programs are equal texts
             in any folder. In the output of `gcc -E` system headers are `#include`s again.
    Raises:  HlsError: a file is not readable UTF-8 text, lies outside the program's folder and
             `include_folders`, includes itself without an end, or all files together are larger than
             SOURCE_LIMIT_BYTES.
    """
    folders = [folder.resolve() for folder in include_folders]
    folders += [other.parent.resolve() for other in others]
    roots = [*([path.parent.resolve()] if text is None else []), *folders]
    bundle = _Bundle(main=path, roots=roots, folders=folders, joined=bool(others), text=text)
    bundle.add_all(others)
    once = bundle.text_without(_INCLUDED_AGAIN)
    while _INCLUDED_AGAIN in bundle.pieces and _is_included_again(macros + "".join(bundle.pieces)):
        bundle = replace(bundle, repeats=bundle.repeats + 1, pieces=[], once=set(), size_bytes=0)
        bundle.add_all(others)
    bundled = bundle.text_without(_INCLUDED_AGAIN)
    same = bundle.repeats == 0 or _expanded_lines(macros + bundled) == _expanded_lines(macros + once)
    return once if same else bundled


_INCLUDED_AGAIN = "#error SIMFOUNDRY_INCLUDED_AGAIN\n"
"""Stands for the `#include` of a file in itself; gcc complains where the conditions around it hold."""


def _is_included_again(source: str) -> bool:
    """Tell whether gcc's preprocessor meets an `#include` that `_INCLUDED_AGAIN` stands for."""
    error = _GCC_ERROR.search(_run_gcc(source, "-E").stderr)
    return error is not None and error[3] == _INCLUDED_AGAIN.strip()


def _expanded_lines(source: str) -> list[str]:
    """Return the lines of the preprocessed text without its line markers and empty lines."""
    lines = _run_gcc(source, "-E").stdout.splitlines()
    return [line for line in lines if line and _MARKER.match(line) is None]


@dataclass(slots=True, kw_only=True)
class _Bundle:
    """Text collected so far.

    Attributes:
        roots: folders from which files may be read, the program's own first.
        folders: of these the ones that are searched for headers after the including file's own.
        once: files with `#pragma once`, and of several joined files those with an include guard.
        guarded: files with an include guard around all directives, or `#pragma once`.
        joined: the program has several C files.
        text: of the main file, when it is no file.
        repeats: how often a file is put in itself.
    """

    main: Path
    roots: list[Path]
    folders: list[Path]
    joined: bool = False
    text: str | None = None
    repeats: int = 0
    pieces: list[str] = field(default_factory=list[str])
    once: set[Path] = field(default_factory=set[Path])
    guarded: set[Path] = field(default_factory=set[Path])
    size_bytes: int = 0

    def add(self, path: Path, shown: str, including: tuple[Path, ...]) -> None:
        inside = (*including, path.resolve())
        in_comment = False
        lines = self._read(path).splitlines(keepends=True)
        guard = _guard_line(lines)
        for number, line in enumerate(lines, start=1):
            plain = line.removeprefix(BYTE_ORDER_MARK)
            header = None if in_comment else self._header(plain, path, shown, number)
            once = not in_comment and len(inside) > 1
            once = once and (_ONCE.match(line) is not None or (self.joined and number == guard))
            if not in_comment and (_ONCE.match(line) or (number == guard and _is_guarded(lines))):
                self.guarded.add(inside[-1])
            in_comment = _comment_open(line, in_comment)
            if once:
                self.once.add(inside[-1])
            if once and number != guard:
                self.append("\n")
            elif header is None:
                self.append(line if line.endswith("\n") else line + "\n")
            elif header in self.once or (header in inside and header in self.guarded):
                self.append("\n")
            elif inside.count(header) > self.repeats:
                self.append(_INCLUDED_AGAIN)
            else:
                if len(inside) > MAXIMUM_INCLUDE_DEPTH:
                    rule = f"headers must nest at most {MAXIMUM_INCLUDE_DEPTH} deep"
                    raise HlsError(rule, "more", file=shown, line=number)
                name = self.name_of(header)
                self.append(f'# 1 "{name}"\n')
                self.add(header, name, inside)
                self.append(f'# {number + 1} "{shown}"\n')

    def add_all(self, others: Sequence[Path]) -> None:
        for other in others:
            name = self.name_of(other.resolve())
            self.append(f'# 1 "{name}"\n')
            self.add(other, name, ())
        if others:
            self.append(f'# 1 "{self.main.name}"\n')
        self.add(self.main, self.main.name, ())

    def text_without(self, piece: str) -> str:
        """Return the text with empty lines in place of a piece."""
        return "".join("\n" if p is piece else p for p in self.pieces)

    def append(self, text: str) -> None:
        self.size_bytes += len(text.encode())
        if self.size_bytes > SOURCE_LIMIT_BYTES:
            rule = f"a program with its headers must be at most {SOURCE_LIMIT_BYTES} bytes"
            raise HlsError(rule, "more", file=str(self.main))
        self.pieces.append(text)

    def _read(self, path: Path) -> str:
        text = self.text if path == self.main and self.text is not None else self._content(path)
        text = text.removeprefix(BYTE_ORDER_MARK) if self.pieces else text
        return without_system_headers(text, str(path.parent.resolve())) if is_expanded(text) else text

    def _content(self, path: Path) -> str:
        def refused(message: str) -> HlsError:
            return HlsError("a C file must be readable", message, file=str(path))

        content = read_bounded(path, what="C file", most_bytes=SOURCE_LIMIT_BYTES, error=refused)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise HlsError("a C file must be UTF-8 text", "other bytes", file=str(path)) from error

    def _header(self, line: str, path: Path, shown: str, number: int) -> Path | None:
        """Return the local header that a line includes, None for other lines and missing headers."""
        match = _INCLUDE.match(line)
        if match is None:
            return None
        quoted, name = match[1] is not None, str(match[1] or match[2])
        own = [path.parent] if quoted and (self.text is None or path != self.main) else []
        if not quoted and (INCLUDE_FOLDER / name).is_file():
            return None
        for folder in (*own, *self.folders):
            candidate = (folder / name).resolve()
            if not candidate.is_file():
                continue
            if not any(candidate.is_relative_to(root) for root in self.roots):
                rule = "a header must lie in the program's folder or in a given include folder"
                raise HlsError(rule, repr(name), file=shown, line=number)
            return candidate
        return None

    def name_of(self, header: Path) -> str:
        """Return a header's path relative to its root folder."""
        root = next((root for root in self.roots if header.is_relative_to(root)), None)
        if root is None:
            rule = "a file of the program must lie in its folder, not behind a link that leads elsewhere"
            raise HlsError(rule, header.name, file=str(self.main))
        return header.relative_to(root).as_posix().replace("\\", "\\\\").replace('"', '\\"')


_GUARD = re.compile(r"[ \t]*#[ \t]*ifndef[ \t]+(\w+)")


def _guard_line(lines: Sequence[str]) -> int | None:
    """Return the line of a header's include guard, None without one around the whole header."""
    directives = [n for n, line in enumerate(lines) if line.lstrip().startswith("#")]
    if len(directives) < 3 or "endif" not in lines[directives[-1]]:
        return None
    guard = _GUARD.match(lines[directives[0]])
    if guard is None or not re.match(rf"[ \t]*#[ \t]*define[ \t]+{guard[1]}\b", lines[directives[1]]):
        return None
    return directives[0] + 1


_CONDITION = re.compile(r"[ \t]*#[ \t]*(if|end|el|undef)")


def _is_guarded(lines: Sequence[str]) -> bool:
    """Tell whether an include guard is around all directives of a file and keeps its macro."""
    directives = [line for line in lines if line.lstrip().startswith("#")]
    depth = 0
    for number, line in enumerate(directives):
        condition = _CONDITION.match(line)
        kind = "" if condition is None else condition[1]
        depth += {"if": 1, "end": -1}.get(kind, 0)
        if kind == "undef" or (kind == "el" and depth == 1) or (depth < 1 and number < len(directives) - 1):
            return False
    return True


def _comment_open(line: str, in_comment: bool) -> bool:
    """Tell whether a block comment is open at the end of a line."""
    for match in _COMMENT_OR_TEXT.finditer(line):
        mark = match[0]
        if in_comment:
            in_comment = mark != "*/"
        elif mark == "//":
            return False
        elif mark == "/*":
            in_comment = True
    return in_comment


_NEVER_TOP = ("main", "init_array", "print_array")


def _definitions(source: str, file: str) -> dict[str, c_ast.FuncDef]:
    own = str(INCLUDE_FOLDER)
    return {
        n.decl.name: n
        for n in parse(source, file=file).ext
        if isinstance(n, c_ast.FuncDef) and not str(n.coord.file if n.coord else "").startswith(own)
    }


def defined_functions(source: str, *, file: str = "program.c") -> tuple[str, ...]:
    """Return the names of functions that a C file defines, in source order, without the engine's headers'.

    Raises: HlsError: the text is not C.
    """
    return tuple(_definitions(source, file))


def default_top(source: str, stem: str, *, file: str = "program.c") -> str:
    """Return the function that becomes hardware when none is named.

    It is the function named after the file (`gemm`, `kernel_gemm` or `gemm_kernel` for gemm.c, `-` read as
    `_`), else the only function other than `main`, `init_array` and `print_array`, else the only one of these
    that no other one calls, `__gemm`, the only one that is in no header, or the only one of those that is not
    static. `main` is taken when the file has no other function.

    Raises: HlsError: the file has no such function, or several.
    """
    definitions = {n: d for n, d in _definitions(source, file).items() if n not in _NEVER_TOP}
    base = "".join(c if c.isalnum() else "_" for c in stem)
    for candidate in (base, f"kernel_{base}", f"{base}_kernel"):
        if candidate in definitions:
            return candidate
    called = {c for name, d in definitions.items() for c in _called_names(d) if c != name}
    uncalled = [n for n in definitions if n not in called]
    names = ("<stdin>", Path(file).name, f"{stem}.c")
    own = [n for n, d in definitions.items() if d.coord and Path(str(d.coord.file)).name in names]
    shown = [n for n in own if "static" not in definitions[n].decl.storage]
    alike = [n for n in definitions if n.strip("_") == base.strip("_")]
    if not definitions and "main" in _definitions(source, file):
        return "main"
    for candidates in (list(definitions), uncalled, alike, own, shown, [n for n in shown if n in uncalled]):
        if len(candidates) == 1:
            return candidates[0]
    raise HlsError(
        f"without --top a file must define {base} or kernel_{base}, or only one function that no other one "
        "calls",
        ", ".join(definitions) or "no function",
        file=file,
    )


def function_calls(node: c_ast.Node) -> Iterator[c_ast.FuncCall]:
    """Yield the calls of functions by name in a syntax tree of any depth, in no order."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
            yield node
        waiting += (child for _, child in node.children())


def _called_names(definition: c_ast.FuncDef) -> set[str]:
    """Return the names of the functions that a function calls."""
    return {str(call.name.name) for call in function_calls(definition.body)}
