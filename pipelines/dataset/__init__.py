"""Rows about programs and designs: labels, features, records, releases, reports, results of vendors,
splits, verdicts on variants."""
