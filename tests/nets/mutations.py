"""Hostile files: structured mutations of valid ones, as strategies of Hypothesis."""

from __future__ import annotations

import datetime
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

NUMBERS = (
    0,
    1,
    2,
    7,
    8,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**63 - 1,
    2**64 - 1,
)
FLOATS = (
    0.0,
    -0.0,
    1e-320,
    5e-5,
    -1.0,
    0.5,
    1e6,
    1.0000001e6,
    1e12,
    1e30,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
)
WORDS = (
    "", "nan", "inf", "-inf", "1e999", "-1", "0", "0x10", "1_000", "9" * 30, "9" * 5000, "1e-400", "true", "None", "\0",
    "\x1b[31m", "'", '"', '"""', "[", "]]", "{", "}", "=", ".", "#", "\\", "\\u0000", "\\ud800", "\u202e", "é",
    "\ufeff", "𝟙", "../..", "~", "~nobody", "/dev/zero", "%s", "{0}", "a" * 300, "[" * 2000, "\n", "\r", "\t", ";",
    "sand nan", "sand 1e308; sand 1e308",
)  # fmt: skip


# Bytes, of whatever format.


@st.composite
def damaged(draw: st.DrawFn, content: bytes, most: int = 4) -> bytes:
    """The bytes of a file after a few faults of discs, lines and hands. Most of them fall where headers are."""
    made = bytearray(content)
    for _ in range(draw(st.integers(1, most))):
        if not made:
            break
        made = bytearray(draw(st.sampled_from(DAMAGES))(draw, made))
    return bytes(made)


def _place(draw: st.DrawFn, made: bytearray) -> int:
    """A place in a file, more often near its beginning or its end."""
    last = len(made) - 1
    near = min(last, 300)
    return draw(st.one_of(st.integers(0, near), st.integers(0, last), st.integers(last - near, last)))


def _flip(draw: st.DrawFn, made: bytearray) -> bytearray:
    made[_place(draw, made)] ^= 1 << draw(st.integers(0, 7))
    return made


def _set(draw: st.DrawFn, made: bytearray) -> bytearray:
    made[_place(draw, made)] = draw(st.integers(0, 255))
    return made


def _number(draw: st.DrawFn, made: bytearray) -> bytearray:
    form = draw(st.sampled_from(("<H", ">H", "<I", ">I", "<Q", ">Q")))
    bits = 8 * struct.calcsize(form)
    number = struct.pack(form, draw(st.sampled_from(NUMBERS)) % 2**bits)
    place = _place(draw, made)
    made[place : place + len(number)] = number
    return made


def _float(draw: st.DrawFn, made: bytearray) -> bytearray:
    with np.errstate(over="ignore"):
        kind = draw(st.sampled_from(("<f2", "<f4", ">f4", "<f8")))
        number = np.array(draw(st.sampled_from(FLOATS))).astype(kind).tobytes()
    place = _place(draw, made)
    made[place : place + len(number)] = number
    return made


def _truncate(draw: st.DrawFn, made: bytearray) -> bytearray:
    return made[: _place(draw, made)]


def _cut(draw: st.DrawFn, made: bytearray) -> bytearray:
    place = _place(draw, made)
    return made[:place] + made[place + draw(st.sampled_from((1, 2, 4, 16, 100))) :]


def _repeat(draw: st.DrawFn, made: bytearray) -> bytearray:
    place = _place(draw, made)
    part = made[place : place + draw(st.sampled_from((1, 4, 16, 100)))]
    return made[:place] + part * draw(st.sampled_from((2, 3, 50))) + made[place + len(part) :]


def _insert(draw: st.DrawFn, made: bytearray) -> bytearray:
    place = _place(draw, made)
    return made[:place] + draw(st.binary(min_size=1, max_size=8)) + made[place:]


DAMAGES: tuple[Callable[[st.DrawFn, bytearray], bytearray], ...] = (
    _flip, _flip, _set, _number, _number, _float, _truncate, _cut, _repeat, _insert,
)  # fmt: skip


# Texts.


@st.composite
def misspelt(draw: st.DrawFn, text: str) -> str:
    """A text in which words are others, or lines are lost, come twice or change places."""
    lines = text.splitlines()
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(("word", "word", "word", "lost", "twice", "swapped", "torn"))):
            case "word":
                words = lines[place].split(" ")
                words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(WORDS) | st.text(max_size=6))
                lines[place] = " ".join(words)
            case "lost" if len(lines) > 1:
                del lines[place]
            case "twice":
                lines.insert(place, lines[place])
            case "swapped":
                other = draw(st.integers(0, len(lines) - 1))
                lines[place], lines[other] = lines[other], lines[place]
            case "torn":
                lines[place] = lines[place][: draw(st.integers(0, len(lines[place])))]
    return draw(st.sampled_from(("\n", "\n", "\n", "\r\n", "\r"))).join(lines)


odd_values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from((*NUMBERS, -1, 2**100, *WORDS, True, False)),
    st.sampled_from(FLOATS),
    st.sampled_from(([], [1.0, 2.0], {}, {"a": 1}, [[["x"]]], datetime.date(2020, 1, 1))),
    st.text(max_size=8),
)


@st.composite
def changed_tree(draw: st.DrawFn, tree: dict[str, Any]) -> dict[str, Any]:
    """What TOML or JSON holds, with other values, without some of them, or with some more."""
    made = {name: dict(value) if isinstance(value, dict) else value for name, value in tree.items()}
    for _ in range(draw(st.integers(1, 3))):
        part = made
        while part and draw(st.integers(0, 3)):
            name = draw(st.sampled_from(sorted(part)))
            if not isinstance(part[name], dict):
                break
            part[name] = dict(part[name])
            part = part[name]
        names = st.sampled_from(sorted(part)) if part else st.just("a")
        match draw(st.sampled_from(("changed", "changed", "changed", "lost", "more"))):
            case "changed":
                name = draw(names)
                old = part.get(name)
                near = st.just(old)
                if isinstance(old, int | float) and not isinstance(old, bool):
                    near = st.sampled_from((-old, old * 2, old / 2, old + 1, float(old), str(old)))
                part[name] = draw(odd_values | near)
            case "lost":
                part.pop(draw(names), None)
            case "more":
                part[draw(st.sampled_from(WORDS) | st.text(max_size=6))] = draw(odd_values)
    return made


# Arrays in NumPy's files.


def npy(array: NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def npy_with(shape: tuple[int, ...], descr: Any, data: bytes, version: int = 1) -> bytes:
    """A file of an array whose header says what it may."""
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


ODD_SHAPES = (
    (), (0,), (8,), (8, 8), (12, 17), (0, 0), (1, 1), (8, 8, 1), (2**31, 2**31), (2**40, 8), (8193, 8), (-1, 8),
    (8, -8), (2**70, 1),
)  # fmt: skip
ODD_TYPES = (
    "<f8", ">f8", "<f4", "<f2", "|u1", "<u8", "|O", "<U5", "|V8", "<c16", "|b1", "<M8[s]", "<f16", "x", [("a", "<f8")],
)  # fmt: skip
odd_npy: st.SearchStrategy[bytes] = st.builds(
    npy_with,
    st.sampled_from(ODD_SHAPES),
    st.sampled_from(ODD_TYPES),
    st.sampled_from((b"", b"\0" * 64, b"\xff" * 4096, bytes(range(256)) * 8)),
    st.sampled_from((1, 2, 3, 9)),
)


def npz(members: list[tuple[str, bytes]], stored: bool = False) -> bytes:
    """An archive; members may have any names, also one twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


@st.composite
def other_array(draw: st.DrawFn, array: NDArray[Any]) -> NDArray[Any]:
    """An array with a bit or a value changed, of another type, or of another shape."""
    made = array.copy()
    kind = draw(st.sampled_from(("bit", "bit", "bit", "value", "value", "type", "shape", "all")))
    if not made.size:
        return made
    if kind == "bit" and made.dtype.kind in "iufU":
        raw = np.ascontiguousarray(made).reshape(-1).view(np.uint8)
        for _ in range(draw(st.integers(1, 4))):
            raw[draw(st.integers(0, raw.size - 1))] ^= 1 << draw(st.integers(0, 7))
        return raw.view(made.dtype).reshape(made.shape)
    with np.errstate(all="ignore"):
        if kind == "value" and made.dtype.kind == "f":
            made.reshape(-1)[draw(st.integers(0, made.size - 1))] = draw(st.sampled_from(FLOATS))
        elif kind == "all" and made.dtype.kind == "f":
            made[...] = draw(st.sampled_from(FLOATS))
        elif kind == "type":
            other = draw(st.sampled_from(("<f8", ">f8", "<f4", "<f2", "|u1", "<i8", "<c8", "|S3", "<U2")))
            try:
                made = made.astype(other)
            except ValueError:
                made = np.zeros(made.shape, other)
        elif kind == "shape":
            made = draw(
                st.sampled_from(
                    (made[..., None], made[:1], made[:0], made.reshape(-1), made.T, np.repeat(made, 2, axis=-1))
                )
                if made.ndim
                else st.just(made.reshape(1, 1))
            )
    return made


@st.composite
def other_archive(draw: st.DrawFn, arrays: Arrays) -> bytes:
    """An archive with arrays that are others, lost, twice, or under odd names; or with bytes that are damaged."""
    members = [(f"{name}.npy", npy(array)) for name, array in arrays.items()]
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(members) - 1))
        name = members[place][0]
        match draw(
            st.sampled_from(("other", "other", "other", "other", "lost", "twice", "name", "header", "damaged", "more"))
        ):
            case "other":
                members[place] = (
                    name,
                    npy(draw(other_array(arrays[name.removesuffix(".npy")])))
                    if name.removesuffix(".npy") in arrays
                    else b"",
                )
            case "lost" if len(members) > 1:
                del members[place]
            case "twice":
                members.append(members[place])
            case "name":
                members[place] = (
                    draw(st.sampled_from(WORDS) | st.text(max_size=8)) + draw(st.sampled_from(("", ".npy"))),
                    members[place][1],
                )
            case "header":
                members[place] = name, draw(odd_npy)
            case "damaged":
                members[place] = name, draw(damaged(members[place][1]))
            case "more":
                members.append(
                    (
                        draw(
                            st.sampled_from(
                                ("a.npy", "loose_x.npy", "loose_.npy", "../a.npy", "meta", "folder/", "rain.npy")
                            )
                        ),
                        draw(odd_npy),
                    )
                )
    try:
        content = npz(members, stored=draw(st.booleans()))
    except (ValueError, IndexError):  # a name that the archive cannot have
        content = npz([(f"{name}.npy", npy(array)) for name, array in arrays.items()][1:])
    return draw(damaged(content, most=2)) if draw(st.integers(0, 4)) == 0 else content


# Images.


def png_chunks(content: bytes) -> list[tuple[bytes, bytes]]:
    """The chunks of a PNG image: type and data."""
    chunks, place = [], 8
    while place < len(content):
        length, name = struct.unpack(">I4s", content[place : place + 8])
        chunks.append((name, content[place + 8 : place + 8 + length]))
        place += 12 + length
    return chunks


def png_of(chunks: list[tuple[bytes, bytes]]) -> bytes:
    """An image of chunks, with the right sums."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


@st.composite
def other_png(draw: st.DrawFn, content: bytes) -> bytes:
    """An image whose chunks say something else, with sums that are right."""
    chunks = png_chunks(content)
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(chunks) - 1))
        name, data = chunks[place]
        match draw(st.sampled_from(("header", "header", "damaged", "lost", "twice", "more", "pixels"))):
            case "header":
                size = st.sampled_from((0, 1, 7, 8, 9, 12, 17, 8192, 8193, 2**31 - 1, 2**32 - 1))
                header = struct.pack(
                    ">IIBBBBB", draw(size), draw(size), draw(st.sampled_from((0, 1, 2, 4, 8, 16, 32))),
                    draw(st.integers(0, 7)), draw(st.integers(0, 1)), draw(st.integers(0, 1)), draw(st.integers(0, 2)),
                )  # fmt: skip
                chunks[0] = b"IHDR", header
            case "damaged" if data:
                chunks[place] = name, draw(damaged(data, most=2))
            case "lost" if len(chunks) > 1:
                del chunks[place]
            case "twice":
                chunks.insert(place, chunks[place])
            case "more":
                more = draw(st.sampled_from((b"PLTE", b"tRNS", b"iCCP", b"zTXt", b"acTL", b"gAMA", b"eXIf", b"abcd")))
                chunks.insert(min(1, len(chunks)), (more, draw(st.binary(max_size=20))))
            case "pixels":
                chunks = [
                    (
                        n,
                        zlib.compress(draw(st.sampled_from((b"", b"\5" * 1000, b"\0" * 100_000))))
                        if n == b"IDAT"
                        else d,
                    )
                    for n, d in chunks
                ]
    return png_of(chunks)
