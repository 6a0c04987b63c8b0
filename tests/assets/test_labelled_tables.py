"""A user's own labels become a suite, and predictors of every level train on it."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from invoking import invoke

import simfoundry as sf
from assets import labelled_tables
from assets.configuration import compose_configuration, write_parameters
from assets.deployments import Deployment
from models.catalogue import PredictorSpec, predictors
from models.labelled import Selection, load_labelled_designs
from pipelines.dataset.splits import BY_KERNEL
from pipelines.dataset.vendor import VendorError
from pipelines.dataset.vendor.labelled import read_labelled_table
from pipelines.schemas import read_table, table_spec

SCALE = "void scale(int a[8]) {\n  for (int i = 0; i < 8; i++) a[i] = 3 * a[i];\n}\n"
ADD = "void add(int a[8], int b[8]) {\n  for (int i = 0; i < 8; i++) a[i] = a[i] + b[i];\n}\n"
DOT = "int dot(int a[8], int b[8]) { int s = 0; for (int i = 0; i < 8; i++) s += a[i] * b[i]; return s; }\n"
PIPELINE = '[{"kind": "pipeline", "loop": "L0"}]'
QUICK = {
    **{"max_epochs": 2, "trees": 4, "rounds": 2, "bootstrap_resamples": 10},
    **{"layers": 1, "width": 16, "decoder_layers": 1, "decoder_width": 16, "beams": 1, "leaf_designs": 1},
}
"""Options of a training in no time, where a predictor has them."""
LABELS = [spec for spec in predictors() if spec.task.name.startswith("labels")]


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list({name: 0 for row in rows for name in row}))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _rows() -> list[dict[str, Any]]:
    """Six designs of three programs, by Genus."""
    rows: list[dict[str, Any]] = []
    for number, source in enumerate((SCALE, ADD, DOT), 1):
        for directives in ("", PIPELINE):
            figure = number + bool(directives)
            rows.append(
                {
                    "source": source,
                    "directives": directives,
                    "tool": "genus",
                    "tool_version": "21.1",
                    "library": "sky130",
                    "area_um2": 1000.5 * figure,
                    "flip_flop_count": 40 * figure,
                    "power_mw": 0.5 * figure,
                    "latency_cycles": 30 * figure,
                }
            )
    return rows


@pytest.fixture
def table(deployment: Deployment, tmp_path: Path) -> Path:
    write_parameters(deployment.project, compose_configuration(["run.workers=1"]))
    return _write(tmp_path / "mine.csv", _rows())


def test_a_table_becomes_a_suite_with_the_labels_of_its_tool(deployment: Deployment, table: Path) -> None:
    result = invoke("import", str(table), "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["suite"] == "mine"
    assert (answer["rows"]["programs"], answer["rows"]["labels"]) == (3, 6)
    assert answer["statuses"] == {"ok": 6}
    assert {"train", "test"} <= set(answer["parts"])
    folder = Path(answer["folder"])
    assert folder == deployment.data_dir / "suites" / "mine"
    designs = load_labelled_designs(folder, Selection(split=BY_KERNEL))
    assert len(designs) == 6
    plain = next(d for d in designs if d.query.top == "scale" and d.query.directives == "[]")
    expected = {"area_um2": 1000.5, "flip_flop_count": 40.0, "latency_cycles": 30.0, "power_mw": 0.5}
    assert dict(plain.labels) == expected
    assert sf.table("labels", folder=folder).collect()["tool"].unique().to_list() == ["genus"]


def test_labels_of_an_fpga_and_of_no_run_are_learned_too(deployment: Deployment, tmp_path: Path) -> None:
    write_parameters(deployment.project, compose_configuration(["run.workers=1"]))
    (tmp_path / "scale.c").write_text(SCALE)
    rows = [
        {"file": "scale.c", "source": "", "tool": "vitis", "lut_count": 90, "flip_flop_count": 50},
        {"file": "", "source": ADD, "tool": "vitis", "lut_count": 80, "flip_flop_count": 60},
    ]
    assert invoke("import", str(_write(tmp_path / "fpga.csv", rows))).exit_code == 0
    designs = load_labelled_designs(deployment.of_suite("fpga").data_dir, Selection(split=BY_KERNEL))
    assert [dict(d.labels) for d in sorted(designs, key=lambda d: d.query.top)] == [
        {"flip_flop_count": 60.0},
        {"flip_flop_count": 50.0},
    ]


def test_a_program_that_the_engine_refuses_is_a_row_with_its_reason(
    deployment: Deployment, tmp_path: Path
) -> None:
    write_parameters(deployment.project, compose_configuration(["run.workers=1"]))
    loop = "void f(int a[4]) { while (a[0]) { a[0]--; if (a[1]) { goto end; } } end: a[2] = 1; }"
    rows = [*_rows()[:2], {"source": loop.replace("goto end", "f(a)"), "tool": "genus", "area_um2": 3.0}]
    result = invoke("import", str(_write(tmp_path / "mixed.csv", rows)), "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["statuses"] == {"ok": 2, "rejected": 1}
    assert "1 labels: this project's engine: " in answer["notes"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"area": 3}, r"unknown column: area \(.*mine\.csv\); accepted: source, file, name"),
        ({"area_um2": "much"}, r"area_um2: .*valid number.*, got 'much' \(.*mine\.csv, row 1\)"),
        (
            {"latency_cycles": 2**63},
            r"latency_cycles: .*less than 9223372036854775808.* \(.*mine\.csv, row 1\)",
        ),
        ({"area_um2": "nan"}, r"area_um2: .*finite number.* \(.*mine\.csv, row 1\)"),
        ({"tool": ""}, r"no value for tool \(.*mine\.csv, row 1\)"),
        ({"file": "x.c"}, r"accepted: either source or file \(.*mine\.csv, row 1\)"),
        ({"source": "", "file": "../x.c"}, r"file: \.\./x\.c is not in the folder of the table"),
        ({"source": "int x;"}, r"\(.*mine\.csv, row 1\)"),
        ({"directives": "[{}]"}, r"\(.*mine\.csv, row 1\)"),
        ({"directives": PIPELINE}, r"the same program, configuration and tool in rows 1 and 2"),
        ({"status": "timeout"}, r"a row of status timeout has a reason \(.*mine\.csv, row 1\)"),
    ],
)
def test_import_rejects_a_table_that_is_not_acceptable(
    table: Path, change: dict[str, Any], message: str
) -> None:
    rows = _rows()
    rows[0] |= change
    result = invoke("import", str(_write(table, rows)))
    assert result.exit_code == 1
    assert re.search(message, result.stderr), result.stderr


def test_text_of_a_parquet_table_is_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    rows = pa.Table.from_pylist([{"source": "int x = 11111;", "tool": "mine"}])
    pq.write_table(rows, path, use_dictionary=False, compression="none")
    path.write_bytes(path.read_bytes().replace(b"11111;", b"1111\xa0;"))
    with pytest.raises(VendorError, match=r"damaged: .*mine\.parquet: .*utf-8"):
        read_labelled_table(path)


def test_the_suite_of_the_inbox_is_reserved(deployment: Deployment, table: Path) -> None:
    refused = invoke("import", str(table), "--suite", "inbox")
    assert refused.exit_code == 1
    assert "reserved for files of the inbox: suite inbox" in refused.stderr


def test_an_import_that_fails_late_leaves_the_earlier_suite(
    deployment: Deployment, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("import", str(table)).exit_code == 0
    folder = deployment.of_suite("mine").data_dir
    before = _contents(folder)
    _write(table, _rows()[:2])
    with monkeypatch.context() as patch:
        patch.setattr(labelled_tables, "FOLLOWING_STEPS", ("features", "no such step"))
        assert invoke("import", str(table)).exit_code == 1
    assert _contents(folder) == before
    assert invoke("import", str(table)).exit_code == 0
    assert len(_contents(folder)) == len(before)
    assert _contents(folder) != before


def _contents(folder: Path) -> dict[str, bytes]:
    """Every table file of a suite."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.parquet")}


def test_train_takes_a_suite_or_releases(table: Path) -> None:
    result = invoke("train", "tenset-mlp")
    assert result.exit_code == 1
    assert "accepted: either --release or --suite" in result.stderr


@pytest.mark.slow
def test_a_model_of_a_suite_is_registered_and_no_champion(
    table: Path, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("import", str(table)).exit_code == 0
    result = invoke("train", "loop-rules", "--suite", "mine", "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["became_champion"] is False
    assert answer["reason"].startswith("candidate: not scored")


@pytest.fixture(scope="module")
def imported_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of a suite, made once."""
    from assets.deployments import local_deployment
    from assets.labelled_tables import import_labelled_table

    folder = tmp_path_factory.mktemp("suite")
    project = local_deployment(folder)
    write_parameters(folder, compose_configuration(["run.workers=1"]))
    return import_labelled_table(project, _write(folder / "mine.csv", _rows()), "mine").folder


@pytest.mark.sample(2)
@pytest.mark.parametrize("spec", LABELS, ids=lambda spec: spec.name)
def test_every_predictor_of_labels_trains_on_a_suite(
    spec: PredictorSpec, imported_suite: Path, tmp_path: Path
) -> None:
    known = {option.name for option in fields(spec.options)}
    quick = {"split": BY_KERNEL, **QUICK}
    options = spec.options(**{name: value for name, value in quick.items() if name in known})
    outcome = spec.train(imported_suite, options, folder=tmp_path / "model")
    assert outcome.source == "tables"
    assert spec.load(tmp_path / "model") is not None


def test_real_vendor_rows_become_a_suite(deployment: Deployment, tmp_path: Path, repository: Path) -> None:
    database = repository.parent / "shared" / "data" / "merlin_vitis_designs.parquet"
    if not database.is_file():
        pytest.skip("needs ../shared/data/merlin_vitis_designs.parquet, which is not there")
    write_parameters(deployment.project, compose_configuration(["run.workers=1"]))
    sources = {
        "mvt": "void mvt(double x1[120], double y_1[120], double A[120][120]) {\n"
        "  for (int i = 0; i < 120; i++)\n    for (int j = 0; j < 120; j++) x1[i] += A[i][j] * y_1[j];\n}\n",
        "atax": "void atax(double A[116][124], double x[124], double t[116]) {\n"
        "  for (int i = 0; i < 116; i++)\n    for (int j = 0; j < 124; j++) t[i] += A[i][j] * x[j];\n}\n",
        "jacobi-1d": "void jacobi(double A[120], double B[120]) {\n"
        "  for (int i = 1; i < 119; i++) B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);\n}\n",
    }
    rows = pl.read_parquet(database).filter((pl.col("status") == "ok") & pl.col("kernel").is_in([*sources]))
    chosen = rows.sort("kernel", "latency_cycles").unique("kernel", keep="first", maintain_order=True)
    table = pl.DataFrame(
        [
            {
                "name": row["kernel"],
                "source": sources[row["kernel"]],
                "tool": row["tool"],
                "latency_cycles": int(row["latency_cycles"]),
                "lut_count": int(row["lut_count"]),
                "flip_flop_count": int(row["ff_count"]),
            }
            for row in chosen.iter_rows(named=True)
        ]
    )
    path = tmp_path / "vitis.parquet"
    table.write_parquet(path)
    result = invoke("import", str(path), "--suite", "vitis", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["statuses"] == {"ok": table.height}
    folder = deployment.of_suite("vitis").data_dir
    labels = read_table(folder, table_spec("labels"), ["vitis"])
    assert sorted(label.lut_count or 0 for label in labels) == sorted(table["lut_count"])
