"""Tools that the rows of a release follow from: its manifest names the version of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

NOT_RECORDED = "not recorded"
"""In the place of a version, of a release whose rows were made before versions were written."""
VERSION_COLUMNS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "designs": (("tool", "tool_version"),),
    "labels": (("tool", "tool_version"),),
    "runs": (
        ("engine", "engine_version"),
        ("audit_engine", "audit_engine_version"),
        ("power_engine", "power_engine_version"),
    ),
}
"""Columns that name a tool and its version, by table."""
TABLE_TOOLS: Mapping[str, tuple[str, ...]] = {
    "accelerators": ("pyosys",),
    "accelerator_labels": ("netlist-simulator", "pyosys", "rtl-reuse"),
    "fixed_networks": ("da4ml", "netlist-simulator", "pyosys"),
}
"""Tools whose versions are in hashes of the rows of a table."""
SIMULATIONS = "simulations"


def simulator_tool(engine: str) -> str:
    """Name in a manifest of an engine of table `simulations`."""
    return f"rtl-{engine}"


def named_versions(rows: Mapping[str, pl.LazyFrame]) -> dict[str, tuple[str, ...]]:
    """Versions by tool, as rows name them. Args: rows: by table."""
    import polars as pl

    pairs = [
        rows[table].select(tool=tool, version=version).drop_nulls("tool")
        for table, columns in VERSION_COLUMNS.items()
        if table in rows
        for tool, version in columns
    ]
    empty = pl.DataFrame(schema={"tool": pl.String, "version": pl.String}).lazy()
    by_tool = pl.concat([empty, *pairs]).group_by("tool").agg(pl.col("version").unique().sort()).sort("tool")
    return {tool: tuple(versions) for tool, versions in by_tool.collect().iter_rows()}


def table_tools(rows: Mapping[str, pl.LazyFrame]) -> tuple[str, ...]:
    """Tools of rows that do not name versions. Args: rows: by table."""
    names = {name for table, tools in TABLE_TOOLS.items() if table in rows for name in tools}
    if SIMULATIONS in rows:
        engines = rows[SIMULATIONS].select("engine").unique().collect()["engine"]
        names |= {simulator_tool(engine) for engine in engines}
    return tuple(sorted(names))


def lacking_tools(rows: Mapping[str, pl.LazyFrame], tools: Mapping[str, str]) -> list[str]:
    """Tools that a manifest does not name, or names with another version than the rows."""
    named = named_versions(rows)
    lacking = [tool for tool in table_tools(rows) if tool not in tools]
    return lacking + [
        f"{tool} {' and '.join(map(str, versions))}"
        for tool, versions in named.items()
        if versions != (tools.get(tool),)
    ]
