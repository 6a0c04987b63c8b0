"""Many look-up tables evaluated at once: table number, two coordinates, one value, all as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.synthesis.liberty import Table

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class TableStack:
    """Tables padded to one size. Outside its index a table goes on with the slope of its edge."""

    def __init__(self, tables: Sequence[Table]) -> None:
        rows = max((t.first.size for t in tables), default=1) + 1
        columns = max((t.second.size for t in tables), default=1) + 1
        self.rows = np.array([t.first.size for t in tables], np.intp)
        self.columns = np.array([t.second.size for t in tables], np.intp)
        self.first = np.full((len(tables), rows), np.inf)  # (tables, rows)
        self.second = np.full((len(tables), columns), np.inf)  # (tables, columns)
        self.values = np.zeros((len(tables), rows, columns))  # (tables, rows, columns)
        for i, t in enumerate(tables):
            self.first[i, : t.first.size] = t.first
            self.second[i, : t.second.size] = t.second
            # one more row and column, so that a single point has a neighbour
            self.values[i] = np.pad(
                t.values, ((0, rows - t.first.size), (0, columns - t.second.size)), mode="edge"
            )

    def at(self, table: Indices, x: Floats, y: Floats) -> Floats:
        """Values of tables at points, each argument and the result (points,).

        Source: OpenSTA `TableModel.cc`, `Table2::findValue`: bilinear, linear beyond the edges.
        """
        i, a = _position(self.first[table], self.rows[table], x)
        j, b = _position(self.second[table], self.columns[table], y)
        v = self.values
        low = v[table, i, j] * (1 - a) + v[table, i + 1, j] * a
        high = v[table, i, j + 1] * (1 - a) + v[table, i + 1, j + 1] * a
        return low * (1 - b) + high * b


def _position(axes: Floats, sizes: Indices, x: Floats) -> tuple[Indices, Floats]:
    """Segment of each point on its axis (points, size), and how far along it, both (points,)."""
    segment = np.clip((axes <= x[:, None]).sum(axis=1) - 1, 0, np.maximum(sizes - 2, 0))
    rows = np.arange(x.size)
    start = axes[rows, segment]
    end = np.where(sizes > 1, axes[rows, np.minimum(segment + 1, axes.shape[1] - 1)], start + 1.0)
    return segment, np.where(sizes > 1, (x - start) / (end - start), 0.0)
