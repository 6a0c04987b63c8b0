"""Releases for learning: designs on the parts of a frozen split, as torch and PyG data sets.

The parts are those that every predictor of the project uses: `train`, `validation`, `test`, `evaluation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simfoundry.reading import release_folder

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from models.labelled import LabelledDesign
    from simfoundry.design_dataset import DesignDataset


class GraphList(list["Data"]):
    """Graphs for PyG's loaders.

    Attributes:
        left_out: number of designs of the part that lack a target.
    """

    left_out: int = 0


TARGETS = ("area_um2", "flip_flop_count", "latency_cycles")
FEATURE_LEVELS = ("text", "static", "hls")
"""Levels of information of the columns of table `features`."""
EDGE_KINDS = ("data", "memory", "control")
NODE_FEATURES = ("opcode", "width_bits", "start_cycle", "latency_cycles")
"""Columns of `x`; the opcode is its index in `opcodes` of the graph, -1 for others."""


def designs(
    release: Path | str, *, part: str | None = None, split: str | None = None
) -> tuple[LabelledDesign, ...]:
    """Return the labelled designs of a release, sorted by program and configuration.

    Args:    release: name or folder. part: side of the split; None for all. split: None for the last one by
             name.
    Returns: designs with their question (source, configuration) and labels.
    Raises:  DatasetError: a table is missing, the split is unknown or leaks, or the part has no designs.
    """
    from models.labelled import Selection, load_labelled_designs
    from models.tasks import DatasetError
    from pipelines.dataset.splits import last_split

    folder = release_folder(release)
    loaded = load_labelled_designs(folder, Selection(split=split or last_split(folder)))
    chosen = tuple(design for design in loaded if part is None or design.part == part)
    if part is not None and not chosen:
        accepted = ", ".join(sorted({str(design.part) for design in loaded}))
        raise DatasetError(f"no designs of part {part} in {folder}; accepted: {accepted}")
    return chosen


def torch_dataset(
    release: Path | str,
    *,
    part: str,
    split: str | None = None,
    targets: Sequence[str] = TARGETS,
    levels: Sequence[str] = FEATURE_LEVELS,
) -> DesignDataset:
    """Return the designs as tensors for `torch.utils.data.DataLoader`: features, targets and a mask of the
    targets.

    A design that lacks some of the targets stays: its missing targets are NaN, and false in the mask, so that
    `loss[mask].mean()` learns from the others. Features are the numbers of table `features` as they are
    there; true and false are 1 and 0.

    Args:    levels: of the features: text (of the source), static (of its syntax), hls (after high-level
             synthesis).
    Raises:  DatasetError: see `designs`; no design has a target, or a level is unknown.
    """
    from models.tasks import DatasetError
    from pipelines.schemas import table_spec
    from simfoundry.design_dataset import DesignDataset

    if isinstance(levels, str) or not levels:
        shown = repr(levels) if levels else "none"
        raise DatasetError(f"levels: {shown}; accepted: a list of some of {', '.join(FEATURE_LEVELS)}")
    columns = table_spec("features").columns
    for level in levels:
        if level not in FEATURE_LEVELS:
            raise DatasetError(f"unknown level: {level}; accepted: {', '.join(FEATURE_LEVELS)}")
    names = [column.name for column in columns if column.level in levels]
    every = designs(release, part=part, split=split)
    chosen = _with_targets(every, targets, needed=any)
    return DesignDataset(
        chosen,
        _feature_rows(release_folder(release), names, chosen),
        features=names,
        targets=targets,
        left_out=len(every) - len(chosen),
    )


def _feature_rows(
    folder: Path, names: Sequence[str], chosen: Sequence[LabelledDesign]
) -> dict[str, tuple[float, ...]]:
    """Return the features of designs by id; NaN for what the table has not."""
    import polars as pl

    from models.tasks import DatasetError, table_files
    from pipelines.schemas import scan_table, table_spec

    table_files(folder, "features")
    ids = [design.design_id for design in chosen]
    numbers = pl.col(names).cast(pl.Float64).fill_null(float("nan"))
    rows = scan_table(folder, table_spec("features")).filter(pl.col("design_id").is_in(ids))
    known = {row[0]: row[1:] for row in rows.select("design_id", numbers).collect().iter_rows()}
    for design_id in ids:
        if design_id not in known:
            raise DatasetError(f"no row of features: design {design_id}; run again")
    return known


def graph_dataset(
    release: Path | str,
    *,
    part: str,
    split: str | None = None,
    targets: Sequence[str] = TARGETS,
    opcodes: Sequence[str] | None = None,
) -> GraphList:
    """Return the designs as graphs of their operations, for PyG's loaders.

    Where the release leaves out the tables of graphs, designs are compiled again: 0.1 to 0.5 s per design.

    Args:    opcodes: vocabulary of operations; None: operations of the chosen part, in order of their names.
             Give the one of the training part (`data.opcodes`) for other parts.
    Returns: a graph per design that has one: `x` (nodes, NODE_FEATURES), `edge_index` (2, edges),
             `edge_attr` (edges, 2) with kind and distance, `y` (1, targets), `design_id`, `opcodes`. Designs
             that lack a target are left out, and `left_out` is their number.
    Raises:  DatasetError: see `designs`; or no design has all targets.
    """
    import torch
    from torch_geometric.data import Data

    from models.gnnhls.graphs import rows_of_graphs

    every = designs(release, part=part, split=split)
    chosen = _with_targets(every, targets, needed=all)
    rows = rows_of_graphs(release_folder(release), [design.design_id for design in chosen])
    nodes, edges = rows.nodes, rows.edges
    known = tuple(opcodes if opcodes is not None else nodes["opcode"].unique().sort().to_list())
    nodes = nodes.with_columns(_places("opcode", known))
    edges = edges.with_columns(_places("kind", EDGE_KINDS))
    own_nodes, own_edges = (
        {key[0]: rows for key, rows in frame.partition_by("design_id", as_dict=True).items()}
        for frame in (nodes, edges)
    )
    graphs = GraphList()
    graphs.left_out = len(every) - len(chosen)
    for design in (d for d in chosen if d.design_id in own_nodes):
        x = own_nodes[design.design_id].select(NODE_FEATURES).to_numpy().astype("float32")
        links = own_edges.get(design.design_id, edges.clear())
        ends = links.select("source_index", "target_index").to_numpy().T.astype("int64").copy()
        graphs.append(
            Data(
                x=torch.from_numpy(x),
                edge_index=torch.from_numpy(ends),
                edge_attr=torch.from_numpy(links.select("kind", "distance").to_numpy().astype("float32")),
                y=torch.tensor([[design.labels[target] for target in targets]], dtype=torch.float32),
                design_id=design.design_id,
                opcodes=known,
            )
        )
    return graphs


def _places(name: str, vocabulary: Sequence[str]) -> Any:
    """Return a column of names as their places in a vocabulary; -1 for others."""
    import polars as pl

    places = {value: place for place, value in enumerate(vocabulary)}
    return pl.col(name).replace_strict(places, default=-1, return_dtype=pl.Int64)


def _with_targets(
    every: Sequence[LabelledDesign], targets: Sequence[str], *, needed: Callable[[Iterable[bool]], bool]
) -> list[LabelledDesign]:
    """Return the designs that have any or all of the targets."""
    from models.tasks import DatasetError

    if isinstance(targets, str) or not targets:
        shown = repr(targets) if targets else "none"
        raise DatasetError(f"targets: {shown}; accepted: a list of names, such as {list(TARGETS)}")
    chosen = [design for design in every if needed(target in design.labels for target in targets)]
    if every and not chosen:
        known = ", ".join(sorted({target for design in every for target in design.labels}))
        raise DatasetError(f"no design has {', '.join(targets)}; known of some: {known}")
    return chosen
