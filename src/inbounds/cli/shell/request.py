"""A request that may have been charged, and whose answer did not come through: how to repeat it for free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from inbounds.errors import InboundsError


@contextmanager
def remembering(request: str) -> Iterator[None]:
    """Say how to ask again for free, if a question may have been charged and its answer did not come through."""
    try:
        yield
    except (InboundsError, ImportError):  # they say themselves what was charged
        raise
    except BaseException:
        tell_request(request)
        raise


def tell_request(request: str) -> None:
    """Say how to repeat a request for free."""
    with suppress(OSError):  # nobody reads that either
        typer.echo(f"inbounds: if this was charged, repeat it for free with --request-id {request}", err=True)
