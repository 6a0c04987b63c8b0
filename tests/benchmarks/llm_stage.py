"""Figures of the LLM stage with the embedded model: training, variants, reasons, time.

    python -m tests.benchmarks.llm_stage --count 200 --cache data/cache

Prints how the model was trained, what became of the replies, and variants a second of one process. Replies
and verdicts are not taken from the cache, so that every one is timed.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assets.configuration import compose_configuration
from assets.language_models import read_prompt
from models.program_lm import TrainingOptions
from models.program_lm.provider import EmbeddedProvider
from pipelines.base.cache import ContentCache
from pipelines.dataset.variants import check_variant
from pipelines.programs.ast import AstOptions, ast_program
from pipelines.programs.dataflow import DataflowOptions, dataflow_program
from pipelines.programs.llm import LlmPrograms, ParentPool, Reply, llm_programs
from tests.benchmarks.harness import Spent, options_parser, timed

PARENTS = 200


class _Timed:
    """The embedded provider, with the time of its replies."""

    def __init__(self, inner: EmbeddedProvider) -> None:
        self.inner = inner
        self.identity, self.model = inner.identity, inner.model
        self.seconds = 0.0

    def complete(self, prompt: str, *, seed: int) -> Reply:
        begin = time.perf_counter()
        try:
            return self.inner.complete(prompt, seed=seed)
        finally:
            self.seconds += time.perf_counter() - begin


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path("data/cache"))
    parser.add_argument("--steps", type=int, default=TrainingOptions().steps)
    parser.add_argument("--programs", type=int, default=TrainingOptions().programs)
    given = parser.parse_args()
    provider = EmbeddedProvider(
        cache=ContentCache(folder=given.cache),
        training=TrainingOptions(steps=given.steps, programs=given.programs),
    )
    trained, spent = timed(provider.trained)
    record = trained.record
    print(f"model ready after {spent.wall_s:.1f} s, {spent.processor_s:.1f} s of processor time")
    for name in ("parameters", "examples", "held_out_examples", "held_out_loss", "held_out_accuracy"):
        print(f"  {name}: {record[name]:g}")
    print(f"  losses: {' '.join(f'{loss:.2f}' for loss in record['losses'])}")
    reply_times = _Timed(provider)
    with tempfile.TemporaryDirectory() as folder:
        cache = ContentCache(folder=Path(folder))
        made, spent = timed(lambda: _variants(reply_times, given.count, given.seed, cache))
    print("\n".join(_lines(made, spent, reply_times.seconds)))


def _variants(provider: _Timed, count: int, seed: int, cache: ContentCache) -> LlmPrograms:
    ast = [ast_program(k, seed=seed, options=AstOptions()) for k in range(PARENTS)]
    dataflow = [dataflow_program(k, seed=seed, options=DataflowOptions()) for k in range(PARENTS)]
    return llm_programs(
        replace(compose_configuration([]).llm, count=count, seed=seed),
        provider=provider,
        prompts=[read_prompt(name) for name in ("vary_statements", "restructure_loops")],
        parents=[
            ParentPool(name="ast", count=PARENTS, weight=1.0, program=ast.__getitem__),
            ParentPool(name="dataflow", count=PARENTS, weight=2.0, program=dataflow.__getitem__),
        ],
        judge=check_variant,
        cache=cache,
    )


def _lines(made: LlmPrograms, spent: Spent, replying: float) -> Iterator[str]:
    usage = made.usage
    yield f"asked {usage.asked}, kept {usage.generated}, duplicates {usage.duplicates}"
    yield f"kept of all replies: {100 * usage.generated / max(1, usage.asked):.1f} %"
    yield f"tokens read {usage.prompt_tokens}, written {usage.completion_tokens}"
    yield f"elapsed {spent.wall_s:.1f} s, of it replies {replying:.1f} s"
    yield f"processor time {spent.processor_s:.1f} s, that of parents included"
    yield f"{usage.generated / spent.wall_s:.2f} variants a second"
    for reason, count in sorted(usage.rejected.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count:4d} {reason}"
    kept = Counter("dataflow" if r.top == "graph" else "ast" for r in made.rows if r.status == "ok")
    asked = Counter("dataflow" if r.top == "graph" else "ast" for r in made.rows)
    for stage in sorted(asked):
        yield f"parents of stage {stage}: {kept[stage]} kept of {asked[stage]}"


if __name__ == "__main__":
    main()
