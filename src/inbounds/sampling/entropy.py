"""The only source of randomness.

`os.urandom` asks the operating system on every call and keeps no state in this process, so forked workers cannot repeat
each other's noise.  Whoever draws takes an `Entropy` as an argument, so that a test can script it; no public function
accepts one.
"""

from __future__ import annotations

import os
from collections.abc import Callable

Entropy = Callable[[int], bytes]
"""A function that returns that many independent, uniformly random bytes."""

system: Entropy = os.urandom
