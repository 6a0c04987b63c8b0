"""`simfoundry release check` and `release diff`: each line fails on the release that breaks it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import invoking
import polars as pl
import pyarrow.parquet as pq
import pytest

from assets.settings import Settings
from models.catalogue import PredictorSpec
from pipelines.dataset.releases import (
    Baseline,
    Floors,
    check_release,
    load_release,
    open_release,
    publish_baselines,
)
from pipelines.dataset.releases.baselines import read_valid_baselines
from pipelines.dataset.releases.checking import CheckLine
from pipelines.dataset.releases.near_duplicates import nearest
from pipelines.dataset.reports.difference import PredictorError, compare_releases, draw_difference
from pipelines.schemas import from_frame, table_spec

SUITES = (
    *("programs.suites=[linear_algebra,stencil]", "hls.memory_delay=[2,10]", "hls.pipeline=[false]"),
    "labelling.cross_check_fraction=0",  # the fakes compare the first design alone
)
FEW = Floors(
    programs=1,
    designs=1,
    runs=1,
    wholly_powered=0,
    fpga=0,
    other_libraries=0,
    clocked=0,
    class_2=0.0,
    class_1_runs=1,
)


@pytest.fixture
def made(settings: Settings, engines: Any, kept_tables: Path) -> Path:
    """The folder of a small release, made once and copied."""
    kept, folder = kept_tables / "small", settings.deployment.project / "releases" / "small"
    (settings.deployment.project / "params.yaml").unlink()
    if kept.exists():
        shutil.copytree(kept, folder)
    else:
        result = invoke("make", "small", *SUITES)
        assert result.exit_code == 0, result.output
        shutil.copytree(folder, kept)
    return folder


@pytest.fixture
def small(made: Path) -> Path:
    """The same with audited runs; its files may be changed further."""
    confirmed = {"audited": True, "audit_latency_cycles": pl.col("latency_cycles")}
    change(made, "runs", lambda rows: rows.with_columns(**confirmed))
    return made


invoke = partial(invoking.invoke, "release")


def change(folder: Path, table: str, edit: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change the rows of each file of a table."""
    for path in (folder / "tables" / table).glob("*.parquet"):
        rows = edit(pl.DataFrame(pq.read_table(path, partitioning=None)))
        pq.write_table(from_frame(rows, table_spec(table).schema()), path)


def lines(folder: Path) -> dict[str, CheckLine]:
    found = check_release(load_release(folder), FEW, hash_of=lambda program: program.program_id)
    return {f"{line.group}: {line.name}": line for line in found}


def failed(folder: Path) -> list[str]:
    return [name for name, line in lines(folder).items() if line.status == "fail"]


def first(column: str, value: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Another value in the first row."""
    is_first = pl.int_range(pl.len()) == 0
    return lambda rows: rows.with_columns(
        pl.when(is_first).then(pl.lit(value, rows.schema[column])).otherwise(pl.col(column)).alias(column)
    )


def test_a_good_release_passes_and_says_what_it_lacks(small: Path) -> None:
    assert failed(small) == []
    absent = lines(small)["coverage: area_um2"]
    assert (absent.status, absent.figure) == (
        "absent",
        "no area_um2 of parts train and evaluation in this release",
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("table", "edit", "name"),
    [
        ("labels", first("status", "unknown"), "schema: labels"),
        ("labels", lambda rows: pl.concat([rows, first("cell_count", 7)(rows).head(1)]), "keys: labels"),
        ("runs", first("design_id", "none"), "references: runs.design_id in designs"),
        ("splits", lambda rows: rows.slice(1), "leaks: by_kernel_v2: place of each program"),
        (
            "splits",
            lambda rows: rows.with_columns(group=pl.lit("one")),
            "leaks: by_kernel_v2: group on one side",
        ),
        (
            "programs",
            lambda rows: rows.with_columns(source=pl.lit("x")),
            "leaks: by_kernel_v2: source on one side",
        ),
        ("splits", first("part", "evaluation"), "leaks: by_kernel_v2: evaluation programs apart"),
        (
            "programs",
            lambda rows: rows.with_columns(
                stage=pl.when(pl.col("name") == "atax").then(pl.lit("evaluation")).otherwise("stage")
            ).with_columns(name=pl.col("name").replace({"atax": "bicg-int"})),
            "leaks: by_kernel_v2: names of evaluation programs held out",
        ),
        ("cross_checks", first("passed", value=False), "cross-checks: "),
        ("cross_checks", lambda rows: rows.clear(), "cross-checks: share of designs with area"),
        (
            "runs",
            lambda rows: rows.with_columns(audited=pl.lit(value=False)),
            "cross-checks: share of designs with cycles",
        ),
        ("runs", first("outputs_equal", value=False), "truth: outputs equal native C"),
        (
            "runs",
            lambda rows: first("audit_latency_cycles", 1)(first("audited", value=True)(rows)),
            "truth: cycles equal simulated Verilog",
        ),
        (
            "runs",
            lambda rows: rows.with_columns(power_status=pl.lit(None, pl.String)),
            "counts: ok designs with power",
        ),
        ("designs", lambda rows: rows.with_columns(status=pl.lit("timeout")), "counts: failed designs"),
    ],
)
def test_a_line_fails_where_the_release_breaks_it(
    small: Path, table: str, edit: Callable[[pl.DataFrame], pl.DataFrame], name: str
) -> None:
    change(small, table, edit)
    assert any(line.startswith(name) for line in failed(small)), failed(small)


def test_a_design_of_class_1_needs_several_runs(small: Path) -> None:
    name = "truth: runs of class I programs"
    few = check_release(load_release(small), replace(FEW, class_1_runs=3), hash_of=lambda p: p.program_id)
    (line,) = (line for line in few if f"{line.group}: {line.name}" == name)
    assert (line.status, line.limit) == ("fail", ">= 3 per design")
    count = load_release(small)["runs"].select("design_id").unique().collect().height
    assert line.figure == f"{count} of {count} designs have fewer"
    change(
        small,
        "runs",
        lambda rows: pl.concat(
            [rows.with_columns(data_id=pl.col("data_id") + f"-{number}") for number in range(3)]
        ),
    )
    enough = check_release(load_release(small), replace(FEW, class_1_runs=3), hash_of=lambda p: p.program_id)
    assert [line.status for line in enough if f"{line.group}: {line.name}" == name] == ["pass"]


def test_coverage_fails_beyond_the_range_of_training(small: Path) -> None:
    def place(rows: pl.DataFrame) -> pl.DataFrame:
        parts = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("evaluation")).otherwise(pl.lit("train"))
        return rows.with_columns(part=parts)

    change(small, "splits", place)
    name = "coverage: area_um2"
    assert lines(small)[name].status == "pass"
    evaluated = load_release(small)["splits"].filter(pl.col("part") == "evaluation").select("program_id")
    designs = load_release(small)["designs"].join(evaluated, on="program_id", how="semi").collect()
    larger = pl.col("design_id").is_in(designs["design_id"].implode()).cast(pl.Float64) * 1e6
    change(small, "labels", lambda rows: rows.with_columns(pl.col("area_um2") + larger))
    assert name in failed(small)


def test_coverage_counts_a_design_once(small: Path) -> None:
    def train(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns(
            part=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("evaluation")).otherwise(pl.lit("train"))
        )

    def many(rows: pl.DataFrame) -> pl.DataFrame:
        """Of designs with less power than most ten runs more."""
        light = rows.filter(pl.col("power_mw") < pl.col("power_mw").median())
        return pl.concat([rows, *(light.with_columns(data_id=pl.lit(f"copy-{n}")) for n in range(10))])

    change(small, "splits", train)
    change(small, "runs", lambda rows: rows.with_columns(power_mw=1.0 + pl.int_range(pl.len())))
    before = lines(small)["coverage: power_mw"]
    change(small, "runs", many)
    assert lines(small)["coverage: power_mw"].limit == before.limit


def test_the_share_of_checked_areas_is_of_the_own_synthesis(small: Path) -> None:
    def in_osu035(rows: pl.DataFrame) -> pl.DataFrame:
        is_first = pl.int_range(pl.len()) == 0
        area = pl.when(is_first).then(pl.col("area_um2"))
        other = rows.with_columns(tool=pl.lit("pyosys_osu035"), liberty=pl.lit("osu035"))
        return pl.concat([rows.with_columns(area_um2=area), other])

    change(small, "labels", in_osu035)
    partitions = len(list((small / "tables" / "labels").glob("*.parquet")))
    assert lines(small)["cross-checks: share of designs with area"].figure.endswith(f" of {partitions}")


def test_labels_in_other_libraries_are_counted(small: Path) -> None:
    def in_osu035(rows: pl.DataFrame) -> pl.DataFrame:
        other = rows.with_columns(tool=pl.lit("pyosys_osu035"), liberty=pl.lit("osu035"))
        return pl.concat([rows, first("status", "timeout")(other)])

    change(small, "labels", in_osu035)
    labelled = load_release(small).manifest.rows["labels"]
    partitions = len(list((small / "tables" / "labels").glob("*.parquet")))
    line = lines(small)["counts: designs with labels in another library"]
    assert (line.status, line.figure) == ("pass", str(labelled - partitions))


def test_check_by_command_has_a_table_json_and_a_status(made: Path) -> None:
    result = invoke("check", "small")
    assert result.exit_code == 1
    assert "counts" in result.stdout
    assert ">= 2,000" in result.stdout
    floors = [
        f"--floor={name}=0"
        for name in (
            *("programs", "designs", "runs", "wholly_powered", "fpga", "other_libraries", "clocked"),
            *("class_2", "class_1_runs", "checked"),
        )
    ]
    answer = json.loads(invoke("check", str(made), "--json", *floors).stdout)
    assert [line for line in answer["lines"] if line["status"] == "fail"] == []
    assert answer["passed"]
    assert {line["status"] for line in answer["lines"]} == {"pass", "absent"}
    assert "unknown limit: x; accepted: programs, " in invoke("check", "small", "--floor", "x=1").stderr
    assert "no such release: none; accepted: a folder in " in invoke("check", "none").stderr
    change(made, "labels", first("area_um2", 1.0))
    assert "as the manifest says" in invoke("check", "small").stderr


def test_diff_shows_rows_targets_failures_and_errors(small: Path, tmp_path: Path) -> None:
    page = tmp_path / "diff.html"
    result = invoke("diff", "small", str(small), "--out", str(page), "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    rows = {row["what"][0]: (row["one"], row["other"]) for row in answer["rows"]}
    assert rows["labels"] == (load_release(small).manifest.rows["labels"],) * 2
    medians = [row for row in answer["quantiles"] if row["what"] == ["area_um2", "kernel", "median"]]
    assert [(row["one"], row["other"]) for row in medians] == [(1006.0, 1006.0)]
    assert page.read_text().count('class="chart"') >= 5
    assert "median area_um2, kernel" in invoke("diff", "small", "small").stdout


def baseline(**changes: Any) -> Baseline:
    """An error of the trees at level hls."""
    values: dict[str, Any] = {"split": "by_kernel_v2", "part": "test", "metric": "mape", "value": 0.125}
    values |= {"interval_low": 0.1, "interval_high": 0.2, "row_count": 7}
    return Baseline(**{"predictor": "lightgbm-hls", "target": "area_um2", **values, **changes})


def shown_errors(*arguments: str) -> dict[tuple[str, ...], tuple[float | None, float | None]]:
    result = invoke("diff", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return {tuple(row["what"]): (row["one"], row["other"]) for row in json.loads(result.stdout)["errors"]}


def test_published_baselines_are_a_file_of_the_release_that_a_comparison_shows(made: Path) -> None:
    assert shown_errors("small", "small") == {}
    publish_baselines(made, [baseline(value=0.5)])
    publish_baselines(made, [baseline(), baseline(metric="spearman", value=0.9), baseline(value=None)])
    open_release(made)  # every file is as the manifest says
    assert shown_errors("small", "small") == {("lightgbm-hls", "area_um2", "test"): (0.125, 0.125)}
    (made / "baselines.json").write_text("{}")
    assert "no file of baselines: Field required" in invoke("diff", "small", "small").stderr


def test_a_release_that_grows_keeps_baselines_of_the_same_tables_alone(made: Path) -> None:
    publish_baselines(made, [baseline()])
    entries = load_release(made).manifest.files
    content = (made / "baselines.json").read_bytes()
    assert read_valid_baselines(made, entries) == content
    assert read_valid_baselines(made, [entry for entry in entries if entry.table != "runs"]) is None
    assert read_valid_baselines(made.parent, entries) is None
    grow = ("--grow", "synthesis.fpga_unmapped_fraction", "1")
    grown = invoke("make", "small", *grow)
    assert grown.exit_code == 0, grown.output
    assert (made / "baselines.json").read_bytes() == content


def test_a_comparison_trains_predictors_on_both_releases(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []

    def train(spec: PredictorSpec, data_dir: Path, options: Any, *, folder: Path) -> Any:
        assert (spec.name, data_dir, options.split) == ("lightgbm-static", made, "by_kernel_v2")
        assert folder.parent.is_dir()
        folders.append(folder)
        row = SimpleNamespace(predictor=spec.name, target="area_um2", part="test")
        metrics = (("mape", 0.1 * len(folders)), ("mape", None), ("spearman", 0.9))
        rows = [SimpleNamespace(**vars(row), metric=metric, value=value) for metric, value in metrics]
        return SimpleNamespace(leaderboard=rows)

    monkeypatch.setattr(PredictorSpec, "train", train)
    errors = shown_errors("small", str(made), "--train", "lightgbm-static")
    assert errors == {("lightgbm-static", "area_um2", "test"): (0.1, 0.2)}
    assert len(folders) == 2
    assert not any(folder.parent.exists() for folder in folders)


def test_the_page_of_a_difference_escapes_texts_and_shows_errors(small: Path) -> None:
    change(small, "labels", lambda rows: first("reason", "<b>bad</b>")(first("status", "timeout")(rows)))
    tables = load_release(small)
    errors = [PredictorError(predictor="lightgbm-hls", target="area_um2", part="test", value=0.125)]
    page = draw_difference(compare_releases(tables, tables, (errors, ())))
    assert "&lt;b&gt;bad&lt;/b&gt;" in page
    assert "12 %" in page
    assert page == draw_difference(compare_releases(tables, tables, (errors, ())))


def test_programs_are_near_by_their_text_alone() -> None:
    loop = "void f(int a[8]) { for (int i = 0; i < 8; i++) a[i] = a[i] * 3 + 1; }"
    renamed = "#define N 9\n/* x */ void g(int b[16]) { for (int k = 0; k < 9; k++) b[k] = b[k] * 5 + 2; }"
    other = "int h(int a) { while (a > 1) { if (a % 2) a = 3 * a + 1; else a = a / 2; } return a; }"
    shares, at = nearest([loop], [other, renamed])
    assert (shares[0], at[0]) == (1.0, 1)
    assert nearest([loop], [other])[0][0] < 0.2
    assert nearest([loop], [])[0].tolist() == [0.0]


@pytest.mark.slow
def test_the_first_release_fails_what_it_is_known_to_lack(repository: Path) -> None:
    found = check_release(load_release(repository / "releases" / "v1"), hash_of=lambda p: p.ast_hash)
    wrong = {line.name for line in found if line.status == "fail"}
    assert {"latency_cycles", "energy_nj", "runs", "by_kernel_v1: held-out programs near training"} <= wrong
    assert not {line.group for line in found if line.status == "fail"} & {
        "schema",
        "keys",
        "references",
        "truth",
    }


@pytest.mark.slow
def test_the_second_release_fails_what_it_is_known_to_lack_alone(repository: Path) -> None:
    lines = check_release(load_release(repository / "releases" / "v2"), hash_of=lambda p: p.ast_hash)
    known = {"counts: ok designs with power"}
    assert {f"{line.group}: {line.name}" for line in lines if line.status == "fail"} <= known
    assert [line for line in lines if line.status == "absent"] == []
