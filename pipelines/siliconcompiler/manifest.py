"""SiliconCompiler's manifest as figures: its metrics of one step, in the units of this project.

A metric is a parameter, `metric.<name>`, with a unit and a value for each step and index:
`{"unit": "um^2", "node": {"place.detailed": {"0": {"value": 1234.5, "signature": null}}}}`
(SiliconCompiler 0.38, `schema/parameter.py`, `metrics/asic.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipelines.siliconcompiler.errors import SiliconCompilerError

UNITS = {"cellarea": "um^2", "setupslack": "ns", "leakagepower": "mw"}
"""Units that the metrics are declared with."""
LARGEST = 1e15
_LEAST = {"setupslack": -LARGEST} | dict.fromkeys(
    ("cellarea", "leakagepower", "cells", "registers", "errors"), 0.0
)


class _Value(BaseModel):
    model_config = ConfigDict(extra="ignore")
    value: float | int | None = None


class _Metric(BaseModel):
    model_config = ConfigDict(extra="ignore")
    unit: str | None = None
    node: dict[str, dict[str, _Value]] = {}


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="ignore")
    metric: dict[str, _Metric]


_MANIFEST = TypeAdapter(_Manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowMetrics:
    """Metrics of a step; None where the step has none.

    Attributes:
        cell_area_um2: of all cells but fillers.
        cell_count, register_count: instances.
        setup_slack_ns: worst one, of the slowest corner.
        leakage_mw: of all cells.
        error_count: errors that the step reported.
    """

    cell_area_um2: float | None
    cell_count: int | None
    register_count: int | None
    setup_slack_ns: float | None
    leakage_mw: float | None
    error_count: int | None


def parse_manifest(text: str | bytes, *, step: str) -> FlowMetrics:
    """The metrics of a step's first index.

    Args:    step: name of the step, such as `place.detailed`.
    Raises:  SiliconCompilerError: not a manifest, another unit than expected, no metric of the step, or one
             that cannot be.
    """
    try:
        metrics = _MANIFEST.validate_json(text).metric
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SiliconCompilerError(
            f"a manifest must be SiliconCompiler's JSON, got {first['msg']} at {first['loc']}"
        ) from error
    found = {name: _value(name, metric, step) for name, metric in metrics.items()}
    for name, least in _LEAST.items():
        value = found.get(name)
        if value is not None and not least <= value <= LARGEST:
            raise SiliconCompilerError(
                f"metric {name} is {value:g}; accepted: numbers from {least:g} to {LARGEST:g}"
            )
    if all(value is None for value in found.values()):
        steps = sorted({s for metric in metrics.values() for s in metric.node} - {"default", "global"})
        raise SiliconCompilerError(f"a manifest must have metrics of step {step}, got steps {steps}")
    return FlowMetrics(
        cell_area_um2=found.get("cellarea"),
        cell_count=_count(found.get("cells")),
        register_count=_count(found.get("registers")),
        setup_slack_ns=found.get("setupslack"),
        leakage_mw=found.get("leakagepower"),
        error_count=_count(found.get("errors")),
    )


def _value(name: str, metric: _Metric, step: str) -> float | None:
    value = metric.node.get(step, {}).get("0", _Value()).value
    expected = UNITS.get(name)
    if value is not None and expected is not None and metric.unit != expected:
        raise SiliconCompilerError(f"metric {name} must be in {expected}, got {metric.unit}")
    return value


def _count(value: float | None) -> int | None:
    return None if value is None else int(value)
