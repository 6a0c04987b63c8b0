"""Bambu, an open-source high-level synthesis tool, when it is installed.

A runner and a parser of its report. Bambu has no package in PyPI or Debian, so that nothing here is needed
by the rest. Outside this package only the names below are used.
"""

from pipelines.bambu.runner import (
    ENGINE,
    TOOL,
    BambuError,
    BambuOptions,
    BambuResult,
    bench_text,
    command_line,
    failure_reason,
    is_installed,
    parse_report,
    run_bambu,
    tool_version,
)

__all__ = [
    "ENGINE",
    "TOOL",
    "BambuError",
    "BambuOptions",
    "BambuResult",
    "bench_text",
    "command_line",
    "failure_reason",
    "is_installed",
    "parse_report",
    "run_bambu",
    "tool_version",
]
