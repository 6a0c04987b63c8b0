"""A Parquet file of some kB with a page that decodes to gigabytes."""

from __future__ import annotations

import struct

import pyarrow as pa
import pyarrow.parquet as pq

_FRAME_BYTES = 64 << 20


def parquet_with_a_page_of(table: pa.Table, decoded_bytes: int) -> bytes:
    """A table whose first page is zeros in place of its values; the metadata says nothing of it.

    Args: table: with 150 kB or more of random numbers in its first column. decoded_bytes: in steps of 64 MiB.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, max_rows_per_page=table.num_rows)
    content = bytearray(sink.getvalue().to_pybytes())
    chunk = pq.read_metadata(pa.BufferReader(bytes(content))).row_group(0).column(0)
    frame = pa.Codec("zstd").compress(bytes(_FRAME_BYTES), asbytes=True)
    frames = frame * (decoded_bytes // _FRAME_BYTES)
    header = b""
    for _ in range(3):  # until its own length is right
        header = _page_header(decoded_bytes, chunk.total_compressed_size - len(header), table.num_rows)
    rest = chunk.total_compressed_size - len(header) - len(frames) - 8
    skipped = struct.pack("<II", 0x184D2A50, rest) + bytes(rest)  # a frame that zstd skips
    start = chunk.data_page_offset
    content[start : start + chunk.total_compressed_size] = header + frames + skipped
    return bytes(content)


def _page_header(decoded: int, encoded: int, rows: int) -> bytes:
    """A header of a plain data page in Thrift's compact protocol."""
    page = b"".join(b"\x15" + _number(value) for value in (rows, 0, 3, 3)) + b"\0"
    return b"".join(b"\x15" + _number(value) for value in (0, decoded, encoded)) + b"\x2c" + page + b"\0"


def _number(value: int) -> bytes:
    """A zigzag number of 7 bits a byte."""
    value <<= 1
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
