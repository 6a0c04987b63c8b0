"""Records: labelled designs as text for language models, direct and with reasoning.

Belongs here: the layout of prompts and completions (LLMulator section 6.2), and the way from rows to records
and back. Does not: labels, splits, tokenisers, or models. Outside this package only the names below are used.
"""

from pipelines.records.errors import RecordError
from pipelines.records.files import read_records, require_suffix, write_records
from pipelines.records.layout import (
    Completion,
    OperatorText,
    Prompt,
    read_completion,
    read_prompt,
    write_completion,
    write_prompt,
)
from pipelines.records.making import EVALUATION, LabelledRows, make_records
from pipelines.records.numbers import QUANTITIES, Quantity
from pipelines.records.remembered import remembered_records
from pipelines.records.runtime import runtime_data

__all__ = [
    "EVALUATION",
    "QUANTITIES",
    "Completion",
    "LabelledRows",
    "OperatorText",
    "Prompt",
    "Quantity",
    "RecordError",
    "make_records",
    "read_completion",
    "read_prompt",
    "read_records",
    "remembered_records",
    "require_suffix",
    "runtime_data",
    "write_completion",
    "write_prompt",
    "write_records",
]
