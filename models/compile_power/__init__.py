"""Power and energy of a network on an accelerator from what compilers give: "Compilation tells energy".

The package holds the graphs of compiled networks, the encoders and their pre-training, the power model, and
baselines on the same rows. Hardware, compilers and labels are in `pipelines.accelerators`. Importing this
package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from models.catalogue import PredictorSpec, Trained, TrainingInput
from models.tasks import Column, Reference, ReferenceSet, Task

if TYPE_CHECKING:
    from models.compile_power.network import CompilePower
    from models.model_files import ModelFiles

_VERSION = "3"
"""Raised by hand when the same tables, options and seed would train another model; so is the next."""
_FIXED_VERSION = "4"


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        split: random, scale, arch1 or arch2: a column split_* of compiled_networks.
        width: of states and embeddings. layers: of both encoders. heads: of the decoders.
        software_epochs, hardware_epochs: of pre-training; 0 leaves an encoder as it was drawn.
        has_hardware: whether the hardware encoder is part of the features, for the ablation.
        temperature, similar, dissimilar: of the contrastive loss: tau, tau_high, tau_low.
        wl_rounds: of the Weisfeiler-Lehman kernel.
        epochs, batch, learning_rate, weight_decay, dropout: of the trunk and its heads.
        energy_weight: lambda of equation 7. members: trunks whose mean is the answer.
        validation_share: of the training part, left out by each trunk.
        folds: shares of the configurations that are left out in turn for intervals.
    """

    split: str = "random"
    width: int = 64
    layers: int = 3
    heads: int = 4
    software_epochs: int = 8
    hardware_epochs: int = 8
    has_hardware: bool = True
    temperature: float = 0.2
    similar: float = 0.45
    dissimilar: float = 0.2
    wl_rounds: int = 2
    epochs: int = 100
    batch: int = 32
    learning_rate: float = 3e-3
    weight_decay: float = 1e-3
    dropout: float = 0.05
    energy_weight: float = 1.0
    members: int = 3
    validation_share: float = 0.15
    folds: int = 8


def _reference_set(reference: Reference) -> ReferenceSet:
    from models.compile_power.baselines import accelerator_reference  # lazy import: reads tables

    return accelerator_reference(reference)


def _fixed_reference_set(reference: Reference) -> ReferenceSet:
    from models.compile_power.baselines import fixed_reference

    return fixed_reference(reference)


def _reference_groups(reference: Reference) -> frozenset[str]:
    from models.compile_power.baselines import reference_pairs

    return frozenset(pair.compiled_id for pair in reference_pairs(reference))


_EXAMPLE_COMPILED = (
    '{"block_kinds": ["matmul"], "block_parameters": [20], "block_counts": '
    "[2, 2, 5, 5, 1, 2, 1, 1, 1, 0, 0, 1, 2, 4, 1, 1, 1, 1, 1, 0], "
    '"edge_sources": [], "edge_targets": [], "estimated_cycles": 60, "multiplications": 16}'
)
ACCELERATOR_POWER = Task(
    name="accelerator-power",
    tables=("accelerators", "compiled_networks", "accelerator_labels"),
    targets={"power_mw": "mW", "energy_nj": "nJ"},
    level="compilation",
    metric="absolute percentage error, at most 100 %, mean over power and energy of a pair",
    baseline="unit energies of commands, scaled to the median of the training part",
    question=(
        Column(name="hardware", kind="string", example="{}"),
        Column(name="compiled", kind="string", example=_EXAMPLE_COMPILED),
    ),
    reference=Reference(
        release="releases/accelerators-v2",
        split="random",
        parts=("test",),
        minimum_programs=40,
    ),
    reference_set=_reference_set,
    reference_groups=_reference_groups,
)

_EXAMPLE_FIXED = (
    '{"layer_kinds": ["matmul"], "layer_parameters": [20], "latency_cycles": 2, "reuse_factor": 1, '
    '"stage_counts": [4, 9, 0, 8, 0, 0, 0, 0, 32, 90, 0, 64, 0, 0, 0, 0, 32, 3], '
    '"stage_activity": [61, 0, 14]}'
)
FIXED_POWER = Task(
    name="fixed-power",
    tables=("fixed_networks",),
    targets={"power_mw": "mW", "energy_nj": "nJ"},
    level="compilation",
    metric="absolute percentage error, at most 100 %, mean over power and energy of a network",
    baseline="bits of adders and registers, scaled to the median of the training part",
    question=(Column(name="compiled", kind="string", example=_EXAMPLE_FIXED),),
    reference=Reference(
        release="releases/fixed-v2",
        split="random",
        parts=("test",),
        minimum_programs=40,
    ),
    reference_set=_fixed_reference_set,
    reference_groups=_reference_groups,
)


def _train(data: TrainingInput, *, is_fixed: bool) -> Trained:
    from models.compile_power.train import train  # lazy import: loads what training needs

    return train(data, is_fixed=is_fixed)


def _load(files: ModelFiles) -> CompilePower:
    from models.compile_power.network import load

    return load(files)


_ANSWERS = (
    Column(name="power_mw", unit="mW"),
    Column(name="energy_nj", unit="nJ"),
    Column(name="power_low_mw", unit="mW"),
    Column(name="power_high_mw", unit="mW"),
    Column(name="energy_low_nj", unit="nJ"),
    Column(name="energy_high_nj", unit="nJ"),
)
_LIBRARIES = ("torch", "torch-geometric", "lightning", "numpy")
_REQUIREMENTS = ("pydantic", "pyyaml", "onnx", "pyarrow")

PREDICTOR = PredictorSpec(
    name="compile-power",
    version=_VERSION,
    description="Pre-trained encoders of compiled blocks and module trees, and two heads.",
    task=ACCELERATOR_POWER,
    options=FitOptions,
    train_with=partial(_train, is_fixed=False),
    load_with=_load,
    answers=_ANSWERS,
    libraries=_LIBRARIES,
    requirements=_REQUIREMENTS,
)
FIXED_PREDICTOR = PredictorSpec(
    name="compile-power-fixed",
    version=_FIXED_VERSION,
    description="Pre-trained encoder of the stages of a fixed-point pipeline, and two heads.",
    task=FIXED_POWER,
    options=FitOptions,
    train_with=partial(_train, is_fixed=True),
    load_with=_load,
    answers=_ANSWERS,
    libraries=_LIBRARIES,
    requirements=_REQUIREMENTS,
)
PREDICTORS = (PREDICTOR, FIXED_PREDICTOR)
