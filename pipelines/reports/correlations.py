"""Rank correlation of labels with each other and with what is known of a design before synthesis."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.reports.measures import spearman
from pipelines.reports.samples import DESIGN_FEATURES, LABELS, PROGRAM_FEATURES, Quantity, Samples


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationRow:
    """One column against all labels.

    Attributes:
        group: labels, design or program.
        values: Spearman's coefficient by label, None where there is none.
    """

    group: str
    quantity: Quantity
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlations:
    """Spearman's coefficients over the designs that are ok."""

    labels: tuple[Quantity, ...]
    rows: tuple[CorrelationRow, ...]
    design_count: int


def correlate(designs: Samples) -> Correlations | None:
    """Correlate every label and feature that designs have; None when fewer than three designs are ok."""
    count = sum(designs.is_ok)
    labels = [q for q in LABELS if designs.has(q)]
    if count < 3 or not labels:
        return None
    groups = (("labels", LABELS), ("design", DESIGN_FEATURES), ("program", PROGRAM_FEATURES))
    rows: list[CorrelationRow] = []
    for group, quantities in groups:
        for quantity in (q for q in quantities if designs.has(q)):
            own = designs.of(quantity, designs.is_ok)
            values = tuple(spearman(own, designs.of(label, designs.is_ok)) for label in labels)
            rows.append(CorrelationRow(group=group, quantity=quantity, values=values))
    return Correlations(labels=tuple(labels), rows=tuple(rows), design_count=count)
