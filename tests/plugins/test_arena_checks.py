"""The check for authors of bots finds what it is for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cbr_arena.testing import check_bot

#: A bot, and what is wrong with it.
BROKEN = {
    "return 'x'": "action",
    "raise ValueError('lost count')": "lost count",
    "self.n = getattr(self, 'n', 0) + 1; return 'c' if self.n % 7 else 'r'": "acts otherwise",
}


def made(tmp_path: Path, monkeypatch, body: str) -> Any:
    name = f"broken_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(
        "from cbr_arena import bot\n\n\n@bot('broken')\nclass Broken:\n"
        f"    def act(self, view):\n        {body}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return __import__(name).Broken


@pytest.mark.parametrize("body", BROKEN)
def test_a_broken_bot_is_found(tmp_path: Path, monkeypatch, body: str) -> None:
    with pytest.raises(AssertionError, match=BROKEN[body]):
        check_bot(made(tmp_path, monkeypatch, body), hands=24)


def test_a_class_without_its_mark_is_no_bot() -> None:
    with pytest.raises(AssertionError, match="mark the class int with"):
        check_bot(int)
