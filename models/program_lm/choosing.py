"""Edits that a scorer of texts chooses among those that the grammar allows.

Candidates are drawn word by word, uniformly among the words that the grammar allows. One of them is drawn by
the ratio of its probability under the scorer and its probability of having been drawn: with many candidates
the choice follows the scorer's own distribution over what the grammar allows, whatever their lengths.

Source: Rubin 1987, "The calculation of posterior distributions by data augmentation: comment", the
sampling/importance resampling algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from models.program_lm.editing import LIMIT_TOKENS, Replacement, rendered
from models.program_lm.examples import middle_words
from models.program_lm.grammar import grammar_of
from models.program_lm.symbols import ReadProgram, Site
from models.program_lm.vocabulary import naming_of

INSERTED_WORDS = 8
"""Words after which an inserted statement is only closed; others may be as long as what they replace."""
MOST_WORDS = min(24, LIMIT_TOKENS)
AFTER_CHARACTERS = 80
"""Of the line behind a site, which the scorer reads behind each candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Log probabilities of some texts.

    Attributes:
        values: in nats, up to one constant that all texts share.
        read_tokens, scored_tokens: that the scorer read before the texts, and of the texts.
    """

    values: tuple[float, ...]
    read_tokens: int
    scored_tokens: int


class TextScorer(Protocol):
    """A language model of texts."""

    def score(self, before: str, texts: Sequence[str], after: str) -> Scores:
        """Return the log probability of each text, and of what stands behind it, given what stands before."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A replacement and the logarithm of its probability of being drawn, in nats."""

    text: str
    log_probability: float


def draw_candidate(program: ReadProgram, site: Site, generator: Random) -> Candidate | None:
    """Draw a replacement uniformly, word by word; None when it is what stands there."""
    naming = naming_of(program, site)
    limit = min(site.last - site.first or INSERTED_WORDS, MOST_WORDS)
    production = grammar_of(naming, program.names, limit=limit).replacement(site)
    allowed = next(production)
    words: list[str] = []
    log_probability = 0.0
    while True:
        choices = sorted(allowed)
        words.append(generator.choice(choices))
        log_probability -= math.log(len(choices))
        try:
            allowed = production.send(words[-1])
        except StopIteration:
            break
    if words == middle_words(program, site, naming):
        return None
    return Candidate(text=rendered(program, site, naming, words[:-1]), log_probability=log_probability)


def choose_replacement(
    program: ReadProgram,
    site: Site,
    *,
    scorer: TextScorer,
    candidates: int,
    temperature: float,
    generator: Random,
) -> Replacement:
    """Draw candidates of a site, and one of them by the scorer."""
    drawn = [draw_candidate(program, site, generator) for _ in range(candidates)]
    others = [candidate for candidate in drawn if candidate is not None]
    texts = list(dict.fromkeys(candidate.text for candidate in others))
    if len(texts) < 2:
        return Replacement(text=texts[0] if texts else None)
    before, after = surroundings(program, site)
    scores = scorer.score(before, texts, after)
    by_text = dict(zip(texts, scores.values, strict=True))
    logarithms = [(by_text[c.text] - c.log_probability) / temperature for c in others]
    highest = max(logarithms)
    [chosen] = generator.choices(others, [math.exp(value - highest) for value in logarithms])
    return Replacement(text=chosen.text, read_tokens=scores.read_tokens, made_tokens=scores.scored_tokens)


def surroundings(program: ReadProgram, site: Site) -> tuple[str, str]:
    """Return the text before a site, and what stands behind it on its line."""
    tokens, source = program.tokens, program.source
    before = source[: tokens[site.first].start]
    if site.first == site.last:
        return before, "\n"
    line, end, _ = source[tokens[site.last - 1].end :].partition("\n")
    return before, (line + end)[:AFTER_CHARACTERS]
