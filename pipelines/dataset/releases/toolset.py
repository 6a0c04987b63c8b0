"""Tools that the rows of a release follow from: its manifest names the version of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.schemas import TableSpec

if TYPE_CHECKING:
    import polars as pl

NOT_RECORDED = "not recorded"
"""In the place of a version, of a release whose rows were made before versions were written."""
SIMULATIONS = "simulations"


def simulator_tool(engine: str) -> str:
    """Return the name in a manifest of an engine of table `simulations`."""
    return f"rtl-{engine}"


def named_versions(rows: Mapping[str, pl.LazyFrame]) -> dict[str, tuple[str, ...]]:
    """Return the versions by tool, as rows name them. Args: rows: by table."""
    import polars as pl

    pairs = [
        rows[spec.name].select(tool=tool, version=version).drop_nulls("tool")
        for spec in TableSpec.registry.values()
        if spec.name in rows and spec.in_manifest
        for tool, version in spec.tool_columns
    ]
    empty = pl.DataFrame(schema={"tool": pl.String, "version": pl.String}).lazy()
    by_tool = pl.concat([empty, *pairs]).group_by("tool").agg(pl.col("version").unique().sort()).sort("tool")
    return {tool: tuple(versions) for tool, versions in by_tool.collect().iter_rows()}


def table_tools(rows: Mapping[str, pl.LazyFrame]) -> tuple[str, ...]:
    """Return the tools of rows that do not name versions. Args: rows: by table."""
    names = {tool for spec in TableSpec.registry.values() if spec.name in rows for tool in spec.tools}
    if SIMULATIONS in rows:
        engines = rows[SIMULATIONS].select("engine").unique().collect()["engine"]
        names |= {simulator_tool(engine) for engine in engines}
    return tuple(sorted(names))


def lacking_tools(rows: Mapping[str, pl.LazyFrame], tools: Mapping[str, str]) -> list[str]:
    """Return the tools that a manifest does not name, or names with another version than the rows."""
    named = named_versions(rows)
    lacking = [tool for tool in table_tools(rows) if tool not in tools]
    return lacking + [
        f"{tool} {' and '.join(map(str, versions))}"
        for tool, versions in named.items()
        if versions != (tools.get(tool),)
    ]
