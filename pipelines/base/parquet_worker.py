"""A child process that decodes a Parquet file in bounded memory and prints its dictionary columns."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def decode(question: dict[str, Any]) -> list[str]:
    """Decode the wanted columns of a file and forget them; return the names of its encoded ones.

    Raises: SystemExit: too many rows. ArrowException, OSError, MemoryError: damaged, or too large.
    """
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + question["memory_bytes"]
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    with Path(question["path"]).open("rb") as file:
        content = pq.ParquetFile(file)
        rows, most_rows = content.metadata.num_rows, question["most_rows"]
        if rows > most_rows:
            raise SystemExit(f"{rows} rows; accepted: at most {most_rows}")
        names = set(content.schema_arrow.names)
        encoded = [name for name in question["encoded"] if name in names]
        content = pq.ParquetFile(file, read_dictionary=encoded)
        columns = [name for name in question["columns"] if name in names]
        for _ in content.iter_batches(columns=columns, use_threads=False):
            pass
    return encoded


def main() -> None:
    """Answer the question in the first argument."""
    pa.set_cpu_count(1)
    question: dict[str, Any] = json.loads(sys.argv[1])
    try:
        answer = decode(question)
    except MemoryError:
        raise SystemExit(
            f"columns that take more than {question['memory_bytes'] >> 20} MiB to decode"
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise SystemExit(f"damaged content ({(str(error).splitlines() or ['no reason'])[0]})") from None
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    status = 0
    try:
        main()
    except SystemExit as refusal:
        sys.stderr.write(f"{refusal}\n")
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a library whose thread could not be started within the memory limit would abort
