"""An entry of the leaderboard: errors, coverage and costs of one predictor on one release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.dataset.releases import Baseline

ENTRY_BYTES = 4 << 20
"""Of the file of an entry."""
_Text = Annotated[str, Field(max_length=1000)]
_Name = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Coverage(_Record):
    """Share of labels inside the intervals of a target on a part; failed rows are outside.

    Attributes: share: None where no answer has an interval.
    """

    target: _Text
    part: _Name
    share: _Share | None
    row_count: _Count


class Failure(_Record):
    """A reason for which designs of a part have no answer."""

    part: _Name
    reason: _Text
    row_count: _Count


class Entry(_Record):
    """One predictor on one release.

    Attributes:
        predictor: its name. sha256: of its file; None for a predictor of the project.
        origin: file, project (trained for this entry), or registered (weights as they were).
        tables: hash of the tables of the release.
        errors: as in `baselines.json`; a design without an answer has an error of 100 %.
        designs: judged ones. failures: those without an answer, by reason.
        training_s, answer_s: processor time of the training and of one answer; None where it is not known.
    """

    predictor: _Name
    version: _Text
    description: _Text
    origin: Literal["file", "project", "registered"]
    sha256: _Sha256 | None
    level: Literal["text", "static", "hls", "run"]
    release: _Text
    tables: _Sha256
    split: _Name
    parts: tuple[_Name, ...]
    settings: Mapping[str, Any]
    seed: int
    designs: Mapping[_Name, _Count]
    failures: tuple[Failure, ...]
    errors: tuple[Baseline, ...]
    coverage: tuple[Coverage, ...]
    training_s: _Seconds | None
    answer_s: _Seconds | None
