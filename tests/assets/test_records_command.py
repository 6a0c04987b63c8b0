"""Records from the tables of a project, and mappings sampled by its configuration."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from invoking import invoke

from assets.configuration import compose_configuration
from assets.errors import FoundryError
from assets.settings import Settings, ignore_progress
from assets.steps import records as records_step
from assets.steps import step_named
from pipelines.dataset.labelling import ConfigurationSpace
from pipelines.dataset.records import read_records
from pipelines.schemas import read_table, table_spec, write_table

STEPS = ("programs", "designs", "labels", "features", "splits", "records")


@pytest.fixture
def made(settings: Settings, engines: Any) -> Settings:
    """Every table that records are made of, and the records."""
    for name in STEPS:
        for partition in step_named(name).partitions(settings):
            step_named(name).make(settings, partition, ignore_progress)
    return settings


def _counts(*arguments: str) -> dict[str, int]:
    result = invoke("records", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)["records"]


def test_records_are_written_by_format_and_part(made: Settings, tmp_path: Path) -> None:
    everything = tmp_path / "all.jsonl"
    counts = _counts("--out", str(everything))
    records = read_records(everything)
    assert sum(counts.values()) == len(records) == 3 * 32
    some = tmp_path / "some.jsonl"
    assert _counts("--out", str(some), "--format", "direct", "--part", "test") == {
        "test direct": counts["test direct"]
    }
    assert read_records(some) == [r for r in records if (r.format, r.part) == ("direct", "test")]


def test_lengths_of_prompts_are_those_of_the_records(made: Settings, tmp_path: Path) -> None:
    written = tmp_path / "all.jsonl"
    _counts("--out", str(written))
    records = [
        record for record in read_records(written) if (record.format, record.part) == ("direct", "train")
    ]
    lengths = sorted(len(record.prompt) for record in records)
    asked = ["records", "--lengths", "--format", "direct", "--part", "train"]
    result = invoke(*asked, "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.output)["lengths"]
    assert (found["format"], found["stage"], found["part"]) == ("direct", "kernel", "train")
    assert (found["records"], found["maximum"], found["left_out"]) == (len(lengths), lengths[-1], 0)
    assert found["median"] == statistics.median(lengths)
    text = invoke(*asked).output
    assert f"{lengths[-1]:,}" in text
    assert "left out" in text.splitlines()[1]


def test_records_of_the_same_tables_are_not_written_again(
    made: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, path = step_named("records"), made.deployment.data_dir / "tables" / "records"
    before = {p.name: p.read_bytes() for p in path.iterdir()}
    monkeypatch.setattr(records_step, "make_records", None)
    step.make(made, "by_kernel_v2", ignore_progress)
    assert {p.name: p.read_bytes() for p in path.iterdir()} == before
    spec = table_spec("designs")
    (partition, *_) = step_named("designs").partitions(made)
    rows = read_table(made.deployment.data_dir, spec, [partition])
    write_table(made.deployment.data_dir, spec, rows[1:], partition)
    with pytest.raises(TypeError, match="not callable"):
        step.make(made, "by_kernel_v2", ignore_progress)


def test_records_rejects_a_project_without_records(settings: Settings, tmp_path: Path) -> None:
    result = invoke("records", "--out", str(tmp_path / "r.jsonl"))
    assert result.exit_code == 1
    assert "records must be made before they are written" in result.output
    assert "run `simfoundry stage records` first" in result.output


def test_records_rejects_another_suffix(made: Settings, tmp_path: Path) -> None:
    result = invoke("records", "--out", str(tmp_path / "r.csv"))
    assert result.exit_code == 1
    assert "must end with .jsonl or .parquet, got r.csv" in result.output


def test_the_configuration_says_how_mappings_are_sampled(settings: Settings) -> None:
    grid = settings.group(ConfigurationSpace)
    assert (grid.sampling, grid.write_delays, grid.drawn_clocks_ns) == ("grid", (2, 10), (10.0,))
    overrides = ["hls.sampling=latin_hypercube", "hls.samples=6", "hls.seed=3", "hls.clock_periods_ns=[5,10]"]
    sampled = compose_configuration([*overrides, "hls.write_delay=4"]).group(ConfigurationSpace)
    assert (sampled.samples, sampled.seed) == (6, 3)
    assert (sampled.memory_delay, sampled.write_delays) == ((2, 5, 10, 15), (4,))
    assert sampled.drawn_clocks_ns == (5.0, 10.0)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("hls.sampling=sobol", r'hls\.sampling: "sobol" .*; accepted: grid or latin_hypercube'),
        ("hls.clock_periods_ns=[5,20]", "clock_periods_ns are drawn with sampling latin_hypercube"),
        ("hls.samples=0", r"hls\.samples: 0 .*; accepted: 1 or more"),
        ("hls.plain_share=1", r"hls\.plain_share: 1 .*; accepted: less than 1"),
    ],
)
def test_sampling_rejects_other_values(override: str, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        compose_configuration([override])
