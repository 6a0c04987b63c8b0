"""The page: figures as HTML and SVG.

Belongs here: layout, charts, words. Does not: any arithmetic on rows.
"""
