"""What is in each column of a table: its kind, its range or values, and what is missing.

One pass over the rows. Of each column the distinct texts are kept up to a bound, and the numbers up
to another, from which a range without a few extreme values is found.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cbr.checks import MOST_VALUES
from cbr.tables.cells import NO_NUMBER, date_forms, is_missing, number_in, unit_of

#: The most distinct texts of a column that are counted, and numbers that are kept.
_TEXTS, _NUMBERS = 10_000, 500_000
#: Kinds of columns; those in the second row are kept but not compared.
NUMBER, CATEGORY, ORDERED, BOOLEAN = "number", "category", "ordered", "boolean"
DATE, IDENTIFIER, TEXT, CONSTANT, EMPTY = "date", "identifier", "text", "constant", "empty"

_BOOLEANS = [
    set(pair.split("/"))
    for pair in (
        *("true/false", "t/f", "yes/no", "y/n", "on/off", "wahr/falsch", "ja/nein", "j/n"),
        *("vrai/faux", "oui/non", "o/n", "verdadero/falso", "sí/no", "si/no", "s/n", "vero/falso"),
        *("sì/no", "verdadeiro/falso", "sim/não", "waar/onwaar", "ja/nee", "sant/falskt", "ja/nej"),
        *("prawda/fałsz", "tak/nie", "kyllä/ei", "ano/ne", "да/нет", "истина/ложь", "是/否"),
    )
]
_SCALES = [
    scale.split("/")
    for scale in (
        "very low/low/medium/high/very high",
        "low/mid/high",
        "low/moderate/high",
        "low/normal/high",
        "low/average/high",
        "xxs/xs/s/m/l/xl/xxl/xxxl",
        "small/medium/large/extra large",
        "very small/small/medium/large/very large",
        "never/rarely/sometimes/often/always",
        "never/seldom/sometimes/often/always",
        "terrible/bad/poor/fair/average/good/very good/excellent",
        "none/mild/moderate/severe",
        "none/few/some/many",
        "strongly disagree/disagree/neutral/agree/strongly agree",
        "cold/cool/mild/warm/hot",
        "fair/good/very good/premium/ideal",
        "first/second/third/fourth/fifth",
        "monday/tuesday/wednesday/thursday/friday/saturday/sunday",
        "mon/tue/wed/thu/thur/fri/sat/sun",
        "january/february/march/april/may/june/july/august/september/october/november/december",
        "jan/feb/mar/apr/may/jun/jul/aug/sep/oct/nov/dec",
    )
]
_LEADING = re.compile(r"[<>=≤≥~ $€£+]{0,3}(\d+(?:\.\d+)?)")
_NAMED_AS_ID = re.compile(
    r"(^|[\s_\-.])(id|ids|uuid|guid|key|index|rownames?|no|nr)$|^unnamed|^#$|Id$|ID$"
)


@dataclass
class Column:
    """What is known of one column. `label` is its name in the table; `first` that of the first."""

    label: str
    rows: int = 0
    first: bool = False
    missing: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    many: bool = False
    numbers: array[float] = field(default_factory=lambda: array("d"))
    low: float = float("inf")
    high: float = float("-inf")
    not_numbers: Counter[str] = field(default_factory=Counter)
    whole: bool = True
    padded: bool = False
    rising: bool = True
    units: set[str] = field(default_factory=set)
    dates: dict[str, int] = field(default_factory=dict)
    no_dates: bool = False
    longest: int = 0
    order: tuple[str, ...] = ()

    def see(self, cell: Any) -> None:
        """Count one cell."""
        self.rows += 1
        if is_missing(cell):
            self.missing[str(cell or "").strip()] += 1
            return
        text = str(cell)
        if not self.many:
            self.texts[text] += 1
            self.many = len(self.texts) > _TEXTS
        self.longest = max(self.longest, len(text))
        number = number_in(cell)
        if number is None:
            if len(self.not_numbers) <= _TEXTS:
                self.not_numbers[text] += 1
            self._see_date(text)
            return
        self.no_dates = True
        self._see_number(number, text, cell)

    def _see_number(self, number: float, text: str, cell: Any) -> None:
        self.rising = self.rising and (not self.numbers or number == self.numbers[-1] + 1)
        if len(self.numbers) < _NUMBERS:
            self.numbers.append(number)
        self.low, self.high = min(self.low, number), max(self.high, number)
        self.whole = self.whole and number.is_integer()
        if isinstance(cell, str):
            digits = text.lstrip("+-")
            self.padded = self.padded or (digits[:1] == "0" and digits[1:2].isdigit())
            if len(self.units) < 3:
                plain = text[-1].isdigit() and (text[0].isdigit() or text[0] in "+-.")
                self.units.add("" if plain else unit_of(text))

    def _see_date(self, text: str) -> None:
        if self.no_dates:
            return
        forms = date_forms(text)
        if not forms:
            self.no_dates = True
        for form in forms:
            self.dates[form] = self.dates.get(form, 0) + 1

    # --- what it is -----------------------------------------------------------------------------

    @property
    def known(self) -> int:
        """How many cells hold something."""
        return self.rows - self.missing.total()

    @property
    def distinct(self) -> int:
        """How many different values there are, as far as they were counted."""
        return len(self.texts)

    @property
    def odd(self) -> dict[str, int]:
        """Words of a column of numbers that stand for a missing number."""
        return {t: n for t, n in self.not_numbers.items() if t.strip().lower() in NO_NUMBER}

    @property
    def is_number(self) -> bool:
        """Whether all that is known are numbers, of one unit and none written as a code (007)."""
        one_unit = len(self.units - {""}) < 2
        return (
            len(self.numbers) > 0
            and len(self.odd) == len(self.not_numbers)
            and one_unit
            and not self.padded
        )

    @property
    def kind(self) -> str:
        """One of the kinds above."""
        if not self.known:
            return EMPTY
        if self.distinct == 1:
            return CONSTANT
        if self.order:
            return ORDERED
        if self.is_number:
            return IDENTIFIER if self._numbers_rows else NUMBER
        if not self.no_dates and self.dates:
            return DATE
        if self._is_boolean:
            return BOOLEAN
        if self._few:
            return ORDERED if self.scale else CATEGORY
        if self.distinct == self.known and self.longest <= 40 and self._one_word:
            return IDENTIFIER
        return TEXT

    @property
    def _is_boolean(self) -> bool:
        return len(self.texts) < 10 and {t.strip().lower() for t in self.texts} in _BOOLEANS

    @property
    def _numbers_rows(self) -> bool:
        """Whether these numbers only name the rows."""
        if not self.whole or self.distinct < self.known or self.known < 3:
            return False
        if self.units - {""}:
            return False
        named = bool(_NAMED_AS_ID.search(self.label))
        return named or (self.first and self.rising and self.known > 10)

    @property
    def _few(self) -> bool:
        """Whether the texts repeat enough to be categories: in a short table, some of few words."""
        if self.many or self.distinct > MOST_VALUES:
            return False
        if self.distinct < self.known <= 40 and self.longest <= 20 and self._one_word:
            return True
        return self.distinct <= max(2, min(self.known // 2, 20 + self.known // 20))

    @property
    def _one_word(self) -> bool:
        return not any(" " in text for text in self.texts)

    @property
    def spellings(self) -> dict[str, str]:
        """The texts that are the same word as a more frequent one, but for capital letters: Yes and
        YES beside yes. Other mixtures of letters, such as Aa and aA, are left as they are."""
        by_word: dict[str, list[str]] = {}
        for text, _ in self.texts.most_common():
            lower = text.lower()
            if text in {lower, text.upper(), lower.capitalize(), lower.title()}:
                by_word.setdefault(lower, []).append(text)
        enough = 1 if self._is_boolean else 3
        return {
            other: first
            for word, (first, *others) in by_word.items()
            for other in others
            if len(word) >= enough
        }

    @property
    def values(self) -> tuple[str, ...]:
        """The texts of a category in their order; of unordered ones, by name."""
        return self.order or self.scale or tuple(sorted(self.texts.keys() - self.spellings.keys()))

    @property
    def scale(self) -> tuple[str, ...]:
        """The texts in their order, if they are words of a scale or begin with numbers."""
        if self.padded:  # codes, such as 01234
            return ()
        texts = self.texts.keys() - self.spellings.keys()
        lower = {text.strip().lower(): text for text in texts}
        if len(lower) < len(texts) or len(lower) < 2:
            return ()
        for scale in _SCALES:
            if lower.keys() <= set(scale) and len(lower) > 2 - (len(scale) == 3):
                return tuple(lower[word] for word in scale if word in lower)
        return _by_number(sorted(texts))

    @property
    def loses_digits(self) -> bool:
        """Whether numbers that differ are equal with 32 bits."""
        import numpy as np

        numbers = np.unique(np.frombuffer(self.numbers, np.float64))
        return len(np.unique(numbers.astype(np.float32))) < 0.99 * len(numbers)

    def span(self) -> tuple[float, float]:
        """A range that holds all but a few extreme numbers."""
        import numpy as np

        numbers = np.frombuffer(self.numbers, np.float64)
        return robust_range(numbers, self.low, self.high)


def robust_range(numbers: Any, low: float, high: float) -> tuple[float, float]:
    """The range of numbers, from the lowest to the highest; where a few are far from all others, so
    that they would leave no scale for these, without them."""
    import numpy as np

    first, third = np.percentile(numbers, [25, 75])
    reach = 6.0 * (third - first)
    if reach > 0:
        inside = numbers[(numbers >= first - reach) & (numbers <= third + reach)]
        if len(inside) and inside.min() < inside.max():
            low, high = float(inside.min()), float(inside.max())
    return (low, high) if low < high else (low, low + 1.0)


def _by_number(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts that differ in a number at their beginning, such as 20-29 and 30-39, in its order."""
    keys = []
    for text in texts:
        found = _LEADING.match(text)
        if found is None:
            return ()
        side = (">" in text or "≥" in text or "+" in text) - ("<" in text or "≤" in text)
        keys.append((float(found[1]), side))
    words = {re.sub(r"[^a-z]", "", text.lower()) for text in texts}
    if len(set(keys)) < len(texts) or len(words) > 1:
        return ()
    return tuple(text for _, text in sorted(zip(keys, texts, strict=True)))


def columns_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Column]:
    """Each column of some rows, by its label, in the order of the table."""
    found: dict[str, Column] = {}
    for count, row in enumerate(rows):
        for label, cell in row.items():
            column = found.get(label)
            if column is None:  # rows of JSON may lack a column that others have
                column = found[label] = Column(label, count, first=not found)
                column.missing[""] += count
            column.see(cell)
        if len(row) < len(found):
            for label in found.keys() - row.keys():
                found[label].see("")
    return found
