"""Depths of loop nests of generated programs."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.programs.ast.tree import For, Statement, bodies_of
from pipelines.programs.dataflow.tree import Loop, Node, While, walk


def loop_depth(body: tuple[Statement, ...]) -> int:
    """Most loops around any statement."""
    return max(
        (
            isinstance(statement, For | While) + max((loop_depth(b) for b in bodies_of(statement)), default=0)
            for statement in body
        ),
        default=0,
    )


def depth_of(nodes: Sequence[Node]) -> int:
    """The deepest nest of loops."""
    return max((depth + isinstance(node, Loop | While) for node, depth, _ in walk(nodes)), default=0)
