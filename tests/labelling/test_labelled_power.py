"""Power in labels: of the netlist of the very design, cached by content, and a check of the netlist."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.base.cache import ContentCache
from pipelines.c import Directive
from pipelines.dataset.labelling import (
    LabelContext,
    LabelledDesign,
    LabelTables,
    cross_check_designs,
    label_design,
    runs,
    synthesis,
)
from pipelines.dataset.labelling.cross_checks import CrossCheckTarget
from pipelines.dataset.labelling.runs import is_synthesised
from pipelines.dataset.labelling.synthesis import lacking_figures, lacking_power, mapped_designs
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.native import NativeRun
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow
from pipelines.silicon.synthesis import (
    SynthesisError,
    Target,
    find_liberty,
    netlist_record,
    read_netlist_record,
)
from tests.support.labelling import label_options, with_synthesis

SUM = """
int total(int A[8], int B[8])
{
    int s = 0;
    for (int i = 0; i < 8; i++) {
        s += A[i];
        B[i] = s;
    }
    return s;
}
"""


@pytest.fixture(scope="module")
def store(
    tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[Path], ContentCache]
) -> ContentCache:
    return new_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def fresh(tmp_path: Path, store: ContentCache, new_cache: Callable[[Path], ContentCache]) -> ContentCache:
    """A cache that knows all but power."""
    cache = new_cache(tmp_path / "cache")
    ignored = shutil.ignore_patterns("power", "scratch", "runtime", "engines")
    shutil.copytree(store.folder, cache.folder, ignore=ignored, dirs_exist_ok=True)
    return cache


@pytest.fixture(scope="module")
def target() -> Target:
    return Target(liberty=find_liberty(None), clock_period_ns=10.0)


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> ProgramRow:
    path = tmp_path_factory.mktemp("program") / "total.c"
    path.write_text(SUM)
    return program_from_file(path, top="total")


def label(
    row: ProgramRow, target: Target, store: ContentCache, hls: HlsOptions | None = None, **options: Any
) -> LabelledDesign:
    settings = label_options(workers=1, audit_fraction=0.0, **options)
    return label_design(row, hls or HlsOptions(), LabelContext(target=target, cache=store, options=settings))


def counted(monkeypatch: pytest.MonkeyPatch, module: object, name: str, **changes: object) -> list[str]:
    """Count the calls of an engine, and perhaps change its results."""
    real = getattr(module, name)
    calls: list[str] = []

    def wrapped(*given: object, **arguments: object) -> object:
        calls.append(name)
        return replace(real(*given, **arguments), **changes)

    monkeypatch.setattr(module, name, wrapped)
    return calls


def test_an_ok_run_has_power_in_parts_and_energy(
    row: ProgramRow, target: Target, store: ContentCache
) -> None:
    made = label(row, target, store)
    (run,) = made.runs
    assert (made.label.status, run.status, run.power_status, run.power_reason) == ("ok", "ok", "ok", None)
    assert (run.power_engine, run.glitches) == ("netlist-simulator", True)
    parts = (run.internal_power_mw, run.switching_power_mw, run.leakage_power_mw)
    assert all(part is not None and part > 0 for part in parts)
    assert run.power_mw == pytest.approx(sum(part or 0.0 for part in parts))
    assert run.energy_nj == pytest.approx((run.power_mw or 0) * (run.latency_cycles or 0) * 10.0 / 1000)
    assert made.label.leakage_mw == pytest.approx(run.leakage_power_mw, rel=0.5)
    assert run.toggle_count
    assert run.power_wall_s


def test_a_generated_design_outside_the_sample_has_cycles_alone(
    row: ProgramRow, target: Target, store: ContentCache
) -> None:
    generated = replace(row, suite="ast")
    options = label_options(
        workers=1, audit_fraction=0.0, cross_check_fraction=1.0, synthesis={"fraction": 0.0}
    )
    context = LabelContext(target=target, cache=store, options=options)
    outside, inside = (label_design(program, HlsOptions(), context) for program in (generated, row))
    (run,) = outside.runs
    assert (outside.label.status, outside.label.cell_count, outside.label.area_um2) == ("ok", None, None)
    assert (run.status, run.latency_cycles, run.power_status, run.power_mw) == (
        "ok",
        inside.runs[0].latency_cycles,
        None,
        None,
    )
    assert inside.label.area_um2
    assert inside.runs[0].power_mw
    tables = LabelTables(labels=[outside.label], runs=[run])
    assert mapped_designs(tables.labels) == set()
    assert cross_check_designs([generated], [outside.design], tables, context) == []


def test_a_larger_share_of_demanding_designs_is_mapped(
    row: ProgramRow, target: Target, store: ContentCache
) -> None:
    generated = replace(row, suite="ast")
    options = label_options(
        workers=1, audit_fraction=0.0, synthesis={"fraction": 0.0, "demanding_fraction": 1.0}
    )
    context = LabelContext(target=target, cache=store, options=options)
    alone = label_design(generated, HlsOptions(), context)
    assert alone.label.area_um2 is None  # neither large nor long
    area_um2, cycles = alone.design.estimated_area_um2 or 0.0, alone.runs[0].latency_cycles or 0
    for large in (
        with_synthesis(options, demanding_um2_per_ns=area_um2 / 10.0),
        with_synthesis(options, demanding_um2_cycles=area_um2 * cycles),
    ):
        assert lacking_figures([alone.design], [alone.label], alone.runs, large) == [alone.design.design_id]
        made = label_design(generated, HlsOptions(), replace(context, options=large))
        assert made.label.area_um2
        assert made.runs[0].power_mw
        assert lacking_figures([made.design], [made.label], made.runs, large) == []
    unset = replace(alone.runs[0], power_status=None)
    lacking, mapped = CrossCheckTarget().lacking, LabelTables(labels=[made.label])
    compared = replace(options, cross_check_fraction=1.0)
    assert lacking([made.design], mapped, compared) == {made.design.design_id}
    assert not lacking([made.design], LabelTables(labels=[alone.label]), compared)
    assert not lacking([made.design], mapped, replace(options, cross_check_fraction=0.0))
    whole = with_synthesis(options, fraction=1.0)
    assert lacking_power([made.design], [made.label], [unset], whole) == {made.design.design_id}
    assert not lacking_power([made.design], [made.label], made.runs, whole)
    assert not lacking_power([made.design], [alone.label], [unset], whole)
    drawn = replace(whole, full_power_fraction=0.0)
    for without in (large, drawn, replace(drawn, light_um2_cycles=area_um2 * cycles - 1)):
        assert not lacking_power([made.design], [made.label], [unset], without)
    light = replace(large, light_um2_cycles=area_um2 * cycles)
    assert lacking_power([made.design], [made.label], [unset], light) == {made.design.design_id}


def test_large_designs_of_programs_by_people_are_drawn_like_generated_ones(
    row: ProgramRow, target: Target, store: ContentCache
) -> None:
    design = label(row, target, store).design
    area_um2 = design.estimated_area_um2 or 0.0
    for most, fraction, expected in (
        (None, 0.0, True),
        (area_um2, 0.0, True),
        (area_um2 - 1, 0.0, False),
        (area_um2 - 1, 1.0, True),
    ):
        options = replace(label_options().synthesis, fraction=fraction, all_most_um2=most)
        assert is_synthesised(design, 0, options) is expected


def test_one_synthesis_serves_all_data_and_its_netlist_is_kept(
    row: ProgramRow, target: Target, store: ContentCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label(row, target, store)
    cache = ContentCache(folder=tmp_path / "cache")
    syntheses = counted(monkeypatch, synthesis, "synthesize_design")
    powers = counted(monkeypatch, synthesis, "estimate_power")
    first = label(row, target, cache, data_seeds=(0, 1))
    assert (len(syntheses), len(powers)) == (1, 2)
    assert first.runs[0].toggle_count != first.runs[1].toggle_count
    calm = label(row, target, cache, glitches=False)
    assert (len(syntheses), len(powers)) == (1, 3)
    assert (calm.runs[0].toggle_count or 0) < (first.runs[0].toggle_count or 0)
    assert label(row, target, cache, data_seeds=(0, 1)) == first
    assert len(powers) == 3


def test_a_lost_netlist_is_made_again(
    row: ProgramRow, target: Target, store: ContentCache, fresh: ContentCache
) -> None:
    first = label(row, target, store)
    shutil.rmtree(fresh.folder / "netlist", ignore_errors=True)
    assert replace(label(row, target, fresh).runs[0], power_wall_s=None) == replace(
        first.runs[0], power_wall_s=None
    )
    assert list((fresh.folder / "netlist").rglob("*.json"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"latency_cycles": 7}, "cycles ("),
        ({"returned": 12345}, "the result ("),
        ({"outputs": {}}, "array B"),
        ({"loads": {"A": 7}}, "bytes read (32 and 28)"),
        ({"stores": {}}, "bytes written (32 and 0)"),
        ({"is_endless": True}, "cycles (more than "),
    ],
)
def test_a_netlist_that_differs_from_the_design_is_never_ok(
    changes: dict[str, object],
    reason: str,
    row: ProgramRow,
    target: Target,
    store: ContentCache,
    fresh: ContentCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    label(row, target, store)
    calls = counted(monkeypatch, synthesis, "estimate_power", **changes)
    for _ in range(2):
        made = label(row, target, fresh)
        (run,) = made.runs
        assert (made.label.status, run.status, run.power_status) == ("tool_error",) * 3
        assert f"the mapped netlist differs from the scheduled design in {reason}" in (run.reason or "")
        assert (run.latency_cycles, run.power_mw, run.energy_nj, made.label.area_um2) == (None,) * 4
    assert len(calls) == 1


@pytest.mark.parametrize(("status", "times"), [("timeout", 1), ("tool_error", 2)])
def test_power_that_fails_leaves_the_rest_of_the_label(
    status: str,
    times: int,
    row: ProgramRow,
    target: Target,
    fresh: ContentCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed: dict[str, object] = {
        "status": status,
        "reason": "late",
        "latency_cycles": None,
        "power_mw": None,
        "energy_nj": None,
        "parts": None,
    }
    calls = counted(monkeypatch, synthesis, "estimate_power", **failed)
    for _ in range(2):
        made = label(row, target, fresh)
        (run,) = made.runs
        assert (made.label.status, run.status, run.power_status) == ("ok", "ok", status)
        assert (run.power_reason, run.power_mw) == ("late", None)
        assert run.latency_cycles
        assert made.label.area_um2
    assert len(calls) == times


def test_native_c_that_fails_now_is_no_verdict_on_the_netlist(
    row: ProgramRow, target: Target, store: ContentCache, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = label(row, target, store)
    for kind in ("native", "power", "labels"):
        shutil.rmtree(fresh.folder / kind, ignore_errors=True)
    with monkeypatch.context() as late:
        failed = NativeRun(status="timeout", reason="more than 20 s", wall_s=20.0, tool_version="gcc")
        late.setattr(runs, "run_native_sets", lambda *_, **__: [failed])
        (run,) = label(row, target, fresh).runs
    assert (run.status, run.power_status) == ("ok", "tool_error")
    assert run.power_reason == "native C is not ok as it was before: more than 20 s"
    shutil.rmtree(fresh.folder / "native")
    (again,) = label(row, target, fresh).runs
    assert (again.power_status, again.power_mw) == ("ok", first.runs[0].power_mw)


def test_power_that_is_not_asked_for_is_null(
    row: ProgramRow, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch, synthesis, "estimate_power")
    (run,) = label(row, target, fresh, power=False).runs
    assert (run.status, run.power_status, run.power_engine, run.power_mw) == ("ok", None, None, None)
    assert calls == []


def test_reordered_sums_are_compared_with_the_cycle_model(
    target: Target, store: ContentCache, tmp_path: Path
) -> None:
    path = tmp_path / "dot.c"
    path.write_text(
        "float dot(float a[32], float b[32]) {\n  float s = 0;\n"
        "  for (int i = 0; i < 32; i++) s += a[i] * b[i];\n  return s;\n}\n"
    )
    pipelined = (Directive(kind="pipeline", loop="L0"),)
    hls = HlsOptions(directives=pipelined, transforms=TransformOptions(unsafe_math=True))
    (run,) = label(program_from_file(path, top="dot"), target, store, hls).runs
    assert (run.status, run.power_status) == ("ok", "ok")


@pytest.mark.parametrize(
    ("pattern", "what", "kept"),
    [
        (r"cell_leakage_power : [^;]*;|leakage_power_unit[^;]*;", "cell_leakage_power", "switching_power_mw"),
        (r"\binternal_power\b", "internal_power", "leakage_power_mw"),
        (r"nom_voltage : [^;]*;", "nom_voltage", None),
    ],
)
def test_a_library_that_lacks_a_part_gives_no_sum(
    pattern: str,
    what: str,
    kept: str | None,
    row: ProgramRow,
    target: Target,
    fresh: ContentCache,
    tmp_path: Path,
) -> None:
    path = tmp_path / "poor_stdcells.lib"
    changed = "unknown_group" if what == "internal_power" else ""
    path.write_text(re.sub(pattern, changed, target.liberty.read_text()))
    made = label(row, replace(target, liberty=path), fresh)
    (run,) = made.runs
    assert (made.label.status, run.status, run.power_status) == ("ok", "ok", "infeasible")
    assert f"has no {what}" in (run.power_reason or "")
    assert (run.power_mw, run.energy_nj) == (None, None)
    columns = ("internal_power_mw", "switching_power_mw", "leakage_power_mw")
    absent = {"internal_power": columns[0], "cell_leakage_power": columns[2]}.get(what)
    assert {c for c in columns if getattr(run, c) is None} == ({absent} if absent else set(columns))
    assert kept is None or getattr(run, kept) > 0
    assert (made.label.leakage_mw is None) == (what == "cell_leakage_power")


def test_a_netlist_record_is_the_netlist_again(row: ProgramRow, target: Target, store: ContentCache) -> None:
    made = label(row, target, store)
    kept = store.get("netlist", synthesis.netlist_key(made.design, target))
    assert kept is not None
    netlist = read_netlist_record(kept)
    assert sum(netlist.cells_by_type.values()) == made.label.cell_count
    assert netlist_record(netlist) == kept


@pytest.mark.parametrize("broken", [{}, {"net_count": 2, "inputs": [], "outputs": {}, "groups": {}}])
def test_a_netlist_record_rejects_another_value(broken: dict[str, object]) -> None:
    with pytest.raises(SynthesisError, match="not a record of `netlist_record`: "):
        read_netlist_record(broken)


def test_a_netlist_record_rejects_pins_of_other_cells() -> None:
    group = {"cells": 2, "pins": {"A": [2]}}
    with pytest.raises(SynthesisError, match="INV has 2 cells"):
        read_netlist_record({"net_count": 3, "inputs": {}, "outputs": {}, "groups": {"INV": group}})
