"""Scoring a predictor on a release: it learns and answers in the sandbox, and is judged outside of it.

Belongs here: the tables that a training may see, the program inside the sandbox, its runs, and the errors of
its answers. Does not: commands, and pages of results. Listing predictors imports this module, so it imports
nothing.
"""
