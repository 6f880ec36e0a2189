"""What pictures share: colours, and a panel to draw into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Of Okabe and Ito, for readers who see colours differently; lines differ in style and width too."""

GREY, SHADE, BAND = "0.35", "0.9", "#D6E8F3"


def matplotlib_or_error() -> Any:
    """Return matplotlib, which only pictures need."""
    try:
        import matplotlib as library  # noqa: PLC0415  only whoever draws needs it
        import matplotlib.collections  # noqa: PLC0415
        import matplotlib.dates  # noqa: PLC0415
        import matplotlib.figure  # noqa: PLC0415
        import matplotlib.ticker  # noqa: PLC0415
        import matplotlib.transforms  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError("pictures need matplotlib; install it with: pip install 'inbounds[plot]'") from missing
    return library


def panel(axes: Axes | None) -> Axes:
    """Return the axes to draw into: those given, or those of a new figure."""
    library = matplotlib_or_error()
    if axes is not None:
        return axes
    return library.figure.Figure(figsize=(8, 5), dpi=100, layout="constrained").add_subplot()


def as_written(texts: Iterable[Text]) -> None:
    """Show names of users letter by letter: what stands between two signs of dollar is no formula."""
    for text in texts:
        text.set_parse_math(False)
