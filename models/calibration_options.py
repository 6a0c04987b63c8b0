"""How the numeric language model is calibrated; importing it is cheap, for the command does."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pipelines.base.bounds import asked, require_bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """How to calibrate; see `models.numeric_lm.preferences.preference_loss` for the weights."""

    rounds: int = asked("Rounds of prediction, profile and update.", 5, least=1)
    inputs: int = asked("Inputs profiled per round.", 8, flags=["--per-round"], least=1)
    unseen: int = asked("Inputs that are scored and not learned.", 32, least=1)
    window: int = asked("Profiles in the replay buffer.", 64, least=1)
    minibatch: int = asked("Profiles per update.", 16, least=1)
    updates: int = asked("Updates per round.", 30, least=1)
    learning_rate: float = asked("Step size of AdamW.", 5e-4, above=0)
    beta: float = asked("Weight of the preference loss.", 0.1, above=0)
    supervised: float = asked("Weight of the right answers' cross-entropy; the paper has none.", 1.0, least=0)
    keep: float = asked("Weight of the first model's other answers; the paper has none.", 1.0, least=0)
    anchored: bool = asked("Answer with the ratio to a regression on the profiles, at level hls.", True)
    seed: int = asked("Seed of inputs and minibatches.", 0)

    def __post_init__(self) -> None:
        """Refuse an option outside its range. Raises: ValueError."""
        for declared in fields(self):
            require_bounds(declared, getattr(self, declared.name))
