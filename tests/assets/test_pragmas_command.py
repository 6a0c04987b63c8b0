"""`simfoundry pragmas`: annotated C, bounds and logs, and what it refuses."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import pytest
from invoking import invoke

import simfoundry as sf
from pipelines.base.cache import ContentCache
from pipelines.c import parse_directives
from pipelines.dataset.features import DesignEstimate
from pipelines.dataset.labelling import ToolContext, count_design
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.pragmas import PragmaError
from pipelines.programs import program_from_file
from simfoundry.cli import simfoundry
from simfoundry.commands.pragmas import answer_pragmas, pragma_json, pragma_text
from simfoundry.questions import PragmaQuestion
from tests.support.labelling import label_options

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


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory, link_engines: Callable[[Path], Path]) -> Path:
    """A cache of what the searches of these tests estimate and measure."""
    return link_engines(tmp_path_factory.mktemp("searched") / "cache")


@pytest.fixture
def project(project: Path, searched: Path) -> Path:
    (project / "data").mkdir()
    (project / "data" / "cache").symlink_to(searched)
    return project


@pytest.fixture
def file(project: Path) -> Path:
    found = project / "mm.c"
    found.write_text(MATRIX_PRODUCT)
    return found


ONE_LINE = "void scale(int x[16], int y[16]) { for (int i = 0; i < 16; i++) y[i] = 3 * x[i]; }\n"
AXPB = """\
void axpb(int y[60], const int x[60], int a, int b) {
  for (int i = 0; i < 60; i++) y[i] = a * x[i] + b;
}
"""
HISTOGRAM = """\
void hist(int h[8], const unsigned char x[24]) {
  for (int n = 0; n < 24; n++) h[x[n] & 7] += 1;
}
"""
U200 = ("--target", "u200")


@pytest.fixture
def few_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search by estimates that ends soon."""
    monkeypatch.setattr("pipelines.pragmas.search.estimated.MOST_ESTIMATES", 12)
    monkeypatch.setattr("pipelines.pragmas.search.estimated.MOST_REDUCTIONS", 6)


_ask = partial(invoke, "pragmas")


def _answered(file: Path, **options: Any) -> tuple[dict[str, Any], str]:
    """The JSON and the text of one search."""
    question = PragmaQuestion(file, **options)
    answer = answer_pragmas(question)
    return json.loads(json.dumps(pragma_json(answer, question))), pragma_text(answer, question)


def _labelled(*arguments: str | Path) -> dict[str, Any]:
    result = invoke("label", *map(str, arguments), "--targets", "cycles", "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def _cycles(answer: Mapping[str, Any]) -> int:
    return answer["runs"][0]["latency_cycles"]


@pytest.fixture
def one_line(project: Path) -> Path:
    path = project / "scale.c"
    path.write_text(ONE_LINE)
    return path


def test_recommended_directives_give_the_estimated_cycles_as_labels(one_line: Path) -> None:
    result = _ask(one_line)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    directives = one_line.with_name("directives.json")
    directives.write_text("\n".join(lines[lines.index("[") : lines.index("]") + 1]))
    answer = json.loads(_ask(one_line, "--json").stdout)
    assert json.loads(directives.read_text()) == answer["directives"]
    label = _labelled(one_line, "--directives", directives)
    assert all(outcome["applied"] for outcome in label["directive_outcomes"])
    assert _cycles(label) == answer["recommended"]["cycles"] < answer["plain"]["cycles"]
    assert _cycles(_labelled(one_line)) == answer["plain"]["cycles"]
    assert f"plain        {answer['plain']['cycles']} " in result.stdout
    assert f"to label it: simfoundry label {quote(str(one_line))} --directives DIRECTIVES.json" in lines
    assert "at least 1 cycle," in lines[-1]
    assert answer["bound"]["latency_cycles"] == answer["solution"]["lower_bound_cycles"] == 1.0


def test_the_annotated_c_is_the_recommended_design(one_line: Path) -> None:
    out = one_line.with_name("out.c")
    answer = json.loads(_ask(one_line, "--out", out, "--json").stdout)
    assert out.read_text() == answer["source"]
    body = answer["source"].splitlines()
    loop = next(n for n, line in enumerate(body) if line.strip().startswith("for"))
    assert body[loop - 1].strip() == "#pragma clang loop unroll_count(16)"
    assert _cycles(_labelled(out)) == answer["recommended"]["cycles"]


def test_the_plain_program_is_recommended_where_the_estimates_say_so(
    one_line: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slower_with_directives(program: object, options: HlsOptions, **_: object) -> DesignEstimate:
        return DesignEstimate(status="ok", cycles=90 if options.directives else 60, area_um2=1e6)

    monkeypatch.setattr("pipelines.pragmas.search.recommendation.estimate_design", slower_with_directives)
    out = one_line.with_name("out.c")
    answer = json.loads(_ask(one_line, "--json", "--out", out).stdout)
    assert answer["directives"] == []
    assert answer["recommended"]["name"] == "plain"
    assert answer["recommended"]["why"] == "the best other design takes 90 cycles"
    assert out.read_text() == ONE_LINE
    said = _ask(one_line).stdout
    assert said.startswith(
        "recommended for simfoundry: the plain program, without directives; the best other"
    )
    assert "least bound  90 " in said


@pytest.mark.parametrize(
    ("estimate", "area", "why"),
    [
        (
            DesignEstimate(status="timeout", reason="too late"),
            (),
            "the configuration with the least bound has no estimate: too late",
        ),
        (
            DesignEstimate(status="ok", cycles=5, area_um2=7e6),
            ("--area", "2"),
            "no design with directives fits; the smallest takes 7 mm2 by its estimate",
        ),
    ],
)
def test_a_design_without_an_estimate_or_with_too_much_area_is_not_recommended(
    one_line: Path,
    monkeypatch: pytest.MonkeyPatch,
    estimate: DesignEstimate,
    area: tuple[str, ...],
    why: str,
) -> None:
    plain = DesignEstimate(status="ok", cycles=60, area_um2=1e6)
    monkeypatch.setattr(
        "pipelines.pragmas.search.recommendation.estimate_design",
        lambda _, options, **__: estimate if options.directives else plain,
    )
    answer = json.loads(_ask(one_line, *area, "--json").stdout)
    assert answer["recommended"]["name"] == "plain"
    assert answer["recommended"]["why"] == why


def test_a_program_without_loops_is_recommended_as_it_is(project: Path) -> None:
    file = project / "product.c"
    file.write_text("int product(int a, int b) { return a * b; }\n")
    found = _ask(file)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith(
        "recommended for simfoundry: the plain program, without directives; no directive can make"
    )
    assert "0 cycles" not in found.stdout


def test_loops_of_macros_have_directives_and_no_annotated_c(project: Path) -> None:
    file = project / "add.c"
    file.write_text("#define EACH for (int i = 0; i < 8; i++)\nvoid add(int a[8]) { EACH a[i] += 5; }\n")
    answer = json.loads(_ask(file, "--json").stdout)
    assert answer["directives"]
    assert answer["source"] is None
    refused = _ask(file, "--out", project / "out.c")
    assert refused.exit_code == 1
    assert "a loop comes from a macro or another file" in refused.stderr


@pytest.mark.slow
def test_measured_designs_are_a_table_with_power_and_the_best_is_written(one_line: Path) -> None:
    out = one_line.with_name("out.c")
    asked = (one_line, "--evaluate", "3", "--power", "--out", out)
    answer = json.loads(_ask(*asked, "--json").stdout)
    designs = answer["designs"]
    assert [design["cycles"] for design in designs] == sorted(design["cycles"] for design in designs)
    assert all(design["measured"] and design["power_mw"] > 0 for design in designs)
    assert answer["recommended"] == {**designs[0], "why": None}
    assert _cycles(_labelled(out)) == designs[0]["cycles"]
    lines = _ask(*asked).stdout.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("design  cycles  area_um2  power_mw"))
    assert [line.split()[0] for line in lines[head + 2 :][: 1 + len(designs)]] == [
        "plain",
        *(design["name"] for design in designs),
    ]


def test_the_command_and_the_function_share_options_and_defaults() -> None:
    defaults = {field.name: field.default for field in fields(PragmaQuestion) if field.kw_only}
    command = {p.name: p.default for p in simfoundry.commands["pragmas"].params if p.name in defaults}
    assert command == defaults
    function = inspect.signature(sf.pragmas).parameters
    assert {name: function[name].default for name in defaults} == defaults


def test_the_function_answers_as_the_command(one_line: Path) -> None:
    answer = sf.pragmas(ONE_LINE, power=True)
    assert answer["directives"] == json.loads(_ask(one_line, "--json").stdout)["directives"]
    assert answer["recommended"]["power_mw"] > 0
    with pytest.raises(PragmaError, match=r"^not a positive number: area nan$"):
        sf.pragmas(ONE_LINE, area=float("nan"))
    with pytest.raises(PragmaError, match=r"^not a number of designs: -1; accepted: 0 or more$"):
        sf.pragmas(ONE_LINE, evaluate=-1)


def test_help_has_no_ranges_and_no_cut_sentence() -> None:
    said = _ask("--help").stdout
    assert not re.search(r"x[<>]|RANGE|\.\.\.", said)
    assert "[default: simfoundry]" in said


def test_the_answer_for_other_tools_is_annotated_c_and_the_bound_by_part(file: Path) -> None:
    result = _ask(file, *U200)
    assert result.exit_code == 0, result.output
    assert "#pragma ACCEL" in result.output
    assert "cycles on u200: computation" in result.output
    assert "in: 2 bursts of 512 bits after an access of 64 cycles" in result.output


def test_json_has_configuration_bound_and_source(file: Path) -> None:
    answer = json.loads(_ask(file, *U200, "--json").stdout)
    assert answer["solution"]["status"] == "optimal"
    assert answer["bound"]["latency_cycles"] == answer["solution"]["latency_cycles"]
    assert [loop["loop"] for loop in answer["loops"]] == ["L0", "L1", "L2"]
    assert answer["exploration"] is None
    assert answer["source"].count("for (") == 3


@pytest.mark.slow
@pytest.mark.usefixtures("few_estimates")
def test_designs_are_measured_and_none_is_faster_than_its_bound(file: Path) -> None:
    answer, said = _answered(file, area=2.0, evaluate=4)
    measured = [s for s in answer["exploration"]["steps"] if s["decision"] == "evaluated"]
    assert 1 <= len(measured) == answer["exploration"]["evaluated"] <= 4
    assert all(s["measured"] >= s["bound"] for s in measured if s["status"] == "ok")
    assert answer["directives"] == answer["designs"][0]["directives"] != []
    last = next(line for line in said.splitlines() if "measured (" in line)
    proven, gap = answer["exploration"]["proven"], "the best bound of any area"
    assert ("proven best of the space" in last) is proven
    assert (gap in last) is not proven


@pytest.mark.slow
@pytest.mark.usefixtures("few_estimates")
def test_a_small_design_within_an_area_is_found(project: Path) -> None:
    """The plain program takes 303 cycles; unrolled designs do not fit."""
    file = project / "axpb.c"
    file.write_text(AXPB)
    answer = json.loads(_ask(file, "--area", "0.16", "--evaluate", "4", "--json").stdout)
    best = answer["recommended"]
    assert (best["cycles"], best["measured"]) == (67, True)
    assert all(design["area_um2"] <= 160_000 for design in (best, *answer["designs"]))
    assert [d["kind"] for d in answer["directives"]] == ["pipeline"]
    assert answer["exploration"]["steps"][0]["measured"] == answer["plain"]["cycles"]
    assert len(answer["exploration"]["steps"]) <= 4


@pytest.mark.usefixtures("few_estimates")
def test_an_area_that_nothing_keeps_to_is_refused_and_no_design_over_it_is_printed(project: Path) -> None:
    file = project / "axpb.c"
    file.write_text(AXPB)
    refused = _ask(file, "--area", "0.1", "--evaluate", "4")
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert refused.stderr.startswith(
        "simfoundry: no design fits --area 0.1: the smallest of those tried takes"
    )
    small = _ask(file, "--area", "0.129")
    assert small.exit_code == 0
    areas = [
        int(n.replace(",", ""))
        for n in re.findall(r"^(?:plain|recommended) +\d+ +([\d,]+)", small.stdout, re.M)
    ]
    assert areas
    assert max(areas) <= 129_000


SUMS = """\
void mm(float a[7][5], float b[5][9], float c[7][9]) {
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 9; j++) {
      float s = 0.0f;
      for (int k = 0; k < 5; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
"""


@pytest.mark.usefixtures("few_estimates")
@pytest.mark.slow
def test_the_bound_holds_for_designs_that_unroll_without_banks(project: Path) -> None:
    """327 cycles and less without any partition; with the banks of all factors 630 would be the least."""
    file = project / "mm.c"
    file.write_text(SUMS)
    answer, said = _answered(file, partitions=1)
    assert answer["recommended"]["cycles"] < 630
    assert not any(d["kind"] == "partition" for d in answer["directives"])
    assert answer["solution"]["status"] == "incumbent"
    assert answer["solution"]["lower_bound_cycles"] <= answer["recommended"]["cycles"]
    assert re.search(r"any other at least \d+ cycles? \(with any number of partitions, ", said)


@pytest.mark.sample(3)
@pytest.mark.usefixtures("few_estimates")
@pytest.mark.parametrize("style", ["simfoundry", "merlin", "vitis"])
def test_the_written_c_has_the_recommended_banks_in_every_style(project: Path, style: str) -> None:
    """Fewer banks than the factors would want, for the limit on area."""
    file, out = project / "mm.c", project / "out.c"
    file.write_text(SUMS)
    asked = ("--ordered-sums", "--area", "0.5", "--style", style, "--out", out, "--json")
    answer = json.loads(_ask(file, *asked).stdout)
    assert any(d["kind"] == "pipeline" for d in answer["directives"])
    assert out.read_text() == answer["source"]
    label = _labelled(out)
    read = [json.loads(o["directive"]) for o in label["directive_outcomes"] if o["applied"]]
    assert {_plain(d) for d in read} == {_plain(d) for d in answer["directives"]}
    assert _cycles(label) == answer["recommended"]["cycles"]


def _plain(directive: Mapping[str, Any]) -> str:
    """A directive without Merlin's word for a pipeline that unrolls the loops inside."""
    kept = {k: v for k, v in directive.items() if (directive["kind"], k) != ("pipeline", "style")}
    return json.dumps(kept, sort_keys=True)


@pytest.mark.usefixtures("few_estimates")
@pytest.mark.slow
def test_a_histogram_is_searched(project: Path) -> None:
    file = project / "hist.c"
    file.write_text(HISTOGRAM)
    answer = json.loads(_ask(file, "--area", "0.02", "--evaluate", "3", "--json").stdout)
    assert answer["recommended"]["cycles"] < answer["plain"]["cycles"]
    assert any(d["kind"] == "pipeline" for d in answer["directives"])
    assert _ask(file, *U200).exit_code == 1


@pytest.mark.usefixtures("few_estimates")
@pytest.mark.slow
def test_a_much_larger_design_names_the_option_for_area(project: Path) -> None:
    file = project / "axpb.c"
    file.write_text(AXPB)
    said = _ask(file).stdout
    assert re.search(r"^area: \d+\.\d times that of the plain program; --area MM2 limits it$", said, re.M)
    assert "times that of the plain program" not in _ask(file, "--area", "0.3").stdout


@pytest.mark.slow
def test_a_design_with_strips_is_answered_as_it_was_measured(project: Path) -> None:
    """Its text and its directives make the design with the cycles of the answer again."""
    file = project / "lower.c"
    file.write_text(LOWER)
    answer, said = _answered(file, evaluate=8)
    assert answer["strips"] is True
    assert "L1_strips: for (" in answer["source"]
    best = min(step["measured"] for step in answer["exploration"]["steps"] if step["status"] == "ok")
    again_file = project / "again.c"
    again_file.write_text(answer["source"])
    program = program_from_file(again_file, top="lower")
    options = HlsOptions(
        transforms=TransformOptions(unsafe_math=True),
        directives=parse_directives(json.dumps(answer["directives"])),
    )
    labels = label_options(power=False, audit_fraction=0.0)
    again = count_design(
        program, options, ToolContext(cache=ContentCache(folder=project / "other"), options=labels)
    )
    assert again.run is not None
    assert again.run.latency_cycles == best
    assert "factors are strips in the text" in said


def test_the_annotated_source_goes_to_a_file_as_vitis_pragmas(file: Path) -> None:
    out = file.with_name("out.c")
    result = _ask(file, *U200, "--style", "vitis", "--partitions", "2", "--out", out)
    assert result.exit_code == 0, result.output
    assert "#pragma HLS pipeline II=1" in out.read_text()
    assert f"written to {out}" in result.output
    assert "#pragma" not in result.output


def test_macros_choose_a_size(project: Path) -> None:
    file = project / "scale.c"
    file.write_text("void scale(float a[N])\n{\n  for (int i = 0; i < N; i++)\n    a[i] = a[i] * 2;\n}\n")
    sizes = [json.loads(_ask(file, *U200, "-D", f"N={n}", "--json").stdout)["bound"] for n in (16, 1600)]
    assert (
        sizes[1]["transfer_cycles"] - sizes[0]["transfer_cycles"] == 2 * 99
    )  # 16 floats a cycle, in and out


@pytest.mark.slow
def test_sums_in_order_give_designs_of_programs_whose_results_are_roundings(project: Path) -> None:
    file = project / "columns.c"
    file.write_text(COLUMNS)
    reordered, said = _answered(file, evaluate=1)
    assert "none of them valid; 1 of them: the scheduled design differs from native C" in said
    assert "--ordered-sums keeps the order of floating sums" in said
    answer, _ = _answered(file, evaluate=1, ordered_sums=True)
    (step,) = [s for s in answer["exploration"]["steps"] if s["decision"] == "evaluated"]
    assert step["status"] == "ok"
    assert step["measured"] >= step["bound"] >= reordered["solution"]["latency_cycles"]


def test_an_area_below_every_design_is_refused(file: Path) -> None:
    found = _ask(file, "--target", "simfoundry", "--area", "0.05")
    assert found.exit_code == 1
    assert "no design fits --area 0.05: the smallest of those tried takes " in found.stderr
