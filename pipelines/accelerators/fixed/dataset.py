"""Drawn networks as fixed-point pipelines: rows with what da4ml's compilation gives, and labels.

Two levels of representation are kept: the layers of the network, and the pipeline's stages with counts and
bits of their operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from pydantic import Field

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.fixed import FIXED_CATEGORIES
from pipelines.accelerators.fixed.labels import label_fixed
from pipelines.accelerators.fixed.sharing import FixedDesign, StageOperation, trace_shared
from pipelines.accelerators.fixed.tracing import WIRES
from pipelines.accelerators.graph import Network, network_of
from pipelines.accelerators.networks import FIXED_FAMILIES, FIXED_SCALES, drawn_fixed_network
from pipelines.base.cache import ContentCache, json_value
from pipelines.base.identity import content_hash
from pipelines.base.tools import stopwatch
from pipelines.base.validation import Count
from pipelines.base.workers import Outcome, ProgressCallback, run_all
from pipelines.power import ENGINE
from pipelines.power import tool_version as power_version
from pipelines.schemas import OK, REJECTED, FixedNetworkRow
from pipelines.schemas.accelerators import FIXED_CLOCK_PERIOD_NS as CLOCK_PERIOD_NS
from pipelines.silicon.synthesis import liberty_hash
from pipelines.silicon.synthesis import tool_version as synthesis_version

STEP, _LABELS, _COMPILED = "fixed", "fixed_labels", "fixed_compiled"
VERSION = "1"
"""Raised by hand when the same network gives other labels."""
_COLUMNS_VERSION = "3"
"""Version of what compilation gives."""
_KINDS = FIXED_CATEGORIES[:8]
_CODES = {-1: 0, 0: 1, 1: 1, 2: 2, -2: 2, 3: 3, -3: 3, 4: 4, 5: 5, 6: 6, -6: 6}
_TRAIN_PARAMETERS = 100
"""Limit of the scale split: networks with more parameters are tested."""
_TEST_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedGroup:
    """Networks of one kind: of every family as many.

    Attributes:
        scale: of `FIXED_SCALES`. reuse_factors: cycles per inference, one after the other by seed.
        is_labelled: whether they are synthesised and simulated, or compiled only.
    """

    name: str
    families: tuple[str, ...] = tuple(FIXED_FAMILIES)
    scale: str = "small"
    reuse_factors: tuple[Annotated[int, Field(ge=1, le=64)], ...] = (1,)
    networks: Count = 1
    is_labelled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        alien = sorted(set(self.families) - set(FIXED_FAMILIES))
        if alien:
            accepted = ", ".join(FIXED_FAMILIES)
            raise AcceleratorError(f"unknown family in group {self.name}: {alien[0]}; accepted: {accepted}")
        if self.scale not in FIXED_SCALES:
            accepted = ", ".join(FIXED_SCALES)
            raise AcceleratorError(f"unknown scale in group {self.name}: {self.scale}; accepted: {accepted}")
        if not self.reuse_factors or min(self.reuse_factors) < 1:
            raise AcceleratorError(
                f"reuse_factors of group {self.name}; accepted: one or more numbers from 1"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A network to be drawn, and its reuse factor."""

    family: str
    seed: int
    scale: str
    reuse_factor: int

    @property
    def identity(self) -> str:
        """Hash; small networks that are unrolled have the one that they had before there were others."""
        further = () if (self.scale, self.reuse_factor) == ("small", 1) else (self.scale, self.reuse_factor)
        return content_hash(VERSION, compiler_version(), self.family, self.seed, *further)


def compiler_version() -> str:
    """Return the version of da4ml.

    Raises: AcceleratorError: it is not installed.
    """
    try:
        return version("da4ml")
    except PackageNotFoundError as error:
        raise AcceleratorError("da4ml is not installed; pip install 'simfoundry[fixed]'") from error


def label_version(liberty: Path) -> str:
    """Return the version of everything that labels follow from but the network."""
    return content_hash(
        VERSION, compiler_version(), power_version(), synthesis_version(), liberty_hash(liberty)
    )[:12]


def group_key(group: FixedGroup, liberty: Path) -> str:
    """Return the hash of all that the rows of a group follow from."""
    return content_hash(label_version(liberty), _COLUMNS_VERSION, asdict(group))


def make_fixed(
    group: FixedGroup,
    *,
    liberty: Path,
    folder: Path,
    cache: ContentCache,
    workers: int,
    on_progress: ProgressCallback,
) -> list[FixedNetworkRow]:
    """Compile every network of a group, and label it when the group says so; sorted by key.

    Args:   folder: of the netlist simulator.
    Raises: AcceleratorError: da4ml is not installed.
    """
    compiler_version()
    numbers = range(group.seed * 1_000_000, group.seed * 1_000_000 + group.networks)
    rows = run_all(
        STEP,
        [
            _Drawn(
                family=family,
                seed=seed,
                scale=group.scale,
                reuse_factor=group.reuse_factors[place % len(group.reuse_factors)],
            )
            for place, seed in enumerate(numbers)
            for family in group.families
        ],
        partial(_row, group=group, liberty=liberty, folder=folder, cache=cache),
        workers=workers,
        on_progress=on_progress,
    )
    return sorted(rows, key=lambda row: row.fixed_id)


def _row(
    drawn: _Drawn, *, group: FixedGroup, liberty: Path, folder: Path, cache: ContentCache
) -> Outcome[FixedNetworkRow]:
    identity = drawn.identity

    def cached(kind: str, key: str, made: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return cache.cached(kind, key, made, dict, statuses=lambda fields: (fields["status"],))

    folder.mkdir(parents=True, exist_ok=True)
    fields = cached(_COMPILED, content_hash(_COLUMNS_VERSION, identity), partial(_compiled, drawn))
    if group.is_labelled and fields["status"] == OK:
        make = partial(_labelled, drawn, liberty=liberty, folder=folder)
        label = cached(_LABELS, _label_key(label_version(liberty), identity), make)
        fields = fields | {name: label[name] for name in _LABEL_FIELDS}
    lists: dict[str, Any] = {name: tuple(fields[name]) for name in _LISTS}
    fields = fields | lists
    row = FixedNetworkRow(
        fixed_id=identity,
        group=group.name,
        family=drawn.family,
        seed=drawn.seed,
        reuse_factor=drawn.reuse_factor,
        **parts_of(identity, drawn.family, fields["parameter_count"]),
        **fields,
    )
    return Outcome(result=row, failed=row.status != OK, name=f"{drawn.family} {drawn.seed}")


def _label_key(label_version: str, identity: str) -> str:
    return content_hash(label_version, identity)


def import_labels(rows: Sequence[FixedNetworkRow], *, liberty: Path, cache: ContentCache) -> Counter[str]:
    """Put the labels that the present tools made into the cache.

    Returns: new entries by kind.
    Raises:  AcceleratorError: da4ml is not installed.
    """
    version, stored = label_version(liberty), Counter[str]()
    for row in rows:
        key = _label_key(version, row.fixed_id)
        if row.tool_version == version and cache.get(_LABELS, key) is None:
            fields = {name: getattr(row, name) for name in _LABEL_FIELDS}
            stored[_LABELS] += cache.keep(_LABELS, key, json_value(fields), row.status)
    return stored


def _traced(drawn: _Drawn) -> tuple[Network, FixedDesign | None, str | None]:
    """Return the network, its design, and the reason when there is none."""
    network = network_of(drawn_fixed_network(drawn.family, drawn.seed, drawn.scale), drawn.family)
    try:
        return network, trace_shared(network, reuse_factor=drawn.reuse_factor), None
    except AcceleratorError as error:
        return network, None, str(error)


def _compiled(drawn: _Drawn) -> dict[str, Any]:
    """Return the columns of a network, without a label."""
    network, design, reason = _traced(drawn)
    columns: dict[str, Any] = {**dict.fromkeys(_LABEL_FIELDS), "parameter_count": network.parameter_count}
    if design is None:
        empty: dict[str, Any] = dict.fromkeys(_LISTS, ())
        return {**columns, **empty, "latency_cycles": None, "status": REJECTED, "reason": reason}
    return {**columns, **compiled_columns(network, design), "status": OK, "reason": None}


def _labelled(drawn: _Drawn, *, liberty: Path, folder: Path) -> dict[str, Any]:
    """Return the columns of the label of a network that compiles."""
    start = stopwatch()
    _, design, reason = _traced(drawn)
    if design is None:
        raise AcceleratorError(f"network {drawn.identity} no longer compiles: {reason}")
    with TemporaryDirectory(dir=folder) as scratch:
        label = label_fixed(
            design,
            liberty_path=liberty,
            folder=Path(scratch),
            engines=folder,
            clock_period_ns=CLOCK_PERIOD_NS,
        )
    figures = {name: getattr(label, name) for name in ("status", "reason", *_FIGURES)}
    tool = {"tool": ENGINE, "tool_version": label_version(liberty), "label_wall_s": stopwatch() - start}
    return {**figures, **tool}


_LISTS = ("layer_kinds", "layer_parameters", "stage_counts", "stage_activity")
_FIGURES = ("outputs_equal", "power_mw", "energy_nj", "area_um2", "cell_count", "delay_ns")
_LABEL_FIELDS = ("status", "reason", *_FIGURES, "tool", "tool_version", "label_wall_s")


def compiled_columns(network: Network, design: FixedDesign) -> dict[str, Any]:
    """Return the columns that a predictor reads."""
    layers = [layer for layer in network.layers if layer.kind != "host" or layer.kinds[0] not in WIRES]
    stages = zip(design.stages, design.register_bits, design.repeats, strict=True)
    counts = [stage_counts(stage, bits, repeats) for stage, bits, repeats in stages]
    return {
        "layer_kinds": tuple(
            layer.kind if layer.kind != "host" else layer.kinds[0].lower() for layer in layers
        ),
        "layer_parameters": tuple(layer.parameter_count for layer in layers),
        "stage_counts": tuple(number for stage in counts for number in stage),
        "stage_activity": tuple(round(number) for stage in design.activity for number in stage),
        "latency_cycles": design.latency_cycles,
    }


def stage_counts(operations: Sequence[StageOperation], register_bits: int, repeats: int = 1) -> list[int]:
    """Return the values of `FIXED_CATEGORIES` of a stage, per inference.

    Args: register_bits: clocked, cycle after cycle. repeats: how often the operations are executed.
    """
    counts, bits = [0] * len(_KINDS), [0] * len(_KINDS)
    levels: list[int] = []
    for operation in operations:
        kind = _CODES.get(operation.code, len(_KINDS) - 1)
        counts[kind] += repeats
        bits[kind] += repeats * operation.bits
        below = max((levels[place] for place in operation.operands), default=0)
        levels.append(below + (_KINDS[kind] in ("add", "constant_add", "select")))
    return [*counts, *bits, register_bits, max(levels, default=0)]


def parts_of(identity: str, family: str, parameter_count: int) -> Mapping[str, str]:
    """Return the part under each split; recurrent networks take no part in the one by architecture."""
    draw = int(content_hash("random split", identity)[:8], 16) / 16**8
    by_family = {"mlp": "train", "cnn": "train", "resnet": "test", "mobilenet": "test"}
    return {
        "split_random": "test" if draw < _TEST_SHARE else "train",
        "split_scale": "train" if parameter_count <= _TRAIN_PARAMETERS else "test",
        "split_arch1": by_family.get(family, "none"),
    }
