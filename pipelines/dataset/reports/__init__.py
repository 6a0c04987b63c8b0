"""The report: figures of a folder of tables, as one HTML page.

Belongs here: statistics of rows and the page that shows them. Does not: making rows, or where folders are.
"""

from pipelines.dataset.reports.refresh import ModelDecision, Refresh, compare_tables, draw_refresh
from pipelines.dataset.reports.report import Report, draw_page, read_report
from pipelines.dataset.reports.tables import ReportError, read_tables

__all__ = [
    "ModelDecision",
    "Refresh",
    "Report",
    "ReportError",
    "compare_tables",
    "draw_page",
    "draw_refresh",
    "read_report",
    "read_tables",
]
