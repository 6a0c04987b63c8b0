"""The functions of a C file, and which of them is meant when nobody says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast

from pipelines.hls.errors import HlsError
from pipelines.hls.preprocess import INCLUDE_FOLDER, parse

_NEVER_TOP = ("main", "init_array", "print_array")


def _definitions(source: str, file: str) -> dict[str, c_ast.FuncDef]:
    own = str(INCLUDE_FOLDER)
    return {
        n.decl.name: n
        for n in parse(source, file=file).ext
        if isinstance(n, c_ast.FuncDef) and not str(n.coord.file if n.coord else "").startswith(own)
    }


def defined_functions(source: str, *, file: str = "program.c") -> tuple[str, ...]:
    """Names of the functions a C file defines, in source order; those of this engine's headers left out.

    Raises: HlsError: the text is not C.
    """
    return tuple(_definitions(source, file))


def default_top(source: str, stem: str, *, file: str = "program.c") -> str:
    """The function that becomes hardware when none is named.

    It is the one called like the file (`gemm`, `kernel_gemm` or `gemm_kernel` of gemm.c, `-` read as `_`),
    else the only one that is not `main`, `init_array` or `print_array`, else the only one of these that no
    other one calls.

    Raises: HlsError: the file has no such function, or several.
    """
    definitions = {n: d for n, d in _definitions(source, file).items() if n not in _NEVER_TOP}
    base = "".join(c if c.isalnum() else "_" for c in stem)
    for candidate in (base, f"kernel_{base}", f"{base}_kernel"):
        if candidate in definitions:
            return candidate
    called = {c for name, d in definitions.items() for c in _called_names(d.body) if c != name}
    for candidates in (list(definitions), [n for n in definitions if n not in called]):
        if len(candidates) == 1:
            return candidates[0]
    known = ", ".join(definitions) or "none"
    raise HlsError(
        f"a file without --top must have a function {base} or kernel_{base}, or only one that no other one "
        f"calls (there: {known})",
        f"{len(definitions)}",
        file=file,
    )


def _called_names(node: Any) -> Iterator[str]:
    """Names that a piece of C uses as functions."""
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        yield str(node.name.name)
    for child in node:
        yield from _called_names(child)
