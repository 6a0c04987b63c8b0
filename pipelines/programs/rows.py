"""Rows of the programs table: from the catalogue of kernels, and from a C file of the user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.base.identity import canonical_json, content_hash
from pipelines.c import SOURCE_LIMIT_BYTES
from pipelines.programs.catalogue import KERNELS, SIZES, SUITES, Kernel
from pipelines.programs.data import read_text
from pipelines.programs.errors import ProgramError
from pipelines.programs.normalised import ast_hash_or_none
from pipelines.programs.specification import read_json_object, read_specification
from pipelines.schemas import OK, REJECTED, ProgramRow

USER_SUITE = "user"
CUSTOM_SIZE = "custom"

_KERNEL_FOLDER = Path(__file__).parent / "kernels"
_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def kernel_programs(*, suites: Sequence[str], sizes: Sequence[str]) -> list[ProgramRow]:
    """Return the rows of the kernels of some suites at some sizes, in the order of the catalogue.

    Args:
        suites: of SUITES.
        sizes: of SIZES.

    Raises: ProgramError: an unknown suite or size.
    """
    _require_known("suite", suites, SUITES)
    _require_known("size", sizes, SIZES)
    return [
        _kernel_row(kernel, size)
        for kernel in KERNELS
        if kernel.suite in suites
        for size in SIZES
        if size in sizes
    ]


def program_from_file(
    path: Path, *, top: str, inputs: str | None = None, source: str | None = None
) -> ProgramRow:
    """Return the row of a C file from anywhere; suite user, size custom.

    Args:
        path: C source in UTF-8, at most 4 MiB.
        source: the program's text when it is already read, with its local headers inlined.
        top: name of the top function; the HLS front end checks later that the file has it.
        inputs: JSON input specification; None for the default of every argument.

    Raises: ProgramError: the file, the name or the specification is not acceptable.
    """
    if not _C_NAME.fullmatch(top):
        raise ProgramError(f"top function is not a C name: {top!r}")
    text = read_text(path, what="C source", limit_bytes=SOURCE_LIMIT_BYTES) if source is None else source
    specification = "{}" if inputs is None else inputs
    read_specification(specification)
    return program_row(
        name=path.stem,
        suite=USER_SUITE,
        stage="evaluation",
        size=CUSTOM_SIZE,
        parameters={},
        source=text,
        top=top,
        inputs=read_json_object(specification),
    )


def _kernel_row(kernel: Kernel, size: str) -> ProgramRow:
    parameters = {name: values[SIZES.index(size)] for name, values in kernel.sizes.items()}
    defines = "".join(f"#define {name} {value}\n" for name, value in parameters.items())
    return program_row(
        name=kernel.name,
        suite=kernel.suite,
        stage="kernel",
        size=size,
        parameters=parameters,
        source=defines + _kernel_text(kernel.name),
        top=kernel.top,
        inputs={
            argument: {k: (parameters.get(v, v) if isinstance(v, str) else v) for k, v in kind.items()}
            for argument, kind in kernel.inputs.items()
        },
    )


def program_row(
    *,
    name: str,
    suite: str,
    stage: str,
    size: str,
    parameters: Mapping[str, int],
    source: str,
    top: str,
    inputs: Mapping[str, Any],
    operators: tuple[str, ...] = (),
    graph: Mapping[str, Any] | None = None,
    parent: str | None = None,
) -> ProgramRow:
    """Return a row whose id hashes source, top and inputs; columns of language models are null.

    Args:
        name, suite, stage, size: as the columns of the table.
        parameters: value of each size macro.
        source: complete C text except headers in angle brackets.
        top: name of the top function.
        inputs: input specification; see docs/programs.md.
        operators: names of its operators; the program's name when empty.
        graph: of the operators, for a program of several.
        parent: id of the program this one was derived from.
    """
    specification = canonical_json(inputs)
    return ProgramRow(
        program_id=content_hash(source, top, specification),
        name=name,
        suite=suite,
        stage=stage,
        size=size,
        parameters=canonical_json(parameters),
        source=source,
        source_bytes=len(source.encode("utf-8")),
        top=top,
        inputs=specification,
        graph=None if graph is None else canonical_json(graph),
        operators=operators or (name,),
        parent=parent,
        root=None,
        ast_hash=ast_hash_or_none(source, top),
        prompt=None,
        prompt_sha256=None,
        model=None,
        reply_sha256=None,
        prompt_tokens=None,
        completion_tokens=None,
        reply_cost=None,
        status=OK,
        reason=None,
    )


def rejected_row(name: str, reason: str, *, place: Sequence[str], suite: str, stage: str) -> ProgramRow:
    """Return the row of a program that cannot be read, without its text.

    Args: place: where it is in its suite, for the row's id.
    """
    row = program_row(
        name=name,
        suite=suite,
        stage=stage,
        size=CUSTOM_SIZE,
        parameters={},
        source="",
        top=name,
        inputs={},
    )
    identity = content_hash(suite, *place, reason)
    return replace(row, program_id=identity, status=REJECTED, reason=reason, ast_hash=None)


@cache
def _kernel_text(name: str) -> str:
    return (_KERNEL_FOLDER / f"{name}.c").read_text(encoding="utf-8")


def _require_known(what: str, names: Sequence[str], accepted: Sequence[str]) -> None:
    for name in names:
        if name not in accepted:
            raise ProgramError(f"unknown {what}: {name}; accepted: {', '.join(accepted)}")
