"""Releases of a project: made in batches, written from its tables, imported, continued.

The modules read the configuration, run the steps and fill the cache. The files of a release and their checks
are in `pipelines.dataset.releases`. Import from the modules: each loads what it needs.
"""
