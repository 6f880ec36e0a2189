"""All questions to the infirmary that are answered."""

from __future__ import annotations

from tests.helpers.infirmary.asked import Asked
from tests.helpers.infirmary.filtered import FILTERED
from tests.helpers.infirmary.joined import JOINED
from tests.helpers.infirmary.made import MADE
from tests.helpers.infirmary.written import WRITTEN

CORPUS: list[Asked] = [*JOINED, *FILTERED, *MADE, *WRITTEN]
