"""The LLM stage: variants of earlier programs, kept when they pass all checks and are new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Annotated, Any

from pydantic import Field

from pipelines.base.cache import ContentCache
from pipelines.base.identity import canonical_json, content_hash, text_sha256
from pipelines.base.summation import ordered_sum
from pipelines.base.validation import Count
from pipelines.programs.errors import ProgramError
from pipelines.programs.judging import CheckLimits, Judge, Verdict
from pipelines.programs.llm.provider import Prompt, Provider, ProviderError, Reply
from pipelines.programs.llm.replies import ReplyRejected, TextLimits, program_of_reply
from pipelines.schemas import OK, REJECTED, TIMEOUT, TOOL_ERROR, ProgramRow

SUITE = STAGE = "llm"
SIZE = "custom"
EXCERPT_CHARACTERS = 400
_CACHE_KIND = "llm_reply"
_PARENT_TRIES = 20

EMPTY: Mapping[str, str] = {}

ParentOf = Callable[[int], ProgramRow]
"""A program of an earlier stage by its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentPool:
    """Programs of one earlier stage that may be varied.

    Attributes:
        name: of the stage.
        count: programs 0 .. count - 1.
        weight: relative frequency of the stage.
        program: returns a program by its number; called repeatedly for the same number.
    """

    name: str
    count: int
    weight: float
    program: ParentOf


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions:
    """Options of the stage.

    Attributes:
        count: number of variants.
        seed: of all of them.
        attempts: maximum requests per variant.
        most_failures: consecutive failed requests after which no more are sent.
        text: limits on replies.
        check: limits on programs.
    """

    count: Annotated[int, Field(ge=0)]
    seed: int
    attempts: Count
    most_failures: Count
    text: TextLimits
    check: CheckLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmUsage:
    """Usage of the replies behind some rows.

    Attributes:
        asked: requests, failed and cached ones included.
        generated: replies that were programs and new.
        duplicates: replies whose program exists already.
        rejected: other replies and failures, by reason without its value.
        prompt_tokens, completion_tokens, cost: of replies whose model counts tokens.
    """

    asked: int = 0
    generated: int = 0
    duplicates: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict[str, int])
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmPrograms:
    """Rows of the stage, one per attempt, and their usage."""

    rows: tuple[ProgramRow, ...]

    @property
    def usage(self) -> LlmUsage:
        """Usage of the replies behind the rows."""
        return usage_of(self.rows)


def usage_of(rows: Sequence[ProgramRow]) -> LlmUsage:
    """Return the usage of the replies behind rows of the stage, cached replies included."""
    duplicates = [r for r in rows if "must be new" in (r.reason or "") or "must differ" in (r.reason or "")]
    others = [r for r in rows if r.status != OK and r not in duplicates]
    return LlmUsage(
        asked=len(rows),
        generated=sum(r.status == OK for r in rows),
        duplicates=len(duplicates),
        rejected=dict(sorted(Counter(reason_kind(r.reason or "") for r in others).items())),
        prompt_tokens=sum(r.prompt_tokens or 0 for r in rows),
        completion_tokens=sum(r.completion_tokens or 0 for r in rows),
        cost=ordered_sum(r.reply_cost or 0.0 for r in rows),
    )


OnVariant = Callable[[int, int, int, str], None]
"""Callback after each variant: done, total, failed, name of the last."""


def _silent(done: int, total: int, failed: int, latest: str) -> None:
    del done, total, failed, latest


def llm_programs(
    options: LlmOptions,
    *,
    provider: Provider,
    prompts: Sequence[Prompt],
    parents: Sequence[ParentPool],
    judge: Judge,
    cache: ContentCache,
    known: Mapping[str, str] = EMPTY,
    on_variant: OnVariant = _silent,
) -> LlmPrograms:
    """Return the variants 0 .. count - 1 of earlier programs by prompting a language model.

    Variant k has its own parent, prompt and seed, drawn from (seed, k) and the pools. Its attempts
    end with the first program that passes all checks; each that does not is a row with its reason. Of equal
    variants the one with the lowest number is kept. Replies and verdicts are kept in the cache, so the same
    request is never sent twice.

    Args:    judge: judges a program of a reply; it compiles it, which this package does not.
             known: name by syntax tree hash of earlier programs; a variant that equals one is not new.
    Returns: rows in order of variants and attempts; programs of refused replies are not in them, but for an
             excerpt.
    Raises:  ProgramError: no prompt, or no parents.
    Source:  LLMulator, section 6.1, the third stage.
    """
    pools = [pool for pool in parents if pool.count > 0 and pool.weight > 0]
    if not prompts or not pools:
        raise ProgramError(
            "variants need a prompt and earlier programs, got "
            + (f"programs of {', '.join(p.name for p in pools)} without a prompt" if pools else "no programs")
        )
    stage = _Stage(
        options=options,
        provider=provider,
        prompts=prompts,
        pools=pools,
        judge=judge,
        cache=cache,
        known=dict(known),
    )
    failed = 0
    for number in range(options.count):
        failed += not stage.variant(number)
        on_variant(number + 1, options.count, failed, f"llm_{number:05d}")
    return LlmPrograms(rows=tuple(stage.rows))


@dataclass(slots=True, kw_only=True)
class _Stage:
    options: LlmOptions
    provider: Provider
    prompts: Sequence[Prompt]
    pools: Sequence[ParentPool]
    judge: Judge
    cache: ContentCache
    rows: list[ProgramRow] = field(default_factory=list[ProgramRow])
    known: dict[str, str] = field(default_factory=dict[str, str])
    failures: int = 0
    last_failure: str = ""

    def variant(self, number: int) -> bool:
        """Try to generate a variant; returns whether one was accepted."""
        for attempt in range(self.options.attempts):
            generator = Random(int(content_hash(STAGE, self.options.seed, number, attempt), 16))  # noqa: S311
            parent = self._parent(generator)
            if parent is None:
                return False
            name = f"llm_{number:05d}_{attempt}"
            row, passed = self._attempt(name, parent, generator)
            self.rows.append(row)
            if passed:
                return row.status == OK
        return False

    def _parent(self, generator: Random) -> ProgramRow | None:
        weights = [pool.weight for pool in self.pools]
        for _ in range(_PARENT_TRIES):
            pool = generator.choices(self.pools, weights)[0]
            program = pool.program(generator.randrange(pool.count))
            if program.status == OK:
                return program
        return None

    def _attempt(self, name: str, parent: ProgramRow, generator: Random) -> tuple[ProgramRow, bool]:
        """Return a row, and whether its program passed all checks, new or not."""
        prompt = generator.choice(self.prompts)
        text = prompt.filled(parent)
        seed = generator.getrandbits(31)
        attempt = _Made(
            name=name, parent=parent, prompt=prompt.name, prompt_text=text, model=self.provider.model
        )
        try:
            reply = self._reply(text, seed)
        except ProviderError as error:
            status = TIMEOUT if error.timed_out else TOOL_ERROR
            return attempt.refused(status, str(error), error.reply_excerpt), False
        attempt = replace(attempt, model=reply.model, reply=reply)
        try:
            source = program_of_reply(reply.text, self.options.text)
        except ReplyRejected as refused:
            return attempt.refused(REJECTED, str(refused), reply.text), False
        verdict = self.judge(source, parent, self.options.check, self.cache)
        if verdict.status != OK:
            return attempt.refused(verdict.status, verdict.reason or "no reason", source), False
        return self._new(attempt, source, verdict), True

    def _new(self, attempt: _Made, source: str, verdict: Verdict) -> ProgramRow:
        row = attempt.accepted(source, verdict)
        duplicate = self.known.setdefault(verdict.ast_hash or row.program_id, row.name)
        if duplicate == row.name:
            return row
        rule = "a variant must be new by its normalised syntax tree"
        return attempt.refused(REJECTED, f"{rule}, got that of {duplicate}", source)

    def _reply(self, prompt: str, seed: int) -> Reply:
        """Return the cached reply, or a new one.

        Raises: ProviderError: no reply, or too many consecutive requests failed.
        """
        key = content_hash(self.provider.identity, text_sha256(prompt), seed)
        stored: dict[str, Any] | None = self.cache.get(_CACHE_KIND, key)
        if stored is not None:
            reply = Reply(**stored)
            cost = self.provider.prices.cost(reply.prompt_tokens, reply.completion_tokens)
            return replace(reply, cost=cost)
        if self.failures >= self.options.most_failures:
            rule = f"a model must reply to one of {self.options.most_failures} requests in a row"
            raise ProviderError(f"{rule}, got for the last: {self.last_failure}")
        try:
            reply = self.provider.complete(prompt, seed=seed)
        except ProviderError as error:
            self.failures += 1
            self.last_failure = str(error)
            raise
        self.failures = 0
        fields = ("text", "model", "prompt_tokens", "completion_tokens", "cost")
        self.cache.put(_CACHE_KIND, key, {name: getattr(reply, name) for name in fields})
        return reply


def reason_kind(reason: str) -> str:
    """Return a reason without the value that differs from row to row; of undefined behaviour its kind."""
    rule, _, got = reason.partition(", got ")
    if rule.endswith("C must have defined behaviour"):
        return f"{rule}: {_fault(got)}"
    return rule


def _fault(message: str) -> str:
    """Return the kind of undefined behaviour: the words of a sanitizer's message before its numbers."""
    words = message.split(" (")[0].split(":")[0].split()
    return " ".join(word for word in words if not any(c.isdigit() for c in word) and "'" not in word)[:60]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """Columns of an attempt's row that do not depend on its outcome."""

    name: str
    parent: ProgramRow
    prompt: str
    prompt_text: str
    model: str
    reply: Reply | None = None

    def accepted(self, source: str, verdict: Verdict) -> ProgramRow:
        return self._row(source, content_hash(source, self.parent.top, self.parent.inputs), verdict.ast_hash)

    def refused(self, status: str, reason: str, text: str) -> ProgramRow:
        """Return the row of an attempt without a program; its text is an excerpt of the reply."""
        excerpt = "".join(c if c.isprintable() or c == "\n" else "?" for c in text[:EXCERPT_CHARACTERS])
        encodable = excerpt.encode("utf-8", errors="replace").decode()
        said = "" if self.reply is None else self.reply.text
        identity = content_hash(STAGE, self.name, self.parent.program_id, self.prompt_text, said)
        row = self._row(encodable, identity, None)
        return replace(row, status=status, reason=" ".join(reason.split())[:500])

    def _row(self, source: str, program_id: str, ast_hash: str | None) -> ProgramRow:
        parent, reply = self.parent, self.reply
        return ProgramRow(
            program_id=program_id,
            name=self.name,
            suite=SUITE,
            stage=STAGE,
            size=SIZE,
            parameters=canonical_json({}),
            source=source,
            source_bytes=len(source.encode()),
            top=parent.top,
            inputs=parent.inputs,
            graph=None,
            operators=parent.operators,
            parent=parent.program_id,
            root=parent.root or parent.name,
            ast_hash=ast_hash,
            prompt=self.prompt,
            prompt_sha256=text_sha256(self.prompt_text),
            model=self.model,
            reply_sha256=reply and _sha256(reply.text),
            prompt_tokens=reply and reply.prompt_tokens,
            completion_tokens=reply and reply.completion_tokens,
            reply_cost=reply and reply.cost,
            status=OK,
            reason=None,
        )


def _sha256(text: str) -> str:
    """Return the hash of a reply, which may hold half characters."""
    return text_sha256(text.encode("utf-8", errors="surrogatepass").decode("utf-8", errors="replace"))
