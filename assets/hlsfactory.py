"""Designs in the layout of HLSFactory: a folder with `hlsfactory.toml`, which names the files of its flows.

The file has `design_name`, `dataset_name` and tables `flow_configs`. Top function and sources stand in what a
flow names: `set_top` and `add_files` of the Tcl script of Vitis HLS (`synth_tcl`), `syn.top` and `syn.file`
of its configuration (`hls_config`), or `sources` of the Altera flow. Test benches are left out. Of Tcl,
commands with plain words are read, also in branches of conditions; nothing is run.

Source: hlsfactory/design_config.py of https://github.com/sharc-lab/HLSFactory
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assets.source_options import SourceOptions
from pipelines.base.files import read_text
from pipelines.base.validation import describe_invalid
from pipelines.c import SOURCE_LIMIT_BYTES
from pipelines.programs import ProgramError

DESIGN_FILE = "hlsfactory.toml"
SCRIPTS = {"VitisHLSSynthFlow": "synth_tcl", "VitisHLSCsimFlow": "csim_tcl", "VitisHLSImplFlow": "impl_tcl"}
"""Key of the Tcl script by flow; the first flow that a design has counts."""
CONFIGURED = ("VitisHLSModernSynthFlow", "VitisHLSModernCsimFlow")
LISTED = ("AlteraHLSSynthFlow", "AlteraHLSCsimFlow")
MOST_FILE_BYTES = 1 << 20
MOST_SOURCED = 8
"""Levels of scripts that scripts read."""
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc")


class _Flow(BaseModel):
    """A flow; each further key is a setting."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    flow_name: str
    flow_settings: dict[str, str] = {}

    def setting(self, key: str) -> str | None:
        value = self.flow_settings.get(key, (self.model_extra or {}).get(key))
        return value if isinstance(value, str) else None


class _DesignFile(BaseModel):
    """The content of `hlsfactory.toml`, as far as it is read."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    design_name: Annotated[str, Field(min_length=1, max_length=200)]
    flow_configs: list[_Flow] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class FactoryDesign:
    """A design of HLSFactory.

    Attributes:
        file: source with the top function; top: None for the function that the file is about.
        options: the further sources, folders of headers and macros.
    """

    name: str
    file: Path
    top: str | None
    options: SourceOptions


@dataclass(slots=True, kw_only=True)
class _Sources:
    """What a flow says, collected."""

    top: str | None = None
    paths: list[str] = field(default_factory=list[str])
    flags: list[str] = field(default_factory=list[str])


def read_design(path: Path, root: Path) -> FactoryDesign:
    """Read a design by the path of its `hlsfactory.toml`.

    Args:   root: folder in which all its files lie.
    Raises: ProgramError: the file, its script or configuration is not acceptable, or no source is named.
    """
    folder = path.parent
    design = _design_file(path)
    sources = _Sources()
    _collect(design, folder, root, sources)
    files = [_inside(folder / name, root) for name in sources.paths if Path(name).suffix not in HEADERS]
    if not files:
        raise ProgramError(f"no source file of {design.design_name} in its flow ({path})")
    main = _file_with(sources.top, files)
    macros, includes = _flags(sources.flags)
    return FactoryDesign(
        name=design.design_name.strip(),
        file=main,
        top=sources.top,
        options=SourceOptions(
            define=macros,
            include=(folder, *(_inside(folder / name, root) for name in includes)),
            others=tuple(file for file in dict.fromkeys(files) if file != main),
        ),
    )


def _design_file(path: Path) -> _DesignFile:
    text = read_text(path, what="design file", most_bytes=MOST_FILE_BYTES, error=ProgramError)
    try:
        return _DesignFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ProgramError(f"not TOML: {error} ({path})") from error
    except ValidationError as error:
        raise ProgramError(describe_invalid(error, _DesignFile, path)) from error


def _collect(design: _DesignFile, folder: Path, root: Path, sources: _Sources) -> None:
    """Collect sources and top function of the first flow that names them."""
    flows = {flow.flow_name: flow for flow in design.flow_configs}
    for name, key in SCRIPTS.items():
        if name in flows and (script := flows[name].setting(key)):
            _run_script(_inside(folder / script, root), folder, root, sources, {}, 0)
            return
    for name in CONFIGURED:
        if name in flows and (configuration := flows[name].setting("hls_config")):
            _read_configuration(_inside(folder / configuration, root), sources)
            return
    for name in LISTED:
        if name in flows and (listed := flows[name].setting("sources")):
            sources.paths += listed.split()
            sources.flags += (flows[name].setting("cxxflags") or "").split()
            return
    accepted = ", ".join((*SCRIPTS, *CONFIGURED, *LISTED))
    own = ", ".join(flows) or "none"
    raise ProgramError(f"no flow of {design.design_name} names C sources: {own}; accepted: {accepted}")


def _inside(path: Path, root: Path) -> Path:
    """Return a path in the collection.

    Raises: ProgramError: it leads elsewhere, or nothing is there.
    """
    whole = path.resolve()
    if not whole.is_relative_to(root):
        raise ProgramError(f"outside the folder of the collection: {path}")
    if not whole.exists():
        raise ProgramError(f"no such file: {path}")
    return whole


def _file_with(top: str | None, files: Sequence[Path]) -> Path:
    """Return the file that defines the top function; the first one where it is not to be seen."""
    if top is None or len(files) == 1:
        return files[0]
    definition = re.compile(rf"\b{re.escape(top)}\s*\([^;{{}}]*\)\s*\{{")
    for file in files:
        text = read_text(file, what="C source", most_bytes=SOURCE_LIMIT_BYTES, error=ProgramError)
        if definition.search(text):
            return file
    return files[0]


def _flags(flags: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the macros and the folders of headers of a compiler's options."""
    macros: dict[str, None] = {}
    includes: dict[str, None] = {}
    waiting: dict[str, None] | None = None
    for flag in flags:
        kind = {"-D": macros, "-I": includes}.get(flag[:2])
        if waiting is not None:
            waiting[flag] = None
            waiting = None
        elif kind is not None and len(flag) > 2:
            kind[flag[2:]] = None
        else:
            waiting = kind
    return tuple(macros), tuple(includes)


# ---- configurations of Vitis HLS -----------------------------------------------------------------------


def _read_configuration(path: Path, sources: _Sources) -> None:
    text = read_text(path, what="configuration", most_bytes=MOST_FILE_BYTES, error=ProgramError)
    for line in text.splitlines():
        key, _, value = (part.strip() for part in line.partition("="))
        if key == "syn.file":
            sources.paths.append(value)
        elif key == "syn.top":
            sources.top = value
        elif key == "syn.cflags":
            sources.flags += value.split()


# ---- Tcl -----------------------------------------------------------------------------------------------

_WORD = re.compile(r'\{(?P<braced>[^{}]*)\}|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s;{}"]+)', re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each line; commands in braces over several lines are lines of their own."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        for part in [] if line.lstrip().startswith("#") else re.split(r";(?![^{\"]*[}\"])", line):
            words = [m["braced"] or m["quoted"] or m["plain"] or "" for m in _WORD.finditer(part)]
            if words and not words[0].startswith("#"):
                yield words


def _run_script(
    path: Path, folder: Path, root: Path, sources: _Sources, variables: dict[str, str], depth: int
) -> None:
    """Collect what `set_top`, `add_files`, `set` and `source` of a script say."""
    if depth > MOST_SOURCED:
        raise ProgramError(f"scripts that read scripts: more than {MOST_SOURCED} levels ({path})")
    text = read_text(path, what="script", most_bytes=MOST_FILE_BYTES, error=ProgramError)
    _require_closed(text, path)
    for command, *words in _commands(text):
        if command == "set" and len(words) == 2:
            variables[words[0]] = _with_values(words[1], variables)
        elif command == "set_top" and words:
            sources.top = _replaced(words[0], variables, path)
        elif command in ("add_files", "add_file") and "-tb" not in words:
            _add_files([_replaced(word, variables, path) for word in words], sources)
        elif command == "source" and words:
            script = _inside(folder / _replaced(words[0], variables, path), root)
            _run_script(script, folder, root, sources, variables, depth + 1)


_NO_BRACE = re.compile(r'^\s*#.*$|\\.|"(?:[^"\\\n]|\\.)*"', re.MULTILINE)


def _require_closed(text: str, path: Path) -> None:
    """Refuse a script that ends within a brace, behind which Tcl would read nothing."""
    depth = 0
    for mark in re.findall(r"[{}]", _NO_BRACE.sub("", text)):
        depth = max(0, depth + (1 if mark == "{" else -1))
    if depth:
        raise ProgramError(f"unclosed brace ({path})")


def _with_values(word: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda m: variables.get(m[1] or m[2], m[0]), word)


def _replaced(word: str, variables: Mapping[str, str], path: Path) -> str:
    """Return a word with the values of its variables.

    Raises: ProgramError: it is computed in another way.
    """
    value = _with_values(word, variables)
    if "$" in value or "[" in value:
        raise ProgramError(f"a computed word: {word} ({path}); accepted: plain words and variables of `set`")
    return value


def _add_files(words: Sequence[str], sources: _Sources) -> None:
    options = {"-cflags": sources.flags, "-csimflags": list[str]()}
    waiting: list[str] | None = None
    for word in words:
        if waiting is not None:
            waiting += word.split()
            waiting = None
        elif word in options:
            waiting = options[word]
        else:
            sources.paths += word.split()
