"""The exact trigram trigram_similarity of texts, found without comparing with each text.

A text's trigrams are all rows of three characters in it, in lower case and without
padding; full- and half-width letters are the same. Two texts are as similar as the Jaccard index of
these sets, |A∩B|/|A∪B|.

A project may have a hundred thousand memories, and each new one is compared with all of them. It is
fast because a filter comes first, which may pass too much and never too little. If the similarity
is at least t, then |A∩B| ≥ t/(1+t)·(|A|+|B|), and t·|A| ≤ |B| ≤ |A|/t. Now let each trigram stand
on one of a few hundred planes, by its hash, and let B have a bit on a plane when one of its
trigrams stands there. Then |A∩B| is at most the number of trigrams of A that stand on planes where
B has a bit. The bits of many texts on one plane are one integer, so that those numbers are added up
for all texts at once, in carry-save form: one addition costs a few operations on long integers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import ceil, floor
from zlib import crc32

from ..text.width import one_width

# The maximum number of texts with bits in one block of a plane, and the size of a block in bytes.
BLOCK_BYTES = 16 * 1024
_BLOCK_BITS = BLOCK_BYTES * 8
_PER_DOUBLING = 4
# With 100,000 facts of some ten words each, a handful that are not similar pass the filter.
_PLANES_PER_TRIGRAM = 4
_FEWEST_PLANES = 64
_MOST_PLANES = _BLOCK_BITS // 8
# Bounds are computed in floats; a text that lies on one must pass.
_SLACK = 1e-9


def trigrams(text: str) -> frozenset[str]:
    """Return all rows of three characters, in one width and lower case, without padding."""
    text = one_width(text).lower()
    return frozenset(text[i : i + 3] for i in range(len(text) - 2))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """|A∩B|/|A∪B|; 1 when both are empty."""
    if not a and not b:
        return 1.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def trigram_similarity(a: str, b: str) -> float:
    """Return the Jaccard index of two texts' trigrams."""
    return jaccard(trigrams(a), trigrams(b))


def size_class(size: int) -> int:
    """Return the class of a set: one for each size below 4, then four for each doubling."""
    if size < _PER_DOUBLING:
        return size
    doublings = size.bit_length() - 1 - 2
    return _PER_DOUBLING * doublings + (size >> doublings)


def smallest_in(kind: int) -> int:
    """Return the smallest size of a class."""
    if kind < _PER_DOUBLING:
        return kind
    doublings = kind // _PER_DOUBLING - 1
    return (kind - _PER_DOUBLING * doublings) << doublings


def classes_within(size: int, threshold: float) -> range:
    """Return the classes of the sets that may be similar enough to a set of this size."""
    smallest = ceil(threshold * size - _SLACK)
    largest = floor(size / threshold + _SLACK)
    return range(size_class(smallest), size_class(largest) + 1)


def planes_in(kind: int) -> int:
    """Return the number of planes that the texts of a class are spread over."""
    return min(_MOST_PLANES, max(_FEWEST_PLANES, _PLANES_PER_TRIGRAM * smallest_in(kind)))


def slots_in(kind: int) -> int:
    """Return the number of texts of a class that fit into one block, a multiple of eight."""
    return _BLOCK_BITS // planes_in(kind) // 8 * 8


@lru_cache(maxsize=65_536)
def _hash(trigram: str) -> int:
    return crc32(trigram.encode("utf-8", "surrogatepass"))


def _planes_of(grams: Iterable[str], kind: int) -> Counter[int]:
    planes = planes_in(kind)
    return Counter(_hash(gram) % planes for gram in grams)


def marked(block: bytes, grams: frozenset[str], slot: int) -> bytes:
    """Return the block with a text's bits in one of its slots; b"" is an empty block."""
    return _changed(block, grams, slot, lambda byte, bit: byte | bit)


def cleared(block: bytes, grams: frozenset[str], slot: int) -> bytes:
    """Return the block without a text's bits in its slot."""
    return _changed(block, grams, slot, lambda byte, bit: byte & ~bit)


def _changed(
    block: bytes, grams: frozenset[str], slot: int, change: Callable[[int, int], int]
) -> bytes:
    kind = size_class(len(grams))
    width = slots_in(kind) // 8
    planes = bytearray(block or bytes(BLOCK_BYTES))
    for plane in _planes_of(grams, kind):
        at = plane * width + slot // 8
        planes[at] = change(planes[at], 1 << slot % 8)
    return bytes(planes)


def possibly_similar(
    blocks: Sequence[bytes], kind: int, grams: frozenset[str], threshold: float
) -> list[int]:
    """Return the positions of texts that may be similar enough: all that are, and some others.

    Args:
        blocks: all blocks of one class.
        kind: the class of the blocks.
        grams: the trigrams of the text to compare with those in the blocks, at least one.
        threshold: the minimum trigram_similarity, above 0.

    Returns:
        Positions: block · slots + slot, ascending.
    """
    if not blocks:
        return []
    needed = threshold / (1 + threshold) * (len(grams) + smallest_in(kind))
    needed = max(1, ceil(needed - _SLACK))
    if needed > len(grams):
        return []
    width = slots_in(kind) // 8
    everywhere = (1 << len(blocks) * width * 8) - 1
    # Each text's count begins so far below a power of two that it gets there when it is enough.
    height = len(grams).bit_length()
    start = (1 << height) - needed
    counts = [everywhere if start >> level & 1 else 0 for level in range(height)]
    enough = 0
    for plane, weight in _planes_of(grams, kind).items():
        begin = plane * width
        bits = int.from_bytes(b"".join([each[begin : begin + width] for each in blocks]), "little")
        for _ in range(weight):
            carry = bits
            for level in range(height):
                counts[level], carry = counts[level] ^ carry, counts[level] & carry
                if not carry:
                    break
            enough |= carry
    return _positions(enough)


def _positions(bits: int) -> list[int]:
    found = []
    for index, byte in enumerate(bits.to_bytes((bits.bit_length() + 7) // 8, "little")):
        while byte:
            low = byte & -byte
            found.append(index * 8 + low.bit_length() - 1)
            byte ^= low
    return found
