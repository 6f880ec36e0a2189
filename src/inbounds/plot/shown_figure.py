"""A figure that a notebook shows by itself: pyplot, which would see to that, is never imported here."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that is drawn where it stands at the end of a cell."""

    def _repr_png_(self) -> bytes:
        drawn = BytesIO()
        self.savefig(drawn, format="png")
        return drawn.getvalue()
