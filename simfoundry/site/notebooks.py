"""Notebooks as Markdown pages, with their stored outputs."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def write_notebook(notebook: Path, page: Path) -> None:
    """Write a notebook as a page; its images lie beside the page.

    Args:
        notebook: a file of nbformat 4.
        page: Markdown file to write.
    """
    blocks: list[str] = []
    for number, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(source)
            continue
        blocks.append(f"```python\n{source}\n```")
        blocks += _outputs(cell["outputs"], page, number)
    page.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _outputs(outputs: list[dict[str, Any]], page: Path, number: int) -> Iterator[str]:
    for place, output in enumerate(outputs):
        data = output.get("data", {})
        if "image/png" in data:
            image = page.with_name(f"{page.stem}-{number}-{place}.png")
            image.write_bytes(base64.b64decode("".join(data["image/png"])))
            yield f"![plot]({image.name})"
        elif text := "".join(data.get("text/plain", output.get("text", ""))):
            yield f"```text\n{text.rstrip()}\n```"
