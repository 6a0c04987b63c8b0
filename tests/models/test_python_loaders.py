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


def test_a_torch_data_set_has_the_labels_of_its_designs(lasting_data_dir: Path) -> None:
    designs = sf.loaders.designs(lasting_data_dir, part="test")
    data = sf.loaders.torch_dataset(lasting_data_dir, part="test")
    assert len(data) == len(designs)
    query, targets = data[0]
    assert query == designs[0].query
    assert targets.tolist() == pytest.approx([designs[0].labels[t] for t in TARGETS])


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


def test_designs_of_cycles_alone_are_left_out_and_counted(graphs_dir: Path, tmp_path: Path) -> None:
    whole = sf.loaders.designs(graphs_dir, part="train")
    alone = whole[0].design_id
    (tmp_path / "tables").mkdir()
    for name in (graphs_dir / "tables").iterdir():
        if name.name != "labels":
            (tmp_path / "tables" / name.name).symlink_to(name)
    spec, nothing = table_spec("labels"), dict.fromkeys(("area_um2", "flip_flop_count", "cell_count"))
    rows = [
        replace(row, **nothing) if row.design_id == alone else row for row in read_table(graphs_dir, spec)
    ]
    write_table(tmp_path, spec, rows, "tests")
    data = sf.loaders.torch_dataset(tmp_path, part="train")
    assert (len(data), data.left_out) == (len(whole) - 1, 1)
    assert all(torch.isfinite(targets).all() for _, targets in (data[place] for place in range(len(data))))
    graphs = sf.loaders.graph_dataset(tmp_path, part="train")
    assert (len(graphs), graphs.left_out) == (len(whole) - 1, 1)
    assert alone not in [graph.design_id for graph in graphs]
    cycles = sf.loaders.torch_dataset(tmp_path, part="train", targets=("latency_cycles",))
    assert (len(cycles), cycles.left_out) == (len(whole), 0)


def test_loaders_reject_an_unknown_split_and_a_missing_target(lasting_data_dir: Path) -> None:
    with pytest.raises(DatasetError, match="unknown split: 'mine'; accepted: by_kernel_v2"):
        sf.loaders.designs(lasting_data_dir, split="mine")
    message = "no design has colour; known of some: area_um2, .*flip_flop_count, latency_cycles"
    with pytest.raises(DatasetError, match=message):
        sf.loaders.torch_dataset(lasting_data_dir, part="test", targets=("colour",))
