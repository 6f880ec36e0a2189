"""One exact draw of a whole number, all alike."""

from __future__ import annotations

from inbounds.sampling.entropy import Entropy


def below(count: int, entropy: Entropy) -> int:
    """Return each of the whole numbers from 0 to `count - 1` with probability exactly `1 / count`.

    As many bits as `count` has are drawn until they are less: how often says something of `count` and of the bits, and
    nothing of the answer, as long as `count` does not depend on it.
    """
    bits = (count - 1).bit_length()
    size = -(-bits // 8)
    while (word := int.from_bytes(entropy(size)) >> (8 * size - bits)) >= count:
        pass
    return word
