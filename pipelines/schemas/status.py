"""The closed vocabulary of outcomes. A failed attempt is a row with one of these and a reason."""

from __future__ import annotations

OK = "ok"
TIMEOUT = "timeout"
TOOL_ERROR = "tool_error"
INFEASIBLE = "infeasible"
REJECTED = "rejected"

STATUSES = (OK, TIMEOUT, TOOL_ERROR, INFEASIBLE, REJECTED)
