"""Reference sets: programs with known answers, and the errors of a predictor on them; those of labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.metrics import bootstrap
from models.tasks import Reference
from pipelines.summation import ordered_sum

RESAMPLES = 1000
Vector = NDArray[np.float64]
Medians: TypeAlias = dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSet:
    """Programs with known answers on which every version of a model is scored.

    Attributes:
        programs: name of every program (a network, where networks are asked about).
        groups: group of every program; programs of one group are not independent.
        baseline_errors: errors of the trivial baseline.
        score: errors of a loaded predictor, in the order of the programs.
        judge: the same, and its medians beside a constant's as in `ReferenceErrors`; None where targets have
            no constants.
    """

    programs: tuple[str, ...]
    groups: tuple[str, ...]
    baseline_errors: tuple[float, ...]
    score: Callable[[Any], Vector]
    judge: Callable[[Any], tuple[Vector, Medians]] | None = None


def reference_set_of(
    programs: Sequence[str], groups: Mapping[str, str], baseline: Vector, score: Callable[[Any], Vector]
) -> ReferenceSet:
    """Return the reference set of programs with the group of each by name."""
    return ReferenceSet(
        programs=tuple(programs),
        groups=tuple(groups[name] for name in programs),
        baseline_errors=tuple(map(float, baseline)),
        score=score,
    )


def relative_errors(predicted: Vector, actual: Vector) -> Vector:
    """Absolute percentage errors as fractions, each at most 1, or few programs would decide alone."""
    return np.minimum(1.0, np.abs(predicted / actual - 1.0))


def mean_errors(names: Sequence[str], values: Vector) -> tuple[list[str], Vector]:
    """Mean of the values of every program, in order of the programs' names."""
    by_program: dict[str, list[float]] = defaultdict(list)
    for name, value in zip(names, values, strict=True):
        by_program[name].append(float(value))
    programs = sorted(by_program)
    return programs, np.array(
        [ordered_sum(v) / len(v) for v in map(by_program.__getitem__, programs)], np.float64
    )


# ---- labels ----------------------------------------------------------------------------------------


def label_reference(reference: Reference, targets: Sequence[str], *, knows_estimates: bool) -> ReferenceSet:
    """Build the reference set of labelled designs; the error of a program is the mean over its designs and
    the targets.

    Args: knows_estimates: whether the trivial answer is the engine's own estimate where there is one.
    """
    from models.labelled import Selection, load_labelled_designs

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
    """Median errors of a predictor and of a constant, and the upper end of the interval of what it gains."""

    def difference(before: Vector, after: Vector) -> float:
        return float(np.median(before) - np.median(after))

    interval = bootstrap(difference, constant, own, groups, resamples=RESAMPLES, seed=0)
    return [float(np.median(own)), float(np.median(constant)), interval.high]
