"""Loop trees as C text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.programs.dataflow.tree import Branch, Loop, Node, Statement, While

INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a program is written.

    Attributes:
        macros: constants are macros, else literals.
        braces: around single statements, too.
        spelling: of the element type, an index into its names.
        tile_suffix: of the variable of a loop over tiles.
    """

    macros: bool
    braces: bool
    spelling: int
    tile_suffix: str


def body_text(nodes: Sequence[Node], style: Style, level: int = 1) -> str:
    """Lines of some nodes, indented by their level."""
    return "".join(_node_text(node, style, level) for node in nodes)


def _node_text(node: Node, style: Style, level: int) -> str:
    pad = INDENT * level
    if isinstance(node, Statement):
        return f"{pad}{node.text}\n"
    if isinstance(node, Loop):
        return _block(f"{pad}for ({_header(node)})", node.body, style, level)
    if isinstance(node, While):
        return _block(f"{pad}while ({node.condition})", node.body, style, level)
    text = _block(f"{pad}if ({node.condition})", node.body, style, level, force=bool(node.otherwise))
    if node.otherwise:
        text = text.removesuffix("\n") + _block(" else", node.otherwise, style, level, force=True)
    return text


def _header(loop: Loop) -> str:
    name = loop.variable
    if loop.down:
        last = str(int(loop.stop) - 1) if loop.stop.isdigit() else f"{loop.stop} - 1"
        return f"int {name} = {last}; {name} >= {loop.start}; {name}--"
    step = f"{name}++" if loop.step == "1" else f"{name} += {loop.step}"
    return f"int {name} = {loop.start}; {name} < {loop.stop}; {step}"


def _block(head: str, body: Sequence[Node], style: Style, level: int, *, force: bool = False) -> str:
    inner = body_text(body, style, level + 1)
    single = len(body) == 1 and not isinstance(body[0], Branch)
    if single and not style.braces and not force:
        return f"{head}\n{inner}"
    return f"{head} {{\n{inner}{INDENT * level}}}\n"
