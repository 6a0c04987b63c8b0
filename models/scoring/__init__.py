"""Scoring a predictor on a release: it learns and answers in the sandbox, and is judged outside of it.

Belongs here: the tables of a training, the program in the sandbox, its runs, the errors of its answers. Does
not belong here: commands, and pages of results. Listing predictors imports this module, so it imports
nothing.
"""
