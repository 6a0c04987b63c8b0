"""Our own high-level synthesis as an evaluator: the bound holds, time limits and areas are statuses."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from pipelines.base import workers
from pipelines.base.cache import ContentCache
from pipelines.base.sandbox import MachineFault
from pipelines.base.tools import find_tool, run_tool
from pipelines.base.workers import begin_worker
from pipelines.dataset.labelling import ToolContext, count_design
from pipelines.dataset.labelling import runs as labelling_runs
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.native import NativeRun, run_native_sets
from pipelines.pragmas import Configuration, LoopChoice
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, read_target
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.search import BaselineOptions, Evaluation, OwnHls, explore_randomly
from pipelines.programs import program_from_file
from pipelines.schemas import INFEASIBLE, OK, TIMEOUT, TOOL_ERROR, ProgramRow

TARGET = read_target("simfoundry")
PROGRAMS = {
    "gemv": """\
void gemv(float A[4][6], float x[6], float y[4])
{
  for (int i = 0; i < 4; i++) {
    y[i] = 0.0f;
    for (int j = 0; j < 6; j++)
      y[i] += A[i][j] * x[j];
  }
}
""",
    "blur": """\
void blur(int a[10], int b[10])
{
  for (int t = 0; t < 2; t++) {
    for (int i = 1; i < 9; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int i = 1; i < 9; i++)
      a[i] = b[i];
  }
}
""",
    "sums": """\
void sums(double a[6][4], double s[6])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 4; j++)
      s[i] += a[i][j];
}
""",
    "triangle": """\
void triangle(float L[6][6], float b[6], float x[6])
{
  for (int i = 0; i < 6; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
}
""",
    "updates": """\
void updates(float x[8], float totals[8])
{
  for (int i = 0; i < 8; i++) {
    float total = 0.0f;
    for (int j = 0; j < 8; j++) {
      total += x[j] + 0.25f;
      total -= x[j] + x[i];
    }
    totals[i] = total;
  }
}
""",
    "apart": """\
void apart(float x[8], float y[8], float totals[8])
{
  for (int i = 0; i < 8; i++) {
    float total = 0.0f;
    for (int j = 0; j < 8; j++) {
      total += x[j] + 0.25f;
      y[j] = x[j] * 3.0f;
      total -= x[j] + x[i];
    }
    totals[i] = total;
  }
}
""",
}


def evaluator(name: str, folder: Path, **changes: object) -> OwnHls:
    file = folder / f"{name}.c"
    file.write_text(PROGRAMS[name])
    program = program_from_file(file, top=name)
    return OwnHls(
        program=program,
        summary=summarise(program.source, name),
        cache=ContentCache(folder=folder / "cache"),
        base=HlsOptions(transforms=TransformOptions(unsafe_math=True)),
        **changes,  # type: ignore[arg-type]
    )


@pytest.mark.sample(15)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_no_design_is_faster_than_its_bound(name: str, ordered: bool, tmp_path: Path) -> None:
    """Also where floating sums keep their order, in the engine and in the bound."""
    own, target = evaluator(name, tmp_path), TARGET
    if ordered:
        kept = replace(own.base, transforms=TransformOptions(unsafe_math=False))
        own, target = replace(own, base=kept), TARGET.ordered()
    found = explore_randomly(own.summary, target, own, BaselineOptions(most_evaluations=8))
    measured = [s for s in found.steps if s.evaluation is not None and s.evaluation.status == OK]
    assert len(measured) >= 4
    for step in measured:
        assert step.evaluation is not None
        assert step.evaluation.latency_cycles is not None
        assert step.configuration is not None
        least = bound(own.summary, step.configuration, target).latency_cycles
        assert step.evaluation.latency_cycles >= least, step


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "copies"), [(2, 1), (3, 1), (8, 1), (2, 2)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_design_is_faster_than_its_bound_with_a_longer_interval(
    name: str, asked: int, copies: int, tmp_path: Path
) -> None:
    """Two partial sums start together, so an interval that is asked for is then one of two iterations."""
    own = evaluator(name, tmp_path)
    outer = next(iter(own.summary.loops))
    for loop in own.summary.loops:
        if copies > 1 and loop == outer:
            continue
        loops = {outer: LoopChoice(unroll=copies), loop: LoopChoice(pipeline=FINE, interval=asked)}
        configuration = Configuration(loops=loops)
        answer = own.evaluate(configuration)
        assert answer.latency_cycles is not None, (loop, answer)
        assert bound(own.summary, configuration, TARGET).latency_cycles <= answer.latency_cycles, loop


def test_a_design_that_takes_too_long_is_a_timeout_and_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 1_000_000)
    own = evaluator("gemv", tmp_path, timeout_s=0.001)
    first = own.evaluate(Configuration())
    reason = "high-level synthesis took more than 0.001 s of processor time"
    assert (first.status, first.reason) == (TIMEOUT, reason)
    assert own.evaluate(Configuration()) == first


def test_the_clock_decides_nothing_about_a_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no processor time for a design is a fault of the machine, and is not remembered."""
    own = evaluator("gemv", tmp_path, timeout_s=0.001)
    monkeypatch.setattr(workers, "processor_s", lambda _: 0.0)
    late = own.evaluate(Configuration())
    reason = "the machine was too busy: no end within 0.01 s by the clock"
    assert (late.status, late.reason) == (TOOL_ERROR, reason)
    monkeypatch.setattr(workers, "PATIENCE", 1_000_000)
    assert own.evaluate(Configuration()).status == OK


def test_a_design_that_is_too_large_is_not_begun(tmp_path: Path) -> None:
    own = evaluator("gemv", tmp_path, most_operations=20)
    loops = {"L1": LoopChoice(pipeline=FINE, unroll=6)}
    assert own.most_copies == 20
    assert own.evaluate(Configuration()).status == OK
    assert own.evaluate(Configuration(loops=loops)) == Evaluation(
        status=TIMEOUT, reason="62 operations and accesses; at most 20 are synthesised"
    )


def test_a_fault_of_the_machine_is_not_hidden_by_strips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program by directives, or its text with strips, might have been the faster design."""
    own = evaluator("blur", tmp_path)
    asked = Configuration(loops={"L1": LoopChoice(unroll=2)})
    assert own.with_strips(asked) is not None
    measure = OwnHls._measure  # pyright: ignore[reportPrivateUsage]

    def fails_at_first(own: OwnHls, program: ProgramRow, options: HlsOptions) -> tuple[Evaluation, bool]:
        monkeypatch.setattr(OwnHls, "_measure", measure)
        raise MachineFault("OSError: No space left on device")

    monkeypatch.setattr(OwnHls, "_measure", fails_at_first)
    found = own.evaluate(asked)
    assert (found.status, found.reason) == (TOOL_ERROR, "OSError: No space left on device")


def waits(sending: Connection, folder: Path) -> None:
    """A process that waits for a tool, as one that measures a design does."""
    begin_worker()
    sending.send("begun")
    run_tool([find_tool("sleep", "coreutils"), "60"], folder=folder, timeout_s=60.0)


def test_a_tool_ends_with_the_process_that_waits_for_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=waits, args=(sending, tmp_path), daemon=True)
    process.start()
    assert receiving.recv() == "begun"
    while str(tmp_path) not in running_programs():
        time.sleep(0.05)
    process.terminate()
    process.join()
    for _ in range(6000):  # a crowded machine ends it late
        if str(tmp_path) not in running_programs():
            break
        time.sleep(0.05)
    assert str(tmp_path) not in running_programs()


def running_programs() -> list[str]:
    """Files of all processes' programs, and folders that they work in."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*"):
        for link in ("exe", "cwd"):
            with contextlib.suppress(OSError):
                found.append(str((path / link).readlink()))
    return found


def test_a_design_that_does_not_fit_is_infeasible_with_its_latency(tmp_path: Path) -> None:
    found = evaluator("gemv", tmp_path, most_area_um2=1.0).evaluate(Configuration())
    assert found.status == INFEASIBLE
    assert found.latency_cycles is not None
    assert (found.reason or "").startswith("the estimated area must be at most 1 um2, got ")


def test_directives_that_are_not_applied_are_named(tmp_path: Path) -> None:
    own = evaluator("triangle", tmp_path)
    asked = Configuration(loops={"L0": LoopChoice(unroll=2), "L1": LoopChoice(pipeline=FINE)})
    found = own.evaluate(asked)
    assert found.status == OK
    assert own.options_for(asked).directives


def test_a_program_runs_natively_once_for_all_its_designs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reordered sums are compared with native outputs, which are remembered."""
    own, runs = evaluator("gemv", tmp_path), list[str]()

    def run(source: str, *arguments: Any, **options: Any) -> list[NativeRun]:
        runs.append(source)
        return run_native_sets(source, *arguments, **options)

    monkeypatch.setattr(labelling_runs, "run_native_sets", run)
    context = ToolContext(cache=own.cache, options=own.options)
    counted = [
        count_design(own.program, own.options_for(c), context)
        for c in (Configuration(), Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=2)}))
    ]
    assert [made.run and made.run.status for made in counted] == [OK, OK]
    assert 1 <= len(runs) <= 2
    monkeypatch.setattr(labelling_runs, "REORDERED_SHARES", {4: -1.0, 8: -1.0})
    other = Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=3)})
    wrong = count_design(own.program, own.options_for(other), context)
    assert wrong.run is not None
    assert wrong.run.reason == "the scheduled design differs from native C in array y"
    assert len(runs) <= 2
