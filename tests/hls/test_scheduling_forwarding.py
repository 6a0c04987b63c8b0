"""Variables read in the cycle in which the previous iteration writes them: hardware equals native C."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipelines.c import Directive
from pipelines.hls import CompiledDesign, HlsOptions


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("kind", "body", "interval"),
    [
        ("float", "if (A[i] > 0.25f) s += A[i]; t = t * B[i];", 2),
        ("double", "s = s * A[i] + t; t = t + s;", 4),
        ("int", "s = A[s & 31] + i; t ^= s;", 2),
    ],
)
def test_accumulations_through_units_equal_native_c(
    kind: str,
    body: str,
    interval: int,
    check_against_native: Callable[..., tuple[CompiledDesign, int]],
) -> None:
    source = f"""void f({kind} A[40], {kind} B[40]) {{
        {kind} s = 1, t = 2;
        L: for (int i = 0; i < 40; i++) {{ {body} }}
        A[0] = s; B[0] = t;
    }}"""
    options = HlsOptions(directives=(Directive(kind="pipeline", loop="L"),))
    compiled, _ = check_against_native(source, "f", options)
    assert compiled.intervals == {"L": interval}
    assert any(s.forwards for s in compiled.scheduled.schedules)
