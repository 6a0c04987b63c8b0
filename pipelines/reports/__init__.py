"""The report: figures of a folder of tables, as one HTML page.

Belongs here: statistics of rows and the page that shows them. Does not: making rows, or where folders are.
"""

from pathlib import Path

from pipelines.reports.content import Report, summarise
from pipelines.reports.drawing.page import draw_page
from pipelines.reports.errors import ReportError
from pipelines.reports.tables import TableSet, read_tables

__all__ = ["Report", "ReportError", "TableSet", "draw_page", "read_report", "read_tables", "summarise"]


def read_report(folder: Path, *, name: str) -> Report:
    """Compute the report of a folder of tables.

    Args:    folder: as for `read_tables`. name: the title of the page.
    Returns: figures; what the tables do not hold is None or empty.
    Raises:  ReportError: no tables there.
    """
    return summarise(read_tables(folder, name=name))
