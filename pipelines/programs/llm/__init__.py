"""The LLM stage: variants of earlier programs by prompting a language model.

This package has the provider interface, the client of OpenAI-compatible servers, prompts and rows. Models
that need a learning framework stand in `models/`, behind the same interface. Variants are judged in
`pipelines.dataset.variants`, since that compiles them.

Outside this package only the names below are used.
"""

from pipelines.programs.judging import CheckLimits
from pipelines.programs.llm.provider import Prices, Prompt, Provider, ProviderError, Reply
from pipelines.programs.llm.replies import ReplyRejected, TextLimits, program_of_reply
from pipelines.programs.llm.server import ServerOptions, ServerProvider
from pipelines.programs.llm.stage import (
    LlmOptions,
    LlmPrograms,
    LlmUsage,
    ParentPool,
    llm_programs,
    reason_kind,
)

__all__ = [
    "CheckLimits",
    "LlmOptions",
    "LlmPrograms",
    "LlmUsage",
    "ParentPool",
    "Prices",
    "Prompt",
    "Provider",
    "ProviderError",
    "Reply",
    "ReplyRejected",
    "ServerOptions",
    "ServerProvider",
    "TextLimits",
    "llm_programs",
    "program_of_reply",
    "reason_kind",
]
