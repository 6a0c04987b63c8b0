"""The text of C programs: preprocessing, headers, linking of files, spellings and layouts of gcc."""
