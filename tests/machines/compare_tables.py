"""Compare the table files of two machines: only versions of tools may differ.

    .venv/bin/python -m tests.machines.compare_tables ONE/data/tables OTHER/data/tables

Prints the number of equal files, and per other file the columns that differ, with the number of rows and the
first pair of values. Exits with 1 when a file is missing, or a column differs that does not hold a version.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def holds_version(column: str) -> bool:
    """Whether a column names versions of tools."""
    return column.endswith("version")


def differing_columns(one: pa.Table, other: pa.Table) -> Iterator[tuple[str, str]]:
    """Columns that differ, each with what differs."""
    if one.num_rows != other.num_rows:
        yield "rows", f"{one.num_rows} against {other.num_rows}"
        return
    for name in dict.fromkeys((*one.column_names, *other.column_names)):
        if name not in one.column_names or name not in other.column_names:
            yield name, "in one of the files alone"
            continue
        pairs = zip(one[name].to_pylist(), other[name].to_pylist(), strict=True)
        unequal = [pair for pair in pairs if repr(pair[0]) != repr(pair[1])]  # NaN equals NaN
        if unequal:
            first, second = (str(value)[:60] for value in unequal[0])
            yield name, f"{len(unequal)} of {one.num_rows} rows, first {first} against {second}"


def main() -> int:
    """Print the comparison; the exit status."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("folders", nargs=2, type=Path)
    one, other = arguments.parse_args().folders
    names = [sorted(str(p.relative_to(f)) for p in f.rglob("*.parquet")) for f in (one, other)]
    wrong = sorted(set(names[0]) ^ set(names[1]))
    for name in wrong:
        print(f"{name}: in one of the folders alone")
    both = sorted(set(names[0]) & set(names[1]))
    unequal = [name for name in both if (one / name).read_bytes() != (other / name).read_bytes()]
    print(f"{len(both) - len(unequal)} of {len(both)} table files are equal byte by byte")
    for name in unequal:
        tables = (pq.read_table(folder / name) for folder in (one, other))
        for column, difference in differing_columns(*tables):
            print(f"{name}: {column}: {difference}")
            if not holds_version(column):
                wrong.append(name)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
