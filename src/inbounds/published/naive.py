"""The leaky one: Laplace noise of the plain scale, truncated to the possible answers and normalised.

What Croft, Sack & Shi 2022 correct (their motivating example, section 3.6).  The factor that makes the truncated law
add up to one depends on the true answer, so two neighbouring answers differ by more than the noise alone tells: beside
a single end the loss is `ln(2 exp(epsilon) - 1)`, nearly twice epsilon where that is small.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, ClassVar

from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.rational import Number, round_up, shown
from inbounds.mechanisms.setting import Setting
from inbounds.mechanisms.truncated_laplace import TruncatedLaplace
from inbounds.privacy.certificate import prove
from inbounds.privacy.claim import Claim, Promise
from inbounds.sampling.entropy import Entropy


class NaiveLaplace(TruncatedLaplace):
    """Laplace noise truncated and normalised at the plain scale, which is not private enough.

    It can be analysed; to release from it, pass `leaky=True`.
    """

    paper: ClassVar[str] = "corrected by Croft et al. 2022"
    title: ClassVar[str] = "naively normalised Laplace"
    pure: ClassVar[bool] = False

    def __init__(
        self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number, *, leaky: bool = False
    ) -> None:
        plain = Promise.of(bounds, sensitivity, epsilon, "standard", 0, False)
        if not isinstance(leaky, bool):
            raise InvalidParameter(f"leaky must be True or False, got {shown(leaky)}; leave it out if in doubt")
        # A hair more than the plain scale: where normalising is harmless, the loss is then below epsilon, and provably.
        scale = math.nextafter(round_up(plain.sensitivity / plain.epsilon), math.inf)
        claim = Claim.of(bounds, sensitivity, epsilon, scale=scale)
        super().__init__(Setting.of_claim(claim, sensitivity, epsilon), claim, prove(claim))
        self._leaky = leaky

    @property
    def leaky(self) -> bool:
        """Whether the caller accepts that releases do not satisfy epsilon."""
        return self._leaky

    @property
    def choices(self) -> dict[str, Any]:
        """`leaky`, if it was accepted."""
        return {"leaky": True} if self._leaky else {}

    def _release_one(self, answer: Any, entropy: Entropy) -> Any:
        self._refuse()
        return super()._release_one(answer, entropy)

    def _release_array(self, answers: Any, entropy: Entropy) -> Any:
        self._refuse()
        return super()._release_array(answers, entropy)

    def _refuse(self) -> None:
        if not self.certificate.holds and not self._leaky:
            raise NotPrivate(
                "normalising at the plain scale does not keep epsilon; use bounded Laplace, or accept the leak "
                f"(leaky) to release anyway. {self.certificate}",
                self.certificate,
            )
