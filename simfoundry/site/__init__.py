"""The site of the documentation.

Belongs here: what turns pages, notebooks, docstrings and command definitions into Markdown for the site.
Does not: the pages themselves, which are in `docs/`.
"""
