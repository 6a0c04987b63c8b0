"""Audit of collections of kernels: manifests, numbers, features of C, and kernels too much alike.

    python -m tests.benchmarks.audit_kernels [FOLDER]... [--write]

Without a folder it audits `written` and `untouched` together. --write writes the features of C first.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from pipelines.programs.collections import (
    WRITTEN_FOLDER,
    audit_collection,
    read_collection,
    write_features,
)
from tests.benchmarks.harness import options_parser, print_header, print_row
from tests.benchmarks.written_kernels import UNTOUCHED_FOLDER


def main() -> None:
    """Print the kernels by field, the share of each construct, and what is wrong."""
    parser = options_parser(__doc__)
    parser.add_argument("folders", type=Path, nargs="*", default=[WRITTEN_FOLDER, UNTOUCHED_FOLDER])
    parser.add_argument("--write", action="store_true", help="write the features of C into the manifests")
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
