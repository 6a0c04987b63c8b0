"""Prompts within a context limit: what is left out, and in which order."""

from __future__ import annotations

import re
from dataclasses import replace

from pipelines.dataset.records.layout import Prompt, write_prompt
from pipelines.dataset.records.prompts import ELEMENTS, prototype

CONTEXT_LIMIT = 32_768
"""Characters of a prompt; twice those of the longest workload of LLMulator's Table 2 (13,345)."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(?P<quoted>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')", re.DOTALL)


def fitted(prompt: Prompt, limit: int) -> tuple[str, str | None]:
    """Return a prompt as text of at most `limit` characters.

    Left out as far as needed, in this order: elements of arrays, the longest first; comments; bodies of
    operators, the longest first. Hardware parameters, scalars and the graph always stay.

    Returns: the text, and what was left out; None for nothing. The text can be above the limit when all that
             may be left out is left out; `the rest is longer than the limit` then says so.
    """
    text, gone = write_prompt(prompt), list[str]()
    for name in sorted(_elements(prompt), key=lambda name: (-len(prompt.data[name]), name)):
        if len(text) <= limit:
            break
        prompt = replace(prompt, data={**prompt.data, name: prompt.data[name].partition(ELEMENTS)[0]})
        text = write_prompt(prompt)
        gone.append(f"elements of {name}")
    if len(text) > limit:
        shorter = _without_comments(prompt)
        if shorter != prompt:
            prompt, text = shorter, write_prompt(shorter)
            gone.append("comments")
    for operator in sorted(prompt.operators, key=lambda operator: (-len(operator.text), operator.name)):
        if len(text) <= limit:
            break
        others = tuple(
            replace(o, text=prototype(o.text)) if o.name == operator.name else o for o in prompt.operators
        )
        prompt = replace(prompt, operators=others)
        text = write_prompt(prompt)
        gone.append(f"body of {operator.name}")
    if len(text) > limit:
        gone.append("the rest is longer than the limit")
    return text, ", ".join(gone) or None


def _elements(prompt: Prompt) -> list[str]:
    """Return the arrays whose elements the prompt has."""
    return [name for name, value in prompt.data.items() if ELEMENTS in value]


def _without_comments(prompt: Prompt) -> Prompt:
    operators = tuple(replace(o, text=_stripped(o.text)) for o in prompt.operators)
    return replace(prompt, graph=_stripped(prompt.graph), operators=operators)


def _stripped(text: str) -> str:
    """Return C text without comments and blank lines; pragmas and quoted text stay."""
    bare = _COMMENT.sub(lambda match: match.group() if match["quoted"] else " ", text)
    return "\n".join(line.rstrip() for line in bare.split("\n") if line.strip())
