"""Audit of collections of kernels: manifests, numbers, features of C, and kernels too much alike.

    python -m tests.benchmarks.audit_kernels [FOLDER]... [--write]
    python -m tests.benchmarks.audit_kernels --release v3

Without a folder it audits `written` and `untouched` together. --write writes the features of C first.
--release compares the untouched kernels with the programs of a release: none may have half of a kernel's
runs of tokens.
"""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from pathlib import Path

import polars as pl

import simfoundry as sf
from pipelines.programs.collections import (
    SHARED_RUNS,
    WRITTEN_FOLDER,
    audit_collection,
    read_collection,
    runs_of,
    write_features,
)
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.written_kernels import UNTOUCHED_FOLDER


def main() -> None:
    """Print the kernels by field, the share of each construct, and what is wrong."""
    parser = options_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="*", default=[WRITTEN_FOLDER, UNTOUCHED_FOLDER])
    parser.add_argument("--write", action="store_true", help="write the features of C into the manifests")
    parser.add_argument("--release", help="name or folder of a release to compare the untouched kernels with")
    options = parser.parse_args()
    if options.release:
        sys.exit("\n".join(compare_with_release(options.release)) or None)
    folders: list[Path] = options.folders
    problems: list[str] = []
    print_header("collection | kernels | fields | constructs of C, share of the kernels")
    for place, folder in enumerate(folders):
        if options.write:
            write_features(folder)
        problems += audit_collection(folder, *folders[:place])
        kernels = read_collection(folder)
        counts = Counter(feature for kernel in kernels for feature in kernel.manifest.features)
        shares = ", ".join(f"{name} {count / len(kernels):.0%}" for name, count in counts.most_common())
        print_row(folder.name, len(kernels), len({kernel.field for kernel in kernels}), shares)
    sys.exit("\n".join(problems) or None)


def compare_with_release(release: str) -> list[str]:
    """Print how much of the untouched kernels one program of a release has; return the kernels that leak."""
    programs = (
        sf.release(release)["programs"]
        .filter(pl.col("source").is_not_null())
        .select("name", "source")
        .collect()
    )
    places: dict[tuple[str, ...], set[str]] = {}
    for name, source in programs.iter_rows():
        for run in runs_of(source):
            places.setdefault(run, set()).add(name)
    problems: list[str] = []
    shares: list[float] = []
    for kernel in read_collection(UNTOUCHED_FOLDER):
        runs = runs_of(kernel.text)
        shared = Counter(name for run in runs for name in places.get(run, ()))
        name, count = max(shared.items(), key=lambda pair: (pair[1], pair[0]), default=("none", 0))
        shares.append(count / len(runs))
        if shares[-1] >= SHARED_RUNS:
            problems.append(f"{kernel.field}/{kernel.name}: {name} has {shares[-1]:.0%} of its runs")
    print_header(
        "release | programs | untouched kernels | share of a kernel's runs in one program, median | most"
    )
    print_row(release, programs.height, len(shares), f"{statistics.median(shares):.1%}", f"{max(shares):.1%}")
    return problems


if __name__ == "__main__":
    main()
