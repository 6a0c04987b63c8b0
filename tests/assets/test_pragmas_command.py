"""`simfoundry pragmas`: annotated C, bounds and logs, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cache import ContentCache
from pipelines.hls import HlsOptions, TransformOptions, parse_directives
from pipelines.labelling import LabelOptions, ToolContext, count_design
from pipelines.programs import program_from_file
from simfoundry.cli import simfoundry

LOWER = """\
void lower(float A[32][32], float x[32])
{
  for (int i = 0; i < 32; i++)
    for (int j = 0; j <= i; j++)
      A[i][j] = A[i][j] * x[j] + 1.0f;
}
"""
MATRIX_PRODUCT = """\
void mm(float A[4][6], float B[6][5], float C[4][5])
{
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 6; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}
"""
COLUMNS = """\
#include <math.h>

void columns(float A[6][10], float R[10][10], float Q[6][10])
{
  for (int k = 0; k < 10; k++) {
    float norm = 1e-7f;
    for (int i = 0; i < 6; i++)
      norm += A[i][k] * A[i][k];
    R[k][k] = sqrtf(norm);
    for (int i = 0; i < 6; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < 10; j++) {
      R[k][j] = 0.0f;
      for (int i = 0; i < 6; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < 6; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
}
"""
"""Gram and Schmidt's method with more columns than rows: the last ones are roundings alone."""


@pytest.fixture
def file(project: Path) -> Path:
    found = project / "mm.c"
    found.write_text(MATRIX_PRODUCT)
    return found


def _ask(*arguments: str | Path) -> Result:
    return CliRunner().invoke(simfoundry, ["pragmas", *map(str, arguments)])


def test_the_answer_is_annotated_c_and_the_bound_by_part(file: Path) -> None:
    found = _ask(file)
    assert found.exit_code == 0, found.output
    assert "#pragma ACCEL" in found.output
    assert "cycles on u200: computation" in found.output
    assert "in: 2 bursts of 512 bits after an access of 64 cycles" in found.output


def test_json_has_configuration_bound_and_source(file: Path) -> None:
    answer = json.loads(_ask(file, "--json").stdout)
    assert answer["solution"]["status"] == "optimal"
    assert answer["bound"]["latency_cycles"] == answer["solution"]["latency_cycles"]
    assert [loop["loop"] for loop in answer["loops"]] == ["L0", "L1", "L2"]
    assert answer["exploration"] is None
    assert answer["source"].count("for (") == 3


def test_designs_are_measured_and_none_is_faster_than_its_bound(file: Path) -> None:
    found = _ask(file, "--target", "simfoundry", "--area", "2", "--evaluate", "4", "--json")
    assert found.exit_code == 0, found.output
    answer = json.loads(found.stdout)
    measured = [s for s in answer["exploration"]["steps"] if s["decision"] == "evaluated"]
    assert 1 <= len(measured) == answer["exploration"]["evaluated"] <= 4
    assert all(s["measured"] >= s["bound"] for s in measured if s["status"] == "ok")
    assert json.loads(answer["directives"])
    last = _ask(file, "--target", "simfoundry", "--area", "2", "--evaluate", "4").stdout.splitlines()[-1]
    proven, gap = answer["exploration"]["proven"], "to the best bound within the limits"
    assert ("proven best of the space" in last) is proven
    assert (gap in last) is not proven


def test_a_design_with_strips_is_answered_as_it_was_measured(project: Path) -> None:
    """Its text and its directives make the design with the cycles of the answer again."""
    file = project / "lower.c"
    file.write_text(LOWER)
    asked = ("--target", "simfoundry", "--evaluate", "8", "--json")
    answer = json.loads(_ask(file, *asked).stdout)
    assert answer["strips"] is True
    assert "L1_strips: for (" in answer["source"]
    best = min(step["measured"] for step in answer["exploration"]["steps"] if step["status"] == "ok")
    again_file = project / "again.c"
    again_file.write_text(answer["source"])
    program = program_from_file(again_file, top="lower")
    options = HlsOptions(
        transforms=TransformOptions(unsafe_math=True), directives=parse_directives(answer["directives"])
    )
    labels = LabelOptions(power=False, audit_fraction=0.0)
    again = count_design(
        program, options, ToolContext(cache=ContentCache(folder=project / "other"), options=labels)
    )
    assert again.run is not None
    assert again.run.latency_cycles == best
    assert "factors are strips in the text" in _ask(file, *asked[:-1]).stdout


def test_the_annotated_source_goes_to_a_file_as_vitis_pragmas(file: Path) -> None:
    out = file.with_name("out.c")
    found = _ask(file, "--style", "vitis", "--partitions", "2", "--out", out)
    assert found.exit_code == 0, found.output
    assert "#pragma HLS pipeline II=1" in out.read_text()
    assert f"written to {out}" in found.output
    assert "#pragma" not in found.output


def test_macros_choose_a_size(project: Path) -> None:
    file = project / "scale.c"
    file.write_text("void scale(float a[N])\n{\n  for (int i = 0; i < N; i++)\n    a[i] = a[i] * 2;\n}\n")
    sizes = [json.loads(_ask(file, "-D", f"N={n}", "--json").stdout)["bound"] for n in (16, 1600)]
    assert (
        sizes[1]["transfer_cycles"] - sizes[0]["transfer_cycles"] == 2 * 99
    )  # 16 floats a cycle, in and out


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("for (int i = 0; i < n; i++) a[i] = 0;", r"trip count"),
        ("for (int i = 0; i < 8; i++) if (a[i] > 0) a[i] = 0;", r"condition"),
        ("for (int i = 0; i < 8; i++) a[i * i % 8] = 0;", r"affine"),
        ("for (int i = 8; i < 8; i++) a[i] = 0;", r"trip|iteration"),
    ],
)
def test_pragmas_rejects_what_is_not_affine(project: Path, body: str, message: str) -> None:
    file = project / "bad.c"
    file.write_text(f"void bad(int n, float a[64])\n{{\n  {body}\n}}\n")
    found = _ask(file, "--top", "bad")
    assert found.exit_code == 1
    assert "bad.c:3" in found.stderr
    assert re.search(message, found.stderr), found.stderr
    assert found.stdout == ""


def test_sums_in_order_give_designs_of_programs_whose_results_are_roundings(project: Path) -> None:
    file = project / "columns.c"
    file.write_text(COLUMNS)
    asked = (file, "--target", "simfoundry", "--evaluate", "1")
    reordered = _ask(*asked)
    assert "none of them valid; 1 of them: the scheduled design differs from native C" in reordered.stdout
    assert "--ordered-sums keeps the order of floating sums" in reordered.stdout
    answer = json.loads(_ask(*asked, "--ordered-sums", "--json").stdout)
    (step,) = [s for s in answer["exploration"]["steps"] if s["decision"] == "evaluated"]
    assert step["status"] == "ok"
    assert (
        step["measured"]
        >= step["bound"]
        >= json.loads(_ask(*asked, "--json").stdout)["solution"]["latency_cycles"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--target", "moon"),
            "simfoundry: cannot read the target moon: No such file or directory; the names ",
        ),
        (
            ("--target", "/dev/zero"),
            "simfoundry: cannot read the target /dev/zero: a character device; accepted: ",
        ),
        (("--style", "omp"), "unknown style: omp; accepted: simfoundry, merlin, vitis"),
        (
            ("--evaluate", "3"),
            "only target simfoundry can be measured; for u200 give a folder of synthesis reports",
        ),
        (("--area", "3"), "a limit on area is for target simfoundry, not for u200"),
        (("-D", "2N"), "a macro must be NAME or NAME=TEXT, got '2N'"),
        (("--evaluate", "3", "--reports", "/no/where"), "no such folder of reports: /no/where"),
        (
            ("--target", "simfoundry", "--area", "0.05"),
            "no feasible design: dsps clash",
        ),
    ],
)
def test_pragmas_rejects(file: Path, arguments: tuple[str, ...], message: str) -> None:
    found = _ask(file, *arguments)
    assert found.exit_code == 1
    assert message in found.stderr
