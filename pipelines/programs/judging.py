"""Bounds of a variant of a program, and the verdict on it; `pipelines.dataset.variants` judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipelines.base.cache import ContentCache
from pipelines.programs.errors import ProgramError
from pipelines.schemas import ProgramRow


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLimits:
    """Bounds of a variant.

    Attributes:
        most_cycles: with memory delays of 2 and no directives.
        most_area_um2: estimated for osu018, without directives; some 34 um2 a cell.
        timeout_s: of each native run, in seconds of processor time.
        data_seeds: of the inputs it is run on.
    """

    most_cycles: int = 50_000
    most_area_um2: float = 480_000.0
    timeout_s: float = 10.0
    data_seeds: tuple[int, ...] = (0, 1)

    def __post_init__(self) -> None:
        """Refuse a limit that is not above 0, and an absent seed. Raises: ProgramError."""
        for name in ("most_cycles", "most_area_um2", "timeout_s"):
            if not getattr(self, name) > 0:
                raise ProgramError(f"{name} must be above 0, got {getattr(self, name)}")
        if not self.data_seeds:
            raise ProgramError("data_seeds is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a variant.

    Attributes:
        status: ok, rejected, timeout or tool_error.
        reason: None when ok.
        ast_hash: of the normalised tree; None when it is no program.
        cycles: latency with memory delays of 2; None unless it was counted.
    """

    status: str
    reason: str | None = None
    ast_hash: str | None = None
    cycles: int | None = None


Judge = Callable[[str, ProgramRow, CheckLimits, ContentCache], Verdict]
"""What judges a source by its parent and bounds, with a cache: `pipelines.dataset.variants.check_variant`."""
