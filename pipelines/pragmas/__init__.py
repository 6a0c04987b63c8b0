"""Directives with a proof: what a program admits, a lower bound on its latency, and the best configuration.

Outside this package only the names below are used.

Source: Pouget, Pouchet and Cong 2025, "Automatic Hardware Pragma Insertion in High-Level Synthesis: A
Non-Linear Programming Approach" (NLP-DSE).
"""

from pipelines.pragmas.configuration import Configuration, LoopChoice
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import Summary

__all__ = ["Configuration", "LoopChoice", "PragmaError", "Summary"]
