"""The language model of a configuration: providers, keys, prompts, parents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from assets import language_models
from assets.configuration import compose_configuration
from assets.deployments import local_deployment
from assets.errors import FoundryError
from assets.language_models import (
    make_variants,
    options_in_keys,
    parents_of,
    provider_of,
    read_prompt,
    remember_variants,
    usage_notes,
)
from assets.settings import CONFIGURATION_FOLDER, Settings, ignore_progress
from models.folder_lm import FolderProvider, check_folder
from models.program_lm import EditOptions, TrainingOptions
from models.program_lm.provider import EmbeddedProvider
from models.smollm2 import SmolOptions, SmolProvider
from pipelines.base.identity import content_hash
from pipelines.programs import ProgramError
from pipelines.programs.ast import AstOptions, ast_program
from pipelines.programs.llm import (
    CheckLimits,
    LlmPrograms,
    LlmUsage,
    Prices,
    ProviderError,
    Reply,
    ServerOptions,
    ServerProvider,
    TextLimits,
)


def _settings(folder: Path, *overrides: str) -> Settings:
    return Settings(configuration=compose_configuration(list(overrides)), deployment=local_deployment(folder))


def test_defaults_are_those_of_the_code() -> None:
    chosen = compose_configuration([]).llm
    assert chosen.embedded.training == TrainingOptions()
    assert chosen.embedded.editing == EditOptions()
    assert chosen.smollm2 == SmolOptions()
    assert chosen.check == CheckLimits()
    assert chosen.text == TextLimits()
    assert chosen.server == ServerOptions(url=chosen.server.url, model=chosen.server.model)


def test_embedded_model_is_the_default_and_is_not_trained_before_it_is_asked(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "llm.embedded.training.programs=4")
    provider = provider_of(settings, {}, ignore_progress)
    assert isinstance(provider, EmbeddedProvider)
    assert provider.model.startswith("program-lm-")
    assert not (tmp_path / "data").exists()


def test_key_comes_from_the_named_variable_and_is_in_no_text(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "llm.provider=server", "llm.server.key_variable=OUR_KEY")
    provider = provider_of(settings, {"OUR_KEY": "sk-1", "OPENAI_API_KEY": "other"}, ignore_progress)
    assert isinstance(provider, ServerProvider)
    assert provider._key == "sk-1"
    assert "sk-1" not in provider.identity + repr(settings)
    assert provider_of(settings, {}, ignore_progress)._key is None  # type: ignore[attr-defined]


def test_parents_are_the_programs_of_the_configuration(tmp_path: Path) -> None:
    ast, dataflow = parents_of(_settings(tmp_path, "ast.count=7", "dataflow.seed=3", "llm.parents.ast=0"))
    assert (ast.name, ast.count, ast.weight) == ("ast", 7, 0.0)
    assert ast.program(3).name == "ast_00003"
    assert dataflow.program(1).name == "dataflow-3-1"


def test_keys_stand_in_the_order_of_the_file() -> None:
    keys = list(yaml.safe_load((CONFIGURATION_FOLDER / "llm" / "default.yaml").read_text()))
    assert list(compose_configuration([]).model_dump(mode="json")["llm"]) == keys


def test_options_of_the_stage_have_the_recorded_hash() -> None:
    """Another key would ask the model again: replies of released programs are in no table."""
    few = compose_configuration(["llm.count=3", "llm.prices.prompt_million=1", "llm.provider=smollm2"]).llm
    assert content_hash(options_in_keys(few)) == "bf25fcbdfc6bbb9d8d6b805e792ea621"
    check = CheckLimits(timeout_s=5.0, data_seeds=(0,))
    other = replace(few, count=7, seed=2, attempts=4, most_failures=3, check=check)
    assert content_hash(options_in_keys(other)) == "614c1984b682328b7c893afce7323d24"


def test_prompts_of_the_configuration_are_there() -> None:
    for name in compose_configuration([]).llm.prompts:
        prompt = read_prompt(name)
        assert prompt.name == name
        assert "```c\n{{source}}\n```" in prompt.text


@pytest.mark.parametrize("name", ["unknown", "../llm/default", ""])
def test_prompt_rejects_what_is_no_file(name: str) -> None:
    with pytest.raises(FoundryError, match=r"unknown prompt: .*accepted: restructure_loops"):
        read_prompt(name)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "llm.provider=remote",
            r'llm\.provider: "remote" .*; accepted: embedded, smollm2, server or folder$',
        ),
        ("llm.count=-1", r"llm\.count: -1 .*; accepted: 0 or more$"),
        ("llm.embedded.training.steps=0", r"steps must be above 0, got 0"),
        ("llm.smollm2.candidates=1", r"candidates must be 2 \.\. 64, got 1"),
        ("llm.check.most_cycles=0", r"most_cycles must be above 0, got 0"),
        ("llm.prompts=[]", r"llm\.prompts: a list of 0 .*; accepted: at least 1 items$"),
    ],
)
def test_configuration_of_the_model_rejects(override: str, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        compose_configuration([override])


def test_folder_provider_needs_a_path(tmp_path: Path) -> None:
    with pytest.raises(FoundryError, match=r"llm\.folder\.path is null; accepted: a folder of weights"):
        provider_of(_settings(tmp_path, "llm.provider=folder"), {}, ignore_progress)


def test_smollm2_is_a_provider_that_opens_nothing_before_it_is_asked(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "llm.provider=smollm2", "llm.smollm2.candidates=4")
    provider = provider_of(settings, {}, ignore_progress)
    assert isinstance(provider, SmolProvider)
    assert provider.model == "SmolLM2-135M-Instruct-edits"
    assert '"candidates":4' in provider.identity


def test_usage_is_told_in_words() -> None:
    usage = LlmUsage(asked=5, generated=3, duplicates=1, prompt_tokens=100, completion_tokens=20, cost=0.5)
    assert usage_notes(usage) == {
        "asked": "5 replies, 3 programs kept, 1 duplicates",
        "tokens": "100 read, 20 written, cost 0.5000",
    }


# ---- rows of before -------------------------------------------------------------------------------

FEW = ("llm.count=2", "llm.attempts=3", "ast.count=4", "dataflow.count=4")


class _Babbles:
    """A model whose replies are no programs; after `silent_after` prompts it gives none."""

    identity = "babbles"
    prices = Prices()
    model = "babbles-1"

    def __init__(self, silent_after: int = 1000) -> None:
        self.prompts, self.silent_after = 0, silent_after

    def complete(self, prompt: str, *, seed: int) -> Reply:
        del prompt, seed
        self.prompts += 1
        if self.prompts > self.silent_after:
            raise ProviderError("a model must reply, got nothing")
        return Reply(text="no program", model=self.model, prompt_tokens=9, completion_tokens=2, cost=0.5)


def _asked(settings: Settings, model: _Babbles, monkeypatch: pytest.MonkeyPatch) -> LlmPrograms:
    monkeypatch.setattr(language_models, "provider_of", lambda *_: model)
    return make_variants(settings, ignore_progress)


def test_a_model_is_not_asked_for_the_rows_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, model = _settings(tmp_path, *FEW), _Babbles()
    first = _asked(settings, model, monkeypatch)
    assert model.prompts == 6
    assert (first.usage.asked, first.usage.prompt_tokens, first.usage.cost) == (6, 54, 3.0)
    assert set(first.rows) == set(_asked(settings, model, monkeypatch).rows)
    attempts = _settings(tmp_path, *FEW, "ast.options.keep_discarded=true")
    assert set(first.rows) == set(_asked(attempts, model, monkeypatch).rows)
    assert model.prompts == 6  # discarded attempts are no parents
    _asked(_settings(tmp_path, *FEW, "ast.seed=5"), model, monkeypatch)
    assert model.prompts > 6


def test_rows_of_a_release_stand_for_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overrides = FEW
    made = _asked(_settings(tmp_path / "one", *overrides), _Babbles(), monkeypatch)
    model, other = _Babbles(), _settings(tmp_path / "other", *overrides)
    monkeypatch.setattr(language_models, "provider_of", lambda *_: model)
    assert remember_variants(other, made.rows)
    assert not remember_variants(other, made.rows)
    assert set(make_variants(other, ignore_progress).rows) == set(made.rows)
    assert model.prompts == 0


def test_a_request_that_failed_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, model = _settings(tmp_path, *FEW), _Babbles(silent_after=5)
    made = _asked(settings, model, monkeypatch)
    assert [row.status for row in made.rows] == 5 * ["rejected"] + ["tool_error"]
    assert not remember_variants(settings, made.rows)
    model.silent_after = 1000
    assert [row.status for row in make_variants(settings, ignore_progress).rows] == 6 * ["rejected"]
    assert model.prompts == 7


# ---- folders of weights ----------------------------------------------------------------------------


def _folder(path: Path, **files: str) -> Path:
    names = {"config": "config.json", "tokenizer": "tokenizer_config.json", "weights": "model.safetensors"}
    for key, content in {"config": "{}", "tokenizer": "{}", "weights": "w", **files}.items():
        if content:
            (path / names.get(key, key)).write_text(content)
    return path


WRONG_FOLDERS = {
    "no config": ({"config": ""}, "no config.json in the model's folder"),
    "pickled weights": (
        {"weights": "", "pytorch_model.bin": "x"},
        r"no model\*\.safetensors .*weights: pytorch_model\.bin",
    ),
    "code of its own": ({"config": '{"auto_map": {}}'}, "without code of its own, got auto_map"),
    "a config that is no object": ({"config": "[]"}, "not a JSON object: .*config.json"),
}


@pytest.mark.parametrize(("files", "message"), WRONG_FOLDERS.values(), ids=WRONG_FOLDERS.keys())
def test_folder_rejects(files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=message):
        FolderProvider(_folder(tmp_path, **files))


def test_folder_rejects_what_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="no such model folder"):
        check_folder(tmp_path / "absent")


def test_folder_identity_depends_on_its_files(tmp_path: Path) -> None:
    one = FolderProvider(_folder(tmp_path)).identity
    _folder(tmp_path, weights="other")
    assert FolderProvider(tmp_path).identity != one


def test_folder_without_transformers_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(
        (ProgramError, ProviderError), match=r"package transformers is not installed: .*; pip"
    ):
        FolderProvider(_folder(tmp_path)).complete("x", seed=0)


def test_variants_of_release_v2_are_those_of_release_v3(tmp_path: Path) -> None:
    earlier, later = _settings(tmp_path, "scale=release_v2"), _settings(tmp_path, "scale=release_v3")
    row = ast_program(0, seed=0, options=AstOptions())
    assert remember_variants(earlier, [replace(row, reply_sha256="0" * 64)])
    assert not remember_variants(later, [])
    for before, after in zip(parents_of(earlier), parents_of(later), strict=True):
        assert (before.count, before.program(0)) == (after.count, after.program(0))
