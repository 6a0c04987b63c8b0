"""A causal language model in a folder as a back-bone whose weights stay: each block is encoded once, alone.

A block stands behind a fixed text and reads that and itself. So its states depend on its tokens alone, and
they are kept: in memory, and in a file beside the folder, which later trainings read. Trained are embeddings
of the kind of a block and of magnitudes, which are added to the states, and the decoder of digits.

Source: LLMulator sections 5.2 (blocks that are cached) and 7.1 (a pre-trained model). The paper trains
adapters, as `folder_backbone` does.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.base import PredictorError
from models.numeric_lm.folder_backbone import TOKENIZER, folder_digest, open_network, read_width
from models.numeric_lm.network import MagnitudeEmbedding, PromptBatch
from models.numeric_lm.prompts import Kind

PREFIX = "/* C for hardware */\n"
"""Stands before every block; a causal model needs something to read before the first token."""
_MOST_TOKENS = 1 << 20
"""Tokens whose states stay in memory."""
_FORMAT = "1"
"""Raised when states of the same tokens change."""


class FrozenBackbone(nn.Module):
    """A causal language model that encodes blocks.

    Args:   folder: with config.json, tokenizer.json and model*.safetensors. digest: of these files; another
            one is refused, empty for any. kept: file of states; None for none.
    Raises: PredictorError: transformers is not installed, or the folder cannot be used.
    """

    def __init__(self, folder: str, *, digest: str, magnitudes: bool, kept: Path | None = None) -> None:
        super().__init__()
        own = folder_digest(folder)
        if digest not in ("", own):
            raise PredictorError(f"other files than in training: {folder}; accepted: those of hash {digest}")
        self._folder = folder
        self._opened: list[Any] = []  # no part of this module, so that no checkpoint holds the weights
        self._states: OrderedDict[bytes, Tensor] = OrderedDict()
        self._tokens = 0
        self._kept = None if kept is None else KeptStates(kept, f"{own} {_FORMAT} {PREFIX}")
        tokenizer = Tokenizer.from_file(str(Path(folder) / TOKENIZER))
        self._prefix: list[int] = tokenizer.encode(PREFIX, add_special_tokens=False).ids
        self.width = read_width(Path(folder))
        self.kinds = nn.Embedding(len(Kind), self.width)
        self.classes = nn.Embedding(2, self.width)
        self.magnitudes = MagnitudeEmbedding(self.width) if magnitudes else None
        for table in (self.kinds, self.classes):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, batch: PromptBatch) -> Tensor:
        """Return the states of the tokens: (batch, tokens, width)."""
        states = self.kinds(batch.kind) + self.classes(batch.dynamic.long())
        if self.magnitudes is not None:
            states = states + self.magnitudes(batch.magnitudes)
        return states + self.read(batch).to(states)

    def read(self, batch: PromptBatch) -> Tensor:
        """Return the states of the language model, zero at padding: (batch, tokens, width)."""
        read = torch.zeros((*batch.ids.shape, self.width))
        for row, (ids, numbers) in enumerate(zip(batch.ids.tolist(), batch.block.tolist(), strict=True)):
            start = 0
            for end in range(1, len(ids) + 1):
                if end < len(ids) and numbers[end] == numbers[start]:
                    continue
                if numbers[start] >= 0:
                    read[row, start:end] = self.block(ids[start:end]).float()
                start = end
        return read

    def block(self, ids: Sequence[int]) -> Tensor:
        """Return the states of a block in 16 bits: (tokens, width)."""
        name = sha256(np.asarray(ids, np.int32).tobytes()).digest()
        known = self._states.get(name)
        if known is not None:
            self._states.move_to_end(name)
            return known
        states = None if self._kept is None else self._kept.get(name, self.width)
        if states is None:
            states = self._encode(ids)
            if self._kept is not None:
                self._kept.add(name, states)
        self._states[name] = states
        self._tokens += len(ids)
        while self._tokens > _MOST_TOKENS and len(self._states) > 1:
            self._tokens -= len(self._states.popitem(last=False)[1])
        return states

    def _encode(self, ids: Sequence[int]) -> Tensor:
        """Read one block, so that its states do not depend on what else is read."""
        if not self._opened:
            self._opened.append(open_network(Path(self._folder)).eval().requires_grad_(requires_grad=False))
        model = self._opened[0]
        most = int(model.config.max_position_embeddings) - len(self._prefix)
        if len(ids) > most:
            raise PredictorError(f"a block of {len(ids)} tokens is too long; accepted: up to {most}")
        with torch.inference_mode():
            answer = model(input_ids=torch.tensor([[*self._prefix, *ids]]), use_cache=False)
        return answer.last_hidden_state[0, len(self._prefix) :].to(torch.float16)


class KeptStates:
    """States of blocks in an SQLite file, which processes share.

    Args: what: of the model and its prefix; the file is emptied for another.

    A file that cannot be opened or written keeps nothing.
    """

    def __init__(self, path: Path, what: str) -> None:
        self._file: sqlite3.Connection | None = None
        try:
            self._file = sqlite3.connect(path, timeout=60.0, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=OFF")
            self._file.execute("CREATE TABLE IF NOT EXISTS about (what TEXT)")
            self._file.execute("CREATE TABLE IF NOT EXISTS states (name BLOB PRIMARY KEY, states BLOB)")
            if self._file.execute("SELECT what FROM about").fetchall() != [(what,)]:
                self._file.execute("DELETE FROM states")
                self._file.execute("DELETE FROM about")
                self._file.execute("INSERT INTO about VALUES (?)", (what,))
        except sqlite3.Error:
            self._file = None

    def get(self, name: bytes, width: int) -> Tensor | None:
        """Return the states of a block (tokens, width), None where they are unknown or damaged."""
        if self._file is None:
            return None
        try:
            row = self._file.execute("SELECT states FROM states WHERE name = ?", (name,)).fetchone()
        except sqlite3.Error:
            return None
        if row is None or not row[0] or len(row[0]) % (2 * width):
            return None
        return torch.from_numpy(np.frombuffer(row[0], np.float16).reshape(-1, width).copy())

    def add(self, name: bytes, states: Tensor) -> None:
        """Keep the states of a block."""
        if self._file is not None:
            try:
                values = (name, states.numpy().tobytes())
                self._file.execute("INSERT OR REPLACE INTO states VALUES (?, ?)", values)
            except sqlite3.Error:
                self._file = None
