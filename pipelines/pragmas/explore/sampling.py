"""Rivals without direction: all configurations where they are few, and random ones.

A configuration pipelines at most one loop on each way from the root to a statement; loops inside it are
unrolled by completion and have no choice of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product

import numpy as np

from pipelines.pragmas.bound import Target
from pipelines.pragmas.configuration import FINE, Configuration, LoopChoice
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.explore.bottleneck import Measuring, RivalOptions
from pipelines.pragmas.explore.evaluation import Evaluator
from pipelines.pragmas.explore.side_by_side import SideBySide
from pipelines.pragmas.explore.steps import Exploration, Step
from pipelines.pragmas.program import pipeline_factors
from pipelines.pragmas.summary import Summary

EXHAUSTIVE, RANDOM = "exhaustive", "random"
MOST_CONFIGURATIONS = 100_000
DRAWS_A_DESIGN = 100


def all_configurations(summary: Summary, target: Target) -> Iterator[Configuration]:
    """Every configuration of pipelines and factors, in a fixed order."""
    for loops in product(*(_of_nest(summary, target, c) for c in summary.body if isinstance(c, str))):
        yield Configuration(loops={name: choice for part in loops for name, choice in part.items()})


def _of_nest(summary: Summary, target: Target, loop: str) -> list[dict[str, LoopChoice]]:
    """Choices of a loop and the loops inside it."""
    factors = pipeline_factors(summary, target, loop)
    found = [{loop: LoopChoice(pipeline=FINE, unroll=factor)} for factor in factors]
    inner = [child for child in summary.loops[loop].children if isinstance(child, str)]
    if not inner:
        return found
    for parts in product(*(_of_nest(summary, target, child) for child in inner)):
        below = {name: choice for part in parts for name, choice in part.items()}
        found += [{loop: LoopChoice(unroll=factor), **below} for factor in factors]
    return found


def draw_configuration(summary: Summary, target: Target, generator: np.random.Generator) -> Configuration:
    """A configuration: on each way down a pipelined loop at a level drawn evenly, factors drawn evenly."""
    loops: dict[str, LoopChoice] = {}
    for child in summary.body:
        if isinstance(child, str):
            loops |= _drawn_nest(summary, target, child, generator)
    return Configuration(loops=loops)


def _drawn_nest(
    summary: Summary, target: Target, loop: str, generator: np.random.Generator
) -> dict[str, LoopChoice]:
    factors = pipeline_factors(summary, target, loop)
    factor = factors[int(generator.integers(len(factors)))]
    inner = [child for child in summary.loops[loop].children if isinstance(child, str)]
    levels = 1 + max((_depth(summary, child) for child in inner), default=0)
    if not inner or generator.integers(levels) == 0:
        return {loop: LoopChoice(pipeline=FINE, unroll=factor)}
    found = {loop: LoopChoice(unroll=factor)}
    for child in inner:
        found |= _drawn_nest(summary, target, child, generator)
    return found


def _depth(summary: Summary, loop: str) -> int:
    inner = [child for child in summary.loops[loop].children if isinstance(child, str)]
    return 1 + max((_depth(summary, child) for child in inner), default=0)


def explore_all(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: RivalOptions | None = None,
    *,
    listen: Callable[[Step], None] = lambda _: None,
) -> Exploration:
    """Measure every configuration.

    Raises: PragmaError: there are more than `MOST_CONFIGURATIONS`.
    """
    found = list(islice(all_configurations(summary, target), MOST_CONFIGURATIONS + 1))
    if len(found) > MOST_CONFIGURATIONS:
        raise PragmaError(
            f"an exhaustive search takes at most {MOST_CONFIGURATIONS} configurations, got more"
        )
    limits = options or RivalOptions()
    with ThreadPoolExecutor(max_workers=limits.together) as pool:
        measuring = _measuring(EXHAUSTIVE, summary, target, evaluator, limits, listen, pool)
        measuring.measure(found)
    return measuring.result()


def explore_randomly(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: RivalOptions,
    *,
    listen: Callable[[Step], None] = lambda _: None,
) -> Exploration:
    """Measure configurations drawn evenly, none twice, until a limit of the options.

    Raises: PragmaError: the options have no limit.
    """
    if options.most_evaluations is None and options.budget_s is None:
        raise PragmaError("a random search must have a limit of evaluations or seconds, got none")
    generator = np.random.default_rng(options.seed)
    with ThreadPoolExecutor(max_workers=options.together) as pool:
        measuring = _measuring(RANDOM, summary, target, evaluator, options, listen, pool)
        before = -1
        while not measuring.ended() and len(measuring.steps) != before:
            before = len(measuring.steps)
            measuring.measure([draw_configuration(summary, target, generator) for _ in range(DRAWS_A_DESIGN)])
    return measuring.result()


def _measuring(
    method: str,
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: RivalOptions,
    listen: Callable[[Step], None],
    pool: ThreadPoolExecutor,
) -> Measuring:
    return Measuring(
        method=method,
        summary=summary,
        target=target,
        beside=SideBySide(
            pool=pool, evaluator=evaluator, together=options.together, in_steps=options.in_steps
        ),
        options=options,
        listen=listen,
    )
