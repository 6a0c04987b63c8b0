"""Releases as data sets of torch and PyG, on the parts of a frozen split."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch_geometric.loader import DataLoader

import simfoundry as sf
from models.query import TARGETS
from models.tasks import DatasetError
from pipelines.schemas import CdfgEdgeRow, CdfgNodeRow, read_table, table_spec, write_table

PARTS = ("train", "validation", "test")
OPCODES = ("load", "mul", "add")


@pytest.fixture(scope="module")
def graphs_dir(tmp_path_factory: pytest.TempPathFactory, lasting_data_dir: Path) -> Path:
    """Labelled designs, each with a graph of three operations in a row."""
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "tables").mkdir()
    for name in (lasting_data_dir / "tables").iterdir():
        (folder / "tables" / name.name).symlink_to(name)
    nodes, edges = [], []
    for design in sf.loaders.designs(lasting_data_dir):
        nodes += [
            CdfgNodeRow(
                design_id=design.design_id,
                node_index=index,
                suite="tests",
                block="b0",
                opcode=opcode,
                width_bits=32,
                array=None,
                line=1,
                start_cycle=index,
                latency_cycles=1,
                loop=None,
            )
            for index, opcode in enumerate(OPCODES)
        ]
        edges += [
            CdfgEdgeRow(
                design_id=design.design_id,
                edge_index=index,
                suite="tests",
                source_index=index,
                target_index=index + 1,
                kind="memory",
                distance=index,
            )
            for index in (0, 1)
        ]
    write_table(folder, table_spec("cdfg_nodes"), nodes, "tests")
    write_table(folder, table_spec("cdfg_edges"), edges, "tests")
    return folder


def test_parts_of_a_split_are_disjoint_and_complete(lasting_data_dir: Path) -> None:
    everything = sf.loaders.designs(lasting_data_dir)
    parts = {
        part: sf.loaders.designs(lasting_data_dir, part=part) for part in ("train", "validation", "test")
    }
    assert sum(map(len, parts.values())) == len(everything)
    groups = {part: {design.group for design in own} for part, own in parts.items()}
    assert not groups["train"] & groups["test"]


def test_a_torch_data_set_goes_into_a_data_loader_as_it_is(compiled_data_dir: Path) -> None:
    designs = sf.loaders.designs(compiled_data_dir, part="train")
    data = sf.loaders.torch_dataset(compiled_data_dir, part="train")
    assert [design.design_id for design in data.designs] == [design.design_id for design in designs]
    assert data[0].targets.tolist() == pytest.approx([designs[0].labels[t] for t in TARGETS])
    delay = data.feature_names.index("memory_read_delay_cycles")
    assert data[0].features[delay] == designs[0].query.memory_read_delay_cycles
    batch = next(iter(torch.utils.data.DataLoader(data, batch_size=len(data))))
    assert torch.isfinite(batch.features).all()
    assert batch.features.shape == (len(data), len(data.feature_names))
    assert (batch.targets.shape, batch.mask.all()) == ((len(data), len(TARGETS)), True)
    text = sf.loaders.torch_dataset(compiled_data_dir, part="train", levels=("text",))
    assert set(text.feature_names) < set(data.feature_names)
    assert "estimated_area_um2" not in text.feature_names


def test_a_torch_data_set_rejects_an_unknown_level_and_tables_without_features(
    compiled_data_dir: Path, repository: Path
) -> None:
    with pytest.raises(DatasetError, match=r"^unknown level: run; accepted: text, static, hls$"):
        sf.loaders.torch_dataset(compiled_data_dir, part="train", levels=("run",))
    with pytest.raises(DatasetError, match="no Parquet files of table features"):
        sf.loaders.torch_dataset(repository / "releases" / "v1", part="validation")


def test_graphs_have_operations_edges_and_targets(graphs_dir: Path) -> None:
    train = sf.loaders.graph_dataset(graphs_dir, part="train")
    assert train[0].opcodes == tuple(sorted(OPCODES))
    assert train[0].x.tolist()[0] == [1.0, 32.0, 0.0, 1.0]
    assert train[0].edge_index.tolist() == [[0, 1], [1, 2]]
    assert train[0].edge_attr.tolist() == [[1.0, 0.0], [1.0, 1.0]]
    test = sf.loaders.graph_dataset(graphs_dir, part="test", opcodes=("mul",))
    assert test[0].x[:, 0].tolist() == [-1.0, 0.0, -1.0]
    batch = next(iter(DataLoader(train, batch_size=2)))
    assert batch.y.shape == (2, len(TARGETS))
    assert torch.isfinite(batch.x).all()


def test_graphs_that_a_release_leaves_out_are_compiled_again(compiled_data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for name in (compiled_data_dir / "tables").iterdir():
        if not name.name.startswith("cdfg"):
            (tmp_path / "tables" / name.name).symlink_to(name)
    stored, compiled = (
        sf.loaders.graph_dataset(folder, part="test") for folder in (compiled_data_dir, tmp_path)
    )
    assert [graph.design_id for graph in compiled] == [graph.design_id for graph in stored]
    assert all(torch.equal(a["x"], b["x"]) for a, b in zip(stored, compiled, strict=True))
    assert all(torch.equal(a["edge_index"], b["edge_index"]) for a, b in zip(stored, compiled, strict=True))


@pytest.fixture
def cycles_alone(compiled_data_dir: Path, tmp_path: Path) -> str:
    """Tables in which one design of the training part has no area; its id."""
    alone = sf.loaders.designs(compiled_data_dir, part="train")[0].design_id
    (tmp_path / "tables").mkdir()
    for name in (compiled_data_dir / "tables").iterdir():
        if name.name != "labels":
            (tmp_path / "tables" / name.name).symlink_to(name)
    spec, nothing = table_spec("labels"), dict.fromkeys(("area_um2", "flip_flop_count", "cell_count"))
    rows = read_table(compiled_data_dir, spec)
    rows = [replace(row, **nothing) if row.design_id == alone else row for row in rows]
    write_table(tmp_path, spec, rows, "tests")
    return alone


def test_graphs_of_designs_of_cycles_alone_are_left_out_and_counted(
    cycles_alone: str, compiled_data_dir: Path, tmp_path: Path
) -> None:
    whole = sf.loaders.graph_dataset(compiled_data_dir, part="train")
    graphs = sf.loaders.graph_dataset(tmp_path, part="train")
    assert (len(graphs), graphs.left_out) == (len(whole) - 1, 1)
    assert cycles_alone not in [graph.design_id for graph in graphs]


def test_missing_targets_of_a_torch_data_set_are_masked(cycles_alone: str, tmp_path: Path) -> None:
    data = sf.loaders.torch_dataset(tmp_path, part="train")
    assert data.left_out == 0
    place = [design.design_id for design in data.designs].index(cycles_alone)
    item = data[place]
    assert item.mask.tolist() == [False, False, True]
    assert torch.isnan(item.targets).tolist() == [True, True, False]
    assert data.mask.sum() == 3 * len(data) - 2
    area = sf.loaders.torch_dataset(tmp_path, part="train", targets=("area_um2",))
    assert (len(area), area.left_out) == (len(data) - 1, 1)


def test_loaders_reject_an_unknown_split_and_a_missing_target(lasting_data_dir: Path) -> None:
    with pytest.raises(DatasetError, match="unknown split: 'mine'; accepted: by_kernel_v2"):
        sf.loaders.designs(lasting_data_dir, split="mine")
    message = "no design has colour; known of some: area_um2, .*flip_flop_count, latency_cycles"
    with pytest.raises(DatasetError, match=message):
        sf.loaders.torch_dataset(lasting_data_dir, part="test", targets=("colour",))


def test_an_unknown_part_is_refused(lasting_data_dir: Path) -> None:
    with pytest.raises(DatasetError, match=r"^no designs of part tst in .*; accepted: .*test"):
        sf.loaders.designs(lasting_data_dir, part="tst")


@pytest.mark.parametrize("targets", ["area_um2", (), ""])
def test_data_sets_reject_targets_that_are_no_list(targets: tuple[str, ...], lasting_data_dir: Path) -> None:
    for data_set in (sf.loaders.torch_dataset, sf.loaders.graph_dataset):
        with pytest.raises(DatasetError, match=r"^targets: ('area_um2'|none); accepted: a list of names, "):
            data_set(lasting_data_dir, part="train", targets=targets)


def test_torch_dataset_rejects_levels_that_are_no_list(lasting_data_dir: Path) -> None:
    with pytest.raises(
        DatasetError, match=r"^levels: 'text'; accepted: a list of some of text, static, hls$"
    ):
        sf.loaders.torch_dataset(lasting_data_dir, part="train", levels="text")
