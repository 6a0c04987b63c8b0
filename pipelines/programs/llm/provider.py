"""Prompts, and what answers them: the interface of a language model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from pipelines.programs.errors import ProgramError
from pipelines.schemas import ProgramRow

PLACES = ("source", "top", "inputs")
LONGEST_BYTES = 1 << 16
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_NAME = re.compile(r"[a-z0-9_]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt with places `{{source}}`, `{{top}}` and `{{inputs}}`.

    Attributes:
        name: of its file without suffix; rows have it.

    Raises: ProgramError: no place for the source, an unknown place, or a name that is not of a-z, 0-9, _.
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ProgramError(f"a prompt's name must be of a-z, 0-9 and _, got {self.name!r}")
        if len(self.text.encode()) > LONGEST_BYTES:
            raise ProgramError(f"a prompt must be at most {LONGEST_BYTES} bytes, got more ({self.name})")
        places = set(_PLACE.findall(self.text))
        unknown = sorted(places - set(PLACES))
        if unknown or "source" not in places:
            valid = ", ".join("{{" + place + "}}" for place in PLACES)
            got = ", ".join(unknown) or "no {{source}}"
            raise ProgramError(
                f"a prompt must have {{{{source}}}} and no other place than {valid}, got {got}"
            )

    def filled(self, parent: ProgramRow) -> str:
        """The prompt about a program; what the program says is not looked at for places again."""
        values = {"source": parent.source.rstrip("\n"), "top": parent.top, "inputs": parent.inputs}
        return _PLACE.sub(lambda place: values[place[1]], self.text)


class ProviderError(ProgramError):
    """A model gave no reply; the message says why, and never holds a key.

    Attributes:
        timed_out: it took too long.
        reply_excerpt: beginning of what came instead of a reply; empty when nothing did.
    """

    def __init__(self, message: str, *, timed_out: bool = False, reply_excerpt: str = "") -> None:
        super().__init__(message)
        self.timed_out = timed_out
        self.reply_excerpt = reply_excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said.

    Attributes:
        text: the whole reply, untrusted.
        model: name of the model that gave it, as it calls itself.
        prompt_tokens, completion_tokens: read and written, as the model counts them; None when it does not.
        cost: of both, in the currency of the configured prices; None when the tokens are not known.
    """

    text: str
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What tokens cost, in one currency for a million of them; 0 for a model of one's own."""

    prompt_million: float = 0.0
    completion_million: float = 0.0

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Cost of a reply in that currency; None when a count is not known."""
        if prompt_tokens is None or completion_tokens is None:
            return None
        total = prompt_tokens * self.prompt_million + completion_tokens * self.completion_million
        return total / 1_000_000


class Provider(Protocol):
    """A language model.

    One method, with the prompt as one text: all that servers, folders of weights and the embedded model have
    in common. The seed is given with each prompt, so that asking again gives the same reply where a model can
    do that, and a reply can be stored under (identity, prompt, seed) where it cannot. A failure raises and
    does not give an empty reply, which would look like a model that had nothing to say.
    """

    @property
    def identity(self) -> str:
        """All that a reply depends on besides prompt and seed: address, names, options, versions; no key."""
        ...

    @property
    def prices(self) -> Prices:
        """Of its tokens; a reply of before costs what its tokens cost now."""
        ...

    @property
    def model(self) -> str:
        """Name of the model that is asked."""
        ...

    def complete(self, prompt: str, *, seed: int) -> Reply:
        """The model's reply to a prompt.

        Raises: ProviderError: there is none.
        """
        ...
