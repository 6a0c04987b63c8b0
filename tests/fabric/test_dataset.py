"""Rows of placements: repeatable, legal, decodable, with what failed as rows too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.base.cache import ContentCache
from pipelines.fabric import (
    Fabric,
    FabricError,
    Measured,
    PlacementGroup,
    measure,
    read_fabric,
    require_legal,
)
from pipelines.fabric.dataset import (
    FOLDS,
    FabricTables,
    decision_problems,
    fold_of,
    group_key,
    layer_hash,
    make_placements,
)
from pipelines.fabric.families import layer_operations
from pipelines.fabric.features import RouteReader, graph_of_rows
from pipelines.schemas import INFEASIBLE, OK
from tests.fabric.small_layers import small_layer


@pytest.fixture(autouse=True)
def small_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small layers instead of drawn ones."""
    monkeypatch.setattr("pipelines.fabric.dataset.layer_operations", lambda _, seed: small_layer(seed))


@pytest.fixture
def group() -> PlacementGroup:
    return PlacementGroup(name="few", families=("ffn",), draws=2, placements=6, moves=60, seed=3)


@pytest.fixture
def cache(tmp_path: Path, link_engines: Callable[[Path], Path]) -> ContentCache:
    return ContentCache(folder=link_engines(tmp_path / "cache"))


def made(group: PlacementGroup, fabric: Fabric, cache: ContentCache) -> FabricTables:
    return make_placements(group, fabric, cache=cache, workers=1, on_progress=lambda _: None)


def plain(tables: FabricTables) -> dict[str, Any]:
    """Rows without times."""
    fields = asdict(tables)
    for row in fields["placements"]:
        del row["wall_s"]
    return fields


def test_placements_repeat_themselves_from_the_cache_and_without(
    group: PlacementGroup,
    small_fabric: Fabric,
    cache: ContentCache,
    tmp_path: Path,
    link_engines: Callable[[Path], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = made(group, small_fabric, cache)
    again = made(group, small_fabric, ContentCache(folder=link_engines(tmp_path / "other")))
    assert plain(first) == plain(again)
    monkeypatch.delattr("pipelines.fabric.dataset.anneal")
    assert asdict(made(group, small_fabric, cache)) == asdict(first)
    with pytest.raises(NameError):  # another seed is not in the cache
        made(replace(group, seed=4), small_fabric, cache)


def test_every_row_is_a_legal_placement_with_its_routes(
    group: PlacementGroup, small_fabric: Fabric, cache: ContentCache
) -> None:
    tables = made(group, small_fabric, cache)
    assert {row.name for row in tables.graphs} == {"ffn_0000.0", "ffn_0000.1", "ffn_0001.0", "ffn_0001.1"}
    assert {row.moves == 0 for row in tables.placements} == {True, False}
    for row in tables.graphs:
        nodes = [asdict(node) for node in tables.nodes if node.graph_id == row.graph_id]
        edges = [asdict(edge) for edge in tables.edges if edge.graph_id == row.graph_id]
        assert (len(nodes), len(edges)) == (row.node_count, row.edge_count)
        fabric = Fabric.model_validate_json(row.configuration)
        assert fabric == small_fabric
        graph = graph_of_rows(row.name, nodes, edges)
        assert row.slowest_cycles == max(node["service_cycles"] for node in nodes)
        assert row.stage_count == 1 + max(node["stage"] for node in nodes)
        reader = RouteReader(graph, fabric)
        placements = [p for p in tables.placements if p.graph_id == row.graph_id]
        assert len(placements) == group.placements
        for placement in placements:
            require_legal(graph, fabric, [int(unit) for unit in placement.units.split()])
            features = reader.read(placement.units, placement.routes)  # raises unless they join the units
            assert placement.throughput is not None
            assert placement.interval_cycles is not None
            assert row.slowest_cycles is not None
            assert 0 < placement.throughput <= 1
            assert placement.throughput == min(1.0, row.slowest_cycles / placement.interval_cycles)
            assert placement.throughput <= 1.02 / max(1.0, features[:, [1, 4]].max())
            assert 0 < placement.heuristic_throughput <= 1
            assert (placement.overuse == 0) == bool(features[:, 1].max() <= 1 + 1e-6)


def test_a_wrong_row_is_named(group: PlacementGroup, small_fabric: Fabric, cache: ContentCache) -> None:
    tables = made(replace(group, draws=1), small_fabric, cache)
    graph = tables.graphs[0]
    nodes, edges, placements = (
        [asdict(row) for row in rows if row.graph_id == graph.graph_id]
        for rows in (tables.nodes, tables.edges, tables.placements)
    )

    def problems(**changes: Any) -> list[str]:
        rows = [{**slowest, **changes}, *(row for row in placements if row is not slowest)]
        return list(decision_problems(graph.configuration, nodes, edges, rows).values())

    slowest = min(placements, key=lambda row: row["throughput"])
    assert problems() == []
    [fast] = problems(throughput=1.08 * slowest["throughput"])
    assert fast.startswith(f"throughput {1.08 * slowest['throughput']} with a load of ")
    [place] = problems(units="1")
    assert place.startswith("not a placement: '1'")
    [path] = problems(routes=slowest["routes"].replace("n", "s"))
    assert "route" in path


def test_a_layer_that_does_not_fit_is_a_row(
    group: PlacementGroup, small_fabric: Fabric, cache: ContentCache
) -> None:
    tiny = Fabric.model_validate({**small_fabric.model_dump(), "name": "tiny", "rows": 1, "columns": 2})
    tables = made(replace(group, draws=1), tiny, cache)
    [row] = tables.graphs
    assert row.status == INFEASIBLE
    assert row.reason is not None
    assert row.reason.endswith(
        "does not fit: graph too large: 2 operations on compute units; tiny has room for 1"
    )
    assert (row.fabric, row.name, row.family, row.slowest_cycles) == ("tiny", "ffn_0000", "ffn", None)
    assert not tables.nodes + tables.edges + tables.placements


def test_a_deadlock_is_a_row(
    group: PlacementGroup, small_fabric: Fabric, cache: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadlocked(*arguments: Any, **options: Any) -> list[Measured]:
        first, *others = measure(*arguments, **options)
        simulated = replace(first.simulated, is_deadlocked=True, cycles=77)
        return [replace(first, simulated=simulated, throughput=None), *others]

    monkeypatch.setattr("pipelines.fabric.dataset.measure", deadlocked)
    tables = made(replace(group, draws=1), small_fabric, cache)
    failed = [row for row in tables.placements if row.status != OK]
    assert len(failed) == len(tables.graphs)
    assert {(row.status, row.reason) for row in failed} == {(INFEASIBLE, "deadlock after 77 cycles")}
    assert all(row.throughput is None and row.interval_cycles is None and row.units for row in failed)
    assert {row.status for row in tables.graphs} == {OK}


def test_folds_are_those_of_the_layers_on_every_fabric(
    group: PlacementGroup, small_fabric: Fabric, cache: ContentCache
) -> None:
    wide = Fabric.model_validate({**small_fabric.model_dump(), "name": "wide", "columns": 9})
    few = replace(group, placements=1, moves=1)
    ours, theirs = ({(g.layer, g.fold) for g in made(few, f, cache).graphs} for f in (small_fabric, wide))
    assert ours == theirs
    assert len(ours) == 2


def test_folds_of_drawn_layers_are_about_as_large() -> None:
    layers = {layer_hash(layer_operations(family, seed)) for family in ("mlp", "ffn") for seed in range(60)}
    counts = np.bincount([fold_of(layer) for layer in layers], minlength=FOLDS)
    assert len(layers) > 100
    assert len(counts) == FOLDS
    assert counts.min() >= len(layers) / FOLDS / 2


def test_keys_of_groups_differ_by_every_field(
    group: PlacementGroup, small_fabric: Fabric, repository: Path
) -> None:
    present = read_fabric(repository / "conf" / "fabric" / "present.yaml")
    changes: list[dict[str, Any]] = [
        {}, {"name": "many"}, {"families": ("gemm",)}, {"draws": 3}, {"placements": 7}, {"moves": 61},
        {"seed": 4},
    ]  # fmt: skip
    keys = {group_key(replace(group, **change), small_fabric) for change in changes}
    assert len(keys | {group_key(group, present)}) == len(changes) + 1
    assert group_key(replace(group, fabric="past"), present) == group_key(group, present)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"families": ("lstm",)}, "unknown family: lstm; accepted: gemm, mlp, mha, ffn, bert_large, gpt2_xl"),
        ({"draws": 0}, "too few draws, placements or moves in group few; accepted: 1 or more"),
        ({"placements": 0}, "too few draws, placements or moves in group few; accepted: 1 or more"),
        ({"moves": 0}, "too few draws, placements or moves in group few; accepted: 1 or more"),
    ],
)
def test_a_group_rejects_what_it_cannot_make(
    group: PlacementGroup, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(FabricError, match=f"^{message}$"):
        replace(group, **changes)
