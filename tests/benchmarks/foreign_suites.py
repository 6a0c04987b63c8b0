"""Shares of a foreign C suite that the engine accepts and labels, file by file, as the files stand.

    python -m tests.benchmarks.foreign_suites FOLDER [--files '**/*.c'] [--include DIR]... [--source DIR]...

Each file that matches is a program, as `simfoundry label FOLDER --targets cycles` takes it: its top function
is the one it is about, or with --functions each function that is not static. --every N takes each N-th.
Accepted: a design exists. Labelled: its outputs equal native C. Wrong: they differ, or an engine failed.
Every other program is listed with its reason.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pycparser import c_ast

import simfoundry as sf
from assets.errors import FoundryError
from pipelines.c import BYTE_ORDER_MARK, HlsError, bundle_source
from pipelines.c.text.preprocess import parse
from pipelines.programs import ProgramError
from tests.benchmarks.harness import options_parser, print_row


def programs(options: argparse.Namespace) -> Sequence[tuple[Path, str | None]]:
    """Files, or functions of files, in order of name."""
    files = [f for f in sorted(options.folder.glob(options.files)) if f.name not in options.skip]
    if not options.functions:
        return [(file, None) for file in files][:: options.every]
    return [(file, name) for file in files for name in functions(file, options)][:: options.every]


def functions(file: Path, options: argparse.Namespace) -> list[str | None]:
    """Functions of a file that are not static; None alone for a file that cannot be read."""
    macros = (macro.partition("=") for macro in options.define)
    lines = "".join(f"#define {name} {text if equals else 1}\n" for name, equals, text in macros)
    try:
        text = bundle_source(file, include_folders=[file.parent, *options.include])
        tree = parse(f'{lines}# 1 "{file.name}"\n{text.removeprefix(BYTE_ORDER_MARK)}', file=file.name)
    except HlsError:
        return [None]
    own = (n for n in tree.ext if isinstance(n, c_ast.FuncDef) and str(n.coord.file) == file.name)
    return [n.decl.name for n in own if "static" not in n.decl.storage and n.decl.name != "main"]


def verdict(file: Path, top: str | None, options: argparse.Namespace) -> tuple[bool, str, str]:
    """Whether the engine accepts a program, its status, and the reason."""
    try:
        answer = sf.label(
            file,
            top,
            define=options.define,
            include=(file.parent, *options.include),
            others=(file.parent, *options.source),
            ranges=options.range,
            sizes=options.size,
            targets=("cycles",),
        )
    except (HlsError, ProgramError, FoundryError) as error:
        return False, "rejected", str(error)
    label = answer["label"]
    return answer["design"]["status"] == "ok", str(label["status"]), str(label["reason"] or "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line per program that is not ok, and the shares."""
    parser = options_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", default="*.c")
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--source", type=Path, action="append", default=[])
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--range", action="append", default=[])
    parser.add_argument("--size", action="append", default=[])
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--skip", action="append", default=[], help="Names of files that are no programs.")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    chosen = programs(options)
    for file, top in chosen:
        accepted, status, reason = verdict(file, top, options)
        counts.update([status, *(["accepted"] if accepted else [])])
        if status != "ok":
            print(f"{file.relative_to(options.folder)} {top or ''}: {status}: {reason}", flush=True)
    total = max(1, len(chosen))
    shares = (f"{counts[name] / total:.0%}" for name in ("accepted", "ok"))
    print_row(options.folder.name, len(chosen), *shares, counts["tool_error"])


if __name__ == "__main__":
    main()
