"""Packed vectors: embeddings small enough for Redis, compared without a library for numbers.

A number takes one byte, with 128 for zero. What is lost is far below what tells two texts apart,
and the bytes are multiplied bit by bit, all of them at once. The signs of the numbers, one bit
each, find the few vectors that are worth comparing number by number.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import msgspec

_LARGEST: Final = 127
_ZERO: Final = 128
_BYTE: Final = 8
# So many of the nearest by their signs are compared number by number.
_MOST_COMPARED: Final = 16
# What reads as a number of base 2: the sign of each byte, and each of its bits.
_SIGN_OF_BYTE: Final = bytes(ord("1" if byte > _ZERO else "0") for byte in range(256))
_BIT_OF_BYTE: Final = tuple(
    bytes(ord("1" if byte >> bit & 1 else "0") for byte in range(256)) for bit in range(_BYTE)
)


def pack(vector: Sequence[float]) -> bytes:
    """Return a vector in one byte a number; b"" for one without a direction."""
    largest = max(map(abs, vector), default=0.0)
    if not 0.0 < largest < math.inf:
        return b""
    return bytes(round(number / largest * _LARGEST) + _ZERO for number in vector)


def signs_of(packed: bytes) -> bytes:
    """Return the signs of a packed vector, one bit each."""
    if not packed:
        return b""
    bits = int(packed.translate(_SIGN_OF_BYTE), 2)
    return bits.to_bytes((len(packed) + _BYTE - 1) // _BYTE, "little")


@dataclass(frozen=True, slots=True)
class _Measured:
    """A packed vector, prepared for comparisons.

    Attributes:
        bits: for each bit of a byte, from the lowest on, that bit of all bytes, as one number.
        total: the sum of its bytes.
        dimensions: how many there are.
        length: its length.
    """

    bits: tuple[int, ...]
    total: int
    dimensions: int
    length: float

    @classmethod
    def of(cls, packed: bytes) -> "_Measured":
        bits = tuple([int(packed.translate(bit) or b"0", 2) for bit in _BIT_OF_BYTE])
        found = cls(bits, sum(packed), len(packed), 0.0)
        return replace(found, length=math.sqrt(found.dot(found)))

    def cosine(self, other: "_Measured") -> float:
        lengths = self.length * other.length
        return self.dot(other) / lengths if lengths else 0.0

    def dot(self, other: "_Measured") -> int:
        """Return Σ (a - 128)·(b - 128), multiplied out, so that the bytes need no conversion.

        A product is the sum of those of single bits, which are counted for all bytes at once.
        """
        product = sum(
            [
                (one & another).bit_count() << (place + other_place)
                for place, one in enumerate(self.bits)
                for other_place, another in enumerate(other.bits)
            ]
        )
        return product - _ZERO * (self.total + other.total) + self.dimensions * _ZERO * _ZERO


def cosine(one: bytes, other: bytes) -> float:
    """Return the cosine of two packed vectors of the same length; 0 without a direction."""
    return _Measured.of(one).cosine(_Measured.of(other))


class PackedVectors(msgspec.Struct, frozen=True, kw_only=True, array_like=True, dict=True):
    """The vectors of a project's competence records, as they are cached in Redis.

    Attributes:
        model: the model that made them.
        dimensions: how many numbers each has.
        ids: the records' ids.
        digests: for each record, 16 bytes that stand for the text that was embedded.
        vectors: for each record, its packed vector.
        signs: for each record, the signs of its vector.
    """

    model: str
    dimensions: int = 0
    ids: tuple[str, ...] = ()
    digests: bytes = b""
    vectors: bytes = b""
    signs: bytes = b""

    @cached_property
    def compared(self) -> frozenset[str]:
        """The ids of the records that have a vector."""
        return frozenset(self.ids)

    @cached_property
    def by_digest(self) -> Mapping[bytes, bytes]:
        """Return the vectors by the digests of their texts."""
        return {
            self.digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES]: self._vector(place)
            for place in range(len(self.ids))
        }

    def nearest(self, task: bytes) -> dict[str, float]:
        """Return the records nearest to a task's vector, by their ids, with their cosines."""
        if len(task) != self.dimensions:
            return {}
        places: Iterable[int] = range(len(self.ids))
        if len(self.ids) > _MOST_COMPARED:
            asked = int.from_bytes(signs_of(task), "little")
            distances = [(asked ^ signs).bit_count() for signs in self._sign_numbers]
            places = sorted(places, key=distances.__getitem__)[:_MOST_COMPARED]
        measured = _Measured.of(task)
        return {self.ids[place]: measured.cosine(self._measured(place)) for place in places}

    def _measured(self, place: int) -> _Measured:
        if place not in self._seen:
            self._seen[place] = _Measured.of(self._vector(place))
        return self._seen[place]

    @cached_property
    def _seen(self) -> dict[int, _Measured]:
        """The vectors that were compared before."""
        return {}

    @cached_property
    def _sign_numbers(self) -> list[int]:
        size = (self.dimensions + _BYTE - 1) // _BYTE
        return [
            int.from_bytes(self.signs[place * size : (place + 1) * size], "little")
            for place in range(len(self.ids))
        ]

    def _vector(self, place: int) -> bytes:
        return self.vectors[place * self.dimensions : (place + 1) * self.dimensions]


DIGEST_BYTES: Final = 16

_decoder: Any = msgspec.msgpack.Decoder(PackedVectors)
_encoder = msgspec.msgpack.Encoder()


def packed_vectors(model: str, entries: Sequence[tuple[str, bytes, bytes]]) -> PackedVectors:
    """Return vectors together; those of another length than the first one are left out.

    Args:
        model: the model that made them.
        entries: for each record, its id, what stands for its text, and its packed vector.
    """
    dimensions = len(entries[0][2]) if entries else 0
    kept = [entry for entry in entries if entry[2] and len(entry[2]) == dimensions]
    return PackedVectors(
        model=model,
        dimensions=dimensions,
        ids=tuple(name for name, _, _ in kept),
        digests=b"".join(digest for _, digest, _ in kept),
        vectors=b"".join(vector for _, _, vector in kept),
        signs=b"".join(signs_of(vector) for _, _, vector in kept),
    )


def encode_vectors(vectors: PackedVectors) -> bytes:
    """Return vectors as they are cached."""
    return _encoder.encode(vectors)


def decode_vectors(data: bytes) -> PackedVectors:
    """Return vectors from the cache.

    Raises:
        msgspec.DecodeError: they were written by another version.
    """
    found: PackedVectors = _decoder.decode(data)
    return found
