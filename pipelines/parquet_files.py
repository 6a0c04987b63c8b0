"""Parquet files that people name, opened when they cannot decode to more memory than stated.

Belongs here: what a small file may say that it holds. Does not: the columns and what they mean.

A file of some kB can hold a billion rows, or a page that decodes to 2 GiB. Rows are counted in the file's own
metadata, and pages in their headers, which alone decide how much memory is taken for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

PAGE_LIMIT_BYTES = 64 << 20  # decoded; writers make pages of about 1 MiB
PAGE_LIMIT = 200_000
_HEADER_BYTES = 1 << 16


def open_parquet(
    file: BinaryIO,
    *,
    columns: Collection[str],
    most_rows: int,
    error: Callable[[str], Exception],
    encoded: Collection[str] = (),
) -> pq.ParquetFile:
    """Open a Parquet file whose rows and pages are within limits.

    Args:   columns: the names of those that will be read. most_rows: of the file. encoded: columns of text
            that stay dictionaries with an index a row, for a long text can stand in every row.
    Raises: error: more rows, a page of more than 64 MiB decoded, more than 200,000 pages, or damaged headers.
            ArrowException, OSError: it is not a Parquet file.
    """
    content = pq.ParquetFile(file)
    if encoded:
        paths = [content.schema.column(index).path for index in range(len(content.schema))]
        content = pq.ParquetFile(file, read_dictionary=[name for name in encoded if name in paths])
    metadata = content.metadata
    if metadata.num_rows > most_rows:
        raise error(f"{metadata.num_rows} rows; accepted: at most {most_rows}")
    count = 0
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(index)
            if chunk.path_in_schema.partition(".")[0] not in columns:
                continue
            for decoded in _page_sizes(file, chunk):
                count += 1
                if decoded > PAGE_LIMIT_BYTES:
                    limit = f"{PAGE_LIMIT_BYTES >> 20} MiB"
                    raise error(f"a page of {decoded} bytes decoded; accepted: at most {limit}")
                if count > PAGE_LIMIT:
                    raise error(f"more than {PAGE_LIMIT} pages; accepted: at most {PAGE_LIMIT}")
    file.seek(0)
    return content


def _page_sizes(file: BinaryIO, chunk: pq.ColumnChunkMetaData) -> Iterator[int]:
    """Bytes of every page of a column chunk when decoded, as its header says."""
    if chunk.num_values == 0:
        return
    at = chunk.data_page_offset
    if chunk.dictionary_page_offset is not None and 0 < chunk.dictionary_page_offset < at:
        at = chunk.dictionary_page_offset
    end = at + chunk.total_compressed_size
    while at < end:
        file.seek(at)
        header = _Header(file.read(_HEADER_BYTES))
        decoded, encoded = header.page_sizes()
        if decoded < 0 or encoded < 0:
            raise pa.ArrowInvalid("a page header has a negative size")
        yield decoded
        at += header.at + encoded


class _Header:
    """A page header in Thrift's compact protocol.

    Source: parquet.thrift, `PageHeader`: field 2 is the size when decoded, field 3 that in the file; Thrift's
            thrift-compact-protocol.md.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def page_sizes(self) -> tuple[int, int]:
        sizes = dict(self._fields())
        if not {2, 3} <= sizes.keys():
            raise pa.ArrowInvalid("a page header has no sizes")
        return sizes[2], sizes[3]

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise pa.ArrowInvalid(
                f"a page header has more than {_HEADER_BYTES} bytes, or the file ends in it"
            )
        self.at += 1
        return self.data[self.at - 1]

    def _number(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Number and value of each field of a struct; values that are no whole numbers are given as 0."""
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._signed()
            yield number, self._value(head & 0x0F)

    def _signed(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)

    def _value(self, kind: int) -> int:
        match kind:
            case 1 | 2:  # true, false
                pass
            case 3:
                self._byte()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                self.at += 8
            case 8:
                length = self._number()
                self.at += length
            case 12:
                for _ in self._fields():
                    pass
            case _:
                raise pa.ArrowInvalid("a page header has a list or a map")
        return 0
