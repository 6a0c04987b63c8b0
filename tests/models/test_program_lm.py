"""The embedded model: training, variants, and the way through a real server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
from labelled_nests import NESTS, Nest, write_tables
from program_lm_support import PROGRAM, TINY

from models.program_lm import PREDICTOR, EditOptions, TrainingOptions
from models.program_lm.editing import draw_variant
from models.program_lm.examples import BLOCK_TOKENS
from models.program_lm.fitting import fit_network, rate_at
from models.program_lm.network import ProgramLm, Size, load_weights, untrained, weights_bytes
from models.program_lm.provider import EmbeddedProvider
from models.program_lm.reading import read_program
from models.program_lm.reference import program_reference, reference_programs
from models.program_lm.server import ModelServer
from models.program_lm.training import corpus_examples, table_examples, trained_model, training_key
from models.program_lm.vocabulary import TOKENS
from models.tasks import DatasetError
from pipelines.base.cache import ContentCache
from pipelines.dataset.splits import freeze_split
from pipelines.dataset.variants import check_variant
from pipelines.programs.ast import AstOptions, ast_program
from pipelines.programs.llm import (
    CheckLimits,
    LlmOptions,
    LlmPrograms,
    ParentPool,
    Prompt,
    Provider,
    ProviderError,
    ServerOptions,
    ServerProvider,
    TextLimits,
    llm_programs,
)
from pipelines.schemas import read_table, table_spec


@contextmanager
def served(provider: Provider, *, key: str | None = None) -> Iterator[ModelServer]:
    """A server on a free port of loopback, for as long as the block runs."""
    with ModelServer(("127.0.0.1", 0), provider, key=key) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


SMALL = Size(width=24, layers=2, heads=2, tokens=len(TOKENS), block=BLOCK_TOKENS)
PROMPT = Prompt(name="vary", text="Vary this:\n```c\n{{source}}\n```\n")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> ContentCache:
    """A cache in which the tiny model is trained once."""
    return ContentCache(folder=tmp_path_factory.mktemp("program_lm"))


@pytest.fixture
def provider(cache: ContentCache) -> EmbeddedProvider:
    return EmbeddedProvider(cache=cache, training=TINY)


def _variants(provider: Provider, folder: Path, count: int = 2) -> LlmPrograms:
    pool = ParentPool(
        name="ast", count=5, weight=1.0, program=lambda k: ast_program(k, seed=2, options=AstOptions())
    )
    return llm_programs(
        LlmOptions(count=count, seed=0, attempts=4, most_failures=5, text=TextLimits(), check=CheckLimits()),
        provider=provider,
        prompts=[PROMPT],
        parents=[pool],
        judge=check_variant,
        cache=ContentCache(folder=folder),
    )


# ---- the network and its training ------------------------------------------------------------------


def test_cached_steps_give_the_logits_of_the_whole_sequence() -> None:
    network = untrained(SMALL, 3).eval()
    ids = torch.randint(0, len(TOKENS), (1, 20), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        whole, _ = network(ids)
        stepped, memory = network(ids[:, :12])
        parts = [stepped]
        for place in range(12, 20):
            stepped, memory = network(ids[:, place : place + 1], memory)
            parts.append(stepped)
    torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=1e-4, atol=1e-5)


def test_logits_do_not_look_ahead() -> None:
    network = untrained(SMALL, 3).eval()
    ids = torch.randint(0, len(TOKENS), (1, 20), generator=torch.Generator().manual_seed(0))
    changed = ids.clone()
    changed[0, 15] = (ids[0, 15] + 1) % len(TOKENS)
    with torch.inference_mode():
        one, other = network(ids)[0], network(changed)[0]
    torch.testing.assert_close(one[:, :15], other[:, :15], rtol=0, atol=0)
    assert not torch.equal(one[:, 15:], other[:, 15:])


@pytest.mark.slow
def test_network_overfits_a_batch() -> None:
    examples, _ = corpus_examples(TINY, 0)
    schedule = TrainingOptions(steps=150, batch_size=4, learning_rate=1e-2, weight_decay=1e-12)
    size = replace(SMALL, width=48)
    fit = fit_network(examples[:4], examples[:4], size, schedule, seed=0, on_step=lambda *_: None)
    assert fit.held_out_loss < 0.1
    assert fit.held_out_accuracy > 0.97
    assert fit.losses[0] > 3


@pytest.mark.slow
def test_training_is_the_same_by_its_seed(tmp_path: Path, cache: ContentCache) -> None:
    def weights(folder: Path, seed: int) -> bytes:
        return weights_bytes(trained_model(TINY, seed=seed, cache=ContentCache(folder=folder)).network)

    here = weights(cache.folder, 0)
    assert weights(tmp_path / "again", 0) == here
    assert weights(tmp_path / "other", 1) != here


def test_model_is_trained_once(cache: ContentCache) -> None:
    trained_model(TINY, seed=0, cache=cache)
    steps: list[int] = []
    again = trained_model(TINY, seed=0, cache=cache, on_step=lambda step, *_: steps.append(step))
    assert steps == []
    assert again.key == training_key(TINY, 0)
    assert not again.network.training


def test_damaged_weights_are_trained_anew(tmp_path: Path) -> None:
    own = ContentCache(folder=tmp_path)
    sound = weights_bytes(trained_model(TINY, seed=0, cache=own).network)
    (file,) = tmp_path.rglob("*.safetensors")
    file.write_bytes(file.read_bytes()[:-4])
    assert weights_bytes(trained_model(TINY, seed=0, cache=own).network) == sound


def test_weights_reject_another_network() -> None:
    content = weights_bytes(untrained(replace(SMALL, width=48), 0))
    with pytest.raises(ValueError, match="weights must be safetensors of this network"):
        load_weights(ProgramLm(SMALL), content)
    with pytest.raises(ValueError, match="weights must be safetensors of this network"):
        load_weights(ProgramLm(SMALL), b"no")


def test_rate_warms_up_and_falls() -> None:
    rates = [rate_at(step, 1000) for step in range(1000)]
    assert rates[0] < 0.05
    assert max(rates) == pytest.approx(1.0)
    assert rates[-1] == pytest.approx(0.1, abs=1e-3)


def test_default_size_is_of_one_to_three_million_parameters() -> None:
    o = TrainingOptions()
    size = Size(width=o.width, layers=o.layers, heads=o.heads, tokens=len(TOKENS), block=BLOCK_TOKENS)
    assert 1_000_000 < sum(p.numel() for p in untrained(size, 0).parameters()) < 3_000_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be above 0, got 0"),
        ({"width": 25, "heads": 2}, "width must be a multiple of heads 2, got 25"),
    ],
)
def test_training_options_reject(options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TrainingOptions(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edits": (3, 2)}, "edits must be 1 <= least <= most <= 20"),
        ({"temperature": 0.0}, r"temperature must be 0\.05 \.\. 5"),
        ({"kind_weights": (0, 0, 0, 0)}, "kind_weights must be four weights"),
        ({"insert_probability": 2}, r"insert_probability must be 0 \.\. 1"),
    ],
)
def test_edit_options_reject(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EditOptions(**options)  # type: ignore[arg-type]


# ---- variants --------------------------------------------------------------------------------------


def test_variants_differ_from_their_parent_and_can_be_read(provider: EmbeddedProvider) -> None:
    network = provider.trained().network
    for seed in range(6):
        variant = draw_variant(PROGRAM, network, EditOptions(edits=(3, 3)), Random(seed))
        assert variant.edits == 3
        assert variant.source != PROGRAM
        assert variant.source.split("{")[0] == PROGRAM.split("{")[0]
        read_program(variant.source)


def test_variants_are_the_same_by_their_seed(provider: EmbeddedProvider) -> None:
    prompt = f"```c\n{PROGRAM}```"
    one = provider.complete(prompt, seed=5)
    assert EmbeddedProvider(cache=provider._cache, training=TINY).complete(prompt, seed=5) == one
    assert provider.complete(prompt, seed=6) != one
    assert one.prompt_tokens
    assert one.completion_tokens
    assert one.cost == 0.0


def test_provider_rejects_a_prompt_without_a_program(provider: EmbeddedProvider) -> None:
    with pytest.raises(ProviderError, match="a prompt with a block of C, got none"):
        provider.complete("Write C.", seed=0)


def test_provider_rejects_a_program_that_it_cannot_read(provider: EmbeddedProvider) -> None:
    with pytest.raises(ProviderError, match="must be able to read a program, got: a type must stand here"):
        provider.complete("```c\nstruct s { int a; };\n```", seed=0)


def test_identity_depends_on_training_and_editing(cache: ContentCache) -> None:
    plain = EmbeddedProvider(cache=cache, training=TINY)
    others = [
        EmbeddedProvider(cache=cache, training=replace(TINY, steps=13)),
        EmbeddedProvider(cache=cache, training=TINY, seed=1),
        EmbeddedProvider(cache=cache, training=TINY, editing=EditOptions(temperature=0.5)),
    ]
    assert len({p.identity for p in (plain, *others)}) == 4


# ---- the way through a server ----------------------------------------------------------------------


@pytest.mark.slow
def test_server_gives_the_variants_of_the_model_itself(provider: EmbeddedProvider, tmp_path: Path) -> None:
    direct = _variants(provider, tmp_path / "direct")
    with served(provider, key="secret") as server:
        client = ServerProvider(ServerOptions(url=server.url, model="any", tries=1), key="secret")
        through = _variants(client, tmp_path / "through")
    assert [r.status for r in direct.rows].count("ok") == 2
    assert through.rows == direct.rows
    assert through.usage == direct.usage


def test_server_rejects_a_wrong_key(provider: EmbeddedProvider) -> None:
    with served(provider, key="secret") as server:
        client = ServerProvider(ServerOptions(url=server.url, model="any", tries=1), key="wrong")
        with pytest.raises(ProviderError, match="a server must answer 200, got 401") as caught:
            client.complete("x", seed=0)
    assert "secret" not in caught.value.reply_excerpt


def test_server_says_what_the_model_could_not_do(provider: EmbeddedProvider) -> None:
    with served(provider) as server:
        client = ServerProvider(ServerOptions(url=server.url, model="any", tries=1))
        with pytest.raises(ProviderError, match="a server must answer 200, got 422") as caught:
            client.complete("Write C.", seed=0)
    assert "a prompt with a block of C" in caught.value.reply_excerpt


@pytest.fixture
def command(cache: ContentCache, repository: Path) -> Iterator[subprocess.Popen[str]]:
    """`python -m models.program_lm.server`, which ends after two completions."""
    argv = [sys.executable, "-m", "models.program_lm.server", "--port", "0", "--cache", str(cache.folder)]
    argv += ["--programs", "12", "--steps", "1", "--requests", "2", "--key-variable", "OUR_KEY"]
    environment = {**os.environ, "PYTHONPATH": str(repository), "OUR_KEY": "secret"}
    process = subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_command_serves_the_model_and_ends(command: subprocess.Popen[str]) -> None:
    assert command.stdout is not None
    url = command.stdout.readline().strip()
    client = ServerProvider(ServerOptions(url=url, model="any", tries=1), key="secret")
    for seed in (1, 2):
        assert client.complete(f"```c\n{PROGRAM}```", seed=seed).text.startswith("```c\n#include <stdint.h>")
    assert command.wait() == 0


def test_examples_of_tables_are_those_of_the_training_and_validation_parts(tmp_path: Path) -> None:
    write_tables(tmp_path, NESTS)
    train, held_out, groups = table_examples([tmp_path], TINY, 0)
    programs = read_table(tmp_path, table_spec("programs"))
    places = freeze_split(programs, name="by_kernel_v1")  # the tables have another split
    assert set(groups) == {place.group for place in places if place.part != "test"}
    assert len(train) > len(held_out) > 0
    assert table_examples([tmp_path], TINY, 0)[0] == train


def test_examples_of_tables_reject_a_part_without_programs(tmp_path: Path) -> None:
    write_tables(tmp_path, [Nest(depth=3, statements=1, bound=4)])  # of the test part
    with pytest.raises(DatasetError, match=r"^no program that the model reads in part train of split by_ker"):
        table_examples([tmp_path], TINY, 0)


@pytest.mark.slow
def test_the_gate_compares_with_random_weights_under_the_same_grammar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first variants of an untrained network are accepted, so acceptance alone promotes no one."""
    reference = PREDICTOR.task.reference
    assert reference is not None
    programs = reference_programs(reference)
    assert len(programs) >= reference.minimum_programs
    monkeypatch.setattr("models.program_lm.reference.reference_programs", lambda _: programs[::8])
    known = program_reference(reference)
    assert sorted(known.programs) == sorted(row.program_id for row in programs[::8])
    assert max(known.baseline_errors) == 0.0


@pytest.mark.slow
def test_random_weights_are_accepted_for_the_whole_reference_set() -> None:
    reference = PREDICTOR.task.reference
    assert reference is not None
    known = program_reference(reference)
    assert len(known.programs) >= reference.minimum_programs
    assert max(known.baseline_errors) == 0.0
