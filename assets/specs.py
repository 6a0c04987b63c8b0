"""What Dagster shows of a table, derived from its declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.partitions import DEFINITIONS
from assets.quality import rules_of
from assets.stages import Step, step_named
from pipelines.schemas import TableSpec, table_spec

TOOL_RETRY = dg.RetryPolicy(max_retries=2, delay=1.0, backoff=dg.Backoff.EXPONENTIAL)
"""A tool that crashed is tried again; bad input, a missing tool and a full disk are not (failing.py)."""

POOLS: Mapping[str, str] = {
    "designs": "hls",
    "labels": "synthesis",
    "network": "simulation",
    "pragmas": "hls",
    "models": "training",
}
"""Pools of steps whose tools use every processor; dagster.yaml admits one step of a pool at a time."""


def asset_arguments(step_name: str) -> dict[str, Any]:
    """Arguments of `multi_asset` for a step: its tables, checks, partitions, retries and pool."""
    step = step_named(step_name)
    return {
        "name": f"make_{step.name}",
        "specs": [asset_spec(table_spec(table), step) for table in step.tables],
        "check_specs": [spec for table in step.tables for spec in check_specs(table)],
        "partitions_def": DEFINITIONS.get(step.partitioned),
        "retry_policy": TOOL_RETRY,
        "pool": POOLS.get(step.name),
        "op_tags": {"simfoundry/stage": step.stage},
    }


def asset_spec(spec: TableSpec, step: Step) -> dg.AssetSpec:
    """The asset of a table: group, description, columns with units, and what it is made from."""
    return dg.AssetSpec(
        key=spec.name,
        group_name=step.stage,
        description=f"{spec.description}\n\nKey: {', '.join(spec.key)}.",
        deps=list(step.reads),
        kinds={"parquet"},
        metadata={
            "dagster/column_schema": column_schema(spec),
            "dagster/table_name": spec.name,
        },
    )


def check_specs(table: str) -> list[dg.AssetCheckSpec]:
    """The checks of a table."""
    return [
        dg.AssetCheckSpec(
            name=rule.name,
            asset=table,
            description=rule.description,
            blocking=rule.blocking,
        )
        for rule in rules_of(table)
    ]


def column_schema(spec: TableSpec) -> dg.TableSchema:
    """Columns as Dagster shows them; the unit is a tag and ends the description."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=column.name,
                type=_type_name(column.arrow_type),
                description=column.description + (f" Unit: {column.unit}." if column.unit else ""),
                constraints=dg.TableColumnConstraints(
                    nullable=column.nullable,
                    unique=spec.key == (column.name,),
                    other=[f"one of {', '.join(column.choices)}"] if column.choices else [],
                ),
                tags={"unit": column.unit} if column.unit else {},
            )
            for column in spec.columns
        ]
    )


def _type_name(arrow_type: pa.DataType) -> str:
    return str(arrow_type)
