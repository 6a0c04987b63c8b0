"""Orchestration: Dagster assets, data versions, configuration and the `simfoundry` command.

Belongs here: what is run when, where results go, and how people ask. Does not: engine logic.
"""
