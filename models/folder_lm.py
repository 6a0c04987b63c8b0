"""A language model in a local folder of Hugging Face's layout, as a provider.

The library transformers is an extra that is imported when the first prompt comes.

Only safetensors are opened: pickled weights can run code when they are read. Code of the folder is never run.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipelines.base.files import open_regular, read_bounded
from pipelines.base.identity import canonical_json
from pipelines.programs import ProgramError
from pipelines.programs.llm import Prices, ProviderError, Reply

NAME = "folder-lm"
REQUIRED = ("config.json", "tokenizer_config.json")
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".msgpack", ".h5")
_JSON_BYTES = 1 << 24
_WEIGHTS_BYTES = 1 << 40


class FolderProvider:
    """A causal language model in a folder.

    Args:
        path: with config.json, tokenizer_config.json and model*.safetensors.
        temperature: of sampling; 0 takes the likeliest token.
        most_tokens: of a reply.
        prices: of tokens.

    Raises: ProgramError: the folder is not one, has no safetensors, or wants to run code of its own.
    """

    def __init__(
        self, path: Path, *, temperature: float = 0.8, most_tokens: int = 2048, prices: Prices | None = None
    ) -> None:
        check_folder(path)
        self._path = path
        self._temperature = temperature
        self._most_tokens = most_tokens
        self._prices = prices or Prices()
        self._opened: tuple[Any, Any] | None = None
        self._identity = ""

    @property
    def identity(self) -> str:
        """Hashes of the folder's files, and how it is sampled."""
        if not self._identity:
            self._identity = canonical_json(
                [NAME, dict(_digests(self._path)), self._temperature, self._most_tokens]
            )
        return self._identity

    @property
    def prices(self) -> Prices:
        """Prices of tokens."""
        return self._prices

    @property
    def model(self) -> str:
        """Name of the folder."""
        return self._path.name

    def complete(self, prompt: str, *, seed: int) -> Reply:
        """Return the model's reply to a prompt, in the template of its tokenizer when it has one.

        Raises: ProviderError: transformers is not installed, or the folder cannot be opened or run.
        """
        tokenizer, model = self._open()
        torch = importlib.import_module("torch")
        try:
            ids = _encoded(tokenizer, prompt)
            with torch.random.fork_rng(devices=[]), torch.inference_mode():
                torch.manual_seed(seed)
                sampled = self._temperature > 0
                tokens = model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    max_new_tokens=self._most_tokens,
                    do_sample=sampled,
                    **({"temperature": self._temperature} if sampled else {}),
                )
            reply = tokens[0, ids.shape[1] :]
            text = str(tokenizer.decode(reply, skip_special_tokens=True))
        except (RuntimeError, ValueError, IndexError) as error:
            said = " ".join(str(error).split())[:200]
            raise ProviderError(f"a folder's model must reply, got {said} ({self._path})") from error
        counts = int(ids.shape[1]), len(reply)
        return Reply(
            text=text,
            model=self.model,
            prompt_tokens=counts[0],
            completion_tokens=counts[1],
            cost=self._prices.cost(*counts),
        )

    def _open(self) -> tuple[Any, Any]:
        if self._opened is None:
            self._opened = _opened(self._path)
        return self._opened


def check_folder(path: Path) -> None:
    """Refuse a folder that may not be opened.

    Raises: ProgramError: it lacks a file, has weights only in other forms, or names code to be run.
    """
    if not path.is_dir():
        raise ProgramError(f"no such model folder: {path}")
    for name in REQUIRED:
        if not (path / name).is_file():
            raise ProgramError(f"no {name} in the model's folder: {path}; required: {', '.join(REQUIRED)}")
    if not any(path.glob("model*.safetensors")):
        others = sorted(p.name for p in path.iterdir() if p.suffix in PICKLED)
        got = ", ".join(others[:3]) or "none"
        raise ProgramError(f"no model*.safetensors in the model's folder: {path}; weights: {got}")
    for name in REQUIRED:
        if "auto_map" in _json(path / name):
            raise ProgramError(f"a model must run without code of its own, got auto_map ({path / name})")


def _json(path: Path) -> dict[str, Any]:
    content = read_bounded(path, what="model's file", most_bytes=_JSON_BYTES, error=ProgramError)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ProgramError(f"not a JSON object: {path}")
    return value


def _digests(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the hash of every file that decides a reply, by name."""
    for file in sorted(p for p in path.iterdir() if p.suffix in (".json", ".safetensors", ".model", ".txt")):
        yield file.name, file_hash(file)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file of a model's folder, in hexadecimal digits.

    Raises: ProgramError: no regular file of at most 1 TiB.
    """
    with open_regular(path, what="model's file", most_bytes=_WEIGHTS_BYTES, error=ProgramError) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _opened(path: Path) -> tuple[Any, Any]:
    try:
        library = importlib.import_module("transformers")
    except ModuleNotFoundError as error:
        raise ProgramError(
            "package transformers is not installed: a model in a folder needs it; "
            "pip install 'simfoundry[folder]'"
        ) from error
    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(str(path), **local)
        model = library.AutoModelForCausalLM.from_pretrained(str(path), use_safetensors=True, **local)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        said = " ".join(str(error).split())[:200]
        raise ProgramError(f"a model's folder must open with transformers, got {said} ({path})") from error
    model.eval()
    return tokenizer, model


def _encoded(tokenizer: Any, prompt: str) -> Any:
    """Return the token numbers of a prompt, (1, tokens)."""
    if getattr(tokenizer, "chat_template", None):
        messages = [{"role": "user", "content": prompt}]
        encoded = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        return encoded["input_ids"]
    return tokenizer(prompt, return_tensors="pt")["input_ids"]
