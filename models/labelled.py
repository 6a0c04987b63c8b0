"""Labelled designs on a frozen split: the rows every predictor trains and is judged on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from models.options import Selection
from models.query import ALL_TARGETS, DELAY, POWER, Query
from models.tasks import LABEL_TABLES, DatasetError, TooFewRows, table_files
from pipelines.base.files import read_text
from pipelines.c import TOOL
from pipelines.dataset.splits import EXCLUDED, FIELDS, design_part
from pipelines.programs import WRITTEN, fields_of_kernels
from pipelines.schemas import DRAWN, OK, LoopRow, scan_table, table_spec
from pipelines.schemas.timing import SLACK, TIMING_MET, timing_of

PARTS = ("train", "validation", "test", "evaluation", FIELDS)
WITHHELD_FILE = "withheld.txt"
"""File beside `tables/` in a folder without the designs of some parts: the name of a part in each line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDesign:
    """One design with its labels and its place in the split.

    Attributes:
        labels: values of TARGETS, of POWER where every run has it, and of DELAY where it is known; those of
            runs are medians over the design's input data sets. A design outside the sample of
            `synthesis.fraction` has its cycles alone.
        loops: loop nest of the program, in source order.
        family: suite of the program; of suite `written`, its field.
    """

    design_id: str
    program_id: str
    group: str
    part: str
    query: Query
    loops: tuple[LoopRow, ...]
    labels: Mapping[str, float]
    family: str = ""

    @property
    def slack_ns(self) -> float | None:
        """Clock period less longest path; None where that is unknown."""
        return self._timing[SLACK]

    @property
    def timing_met(self) -> bool | None:
        """Whether the longest path fits in the clock period; None where it is unknown."""
        return self._timing[TIMING_MET]

    @property
    def _timing(self) -> dict[str, Any]:
        return timing_of(self.query.clock_period_ns, self.labels.get(DELAY))


def load_labelled_designs(data_dir: Path, selection: Selection) -> tuple[LabelledDesign, ...]:
    """Load the designs whose synthesis and every simulation are ok, with labels and part.

    Designs of the project's own engine only: another tool's labels of the same query are others.
    A design with any run that is not ok, or whose outputs differ from native C, is left out: its
    hardware is wrong, so its area and latency mean nothing. Failures stay in their own tables.
    Of designs under several options of the engine only those under the commonest are kept.

    Args:    data_dir: folder that holds `tables/`.
    Returns: designs sorted by program and configuration, so that a new version of a tool, which gives
             other ids, leaves the order as it is.
    Raises:  DatasetError: a table is missing, the split is unknown or leaks, a labelled program has
             no place in it, or a chosen tool or liberty has no labels. TooFewRows: train is empty, or
             test is and is not withheld. SchemaError: a table file is damaged.
    """
    tables = {name: _scan(data_dir, name) for name in LABEL_TABLES}
    places = _places(tables["splits"], selection.split)
    labels = _one_kind(tables["labels"], selection).join(_medians_of_runs(tables["runs"]), on="design_id")
    is_own = (pl.col("status") == OK) & (pl.col("tool") == TOOL)
    designs = tables["designs"].filter(is_own).join(labels, on="design_id", maintain_order="left").collect()
    commonest = designs["engine_options"].value_counts().sort("count", "engine_options").tail(1)
    designs = designs.join(commonest, on="engine_options", how="semi", maintain_order="left")
    programs = tables["programs"].select(
        "program_id", "name", "source", "top", "inputs", "parent", kernel="name", family="suite"
    )
    programs = programs.collect()
    _require_programs(designs, programs)
    designs = designs.join(programs, on="program_id", maintain_order="left")
    _require_places(designs, places)
    designs = designs.join(places, on="program_id").sort("program_id", *_CONFIGURATION, "design_id")
    _refuse_leaks(designs)
    designs = _parts_of_designs(designs, selection.split)
    _refuse_empty_parts(designs, selection.split, _withheld_parts(data_dir))
    loops = _loops_by_program(tables["loops"], designs)
    return tuple(_labelled(row, loops) for row in designs.iter_rows(named=True))


def training_designs(data_dirs: Sequence[Path], selection: Selection) -> tuple[LabelledDesign, ...]:
    """Return `load_labelled_designs` by the options of a training, from its one folder."""
    if len(data_dirs) > 1:
        raise DatasetError(f"labels are read from one folder of tables, not from {len(data_dirs)}")
    return load_labelled_designs(data_dirs[0], selection)


def count_parts(designs: Sequence[LabelledDesign]) -> dict[str, float]:
    """Return the number of designs by part, for the summary of a training; FIELDS where it has some."""
    counts = Counter(design.part for design in designs)
    return {f"{part}_designs": float(counts[part]) for part in PARTS if part != FIELDS or counts[part]}


CONVERTED = ("area_um2", "flip_flop_count", DELAY)
"""Targets that a constant factor converts between cell libraries within some per cent."""
FEWEST_PAIRS = 10
"""Designs with labels of both libraries from which a factor is taken, at least."""


def add_converted_labels(
    designs: Sequence[LabelledDesign], data_dir: Path, liberty: str
) -> tuple[LabelledDesign, ...]:
    """Give training designs without area their labels of another cell library, converted.

    The factor of a target is the median ratio over training designs with labels of both libraries. Designs of
    other parts keep their labels, so that nothing is judged on a converted one.

    Raises: DatasetError: the tables have no labels of the library, or too few designs with both.
    """
    rows = _scan(data_dir, "labels").filter(status=OK, liberty=liberty).filter(pl.col("area_um2") > 0)
    other = {row["design_id"]: row for row in rows.collect().iter_rows(named=True)}
    trained = [(d, other[d.design_id]) for d in designs if d.part == "train" and d.design_id in other]
    factors: dict[str, float] = {}
    for target in CONVERTED:
        ratios = [row[target] / d.labels[target] for d, row in trained if row[target] and target in d.labels]
        if len(ratios) < FEWEST_PAIRS:
            raise DatasetError(
                f"too few training designs with {target} in {liberty} and in the chosen library: "
                f"{len(ratios)}; accepted: at least {FEWEST_PAIRS}"
            )
        factors[target] = median(ratios)

    def converted(design: LabelledDesign) -> LabelledDesign:
        row = other.get(design.design_id)
        if row is None or design.part != "train" or "area_um2" in design.labels:
            return design
        own = {target: row[target] / factor for target, factor in factors.items() if row[target]}
        return replace(design, labels={**own, **design.labels})

    return tuple(map(converted, designs))


_CONFIGURATION = ("memory_read_delay_cycles", "memory_write_delay_cycles", "clock_period_ns", "directives")


def _scan(data_dir: Path, name: str) -> pl.LazyFrame:
    table_files(data_dir, name)
    return scan_table(data_dir, table_spec(name))


def _places(rows: pl.LazyFrame, split: str) -> pl.DataFrame:
    """Return the group and part of every program of one split; a group on two sides is refused."""
    places = rows.filter(pl.col("split") == split).select("program_id", "group", "part").collect()
    if places.is_empty():
        known = ", ".join(rows.select("split").unique().sort("split").collect()["split"]) or "none"
        raise DatasetError(f"unknown split: {split!r}; accepted: {known}")
    sides = places.group_by("group").agg(pl.col("part").unique().sort())
    for group, parts in sides.filter(pl.col("part").list.len() > 1).sort("group").head(1).iter_rows():
        raise DatasetError(
            f"a group must stand on one side of split {split}, got {group} in {', '.join(parts)}"
        )
    return places


def _one_kind(rows: pl.LazyFrame, selection: Selection) -> pl.LazyFrame:
    """Return the usable labels by design, of one tool and one liberty, so that areas are comparable."""
    usable = rows.filter(pl.col("status") == OK)
    has_area = pl.col("area_um2").is_not_null()
    if usable.filter(has_area).select(pl.len()).collect().item():
        usable = usable.filter(pl.col("lut_count").is_null())  # not of an FPGA beside a cell library
    for name, chosen in (("tool", selection.tool), ("liberty", selection.liberty)):
        counts = usable.group_by(name).len().sort("len", name, descending=[True, False]).collect()
        kinds = counts[name].to_list()
        if chosen is not None and chosen not in kinds:
            known = ", ".join(sorted(kinds)) or "none"
            raise DatasetError(f"no labels of {name} {chosen!r}; accepted: {known}")
        if kinds:
            usable = usable.filter(pl.col(name) == (chosen or kinds[0]))
    positive = (pl.col("area_um2", "flip_flop_count") != 0).fill_null(True)
    positive = pl.all_horizontal(positive)
    delay = pl.when(pl.col(DELAY) > 0).then(pl.col(DELAY))
    return usable.filter(positive).select(
        "design_id", pl.col("area_um2", "flip_flop_count").cast(pl.Float64), delay
    )


def _medians_of_runs(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the median latency in cycles of every design all of whose runs are right, and power where all
    have it.

    Runs on drawn data only: a question about a design has no data.
    """
    rows = rows.filter(pl.col("data_kind").is_null() | (pl.col("data_kind") == DRAWN))
    is_imported = pl.col("outputs_equal").is_null() & (pl.col("status") == OK)  # compared with nothing
    runs_right = pl.col("outputs_equal") & (pl.col("latency_cycles") != 0)
    is_right = (pl.col("status") == OK) & (is_imported | runs_right)
    has_power = ((pl.col("power_status") == OK) & (pl.col(POWER) > 0)).fill_null(False).all()
    by_design = rows.group_by("design_id").agg(
        pl.col("latency_cycles").cast(pl.Float64).median(),
        pl.when(has_power).then(pl.col(POWER).median()).alias(POWER),
        is_right=is_right.fill_null(False).all(),
    )
    return by_design.filter("is_right").select("design_id", "latency_cycles", POWER)


def _require_programs(designs: pl.DataFrame, programs: pl.DataFrame) -> None:
    for row in designs.join(programs, on="program_id", how="anti").head(1).iter_rows(named=True):
        raise DatasetError(
            f"no program in the programs table: {row['program_id']} (design {row['design_id']}); run again"
        )


def _require_places(designs: pl.DataFrame, places: pl.DataFrame) -> None:
    for row in designs.join(places, on="program_id", how="anti").head(1).iter_rows(named=True):
        raise DatasetError(f"no place in the split: {row['name']} ({row['program_id']})")


def _parts_of_designs(designs: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return the designs in their own part, without excluded programs; see `design_part`."""
    columns = ("part", "memory_read_delay_cycles", "memory_write_delay_cycles")
    parts = [design_part(split, *row) for row in designs.select(columns).iter_rows()]
    return designs.with_columns(part=pl.Series(parts, dtype=pl.String)).filter(pl.col("part") != EXCLUDED)


def _refuse_leaks(designs: pl.DataFrame) -> None:
    """Refuse designs with one source, or a program and its origin, on two sides."""
    programs = designs.unique("program_id", keep="first").sort("program_id")
    first = programs.select("name", "part", other=pl.col("part").first().over("source"))
    for name, part, other in first.filter(pl.col("part") != pl.col("other")).head(1).iter_rows():
        raise DatasetError(
            f"one source must stand on one side of the split, got {name} in {other} and {part}"
        )
    above = programs.select(parent="program_id", above="part")
    pairs = programs.join(above, on="parent", maintain_order="left").filter(pl.col("part") != pl.col("above"))
    for name, part, other in pairs.select("name", "part", "above").head(1).iter_rows():
        raise DatasetError(
            f"a program and its parent must stand on one side of the split, got {name} "
            f"in {part} and its parent in {other}"
        )


def _withheld_parts(data_dir: Path) -> Sequence[str]:
    """Return the parts of the split whose designs a folder of tables does not have on purpose."""
    path = data_dir / WITHHELD_FILE
    if not path.exists():
        return ()
    return read_text(path, what="list of withheld parts", most_bytes=1 << 10, error=DatasetError).split()


def _refuse_empty_parts(designs: pl.DataFrame, split: str, withheld: Sequence[str]) -> None:
    for part in ("train", "test"):  # without validation, training runs all its epochs
        if part not in designs["part"] and part not in withheld:
            kind = TooFewRows if designs.height else DatasetError
            raise kind(
                f"no labelled designs in part {part} of split {split}, of {designs.height}; "
                "label programs of more kernels"
            )


def _loops_by_program(rows: pl.LazyFrame, designs: pl.DataFrame) -> dict[str, tuple[LoopRow, ...]]:
    """Return the loops of the programs of some designs, in source order."""
    loops: dict[str, list[LoopRow]] = defaultdict(list)
    own = rows.join(designs.lazy().select("program_id"), on="program_id", how="semi")
    for row in own.sort("program_id", "loop_index").collect().iter_rows(named=True):
        loops[row["program_id"]].append(LoopRow(**row))
    return {program_id: tuple(nest) for program_id, nest in loops.items()}


def _labelled(row: Mapping[str, Any], loops: Mapping[str, tuple[LoopRow, ...]]) -> LabelledDesign:
    query = {name: row[name] for name in ("source", "top", "inputs", *_CONFIGURATION)}
    return LabelledDesign(
        **{name: row[name] for name in ("design_id", "program_id", "group", "part")},
        query=Query(**query),
        loops=loops.get(row["program_id"], ()),
        labels={name: row[name] for name in ALL_TARGETS if row[name] is not None},
        family=_family(row["family"], row["kernel"]),
    )


def _family(suite: str, kernel: str) -> str:
    """Return the suite of a program, of suite `written` with the field of a kernel that the suite has."""
    field = fields_of_kernels().get(kernel) if suite == WRITTEN else None
    return suite if field is None else f"{suite}/{field}"
