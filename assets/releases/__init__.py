"""Releases of a project: made in batches, written from its tables, imported, continued.

Belongs here: what a release asks of the configuration, the steps and the cache. Does not: the files of a
release and their checks (`pipelines.dataset.releases`). Import from the modules: each loads what it needs.
"""
