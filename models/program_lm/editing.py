"""Variants of a program: some sites replaced one after another by what the model samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import torch

from models.program_lm import EditOptions
from models.program_lm.examples import MIDDLE_TOKENS, context_ids, middle_words
from models.program_lm.grammar import grammar_of
from models.program_lm.network import ProgramLm
from models.program_lm.reading import read_program
from models.program_lm.symbols import CONDITION, EXPRESSION, LOOP, SINGLE_TYPES, STATEMENT, ReadProgram, Site
from models.program_lm.vocabulary import IDS, REALS, Naming, naming_of
from pipelines.base.summation import ordered_sum

_INDENT = "    "
_TIGHT_AFTER = frozenset(["(", "["])
_TIGHT_BEFORE = frozenset([")", "]", "[", ";", ",", "++", "--"])
_OPERANDS_END = frozenset([")", "]"])
_KEYWORDS = frozenset(["if", "for", "while", "return", "else"])
_LOOP_NAMES = ("i", "j", "k", "m", "n", "p", "q", "r")


def rendered(program: ReadProgram, site: Site, naming: Naming, words: Sequence[str]) -> str:
    """Return the text of a replacement.

    Args:    words: canonical tokens without END.
    """
    own = [s.name for s in naming.symbols.values()]
    names = {name: s.name for name, s in naming.symbols.items()}
    names |= {name: f.name for name, f in naming.functions.items()}
    names |= {**naming.integers, **naming.reals}
    suffix = "" if program.has_double else "f"
    taken = set(program.names) | set(own)
    texts: list[str] = []
    for place, word in enumerate(words):
        if place and words[place - 1] in SINGLE_TYPES and word.startswith("v"):
            names[word] = _fresh_name(taken, loop=words[place - 2 : place - 1] == ["("])
            taken.add(names[word])
        texts.append(names.get(word) or (word + suffix if word in REALS else word))
    return _laid_out(texts, _indent_of(program, site))


def _fresh_name(taken: set[str], *, loop: bool) -> str:
    """Return a name that no other part of the program has."""
    if loop:
        return next((n for n in _LOOP_NAMES if n not in taken), None) or next(
            n for n in (f"i{k}" for k in range(2, 10_000)) if n not in taken
        )
    return next(n for n in (f"w{k}" for k in range(10_000)) if n not in taken)


def _indent_of(program: ReadProgram, site: Site) -> str:
    """Return the white space before the line of a site."""
    place = program.tokens[min(site.first, len(program.tokens) - 1)].start
    line = program.source[program.source.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _laid_out(texts: Sequence[str], indent: str) -> str:
    lines = list(_lines(texts, indent))
    return "\n".join(lines).lstrip()


def _lines(texts: Sequence[str], indent: str) -> Iterator[str]:
    """Yield the lines: one a statement, one more level of indentation inside braces."""
    line: list[str] = []
    depth = level = 0
    for text in texts:
        if text == "}":
            level -= 1
        depth += {"(": 1, ")": -1}.get(text, 0)
        line.append(text)
        if text in ("{", "}") or (text == ";" and depth == 0):
            yield indent + _INDENT * level + _spaced(line)
            line = []
        if text == "{":
            level += 1
    if line:
        yield indent + _INDENT * level + _spaced(line)


def _spaced(texts: Sequence[str]) -> str:
    """Return the tokens of a line with spaces between them where C needs or readers want them."""
    spaced = ""
    unary = False
    for place, text in enumerate(texts):
        before = texts[place - 1] if place else ""
        tight = (
            not before
            or before in _TIGHT_AFTER
            or text in _TIGHT_BEFORE
            or (unary and text != before)
            or (text == "(" and (before[0].isalpha() or before[0] == "_") and before not in _KEYWORDS)
        )
        spaced += text if tight else f" {text}"
        unary = text in ("-", "~") and not (
            before and (before[0].isalnum() or before[0] == "_" or before in _OPERANDS_END)
        )
    return spaced


ATTEMPTS_AN_EDIT = 4
"""Samples drawn for one site before another is taken; a sample may repeat what stood there."""
ROOM_TOKENS = 12
"""Tokens that a replacement may need after its limit, to close what is open."""
LIMIT_TOKENS = MIDDLE_TOKENS - ROOM_TOKENS - 4
"""Tokens of a replacement after which it is only closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A program with some sites replaced.

    Attributes:
        edits: sites that were.
        read_tokens, made_tokens: that the model was given and sampled.
    """

    source: str
    edits: int
    read_tokens: int
    made_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What may stand at a site instead.

    Attributes:
        text: None when it is what stands there.
        read_tokens, made_tokens: that a model was given and sampled or scored.
    """

    text: str | None
    read_tokens: int = 0
    made_tokens: int = 0


Replace = Callable[[ReadProgram, Site], Replacement]
"""Draws one replacement of a site."""


def draw_variant(source: str, network: ProgramLm, options: EditOptions, generator: Random) -> Variant:
    """Draw a variant of a program; the same for the same arguments on one machine.

    Raises: SourceError: the program is outside the subset that the model reads.
    """

    def replace(program: ReadProgram, site: Site) -> Replacement:
        sampler = _Sampler(network=network, temperature=options.temperature, generator=generator)
        text = sampler.replacement(program, site)
        return Replacement(text=text, read_tokens=sampler.read, made_tokens=sampler.written)

    return draw_edits(source, replace, options, generator)


def draw_edits(source: str, replace: Replace, options: EditOptions, generator: Random) -> Variant:
    """Draw a variant of a program whose sites are replaced one after another, on one thread.

    Raises: SourceError: the program is outside the subset that is read.
    """
    edit_count = generator.randint(*options.edits)
    edits = read = sampled = 0
    with one_thread():
        for _ in range(edit_count * ATTEMPTS_AN_EDIT):
            if edits == edit_count:
                break
            program = read_program(source)
            site = _draw_site(program.sites, options, generator)
            if site is None:
                break
            drawn = replace(program, site)
            read, sampled = read + drawn.read_tokens, sampled + drawn.made_tokens
            if drawn.text is not None:
                source = spliced(program, site, drawn.text)
                edits += 1
    return Variant(source=source, edits=edits, read_tokens=read, made_tokens=sampled)


@contextmanager
def one_thread() -> Iterator[None]:
    """Fix the order of sums on every machine, and avoid threads that wait over a few numbers."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _draw_site(sites: Sequence[Site], options: EditOptions, generator: Random) -> Site | None:
    """Draw a site of a kind drawn by its weight; short ones only, so that a replacement can be as long."""
    by_kind: dict[str, list[Site]] = {EXPRESSION: [], CONDITION: [], STATEMENT: [], LOOP: []}
    insertions: list[Site] = []
    for site in sites:
        if site.first == site.last:
            if _can_assign(site):
                insertions.append(site)
        elif site.last - site.first < MIDDLE_TOKENS and (
            site.kind in (EXPRESSION, CONDITION) or _can_assign(site)
        ):
            by_kind[site.kind].append(site)
    if insertions and generator.random() < options.insert_probability * _share(options, STATEMENT):
        return generator.choice(insertions)
    kinds = [kind for kind, some in by_kind.items() if some and _weight(options, kind) > 0]
    if not kinds:
        return None
    kind = generator.choices(kinds, [_weight(options, kind) for kind in kinds])[0]
    return generator.choice(by_kind[kind])


def _can_assign(site: Site) -> bool:
    """Tell whether a statement at a site has something to write; inner names hide outer ones."""
    return any(symbol.assignable for symbol in {s.name: s for s in site.scope}.values())


def _weight(options: EditOptions, kind: str) -> float:
    return options.kind_weights[(EXPRESSION, CONDITION, STATEMENT, LOOP).index(kind)]


def _share(options: EditOptions, kind: str) -> float:
    return _weight(options, kind) / ordered_sum(options.kind_weights)


def spliced(program: ReadProgram, site: Site, text: str) -> str:
    """Return the program with other text at a site."""
    tokens, source = program.tokens, program.source
    begin = tokens[site.first].start
    if site.first == site.last:
        line = source.rfind("\n", 0, begin) + 1
        return f"{source[:begin]}{text}\n{source[line:begin]}{source[begin:]}"
    return source[:begin] + text + source[tokens[site.last - 1].end :]


@dataclass(slots=True, kw_only=True)
class _Sampler:
    """Draws replacements of one site.

    Attributes:
        read, written: tokens so far.
    """

    network: ProgramLm
    temperature: float
    generator: Random
    read: int = 0
    written: int = 0

    @torch.inference_mode()
    def replacement(self, program: ReadProgram, site: Site) -> str | None:
        """Return text for a site, None when the sample is what stands there."""
        naming = naming_of(program, site)
        context = context_ids(program, site, naming)
        grammar = grammar_of(naming, program.names, limit=LIMIT_TOKENS)
        production = grammar.replacement(site)
        allowed = next(production)
        words: list[str] = []
        logits, cache = self.network(torch.tensor([context]))
        self.read += len(context)
        while True:
            word = self.drawn(logits[0, -1], sorted(allowed))
            words.append(word)
            try:
                allowed = production.send(word)
            except StopIteration:
                break
            if cache[0][0].shape[2] == self.network.size.block:
                return None
            logits, cache = self.network(torch.tensor([[IDS[word]]]), cache)
        self.written += len(words)
        if words == middle_words(program, site, naming):
            return None
        return rendered(program, site, naming, words[:-1])

    def drawn(self, logits: torch.Tensor, allowed: Sequence[str]) -> str:
        """Return one of the allowed tokens by the model's probabilities among them."""
        if len(allowed) == 1:
            return allowed[0]
        scores = logits[[IDS[word] for word in allowed]].tolist()
        highest = max(scores)
        weights = [math.exp((score - highest) / self.temperature) for score in scores]
        return self.generator.choices(allowed, weights)[0]
