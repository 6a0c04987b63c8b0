"""`simfoundry records`: records of the tables as one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from assets.configuration import read_parameters
from assets.deployments import find_deployment
from assets.errors import FoundryError
from pipelines.records import require_suffix, write_records
from pipelines.schemas import RecordRow, read_table, table_path, table_spec


def export_records(
    *, out: Path, formats: Sequence[str], parts: Sequence[str], split: str | None
) -> dict[str, int]:
    """Write records to a file.

    Args:    formats, parts: those wanted, all when empty; split: its name, that of params.yaml when None.
    Returns: records by part and format, `train direct` for example.
    Raises:  FoundryError: there are no records. RecordError: the file's suffix. OSError: not writable.
    """
    require_suffix(out)
    deployment = find_deployment()
    name = split or read_parameters(deployment.project).features.split
    spec = table_spec("records")
    try:
        records: list[RecordRow] = read_table(deployment.data_dir, spec, [name])
    except FileNotFoundError as error:
        path = table_path(deployment.data_dir, spec, name)
        raise FoundryError(
            f"records must be made before they are written, got no file {path}; "
            "run `simfoundry stage records` first"
        ) from error
    kept = [r for r in records if r.format in (formats or [r.format]) and r.part in (parts or [r.part])]
    write_records(out, kept)
    return dict(sorted(Counter(f"{r.part} {r.format}" for r in kept).items()))
