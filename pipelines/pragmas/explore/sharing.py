"""Longer intervals for a design that does not fit: units, and registers between them, are then shared.

The program knows a few intervals, and theorem 6.17 counts units alone. A pipeline as deep as a sum of 200
terms has more area in registers than in units, and the interval that a tool reaches may be longer than any
that the program knows; so what a longer one saves is seen only in what was measured.
"""

from __future__ import annotations

from dataclasses import replace

from pipelines.pragmas.bound import Target, bound, complete, dsp_count, leaf
from pipelines.pragmas.configuration import FINE, Configuration
from pipelines.pragmas.explore.evaluation import Evaluation
from pipelines.pragmas.summary import Summary
from pipelines.schemas import INFEASIBLE

MOST_INTERVAL = 1 << 12
"""Cycles between iterations that are asked for at most."""


def rarer(
    summary: Summary, configuration: Configuration, target: Target, answer: Evaluation
) -> Configuration | None:
    """A configuration that did not fit with its largest pipeline started more rarely.

    The interval is the least power of two that makes the bound longer than what was measured, for the tool's
    own interval is as long as any shorter one.

    Returns: None for a design that fits or whose latency is not known, without a pipeline, and where no
        interval of at most MOST_INTERVAL is longer than the tool's.
    """
    if answer.status != INFEASIBLE or answer.latency_cycles is None:
        return None
    name = _largest(summary, configuration, target)
    if name is None:
        return None
    choice = configuration.of(name)
    interval = 2 * choice.interval
    while interval <= MOST_INTERVAL:
        asked = replace(choice, interval=interval)
        found = replace(configuration, loops={**configuration.loops, name: asked})
        if bound(summary, found, target).latency_cycles > answer.latency_cycles:
            return found
        interval *= 2
    return None


def _largest(summary: Summary, configuration: Configuration, target: Target) -> str | None:
    """The pipelined loop whose units take most of the target; of equal ones the first."""
    full = complete(summary, configuration, target)

    def dsps(name: str) -> float:
        choice = full.of(name)
        return dsp_count(leaf(summary, name, choice.unroll, target, choice.interval).units, target)

    pipelined = [name for name in summary.loops if configuration.of(name).pipeline == FINE]
    return max(pipelined, key=dsps, default=None)
