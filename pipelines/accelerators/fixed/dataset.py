"""Drawn networks as fixed-point pipelines: rows with what da4ml's compilation gives, and labels.

Two levels of representation are kept: the layers of the network, and the pipeline's stages with counts and
bits of their operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.fixed import FIXED_CATEGORIES
from pipelines.accelerators.fixed.labels import label_fixed
from pipelines.accelerators.fixed.tracing import FixedDesign, StageOperation, trace_network
from pipelines.accelerators.graph import Network, network_of
from pipelines.accelerators.networks import FIXED_FAMILIES, drawn_fixed_network
from pipelines.cache import ContentCache
from pipelines.identity import content_hash
from pipelines.power import ENGINE
from pipelines.power import tool_version as power_version
from pipelines.schemas import OK, REJECTED, FixedNetworkRow
from pipelines.synthesis import liberty_hash
from pipelines.synthesis import tool_version as synthesis_version
from pipelines.tools import stopwatch
from pipelines.workers import Outcome, ProgressCallback, run_all

STEP, _LABELS, _COMPILED = "fixed", "fixed_labels", "fixed_compiled"
VERSION = "1"
"""Raised by hand when the same network gives other rows."""
CLOCK_PERIOD_NS = 20.0
_KINDS = FIXED_CATEGORIES[:8]
_CODES = {-1: 0, 0: 1, 1: 1, 2: 2, -2: 2, 3: 3, -3: 3, 4: 4, 5: 5, 6: 6, -6: 6}
_TRAIN_PARAMETERS = 100
"""Of the scale split: networks with more parameters are tested."""
_TEST_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedGroup:
    """Networks of one kind: of every family as many.

    Attributes: is_labelled: whether they are synthesised and simulated, or compiled only.
    """

    name: str
    families: tuple[str, ...] = tuple(FIXED_FAMILIES)
    networks: int = 1
    is_labelled: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        alien = sorted(set(self.families) - set(FIXED_FAMILIES))
        if alien:
            accepted = ", ".join(FIXED_FAMILIES)
            raise AcceleratorError(f"unknown family in group {self.name}: {alien[0]}; accepted: {accepted}")


def compiler_version() -> str:
    """Version of da4ml.

    Raises: AcceleratorError: it is not installed.
    """
    try:
        return version("da4ml")
    except PackageNotFoundError as error:
        raise AcceleratorError("da4ml is not installed; pip install 'simfoundry[fixed]'") from error


def label_version(liberty: Path) -> str:
    """Version of everything that labels follow from but the network."""
    return content_hash(
        VERSION, compiler_version(), power_version(), synthesis_version(), liberty_hash(liberty)
    )[:12]


def group_key(group: FixedGroup, liberty: Path) -> str:
    """Hash of all that the rows of a group follow from."""
    return content_hash(label_version(liberty), asdict(group))


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
        [(family, seed) for seed in numbers for family in group.families],
        partial(_row, group=group, liberty=liberty, folder=folder, cache=cache),
        workers=workers,
        on_progress=on_progress,
    )
    return sorted(rows, key=lambda row: row.fixed_id)


def _row(
    drawn: tuple[str, int], *, group: FixedGroup, liberty: Path, folder: Path, cache: ContentCache
) -> Outcome[FixedNetworkRow]:
    family, seed = drawn
    identity = content_hash(VERSION, compiler_version(), family, seed)

    def made(*, is_labelled: bool) -> dict[str, Any]:
        with TemporaryDirectory(dir=folder) as scratch:
            asked = liberty if is_labelled else None
            return _made(family, seed, Path(scratch), liberty=asked, engines=folder)

    folder.mkdir(parents=True, exist_ok=True)
    kind, key = _COMPILED, identity
    if group.is_labelled:
        kind, key = _LABELS, content_hash(label_version(liberty), identity)
    fields: dict[str, Any] = cache.cached(
        kind, key, lambda: made(is_labelled=group.is_labelled), dict, statuses=lambda f: (f["status"],)
    )
    lists: dict[str, Any] = {name: tuple(fields[name]) for name in _LISTS}
    fields |= lists
    row = FixedNetworkRow(
        fixed_id=identity,
        group=group.name,
        family=family,
        seed=seed,
        **parts_of(identity, family, fields["parameter_count"]),
        **fields,
    )
    return Outcome(result=row, failed=row.status != OK, name=f"{family} {seed}")


def _made(family: str, seed: int, scratch: Path, *, liberty: Path | None, engines: Path) -> dict[str, Any]:
    """Columns of a network; with a liberty file, of its label too."""
    start = stopwatch()
    network = network_of(drawn_fixed_network(family, seed), family)
    columns: dict[str, Any] = {
        "parameter_count": network.parameter_count,
        "tool": None,
        "tool_version": None,
        **dict.fromkeys(_FIGURES),
        "label_wall_s": None,
    }
    try:
        design = trace_network(network, scratch / "project")
    except AcceleratorError as error:
        empty: dict[str, Any] = dict.fromkeys(_LISTS, ())
        return {**columns, **empty, "latency_cycles": None, "status": REJECTED, "reason": str(error)}
    columns |= {**compiled_columns(network, design), "status": OK, "reason": None}
    if liberty is None:
        return columns
    label = label_fixed(
        design, liberty_path=liberty, folder=scratch, engines=engines, clock_period_ns=CLOCK_PERIOD_NS
    )
    figures = {name: getattr(label, name) for name in ("status", "reason", *_FIGURES)}
    tool = {"tool": ENGINE, "tool_version": label_version(liberty), "label_wall_s": stopwatch() - start}
    return {**columns, **figures, **tool}


_LISTS = ("layer_kinds", "layer_parameters", "stage_counts")
_FIGURES = ("outputs_equal", "power_mw", "energy_nj", "area_um2", "cell_count", "delay_ns")


def compiled_columns(network: Network, design: FixedDesign) -> dict[str, Any]:
    """Columns that a predictor reads."""
    layers = [layer for layer in network.layers if layer.kind != "host" or layer.kinds[0] != "Slice"]
    stages = zip(design.stages, design.register_bits, strict=True)
    counts = [stage_counts(stage, bits) for stage, bits in stages]
    return {
        "layer_kinds": tuple(
            layer.kind if layer.kind != "host" else layer.kinds[0].lower() for layer in layers
        ),
        "layer_parameters": tuple(layer.parameter_count for layer in layers),
        "stage_counts": tuple(number for stage in counts for number in stage),
        "latency_cycles": design.latency_cycles,
    }


def stage_counts(operations: Sequence[StageOperation], register_bits: int) -> list[int]:
    """Values of `FIXED_CATEGORIES` of a stage."""
    counts, bits = [0] * len(_KINDS), [0] * len(_KINDS)
    levels: list[int] = []
    for operation in operations:
        kind = _CODES.get(operation.code, len(_KINDS) - 1)
        counts[kind] += 1
        bits[kind] += operation.bits
        below = max((levels[place] for place in operation.operands), default=0)
        levels.append(below + (_KINDS[kind] in ("add", "constant_add", "select")))
    return [*counts, *bits, register_bits, max(levels, default=0)]


def parts_of(identity: str, family: str, parameter_count: int) -> Mapping[str, str]:
    """Part under each split; recurrent networks take no part in the one by architecture."""
    draw = int(content_hash("random split", identity)[:8], 16) / 16**8
    by_family = {"mlp": "train", "cnn": "train", "resnet": "test", "mobilenet": "test"}
    return {
        "split_random": "test" if draw < _TEST_SHARE else "train",
        "split_scale": "train" if parameter_count <= _TRAIN_PARAMETERS else "test",
        "split_arch1": by_family.get(family, "none"),
    }
