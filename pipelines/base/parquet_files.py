"""Parquet files that people name, opened when they decode within limits.

A file of some kB can hold a billion rows or a page that decodes to 2 GiB, and some damaged metadata ends the
process that reads it: pyarrow 25 does not catch every exception of its C++ library.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

import pyarrow.parquet as pq

from pipelines.base.tools import run_tool

MEMORY_LIMIT_BYTES = 640 << 20
_WORKER = Path(__file__).with_name("parquet_worker.py")
_TIMEOUT_S = 120.0


def open_parquet(
    file: BinaryIO,
    *,
    columns: Collection[str],
    most_rows: int,
    error: Callable[[str], Exception],
    encoded: Collection[str] = (),
) -> pq.ParquetFile:
    """Open a Parquet file whose wanted columns were decoded within limits by another process.

    Args:   file: one with a descriptor. columns: names of those that will be read. most_rows: of the file.
            encoded: columns of text that stay dictionaries with one index per row, for a long text can stand
            in every row.
    Raises: error: damaged, no Parquet file, more rows, or more than 640 MiB or 120 s of processor time.
    """
    question = {
        "path": f"/proc/{os.getpid()}/fd/{file.fileno()}",
        "columns": sorted(columns),
        "encoded": sorted(encoded),
        "most_rows": most_rows,
        "memory_bytes": MEMORY_LIMIT_BYTES,
    }
    argv = [sys.executable, "-I", str(_WORKER), json.dumps(question)]
    run = run_tool(argv, folder=Path("/"), timeout_s=_TIMEOUT_S, of_processor=True)
    if run.returncode != 0:
        raise error(" ".join(run.last_words(300).split()))
    return pq.ParquetFile(file, read_dictionary=json.loads(run.stdout))
