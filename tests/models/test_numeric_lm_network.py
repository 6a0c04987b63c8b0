"""Tokens, prompts and masks of the numeric language model, and that the network can learn by heart."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from models.base import PredictorError
from models.labelled import Query
from models.numeric_lm.answers import METRICS, TARGETS, forms_of
from models.numeric_lm.block_cache import BlockCache
from models.numeric_lm.folder_backbone import FolderBackbone, folder_digest, folder_tokenizer
from models.numeric_lm.frozen_backbone import FrozenBackbone, KeptStates
from models.numeric_lm.network import (
    AnswerBatch,
    CompactBackbone,
    DigitDecoder,
    NumericNetwork,
    metric_mask,
    pad_prompts,
)
from models.numeric_lm.prompts import MOST_TOKENS, Kind, PromptEncoder, blocks_of
from models.numeric_lm.search import search
from models.numeric_lm.tokens import isolated, train_tokenizer
from models.smollm2 import add_installed_folder
from pipelines.dataset.records import summarise_data

SOURCE = """
static void add(int x[8], int y[8]) {
    for (int i = 0; i < 8; i++)
        y[i] = x[i] + -128;
}
static void first(int y[8], int n, int z[1]) {
    z[0] = 0;
    for (int i = 0; i < n; i++)
        z[0] += y[i];
}
void top(int x[8], int y[8], int n, int z[1]) {
    add(x, y);
    first(y, n, z);
}
"""
DATA = summarise_data({"x": np.arange(8), "y": np.zeros(8, np.int32), "n": np.array(5), "z": np.ones(1)})
QUERY = Query(
    source=SOURCE,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
    data=DATA,
)
FEATURES = {"area": 1234.5, "states": 7.0, "none": 0.0}
TOKENIZER = train_tokenizer([SOURCE], sorted(FEATURES), size=400, isolates=True)
ENCODER = PromptEncoder(TOKENIZER)
FORMS = forms_of(base=10, answer="digits", ratios=TARGETS)


def _blocks(query: Query = QUERY, features: Mapping[str, float] = FEATURES):
    return blocks_of(query, features=features, liberty="osu018")


def _network(backbone=None) -> NumericNetwork:
    torch.manual_seed(0)
    backbone = backbone or CompactBackbone(TOKENIZER.size, 32, 3, 4, 0.0, True)
    decoder = DigitDecoder(list(FORMS.values()), backbone.width, width=32, layers=2, heads=4, dropout=0.0)
    return NumericNetwork(backbone, decoder).eval()


def _states(network: NumericNetwork, blocks) -> dict[int, torch.Tensor]:
    """States of each block of a prompt."""
    prompt = ENCODER.encode(blocks)
    with torch.inference_mode():
        states = network.backbone(pad_prompts([prompt]))[0]
    return {n: states[torch.from_numpy(prompt.block == n)] for n in range(len(blocks))}


def _logits(network: NumericNetwork, blocks) -> torch.Tensor:
    classes = torch.zeros((1, len(TARGETS), network.decoder.steps), dtype=torch.int64)
    answers = AnswerBatch(classes, torch.full((1, len(TARGETS)), float("nan")))
    with torch.inference_mode():
        return network(pad_prompts([ENCODER.encode(blocks)]), answers)[0]


# ---- tokens ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-128", " - 128"),
        ("x[ 3 ]=-1.5e-3f * y0", "x[ 3]= - 1.5e-3*y0"),
        ("a<0x1F; // 7", "a< 0x1F;"),
        ("int  v2 ;", "int v2;"),
    ],
)
def test_numbers_stand_apart_from_symbols(text: str, expected: str) -> None:
    assert isolated(text) == expected


@pytest.mark.parametrize("number", ["7", "42", "655", "123456", "1.5"])
def test_a_number_of_n_digits_is_n_tokens_with_its_magnitude(number: str) -> None:
    tokens = TOKENIZER.encode(f"x[{number}]")
    known = tokens.magnitudes[~np.isnan(tokens.magnitudes)]
    assert len(known) == len(number)
    assert known == pytest.approx(np.log10(1 + float(number)))


def test_a_feature_is_a_name_token_and_digits() -> None:
    tokens = TOKENIZER.encode_features([("area", "1234")])
    assert len(tokens) == 5
    assert np.isnan(tokens.magnitudes).tolist() == [True, False, False, False, False]


# ---- prompts -----------------------------------------------------------------------------------------


def test_a_prompt_has_the_blocks_of_the_paper() -> None:
    blocks = _blocks()
    kinds = [block.kind for block in blocks]
    assert kinds == [Kind.GRAPH, Kind.OPERATOR, Kind.OPERATOR, Kind.PARAMS, Kind.FEATURES, Kind.DATA]
    assert [block.dynamic for block in blocks[1:3]] == [False, True]  # add is class I, first is class II
    assert blocks[4].features == (("area", "1234"), ("states", "7"))
    assert "v2 5" in blocks[5].text  # the canonical name of n


def test_positions_count_from_zero_in_every_block() -> None:
    prompt = ENCODER.encode(_blocks())
    for number in range(6):
        own = prompt.position[prompt.block == number]
        assert own.tolist() == list(range(len(own)))


def test_prompts_reject_what_is_too_long_and_what_is_no_data() -> None:
    many = "\n".join(f"int v{n} = {n};" for n in range(MOST_TOKENS // 5))
    with pytest.raises(PredictorError, match=r"^program too long: \d+ tokens; accepted: up to 16384$"):
        ENCODER.encode((replace(_blocks()[1], text=many),))
    with pytest.raises(ValueError, match=r"^run-time data are not a summary; accepted: a JSON object"):
        _blocks(replace(QUERY, data='{"x": {"minimum": 1}}'))


# ---- masks -------------------------------------------------------------------------------------------


def test_data_change_dynamic_metrics_only() -> None:
    network = _network()
    blocks = _blocks()
    other = (*blocks[:5], replace(blocks[5], text="n 4\nx minimum=-9 maximum=9"))
    for changed in (other, blocks[:5]):
        one, two = _logits(network, blocks), _logits(network, changed)
        for number, metric in enumerate(METRICS):
            finite = one[number].isfinite()
            same = torch.allclose(one[number][finite], two[number][finite], atol=1e-6)
            assert same != metric.dynamic, metric.target


def test_an_operator_changes_no_other_operator_and_class_i_no_data() -> None:
    network = _network()
    blocks = _blocks()
    before = _states(network, blocks)
    for changed, unchanged in ((1, (0, 2)), (2, (0, 1))):
        text = blocks[changed].text + " int extra = 12345; extra++;"
        after = _states(
            network, tuple(replace(b, text=text) if n == changed else b for n, b in enumerate(blocks))
        )
        for number in unchanged:
            torch.testing.assert_close(after[number], before[number], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(after[5], before[5], atol=1e-3)  # operator 2 is class II: data read it


def test_parameters_and_data_change_no_graph_and_no_operator() -> None:
    network = _network()
    blocks = _blocks()
    before = _states(network, blocks)
    for changed in (3, 4, 5):
        other = replace(blocks[changed], text="read 10", features=(("area", "9"),) if changed == 4 else ())
        after = _states(network, tuple(other if n == changed else b for n, b in enumerate(blocks)))
        for number in range(3):
            torch.testing.assert_close(after[number], before[number], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("changed", "computed"),
    [(0, (0, 1, 2, 3, 4, 5)), (1, (1, 3, 4, 5)), (2, (2, 3, 4, 5)), (3, (3, 4, 5)), (4, (4,)), (5, (5,))],
    ids=["graph", "class I", "class II", "parameters", "features", "data"],
)
def test_cached_blocks_give_what_the_masked_network_gives(changed: int, computed: tuple[int, ...]) -> None:
    network = _network()
    cache = BlockCache(network)
    blocks = _blocks()
    cache.read(ENCODER.encode(blocks))
    text = blocks[changed].text + " int extra = 12345;"
    other = replace(blocks[changed], text=text, features=(("area", "9"),) if changed == 4 else ())
    prompt = ENCODER.encode(tuple(other if n == changed else b for n, b in enumerate(blocks)))
    cached = cache.read(prompt)
    assert cache.computed_tokens == sum(int((prompt.block == n).sum()) for n in computed)
    assert cache.kept_tokens == len(prompt) - cache.computed_tokens
    with torch.inference_mode():
        dense = network.read(pad_prompts([prompt]))
    assert torch.equal(cached.mask, dense.mask)
    for one, two in zip(cached.keys, dense.keys, strict=True):
        for side in range(2):
            torch.testing.assert_close(one[side], two[side], atol=1e-5, rtol=1e-5)
    anchors = torch.full((1, len(TARGETS)), float("nan"))
    found = [
        search(network.decoder, memory, anchors, list(FORMS.values()), beams=3)[0]
        for memory in (cached, dense)
    ]
    assert [d.best for d in found[0]] == [d.best for d in found[1]]


def test_a_cache_keeps_no_more_tokens_than_its_limit() -> None:
    prompt = ENCODER.encode(_blocks())
    cache = BlockCache(_network(), most_tokens=len(prompt) - 1)
    cache.read(prompt)
    cache.read(prompt)
    assert 0 < cache.computed_tokens < len(prompt)


def test_padding_changes_nothing() -> None:
    network = _network()
    short, long = ENCODER.encode(_blocks()), ENCODER.encode((*_blocks()[:2], *_blocks()))
    with torch.inference_mode():
        alone = network.backbone(pad_prompts([short]))[0]
        padded = network.backbone(pad_prompts([short, long]))[0, : len(short)]
        mask = metric_mask(pad_prompts([short, long]))
    torch.testing.assert_close(alone, padded, atol=1e-5, rtol=1e-5)
    assert not mask[0, :, len(short) :].any()


def test_steps_of_the_search_equal_teacher_forcing() -> None:
    """The keys that the search keeps give the logits that the whole answer gives."""
    network = _network()
    prompt = pad_prompts([ENCODER.encode(_blocks())])
    anchors = torch.tensor([[1.0, 2.0, float("nan"), 3.0, 4.0]])
    with torch.inference_mode():
        memory = network.read(prompt)
        found = search(network.decoder, memory, anchors, list(FORMS.values()), beams=3)[0]
        best = torch.tensor([[distribution.best for distribution in found]])
        logs = network.decoder(memory, best, anchors).log_softmax(-1)
    expected = logs.gather(3, best.unsqueeze(3)).squeeze(3)[0].exp().numpy()
    assert np.array([d.probabilities for d in found]) == pytest.approx(expected, rel=1e-4)


# ---- learning ----------------------------------------------------------------------------------------


def _answers() -> tuple[AnswerBatch, np.ndarray]:
    values = np.array([[1.02, 0.97, 1.5, 12.25, 0.4], [3.0, 1.0, 0.5, 1.125, 2.0]])
    classes = [[form.encode(v) for form, v in zip(FORMS.values(), row, strict=True)] for row in values]
    return AnswerBatch(torch.tensor(classes), torch.full((2, 5), float("nan"))), values


@pytest.mark.slow
def test_the_network_learns_one_batch_by_heart() -> None:
    network = _network().train()
    shorter = replace(QUERY, source=SOURCE.replace("+ -128", "* 3"))
    other = _blocks(shorter, {"area": 9.0, "none": 77.0})
    prompts = pad_prompts([ENCODER.encode(_blocks()), ENCODER.encode(other)])
    answers, values = _answers()
    _learn(network, prompts, answers, steps=200)
    network.eval()
    memory = network.read(prompts)
    found = search(network.decoder, memory, answers.anchors, list(FORMS.values()), beams=4)
    assert np.array([[d.best_value for d in row] for row in found]) == pytest.approx(values)
    assert min(min(d.probabilities) for row in found for d in row) > 0.5


def _learn(network: NumericNetwork, prompts, answers: AnswerBatch, *, steps: int) -> list[float]:
    optimizer = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], lr=3e-3)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = network.loss(prompts, answers)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def test_a_network_learns_differences_beside_its_answers() -> None:
    torch.manual_seed(0)
    backbone = CompactBackbone(TOKENIZER.size, 32, 2, 4, 0.0, True)
    known = {"width": 32, "layers": 2, "heads": 4, "dropout": 0.0}
    decoder = DigitDecoder(list(FORMS.values()), backbone.width, **known, differences=True)
    network = NumericNetwork(backbone, decoder, 1.0).train()
    prompts = pad_prompts([ENCODER.encode(_blocks()), ENCODER.encode(_blocks()[:4])])
    answers, _ = _answers()
    aimed = torch.full((2, len(TARGETS)), math.nan)
    aimed[0, 1], aimed[1, 1] = 0.7, -0.7
    losses = _learn(network, prompts, answers._replace(differences=aimed), steps=60)
    assert losses[-1] < 0.5 * losses[0]
    memory = network.eval().read(prompts)
    states = decoder.states(memory, answers.classes, answers.anchors)
    assert decoder.difference is not None
    found = decoder.difference(states[:, :, 0]).squeeze(-1)
    assert torch.allclose(found[:, 1], aimed[:, 1], atol=0.2)
    assert "difference.weight" in network.decoder.state_dict()
    assert "difference.weight" not in _network().decoder.state_dict()


# ---- a language model in a folder --------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny randomly initialised LLaMA."""
    add_installed_folder()
    transformers = pytest.importorskip("transformers", reason="the extra folder is not installed")
    path = tmp_path_factory.mktemp("llama")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=TOKENIZER.size,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(path, safe_serialization=True)
    (path / "tokenizer.json").write_text(TOKENIZER.as_json())
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return path


def _folder_backbone(folder: Path, digest: str = "") -> FolderBackbone:
    return FolderBackbone(str(folder), digest=digest, rank=4, dropout=0.0, magnitudes=True)


def _frozen_backbone(folder: Path, kept: Path | None = None) -> FrozenBackbone:
    return FrozenBackbone(str(folder), digest="", magnitudes=True, kept=kept)


def test_a_folder_model_keeps_the_masks_and_learns_by_its_adapters(folder: Path) -> None:
    pytest.importorskip("peft", reason="the extra folder is not installed")
    backbone = _folder_backbone(folder, folder_digest(str(folder)))
    trained = [name for name, p in backbone.named_parameters() if p.requires_grad]
    assert trained
    assert all("lora_" in name or name.startswith("magnitudes") for name in trained)
    network = _network(backbone)
    blocks = _blocks()
    one, two = _logits(network, blocks), _logits(network, blocks[:5])
    for number, metric in enumerate(METRICS):
        assert torch.allclose(one[number], two[number], atol=1e-5) != metric.dynamic
    changed = tuple(replace(b, text=b.text + " int extra;") if n == 2 else b for n, b in enumerate(blocks))
    before, after = _states(network, blocks), _states(network, changed)
    torch.testing.assert_close(after[3], before[3], atol=1e-4, rtol=1e-4)
    answers, _ = _answers()
    losses = _learn(network.train(), pad_prompts([ENCODER.encode(blocks)] * 2), answers, steps=20)
    assert losses[-1] < 0.7 * losses[0]


def test_a_frozen_model_encodes_each_block_once_and_alone(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "a.states"
    backbone = _frozen_backbone(folder, kept)
    trained = {name.partition(".")[0] for name, p in backbone.named_parameters() if p.requires_grad}
    assert trained == {"kinds", "classes", "magnitudes"}
    assert len(list(backbone.parameters())) == 3
    blocks = _blocks()
    one, two = (pad_prompts([ENCODER.encode(own)]) for own in (blocks, blocks[:2] + blocks[3:]))
    whole, less = backbone.read(one), backbone.read(two)
    bounds = [int((one.block[0] == n).sum()) for n in range(len(blocks))]
    starts = np.cumsum([0, *bounds])
    assert torch.equal(whole[:, : starts[2]], less[:, : starts[2]])
    assert torch.equal(whole[:, starts[3] :], less[:, starts[2] :])
    both = pad_prompts([ENCODER.encode(blocks[:2]), ENCODER.encode(blocks)])
    assert torch.equal(backbone.read(both)[1:, : whole.shape[1]], whole)
    again = _frozen_backbone(folder, kept)
    assert torch.equal(again.read(one), whole)
    assert not again._opened
    network, (answers, _) = _network(backbone), _answers()
    losses = _learn(network.train(), pad_prompts([ENCODER.encode(blocks)] * 2), answers, steps=20)
    assert losses[-1] < 0.7 * losses[0]


def test_kept_states_are_those_of_one_model_and_damage_keeps_nothing(folder: Path, tmp_path: Path) -> None:
    path, states = tmp_path / "a.states", torch.ones((3, 32), dtype=torch.float16)
    KeptStates(path, "a").add(b"x", states)
    found = KeptStates(path, "a").get(b"x", 32)
    assert found is not None
    assert torch.equal(found, states)
    assert KeptStates(path, "a").get(b"x", 5) is None
    assert KeptStates(path, "b").get(b"x", 32) is None
    other = tmp_path / "b.states"
    other.write_bytes(b"damaged" * 1000)
    damaged = KeptStates(other, "a")
    damaged.add(b"x", states)
    assert damaged.get(b"x", 32) is None
    assert KeptStates(tmp_path / "no" / "such" / "folder", "a").get(b"x", 32) is None


def test_a_folder_model_rejects_other_files_and_folders_that_are_none(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        PredictorError, match=r"^other files than in training: .*; accepted: those of hash x$"
    ):
        _folder_backbone(folder, "x")
    with pytest.raises(PredictorError, match=r"^no such model folder: "):
        _folder_backbone(tmp_path / "none")
    with pytest.raises(PredictorError, match=r"^no tokenizer: "):
        folder_tokenizer(str(tmp_path), isolates=True)
