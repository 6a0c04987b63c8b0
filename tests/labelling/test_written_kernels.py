"""A kernel of each field of suite `written` is labelled: its hardware computes what native C computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.base.cache import ContentCache
from pipelines.c import Directive
from pipelines.dataset.labelling import LabelContext, label_design
from pipelines.hls import HlsOptions
from pipelines.programs import program_from_file
from pipelines.programs.collections import MINI, WRITTEN, WRITTEN_FOLDER, read_kernel
from pipelines.schemas import OK
from pipelines.silicon.synthesis import Target, find_liberty
from tests.support.labelling import label_options

KERNELS = (
    *("coding/deint-elr", "compression/plane-runs", "control/pava-calibrate", "filters/notch-tracker"),
    *("graphs/boruvka-forest", "hashing/ballot-mac", "images/contour-freeman", "linear_algebra/sor-banded"),
    *("machine_learning/som-palette", "physics/sandpile-topple", "sorting/american-flag"),
    "strings/suffix-lcp",
)


def test_each_field_has_a_kernel_here() -> None:
    fields = {path.name for path in WRITTEN_FOLDER.iterdir() if path.is_dir()}
    assert {name.partition("/")[0] for name in KERNELS} == fields
    assert len(KERNELS) == 12


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_has_cycles_and_the_outputs_of_native_c(name: str, tmp_path: Path) -> None:
    context = LabelContext(
        cache=ContentCache(folder=tmp_path),
        options=label_options(mapped=False, audit_fraction=0.0),
        target=Target(liberty=find_liberty("osu018"), clock_period_ns=10.0),
    )
    row = read_kernel(WRITTEN_FOLDER / f"{name}.json").row(MINI, suite=WRITTEN, stage=WRITTEN)
    options = HlsOptions(memory_read_delay_cycles=2, memory_write_delay_cycles=2, clock_period_ns=10.0)
    done = label_design(row, options, context)
    assert (done.label.status, done.label.reason) == (OK, None)
    assert [run.outputs_equal for run in done.runs] == [True]
    assert all((run.latency_cycles or 0) > 0 for run in done.runs)


COLUMN = """static void add(int *x, int n, int stride) { for (int i = 0; i < n; i++) x[i * stride] += i; }
void f(int img[4][4]) { for (int c = 0; c < 4; c++) add(&img[0][c], 4, 4); }
"""
COUNTDOWN = """int f(const int in[64]) {
  unsigned s = 1, at = 0;
  for (int k = 0; k < 5; k++) {
    unsigned n = (in[k] & 7) + 3;
    do { s = s * 3 + in[at & 63]; at++; } while (--n);
  }
  return s;
}
"""
UNROLLED = HlsOptions(directives=(Directive(kind="unroll", loop="L1", value=2),))


@pytest.mark.parametrize(
    ("source", "options"),
    [
        pytest.param(
            COLUMN,
            HlsOptions(),
            marks=pytest.mark.xfail(
                strict=True, reason="a dimension of 2^k elements takes the low k bits of its subscript"
            ),
            id="a pointer into a row walks down a column",
        ),
        pytest.param(
            COUNTDOWN,
            UNROLLED,
            marks=pytest.mark.xfail(
                strict=True, reason="copies of a do loop have conditions of their own, which nothing tests"
            ),
            id="an unrolled do loop whose condition counts",
        ),
    ],
)
def test_known_differences_from_native_c(source: str, options: HlsOptions, tmp_path: Path) -> None:
    context = LabelContext(
        cache=ContentCache(folder=tmp_path),
        options=label_options(mapped=False, audit_fraction=0.0, cycle_limit=20_000),
        target=Target(liberty=find_liberty("osu018"), clock_period_ns=10.0),
    )
    done = label_design(program_from_file(Path("f.c"), top="f", source=source), options, context)
    assert [run.outputs_equal for run in done.runs] == [True]
