"""Power and energy of a network on an accelerator from what compilers give: "Compilation tells energy".

The package holds the graphs of compiled networks, the encoders and their pre-training, the power model, and
baselines on the same rows. Hardware, compilers and labels are in `pipelines.accelerators`. Importing this
package loads no learning framework.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.catalogue import PredictorSpec
from models.tasks import ACCELERATOR_POWER, FIXED_POWER, Column

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
    train_with="models.compile_power.train:train",
    load_with="models.compile_power.network:load",
    answer_with="models.compile_power.network:answer_pairs",
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
    train_with="models.compile_power.train:train_fixed",
    load_with="models.compile_power.network:load",
    answer_with="models.compile_power.network:answer_pairs",
    answers=_ANSWERS,
    libraries=_LIBRARIES,
    requirements=_REQUIREMENTS,
)
PREDICTORS = (PREDICTOR, FIXED_PREDICTOR)
