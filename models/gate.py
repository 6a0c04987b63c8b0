"""The gate before the alias `champion`: paired errors on a reference set that is frozen with a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from models.base import PredictorError
from models.label_tasks import RESAMPLES
from models.local_registry import worse_than_constant
from models.metrics import Interval, bootstrap
from models.reference_sets import Vector
from models.tasks import DERIVED_TABLES, Medians, Reference, ReferenceSet, Task, hash_tables
from pipelines.base.identity import content_hash
from pipelines.schemas import PromotionRow

Decision = Literal["promoted", "refused", "candidate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceErrors:
    """Errors of one version on a reference set, kept with the version.

    Attributes:
        reference: its name. digest: hash of its tables; errors of another digest are not compared.
        medians: of labels, by target and part (`area_um2 of test`): median error over programs, not capped,
            of the version and of a constant (the training part's median), and the upper end of the 95 %
            interval of the second less the first. A version with a negative end is worse than a constant.
    """

    reference: str
    digest: str
    programs: tuple[str, ...]
    groups: tuple[str, ...]
    errors: tuple[float, ...]
    baseline_errors: tuple[float, ...]
    medians: Medians = field(default_factory=dict[str, list[float]])

    @property
    def error(self) -> float:
        """Mean over programs."""
        return float(np.mean(self.errors))

    @property
    def baseline_error(self) -> float:
        """Mean over programs of the trivial baseline."""
        return float(np.mean(self.baseline_errors))

    def as_json(self) -> dict[str, Any]:
        """Return the plain JSON."""
        return asdict(self)

    @classmethod
    def of_json(cls, value: Any) -> ReferenceErrors:
        """Return the errors from the JSON that `as_json` gave."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        return cls(**fields)


def score(reference: str, digest: str, reference_set: ReferenceSet, predictor: Any) -> ReferenceErrors:
    """Return the errors of a loaded predictor on a reference set."""
    errors, medians = (
        (reference_set.score(predictor), {})
        if reference_set.judge is None
        else reference_set.judge(predictor)
    )
    return ReferenceErrors(
        reference=reference,
        digest=digest,
        programs=reference_set.programs,
        groups=reference_set.groups,
        errors=tuple(float(e) for e in errors),
        baseline_errors=reference_set.baseline_errors,
        medians=medians,
    )


def improvement(groups: Sequence[str], before: Sequence[float], after: Sequence[float]) -> Interval:
    """Return mean of before - after over programs, with its 95 % interval over resampled groups, paired."""
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
    Errors are capped, so medians are compared, too: one that is above a constant's beyond noise is refused.

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
    elif worse := worse_than_constant(challenger.medians):
        decision, reason = "refused", worse
    interval = against or baseline
    return PromotionRow(
        model=model,
        version=version,
        compared_with=champion_version if champion else None,
        reference_set=challenger.reference,
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
    """Return the row of a version that was not scored."""
    return PromotionRow(
        model=model,
        version=version,
        compared_with=None,
        reference_set=reference,
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


def reference_digest(task: Task, reference: Reference) -> str:
    """Return the hash of all that errors on a reference set depend on besides the predictor."""
    read = [t for t in task.tables or ("programs", "splits") if t not in DERIVED_TABLES]
    tables = hash_tables([reference.folder], read)
    return content_hash(task.name, task.metric, task.baseline, reference.split, reference.parts, tables)


def require_release(folder: Path) -> None:
    """Check that a reference release is there.

    Raises: PredictorError: it is not.
    """
    if not (folder / "tables").is_dir():
        raise PredictorError(f"no reference release: {folder}")
