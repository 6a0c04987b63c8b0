"""Variants by language models, random weights and a mutator: how many are accepted, and how far they go.

    python -m tests.benchmarks.language_models --state STATE [--count 300] [--fewer 100] [--record]

Every engine varies the same programs of the stages ast and dataflow, one attempt each:

* `mutator` draws each word of an edit uniformly among those that the grammar of program_lm allows;
* `smollm2` chooses among eight such edits, `random weights` likewise with new weights of its architecture;
* `program-lm` samples each word by the embedded model;
* `free replies` are whole programs that SmolLM2 writes after a prompt of `conf/prompts`, sixteen at a time.

Random weights and free replies have `--fewer` programs. A variant is accepted when it passes all checks of
the stage `llm` and its syntax tree is new. Edit distance: insertions, deletions and replacements of tokens
from the parent, over the tokens of the longer one. Distance to the fields left out: square root of the
Jensen-Shannon divergence (base 2) between the runs of three tokens, names and numbers made equal, of 15
accepted variants and of the 40 kernels of the fields compression and physics of suite `written`; mean and
standard deviation of twenty draws of 15. STATE keeps every variant, so an interrupted run goes on; engines
take turns, so their counts grow together.
"""

from __future__ import annotations

import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from assets.figures import Figure
from assets.language_models import read_prompt
from models.program_lm import EditOptions
from models.program_lm.choosing import draw_candidate
from models.program_lm.editing import Replacement, draw_edits, draw_variant
from models.program_lm.network import ProgramLm
from models.program_lm.provider import EmbeddedProvider
from models.program_lm.symbols import ReadProgram, Site
from models.smollm2 import SmolModel, SmolOptions, edited_program, open_model, untrained_model
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.dataset.variants import check_variant
from pipelines.programs.ast import AstOptions, ast_program
from pipelines.programs.collections import FIELDS_LEFT_OUT, WRITTEN_FOLDER, kernel_files
from pipelines.programs.dataflow import DataflowOptions, dataflow_program
from pipelines.programs.llm import CheckLimits, ReplyRejected, TextLimits, program_of_reply, reason_kind
from pipelines.programs.similarity import code_words
from pipelines.schemas import OK, REJECTED, ProgramRow
from tests.benchmarks.harness import KeptRows, Row, options_parser, print_header, print_row
from tests.benchmarks.recording import add_record_option, record

MUTATOR, SMOLLM2, RANDOM, PROGRAM_LM, FREE = (
    *("mutator", "smollm2", "random weights", "program-lm", "free replies"),
)
ENGINES = (MUTATOR, SMOLLM2, PROGRAM_LM, RANDOM, FREE)
PROMPTS = ("vary_statements", "restructure_loops")
PARENT_BYTES = 1536
"""A free reply repeats its parent, which takes 500 tokens of this length."""
FREE_TOKENS = 512
BATCH = 16
RUN_TOKENS = 3
SAMPLE, DRAWS = 15, 20
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\w\s]")


def parents(count: int) -> list[ProgramRow]:
    """Return programs of the first two stages, one of ast to two of dataflow, as suite llm draws them."""
    rows: list[ProgramRow] = []
    number = 0
    while len(rows) < count:
        if number % 3 == 0:
            row = ast_program(number, seed=0, options=AstOptions())
        else:
            row = dataflow_program(number, seed=0, options=DataflowOptions())
        number += 1
        if row.status == OK and row.source_bytes <= PARENT_BYTES:
            rows.append(row)
    return rows


# ---- engines -------------------------------------------------------------------------------------------


class Engines:
    """The models, each opened when it is first needed."""

    def __init__(self, cache: ContentCache) -> None:
        self.cache = cache

    @cached_property
    def smollm2(self) -> SmolModel:
        """The trained model."""
        return open_model()

    @cached_property
    def random(self) -> SmolModel:
        """The same architecture with random weights."""
        return untrained_model(self.smollm2, seed=0)

    @cached_property
    def program_lm(self) -> ProgramLm:
        """The embedded model."""
        return EmbeddedProvider(cache=self.cache).trained().network

    def variant(self, engine: str, source: str, generator: Random) -> tuple[str, int, int]:
        """Return a variant of a program, and tokens read and written or scored."""
        if engine in (SMOLLM2, RANDOM):
            model = self.smollm2 if engine == SMOLLM2 else self.random
            return edited_program(source, model, SmolOptions(), generator)
        if engine == PROGRAM_LM:
            drawn = draw_variant(source, self.program_lm, EditOptions(), generator)
        else:
            drawn = draw_edits(source, _mutation(generator), EditOptions(), generator)
        return drawn.source, drawn.read_tokens, drawn.made_tokens


def _mutation(generator: Random) -> Callable[[ReadProgram, Site], Replacement]:
    def replace(program: ReadProgram, site: Site) -> Replacement:
        candidate = draw_candidate(program, site, generator)
        return Replacement(text=candidate and candidate.text)

    return replace


def _warm(engine: str, engines: Engines) -> None:
    """Open what an engine needs, so that no variant is charged for it."""
    if engine in (SMOLLM2, FREE):
        _ = engines.smollm2
    elif engine == RANDOM:
        _ = engines.random
    elif engine == PROGRAM_LM:
        _ = engines.program_lm


# ---- variants ------------------------------------------------------------------------------------------


def vary(count: int, fewer: int, chosen: Sequence[str], kept: KeptRows, engines: Engines) -> None:
    """Draw and check every variant that the state lacks."""
    programs = parents(count)
    limits = {engine: fewer if engine in (RANDOM, FREE) else count for engine in chosen}
    for number, parent in enumerate(programs):
        for engine, limit in limits.items():
            if number >= limit or (engine, number) in kept.rows:
                continue
            if engine == FREE:
                batch = programs[number : min(number + BATCH, limit)]
                for place, row in enumerate(free_rows(batch, number, engines)):
                    kept.add(checked(row, batch[place], engines))
            else:
                kept.add(checked(edited_row(engine, number, parent, engines), parent, engines))


def edited_row(engine: str, number: int, parent: ProgramRow, engines: Engines) -> Row:
    _warm(engine, engines)
    generator = Random(int(content_hash("language_models", number), 16))
    begin = time.process_time()
    source, read, written = engines.variant(engine, parent.source, generator)
    spent = time.process_time() - begin
    return {
        "engine": engine,
        "number": number,
        "source": source,
        "read": read,
        "written": written,
        "processor_s": spent,
    }


def free_rows(batch: Sequence[ProgramRow], first: int, engines: Engines) -> Iterator[Row]:
    _warm(FREE, engines)
    prompts = [
        read_prompt(PROMPTS[(first + place) % len(PROMPTS)]).filled(parent)
        for place, parent in enumerate(batch)
    ]
    begin = time.process_time()
    replies = engines.smollm2.replies(
        prompts, seed=first, temperature=SmolOptions().temperature, most_tokens=FREE_TOKENS
    )
    spent = (time.process_time() - begin) / len(batch)
    for place, (text, read, written) in enumerate(replies):
        yield {
            "engine": FREE,
            "number": first + place,
            "reply": text,
            "read": read,
            "written": written,
            "processor_s": spent,
        }


def checked(row: Row, parent: ProgramRow, engines: Engines) -> Row:
    """Return a row with what became of its variant. Raises: SystemExit: a tool failed."""
    if "reply" in row:
        try:
            row["source"] = program_of_reply(row["reply"], TextLimits())
        except ReplyRejected as refused:
            return {**row, "status": REJECTED, "reason": str(refused), "ast_hash": None}
    verdict = check_variant(row["source"], parent, CheckLimits(), engines.cache)
    return {**row, "status": verdict.status, "reason": verdict.reason, "ast_hash": verdict.ast_hash}


# ---- figures -------------------------------------------------------------------------------------------


def accepted(rows: Sequence[Row], known: set[str | None]) -> list[Row]:
    """Return the rows that passed all checks and are new."""
    hashes = set(known)
    new: list[Row] = []
    for row in rows:
        if row["status"] == OK and row["ast_hash"] not in hashes:
            hashes.add(row["ast_hash"])
            new.append(row)
    return new


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the least insertions, deletions and replacements between two texts of tokens."""
    same = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    one, other = one[same:], other[same:]
    codes: dict[str, int] = {}
    right = np.array([codes.setdefault(word, len(codes)) for word in other], dtype=np.int64)
    places = np.arange(len(other) + 1)
    costs = places.copy()
    for word in one:
        code = codes.get(word, -1)
        above = costs + 1
        above[1:] = np.minimum(above[1:], costs[:-1] + (right != code))
        costs = np.minimum.accumulate(above - places) + places
    return int(costs[-1])


def relative_distance(variant: str, parent: str) -> float:
    """Return the edit distance of two programs over the tokens of the longer one."""
    one, other = _TOKEN.findall(variant), _TOKEN.findall(parent)
    return edit_distance(one, other) / max(len(one), len(other))


def run_counts(sources: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Count the runs of three tokens of some programs."""
    counts: Counter[tuple[str, ...]] = Counter()
    for source in sources:
        words = code_words(source)
        counts.update(zip(*(words[k:] for k in range(RUN_TOKENS)), strict=False))
    return counts


def distribution_distance(one: Mapping[Any, int], other: Mapping[Any, int]) -> float:
    """Return the square root of the Jensen-Shannon divergence, 0 to 1."""
    keys = sorted({*one, *other})
    p, q = (np.array([counts.get(key, 0) for key in keys], dtype=float) for counts in (one, other))
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    terms = [np.where(x > 0, x * np.log2(np.where(x > 0, x, 1) / middle), 0).sum() for x in (p, q)]
    return float(np.sqrt(max(0.0, sum(terms) / 2)))


def fields_distance(sources: Sequence[str], fields: Mapping[Any, int]) -> str:
    """Return mean and standard deviation of the distance of samples; a dash for too few programs."""
    if len(sources) < SAMPLE:
        return "-"
    generator = Random(0)
    values = [
        distribution_distance(run_counts(generator.sample(list(sources), SAMPLE)), fields)
        for _ in range(DRAWS)
    ]
    return f"{statistics.fmean(values):.3f} ± {statistics.stdev(values):.3f}"


def fields_left_out() -> Counter[tuple[str, ...]]:
    files = [p for p in kernel_files(WRITTEN_FOLDER) if p.parent.name in FIELDS_LEFT_OUT]
    return run_counts([path.with_suffix(".c").read_text("utf-8") for path in files])


def figures_of(
    rows: Sequence[Row], programs: Sequence[ProgramRow], fields: Mapping[Any, int]
) -> Mapping[str, Any]:
    """Return the figures of one engine."""
    kept = accepted(rows, {program.ast_hash for program in programs})
    passed = sum(row["status"] == OK for row in rows)
    distances = [relative_distance(row["source"], programs[row["number"]].source) for row in kept]
    tokens, seconds = (
        sum(row["read"] + row["written"] for row in rows),
        sum(row["processor_s"] for row in rows),
    )
    return {
        "variants": len(rows),
        "accepted": f"{100 * len(kept) / len(rows):.1f} %",
        "duplicates": passed - len(kept),
        "edit distance": f"{statistics.fmean(distances):.3f}" if distances else "-",
        "distance to fields": fields_distance([row["source"] for row in kept], fields),
        "tokens/s": round(tokens / seconds) if tokens else "-",
    }


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--fewer", type=int, default=100)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--cache", type=Path, default=Path("data/cache"))
    add_record_option(parser)
    options = parser.parse_args()
    kept = KeptRows(options.state, lambda row: (row["engine"], row["number"]))
    vary(options.count, options.fewer, options.engines, kept, Engines(ContentCache(folder=options.cache)))
    programs, fields = parents(options.count), fields_left_out()
    names = ("variants", "accepted", "duplicates", "edit distance", "distance to fields", "tokens/s")
    print_header("engine", *names)
    print_row("parents", len(programs), *"---", fields_distance([p.source for p in programs], fields), "-")
    for engine in options.engines:
        rows = sorted((r for r in kept.rows.values() if r["engine"] == engine), key=lambda r: r["number"])
        figures = figures_of(rows, programs, fields)
        print_row(engine, *(figures[name] for name in names))
        if options.record:
            record("programs", f"variants: {engine}", figures, new=_figure(engine))
    for engine in options.engines:
        reasons = Counter(reason_kind(r["reason"] or "") for r in kept.rows.values() if r["engine"] == engine)
        print(
            f"\n{engine}: "
            + "; ".join(f"{n} {why or 'accepted or duplicate'}" for why, n in reasons.most_common(8))
        )


def _figure(engine: str) -> Figure:
    return Figure(
        figure=f"variants: {engine}",
        area="programs",
        section="Variants by language models",
        value="",
        command="python -m tests.benchmarks.language_models --state STATE",
        commit="",
        engines={"programs": "", "hls": "", "cycle_model": ""},
        machine="",
        date="",
    )


if __name__ == "__main__":
    main()
