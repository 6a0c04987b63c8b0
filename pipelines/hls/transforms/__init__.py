"""Transformations of the structured IR: each takes a valid function and returns a valid function.

Belongs here: what directives ask for (tile, unroll, flatten, cache, partition, reduction), and what makes
loops fit for a pipeline (promotion, exits as flags, if-conversion, simplification). Does not: reading C,
timing. A transformation that does not apply raises `NotApplicable` with its reason.
"""
