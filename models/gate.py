"""The gate before the alias `champion`: paired errors on a reference set that is frozen with a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from models.metrics import Interval, bootstrap
from pipelines.schemas import PromotionRow

RESAMPLES = 1000
Decision = Literal["promoted", "refused", "candidate"]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSet:
    """Programs with known answers on which every version of a model is scored.

    Attributes:
        programs: name of every program (a network, where networks are asked about).
        groups: group of every program; programs of one group are not independent.
        baseline_errors: errors of the trivial baseline.
        score: errors of a loaded predictor, in the order of the programs.
    """

    programs: tuple[str, ...]
    groups: tuple[str, ...]
    baseline_errors: tuple[float, ...]
    score: Callable[[Any], Vector]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceErrors:
    """Errors of one version on a reference set, kept with the version.

    Attributes:
        reference: its name. digest: hash of its tables; errors of another digest are not compared.
    """

    reference: str
    digest: str
    programs: tuple[str, ...]
    groups: tuple[str, ...]
    errors: tuple[float, ...]
    baseline_errors: tuple[float, ...]

    @property
    def error(self) -> float:
        """Mean over programs."""
        return float(np.mean(self.errors))

    @property
    def baseline_error(self) -> float:
        """Mean over programs of the trivial baseline."""
        return float(np.mean(self.baseline_errors))

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: Any) -> ReferenceErrors:
        """Errors from the JSON that `as_json` gave."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        return cls(**fields)


def score(reference: str, digest: str, known: ReferenceSet, predictor: Any) -> ReferenceErrors:
    """Errors of a loaded predictor on a reference set."""
    return ReferenceErrors(
        reference=reference,
        digest=digest,
        programs=known.programs,
        groups=known.groups,
        errors=tuple(float(e) for e in known.score(predictor)),
        baseline_errors=known.baseline_errors,
    )


def improvement(groups: Sequence[str], before: Sequence[float], after: Sequence[float]) -> Interval:
    """Mean of before - after over programs, with its 95 % interval over resampled groups, paired."""
    values = np.asarray(before, np.float64), np.asarray(after, np.float64)
    return bootstrap(_mean_difference, *values, groups, resamples=RESAMPLES, seed=0)


def decide(
    *,
    model: str,
    version: str,
    challenger: ReferenceErrors,
    champion: ReferenceErrors | None,
    champion_version: str | None,
    minimum_programs: int,
) -> PromotionRow:
    """Promote a challenger that is better than the champion and than the trivial baseline beyond noise.

    Better means: the lower end of the paired 95 % interval of the improvement is above 0. Equal is not.

    Args: champion: None where there is none, or where it cannot answer any more.
    """
    baseline = improvement(challenger.groups, challenger.baseline_errors, challenger.errors)
    against = improvement(challenger.groups, champion.errors, challenger.errors) if champion else None
    count = len(challenger.programs)
    decision, reason = "promoted", f"better than {_beaten(champion_version if champion else None)}"
    if count < minimum_programs:
        decision = "refused"
        reason = f"too few programs: scored on {count}; {minimum_programs} are needed"
    elif not baseline.low > 0:
        decision, reason = "refused", "not better than the trivial baseline beyond noise"
    elif against is not None and not against.low > 0:
        decision, reason = "refused", f"not better than champion version {champion_version} beyond noise"
    interval = against or baseline
    return PromotionRow(
        model=model,
        version=version,
        compared_with=champion_version if champion else None,
        reference=challenger.reference,
        row_count=count,
        error=challenger.error,
        champion_error=champion.error if champion else None,
        baseline_error=challenger.baseline_error,
        interval_low=interval.low,
        interval_high=interval.high,
        decision=decision,
        reason=reason,
    )


def undecided(
    model: str, version: str, reference: str | None, decision: Decision, reason: str
) -> PromotionRow:
    """The row of a version that was not scored."""
    return PromotionRow(
        model=model,
        version=version,
        compared_with=None,
        reference=reference,
        row_count=0,
        error=None,
        champion_error=None,
        baseline_error=None,
        interval_low=None,
        interval_high=None,
        decision=decision,
        reason=reason,
    )


def _beaten(champion_version: str | None) -> str:
    if champion_version is None:
        return "the trivial baseline; there was no champion"
    return f"champion version {champion_version} and the trivial baseline"


def _mean_difference(before: Vector, after: Vector) -> float:
    return float(np.mean(before - after))
