"""Random kernels and directives: SCIP's bound, the composed bound and measured cycles stand in this order."""

from __future__ import annotations

from pathlib import Path

import pytest
from bound_cases import draw_case, figures_of

CASES = 500
"""5,000 are in tests/benchmarks/pragma_bound_cases.py."""


@pytest.mark.sample(24)
@pytest.mark.parametrize("seed", range(CASES))
def test_no_bound_is_above_a_measured_design(seed: int, tmp_path: Path) -> None:
    case = draw_case(seed)
    figures = figures_of(case, tmp_path)
    assert figures.holds, (figures, case.source, case.directives)
