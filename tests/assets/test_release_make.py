"""`simfoundry release make`: batches survive, and an interrupted release ends with the same bytes."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import foundry_fakes
import invoking
import polars as pl
import pytest

from assets.configuration import compose_configuration
from assets.releases import derived
from assets.releases.batches import plan_batches
from assets.releases.job import release
from assets.resources import resources
from assets.settings import Settings
from pipelines.dataset.labelling import LabelTables, SecondTarget, runs
from pipelines.dataset.labelling import label as label_module
from pipelines.dataset.labelling.fpga import FpgaTarget
from pipelines.dataset.labelling.other_libraries import LibraryTarget
from pipelines.dataset.labelling.runs import is_fully_powered, is_synthesised
from pipelines.dataset.releases import load_release, open_release

SUITES = (
    *("programs.suites=[linear_algebra,stencil]", "hls.memory_delay=[2,10]", "hls.pipeline=[false]"),
    "labelling.cross_check_fraction=0",  # the fakes compare the first design alone
)
BATCHES = 6


@pytest.fixture
def projects(settings: Settings, engines: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Change to an empty project by its name."""
    original = settings.deployment.project
    (original / "params.yaml").unlink()

    def change(name: str) -> Path:
        folder = tmp_path / name
        if not folder.exists():
            shutil.copytree(original, folder)
        monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(folder))
        return folder

    return change


invoke = partial(invoking.invoke, "release", "make")


def grow(option: str, share: float | str) -> tuple[str, ...]:
    return "--grow", option, str(share)


def make(*arguments: str) -> Any:
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def contents(folder: Path) -> dict[str, bytes]:
    """Files without wall-clock columns."""
    names = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {n: p.read_bytes() for p in names if "measured" not in (n := str(p.relative_to(folder)))}


def test_the_job_makes_a_release_and_observes_its_tables(projects: Any) -> None:
    folder = projects("job") / "releases" / "small"
    options = {"name": "small", "overrides": list(SUITES), "batches": 1}
    configuration = {"ops": {"make_batches": {"config": options}}}
    result = release.execute_in_process(run_config=configuration, resources=resources(None))
    assert open_release(folder).partitions("programs") == ("linear_algebra",)
    events = result.get_asset_observation_events()
    observed = {e.asset_observation_data.asset_observation.asset_key.to_user_string() for e in events}
    assert "programs" in observed
    other = {"ops": {"make_batches": {"config": options | {"overrides": ["scale=smoke"]}}}}
    with pytest.raises(dg.Failure, match="configuration of an unfinished release stays"):
        release.execute_in_process(run_config=other, resources=resources(None))


def test_a_release_that_was_interrupted_has_the_same_bytes(projects: Any) -> None:
    whole = projects("whole") / "releases" / "small"
    answer = make("small", *SUITES)
    assert answer["complete"]
    rounds = [batch.split()[0] for batch in answer["made"]]
    assert rounds == [*["programs"] * 2, *["designs"] * 2, *["labels"] * 2]
    begun = projects("begun") / "releases" / "small"
    assert make("small", *SUITES, "--batches", str(BATCHES - 1))["pending"] == ["stencil", "by_kernel_v2"]
    assert open_release(begun).manifest.pending == ("stencil", "by_kernel_v2")
    assert load_release(begun)["splits"].collect().height  # from the first round on
    resumed = projects("resumed") / "releases" / "small"
    shutil.copytree(begun, resumed)
    assert make("small")["made"] == ["labels stencil"]
    assert contents(resumed) == contents(whole)
    assert make("small")["made"] == []
    manifest = open_release(resumed).manifest
    assert manifest.pending is None
    assert set(manifest.derived or ()) == {"cdfg_nodes", "cdfg_edges", "inputs", "records"}
    assert not {"cdfg_nodes", "records", "placements", "network_runs"} & set(manifest.rows)


@pytest.fixture
def by_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels of designs outside `synthesis.fraction` have cycles alone."""
    monkeypatch.setattr(runs, "GENERATED_SUITES", ("linear_algebra", "stencil"))

    def label(programs: Any, designs: Any, context: Any, **_: Any) -> Any:
        made = foundry_fakes.label_designs(programs, designs)
        alone = {d.design_id for d in designs if not is_synthesised(d, 0, context.options.synthesis)}
        unknown = dict.fromkeys(("area_um2", "flip_flop_count", "cell_count", "cells_by_type", "delay_ns"))
        labels = [replace(r, **unknown) if r.design_id in alone else r for r in made.labels]
        return replace(made, labels=labels)

    monkeypatch.setattr(label_module, "label_designs", label)


@pytest.mark.slow
def test_a_release_grows_by_a_larger_share_of_mapped_designs(projects: Any, by_share: None) -> None:
    whole = projects("whole") / "releases" / "small"
    make("small", *SUITES)
    grown = projects("grown") / "releases" / "small"
    make("small", *SUITES, "synthesis.fraction=0.5")
    areas = load_release(grown)["labels"].collect()["area_um2"]
    assert 0 < areas.null_count() < len(areas)
    answer = make("small", *grow("synthesis.fraction", 1))
    assert {batch.split()[0] for batch in answer["made"]} == {"labels"}
    assert contents(grown) == contents(whole)
    assert make("small")["made"] == []
    smaller = invoke("small", *grow("synthesis.fraction", 0.5))
    assert smaller.exit_code == 1
    assert (
        "synthesis.fraction must be at least that of the release (1) and at most 1, got 0.5" in smaller.stderr
    )
    other = invoke("small", *grow("synthesis.timeout_s", 1))
    assert "a release cannot grow by synthesis.timeout_s; accepted: synthesis.fraction, " in other.stderr
    assert "'nan' is not a finite number;" in invoke("small", *grow("synthesis.fraction", "nan")).stderr


def test_a_release_that_grows_says_how_many_labels_left_it(
    projects: Any, by_share: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def label(target: Any, programs: Any, designs: Any, tables: LabelTables, context: Any, **_: Any) -> Any:
        return LabelTables(labels=[replace(row, tool=target.name, cell_count=5) for row in tables.labels])

    monkeypatch.setattr(FpgaTarget, "label", label)
    folder = projects("grown") / "releases" / "small"
    tools = "synthesis.tools=[pyosys,synth_xilinx]"
    assert make("small", *SUITES, "synthesis.fraction=0.5", tools)["notes"] == []
    tool = load_release(folder)["labels"].collect()["tool"]
    monkeypatch.setattr(FpgaTarget, "label", lambda *_, **__: LabelTables())
    answer = make("small", *grow("synthesis.fraction", 1))
    assert [batch.split()[0] for batch in answer["made"]] == ["labels"] * 2
    counts = [int(note.split()[1]) for note in answer["notes"]]
    assert sum(counts) == (tool == "synth_xilinx").sum() == len(tool) / 2


@pytest.mark.slow
def test_a_release_grows_by_power_on_every_data_set(projects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def label(programs: Any, designs: Any, context: Any, **_: Any) -> Any:
        made = foundry_fakes.label_designs(programs, designs)
        alone = {d.design_id for d in designs if not is_fully_powered(d, 1, context.options)}
        unknown = {"power_status": None, "power_mw": None, "energy_nj": None}
        return replace(made, runs=[replace(r, **unknown) if r.design_id in alone else r for r in made.runs])

    monkeypatch.setattr(label_module, "label_designs", label)
    whole = projects("whole") / "releases" / "small"
    make("small", *SUITES)
    grown = projects("grown") / "releases" / "small"
    make("small", *SUITES, "labelling.full_power_fraction=0.5", "quality.max_failure_fraction=1")
    power = load_release(grown)["runs"].collect()["power_mw"]
    assert 0 < power.null_count() < len(power)
    assert make("small")["made"] == []
    make("small", *grow("labelling.full_power_fraction", 1))
    assert load_release(grown)["runs"].collect().equals(load_release(whole)["runs"].collect())


def label_as(monkeypatch: pytest.MonkeyPatch, kind: type[SecondTarget], **columns: str) -> None:
    """Let a target repeat the labels of the designs that lack its own, under its name."""

    def label(target: Any, programs: Any, designs: Any, tables: LabelTables, context: Any, **_: Any) -> Any:
        asked = target.lacking(designs, tables, context.options)
        rows = [row for row in tables.labels if row.design_id in asked]
        return LabelTables(labels=[replace(row, tool=target.name, **columns) for row in rows])

    monkeypatch.setattr(kind, "label", label)


@pytest.mark.slow
def test_a_release_grows_by_a_larger_share_of_fpga_labels(
    projects: Any, by_share: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_as(monkeypatch, FpgaTarget, tool_version="1")
    grown = projects("grown") / "releases" / "small"
    tools = "synthesis.tools=[pyosys,synth_xilinx]"
    make("small", *SUITES, "synthesis.fraction=0.0", tools, "synthesis.fpga_unmapped_fraction=0.5")
    tool = load_release(grown)["labels"].collect()["tool"]
    assert 0 < (tool == "synth_xilinx").sum() < len(tool) / 2
    answer = make("small", *grow("synthesis.fpga_unmapped_fraction", 1))
    assert {batch.split()[0] for batch in answer["made"]} == {"labels"}
    tool = load_release(grown)["labels"].collect()["tool"]
    assert (tool == "synth_xilinx").sum() == len(tool) / 2


@pytest.mark.slow
def test_a_release_grows_by_a_larger_share_of_labels_in_another_library(
    projects: Any, by_share: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_as(monkeypatch, LibraryTarget, liberty="osu035")
    grown = projects("grown") / "releases" / "small"
    libraries = "synthesis.other_libraries=[osu035]"
    make(
        "small", *SUITES, "synthesis.fraction=0.0", libraries, "synthesis.other_library_unmapped_fraction=0.5"
    )
    tool = load_release(grown)["labels"].collect()["tool"]
    assert 0 < (tool == "pyosys_osu035").sum() < len(tool) / 2
    made = make("small", *grow("synthesis.other_library_unmapped_fraction", 1))["made"]
    assert {batch.split()[0] for batch in made} == {"labels"}
    tool = load_release(grown)["labels"].collect()["tool"]
    assert (tool == "pyosys_osu035").sum() == len(tool) / 2
    assert make("small")["made"] == []


@pytest.mark.slow
def test_a_finished_release_takes_up_discarded_attempts(projects: Any) -> None:
    suites = ("programs.suites=[ast,stencil]", "ast.count=4", "programs.shard=2", *SUITES[1:])
    whole = projects("whole") / "releases" / "small"
    make("small", *suites, "ast.options.keep_discarded=true")
    grown = projects("grown") / "releases" / "small"
    make("small", *suites)
    before = contents(grown)
    elsewhere = projects("elsewhere") / "releases" / "small"  # a clone, without tables and cache
    shutil.copytree(grown, elsewhere)
    answer = make("small", "--keep-discarded")
    assert answer["made"] == ["programs ast-000", "programs ast-001"]
    rows = load_release(elsewhere)["programs"].collect()
    kept = rows.filter(~pl.col("name").str.contains("_attempt_"))
    assert kept.equals(load_release(grown)["programs"].collect())
    attempts = rows.join(kept, on="program_id", how="anti")
    assert attempts.height
    assert set(attempts["status"]) == {"rejected"}
    assert contents(elsewhere) == contents(whole)
    changed = {Path(n).parent.name for n, text in contents(elsewhere).items() if before.get(n) != text}
    assert {"programs", "splits"} <= changed
    assert not {"designs", "labels", "runs", "loops", "program_facts"} & changed
    assert make("small")["made"] == []


def test_an_unfinished_release_has_programs_of_every_suite(settings: Settings) -> None:
    large = replace(settings, configuration=compose_configuration(["scale=release_v2"]))
    names = [batch.partition for batch in plan_batches(large) if batch.round == "labels"]
    kernels = ["linear_algebra", "stencil", "irregular"]
    others = ["machsuite", "modern", "stationary", "polybench"]
    assert names[:9] == [*kernels, "ast-000", "dataflow-000", *others]
    assert names[9:11] == ["ast-001", "dataflow-001"]
    assert names[-1] == "llm"


def test_tables_that_were_left_out_are_made_again_and_compared(projects: Any) -> None:
    folder = projects("first") / "releases" / "small"
    make("small", *SUITES)
    other = projects("second") / "releases" / "small"
    shutil.copytree(folder, other)
    assert len(make("small", "--derived")["made"]) == 7
    path = other / "manifest.json"
    content = json.loads(path.read_text())
    content["derived"]["records"]["by_kernel_v2"] = "0" * 64
    path.write_text(json.dumps(content))
    result = invoke("small", "--derived")
    assert result.exit_code == 1
    assert f"a derived file must have SHA-256 {'0' * 64}, got another (" in result.stderr


def test_verilog_of_each_design_is_made_again_and_compared(
    projects: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = projects("first") / "releases" / "small"
    make("small", *SUITES)
    rtl = tmp_path / "rtl"
    compiled = SimpleNamespace(verilog="module top; endmodule\n")
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # other processes would not know what is patched
    monkeypatch.setattr(derived, "options_of", lambda design: design)
    monkeypatch.setattr(derived, "compile_program", lambda source, **_: compiled)
    result = invoke("small", "--derived", "--rtl", str(rtl))
    assert result.exit_code == 1
    assert f" must have the Verilog {'0' * 64}, got another" in result.stderr
    assert not list(rtl.iterdir())
    monkeypatch.setattr(derived, "text_sha256", lambda _: "0" * 64)
    made = make("small", "--derived", "--rtl", str(rtl))["made"]
    release = open_release(folder)
    rows = [row for part in release.partitions("designs") for row in release.rows("designs", part)]
    assert {path.stem for path in rtl.iterdir()} == {row.design_id for row in rows if row.status == "ok"}
    assert {path.read_text() for path in rtl.iterdir()} == {compiled.verilog}
    count = sum(int(line.split(", ")[1].split()[0]) for line in made if line.startswith("Verilog "))
    assert count == len(list(rtl.iterdir()))


def test_limits_end_a_call_between_batches(projects: Any) -> None:
    folder = projects("limits") / "releases" / "small"
    assert make("small", *SUITES, "--limit-minutes", "0")["made"] == []
    assert not folder.exists()
    assert make("small", *SUITES, "--batches", "2")["made"] == ["programs linear_algebra", "programs stencil"]
    folder.rename(folder.with_name(".small.old"))  # killed between two renames
    assert make("small", "--batches", "1")["made"] == ["designs linear_algebra"]


def test_make_rejects_another_configuration_and_a_failed_batch(
    projects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = projects("refused") / "releases" / "small"
    make("small", *SUITES, "--batches", "4")
    other = invoke("small", *SUITES[:-1])
    assert other.exit_code == 1
    assert "the configuration of an unfinished release stays: " in other.stderr
    both = invoke("small", "ast.count=3", "--config", str(folder / "params.yaml"))
    assert "overrides and --config are mutually exclusive" in both.stderr

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(label_module, "label_designs", fail)
    failed = invoke("small")
    assert failed.exit_code == 1
    assert "No space left on device" in failed.stderr
    assert "labels" not in open_release(folder).manifest.rows
