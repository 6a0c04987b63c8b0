"""Predictors: one package a predictor, and what they share.

Belongs here: learned models of the foundry's labels, their metrics, the leaderboard and the
registry. Does not: running a tool that makes labels, or orchestration. Nothing is imported here, so
that reading a leaderboard does not load a learning framework.
"""
