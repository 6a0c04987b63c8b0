"""Engines: typed inputs to typed rows.

Belongs here: pure Python engines, the table schemas, and thin runners of external tools.
Does not: orchestration, learning frameworks, configuration frameworks, environment variables,
dates, global random state.
"""
