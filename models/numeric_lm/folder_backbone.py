"""A causal language model in a folder as a back-bone: frozen, with LoRA adapters that are trained.

Hugging Face's layout. The libraries transformers and peft are the extra `folder`, imported when a model is
opened. Only safetensors are opened, and code of the folder is never run.

Source: LLMulator section 7.1 (LLaMA-3.2-1B with LoRA). The paper's model writes its digits itself; here the
decoder of digits reads the model's last states, so that both back-bones share search and masks.
"""

from __future__ import annotations

import hashlib
import importlib
import warnings
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.base import PredictorError
from models.folder_lm import check_folder, file_hash
from models.numeric_lm.network import MagnitudeEmbedding, PromptBatch, prompt_mask
from models.numeric_lm.tokens import PromptTokenizer
from models.smollm2 import add_installed_folder, model_folder
from pipelines.base.files import plain_json, read_bounded
from pipelines.programs import ProgramError

TOKENIZER, CONFIGURATION = "tokenizer.json", "config.json"
MOST_WIDTH = 1 << 16
_JSON_BYTES = 1 << 24
SMOLLM2 = "smollm2"
"""Option `backbone` of the model that `make LM=1 setup` installs."""
EXTRA = "pip install 'simfoundry[folder]'"


class FolderBackbone(nn.Module):
    """A causal language model that reads prompts under the same mask as the compact encoder.

    Blocks only read earlier blocks, and a token of a causal model only earlier tokens; both masks hold.

    Args:   folder: with config.json, tokenizer.json and model*.safetensors. digest: of these files; another
            one is refused, empty for any. rank: of the adapters on every linear layer.
    Raises: PredictorError: the extra is not installed, or the folder cannot be used.
    """

    def __init__(self, folder: str, *, digest: str, rank: int, dropout: float, magnitudes: bool) -> None:
        super().__init__()
        found = folder_digest(folder)
        if digest not in ("", found):
            raise PredictorError(f"other files than in training: {folder}; accepted: those of hash {digest}")
        self.model = _open(Path(folder), rank, dropout)
        self.width = int(self.model.config.hidden_size)
        self.magnitudes = MagnitudeEmbedding(self.width) if magnitudes else None
        if self.magnitudes is not None:
            nn.init.zeros_(self.magnitudes.project.weight)  # at first the model reads what it was trained on

    def forward(self, batch: PromptBatch) -> Tensor:
        """Return the states of the tokens: (batch, tokens, width)."""
        inputs = self.model.get_input_embeddings()(batch.ids)  # (batch, tokens, width)
        if self.magnitudes is not None:
            inputs = inputs + self.magnitudes(batch.magnitudes)
        size = batch.ids.shape[1]
        earlier = torch.ones((size, size), dtype=torch.bool, device=batch.ids.device).tril()
        mask = (prompt_mask(batch) & earlier).unsqueeze(1)  # (batch, 1, tokens, tokens)
        penalty = torch.zeros(mask.shape, dtype=inputs.dtype, device=inputs.device)
        penalty = penalty.masked_fill(~mask, torch.finfo(inputs.dtype).min)
        answer = self.model(inputs_embeds=inputs, attention_mask=penalty, position_ids=batch.position)
        return answer.last_hidden_state


def backbone_folder(backbone: str) -> str:
    """Return the folder of a back-bone by its option: SMOLLM2 is the installed model.

    Raises: PredictorError: it is not installed.
    """
    if backbone != SMOLLM2:
        return backbone
    try:
        return str(model_folder())
    except ProgramError as error:
        raise PredictorError(str(error)) from error


def folder_tokenizer(folder: str, *, isolates: bool) -> PromptTokenizer:
    """Return the vocabulary of a folder.

    Raises: PredictorError: it has none.
    """
    path = Path(folder) / TOKENIZER
    try:
        return PromptTokenizer(Tokenizer.from_file(str(path)), isolates=isolates)
    except Exception as error:  # the library raises Exception itself
        raise PredictorError(f"no tokenizer: {path} ({str(error)[:100]})") from error


def folder_digest(folder: str) -> str:
    """Return the hash of the files that decide a folder's answers.

    Raises: PredictorError: the folder is no model.
    """
    try:
        check_folder(Path(folder))
    except ProgramError as error:
        raise PredictorError(str(error)) from error
    digest = hashlib.sha256()
    for path in sorted(p for p in Path(folder).iterdir() if p.suffix in (".json", ".safetensors")):
        digest.update(path.name.encode())
        digest.update(bytes.fromhex(file_hash(path)))
    return digest.hexdigest()[:32]


def read_width(folder: Path) -> int:
    """Return the width of the states of a folder's model.

    Raises: PredictorError: its configuration has none.
    """
    content = read_bounded(
        folder / CONFIGURATION, what="configuration", most_bytes=_JSON_BYTES, error=PredictorError
    )
    try:
        known: Any = plain_json(content.decode("utf-8"))
        width = known["hidden_size"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PredictorError(f"no hidden_size in {folder / CONFIGURATION}") from error
    if not isinstance(width, int) or isinstance(width, bool) or not 0 < width <= MOST_WIDTH:
        raise PredictorError(
            f"hidden_size {width!r:.40} in {folder / CONFIGURATION}; accepted: 1 .. {MOST_WIDTH}"
        )
    return width


def open_network(folder: Path) -> Any:
    """Open the layers of a folder's model, without the head, in 32 bits per weight.

    Raises: PredictorError: transformers is not installed, or the folder cannot be opened.
    """
    add_installed_folder()
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise PredictorError(f"not installed: {error.name}; install the extra: {EXTRA}") from error
    transformers.utils.logging.disable_progress_bar()
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, use_safetensors=True, trust_remote_code=False, local_files_only=True, dtype=torch.float32
        )
    except (OSError, ValueError) as error:
        raise PredictorError(f"cannot open the model: {folder} ({str(error)[:200]})") from error
    return model.base_model


def _open(folder: Path, rank: int, dropout: float) -> Any:
    try:
        peft = importlib.import_module("peft")
    except ImportError as error:
        raise PredictorError(f"not installed: {error.name}; install the extra: {EXTRA}") from error
    adapters = peft.LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=dropout, target_modules="all-linear")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)
        return peft.get_peft_model(open_network(folder), adapters).base_model.model
