"""Settings of the caller's process that must not decide anything: how NumPy and decimal numbers take exceptions.

Which of them an operation meets depends on the numbers in it, and so on data.  With `np.seterr(all="raise")`, a median
of 1,416 rows would be answered and one of 1,417 would not.  Both settings belong to a thread, and so does the shelter.

Warnings do not: in Python 3.11 filters belong to the whole process, and changing them here would change them for the
caller's other threads.  Sheltered code warns of nothing, so `warnings.simplefilter("error")` makes no difference to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import localcontext

import numpy as np

from inbounds.exact.decimals import PLAIN


@contextmanager
def sheltered() -> Iterator[None]:
    """Compute as in a process where nothing was set; also a decorator."""
    with np.errstate(all="ignore"), localcontext(PLAIN):
        yield
