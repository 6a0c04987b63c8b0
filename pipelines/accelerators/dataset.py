"""Drawn hardware and networks as rows: configurations, compiled networks, and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ValidationError

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.graph import Network, network_of
from pipelines.accelerators.labels import VERSION as LABEL_VERSION
from pipelines.accelerators.labels import Labeller, NetworkLabel
from pipelines.accelerators.networks import (
    EXPORTED,
    EXPORTED_FOLDER,
    FAMILIES,
    SCALES,
    drawn_network,
    exported_network,
)
from pipelines.accelerators.systolic.compilation import COMPILER_VERSION, Compiled, compile_network
from pipelines.accelerators.systolic.hardware import Hardware, hierarchy
from pipelines.accelerators.systolic.instructions import CATEGORIES
from pipelines.accelerators.systolic.quantise import quantise
from pipelines.base.cache import ContentCache, json_value
from pipelines.base.identity import content_hash
from pipelines.base.tools import stopwatch
from pipelines.base.validation import Count
from pipelines.base.workers import Outcome, ProgressCallback, run_all
from pipelines.power import ENGINE
from pipelines.power import tool_version as power_version
from pipelines.schemas import (
    OK,
    REJECTED,
    AcceleratorLabelRow,
    AcceleratorRow,
    CompiledNetworkRow,
)
from pipelines.silicon.synthesis import liberty_hash
from pipelines.silicon.synthesis import tool_version as synthesis_version

STEP, _LABELS, _STATIC = "accelerators", "accelerator_labels", "accelerator_synthesis"
VERSION = "2"
"""Raised by hand when drawn hardware or the rows of the same network change."""
_SMALL_SCALES = ("tiny", "small")
_TRAIN_PARAMETERS = 700
"""Limit of the scale split: networks with more parameters are tested."""
_TEST_SHARE = 0.2
_ARCHITECTURES = {"arch1": ("resnet", "mobilenet"), "arch2": ("transformer", "bert")}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorGroup:
    """Pairs of hardware and network of one kind.

    Attributes:
        hardware: number of drawn configurations; see `drawn_hardware`.
        families, scales, networks: networks of every family and scale for each configuration.
        is_labelled: whether they are synthesised and simulated, or compiled only.
        is_small: whether hardware is drawn as for labels; so it is when labelled.
        is_near_default: whether hardware is the default one with some changes; see `near_default`.
        exported: numbers of exported networks, in turn by configuration, in place of drawn ones.
        part: train or none: of all pairs under the random split; they have none under the others.
        seed: of hardware and networks.
    """

    name: str
    hardware: Count = 1
    families: tuple[str, ...] = tuple(FAMILIES)
    scales: tuple[str, ...] = ("tiny",)
    networks: Count = 1
    is_labelled: bool = False
    is_small: bool = False
    is_near_default: bool = False
    exported: tuple[int, ...] = ()
    part: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        alien = [*(set(self.families) - set(FAMILIES)), *(set(self.scales) - set(SCALES))]
        if alien:
            accepted = f"{', '.join(FAMILIES)}; {', '.join(SCALES)}"
            raise AcceleratorError(
                f"unknown family or scale in group {self.name}: {alien[0]}; accepted: {accepted}"
            )
        if self.is_labelled and not set(self.scales) <= set(_SMALL_SCALES):
            raise AcceleratorError(
                f"labelled scales in group {self.name}; accepted: {', '.join(_SMALL_SCALES)}"
            )
        if self.part not in (None, "train", "none"):
            raise AcceleratorError(f"part of group {self.name}: {self.part}; accepted: train, none")
        for family in self.families:
            for number in self.exported:
                exported_network(family, number)

    @property
    def identity(self) -> dict[str, Any]:
        """All fields; those that came later count where they differ from their default, files by content."""
        fields = asdict(self)
        added = {name: fields.pop(name) for name in ("is_near_default", "exported", "part")}
        files = [exported_hash(family, number) for family in self.families for number in self.exported]
        added["files"] = files
        return fields | {name: value for name, value in added.items() if value}

    def hardware_of(self, number: int) -> Hardware:
        """Return a configuration of the group."""
        if self.is_near_default:
            return near_default(self.seed, number)
        return drawn_hardware(self.seed, number, is_small=self.is_labelled or self.is_small)

    def networks_of(self, number: int) -> list[tuple[str, str, int]]:
        """Return family, scale and seed of the networks of a configuration."""
        if self.exported:
            own = self.exported[number // 2 % len(self.exported)]  # configurations with another mesh are odd
            return [(family, EXPORTED, own) for family in self.families]
        first = self.seed * 1_000_000 + number * self.networks
        return [
            (family, scale, first + place)
            for family in self.families
            for scale in self.scales
            for place in range(self.networks)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTools:
    """What labels are made with: liberty file, folder of engines and working files."""

    liberty: Path
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorTables:
    """Rows of a group, sorted by key."""

    accelerators: list[AcceleratorRow]
    compiled: list[CompiledNetworkRow]
    labels: list[AcceleratorLabelRow]


def drawn_hardware(seed: int, number: int, *, is_small: bool) -> Hardware:
    """Return a configuration; the first of seed 0 is the default one. Small ones are synthesised in a minute
    or two.

    Draws that do not fit together are drawn again.
    """
    if seed == number == 0:
        return small_default() if is_small else Hardware()
    generator = Random(f"hardware {seed} {number} {is_small}")  # noqa: S311
    while True:
        try:
            return Hardware(**_draw(generator, is_small=is_small))
        except ValidationError:
            continue


_MESHES = ((2, 2), (4, 8), (8, 4), (8, 8), (8, 8), (16, 16))
_CHANGES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "tile": [{"tile_rows": 2}, {"tile_columns": 2}, {"tile_rows": 2, "tile_columns": 2}],
    "dataflow": [{"dataflow": "output"}, {"dataflow": "both"}],
    "weight_buffers": [{"weight_buffers": 1}],
    "input_bits": [{"input_bits": 4}, {"input_bits": 6}],
    "scratchpad": [{"scratchpad_rows": rows} for rows in (256, 512, 1024, 4096)],
    "scratchpad_banks": [{"scratchpad_banks": 1}, {"scratchpad_banks": 4}],
    "accumulator": [{"accumulator_rows": rows} for rows in (32, 128, 256, 512)],
    "accumulator_banks": [{"accumulator_banks": 2}],
    "queues": [
        {"load_queue": 2, "execute_queue": 2},
        {"load_queue": 8, "execute_queue": 8, "store_queue": 4},
    ],
    "dma_bytes": [{"dma_bytes": count} for count in (1, 2, 8)],
    "dma_requests": [{"dma_requests": count} for count in (1, 4, 16)],
    "transposer": [{"transposer": False}],
    "scale": [{"scale_bits": 0}, {"scale_bits": 4}, {"scale_lanes": 2}],
    "stores": [{"pooling": False}, {"activation": "none"}, {"activation": "clip"}],
    "memory_latency": [{"memory_latency_cycles": cycles} for cycles in (2, 16, 32)],
    "clock": [{"clock_period_ns": 10.0}, {"clock_period_ns": 40.0}],
}
"""What a user changes in a small file of hardware."""


def near_default(seed: int, number: int) -> Hardware:
    """Return the default configuration with one to three changes, and every second one with another mesh.

    The first of seed 0 has no change.
    """
    if seed == number == 0:
        return Hardware()
    generator = Random(f"near default {seed} {number}")  # noqa: S311
    while True:
        changed: dict[str, Any] = {}
        if number % 2:
            changed["rows"], changed["columns"] = generator.choice(_MESHES)
        for name in generator.sample(sorted(_CHANGES), generator.randint(1, 3)):
            changed |= generator.choice(_CHANGES[name])
        try:
            return Hardware(**changed)
        except ValidationError:
            continue


def exported_hash(family: str, number: int) -> str:
    """Return the hash of the file of an exported network."""
    return content_hash((EXPORTED_FOLDER / f"{family}_{number}.onnx").read_bytes().hex())


def small_default() -> Hardware:
    """Return a mesh of two by two: the smallest accelerator that labels are made of."""
    return Hardware(
        rows=2, columns=2, accumulator_bits=20, scratchpad_rows=64, accumulator_rows=32, scale_bits=4
    )


def _draw(generator: Random, *, is_small: bool) -> dict[str, Any]:
    sides = (2, 2, 3, 4, 4, 6, 8, 8, 16) if is_small else (2, 4, 8, 16, 32)
    rows, columns = generator.choice(sides), generator.choice(sides)
    return {
        "rows": rows,
        "columns": columns,
        "tile_rows": generator.choice([t for t in (1, 1, 2) if rows % t == 0]),
        "tile_columns": generator.choice([t for t in (1, 1, 2) if columns % t == 0]),
        "dataflow": generator.choice(("weight", "weight", "output", "both")),
        "weight_buffers": generator.choice((1, 2)),
        "input_bits": generator.choice((4, 6, 8, 8)),
        "accumulator_bits": generator.choice((16, 20, 24) if is_small else (20, 24, 32)),
        "scratchpad_rows": generator.choice(
            (32, 64, 128, 256, 1024) if is_small else (256, 1024, 4096, 16384)
        ),
        "scratchpad_banks": generator.choice((1, 2, 4)),
        "accumulator_rows": generator.choice((16, 32, 64, 128, 512) if is_small else (64, 256, 1024)),
        "accumulator_banks": generator.choice((1, 2)),
        "load_queue": generator.choice((2, 4, 8)),
        "execute_queue": generator.choice((2, 4, 8)),
        "store_queue": generator.choice((1, 2, 4)),
        "dma_bytes": generator.choice((1, 2, 4, 8)),
        "dma_requests": generator.choice((1, 2, 4, 8, 16)),
        "transposer": generator.choice((False, True)),
        "scale_lanes": generator.choice([lanes for lanes in (1, 1, 2) if columns % lanes == 0]),
        "scale_bits": generator.choice((0, 4, 6, 8)),
        "pooling": generator.choice((False, True)),
        "activation": generator.choice(("none", "relu", "clip")),
        "memory_latency_cycles": generator.choice((2, 4, 8, 16)),
        "clock_period_ns": 20.0,
    }


def group_key(group: AcceleratorGroup, liberty: Path) -> str:
    """Return the hash of all that the rows of a group follow from."""
    return content_hash(VERSION, COMPILER_VERSION, label_version(liberty), group.identity)


def label_version(liberty: Path) -> str:
    """Return the version of everything that labels follow from but hardware and network."""
    return content_hash(LABEL_VERSION, power_version(), synthesis_version(), liberty_hash(liberty))[:12]


def make_accelerators(
    group: AcceleratorGroup,
    *,
    tools: LabelTools,
    cache: ContentCache,
    workers: int,
    on_progress: ProgressCallback,
) -> AcceleratorTables:
    """Compile every network of a group for every configuration, and label them when the group says so."""
    made = run_all(
        STEP,
        list(range(group.hardware)),
        partial(_configuration, group=group, tools=tools, cache=cache),
        workers=workers,
        on_progress=on_progress,
    )
    return AcceleratorTables(
        accelerators=sorted(
            {t[0].accelerator_id: t[0] for t in made}.values(), key=lambda r: r.accelerator_id
        ),
        compiled=sorted({r.compiled_id: r for t in made for r in t[1]}.values(), key=lambda r: r.compiled_id),
        labels=sorted({r.compiled_id: r for t in made for r in t[2]}.values(), key=lambda r: r.compiled_id),
    )


_Made = tuple[AcceleratorRow, list[CompiledNetworkRow], list[AcceleratorLabelRow]]


def _configuration(
    number: int, *, group: AcceleratorGroup, tools: LabelTools, cache: ContentCache
) -> Outcome[_Made]:
    hardware = group.hardware_of(number)
    work = _HardwareWork(hardware=hardware, tools=tools, cache=cache)
    compiled: list[CompiledNetworkRow] = []
    labels: list[AcceleratorLabelRow] = []
    for asked in group.networks_of(number):
        row = compiled_row(hardware, asked, group.name, group.part)
        compiled.append(row)
        if group.is_labelled and row.status == OK:
            labels.append(work.label(row))
    accelerator = work.row() if group.is_labelled else accelerator_row(hardware)
    failed = accelerator.status != OK or any(row.status != OK for row in (*compiled, *labels))
    return Outcome(
        result=(accelerator, compiled, labels), failed=failed, name=accelerator.accelerator_id[:12]
    )


@dataclass(slots=True)
class _HardwareWork:
    """Labels of one configuration; it is synthesised when the cache lacks one."""

    hardware: Hardware
    tools: LabelTools
    cache: ContentCache
    labeller: Labeller | None = None

    def _labeller(self) -> Labeller:
        if self.labeller is None:
            folder = self.tools.folder
            self.labeller = Labeller(hardware=self.hardware, liberty_path=self.tools.liberty, folder=folder)
        return self.labeller

    def row(self) -> AcceleratorRow:
        """Return the configuration with figures of synthesis."""
        key = _static_key(label_version(self.tools.liberty), self.hardware.accelerator_id)
        fields: dict[str, Any] = self.cache.cached(_STATIC, key, self._static, dict, statuses=_status)
        return replace(accelerator_row(self.hardware), **fields)

    def _static(self) -> dict[str, Any]:
        result = self._labeller().synthesis
        return {name: getattr(result, name) for name in _SYNTHESISED} | {
            "memory_area_um2": self._labeller().memory_area_um2
        }

    def label(self, row: CompiledNetworkRow) -> AcceleratorLabelRow:
        """Return the label of a compiled network, from the cache where it is."""
        key = _label_key(label_version(self.tools.liberty), row)
        fields: dict[str, Any] = self.cache.cached(
            _LABELS, key, lambda: self._label_columns(row), dict, statuses=_status
        )
        lists: dict[str, Any] = {name: tuple(fields[name]) for name in ("layer_cycles", "layer_energy_nj")}
        return AcceleratorLabelRow(**(fields | lists))

    def _label_columns(self, row: CompiledNetworkRow) -> dict[str, Any]:
        start = stopwatch()
        network = network_named(row.family, row.scale, row.seed)
        label = label_network(self._labeller(), network, row.dataflow or "weight")
        return asdict(label_row(row, label, label_version(self.tools.liberty), stopwatch() - start))


def _status(fields: Mapping[str, Any]) -> tuple[str]:
    return (fields["status"],)


_SYNTHESISED = ("status", "reason", "area_um2", "cell_count", "flip_flop_count", "delay_ns")
"""Columns of a configuration that synthesis gives."""


def _static_key(version: str, accelerator_id: str) -> str:
    return content_hash(version, accelerator_id)


def _label_key(version: str, row: CompiledNetworkRow) -> str:
    return content_hash(version, row.compiled_id, row.dataflow)


def import_labels(tables: AcceleratorTables, *, liberty: Path, cache: ContentCache) -> Counter[str]:
    """Put labels into the cache, with the synthesis of their hardware, as far as the present tools made them.

    Returns: new entries by kind.
    """
    version, stored = label_version(liberty), Counter[str]()
    labels = [label for label in tables.labels if label.tool_version == version]
    compiled = {row.compiled_id: row for row in tables.compiled}
    entries = [(_LABELS, _label_key(version, compiled[one.compiled_id]), asdict(one)) for one in labels]
    labelled = {label.accelerator_id for label in labels}
    entries += [
        (
            _STATIC,
            _static_key(version, row.accelerator_id),
            {name: getattr(row, name) for name in (*_SYNTHESISED, "memory_area_um2")},
        )
        for row in tables.accelerators
        if row.accelerator_id in labelled
    ]
    for kind, key, fields in entries:
        if cache.get(kind, key) is None:
            stored[kind] += cache.keep(kind, key, json_value(fields), *_status(fields))
    return stored


def label_network(labeller: Labeller, network: Network, flow: str) -> NetworkLabel:
    """Return the label of a network with data; one that the bench refuses is a label too."""
    try:
        return labeller.label(quantise(network, labeller.hardware), flow=flow)
    except AcceleratorError as error:
        return NetworkLabel(status=REJECTED, reason=str(error))


def label_row(
    row: CompiledNetworkRow, label: NetworkLabel, version: str, wall_s: float
) -> AcceleratorLabelRow:
    """Return a label as a row."""
    is_ok = label.status == OK
    return AcceleratorLabelRow(
        compiled_id=row.compiled_id,
        accelerator_id=row.accelerator_id,
        status=label.status,
        reason=label.reason,
        tool=ENGINE,
        tool_version=version,
        outputs_equal=label.outputs_equal if is_ok else None,
        latency_cycles=label.cycles if is_ok else None,
        power_mw=label.power_mw if is_ok else None,
        energy_nj=label.core_energy_nj + label.memory_energy_nj if is_ok else None,
        core_energy_nj=label.core_energy_nj if is_ok else None,
        memory_energy_nj=label.memory_energy_nj if is_ok else None,
        layer_cycles=tuple(layer.cycles for layer in label.layers),
        layer_energy_nj=tuple(layer.core_energy_nj + layer.memory_energy_nj for layer in label.layers),
        label_wall_s=wall_s,
    )


def accelerator_row(hardware: Hardware) -> AcceleratorRow:
    """Return a configuration that is not synthesised."""
    modules = hierarchy(hardware)
    return AcceleratorRow(
        accelerator_id=hardware.accelerator_id,
        configuration=hardware.model_dump_json(),
        status=OK,
        reason=None,
        module_kinds=tuple(module.kind for module in modules),
        module_sizes=tuple(module.size for module in modules),
        module_parents=tuple(module.parent for module in modules),
        area_um2=None,
        memory_area_um2=None,
        cell_count=None,
        flip_flop_count=None,
        delay_ns=None,
    )


def network_named(family: str, scale: str, seed: int, *, has_data: bool = True) -> Network:
    """Return a drawn network, or an exported one, as layers."""
    if scale == EXPORTED:
        return network_of(exported_network(family, seed), family)
    return network_of(drawn_network(family, scale, seed, has_data=has_data), family)


def compiled_row(
    hardware: Hardware, identity: tuple[str, str, int], group: str, part: str | None = None
) -> CompiledNetworkRow:
    """Return a network (family, scale, seed), compiled from shapes alone; part: see `AcceleratorGroup`."""
    family, scale, seed = identity
    network = network_named(family, scale, seed, has_data=False)
    file = (exported_hash(family, seed),) if scale == EXPORTED else ()
    compiled_id = content_hash(VERSION, COMPILER_VERSION, hardware.accelerator_id, *identity, *file)
    columns: dict[str, Any] = block_columns(compile_network(network, hardware))
    parts = parts_of(compiled_id, family, network.parameter_count)
    if part is not None:
        parts = dict.fromkeys(parts, "none") | {"random": part}
    columns |= {f"split_{name}": part for name, part in parts.items()}
    return CompiledNetworkRow(
        compiled_id=compiled_id,
        accelerator_id=hardware.accelerator_id,
        group=group,
        family=family,
        scale=scale,
        seed=seed,
        parameter_count=network.parameter_count,
        status=OK,
        reason=None,
        **columns,
    )


def block_columns(compiled: Compiled) -> dict[str, Any]:
    """Return the columns of a compiled network that a predictor reads."""
    return {
        "dataflow": compiled.flow,
        "estimated_cycles": compiled.estimated_cycles,
        "multiplications": sum(block.multiplications for block in compiled.blocks),
        "block_kinds": tuple(block.kind for block in compiled.blocks),
        "block_parameters": tuple(block.parameter_count for block in compiled.blocks),
        "block_counts": tuple(block.counts[name] for block in compiled.blocks for name in CATEGORIES),
        "edge_sources": tuple(source for source, _ in compiled.edges),
        "edge_targets": tuple(target for _, target in compiled.edges),
    }


def parts_of(compiled_id: str, family: str, parameter_count: int) -> Mapping[str, str]:
    """Return the part of a pair under each split; the random one follows from its hash."""
    draw = int(content_hash("random split", compiled_id)[:8], 16) / 16**8
    parts = {
        "random": "test" if draw < _TEST_SHARE else "train",
        "scale": "train" if parameter_count <= _TRAIN_PARAMETERS else "test",
    }
    for name, tested in _ARCHITECTURES.items():
        parts[name] = "train" if family in ("mlp", "cnn") else "test" if family in tested else "none"
    return parts
