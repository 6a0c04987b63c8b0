"""The functions of a C file, and which of them is meant when nobody says.

Belongs here: names only. Does not: reading a function.
"""

from __future__ import annotations

from pycparser import c_ast

from pipelines.hls.errors import HlsError
from pipelines.hls.preprocess import INCLUDE_FOLDER, parse

_NEVER_TOP = ("main", "init_array", "print_array")


def defined_functions(source: str, *, file: str = "program.c") -> tuple[str, ...]:
    """Names of the functions a C file defines, in source order; those of this engine's headers left out.

    Raises: HlsError: the text is not C.
    """
    own = str(INCLUDE_FOLDER)
    return tuple(
        n.decl.name
        for n in parse(source, file=file).ext
        if isinstance(n, c_ast.FuncDef) and not str(n.coord.file if n.coord else "").startswith(own)
    )


def default_top(source: str, stem: str, *, file: str = "program.c") -> str:
    """The function that becomes hardware when none is named.

    It is the one called like the file (`gemm`, `kernel_gemm` or `gemm_kernel` of gemm.c, `-` read as `_`),
    else the only one that is not `main`, `init_array` or `print_array`.

    Raises: HlsError: the file has no such function, or several.
    """
    names = [n for n in defined_functions(source, file=file) if n not in _NEVER_TOP]
    base = "".join(c if c.isalnum() else "_" for c in stem)
    for candidate in (base, f"kernel_{base}", f"{base}_kernel"):
        if candidate in names:
            return candidate
    if len(names) == 1:
        return names[0]
    known = ", ".join(names) or "none"
    raise HlsError(
        f"a file without --top must have a function {base} or kernel_{base}, or only one (there: {known})",
        f"{len(names)}",
        file=file,
    )
