"""Functional units of generated hardware: their Verilog and their figures for scheduling.

Belongs here: the text of each unit type (`*.v`), its ports and cycles (`catalogue.py`), its delays and area
(`timing.py`). Does not: which operation uses which instance, and when.
"""
