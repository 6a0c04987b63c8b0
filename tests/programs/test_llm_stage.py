"""The LLM stage: kept variants, rows of refused ones, duplicates, failures of the model."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import llm_support
import pytest
from llm_support import GOOD, PARENT, PROMPT, SOURCE, Says, fenced, variants

from pipelines.base import workers
from pipelines.base.cache import ContentCache
from pipelines.base.identity import text_sha256
from pipelines.dataset import variants as judging
from pipelines.dataset.variants import BoundedReader, check_variant
from pipelines.programs import ProgramError, Verdict
from pipelines.programs.llm import (
    CheckLimits,
    ParentPool,
    Prices,
    ProviderError,
    reason_kind,
)
from pipelines.schemas import ProgramRow


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judged")


@pytest.fixture(autouse=True)
def judge_once(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal variants are judged once for all tests; what a model said is kept for each."""

    def check(source: str, parent: ProgramRow, limits: CheckLimits, cache: ContentCache) -> Verdict:
        del cache
        return check_variant(source, parent, limits, ContentCache(folder=judged))

    monkeypatch.setattr(llm_support, "check_variant", check)


def test_good_variant_is_a_row_that_says_where_it_comes_from(tmp_path: Path) -> None:
    made = variants(Says(fenced(GOOD)), tmp_path)
    (row,) = made.rows
    assert (row.status, row.source, row.top, row.inputs) == ("ok", GOOD, "scale", PARENT.inputs)
    assert (row.suite, row.stage, row.parent, row.operators) == (
        "llm",
        "llm",
        PARENT.program_id,
        ("multiply",),
    )
    assert (row.prompt, row.model) == ("vary", "says-1")
    assert row.prompt_sha256 == text_sha256(PROMPT.filled(PARENT))
    assert row.reply_sha256 == text_sha256(fenced(GOOD))
    assert row.ast_hash not in (None, PARENT.ast_hash)
    assert (made.usage.asked, made.usage.generated, made.usage.cost) == (1, 1, 0.25)


def test_prompt_has_the_program_and_nothing_of_it_is_a_place() -> None:
    text = PROMPT.filled(PARENT)
    assert SOURCE.strip() in text
    assert "of scale for {" in text


REFUSED = {
    "the parent": (SOURCE, "must differ from its parent"),
    "the parent in other spelling": (
        SOURCE.replace("N", "LENGTH").replace("x[i]", "(x)[(i)]"),
        "must differ from its parent",
    ),
    "another interface": (GOOD.replace("int16_t gain", "int32_t gain"), "must keep its parent's arguments"),
    "no output": (SOURCE.replace("out[i] = x[i] * gain;", "gain += x[i];"), "must write an array"),
    "an index out of bounds": (GOOD.replace("N - 1 - i", "i + 1"), "index out of bounds reading x"),
    "an overflow": (
        SOURCE.replace("out[i] = x[i] * gain", "int w = (x[i] + 100) * 100000000; out[i] = w >> 9"),
        "signed integer overflow",
    ),
    "a division by zero": (SOURCE.replace("x[i] * gain", "x[i] / (gain - gain)"), "division by zero"),
    "an unset variable": (SOURCE.replace("out[i] =", "int w; out[i] = w +"), "uninitialised variables"),
    "a syntax error": (SOURCE.replace("i++)", "i++"), "a program must be C11"),
    "no top function": (SOURCE.replace("scale", "other"), "top must be a function"),
    "recursion": (
        "int f(int a) { return a > 1 ? f(a - 1) + f(a - 2) : a; }\n" + SOURCE.replace("* gain", "* f(gain)"),
        "recursion",
    ),
    "an unknown function": (SOURCE.replace("x[i] * gain", "launch(x[i])"), "high-level synthesis"),
    "too many cycles": (
        SOURCE.replace("out[i] =", "for (int k = 0; k < 9000; k++) out[i] = out[i] ^ k; out[i] +="),
        "at most 50000 cycles, got more",
    ),
    "macros that explode": (
        "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(x))))\n#define C B(B(int a;))\n"
        + SOURCE.replace("out[i] =", "C out[i] ="),
        "a preprocessed program must be at most",
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize(("source", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_variant_is_rejected(source: str, reason: str, tmp_path: Path) -> None:
    made = variants(Says(fenced(source)), tmp_path)
    (row,) = made.rows
    assert row.status == "rejected"
    assert reason in (row.reason or "")
    assert row.parent == PARENT.program_id
    assert made.usage.generated == 0


def test_variant_is_rejected_for_its_area(tmp_path: Path) -> None:
    (row,) = variants(Says(fenced(GOOD)), tmp_path, check=CheckLimits(most_area_um2=1000.0)).rows
    assert (row.status, (row.reason or "").split(", got")[0]) == (
        "rejected",
        "a design must have at most 1000 um2",
    )


def test_endless_loop_is_a_row_and_the_next_variant_is_made(tmp_path: Path) -> None:
    endless = SOURCE.replace("out[i] =", "while (gain < 100) out[i] += 1; out[i] =")
    made = variants(Says(fenced(endless), fenced(GOOD)), tmp_path, count=2, check=CheckLimits(timeout_s=1))
    assert [row.status for row in made.rows] == ["timeout", "ok"]
    assert "native C ran past its limit of 1 s" in (made.rows[0].reason or "")


def test_refused_reply_leaves_an_excerpt_only(tmp_path: Path) -> None:
    reply = '#include "/etc/passwd"\n\x1b[2J{;' + "x" * 100_000
    (row,) = variants(Says(reply), tmp_path).rows
    assert row.status == "rejected"
    assert len(row.source) == 400
    assert row.source.startswith('#include "/etc/passwd"\n?[2J{;')
    assert row.ast_hash is None
    assert row.reply_sha256 == text_sha256(reply)


def test_attempts_end_with_the_first_good_program(tmp_path: Path) -> None:
    made = variants(Says("no", fenced(SOURCE), fenced(GOOD), fenced(GOOD)), tmp_path, attempts=5)
    assert [row.status for row in made.rows] == ["rejected", "rejected", "ok"]
    assert [row.name for row in made.rows] == ["llm_00000_0", "llm_00000_1", "llm_00000_2"]
    assert len({row.program_id for row in made.rows}) == 3
    assert (made.usage.asked, made.usage.generated, made.usage.duplicates) == (3, 1, 1)
    assert made.usage.rejected == {"a reply must have a program in C": 1}


def test_of_equal_variants_the_first_stays(tmp_path: Path) -> None:
    respelled = GOOD.replace(" - ", "-").replace("N", "LENGTH")
    made = variants(Says(fenced(GOOD), fenced(respelled)), tmp_path, count=2, attempts=3)
    assert [row.status for row in made.rows] == ["ok", "rejected"]
    assert (
        made.rows[1].reason == "a variant must be new by its normalised syntax tree, got that of llm_00000_0"
    )
    assert made.usage.duplicates == 1


def test_a_variant_that_equals_an_earlier_program_is_not_new(tmp_path: Path) -> None:
    (first,) = variants(Says(fenced(GOOD)), tmp_path).rows
    assert first.ast_hash is not None
    (row,) = variants(Says(fenced(GOOD)), tmp_path, known={first.ast_hash: "ast_00007"}).rows
    assert (row.status, row.reason) == (
        "rejected",
        "a variant must be new by its normalised syntax tree, got that of ast_00007",
    )


def test_a_variant_names_its_first_ancestor(tmp_path: Path) -> None:
    (row,) = variants(Says(fenced(GOOD)), tmp_path).rows
    assert row.root == PARENT.name
    grown = ParentPool(name="llm", count=1, weight=1.0, program=lambda number: row)
    (second,) = variants(Says(fenced(GOOD.replace("+ gain", "- gain"))), tmp_path, pools=[grown]).rows
    assert (second.parent, second.root) == (row.program_id, PARENT.name)


FAULTS = {
    "a shift by less than nothing": "x[i] << (0 - 1)",
    "a constant shift by less than nothing": "gain + (1 << -1)",
    "a number beyond all numbers": "(int16_t)(x[i] * 0x1p99999)",
}


@pytest.mark.parametrize("expression", FAULTS.values(), ids=FAULTS.keys())
def test_odd_expressions_cost_one_variant(expression: str, tmp_path: Path) -> None:
    odd = fenced(SOURCE.replace("x[i] * gain", expression))
    made = variants(Says(odd, fenced(GOOD)), tmp_path, attempts=2)
    assert made.rows[0].status in ("rejected", "tool_error")
    assert made.rows[0].reason
    assert made.rows[1].status == "ok"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Variants are read without end."""
    monkeypatch.setattr(workers, "PATIENCE", 1_000_000)
    reader = BoundedReader(_never_ends, processor_s=0.001)
    monkeypatch.setattr(judging, "_READER", reader)
    yield
    reader.end()


def test_a_variant_that_takes_too_long_is_a_row(tmp_path: Path, hurried: None) -> None:
    (row,) = variants(Says(fenced(GOOD.replace("+ gain", "^ gain"))), tmp_path).rows
    reason = "a variant must be read and scheduled in bounds, got more than 0.001 s of processor time"
    assert (row.status, row.reason) == ("timeout", reason)


def _never_ends(source: str, top: str) -> None:
    del source, top
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as a process started by one that ignores it
    while True:
        pass


def _waits(source: str, top: str) -> None:
    """As on a machine that has no processor time for it."""
    del source, top
    time.sleep(60.0)


def _takes_memory(source: str, top: str) -> None:
    del source, top
    raise MemoryError


def _ends_its_process(source: str, top: str) -> None:
    del source, top
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("read", "excess"),
    [
        (_never_ends, "more than 0.2 s of processor time"),
        (_takes_memory, "more than 3 GiB"),
    ],
)
def test_a_reading_ends_whatever_it_does(
    read: Callable[[str, str], None], excess: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 1_000_000)
    reader = BoundedReader(read, processor_s=0.2 if read is _never_ends else 60.0)
    try:
        assert [reader.excess("", ""), reader.excess("", "")] == [excess, excess]
    finally:
        reader.end()


@pytest.mark.parametrize(
    ("read", "fault"),
    [
        (_ends_its_process, "the process ended without an answer"),
        (_waits, "the machine was too busy: no end within 0.2 s by the clock"),
    ],
)
def test_what_the_machine_does_to_a_reading_is_no_verdict(
    read: Callable[[str, str], None], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = BoundedReader(read, processor_s=0.02)
    monkeypatch.setattr(judging, "_READER", reader)
    try:
        (row,) = variants(Says(fenced(GOOD.replace("+ gain", "| gain"))), tmp_path).rows
    finally:
        reader.end()
    assert (row.status, row.reason) == ("tool_error", f"an engine failed: MachineFault: {fault}")


def test_macros_that_grow_are_refused(tmp_path: Path) -> None:
    grown = "\n".join(f"#define M{k} (M{k - 1} + M{k - 1})" for k in range(1, 16))
    bomb = fenced(f"#define M0 gain\n{grown}\n" + GOOD.replace("gain;", "M15;"))
    (row,) = variants(Says(bomb), tmp_path).rows
    reason = "a preprocessed program must be at most 131072 bytes, got more"
    assert (row.status, row.reason) == ("rejected", reason)


def test_a_reply_of_before_costs_what_its_tokens_cost_now(tmp_path: Path) -> None:
    dear, free = Says(fenced(GOOD)), Says(fenced(GOOD))
    free.prices = Prices()
    assert variants(dear, tmp_path).usage.cost == 0.25
    assert variants(free, tmp_path).usage.cost == 0.0


def test_variants_do_not_depend_on_how_many_are_asked_for(tmp_path: Path) -> None:
    good = [fenced(GOOD.replace("+ gain", f"+ gain + {k}")) for k in range(4)]

    class ByPrompt(Says):
        def complete(self, prompt: str, *, seed: int):
            self.prompts.append((prompt, seed))
            return Says(good[seed % 4]).complete(prompt, seed=seed)

    few = variants(ByPrompt(), tmp_path / "few", count=2)
    many = variants(ByPrompt(), tmp_path / "many", count=4)
    assert many.rows[: len(few.rows)] == few.rows


def test_reply_is_asked_for_once(tmp_path: Path) -> None:
    first, second = Says(fenced(GOOD)), Says("another")
    one = variants(first, tmp_path)
    two = variants(second, tmp_path)
    assert (len(first.prompts), len(second.prompts)) == (1, 0)
    assert one == two


def test_failure_of_the_model_is_a_row_and_the_run_goes_on(tmp_path: Path) -> None:
    failing = ProviderError("a server must answer 200, got 500", reply_excerpt="<html>")
    late = ProviderError("a server must answer within 1 s, got no end of an answer", timed_out=True)
    made = variants(Says(failing, late, fenced(GOOD)), tmp_path, count=3)
    assert [row.status for row in made.rows] == ["tool_error", "timeout", "ok"]
    assert made.rows[0].source == "<html>"
    assert made.rows[0].reply_sha256 is None


def test_model_that_always_fails_is_asked_no_more(tmp_path: Path) -> None:
    provider = Says(ProviderError("a server must answer, got none"))
    made = variants(provider, tmp_path, count=4, attempts=2, most_failures=3)
    assert len(provider.prompts) == 3
    assert len(made.rows) == 8
    assert "one of 3 requests in a row, got for the last: a server must answer" in (
        made.rows[-1].reason or ""
    )


def test_failures_are_asked_again_in_the_next_run(tmp_path: Path) -> None:
    assert variants(Says(ProviderError("down")), tmp_path).rows[0].status == "tool_error"
    assert variants(Says(fenced(GOOD)), tmp_path).rows[0].status == "ok"


def test_reason_kinds_leave_out_values() -> None:
    shift = "native C: C must have defined behaviour, got shift exponent 40 is too large (kernel.c:9)"
    assert reason_kind(shift) == "native C: C must have defined behaviour: shift exponent is too large"
    assert reason_kind("brackets must nest at most 64 deep, got 70") == "brackets must nest at most 64 deep"


def test_stage_rejects_no_parents(tmp_path: Path) -> None:
    empty = ParentPool(name="ast", count=0, weight=1.0, program=lambda number: PARENT)
    with pytest.raises(ProgramError, match="variants need a prompt and earlier programs, got no programs"):
        variants(Says(fenced(GOOD)), tmp_path, pools=[empty])
