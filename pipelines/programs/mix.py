"""Mixes: a stage's programs in parts, each with options of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pipelines.base.identity import content_hash
from pipelines.base.summation import ordered_sum
from pipelines.programs.errors import ProgramError

Options = TypeVar("Options")
OptionsOut = TypeVar("OptionsOut", covariant=True)


class Part(Protocol[OptionsOut]):
    """A share of the programs, and their options, which have no mix."""

    @property
    def share(self) -> float:
        """Share of the stage's programs, above 0 and at most 1."""
        ...

    @property
    def options(self) -> OptionsOut:
        """Options of its programs."""
        ...


class Mixed(Protocol):
    """Options with a mix."""

    @property
    def mix(self) -> Sequence[object]:
        """Parts; empty for one kind of programs."""
        ...


def require_mix(mix: Sequence[Part[Mixed]]) -> None:
    """Refuse a mix that is no distribution.

    Raises: ProgramError: a share is not above 0, the sum exceeds 1, or a part has a mix.
    """
    shares = [part.share for part in mix]
    if any(not share > 0 for share in shares) or ordered_sum(shares) > 1 + 1e-9:
        raise ProgramError(f"shares of a mix must be above 0 with a sum of at most 1, got {shares}")
    if any(part.options.mix for part in mix):
        raise ProgramError("a part of a mix must have no mix, got one")


def options_of(
    options: Options, mix: Sequence[Part[Options]], *, stage: str, seed: int, number: int
) -> Options:
    """Return the options of program `number`: its part's, or `options` if it is in none."""
    place = part_of([part.share for part in mix], stage=stage, seed=seed, number=number)
    return options if place == len(mix) else mix[place].options


def part_of(shares: Sequence[float], *, stage: str, seed: int, number: int) -> int:
    """Return the index of the part of program `number`; that behind the last for the remaining programs.

    A function of its arguments alone, so that a program depends on no other.
    """
    place = int(content_hash(stage, "mix", seed, number)[:12], 16) / 16**12
    for index, share in enumerate(shares):
        if place < share:
            return index
        place -= share
    return len(shares)
