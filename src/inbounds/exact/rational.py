"""Exact numbers: what a caller passes becomes a fraction, and a fraction a float by a named rounding.

A float is read in one of two ways.  What people write, a step or an epsilon, is the decimal that it prints as
(`as_written`); an answer is the dyadic rational that it is (`exact`).  See docs/decisions/0020-floats-as-written.md.
"""

from __future__ import annotations

import math
import sys
from datetime import timedelta
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

from inbounds.errors import InboundsError, InvalidBounds

if TYPE_CHECKING:
    import numpy as np

Number: TypeAlias = "int | float | Fraction | Decimal | np.integer[Any] | np.floating[Any]"
_KINDS = (int, float, Fraction, Decimal)

# Every double fits, and the digits of every number that fits are within what Python will print.
LIMIT_BITS = 2048
LIMIT = 1 << LIMIT_BITS
# A Decimal of a few bytes can stand for an integer that fills the memory.
_LIMIT_EXPONENT = 10_000

LONG = 1000
"""A denominator above this is hard to read."""

LONGEST_DIGITS = 20
"""A number whose text is longer than this is rounded where people read it."""


def is_number(value: object) -> TypeGuard[Number]:
    """Return whether `value` is of a kind that stands for one real number; NaN and the infinities are such."""
    if isinstance(value, _KINDS):
        return not isinstance(value, bool)
    return _is_numpy_integer(value) or _is_numpy_float(value)


def _is_numpy_integer(value: object) -> TypeGuard[np.integer[Any]]:
    return _is_of_numpy(value, "integer") and not _is_of_numpy(value, "timedelta64")  # which NumPy takes for one


def _is_numpy_float(value: object) -> TypeGuard[np.floating[Any]]:
    return _is_of_numpy(value, "floating")


def _is_of_numpy(value: object, kind: str) -> bool:
    """Return whether a value is of a kind of NumPy: nothing is that, as long as nobody has imported NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind, ()))


def infinity(value: object) -> int:
    """Return 1 for plus infinity, -1 for minus infinity and 0 for anything else."""
    if isinstance(value, Decimal):
        return (-1 if value.is_signed() else 1) if value.is_infinite() else 0
    if isinstance(value, float) or _is_numpy_float(value):
        return int(value == math.inf) - int(value == -math.inf)
    return 0


def finite_ratio(number: Number) -> tuple[int, int] | None:
    """Return `number` as numerator and denominator in lowest terms, None for NaN and the infinities."""
    if not isinstance(number, _KINDS) and _is_numpy_integer(number):
        return int(number), 1
    try:
        return cast("int | float | Fraction | Decimal | np.floating[Any]", number).as_integer_ratio()
    except (ValueError, OverflowError):
        return None


def ratio(
    number: object, name: str, error: type[InboundsError] = InvalidBounds, *, echo: bool = True
) -> tuple[int, int]:
    """Return what `exact` returns, as numerator and denominator in lowest terms."""
    if type(number) is int and -LIMIT < number < LIMIT:
        return number, 1
    is_vast = _is_vast(number)
    quotient = finite_ratio(number) if is_number(number) and not is_vast else None
    if quotient is not None and abs(quotient[0]) < LIMIT * quotient[1] and quotient[1] < LIMIT:
        return quotient
    got = shown(number) if echo else f"a value of type {type(number).__name__}"
    if quotient is None and not is_vast:
        raise error(f"{name} must be a finite number, got {got}; give a number such as 2 or 0.5")
    raise error(f"{name} must take at most {LIMIT_BITS} bits before and after the point, got {got}; round it")


def written_ratio(number: object, name: str, error: type[InboundsError] = InvalidBounds) -> tuple[int, int]:
    """Return what `as_written` returns, as numerator and denominator in lowest terms."""
    if type(number) is float and (quotient := _plain_decimal(number)) is not None:
        return quotient
    return ratio(_as_printed(number), name, error)


def exact(number: object, name: str, error: type[InboundsError] = InvalidBounds, *, echo: bool = True) -> Fraction:
    """Return an answer, or a scale, as the fraction that it is: a float is a dyadic rational, so 0.1 is not 1/10.

    Takes int, float, Fraction, Decimal and the numpy integers and floats. Raises `error`, in a message that calls the
    number `name`, for anything else, for NaN and the infinities, and for what takes more than 2,048 bits before or
    after the point. The message shows the number unless `echo` is false, as it must be for an answer.
    """
    return Fraction(*ratio(number, name, error, echo=echo))


def as_written(number: object, name: str, error: type[InboundsError] = InvalidBounds) -> Fraction:
    """Return a parameter as it was written: a float is the shortest decimal that it prints as, so 0.1 is 1/10.

    Takes and refuses what `exact` does, and always shows the number in the message.
    """
    return Fraction(*written_ratio(number, name, error))


def _plain_decimal(number: float) -> tuple[int, int] | None:
    """Return the ratio of a float that is a whole number or prints without an exponent: most are, and it is quicker."""
    if number.is_integer() and -(2**53) <= number <= 2**53:
        return int(number), 1
    before, point, after = repr(number).partition(".")
    if not point or "e" in after:
        return None
    numerator, denominator = int(before + after), 10 ** len(after)
    shared = math.gcd(numerator, denominator)
    return numerator // shared, denominator // shared


def _as_printed(number: object) -> object:
    """Return a finite float as the decimal that it prints as, anything else as it is."""
    if isinstance(number, float):
        return Decimal(float.__repr__(number)) if math.isfinite(number) else number
    if not _is_numpy_float(number) or not math.isfinite(number):
        return number
    return Decimal(sys.modules["numpy"].format_float_scientific(number))


def _is_vast(number: object) -> bool:
    """Return whether `number` is a Decimal that as a ratio would take absurd memory."""
    exponent = number.as_tuple().exponent if isinstance(number, Decimal) else 0
    return isinstance(exponent, int) and abs(exponent) > _LIMIT_EXPONENT  # of NaN and the infinities it is a letter


def round_nearest(x: Fraction) -> float:
    """Return the double nearest to `x`, a tie to the even one; an infinity beyond the largest doubles."""
    try:
        return x.numerator / x.denominator + 0.0  # the sum turns -0.0 into 0.0
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def round_half_up(x: Fraction) -> int:
    """Return the integer nearest to `x`, the upper one of two.

    Unlike half to even, it never brings two numbers farther apart than `ceil(distance)`.
    """
    return (2 * x.numerator + x.denominator) // (2 * x.denominator)


def round_up(x: Fraction) -> float:
    """Return the smallest double that is at least `x`; `inf` above the largest finite one."""
    nearest = round_nearest(x)
    # Python compares an infinite or finite float to a fraction exactly.
    return math.nextafter(nearest, math.inf) + 0.0 if nearest < x else nearest


def round_down(x: Fraction) -> float:
    """Return the largest double that is at most `x`; `-inf` below the smallest finite one."""
    return -round_up(-x) + 0.0


def is_power_of_two(x: Fraction) -> bool:
    """Return whether `x` is 2**k for an integer k of either sign."""
    return x > 0 and x.numerator & (x.numerator - 1) == 0 and x.denominator & (x.denominator - 1) == 0


def cut(text: str, width: int = 60) -> str:
    """Return `text`, its middle left out when it is longer than a message can bear."""
    return text if len(text) <= width else f"{text[: width - 16]}...{text[-13:]}"


def rounded(number: int | Fraction, digits: int) -> str:
    """Return a number with at most so many digits, and an exponent where it is vast or tiny, also beyond doubles."""
    context = Context(prec=digits, traps=[])
    decimal = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize(context)
    return f"{decimal:f}" if -5 < decimal.adjusted() < digits else f"{decimal:e}"


def has_decimals(denominator: int) -> bool:
    """Return whether fractions with this denominator are decimals: 2 and 5 are its only factors."""
    return 10 ** denominator.bit_length() % denominator == 0


def write_fraction(x: Fraction) -> str:
    """Return a fraction exactly: as a decimal without an exponent if that terminates, else as a quotient."""
    places = _decimal_places(x.denominator)
    if places is None:
        return str(x)
    digits = str(abs(x.numerator) * 10**places // x.denominator).zfill(places + 1)
    sign = "-" if x < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else sign + digits


def _decimal_places(denominator: int) -> int | None:
    """Return how many decimals a fraction in lowest terms with this denominator has, None if without end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def as_decimal(numerator: int, denominator: int) -> Decimal:
    """Return a fraction as a decimal, exactly if it has one."""
    places = numerator.bit_length() // 3 + 1 + denominator.bit_length()
    context = Context(prec=places, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    return context.divide(Decimal(numerator), Decimal(denominator))


def concise(number: int | Fraction) -> str:
    """Return a number exactly if that is short, else with 17 digits: for people, who read no lines of digits."""
    text = str(number)
    return text if len(text) <= LONGEST_DIGITS else rounded(number, 17)


def shown(value: object) -> str:
    """Return `repr(value)`, cut to what a message can bear; a timedelta is so many days, a Decimal as one writes it."""
    if isinstance(value, timedelta):
        return _days(value)
    try:
        if isinstance(value, Decimal):
            return cut(str(value).replace("E+", "e").replace("E", "e"))
        return cut(_fraction(value) if isinstance(value, Fraction) else repr(value))
    except ValueError:  # Python refuses to print integers of thousands of digits
        return f"a vast {type(value).__name__}"


def _fraction(number: Fraction) -> str:
    """Return a fraction as one writes it: a long one as a decimal, if that is the same number."""
    if number.denominator > LONG and number == Fraction(decimal := repr(round_nearest(number))):
        return decimal
    return str(number)


def _days(duration: timedelta) -> str:
    days = duration / timedelta(days=1)
    return f"{days:.12g} day{'' if days == 1 else 's'}"
