"""What placements are asked for; importing it is cheap, for the configuration does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from pipelines.base.validation import Count
from pipelines.fabric.errors import FabricError

TRAINING_FAMILIES = ("gemm", "mlp", "mha", "ffn")
MODEL_FAMILIES = ("bert_large", "gpt2_xl")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementGroup:
    """Placements of one kind.

    Attributes:
        fabric: name of the machine's description.
        draws: layers of each drawn family; a model's layer is one.
        placements: of every graph. moves: of an annealing, at most.
    """

    name: str
    fabric: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")] = "present"
    families: tuple[str, ...] = TRAINING_FAMILIES
    draws: Count = 1
    placements: Count = 20
    moves: Count = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        accepted = (*TRAINING_FAMILIES, *MODEL_FAMILIES)
        for family in self.families:
            if family not in accepted:
                raise FabricError(f"unknown family: {family}; accepted: {', '.join(accepted)}")
        if min(self.draws, self.placements, self.moves) < 1:
            raise FabricError(f"too few draws, placements or moves in group {self.name}; accepted: 1 or more")
