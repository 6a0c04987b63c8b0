"""Languages of designs, and the commands with which Yosys reads them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pipelines.rtlreuse.errors import RtlError
from pipelines.rtlreuse.firrtl import firrtl_to_verilog
from pipelines.synthesis import DERIVE_INSTANCES, WIDER_PORT, YosysFailed, run_yosys

VERILOG, SYSTEMVERILOG, FIRRTL = "verilog", "systemverilog", "firrtl"
LANGUAGES = {".v": VERILOG, ".sv": SYSTEMVERILOG, ".fir": FIRRTL}
"""Language by the end of a file's name."""
_SOURCE = "design.sv"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*", re.ASCII)
_MODULE = re.compile(r"^\s*module\s+(?:automatic\s+)?(\w+)", re.ASCII | re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PART_OF_A_WORD = re.compile(r"\]\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*<?=[^=]")
"""An assignment to a part of a word of memory, or to an element of an array of two dimensions.

The last index may hold another one, as in `m[i][n[1:0] +: 8]`."""
# One module per instance keeps the hierarchy; structurally equal ones are merged afterwards.
_SLANG = "read_slang --keep-hierarchy --ignore-assertions --allow-use-before-declare"


def language_of(path: Path) -> str:
    """The language of a file.

    Raises: RtlError: its name ends in none that is known.
    """
    if path.suffix not in LANGUAGES:
        accepted = ", ".join(LANGUAGES)
        raise RtlError(f"unknown language: {path.name}; accepted: names that end in {accepted}")
    return LANGUAGES[path.suffix]


def as_verilog(text: str, top: str, language: str) -> tuple[str, str]:
    """A design as Verilog or SystemVerilog, and the language that names Yosys' reader of it.

    FIRRTL becomes Verilog. Verilog that assigns to a part of a word of memory is read as SystemVerilog:
    the reader of Verilog writes zeros in the place of the sign there.

    Raises: RtlError: FIRRTL that is not understood or not supported.
    """
    if language == FIRRTL:
        return firrtl_to_verilog(text, top=top), VERILOG
    if language == VERILOG and _PART_OF_A_WORD.search(_COMMENT.sub(" ", text)):
        return text, SYSTEMVERILOG
    return text, language


def with_libraries(text: str, *, top: str, language: str, libraries: Sequence[str]) -> tuple[str, str]:
    """A design and Verilog of modules that it instantiates as one text, and the language of that.

    Raises: RtlError: FIRRTL that is not supported, or an extmodule that no library defines.
    """
    if not libraries:
        return text, language
    library = "\n".join(libraries)
    if language == FIRRTL:
        text = firrtl_to_verilog(text, top=top, external=set(_MODULE.findall(library)))
        language = VERILOG
    return f"{text}\n{library}\n", language


def read_commands(top: str, language: str) -> list[str]:
    """Commands that read and elaborate a design.

    Raises: RtlError: a name of the top module that is no identifier, or an unknown language.
    """
    if not _IDENTIFIER.fullmatch(top):
        raise RtlError(f"top is not a Verilog identifier [A-Za-z_][A-Za-z0-9_$]*: {top!r}")
    reads = {
        VERILOG: f"read_verilog -sv {_SOURCE}",
        SYSTEMVERILOG: f"{_SLANG} --top {top} {_SOURCE}",
    }
    if language not in reads:
        raise RtlError(f"unknown language: {language}; accepted: {', '.join(LANGUAGES.values())}")
    hierarchy = f"hierarchy -check -top {top}"
    if language == SYSTEMVERILOG:
        return [reads[language], hierarchy, "opt_clean"]  # of $buf, which CXXRTL does not know
    return [reads[language], f"{DERIVE_INSTANCES} {top}", hierarchy]


def run_front_end(
    text: str, *, top: str, language: str, commands: Sequence[str], output: str, timeout_s: float
) -> bytes:
    """What Yosys writes after it has read a design and run commands on it.

    Verilog in which a port is wider than the expression that it is connected to is read by slang, which
    computes the expression in the port's width.

    Raises: RtlError: Yosys rejects the design. ToolMissing: bubblewrap is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="yosys-") as name:
        try:
            [written] = run_yosys(
                [*read_commands(top, language), *commands],
                files={_SOURCE: text.encode()},
                outputs=[output],
                folder=Path(name),
                timeout_s=timeout_s,
            )
        except YosysFailed as error:
            if language == VERILOG and WIDER_PORT in str(error):
                language = SYSTEMVERILOG
                return run_front_end(
                    text, top=top, language=language, commands=commands, output=output, timeout_s=timeout_s
                )
            raise RtlError(f"Yosys rejects the design: {error}") from error
    return written
