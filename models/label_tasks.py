"""Tasks of predictors of labels, by level of information, and their reference sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from models.base import PredictorError
from models.metrics import bootstrap
from models.options import Level, Selection
from models.query import POWER, TARGETS
from models.reference_sets import Vector, mean_errors, reference_set_of, relative_errors
from models.tasks import EXAMPLE_SOURCE, LABEL_TABLES, Column, Medians, Reference, ReferenceSet, Task
from pipelines.base.bounds import CLOCK_PERIOD_NS, MEMORY_DELAY_CYCLES

RESAMPLES = 1000


def label_reference(
    reference: Reference, *, targets: Sequence[str] = TARGETS, knows_estimates: bool = False
) -> ReferenceSet:
    """Build the reference set of labelled designs; the error of a program is the mean over its designs and
    the targets.

    Args: knows_estimates: whether the trivial answer is the engine's own estimate where there is one.
    """
    from models.labelled import load_labelled_designs  # lazy import: Polars

    designs = load_labelled_designs(reference.folder, Selection(split=reference.split))
    designs = [design for design in designs if all(target in design.labels for target in targets)]
    judged = [design for design in designs if design.part in reference.parts]
    actual = np.array([[design.labels[t] for t in targets] for design in judged])
    training = [[d.labels[t] for t in targets] for d in designs if d.part == "train"]
    constant = np.tile(np.median(np.array(training), axis=0), (len(judged), 1))
    trivial = constant.copy()
    if knows_estimates:
        from models.scheduled import engine_estimates

        for row, estimate in zip(trivial, engine_estimates(reference.folder, judged), strict=True):
            row[:] = [estimate.get(t, median) for t, median in zip(targets, row, strict=True)]
    names = [design.program_id for design in judged]

    def errors(predicted: Vector) -> Vector:
        relative = np.nan_to_num(relative_errors(predicted, actual), nan=1.0)  # no answer is an error of 1
        return np.asarray(relative.mean(axis=1), np.float64)

    def medians(predicted: Vector) -> Medians:
        by_target: Medians = {}
        uncapped = np.abs(np.stack([predicted, constant]) / actual - 1.0)
        for part in reference.parts:
            places = [n for n, design in enumerate(judged) if design.part == part]
            own = [names[n] for n in places]
            for column, target in enumerate(targets):
                (order, errs), (_, others) = (mean_errors(own, row[places, column]) for row in uncapped)
                known = ~np.isnan(errs)
                if known.any():
                    those = [groups[name] for name, is_known in zip(order, known, strict=True) if is_known]
                    by_target[f"{target} of {part}"] = compared_medians(errs[known], others[known], those)
        return by_target

    def judge(predictor: Any) -> tuple[Vector, Medians]:
        missing = [t for t in targets if t not in predictor.targets]
        if missing:
            raise PredictorError(f"trained on tables without {', '.join(missing)}")
        estimates = predictor.predict([design.query for design in judged])
        predicted = np.array([[e.values[t] for t in targets] for e in estimates])
        return mean_errors(names, errors(predicted))[1], medians(predicted)

    groups = {design.program_id: design.group for design in judged}
    programs, baseline = mean_errors(names, errors(trivial))
    known = reference_set_of(programs, groups, baseline, lambda predictor: judge(predictor)[0])
    return replace(known, judge=judge)


def compared_medians(own: Vector, constant: Vector, groups: Sequence[str]) -> list[float]:
    """Return the median errors of a predictor and of a constant, and the upper end of the gain's interval."""

    def difference(before: Vector, after: Vector) -> float:
        return float(np.median(before) - np.median(after))

    interval = bootstrap(difference, constant, own, groups, resamples=RESAMPLES, seed=0)
    return [float(np.median(own)), float(np.median(constant)), interval.high]


_power_reference = partial(label_reference, targets=(*TARGETS, POWER))
_hls_reference = partial(_power_reference, knows_estimates=True)


def labels_task(level: Level, question: tuple[Column, ...] = ()) -> Task:
    """Return area, flip-flops and cycles of a program under one configuration, at a level of information."""
    return Task(
        name=f"labels-{level}",
        tables=LABEL_TABLES,
        targets=_LABELS,
        level=level,
        metric="absolute percentage error, at most 100 %, mean over targets and designs of a program",
        baseline="median of each target over the training part",
        question=question or QUERY,
        reference=Reference(
            release="releases/v2",
            split="by_kernel_v2",
            parts=("test", "evaluation"),
            minimum_programs=100,
        ),
        reference_set=label_reference,
    )


def labels_and_power_task(level: Level) -> Task:
    """Return the task of `labels_task` with power.

    At levels hls and run the trivial answers to area and flip-flops are the engine's own estimates.
    """
    task = labels_task(level)
    of_hls = level in ("hls", "run")
    hls = ("features", "loop_profiles")
    derived = {"hls": hls, "run": (*hls, "run_features")}
    return replace(
        task,
        name=f"labels-power-{level}",
        tables=(*task.tables, *derived.get(level, ())),
        question=RUN_QUERY if level == "run" else task.question,
        targets={**_LABELS, "power_mw": "mW"},
        baseline="the engine's own estimate of area and flip-flops; "
        "median of cycles and of power over the training part"
        if of_hls
        else task.baseline,
        reference_set=_hls_reference if of_hls else _power_reference,
    )


def all_labels_task(level: Level, *, tables: tuple[str, ...] = LABEL_TABLES) -> Task:
    """Return the task of `labels_task` with power and the longest path.

    Args: tables: read for training.
    """
    task = labels_and_power_task(level)
    return replace(
        task,
        name=f"labels-power-delay-{level}",
        tables=tables,
        targets={**task.targets, "delay_ns": "ns"},
    )


_LABELS = {"area_um2": "um2", "flip_flop_count": "1", "latency_cycles": "cycle"}
_DELAY, _CLOCK = MEMORY_DELAY_CYCLES, CLOCK_PERIOD_NS
QUERY = (
    Column(name="source", kind="string", example=EXAMPLE_SOURCE),
    Column(name="top", kind="string", example="scale"),
    Column(
        name="memory_read_delay_cycles", kind="long", unit="cycle", example=2, least=_DELAY[0], most=_DELAY[1]
    ),
    Column(
        name="memory_write_delay_cycles",
        kind="long",
        unit="cycle",
        example=2,
        least=_DELAY[0],
        most=_DELAY[1],
    ),
    Column(name="clock_period_ns", unit="ns", example=10.0, least=_CLOCK[0], most=_CLOCK[1]),
    Column(name="directives", kind="string", example="[]"),
    Column(name="data", kind="string", example="", required=False),
    Column(name="trips", kind="string", example="", required=False),
    Column(name="unsafe_math", kind="long", example=0, required=False, least=0, most=1),
)
"""Fields of `models.labelled.Query` but the input specification."""
RUN_QUERY = (*QUERY, Column(name="inputs", kind="string", example="{}"))
"""Fields of `models.labelled.Query`."""


def label_answers(task: Task, *further: Column) -> tuple[Column, ...]:
    """Return the columns of an answer of a predictor of labels."""
    values = (Column(name=name, unit=unit) for name, unit in task.targets.items())
    ends = (Column(name="confidence"), Column(name="outside_training", kind="string"))
    return (*values, *further, *ends)
