"""Repeated prediction while one part of a program changes, against a first prediction (LLMulator 5.3).

    python -m tests.benchmarks.numeric_lm_repeated [--release releases/v2] [--programs t5-base ...]

Processor milliseconds of one core, median over repetitions; weights are random, since time does not depend
on them. `longest` counts the tokens of the operator that is changed (Table 9). `dense` is the masked network
on the whole prompt, `cold` the blocks with an empty cache; both encode and search digits, `search` is the
latter alone. After other data only dynamic metrics are searched.
`analysis` is what the front end reads of a new source.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

import torch

from models.labelled import Query
from models.numeric_lm import TrainOptions
from models.numeric_lm.answers import METRICS, TARGETS, forms_of
from models.numeric_lm.block_cache import BlockCache
from models.numeric_lm.network import CompactBackbone, DigitDecoder, Memory, NumericNetwork, pad_prompts
from models.numeric_lm.prompts import Block, EncodedPrompt, Kind, PromptEncoder, blocks_of
from models.numeric_lm.search import search
from models.numeric_lm.tokens import train_tokenizer
from pipelines.c import read_interface
from pipelines.dataset.records import operator_classes, summarise_data
from pipelines.programs import draw_data
from pipelines.schemas import ProgramRow, read_table, table_spec
from tests.benchmarks.harness import options_parser, print_header, print_row

POLYBENCH = ("adi-int", "atax-int", "correlation-int", "deriche-int", "heat-3d-int")
DYNAMIC = [place for place, metric in enumerate(METRICS) if metric.dynamic]
REPETITIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Processor milliseconds. changed: of the network, by the kind of the changed block.

    tokens, longest: of the prompt, and of the operator that is changed.
    """

    tokens: int
    longest: int
    analysis: float
    dense: float
    cold: float
    search: float
    changed: dict[str, float]


def _network(encoder: PromptEncoder) -> NumericNetwork:
    options = TrainOptions()
    forms = list(forms_of(base=10, answer="digits", ratios=()).values())
    backbone = CompactBackbone(
        encoder.tokenizer.size, options.width, options.layers, options.heads, 0.0, magnitudes=True
    )
    decoder = DigitDecoder(
        forms,
        options.width,
        width=options.decoder_width,
        layers=options.decoder_layers,
        heads=options.heads,
        dropout=0.0,
    )
    return NumericNetwork(backbone, decoder).eval()


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def _blocks(program: ProgramRow) -> tuple[Block, ...]:
    query = Query(
        source=program.source,
        top=program.top,
        memory_read_delay_cycles=2,
        memory_write_delay_cycles=2,
        clock_period_ns=10.0,
        data=summarise_data(draw_data(read_interface(program.source, program.top), program.inputs, seed=0)),
    )
    return blocks_of(query, features={}, liberty="osu018")


def _changed(block: Block, number: int) -> Block:
    return replace(block, text=f"{block.text} {number}")


def measure(program: ProgramRow, encoder: PromptEncoder, network: NumericNetwork) -> Times:
    """Times of one program."""
    forms = list(forms_of(base=10, answer="digits", ratios=()).values())
    anchors = torch.full((1, len(TARGETS)), float("nan"))

    def digits(memory: Memory, metrics: Sequence[int] | None = None) -> None:
        search(network.decoder, memory, anchors, forms, beams=8, metrics=metrics)

    def dense(prompt: EncodedPrompt) -> None:
        with torch.inference_mode():
            memory = network.read(pad_prompts([prompt]))
        digits(memory)

    blocks = _blocks(program)
    prompt = encoder.encode(blocks)
    cache = BlockCache(network)
    memory = cache.read(prompt)
    changed: dict[str, float] = {}
    for kind in (Kind.GRAPH, Kind.OPERATOR, Kind.PARAMS, Kind.DATA):
        places = [n for n, block in enumerate(blocks) if block.kind == kind]
        if not places:
            continue
        place = max(places, key=lambda n: len(blocks[n].text))
        metrics = DYNAMIC if kind == Kind.DATA else None
        prompts = [encoder.encode(_with(blocks, place, number)) for number in range(REPETITIONS)]
        changed[kind.name.lower()] = median(
            _milliseconds(partial(lambda own, m: digits(cache.read(own), m), own, metrics)) for own in prompts
        )
    operators = [len(encoder.encode((block,))) for block in blocks if block.kind == Kind.OPERATOR]
    return Times(
        tokens=len(prompt),
        longest=max(operators, default=0),
        analysis=median(
            _milliseconds(lambda: operator_classes(program.source, program.top)) for _ in range(1)
        ),
        dense=median(_milliseconds(lambda: dense(prompt)) for _ in range(REPETITIONS)),
        cold=median(
            _milliseconds(lambda: digits(BlockCache(network).read(prompt))) for _ in range(REPETITIONS)
        ),
        search=median(_milliseconds(lambda: digits(memory)) for _ in range(REPETITIONS)),
        changed=changed,
    )


def _with(blocks: Sequence[Block], place: int, number: int) -> tuple[Block, ...]:
    return tuple(_changed(b, number) if n == place else b for n, b in enumerate(blocks))


def main() -> None:
    """Read the arguments, measure, and write a table."""
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v2"))
    parser.add_argument(
        "--programs", nargs="+", default=["t5-base", "llama", "cbam", "dense-skip", *POLYBENCH]
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = read_table(options.release, table_spec("programs"))
    programs = [row for row in rows if row.suite in ("modern", "polybench")]
    encoder = PromptEncoder(
        train_tokenizer(sorted({row.source for row in programs}), [], size=1024, isolates=True)
    )
    network = _network(encoder)
    kinds = ("graph", "operator", "params", "data")
    print_header("program | tokens | longest | analysis | dense | cold | search", *kinds)
    for name in options.programs:
        for program in [row for row in programs if row.name == name][:1]:
            times = measure(program, encoder, network)
            shown = [times.analysis, times.dense, times.cold, times.search]
            shown += [times.changed.get(kind, float("nan")) for kind in kinds]
            print_row(name, times.tokens, times.longest, *(f"{t:.0f}" for t in shown))


if __name__ == "__main__":
    main()
