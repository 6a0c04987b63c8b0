"""The files of an RTL design as commands name them: which they are, and how messages name them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipelines.rtl.reuse.building import Source
from pipelines.rtl.reuse.errors import MissingMemoryFile, RtlError
from pipelines.rtl.reuse.file_lists import Placed
from pipelines.rtl.reuse.languages import VERILOG, with_macros
from pipelines.rtl.reuse.modules import read_parameter
from pipelines.rtl.reuse.projects import Project, ProjectFiles
from pipelines.rtl.reuse.schedules import NO_CLOCKS, Clock, read_clocks
from simfoundry.questions import ProjectQuestion

_COPY = re.compile(r"(?<![\w/])design\.s?v:(?=\d)")


def _is_folder(value: str) -> bool:
    """Tell whether a variable is a folder: file lists get no others, as some are secret."""
    try:
        return Path(value).is_dir()
    except (OSError, ValueError):
        return False


def project_files(question: ProjectQuestion) -> ProjectFiles:
    """Return what a question names."""
    files = question.files
    return ProjectFiles(
        files=[Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files],
        libraries=[Path(path) for path in question.library],
        lists=[Path(path) for path in question.file_list],
        near_lists=[Path(path) for path in question.near_list],
        folders=[Path(path) for path in question.include],
        root=None if question.root is None else Path(question.root),
        define=question.define,
        undefine=question.undefine,
        parameters=question.parameter,
        variables={name: value for name, value in os.environ.items() if _is_folder(value)},
        top=question.top,
    )


def require_forms(
    *, define: Sequence[str], undefine: Sequence[str], parameter: Sequence[str], clock: Sequence[str] = ()
) -> None:
    """Check the texts of options, before any file is read. Raises: RtlError: one has another form."""
    with_macros("", language=VERILOG, define=define, undefine=undefine)
    for text in parameter:
        read_parameter(Placed(value=text, place="-G"))
    read_clocks(clock)


@contextmanager
def naming_file(named: ProjectFiles) -> Iterator[None]:
    """Let messages name the user's file where tools name a copy; joined with libraries it has other lines."""
    try:
        yield
    except MissingMemoryFile:
        raise
    except RtlError as error:
        if named.libraries or len(named.files) != 1:
            raise
        name = named.files[0].name.replace("\\", r"\\")
        raise RtlError(_COPY.sub(f"{name}:", str(error))) from error


def project_label(named: ProjectFiles) -> str:
    """Return the name of a design in messages."""
    return str(next(iter((*named.files, *named.lists, *named.near_lists)), "without files"))


@contextmanager
def naming_memory_files(project: Project) -> Iterator[None]:
    """Let messages say why a file of a memory cannot be read."""
    try:
        yield
    except MissingMemoryFile as error:
        project.require_memory_file(error.name)
        raise


def source_of(project: Project, question: ProjectQuestion, clocks: Mapping[str, Clock] = NO_CLOCKS) -> Source:
    """Return how the text of a project is read."""
    return Source(
        language=project.language,
        files=project.files,
        unroll_limit=question.unroll_limit,
        clocks=clocks,
    )


def existing_files(project: Project) -> list[Path]:
    """Return the files that were read and are still there."""
    return [file for file in project.read if file.exists()]
