"""Languages of designs, and the commands with which Yosys reads them."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pipelines.base.limited import memory_limit, tool_memory
from pipelines.base.tools import MEMORY_LIMIT_BYTES
from pipelines.rtl.reuse.drivers import DRIVERS, WRITE_DRIVERS, conflicts, is_read
from pipelines.rtl.reuse.errors import MemoryFileError, MissingMemoryFile, RtlError
from pipelines.rtl.reuse.firrtl import firrtl_to_verilog
from pipelines.rtl.reuse.lost_resets import (
    CONSTANTS,
    LOST_RESET,
    WRITE_CONSTANTS,
    constant_registers,
    has_resets,
    with_synchronous_resets,
)
from pipelines.rtl.reuse.memory_files import (
    MemoryShape,
    plain_words,
    require_ascending,
    words_beyond,
)
from pipelines.schemas import TIMEOUT, TOOL_ERROR
from pipelines.silicon.synthesis import (
    DERIVE_INSTANCES,
    DESCRIBE_MEMORIES,
    REQUIRE_DECLARED,
    YosysExceeded,
    YosysFailed,
    run_yosys,
)

VERILOG, SYSTEMVERILOG, FIRRTL = "verilog", "systemverilog", "firrtl"
LANGUAGES = {
    ".v": VERILOG,
    ".sv": SYSTEMVERILOG,
    ".vh": VERILOG,
    ".svh": SYSTEMVERILOG,
    ".fir": FIRRTL,
}
"""Language by the end of a file's name."""
_SOURCE = "design.sv"
READERS = {VERILOG: "yosys", SYSTEMVERILOG: "slang"}
"""Names of the readers in answers, by the language that they take."""
NO_FILES: Mapping[str, bytes] = MappingProxyType({})
DEFINED = "SYNTHESIS"
"""Macro that every engine sees as 1. None sees a macro that a tool defines for itself."""
_OF_TOOLS = ("VERILATOR", "verilator", "verilator3", "SYSTEMVERILOG", "YOSYS")
_OF_SLANG = ("__slang__", "__slang_major__", "__slang_minor__")
_SAME_MACROS = "".join(f"`undef {name}\n" for name in (DEFINED, *_OF_TOOLS)) + f"`define {DEFINED} 1\n"
_FIRST_LINE = f'`line 1 "{_SOURCE}" 0\n'
OLD_KEYWORDS = ('`begin_keywords "1364-2005"', "`end_keywords")
"""Lines around Verilog whose names are words of SystemVerilog. Yosys' reader of Verilog needs none."""
_KEYWORD_LINES = re.compile(r'^[ \t]*`(?:begin_keywords[ \t]*"[^"\n]*"|end_keywords\b)', re.MULTILINE)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*", re.ASCII)
_MACRO_TEXT = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*(?<!\\)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_USED_MACRO = re.compile(r"`(\w+)", re.ASCII)
_DIRECTIVES = re.compile(
    "begin_keywords|(end)?celldefine|default_(decay_time|nettype|trireg_strength)|define|delay_mode_\\w+|"
    "else|elsif|end_keywords|endif|(end)?protect|ifn?def|include|line|(no)?unconnected_drive|pragma|resetall|timescale|"
    "undef(ineall)?|__FILE__|__LINE__"
)
"""Names that preprocessors keep for themselves; some accept a macro of that name."""
_MODULE = re.compile(r"^\s*module\s+(?:automatic\s+)?(\w+)", re.ASCII | re.MULTILINE)
_LIBRARY = "; Verilog of extmodules\n"
"""The comment of FIRRTL behind which `with_libraries` writes Verilog."""
_SHOWN = 20
"""Modules that a message names."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INDEXED_WORD = re.compile(
    r"\]\s*\[(?P<last>(?:[^\[\]]|\[[^\[\]]*\])*)\]\s*<?=(?!=)"
    r"(?!\s*(?:\w+\s*\[[^\[\]]*:[^\[\]]*\]|\{[^{}]*\}|\d+'[bdhoBDHO]\w+)\s*;)"
)
"""An assignment to a part of a word of memory, or to an element of an array of two dimensions.

The last index may hold another one, as in `m[i][n[1:0] +: 8]`. A part of a signal, bits in braces
and a number with a width have no sign and do not count."""
_TWO_DIMENSIONS = re.compile(r"\w\s*(?:\[[^\[\]]*:[^\[\]]*\]\s*){2,}[;,=)]")
"""The end of a declaration of an array of two dimensions, or such a part of a word."""
_DOWNWARD_PART = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*-:(?:[^\[\]]|\[[^\[\]]*\])*\]\s*<?=[^=]")
"""An assignment to a part that ends at an index, as in `q[i -: 2]`."""
_SIGNED_VALUE = re.compile(r"signed\b|'[sS]|\b(?:byte|shortint|int|integer|longint)\b")
_WORDS_FROM_FILE = re.compile(r"\$readmem[hb]\b")
_INCLUDED = re.compile(r'`include\s+"([^"]*)"')
_ASSIGNED_WORD = re.compile(r"\]\s*=[^=]")
_HAS_REASON = re.compile(f"ERROR:(?! Feature unimplemented)|{LOST_RESET}")
_NO_FILE = re.compile(
    r"(?:(?P<place>\S+:\d+): )?ERROR: ?(?:failed to open|Can not open) file ['`](?P<name>[^'`]+)['`]"
)
_TOO_WIDE = re.compile(
    r"(?:(?P<place>\S+:\d+): )?ERROR: ?"
    r"(?:Signal `\\?(?P<name>[^']*)' with invalid width range|Assert `width >= 0)"
)
_NO_INSTANCE = re.compile(
    r"Module `\\?(?P<kind>[^']+)' referenced in module `(?P<module>[^']+)' in cell `\\?(?P<cell>[^']+)' "
    r"(?:is not part of the design|does not have a port named '\\?(?P<port>[^']+)')"
)
_LINE = re.compile(r'^[ \t]*`line[ \t]+(?P<line>\d+)[ \t]+"(?P<file>[^"\n]*)".*\n', re.MULTILINE)
_READS_NETS = "reading net state during design initialization"
_INITIAL_VALUE = re.compile(
    r"\b(?P<constant>(?:parameter|localparam|const)\s+)?(?:logic|reg|bit)\b(?:\s*\[[^\]]*\])*\s+"
    r"(?P<name>\w+)\s*(?P<value>=[^=;][^;]*);"
)
_NO_ADDRESS = re.compile(r"address '(\w+)' \(hexadecimal\) is out of range")
_MEMORIES, _NETS = "memories.json", "nets.json"
_READING_SHARE = 6
"""Part of the memory for reading a design, before its size is known: a loop of 100 characters may never end.
Arrays of 16,384 elements need 0.7 GiB in all; a design without an end is refused below 1 GB in all."""
_BYTES_PER_CHARACTER = 1024
"""Memory for reading each character of a design and of its memory files, besides that part."""
_BEYOND_READER = re.compile(
    "unsupported|not supported|unimplemented|unsynthesizable|limit of \\d+ exhausted", re.IGNORECASE
)
"""Words of slang about valid text that it does not translate; of other errors it is sure."""
_UNTRANSLATED = re.compile(
    f"{_BEYOND_READER.pattern}|Internal frontend error|hierarchical reference", re.IGNORECASE
)
_OTHERWISE = "; accepted: text that synthesis takes, or --engine verilator"
# One module per instance keeps the hierarchy; structurally equal ones are merged afterwards.
_SLANG = " ".join(
    (
        "read_slang --keep-hierarchy --ignore-assertions --allow-use-before-declare",
        # Ranges that are out of bounds in branches that parameters leave out.
        *(f"-Wno-error={warning}" for warning in ("range-oob", "range-width-oob", "index-oob")),
        *(f"-U {name}" for name in _OF_SLANG),
    )
)


def language_of(path: Path) -> str:
    """Return the language of a file.

    Raises: RtlError: its name ends in none that is known.
    """
    if path.suffix not in LANGUAGES:
        accepted = ", ".join(LANGUAGES)
        raise RtlError(f"unknown language: {path.name or path}; accepted: names that end in {accepted}")
    return LANGUAGES[path.suffix]


def as_verilog(text: str, top: str, language: str) -> tuple[str, str]:
    """Return a design as Verilog or SystemVerilog, and the language that names Yosys' first reader of it.

    FIRRTL becomes Verilog. Verilog is first read as SystemVerilog where Yosys' reader of Verilog errs: it
    writes zeros in the place of the sign of what is assigned to a part of a word of memory, loses what is
    assigned to a part that begins below bit 0, and takes `$readmemh` as the first statement of its block.

    Raises: RtlError: FIRRTL that is not understood or not supported.
    """
    if language == FIRRTL:
        circuit, library = split_library(text)
        verilog = firrtl_to_verilog(circuit, top=top, external=modules_of(library))
        return f"{verilog}{library}", VERILOG
    code = _COMMENT.sub(" ", text)
    is_lossy = _may_lose_sign(code) or _DOWNWARD_PART.search(code) or _WORDS_FROM_FILE.search(code)
    if language == VERILOG and is_lossy:
        return text, SYSTEMVERILOG
    return text, language


def _may_lose_sign(code: str) -> bool:
    """Tell whether a shorter value may be assigned to a part of a word of memory; one bit is no shorter."""
    has_arrays = _TWO_DIMENSIONS.search(code) is not None
    return any(has_arrays or ":" in found["last"] for found in _INDEXED_WORD.finditer(code))


def without_comments(text: str) -> str:
    """Return Verilog with a blank in the place of every comment."""
    return _COMMENT.sub(" ", text)


def source_text(text: str, language: str = SYSTEMVERILOG) -> str:
    """Return Verilog as every engine reads it: the macros that tools define are the same.

    Args: language: that names the reader; Yosys' reader of Verilog knows no directives of keywords.
    """
    if language == VERILOG:
        text = _KEYWORD_LINES.sub("", text)
    return f"{_SAME_MACROS}{_FIRST_LINE}{text}"


def with_macros(text: str, *, language: str, define: Sequence[str], undefine: Sequence[str]) -> str:
    """Return a design before which macros are defined, as NAME or NAME=TEXT, or undefined.

    Raises: RtlError: no such macro can be, or the language has none.
    """
    if not (define or undefine):
        return text
    if language == FIRRTL:
        raise RtlError("macros of FIRRTL; accepted: of Verilog and SystemVerilog")
    texts = {name: text if has_text else "1" for name, has_text, text in (m.partition("=") for m in define)}
    for option, names in (("-D", texts), ("-U", undefine)):
        for name in names:
            if not _IDENTIFIER.fullmatch(name) or _DIRECTIVES.fullmatch(name):
                raise RtlError(
                    f"{option} {name!r}: no name of a macro; accepted: [A-Za-z_][A-Za-z0-9_$]*, no directive"
                )
    both = sorted(texts.keys() & set(undefine))
    if both:
        raise RtlError(f"macro defined and undefined: {both[0]}; accepted: one of both")
    for name, content in texts.items():
        _require_macro_text(name, content, texts)
    lines = [f"`undef {name}" for name in undefine]
    lines += [f"`define {name} {content}" for name, content in texts.items()]
    return "\n".join([*lines, f"{_FIRST_LINE}{text}"])


def _require_macro_text(name: str, text: str, texts: Mapping[str, str]) -> None:
    """Check the text of a macro, which readers else take for the end of the design, or expand without end."""
    if not text.strip():
        raise RtlError(f"-D {name}= without a text; accepted: -D {name}, which is 1, or -D {name}=TEXT")
    if not _MACRO_TEXT.fullmatch(text):
        raise RtlError(f"-D {name}={text!r}; accepted: one line that ends in no backslash")
    if _STRING.sub("", text).count('"') or "//" in _STRING.sub("", text) or "/*" in _STRING.sub("", text):
        raise RtlError(f"-D {name}={text!r}; accepted: text with closed strings and without comments")
    reached, waiting = set[str](), [name]
    while waiting:
        used = set(_USED_MACRO.findall(texts.get(waiting.pop(), ""))) - reached
        if name in used:
            raise RtlError(f"-D {name}={text!r}: the macro uses itself; accepted: text of other macros")
        reached |= used
        waiting += used


def with_libraries(text: str, *, language: str, libraries: Sequence[str]) -> str:
    """Return a design and Verilog of modules that it instantiates as one text of the design's language."""
    if not libraries:
        return text
    library = "\n".join(libraries)
    mark = _LIBRARY if language == FIRRTL else ""
    return f"{text}\n{mark}{library}\n"


def split_library(text: str) -> tuple[str, str]:
    """Return FIRRTL, and the Verilog that `with_libraries` wrote behind it."""
    circuit, _, library = text.partition(_LIBRARY)
    return circuit, library


def modules_of(library: str) -> frozenset[str]:
    """Return the names of the modules that Verilog defines."""
    return frozenset(_MODULE.findall(library))


def read_commands(top: str, language: str, unroll_limit: int | None = None) -> list[str]:
    """Return the commands that read and elaborate a design, and write what drives its nets.

    Args:   unroll_limit: iterations of all loops of a block that slang unrolls; None for its own limit.
    Raises: RtlError: a name of the top module that is no identifier, or an unknown language.
    """
    if not _IDENTIFIER.fullmatch(top):
        raise RtlError(f"top is not a Verilog identifier [A-Za-z_][A-Za-z0-9_$]*: {top!r}")
    limit = "" if unroll_limit is None else f"--unroll-limit {unroll_limit} "
    reads = {
        VERILOG: f"read_verilog -sv {_SOURCE}",
        SYSTEMVERILOG: f"{_SLANG} {limit}--top {top} {_SOURCE}",
    }
    if language not in reads:
        raise RtlError(f"unknown language: {language}; accepted: {', '.join(LANGUAGES.values())}")
    hierarchy = f"hierarchy -check -top {top}"
    if language == SYSTEMVERILOG:
        # Variables that nothing assigns are 0; CXXRTL does not know cells $buf.
        return [reads[language], *WRITE_DRIVERS[language], "setundef -zero t:$buf", hierarchy, "opt_clean"]
    derive = f"{DERIVE_INSTANCES} {top}"
    return [reads[language], derive, hierarchy, REQUIRE_DECLARED, *WRITE_DRIVERS[language]]


class _BeyondMemory(MemoryFileError):
    """An address, of one of the files `names` or of a call, is beyond its memory."""

    def __init__(self, message: str, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names = names


def run_front_end(
    text: str,
    *,
    top: str,
    language: str,
    commands: Sequence[str],
    output: str,
    timeout_s: float,
    files: Mapping[str, bytes] = NO_FILES,
    unroll_limit: int | None = None,
) -> tuple[bytes, str]:
    """Read a design with Yosys, run commands on it, and return what it writes and which reader read it.

    Slang reads what Yosys' reader of Verilog refuses, such as a port that is wider than the expression that
    it is connected to. That reader reads what slang understands and does not translate, unless it might err.

    Args:   files: content of memories by name. unroll_limit: see `read_commands`.
    Raises: RtlError: both readers reject the design, or a memory file has other text than words, or too many.
            MissingMemoryFile: the design reads another file. ToolMissing: bubblewrap is not installed.
    """
    require_ascending(text)
    if _SOURCE in _INCLUDED.findall(text):
        raise RtlError(f'the design includes itself: `include "{_SOURCE}"')
    known, refused = plain_words(text, files)

    def written_with(known: Mapping[str, bytes]) -> tuple[bytes, bytes, str]:
        try:
            return _written(text, top, language, unroll_limit, commands, output, timeout_s, known)
        except MissingMemoryFile as error:
            raise MemoryFileError(refused[error.name]) if error.name in refused else error from error

    def beyond(memories: bytes) -> dict[str, str]:
        shapes = [MemoryShape(**shape) for shape in json.loads(memories)]
        return dict(words_beyond(text, known, shapes))

    try:
        written, memories, reader = written_with(known)
    except _BeyondMemory as error:  # the range is known after reading without the words of these files
        _, memories, _ = written_with({n: b"" if n in error.names else known[n] for n in known})
        reasons = beyond(memories)
        raise MemoryFileError(next((reasons[n] for n in error.names if n in reasons), str(error))) from error
    refused |= beyond(memories)
    if refused.keys() & known:  # they are no error unless the design reads them
        written_with({name: known[name] for name in known if name not in refused})
    return written, READERS[reader]


def _written(
    text: str,
    top: str,
    language: str,
    unroll_limit: int | None,
    commands: Sequence[str],
    output: str,
    timeout_s: float,
    files: Mapping[str, bytes],
) -> tuple[bytes, bytes, str]:
    """Return what Yosys writes, by the first reader that reads the design, its memories, and the reader."""
    memory_bytes = tool_memory(MEMORY_LIMIT_BYTES)
    characters = len(text) + sum(map(len, files.values()))
    reading_bytes = min(memory_bytes, memory_limit()) // _READING_SHARE + _BYTES_PER_CHARACTER * characters

    def run(text: str, commands: Sequence[str], outputs: Sequence[str], reader: str) -> list[bytes]:
        with tempfile.TemporaryDirectory(prefix="yosys-") as name:
            return run_yosys(
                commands,
                files={**files, _SOURCE: source_text(text, reader).encode()},
                outputs=outputs,
                folder=Path(name),
                timeout_s=timeout_s,
                memory_bytes=memory_bytes,
                reading_bytes=min(memory_bytes, reading_bytes),
            )

    def require_one_driver(drivers: bytes, reader: str) -> None:
        problems = [*conflicts(drivers.decode())]
        if problems and reader == SYSTEMVERILOG:
            read, *_ = read_commands(top, reader, unroll_limit)
            [nets] = run(text, [read, f"write_json {_NETS}"], [_NETS], reader)
            problems = [problem for problem in problems if is_read(problem, json.loads(nets))]
        if problems:
            raise problems[0].error

    def written_by(reader: str) -> tuple[bytes, bytes, str]:
        read, *rest = read_commands(top, reader, unroll_limit)
        code = without_comments(text)
        rest += [f"{DESCRIBE_MEMORIES} {_MEMORIES}", *commands]
        outputs = [output, _MEMORIES, DRIVERS]
        if reader != SYSTEMVERILOG or not has_resets(code):
            written, memories, drivers = run(text, [read, *rest], outputs, reader)
            require_one_driver(drivers, reader)
            return written, memories, reader
        outputs.append(CONSTANTS)
        written, memories, drivers, constants = run(text, [read, *WRITE_CONSTANTS, *rest], outputs, reader)
        require_one_driver(drivers, reader)
        if registers := constant_registers(json.loads(constants), code):
            synchronous = with_synchronous_resets(text)
            [constants] = run(synchronous, [read, *WRITE_CONSTANTS], [CONSTANTS], reader)
            if lost := registers - constant_registers(json.loads(constants), code):
                module, name = min(lost)
                raise YosysFailed(TOOL_ERROR, f"{LOST_RESET}: {name} in {module}")
        return written, memories, reader

    try:
        return written_by(language)
    except YosysFailed as error:
        refusal = error
    if _READS_NETS in str(refusal) and (plain := _without_unread_values(text)) != text:
        return _written(plain, top, language, unroll_limit, commands, output, timeout_s, files)
    modules = _MODULE.findall(_COMMENT.sub(" ", text))
    if top not in modules:
        raise RtlError(f"no module {top}; accepted: {', '.join(modules[:_SHOWN]) or 'none'}") from refusal
    if missing := _NO_FILE.search(str(refusal)):
        raise MissingMemoryFile(missing["name"], missing["place"] or "") from refusal
    if beyond := _NO_ADDRESS.search(str(refusal)):
        names = [name for name in files if f"@{beyond[1]} ".encode() in files[name]]
        place = f"memory file {' or '.join(names)}" if names else "an end in a call of $readmemh or $readmemb"
        raise _BeyondMemory(f"{place}: address @{beyond[1]} is beyond the memory", names) from refusal
    other = {VERILOG: SYSTEMVERILOG, SYSTEMVERILOG: VERILOG}[language]
    may_help = refusal.status != TIMEOUT and not isinstance(refusal, YosysExceeded)
    if may_help and (other == SYSTEMVERILOG or _may_ask_yosys(text, str(refusal))):
        try:
            return written_by(other)
        except YosysFailed as error:
            refusal = refusal if _HAS_REASON.search(str(refusal)) else error  # the first one may have crashed
    said = _plainly(str(refusal), text)
    more = _OTHERWISE if _UNTRANSLATED.search(said) and LOST_RESET not in said else ""
    raise RtlError(f"Yosys rejects the design: {said}{more}") from refusal


def _without_unread_values(text: str) -> str:
    """Return a text without the initial values of variables that nothing else names.

    slang translates no initial value that depends on a net; such a variable only marks nets as read.
    """
    code = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    numbers = Counter(re.findall(r"\w+", code))
    for declared in reversed([*_INITIAL_VALUE.finditer(code)]):
        if numbers[declared["name"]] == 1 and not declared["constant"]:
            start, end = declared.span("value")
            text = text[:start] + "\n" * code.count("\n", start, end) + text[end:]
    return text


def _plainly(refusal: str, text: str) -> str:
    """Return a refusal of Yosys in the words of the design, with its place in the text."""
    if (wide := _TOO_WIDE.search(refusal)) is not None:
        named = f" {wide['name']}" if wide["name"] else ""
        place = f" ({wide['place']})" if wide["place"] else ""
        return f"signal{named} has too many bits{place}; accepted: at most 1048576"
    if (instance := _NO_INSTANCE.search(refusal)) is not None:
        kind, cell, port = instance["kind"], instance["cell"], instance["port"]
        module = instance["module"].removeprefix("$paramod").lstrip("\\").partition("\\")[0]
        place = _place_of_instance(source_text(text), kind, cell)
        what = f"module {kind} has no port {port}" if port else f"no module {kind}"
        return f"{what}; instance {cell} in {module}{place}"
    return refusal


def _place_of_instance(text: str, kind: str, cell: str) -> str:
    """Return file and line of an instance in brackets, empty if it is not there or several may be meant."""
    code = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    name = re.escape(re.sub(r"\[\d+\]", "", cell).rpartition(".")[2])
    starts = [*re.finditer(rf"(?<![\w$.`]){re.escape(kind)}\b[^;]*?(?<![\w$.`]){name}\s*[\[(]", code)]
    if len(starts) != 1:
        return ""
    at = starts[0].start()
    lines = [*_LINE.finditer(code, 0, at)]
    return f" ({lines[-1]['file']}:{int(lines[-1]['line']) + code.count(chr(10), lines[-1].end(), at)})"


def _may_ask_yosys(text: str, refusal: str) -> bool:
    """Tell whether Yosys' reader of Verilog is asked about a text that slang refuses."""
    code = _COMMENT.sub(" ", text)
    loses_sign = _may_lose_sign(code) and _SIGNED_VALUE.search(code)
    loses_order = _WORDS_FROM_FILE.search(code) and _ASSIGNED_WORD.search(code)
    is_lossy = loses_sign or loses_order or _DOWNWARD_PART.search(code)
    return _BEYOND_READER.search(refusal) is not None and not is_lossy
