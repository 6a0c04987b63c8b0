"""How variants are drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOptions:
    """How variants are drawn.

    Attributes:
        edits: least and most sites that are replaced.
        temperature: of sampling; 1 is the model's own distribution.
        kind_weights: of expression, condition, statement and loop.
        insert_probability: that a statement is put between others instead of replacing one.
    """

    edits: tuple[int, int] = (2, 5)
    temperature: float = 0.9
    kind_weights: tuple[float, float, float, float] = (4, 1, 2, 3)
    insert_probability: float = 0.3

    def __post_init__(self) -> None:
        """Raises: ValueError: an option outside its range."""
        if not 1 <= self.edits[0] <= self.edits[1] <= 20:
            raise ValueError(f"edits must be 1 <= least <= most <= 20, got {self.edits}")
        if not 0.05 <= self.temperature <= 5:
            raise ValueError(f"temperature must be 0.05 .. 5, got {self.temperature}")
        if len(self.kind_weights) != 4 or min(self.kind_weights) < 0 or not sum(self.kind_weights) > 0:
            raise ValueError(f"kind_weights must be four weights >= 0, one above 0, got {self.kind_weights}")
        if not 0 <= self.insert_probability <= 1:
            raise ValueError(f"insert_probability must be 0 .. 1, got {self.insert_probability}")
