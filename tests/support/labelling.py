"""Options of labelling for tests and benchmarks: the engine's own, but for some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipelines.dataset.labelling import DEFAULT_OPTIONS, ConfigurationSpace, LabelOptions

NOTHING: Mapping[str, Any] = {}


def label_options(*, synthesis: Mapping[str, Any] = NOTHING, **changes: Any) -> LabelOptions:
    """Return options of labelling.

    Args: synthesis: those of `Synthesis`; changes: those of `LabelOptions`.
    """
    return replace(with_synthesis(DEFAULT_OPTIONS, **synthesis), **changes)


def with_synthesis(options: LabelOptions, **changes: Any) -> LabelOptions:
    """Return options with some of `Synthesis` changed."""
    return replace(options, synthesis=replace(options.synthesis, **changes))


def configuration_space(**changes: Any) -> ConfigurationSpace:
    """Return the grid of configurations of the paper, but for some options."""
    grid = {"memory_delay": (2, 5, 10, 15), "pipeline": (False, True), "clock_period_ns": 10.0}
    return ConfigurationSpace(**{**grid, **changes})
