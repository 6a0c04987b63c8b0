"""The gate: who is promoted, and who is refused with what reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.gate import ReferenceErrors, decide, improvement
from models.label_tasks import compared_medians
from pipelines.schemas import PromotionRow

GROUPS = tuple(f"group-{n // 4}" for n in range(80))
PROGRAMS = tuple(f"program-{n}" for n in range(80))
SPREAD = np.random.default_rng(0).uniform(0.8, 1.2, 80)


def errors_of(values: Sequence[float], baseline: float = 1.0) -> ReferenceErrors:
    return ReferenceErrors(
        reference="releases/some",
        digest="d",
        programs=PROGRAMS[: len(values)],
        groups=GROUPS[: len(values)],
        errors=tuple(float(v) for v in values),
        baseline_errors=(baseline,) * len(values),
    )


def decided(challenger: ReferenceErrors, champion: ReferenceErrors | None, minimum: int = 50) -> PromotionRow:
    return decide(
        model="m",
        version="2",
        challenger=challenger,
        champion=champion,
        champion_version="1" if champion else None,
        minimum_programs=minimum,
    )


GOOD, BAD = errors_of(0.2 * SPREAD), errors_of(0.6 * SPREAD)


def test_a_good_challenger_is_promoted() -> None:
    row = decided(GOOD, BAD)
    assert (row.decision, row.reason) == (
        "promoted",
        "better than champion version 1 and the trivial baseline",
    )
    assert (row.compared_with, row.row_count) == ("1", 80)
    assert row.error is not None
    assert row.champion_error is not None
    assert row.interval_low is not None
    assert 0 < row.interval_low <= row.champion_error - row.error


def test_a_bad_challenger_is_refused() -> None:
    row = decided(BAD, GOOD)
    assert (row.decision, row.reason) == ("refused", "not better than champion version 1 beyond noise")


def test_an_equal_challenger_is_refused() -> None:
    assert decided(GOOD, GOOD).decision == "refused"


def test_a_challenger_inside_the_noise_is_refused() -> None:
    noise = np.repeat(np.random.default_rng(1).normal(0, 0.1, 20), 4)
    slightly = errors_of(0.2 * SPREAD - 0.005 + noise)
    assert np.mean(slightly.errors) != GOOD.error
    row = decided(slightly, GOOD)
    assert row.decision == "refused"
    assert row.interval_low is not None
    assert row.interval_high is not None
    assert row.interval_low < 0 < row.interval_high


def test_the_first_version_must_beat_the_baseline() -> None:
    row = decided(GOOD, None)
    assert row.reason == "better than the trivial baseline; there was no champion"
    assert row.compared_with is None
    poor = decided(errors_of(1.1 * SPREAD), None)
    assert (poor.decision, poor.reason) == ("refused", "not better than the trivial baseline beyond noise")


def test_a_challenger_that_beats_the_champion_alone_is_refused() -> None:
    row = decided(errors_of(1.5 * SPREAD), errors_of(3.0 * SPREAD))
    assert (row.decision, row.reason) == ("refused", "not better than the trivial baseline beyond noise")


def test_too_few_programs_are_refused() -> None:
    row = decided(errors_of(0.2 * SPREAD[:20]), None)
    assert (row.decision, row.reason) == ("refused", "too few programs: scored on 20; 50 are needed")


def test_improvement_is_paired_and_over_groups() -> None:
    """Programs that differ widely, all improved by the same, leave no doubt."""
    wide = np.linspace(0.1, 5.0, 80)
    paired = improvement(GROUPS, wide + 0.01, wide)
    assert np.allclose([paired.value, paired.low, paired.high], 0.01)
    one = improvement(("one",) * 80, wide, np.zeros(80))
    assert one.low == one.high == one.value


def test_a_challenger_whose_median_is_above_a_constants_is_refused() -> None:
    """Capped errors hide it: a few programs far off would decide alone without the cap."""
    groups, half = GROUPS[:40], SPREAD[:40]
    worse = compared_medians(1.1 * half, 0.5 * half, groups)
    better = compared_medians(0.2 * half, 0.5 * half, groups)
    assert worse[2] < 0 < better[2]
    refused = decided(replace(GOOD, medians={"area_um2 of test": better, "cycles of test": worse}), BAD)
    assert refused.decision == "refused"
    assert refused.reason.startswith("a constant has a lower median error of cycles of test (")
    assert decided(replace(GOOD, medians={"area_um2 of test": better}), BAD).decision == "promoted"


def test_medians_survive_the_file() -> None:
    known = replace(GOOD, medians={"area_um2 of test": [0.2, 0.5, 0.1]})
    assert ReferenceErrors.of_json(known.as_json()) == known
