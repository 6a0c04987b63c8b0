"""Prompts, and the interface of language models."""

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
        name: of its file without suffix; a column of rows.

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
        """Return the prompt about a program; places inside the program's text are not replaced."""
        values = {"source": parent.source.rstrip("\n"), "top": parent.top, "inputs": parent.inputs}
        return _PLACE.sub(lambda place: values[place[1]], self.text)


class ProviderError(ProgramError):
    """A model gave no reply; the message has the reason and never a key.

    Attributes:
        timed_out: it took too long.
        reply_excerpt: beginning of the data that arrived instead of a reply; empty without any.
    """

    def __init__(self, message: str, *, timed_out: bool = False, reply_excerpt: str = "") -> None:
        super().__init__(message)
        self.timed_out = timed_out
        self.reply_excerpt = reply_excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Reply of a model.

    Attributes:
        text: the whole reply, untrusted.
        model: the model's own name.
        prompt_tokens, completion_tokens: read and written, as the model counts them; None when it does not.
        cost: of both, in the currency of the configured prices; None when the token counts are not known.
    """

    text: str
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a million tokens, in one currency; 0 for a local model."""

    prompt_million: float = 0.0
    completion_million: float = 0.0

    def cost(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """Return the cost of a reply in that currency; None when a count is not known."""
        if prompt_tokens is None or completion_tokens is None:
            return None
        total = prompt_tokens * self.prompt_million + completion_tokens * self.completion_million
        return total / 1_000_000


class Provider(Protocol):
    """A language model.

    One method, with the prompt as one text: the common interface of servers, folders of weights and the
    embedded model. Each prompt has a seed: a repeated request gives the same reply if the model supports it,
    and a reply can be stored under (identity, prompt, seed) otherwise. A failure raises;
    an empty reply would look like the model's own.
    """

    @property
    def identity(self) -> str:
        """All that a reply depends on besides prompt and seed: address, names, options, versions."""
        ...

    @property
    def prices(self) -> Prices:
        """Prices of its tokens; a cached reply is charged at current prices."""
        ...

    @property
    def model(self) -> str:
        """Name of the requested model."""
        ...

    def complete(self, prompt: str, *, seed: int) -> Reply:
        """Return the model's reply to a prompt.

        Raises: ProviderError: no reply.
        """
        ...
