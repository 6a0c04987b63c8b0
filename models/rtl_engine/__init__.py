"""Which RTL simulator is done first: build time and speed of every engine, predicted from the design.

Belongs here: features, training, the choice. Does not: the engines (`pipelines.rtl.reuse`). Importing this
package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.tasks import Column, Reference, ReferenceSet, Task, part_groups

if TYPE_CHECKING:
    from models.model_files import ModelFiles
    from models.rtl_engine.picker import EnginePicker

_VERSION = "1"
"""Raised by hand when the same tables, options and seed would train another picker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        held_out: families that are not learned from.
        trees: per target. leaves: of a tree. leaf_designs: least designs of a leaf.
        learning_rate: share of the answer of a tree that counts.
        ridge: penalty of the linear law that the trees correct.
    """

    held_out: tuple[str, ...] = ("gemmini", "mesh", "soc_4", "wide")
    trees: int = 60
    leaves: int = 4
    leaf_designs: int = 5
    learning_rate: float = 0.1
    ridge: float = 30.0


def _reference_set(reference: Reference) -> ReferenceSet:
    from models.rtl_engine.data import engine_reference  # lazy import: reads tables

    return engine_reference(reference)


RTL_ENGINE = Task(
    name="rtl-engine",
    tables=("simulations",),
    targets={},
    level="rtl",
    metric="time of the chosen engine over that of the fastest, minus 1, at most 1, mean over 10^3, 10^5 and "
    "10^7 cycles of a design",
    baseline="Verilator",
    question=(
        Column(
            name="verilog", kind="string", example="module top (input a, output b); assign b = a; endmodule"
        ),
        Column(name="top", kind="string", example="top"),
        Column(name="cycles", kind="long", unit="cycle", example=100_000),
        Column(name="engines", kind="string", example="reuse verilator"),
    ),
    reference=Reference(
        release="releases/rtl-v1",
        split="group",
        parts=("gemmini", "mesh", "soc_4", "wide"),
        minimum_programs=10,
    ),
    reference_set=_reference_set,
    reference_groups=part_groups,
)


def _train(data: TrainingInput) -> Trained:
    from models.rtl_engine.train import train  # lazy import: loads what training needs

    return train(data)


def _load(files: ModelFiles) -> EnginePicker:
    from models.rtl_engine.picker import load

    return load(files)


PREDICTOR = PredictorSpec(
    name="rtl-engine",
    version=_VERSION,
    description="Build time and speed of RTL simulators by laws and boosted trees; picks the engine.",
    task=RTL_ENGINE,
    options=FitOptions,
    train_with=_train,
    load_with=_load,
    answers=(
        Column(name="engine", kind="string"),
        Column(name="seconds", unit="s"),
        Column(name="alternatives", kind="string"),
    ),
    libraries=("lightgbm", "numpy"),
    requirements=("pyarrow", "pydantic", "pyosys"),
)
