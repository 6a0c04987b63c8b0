"""Tables that a training may see: designs of the parts that models learn from, and nothing of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from models.base import PredictorError
from models.labelled import WITHHELD_FILE
from models.options import JUDGED_PARTS, LABEL_LEVELS
from models.tasks import LABEL_TABLES, has_table
from pipelines.dataset.splits import LEARNED_PARTS, design_part
from pipelines.schemas import TableSpec, scan_table, table_spec, tables_of_role, write_arrow

_OF_LEVEL = {
    "hls": ("features", "loop_profiles", "cdfg_nodes", "cdfg_edges", "directive_outcomes"),
    "run": ("run_features", "loop_runs"),
}
"""Tables that a level of information adds to those of the level below."""


def tables_of_level(level: str) -> tuple[str, ...]:
    """Return the tables of a release that a predictor of a level may learn from."""
    below = LABEL_LEVELS[: LABEL_LEVELS.index(level) + 1]  # type: ignore[arg-type]
    return (*LABEL_TABLES, *(name for own in below for name in _OF_LEVEL.get(own, ())))


def require_tables(tables: Sequence[str], level: str) -> None:
    """Refuse a predictor whose task reads tables beyond its level. Raises: PredictorError."""
    accepted = tables_of_level(level)
    if further := [name for name in tables if name not in accepted]:
        raise PredictorError(
            f"the task reads table {further[0]}, which is none of level {level}; "
            f"accepted: {', '.join(accepted)}"
        )


def write_training_tables(release: Path, folder: Path, *, split: str, level: str) -> None:
    """Write the tables of a release without any row of a program or a design outside of train and validation.

    Programs of other parts are not there at all, neither are designs of unseen memory delays. The list of
    withheld parts is beside the tables.

    Args:   folder: absent or empty; readable for every user.
    Raises: SchemaError: a table of the release is damaged.
    """
    places = scan_table(release, table_spec("splits")).filter(pl.col("split") == split)
    places = places.filter(pl.col("part").is_in(LEARNED_PARTS)).collect()
    designs = _learned_designs(release, places, split)
    optional = tables_of_role("optional")
    for name in tables_of_level(level):
        if has_table(release, name) or name not in optional:
            spec = table_spec(name)
            rows = places.lazy() if name == "splits" else scan_table(release, spec)
            key = "design_id" if "design_id" in spec.schema().names else "program_id"
            kept = designs if key == "design_id" else places
            _write(folder, spec, rows.join(kept.lazy().select(key), on=key, how="semi"))
    (folder / WITHHELD_FILE).write_text("".join(f"{part}\n" for part in JUDGED_PARTS), encoding="ascii")


def _learned_designs(release: Path, places: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return the identities of designs, of any tool, in the parts that models learn from."""
    columns = ("memory_read_delay_cycles", "memory_write_delay_cycles")
    rows = scan_table(release, table_spec("designs")).select("design_id", "program_id", *columns)
    designs = rows.join(places.lazy().select("program_id", "part"), on="program_id").collect()
    own = [design_part(split, *row) in LEARNED_PARTS for row in designs.select("part", *columns).iter_rows()]
    return designs.filter(pl.Series(own, dtype=pl.Boolean)).select("design_id")


def _write(folder: Path, spec: TableSpec, rows: pl.LazyFrame) -> None:
    schema = spec.schema()
    content = rows.select(schema.names).sort(spec.key).collect().to_arrow().cast(schema)
    write_arrow(folder, spec, content, "learned")
