"""Pairs of hardware and compiled network as graphs, with labels where there are some."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.tasks import DatasetError, table_files
from pipelines.accelerators import (
    ACTIVITIES,
    CATEGORIES,
    FIXED_CATEGORIES,
    AcceleratorError,
    Hardware,
    hierarchy,
)
from pipelines.base.summation import ordered_sum
from pipelines.schemas import OK, fill_columns, read_arrow, table_spec

Floats = NDArray[np.float32]
_SCALE = 8.0
KINDS = (
    *(
        "conv",
        "matmul",
        "add",
        "averagepool",
        "globalaveragepool",
        "maxpool",
        "softmax",
        "gelu",
        "relu",
        "clip",
    ),
    *("layernormalization", "transpose", "reshape", "flatten", "mul", "other"),
)
"""Layer types that the network decoder writes."""
COMPILED_PARAMETERS = (
    *("rows", "columns", "scratchpad_rows", "accumulator_rows", "dma_bytes", "dataflow", "pooling"),
    *("transposer", "activation"),
)
"""Hardware parameters that take part in compilation."""
MODULES = (
    *(
        "accelerator",
        "command_queue",
        "token_count",
        "load_unit",
        "bank_select",
        "execute_unit",
        "store_unit",
    ),
    *("mesh", "stage_delay", "memory", "element_ws1", "element_ws2", "element_os1", "element_os2"),
    *("element_wos1", "element_wos2"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """The module tree of a configuration.

    Attributes: nodes: (modules, len(MODULES) + 3). parents: (modules,), -1 for the top.
        words: occurrences of Weisfeiler-Lehman labels.
    """

    nodes: Floats
    parents: NDArray[np.int64]
    words: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """A network compiled for a configuration, or to a fixed-point pipeline.

    Attributes:
        counts: (blocks, categories); blocks are stages of a pipeline, whose counts are per inference, with
            its activity behind them. hardware: None of a pipeline.
        interval_cycles: between two inferences of a pipeline.
        edges: (2, edges). kinds, parameters: of every block, or layer of a pipeline.
        parts: of every split. power_mw, energy_nj, cycles: None without a label.
    """

    compiled_id: str
    accelerator_id: str
    group: str
    family: str
    counts: NDArray[np.int64]
    edges: NDArray[np.int64]
    kinds: tuple[str, ...]
    parameters: tuple[int, ...]
    hardware: Hardware | None
    estimated_cycles: int
    multiplications: int
    parts: Mapping[str, str]
    interval_cycles: int = 1
    power_mw: float | None = None
    energy_nj: float | None = None
    cycles: int | None = None
    layer_energy_nj: tuple[float, ...] = ()
    layer_cycles: tuple[int, ...] = ()

    @property
    def rates(self) -> Floats:
        """(blocks, categories) logarithms of counts per thousand cycles; of a pipeline, per cycle.

        Power follows from rates, so that networks larger than in training are no extrapolation.
        """
        return (np.log1p(self.counts * self._rate) / _SCALE).astype(np.float32)

    @property
    def total_rates(self) -> Floats:
        """(categories,) for the sum over blocks."""
        return (np.log1p(self.counts.sum(axis=0) * self._rate) / _SCALE).astype(np.float32)

    @property
    def _rate(self) -> float:
        return 1.0 / self.interval_cycles if self.hardware is None else 1e3 / max(1, self.estimated_cycles)

    @property
    def of_hardware(self) -> Hardware:
        """The configuration.

        Raises: PredictorError: a pipeline has none.
        """
        if self.hardware is None:
            raise PredictorError("a fixed-point pipeline has no configuration of hardware")
        return self.hardware


def read_pairs(folders: Sequence[Path]) -> list[Pair]:
    """Read all compiled networks that are ok, with their labels, in order of their ids.

    Raises: DatasetError: a table is missing, or has no ok rows.
    """
    configurations = {row["accelerator_id"]: row["configuration"] for row in _rows(folders, "accelerators")}
    labels = {row["compiled_id"]: row for row in _rows(folders, "accelerator_labels") if row["status"] == OK}
    compiled = [row for row in _rows(folders, "compiled_networks") if row["status"] == OK]
    if not compiled:
        raise DatasetError(f"no ok rows in table compiled_networks ({', '.join(map(str, folders))})")
    return [
        pair_of(row, configurations[row["accelerator_id"]], labels.get(row["compiled_id"], {}))
        for row in sorted(compiled, key=lambda row: row["compiled_id"])
    ]


def _rows(folders: Sequence[Path], table: str) -> list[dict[str, Any]]:
    return [
        row
        for folder in folders
        for path in table_files(folder, table)
        for row in fill_columns(read_arrow(path), table_spec(table).schema()).to_pylist()
    ]


def pair_of(row: Mapping[str, Any], configuration: str, label: Mapping[str, Any]) -> Pair:
    """Return a pair of rows of tables; `label` may be empty."""
    return Pair(
        compiled_id=row["compiled_id"],
        accelerator_id=row["accelerator_id"],
        group=f"{row['family']} {row['scale']} {row['seed']}",
        family=row["family"],
        counts=np.array(row["block_counts"], np.int64).reshape(-1, len(CATEGORIES)),
        edges=np.array([row["edge_sources"], row["edge_targets"]], np.int64).reshape(2, -1),
        kinds=tuple(row["block_kinds"]),
        parameters=tuple(row["block_parameters"]),
        hardware=_hardware(configuration),
        estimated_cycles=row["estimated_cycles"],
        multiplications=row["multiplications"],
        parts={name: row.get(f"split_{name}", "none") for name in ("random", "scale", "arch1", "arch2")},
        power_mw=label.get("power_mw"),
        energy_nj=label.get("energy_nj"),
        cycles=label.get("latency_cycles"),
        layer_energy_nj=tuple(label.get("layer_energy_nj") or ()),
        layer_cycles=tuple(label.get("layer_cycles") or ()),
    )


def read_fixed_pairs(folders: Sequence[Path]) -> list[Pair]:
    """Read all fixed-point pipelines that are ok, in order of their ids.

    Raises: DatasetError: the table is missing, or has no ok rows.
    """
    rows = [row for row in _rows(folders, "fixed_networks") if row["status"] == OK]
    if not rows:
        raise DatasetError(f"no ok rows in table fixed_networks ({', '.join(map(str, folders))})")
    return [fixed_pair(row) for row in sorted(rows, key=lambda row: row["fixed_id"])]


def fixed_pair(row: Mapping[str, Any]) -> Pair:
    """Return a pair of a row of fixed_networks; stages follow each other. Without an activity, it is 0."""
    counts = np.array(row["stage_counts"], np.int64).reshape(-1, len(FIXED_CATEGORIES))
    activity = row.get("stage_activity") or np.zeros(len(counts) * len(ACTIVITIES))
    counts = np.hstack([counts, np.array(activity, np.int64).reshape(-1, len(ACTIVITIES))])
    return Pair(
        compiled_id=row["fixed_id"],
        accelerator_id="",
        group=f"{row['family']} {row['seed']}",
        family=row["family"],
        counts=counts,
        edges=np.stack([np.arange(len(counts) - 1), np.arange(1, len(counts))]),
        kinds=tuple(row["layer_kinds"]),
        parameters=tuple(row["layer_parameters"]),
        hardware=None,
        estimated_cycles=row["latency_cycles"],
        multiplications=0,
        parts={name: row.get(f"split_{name}", "none") for name in ("random", "scale", "arch1")},
        interval_cycles=row.get("reuse_factor") or 1,
        power_mw=row.get("power_mw"),
        energy_nj=row.get("energy_nj"),
    )


@lru_cache(maxsize=8192)
def _hardware(configuration: str) -> Hardware:
    return Hardware.model_validate_json(configuration)


def question_pair(row: Mapping[str, Any]) -> Pair:
    """Return the pair of a question: JSON of columns of compiled_networks with the hardware, or of
    fixed_networks.

    Raises: PredictorError: it cannot be read.
    """
    try:
        columns = json.loads(row["compiled"])
        plain = {"compiled_id": "", "accelerator_id": "", "family": "", "scale": "", "seed": 0}
        if "hardware" not in row:
            return fixed_pair({**plain, "fixed_id": "", **columns})
        return pair_of({**plain, **columns}, row["hardware"], {})
    except (AcceleratorError, ValueError, KeyError, TypeError) as error:
        raise PredictorError(f"not a compiled network: {' '.join(str(error).split())[:200]}") from error


# ---- trees -----------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def tree_of(hardware: Hardware, rounds: int) -> Tree:
    """Return module tree; positions of elements at tile borders are part of their kind in the words alone."""
    modules = hierarchy(hardware)
    parents = np.array([module.parent for module in modules])
    nodes = np.zeros((len(modules), len(MODULES) + 3), np.float32)
    for i, module in enumerate(modules):
        kind, _, ends = (
            module.kind.rpartition("_") if module.kind.startswith("element") else (module.kind, "", "")
        )
        nodes[i, MODULES.index(kind)] = 1.0
        nodes[i, len(MODULES)] = log2(1 + module.size) / 16.0
        nodes[i, len(MODULES) + 1 :] = [float(bit) for bit in ends or "00"]
    labels = [hash_word(f"{module.kind} {round(2 * log2(1 + module.size))}") for module in modules]
    words = Counter(labels)
    for _ in range(rounds):
        below: list[list[int]] = [[] for _ in modules]
        for i, parent in enumerate(parents):
            if parent >= 0:
                below[parent].append(labels[i])
        labels = [hash_word(f"{label} {sorted(under)}") for label, under in zip(labels, below, strict=True)]
        words.update(labels)
    return Tree(nodes=nodes, parents=parents, words=words)


def hash_word(text: str) -> int:
    """Return a label of the kernel as a number, the same in every process."""
    value = 1469598103934665603
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 & (1 << 64) - 1
    return value


def wl_similarity(one: Mapping[int, int], other: Mapping[int, int]) -> float:
    """Return normalised Weisfeiler-Lehman subtree kernel of two trees, 0 to 1, of roots of occurrences."""
    shared = ordered_sum(sqrt(count * other[word]) for word, count in one.items() if word in other)
    return shared / sqrt(sum(one.values()) * sum(other.values()))


# ---- token sequences of the decoders ---------------------------------------------------------------

START, END = 0, 1
SIZES = 48
"""Buckets of parameter counts, half powers of two."""
NETWORK_TOKENS = 2 + len(KINDS) + SIZES
MOST_LAYERS = 40
_WORDS = {"weight": 0, "output": 1, "both": 2, "none": 0, "relu": 1, "clip": 2}
HARDWARE_TOKENS = 2 + 20 * len(COMPILED_PARAMETERS)


def network_tokens(pair: Pair) -> list[int]:
    """Return the tokens of a network: start, then type and size of every layer, then end."""
    tokens = [START]
    for kind, count in list(zip(pair.kinds, pair.parameters, strict=True))[:MOST_LAYERS]:
        known = kind if kind in KINDS else "other"
        size = min(SIZES - 1, round(2 * log2(1 + count)))
        tokens += [2 + KINDS.index(known), 2 + len(KINDS) + size]
    return [*tokens, END]


def hardware_tokens(pair: Pair) -> list[int]:
    """Return the tokens of a configuration: start, one per parameter that compilation uses, end."""
    tokens = [START]
    for place, name in enumerate(COMPILED_PARAMETERS):
        value = getattr(pair.of_hardware, name)
        number = _WORDS[value] if isinstance(value, str) else round(log2(1 + int(value)))
        tokens.append(2 + 20 * place + min(19, number))
    return [*tokens, END]
