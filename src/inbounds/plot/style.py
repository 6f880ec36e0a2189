"""What pictures share: colours, and a panel to draw into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
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


def new_figure(width: float = 8, height: float = 5) -> Figure:
    """Return a figure of so many inches, which a notebook shows."""
    matplotlib_or_error()
    from inbounds.plot.shown_figure import ShownFigure  # noqa: PLC0415  which is made of it

    return ShownFigure(figsize=(width, height), dpi=100, layout="constrained")


def panel(axes: Axes | None) -> Axes:
    """Return the axes to draw into: those given, or those of a new figure."""
    matplotlib_or_error()
    return new_figure().add_subplot() if axes is None else axes


def as_written(texts: Iterable[Text]) -> None:
    """Show names of users letter by letter: what stands between two signs of dollar is no formula."""
    for text in texts:
        text.set_parse_math(False)


def format_dates(axes: Axes) -> None:
    """Write days below an axis as shortly as they can be told apart."""
    library = matplotlib_or_error().dates
    locator = library.AutoDateLocator(minticks=2, maxticks=5)  # of at least five, some minutes have none
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(library.ConciseDateFormatter(locator))
