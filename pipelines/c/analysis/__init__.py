"""Analyses of the structured IR, and the changes of it that keep its meaning."""
