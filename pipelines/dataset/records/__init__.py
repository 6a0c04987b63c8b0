"""Records: labelled designs as text for language models, direct and with reasoning.

Belongs here: the layout of prompts and completions (LLMulator section 6.2), and the way from rows to records
and back. Does not: labels, splits, tokenisers, or models. Outside this package only the names below are used.
"""

from pipelines.dataset.records.control import operator_classes
from pipelines.dataset.records.data_summary import SUMMARY as DATA_SUMMARY
from pipelines.dataset.records.data_summary import data_text, summarise_data, summarise_rows
from pipelines.dataset.records.layout import (
    QUANTITIES,
    Prompt,
    RecordError,
    read_completion,
    read_prompt,
    write_prompt,
)
from pipelines.dataset.records.lengths import LENGTH_COLUMNS, PromptLengths, prompt_lengths
from pipelines.dataset.records.limits import CONTEXT_LIMIT
from pipelines.dataset.records.prompts import run_data, runtime_data, source_prompt
from pipelines.dataset.records.records import (
    LabelledRows,
    cached_records,
    make_records,
    read_records,
    require_suffix,
    write_records,
)

__all__ = [
    "CONTEXT_LIMIT",
    "DATA_SUMMARY",
    "LENGTH_COLUMNS",
    "QUANTITIES",
    "LabelledRows",
    "Prompt",
    "PromptLengths",
    "RecordError",
    "cached_records",
    "data_text",
    "make_records",
    "operator_classes",
    "prompt_lengths",
    "read_completion",
    "read_prompt",
    "read_records",
    "require_suffix",
    "run_data",
    "runtime_data",
    "source_prompt",
    "summarise_data",
    "summarise_rows",
    "write_prompt",
    "write_records",
]
