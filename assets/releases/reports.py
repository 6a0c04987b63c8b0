"""Importing results of vendors' tools into a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assets.deployments import Deployment, replacing_tables, writing_to
from assets.shared_tables import publish_shards, pull_tables
from pipelines.dataset.vendor import VendorReport, merge_rows
from pipelines.schemas import (
    read_table,
    table_path,
    table_spec,
    write_table,
)

VENDOR_PARTITION = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedReports:
    """What an import of vendor results did.

    Attributes:
        rows: of this import, by table; replaced: earlier rows that differed; total: rows there are now;
        statuses: rows of this import by outcome.
    """

    rows: Mapping[str, int]
    replaced: Mapping[str, int]
    total: Mapping[str, int]
    statuses: Mapping[str, int]


def import_reports(deployment: Deployment, reports: Sequence[VendorReport]) -> ImportedReports:
    """Add vendor results to the tables; of one key the new row stays.

    Raises: VendorError: two different rows of one key. FoundryError: another process writes to the folder.
    """
    new: Mapping[str, list[Any]] = {
        "vendor_designs": [row for report in reports for row in report.designs],
        "vendor_loops": [row for report in reports for row in report.loops],
    }
    rows: dict[str, int] = {}
    replaced: dict[str, int] = {}
    total: dict[str, int] = {}
    with writing_to(deployment.data_dir):
        pull_tables(deployment, new)
        with replacing_tables(deployment.data_dir) as data_dir:
            for table, imported in new.items():
                spec = table_spec(table)
                there = table_path(data_dir, spec, VENDOR_PARTITION).is_file()
                present = read_table(data_dir, spec, [VENDOR_PARTITION]) if there else []
                merged, replaced[table] = merge_rows(spec, present, imported)
                write_table(data_dir, spec, merged, VENDOR_PARTITION)
                rows[table], total[table] = len(imported), len(merged)
        publish_shards(deployment, dict.fromkeys(new, (VENDOR_PARTITION,)))
    statuses = Counter(row.status for row in new["vendor_designs"])
    return ImportedReports(rows=rows, replaced=replaced, total=total, statuses=dict(sorted(statuses.items())))
