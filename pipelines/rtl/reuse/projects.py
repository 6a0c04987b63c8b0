"""A design of several files as one text: file lists, included files, libraries and files of memories."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pipelines.base.files import read_bounded
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.file_lists import Arguments, Place, Placed, read_list
from pipelines.rtl.reuse.includes import Expander, Source
from pipelines.rtl.reuse.languages import (
    DEFINED,
    FIRRTL,
    NO_FILES,
    OLD_KEYWORDS,
    SYSTEMVERILOG,
    VERILOG,
    language_of,
    with_libraries,
    with_macros,
    without_comments,
)
from pipelines.rtl.reuse.modules import Definition, definitions, find_top, uses_old_names, with_parameters

TEXT_BYTES = 256 << 20
MEMORY_FILE_BYTES = 64 << 20
_EXTENSIONS = (".v", ".sv")
"""Ends of the names of files with missing modules, as in Verilator."""
_CIRCUIT = re.compile(r"^\s*circuit\s+(\w+)\s*:", re.MULTILINE)
_WORDS_FROM_FILE = re.compile(r"\$readmem[hb]\b")
_QUOTED = re.compile(r'"([^"\\\n]{1,1000})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFiles:
    """What a user names.

    Attributes:
        files: of the design. libraries: Verilog of modules that it instantiates.
        lists: file lists whose paths are relative to the current folder; near_lists: to the list's own.
        folders: of included files and missing modules. root: folder that no path leaves; None: see `_roots`.
        variables: folders that the environment names, for lists; other values may be secrets.
        define, undefine: macros.
        parameters: NAME=VALUE of the top module. top: None for the only one.
    """

    files: Sequence[Path]
    libraries: Sequence[Path] = ()
    lists: Sequence[Path] = ()
    near_lists: Sequence[Path] = ()
    folders: Sequence[Path] = ()
    root: Path | None = None
    define: Sequence[str] = ()
    undefine: Sequence[str] = ()
    parameters: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    top: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A design as one text.

    Attributes:
        files: content of memories by the name that the text has.
        memory_paths: where such a file is looked for, by name, also of files that cannot be read.
        read: all files, links followed.
    """

    text: str
    language: str
    top: str
    files: Mapping[str, bytes] = field(default_factory=lambda: dict(NO_FILES))
    memory_paths: Mapping[str, Path] = field(default_factory=dict[str, Path])
    read: frozenset[Path] = frozenset()

    def require_memory_file(self, name: str) -> None:
        """Say why a file of a memory cannot be read. Raises: RtlError: if that is why it is missing."""
        if name in self.memory_paths and ".." not in PurePosixPath(name).parts:
            _memory_words(self.memory_paths[name])


def read_project(named: ProjectFiles) -> Project:
    """Read all files of a design.

    Raises: RtlError: a file is missing, leaves the project's folder or is not understood, with file and line
            where a file names it.
    """
    reader = _Reader(named)
    arguments = reader.arguments()
    if any(Path(source.value).suffix == ".fir" for source in arguments.sources):
        return _read_firrtl(reader, arguments)
    return _read_verilog(reader, arguments)


def _answers(question: Callable[[], bool]) -> bool:
    """Return the answer about a path, no for a text that is no name of a file."""
    try:
        return question()
    except (OSError, ValueError):
        return False


class _Reader:
    """Reads files that lie in the folders of a project."""

    def __init__(self, named: ProjectFiles) -> None:
        self.named, self.read = named, set[Path]()
        current = Path.cwd().resolve()
        self.roots = _roots(named, current)
        self.base = current if any(current.is_relative_to(root) for root in self.roots) else None

    def arguments(self) -> Arguments:
        """Return what lists and command line say; sources of the command line come first."""
        named, arguments = self.named, Arguments()
        arguments.sources = [Placed(value=str(path), place="") for path in named.files]
        arguments.folders = [Placed(value=str(path), place="-I") for path in named.folders]
        lists = [(path, None) for path in named.lists] + [(path, path.parent) for path in named.near_lists]
        for path, base in lists:
            read_list(path, arguments, read=self.list_text, place="", variables=named.variables, base=base)
        if not arguments.sources:
            raise RtlError("no file of a design; accepted: FILE or --file-list with at least one")
        arguments.parameters += [Placed(value=value, place="-G") for value in named.parameters]
        return arguments

    def list_text(self, path: Path, place: Place) -> str:
        """Return the text of a file list."""
        return self.text(path, place, "file list")

    def design_text(self, path: Path, place: Place) -> str:
        """Return the text of a source file or an included one."""
        return self.text(path, place, "design")

    def text(self, path: Path, place: Place, what: str) -> str:
        """Return the text of a file in the project. Raises: RtlError: it is outside, or cannot be read."""
        where = f" ({place})" if place else ""
        if place and _answers(path.exists):
            self.require_inside(path, place)
        content = read_bounded(
            path, what=what, most_bytes=TEXT_BYTES, error=lambda message: RtlError(f"{message}{where}")
        )
        self.read.add(path.resolve())
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            text = content.decode("latin-1")
            if without_comments(text).isascii():
                return text
            line = content.count(b"\n", 0, error.start) + 1
            raise RtlError(
                f"cannot read the {what} {path}: not UTF-8 text outside comments (line {line}){where}"
            ) from error

    def is_inside(self, path: Path) -> bool:
        """Tell whether a file lies in the project, links followed."""
        return any(path.resolve().is_relative_to(root) for root in self.roots)

    def require_inside(self, path: Path, place: Place) -> None:
        """Raise: RtlError: a path leaves the project's folder."""
        if not self.is_inside(path):
            folders = ", ".join(map(str, self.roots))
            raise RtlError(
                f"{path} leaves the project's folder ({place}); accepted: files below {folders}, "
                "or --root FOLDER"
            )

    def shown(self, path: Path) -> str:
        """Return the name of a file in messages: below the project's folder."""
        file = path.resolve()
        return next(
            (str(file.relative_to(root)) for root in self.roots if file.is_relative_to(root)), str(path)
        )


def _roots(named: ProjectFiles, current: Path) -> list[Path]:
    """Return the folders of a project: the current one if all that is named lies there, else those of what is
    named."""
    if named.root is not None:
        if not named.root.is_dir():
            raise RtlError(f"no such folder: --root {named.root}")
        return [named.root.resolve()]
    files = (*named.files, *named.libraries, *named.lists, *named.near_lists)
    folders = [path.resolve().parent for path in files] + [path.resolve() for path in named.folders]
    if all(folder.is_relative_to(current) for folder in folders):
        return [current]
    return list(dict.fromkeys(folders))


# ---- FIRRTL ----------------------------------------------------------------------------------------------


def _read_firrtl(reader: _Reader, arguments: Arguments) -> Project:
    """Return a design in FIRRTL; Verilog beside it is a library."""
    named = reader.named
    designs = [source for source in arguments.sources if Path(source.value).suffix == ".fir"]
    if len(designs) > 1:
        raise RtlError(f"{len(designs)} files of FIRRTL; accepted: one")
    if named.parameters:
        raise RtlError("parameters of FIRRTL; accepted: of Verilog and SystemVerilog")
    text = reader.text(Path(designs[0].value), designs[0].place, "design")
    circuit = _CIRCUIT.search(text)
    top = named.top or (circuit[1] if circuit else "")
    others = [source for source in arguments.sources if source is not designs[0]]
    libraries = [reader.text(Path(source.value), source.place, "design") for source in others]
    libraries += [reader.text(path, "", "library") for path in named.libraries]
    if libraries:
        libraries = [_with_macros("\n".join(libraries), VERILOG, named)]
    else:
        text = _with_macros(text, FIRRTL, named)
    text = with_libraries(text, language=FIRRTL, libraries=libraries)
    return Project(text=text, language=FIRRTL, top=top, read=frozenset(reader.read))


def _with_macros(text: str, language: str, named: ProjectFiles) -> str:
    return with_macros(text, language=language, define=named.define, undefine=named.undefine)


# ---- Verilog ---------------------------------------------------------------------------------------------


def _read_verilog(reader: _Reader, arguments: Arguments) -> Project:
    define, undefine = _macros(reader.named, arguments)
    macros = {DEFINED: "1"} | {name: text for name, _, text in (one.partition("=") for one in define)}
    for name in undefine:
        macros.pop(name, None)
    finder = _Finder(reader, arguments)
    expander = Expander(find=finder.included, read=reader.design_text, shown=reader.shown, macros=macros)
    parts, languages = list[Source](), set[str]()
    for file, place in _distinct(arguments.sources):
        languages.add(_language(file, place))
        parts += _expanded(expander, file, place)
    top = reader.named.top or (arguments.top[-1].value if arguments.top else "")
    if not top:
        code = _code(parts)
        top = find_top(definitions(code), code)
    for path in reader.named.libraries:
        reader.text(path, "", "library")
        parts += _expanded(expander, path, "")
    for file, place in finder.missing_modules(parts, expander):
        languages.add(_language(file, place))
        parts += _expanded(expander, file, place)
    files, paths, parts = _memories(reader, parts)
    if any(_WORDS_FROM_FILE.search(part.code) for part in parts):
        named = [*(parameter.value for parameter in arguments.parameters), *define]
        _add_memories(reader, named, arguments.sources, files, paths)
    text = "".join(part.text for part in parts)
    text = with_parameters(text, _code(parts), top=top, values=arguments.parameters)
    language = SYSTEMVERILOG if SYSTEMVERILOG in languages else VERILOG
    text = with_macros(text, language=language, define=define, undefine=undefine)
    read = frozenset(reader.read | {path.resolve() for path in paths.values()})
    return Project(text=text, language=language, top=top, files=files, memory_paths=paths, read=read)


def _code(parts: Sequence[Source]) -> str:
    return "".join(part.code for part in parts)


def _distinct(sources: Sequence[Placed]) -> Iterator[tuple[Path, Place]]:
    """Yield source files, those that are named again once."""
    seen = set[Path]()
    for source in sources:
        path = Path(source.value)
        if path.resolve() not in seen:
            seen.add(path.resolve())
            yield path, source.place


def _language(file: Path, place: Place) -> str:
    try:
        return language_of(file)
    except RtlError as error:
        raise RtlError(f"{error} ({place})" if place else str(error)) from error


def _expanded(expander: Expander, file: Path, place: Place) -> list[Source]:
    """Return the parts of a source file; Verilog with names that are words of SystemVerilog says so."""
    parts = expander.expand(file, place)
    if language_of(file) == VERILOG and uses_old_names(_code(parts)):
        lines = [f"{line}\n" for line in OLD_KEYWORDS]
        first, last = (Source(text=line, code=" " * (len(line) - 1) + "\n", file=file) for line in lines)
        return [first, *parts, last]
    return parts


def _macros(named: ProjectFiles, arguments: Arguments) -> tuple[list[str], list[str]]:
    """Return the macros that are defined and undefined; those of the command line win over lists."""
    state = dict[str, str | None]()
    for macro in arguments.macros:
        is_defined, content = macro.value.startswith("-D"), macro.value[2:]
        try:
            with_macros(
                "", language=VERILOG, define=[content] * is_defined, undefine=[content] * (not is_defined)
            )
        except RtlError as error:
            raise RtlError(f"{error} ({macro.place})") from error
        state[content.partition("=")[0]] = content if is_defined else None
    for name in [*(content.partition("=")[0] for content in named.define), *named.undefine]:
        state.pop(name, None)
    define = [content for content in state.values() if content is not None]
    undefine = [name for name, content in state.items() if content is None]
    return [*define, *named.define], [*undefine, *named.undefine]


class _Finder:
    """Looks for included files and missing modules, in the order of Verilator."""

    def __init__(self, reader: _Reader, arguments: Arguments) -> None:
        self.reader, self.arguments = reader, arguments
        for folder in arguments.folders:
            if not _answers(Path(folder.value).is_dir):
                raise RtlError(f"no such folder: {folder.value} ({folder.place})")
        self.folders = [Path(folder.value) for folder in arguments.folders]
        if reader.base is not None:
            self.folders.append(reader.base)

    def included(self, name: str, file: Path, place: Place) -> Path:
        """Return an included file: from a folder of `-I`, the current one, or that of the file.

        Raises: RtlError: there is none.
        """
        is_first = self.arguments.is_relative
        folders = [file.parent, *self.folders] if is_first else [*self.folders, file.parent]
        for folder in folders:
            if _answers((folder / name).exists):
                self.reader.require_inside(folder / name, place)
                return folder / name
        searched = ", ".join(dict.fromkeys(self.reader.shown(folder) for folder in folders))
        raise RtlError(f"no file to include: {name} ({place}); searched: {searched}")

    def missing_modules(self, parts: Sequence[Source], expander: Expander) -> Iterator[tuple[Path, Place]]:
        """Yield files of modules that are instantiated and not defined; `parts` grows in between."""
        waiting, done = list(self.arguments.libraries), set[str]()
        modules, read = list[Definition](), 0
        while True:
            modules += definitions(_code(parts[read:]))
            read = len(parts)
            missing = {kind for one in modules for kind in one.kinds} - {one.name for one in modules} - done
            library = next((one for one in waiting if self._defines(one, missing, expander)), None)
            if library is not None:
                waiting.remove(library)
                yield Path(library.value), library.place
                continue
            file = next((path for kind in sorted(missing) if (path := self._module_file(kind))), None)
            done |= missing if file is None else {file.stem}
            if file is None:
                return
            yield file, ""

    def _defines(self, library: Placed, missing: set[str], expander: Expander) -> bool:
        apart = Expander(
            find=expander.find, read=expander.read, shown=expander.shown, macros=dict(expander.macros)
        )
        code = _code(apart.expand(Path(library.value), library.place))
        return not missing.isdisjoint(one.name for one in definitions(code))

    def _module_file(self, kind: str) -> Path | None:
        ends = self.arguments.extensions or _EXTENSIONS
        paths = (folder / f"{kind}{end}" for folder in self.folders for end in ends)
        return next((path for path in paths if _answers(path.is_file) and self.reader.is_inside(path)), None)


# ---- memories --------------------------------------------------------------------------------------------


def _memories(
    reader: _Reader, parts: Sequence[Source]
) -> tuple[dict[str, bytes], dict[str, Path], list[Source]]:
    """Return the files of `$readmemh` and `$readmemb`, where they are looked for, and parts that name them.

    A name is relative to the current folder, as for a simulator, or to that of the file that has it. One that
    leaves that folder is replaced by one from the project's.
    """
    if not any(_WORDS_FROM_FILE.search(part.code) for part in parts):
        return {}, {}, list(parts)
    files, paths, renamed = dict[str, bytes](), dict[str, Path](), list[Source]()
    for part in parts:
        text, code = part.text, part.code
        for match in reversed([*_QUOTED.finditer(part.code)]):
            name = match[1]
            path = _memory_path(reader, name, part.file)
            if path is None:
                paths.setdefault(name, part.file.parent / name)
                continue
            plain = name if _is_plain(name) else reader.shown(path)
            content = _memory_words(path)
            if files.setdefault(plain, content) != content:
                raise _two_files(reader, name, paths[plain], path)
            paths[plain] = path
            text, code = (f"{t[: match.start(1)]}{plain}{t[match.end(1) :]}" for t in (text, code))
        renamed.append(Source(text=text, code=code, file=part.file))
    return files, paths, renamed


def _add_memories(
    reader: _Reader,
    texts: Iterable[str],
    sources: Sequence[Placed],
    files: dict[str, bytes],
    paths: dict[str, Path],
) -> None:
    """Add the files that values of parameters and macros name, from the current folder or a source's."""
    folders = dict.fromkeys(Path(source.value).parent for source in sources)
    for name in (match[1] for text in texts for match in _QUOTED.finditer(text)):
        candidates = (_memory_path(reader, name, folder / "source") for folder in folders)
        path = next((path for path in candidates if path is not None), None)
        if name not in files and _is_plain(name) and path is not None:
            files[name], paths[name] = _memory_words(path), path


def _memory_path(reader: _Reader, name: str, file: Path) -> Path | None:
    """Return the regular file of a name in a source file, None if there is none in the project."""
    folders = [file.parent] if reader.base is None else [reader.base, file.parent]
    paths = {path.resolve(): path for folder in folders if _answers((path := folder / name).is_file)}
    inside = [path for path in paths.values() if reader.is_inside(path)]
    if len(inside) > 1 and _memory_words(inside[0]) != _memory_words(inside[1]):
        raise _two_files(reader, name, *inside)
    return inside[0] if inside else None


def _memory_words(path: Path) -> bytes:
    return read_bounded(path, what="memory file", most_bytes=MEMORY_FILE_BYTES, error=RtlError)


def _two_files(reader: _Reader, name: str, one: Path, other: Path) -> RtlError:
    return RtlError(
        f"memory file {name} is two files: {reader.shown(one)} and {reader.shown(other)}; "
        "accepted: a name of one file"
    )


def _is_plain(name: str) -> bool:
    path = PurePosixPath(name)
    return str(path) == name and not path.is_absolute() and ".." not in path.parts
