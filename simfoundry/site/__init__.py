"""The site of the documentation.

Belongs here: the conversion of pages, notebooks, docstrings and command definitions to Markdown for the site.
Does not belong here: the pages themselves, which are in `docs/`.
"""
