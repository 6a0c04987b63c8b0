"""Collections of C programs that other people wrote, as rows: what `simfoundry import FOLDER` reads.

Every program is one of these, told apart by what is there:

* a line of a list: `PATH` or `PATH:TOP`, in the folder;
* a folder with `hlsfactory.toml` (`assets.hlsfactory`);
* a C file, with `NAME.json` beside `NAME.c` or without: the manifest of a kernel
  (`pipelines.programs.collections`), or per argument its input specification or its values.

A program that cannot be read is a rejected row with the reason. A process of its own reads each one, within
limits: a text of some hundred bytes can expand without end. Files behind links that leave the folder are
refused.
"""

from __future__ import annotations

import json
import os
import re
import resource
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from assets.configuration import read_parameters
from assets.database import write_database
from assets.deployments import Deployment, replacing_suite, writing_to
from assets.errors import FoundryError
from assets.hlsfactory import DESIGN_FILE, read_design
from assets.own_suites import (
    NAME_BYTES,
    ImportedSuite,
    clear_suite,
    label_suite,
    name_problem,
    require_own_name,
    require_suite_tools,
    suite_places,
)
from assets.resources import ProgressResource
from assets.settings import Configuration, Listener, Settings, ignore_progress
from assets.source_options import SourceOptions
from assets.step import read_rows
from assets.suites import Programs
from assets.user_programs import missing_name, read_user_program
from pipelines.base import files
from pipelines.base.sandbox import MachineFault
from pipelines.base.workers import ENDED, ChildProcess, Progress
from pipelines.c import HlsError
from pipelines.dataset.splits import BY_KERNEL, freeze_split
from pipelines.programs import ALL_SUITES, ProgramError, program_from_file
from pipelines.programs.collections import kernel_rows
from pipelines.programs.rows import rejected_row
from pipelines.programs.specification import read_json_object
from pipelines.schemas import (
    OK,
    DesignRow,
    LabelRow,
    ProgramRow,
    table_spec,
    write_bytes_atomically,
    write_table,
)

STAGE = "kernel"
REASONS_NAMED = 3
"""Programs whose reasons an error repeats."""
MOST_PROGRAMS = 2_000
MOST_ENTRIES = 200_000
"""Files and folders that are looked at."""
MOST_BYTES = 64 << 20
"""All C files of a collection, and the JSON files beside them."""
MOST_PROGRAM_BYTES = 1 << 20
MOST_JSON_BYTES = 1 << 20
MOST_LIST_BYTES = 1 << 20
READING_S = 60.0
"""Processor time of reading one program; 100 KiB of C take 10 s."""
READING_BYTES = 3 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSource:
    """A program of a collection that is not yet read.

    Attributes:
        root: folder of the collection. file: C file, or that of a design of HLSFactory.
        top: function that the list names; None for the one that the file is about.
        problem: why it is not read.
    """

    root: Path
    file: Path
    top: str | None = None
    problem: str | None = None

    @property
    def place(self) -> str:
        """Path in the collection, as text."""
        return _shown(self.file.relative_to(self.root))


def find_programs(folder: Path, listed: Path | None = None) -> list[ProgramSource]:
    """Find the programs of a collection, by path, or in the order of a list.

    Raises: FoundryError: there is none, or more than a collection may have.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise FoundryError(f"not a folder: {folder}")
    sources = _walked(root) if listed is None else _listed(root, listed)
    if not sources:
        lacking = "no line with a path" if listed else f"no C file and no {DESIGN_FILE}"
        raise FoundryError(
            f"no programs: {lacking} ({listed or folder}); accepted: C programs, {DESIGN_FILE}, a release "
            "(manifest.json), or reports csynth.xml"
        )
    if len(sources) > MOST_PROGRAMS:
        raise FoundryError(
            f"{len(sources)} programs: {listed or folder}; accepted: at most {MOST_PROGRAMS}, such as those "
            "of a subfolder or a list (--list FILE)"
        )
    size_bytes = sum(_size(path) for s in sources for path in (s.file, s.file.with_suffix(".json")))
    if size_bytes > MOST_BYTES:
        raise FoundryError(
            f"{size_bytes >> 20} MiB of programs: {listed or folder}; accepted: at most "
            f"{MOST_BYTES >> 20} MiB"
        )
    return sources


def _size(path: Path) -> int:
    """Return the bytes of a file that would be read; a larger one is refused by itself."""
    try:
        size = path.lstat().st_size
    except OSError:
        return 0
    return size if size <= MOST_PROGRAM_BYTES else 0


def _walked(root: Path) -> list[ProgramSource]:
    """Return designs of HLSFactory, or where there is none, every C file; hidden files are left out.

    A manifest `FIELD/NAME.json` without its C file is a program, too: that file is missing.
    """
    paths, links = _entries(root)
    designs = [p for p in paths if p.name == DESIGN_FILE]
    if not designs:
        beside = {p.with_suffix("") for p in paths if p.suffix == ".c"}
        lonely = [p for p in paths if p.suffix == ".json" and p.with_suffix("") not in beside]
        paths += [p.with_suffix(".c") for p in lonely if p.parent.parent == root and _has_manifest(p, root)]
    sources = [ProgramSource(root=root, file=p) for p in designs or (p for p in paths if p.suffix == ".c")]
    outside = [ProgramSource(root=root, file=link, problem="a link to a folder elsewhere") for link in links]
    return sorted([*sources, *outside], key=lambda source: os.fsencode(source.file))


def _entries(root: Path) -> tuple[list[Path], list[Path]]:
    """Return the files below a folder, and the links to folders that lie elsewhere; no link is followed."""
    paths: list[Path] = []
    links: list[Path] = []
    count = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        count += len(folders) + len(names)
        if count > MOST_ENTRIES:
            raise FoundryError(f"too many files: {root}; accepted: at most {MOST_ENTRIES} files and folders")
        here = Path(place)
        paths += (here / name for name in names if not name.startswith("."))
        linked = (here / name for name in folders if (here / name).is_symlink())
        links += (path for path in linked if not path.resolve().is_relative_to(root))
    return paths, links


_LINE = re.compile(r"(?P<path>.*?)(?::(?P<top>[A-Za-z_]\w*))?")


def _listed(root: Path, listed: Path) -> list[ProgramSource]:
    text = files.read_text(listed, what="list", most_bytes=MOST_LIST_BYTES, error=FoundryError)
    sources: list[ProgramSource] = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line.partition("#")[0].strip())
        if match is None or not match["path"]:
            continue
        file = Path(os.path.normpath(root / match["path"]))
        if file.is_relative_to(root) and file != root:
            sources.append(ProgramSource(root=root, file=file, top=match["top"]))
        else:
            place = root / match["path"].replace("/", "-").strip(".-")
            sources.append(
                ProgramSource(root=root, file=place, problem=f"outside the folder: {match['path']}")
            )
    return sources


# ---- rows ------------------------------------------------------------------------------------------------


def read_programs(
    sources: Sequence[ProgramSource], suite: str, *, sizes: Sequence[str], listen: Listener = ignore_progress
) -> list[ProgramRow]:
    """Return the rows of the programs of a collection.

    A program of a name that another one has is named after its path, and one of several functions of a file
    after its function, too. A program whose syntax tree equals that of an earlier one is rejected.

    Args:   sizes: of kernels with a manifest.
    Raises: MachineFault: the machine had no time for a program.
    """
    reader = _Reader(suite=suite, sizes=tuple(sizes))
    rows: list[tuple[ProgramSource, ProgramRow]] = []
    failed = 0
    try:
        for number, source in enumerate(sources, 1):
            own = reader.rows(source)
            rows += ((source, row) for row in own)
            failed += any(row.status != OK for row in own)
            listen(
                Progress(step="programs", done=number, total=len(sources), failed=failed, latest=source.place)
            )
    finally:
        reader.end()
    return _distinct(rows, suite)


def _distinct(rows: Sequence[tuple[ProgramSource, ProgramRow]], suite: str) -> list[ProgramRow]:
    places: defaultdict[str, set[str]] = defaultdict(set)
    tops: defaultdict[str, set[str | None]] = defaultdict(set)
    for source, row in rows:
        places[row.name].add(source.place)
        tops[source.place].add(source.top)
    known: dict[str, ProgramRow] = {}
    first: dict[str, tuple[ProgramSource, ProgramRow]] = {}
    for source, row in rows:
        name = row.name if len(places[row.name]) == 1 else _path_name(source)
        if len(tops[source.place]) > 1 and source.top is not None:
            name = _cut(f"{name}-{source.top}")
        own = replace(row, name=name, operators=(name,) if row.operators == (row.name,) else row.operators)
        other, earlier = first.setdefault(own.ast_hash or own.program_id, (source, own))
        if other is not source:
            reason = "listed twice" if other == source else f"equals {earlier.name} but for its spelling"
            own = _rejected(source, name, reason, suite)
        known.setdefault(own.program_id, own)
    return list(known.values())


def _path_name(source: ProgramSource) -> str:
    """Return a name made of the path, short enough for names of files made of it."""
    path = source.place.removesuffix(f"/{DESIGN_FILE}").removesuffix(".c")
    return _cut(path.replace("/", "-"))


def _cut(name: str) -> str:
    return name.encode()[-NAME_BYTES:].decode("utf-8", "ignore")


def _natural_name(source: ProgramSource) -> str:
    file = source.file
    return _shown(Path(file.parent.name if file.name == DESIGN_FILE else file.stem))


def _rejected(source: ProgramSource, name: str, reason: str, suite: str) -> ProgramRow:
    plain = reason.replace(f"{source.root}/", "").encode("utf-8", "replace").decode()
    place = (source.place, source.top or "")
    return rejected_row(name, plain, place=place, suite=suite, stage=STAGE)


def _shown(path: Path) -> str:
    """Return a path as text of a table: bytes that are not UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


@dataclass(slots=True, kw_only=True)
class _Reader:
    """A process that reads programs, started when it is first needed and again when it had to be ended."""

    suite: str
    sizes: tuple[str, ...]
    child: ChildProcess | None = None

    def rows(self, source: ProgramSource) -> list[ProgramRow]:
        """Return the rows of a program; one that cannot be read has one rejected row."""
        answer = source.problem or _early_problem(source) or self._answer(source)
        if isinstance(answer, str):
            name = _natural_name(source).encode()[:NAME_BYTES].decode("utf-8", "ignore")
            return [_rejected(source, name, answer, self.suite)]
        return answer

    def _answer(self, source: ProgramSource) -> list[ProgramRow] | str:
        child = self.child
        if child is None:
            child = self.child = ChildProcess(_serve, self.suite, self.sizes)
            child.receive()
        try:
            child.send(source)
            return child.receive(READING_S)
        except TimeoutError as error:
            self.end()
            return f"reading it took {error}"
        except MachineFault as error:
            if str(error) != ENDED:
                raise
            ending = child.ending()
            self.end()
            return f"reading it: the process {ending}"

    def end(self) -> None:
        """End the process, if there is one."""
        if self.child is not None:
            self.child.end()
            self.child = None


def _serve(connection: Connection, suite: str, sizes: tuple[str, ...]) -> None:
    """Answer sources with their rows, or with what is wrong, until the other end is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (READING_BYTES, READING_BYTES))
    connection.send(None)
    while True:
        try:
            source = connection.recv()
        except EOFError:
            return
        try:
            answer: list[ProgramRow] | str = _read(source, suite, sizes)
        except (ProgramError, HlsError, FoundryError) as error:
            answer = str(error)
        except MemoryError:
            answer = f"reading it took more than {READING_BYTES >> 30} GiB"
        except RecursionError:
            answer = "nested too deep"
        connection.send(answer)


def _early_problem(source: ProgramSource) -> str | None:
    """Return why a file is not read at all."""
    if (problem := name_problem(source.file)) is not None:
        return problem
    try:
        inside = source.file.resolve(strict=True).is_relative_to(source.root)
    except (OSError, RuntimeError):
        return f"no such file: {source.place}"
    return None if inside else f"a link to a file elsewhere: {source.place}"


def _read(source: ProgramSource, suite: str, sizes: tuple[str, ...]) -> list[ProgramRow]:
    """Return the rows of a program.

    Raises: ProgramError, HlsError, FoundryError: it is not acceptable.
    """
    if source.file.name == DESIGN_FILE:
        design = read_design(source.file, source.root)
        program = read_user_program(design.file, source.top or design.top, options=design.options)
        return [_row(program, design.name, suite)]
    files.read_bounded(source.file, what="C source", most_bytes=MOST_PROGRAM_BYTES, error=ProgramError)
    beside = source.file.with_suffix(".json")
    values = _values(beside, source.root) if os.path.lexists(beside) else {}
    if _is_manifest(values):
        rows = kernel_rows(beside, suite=suite, stage=STAGE, sizes=sizes)
        if source.top not in (None, rows[0].top):
            raise ProgramError(f"top function {source.top}: its manifest has {rows[0].top}")
        return rows
    program = _own_program(source, values)
    return [_row(program, program.name, suite)]


def _row(program: ProgramRow, name: str, suite: str) -> ProgramRow:
    return replace(program, name=name, operators=(name,), suite=suite, stage=STAGE)


def _values(beside: Path, root: Path) -> dict[str, Any]:
    if not beside.resolve().is_relative_to(root):
        raise ProgramError(f"a link to a file elsewhere: {beside}")
    text = files.read_text(beside, what="JSON file", most_bytes=MOST_JSON_BYTES, error=ProgramError)
    try:
        return read_json_object(text)
    except ProgramError as error:
        raise ProgramError(f"{error} ({beside})") from error


def _has_manifest(path: Path, root: Path) -> bool:
    with suppress(ProgramError):
        values = _values(path, root)
        return isinstance(values.get("top"), str) and isinstance(values.get("sizes"), dict)
    return False


def _is_manifest(values: Mapping[str, Any]) -> bool:
    return isinstance(values.get("top"), str) or isinstance(values.get("sizes"), dict)


def _own_program(source: ProgramSource, values: Mapping[str, Any]) -> ProgramRow:
    """Return the program of a C file with the inputs that are beside it.

    Files of its folder define what it lacks; headers may be anywhere in the collection.
    """
    inputs = {n: v if isinstance(v, dict) else {"kind": "values", "values": v} for n, v in values.items()}
    here = source.file.parent
    options = SourceOptions(include=(here, source.root), ranges=_ranges(inputs), sizes=_sizes(values))
    program = read_user_program(source.file, source.top, options=options)
    if missing_name(program.source, program.top) is not None:
        program = read_user_program(source.file, source.top, options=replace(options, others=(here,)))
    if not inputs:
        return program
    inputs = json.loads(program.inputs) | inputs
    return program_from_file(source.file, top=program.top, source=program.source, inputs=json.dumps(inputs))


def _ranges(inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ranges of whole numbers, from which the sizes of pointer arguments follow."""
    bounds: dict[str, tuple[Any, Any]] = {}
    for name, kind in inputs.items():
        if kind.get("kind") == "uniform":
            bounds[name] = (kind.get("low"), kind.get("high"))
        elif (value := kind.get("value", kind.get("values"))) is not None and type(value) is int:
            bounds[name] = (value, value + 1)
    whole = {name: ends for name, ends in bounds.items() if all(type(end) is int for end in ends)}
    return tuple(f"{name}={low}:{high}" for name, (low, high) in whole.items() if low < high)


def _sizes(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the elements of arguments whose values are flat lists."""
    flat = {n: v for n, v in values.items() if isinstance(v, list) and v and not isinstance(v[0], list)}
    return tuple(f"{name}={len(value)}" for name, value in flat.items())


# ---- suites ----------------------------------------------------------------------------------------------

COLLECTION_FILE = "collection.json"
"""In the folder of a suite of programs that were imported: what `run --suite` may label again."""


def import_programs(
    deployment: Deployment,
    folder: Path,
    suite: str,
    *,
    listed: Path | None = None,
    progress: ProgressResource | None = None,
) -> ImportedSuite:
    """Read a collection and label its programs under params.yaml; the suite replaces one of that name.

    Args:    listed: list of the programs; None for all of the folder.
    Raises:  FoundryError: nothing or too much is there, the name is taken, or another process writes to the
             suite. ToolMissing: an engine is not installed.
    """
    require_own_name(suite, ALL_SUITES)
    own = deployment.of_suite(suite)
    settings = Settings(configuration=read_parameters(deployment.project), deployment=own)
    require_suite_tools(settings)
    listener = _listener(progress)
    sources = find_programs(folder, listed)
    sizes = settings.group(Programs).polybench_sizes
    programs = read_programs(sources, suite, sizes=sizes, listen=listener("programs"))
    _require_some(programs, suite)
    return _label(settings, suite, programs, listener)


def _require_some(programs: Sequence[ProgramRow], suite: str) -> None:
    """Refuse a suite without a program that can be read: an earlier one of its name stays."""
    if all(program.status != OK for program in programs):
        reasons = "; ".join(f"{p.name}: {p.reason}" for p in programs[:REASONS_NAMED])
        more = f"; and {len(programs) - REASONS_NAMED} more" if len(programs) > REASONS_NAMED else ""
        raise FoundryError(f"no program can be read, suite {suite} is left as it was: {reasons}{more}")


def label_again(
    deployment: Deployment,
    configuration: Configuration,
    suite: str,
    *,
    progress: ProgressResource | None = None,
) -> ImportedSuite:
    """Label the programs of an imported collection under another configuration.

    Raises: FoundryError: there is no such suite, or it is none of programs. ToolMissing: an engine is not
            installed.
    """
    own = deployment.of_suite(suite)
    if not (own.data_dir / COLLECTION_FILE).is_file():
        raise FoundryError(
            f"no imported collection: suite {suite}; accepted: one of `simfoundry import FOLDER`"
        )
    settings = Settings(configuration=configuration, deployment=own)
    require_suite_tools(settings)
    return _label(settings, suite, read_rows(settings, "programs", suite), _listener(progress))


def _listener(progress: ProgressResource | None) -> Callable[[str], Listener]:
    if progress is None:
        return lambda _: ignore_progress
    return lambda title: progress.listener(title, lambda _: None)


def _label(
    settings: Settings, suite: str, programs: Sequence[ProgramRow], listener: Callable[[str], Listener]
) -> ImportedSuite:
    """Replace the tables of a suite by those of some programs; the split is over those with an ok label."""
    own = settings.deployment
    with writing_to(own.data_dir):
        with replacing_suite(own) as new:
            clear_suite(new)
            placed = replace(settings, deployment=new)
            rows = label_suite(placed, suite, programs, listener)
            labels: list[LabelRow] = read_rows(placed, "labels", suite)
            designs: list[DesignRow] = read_rows(placed, "designs", suite)
            owners = {design.design_id: design.program_id for design in designs}
            labelled = {owners[label.design_id] for label in labels if label.status == OK}
            first = suite_places([program for program in programs if program.program_id in labelled])
            places = freeze_split(programs, name=BY_KERNEL, existing=first)
            write_table(new.data_dir, table_spec("splits"), places, suite)
            content = json.dumps({"suite": suite, "programs": len(programs)}) + "\n"
            write_bytes_atomically(new.data_dir / COLLECTION_FILE, content.encode())
        write_database(own.data_dir)
    names = {program.program_id: program.name for program in programs}
    failures = [f"{p.name}: {p.reason}" for p in programs if p.status != OK]
    failures += [f"{names[owners[row.design_id]]}: {row.reason}" for row in labels if row.status != OK]
    return ImportedSuite(
        suite=suite,
        folder=own.data_dir,
        rows=rows | {"splits": len(places)},
        statuses=Counter(label.status for label in labels),
        parts=Counter(place.part for place in places if place.program_id in labelled),
        reasons=Counter(failures),
        programs=Counter(program.status for program in programs),
    )
