"""Makes the player models that ship with `cbr_mcts`, from games among the bots that ship.

    python tools/make_prior.py                          the shipped files
    python tools/make_prior.py --without loki --out DIR     models that have never seen this bot

Bots of all kinds, in all their styles, meet at tables of 2 to 9 seats. Everybody is a stranger in
each match, under a new name, so that the models learn how much a few hands tell about a player.
Figures of a match against a bot need a model made without it: `mcts?model=file:DIR/prior_X.npz`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from cbr import BadValue
from cbr_arena import Match, Player, play, write_log
from cbr_holdem.table import Game

HERE = Path(__file__).parents[1] / "plugins/cbr_mcts"
#: The bots of each family, a family being what `--without` leaves out.
FAMILIES = {
    "limit": {
        "call": ("call",),
        "random": ("random",),
        "triple": ("triple:*",),
        "ace1": ("ace1",),
        "findler": ("findler",),
        "waterman": ("waterman",),
        "lag": ("lag",),
        "miniloki": ("miniloki?style=tight", "miniloki?style=loose"),
        "loki": (
            "loki?style=tight",
            "loki?style=moderate",
            "loki?style=loose",
            "loki?model=frequencies",
            "honest-river:loki",
        ),
    },
    "nolimit": {
        "call": ("call",),
        "random": ("random?size=*",),
        "triple": ("triple:*?size=*",),
        "ace1": ("ace1?size=*",),
        "findler": ("findler?size=*",),
        "waterman": ("waterman?size=*",),
        "lag": ("lag?size=*",),
        "miniloki": ("miniloki?style=tight;size=*", "miniloki?style=loose;size=*"),
    },
}
SIZES = ("min", "1/2", "1", "2", "all-in")
#: Seats of a table, and the share of matches with them.
SEATS, SHARES = (2, 3, 4, 6, 9), (0.5, 0.1, 0.1, 0.15, 0.15)
SESSION = 200
#: Of the games of the models that ship.
SEED = 77


def lineups(
    betting: str, without: Sequence[str], hands: int, seed: int
) -> Iterator[tuple[list[str], int]]:
    """The bots of each match, and its seed."""
    rng = np.random.default_rng([seed, len(betting)])
    families = {name: bots for name, bots in FAMILIES[betting].items() if name not in without}
    if unknown := set(without) - set(FAMILIES["limit"]):
        raise BadValue(
            f"no bots {', '.join(sorted(unknown))}; there are {', '.join(FAMILIES['limit'])}"
        )
    names = list(families)
    for number in range(hands // SESSION):
        seats = int(rng.choice(SEATS, p=SHARES))
        bots = []
        for _ in range(seats):
            family = families[names[rng.integers(len(names))]]
            spec = family[rng.integers(len(family))].replace(";", "&")
            if ":*" in spec:
                fold, call, more = rng.dirichlet([0.7, 1.5, 1.0]).round(3)
                spec = spec.replace(":*", f":{fold},{call},{more}")
            bots.append(spec.replace("=*", f"={SIZES[rng.integers(len(SIZES))]}"))
        yield bots, seed * 1_000_000 + number


def make(betting: str, without: Sequence[str], hands: int, seed: int, out: Path) -> Path:
    """Play the matches, fit trees to them, and write the model file."""
    texts: list[str] = []
    for number, (bots, of_match) in enumerate(lineups(betting, without, hands, seed)):
        players = [Player(f"{bot} {number}.{seat}", bot) for seat, bot in enumerate(bots)]
        stack = 0 if betting == "limit" or of_match % 2 else 2_000
        match = Match(
            players,
            SESSION,
            Game(betting),
            stack=stack,
            seed=of_match,
            session=SESSION,
            duplicate=False,
            keep_hands=True,
        )
        texts += play(match).hands
    path = out / f"prior_{betting}.npz"
    with tempfile.TemporaryDirectory() as folder:
        log, base = Path(folder) / "games.phhs", Path(folder) / "games.db"
        write_log(texts, log)
        cbr = str(Path(sys.executable).with_name("cbr"))
        subprocess.run([cbr, "build", str(log), "--out", str(base)], check=True)
        fit_and_save(base, betting, path)
    return path


def fit_and_save(base: Path, betting: str, path: Path) -> None:
    """Fit trees to the hands of a casebase, and save them."""
    from cbr import Casebase
    from cbr_opponents import save_model
    from cbr_opponents.learning import fit_trees, observe

    with Casebase.open(base) as opened:
        observed = observe(opened)
    save_model(path, fit_trees(observed), betting, observed.usual)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--without", action="append", default=[], metavar="BOT")
    parser.add_argument("--betting", choices=[*FAMILIES, "both"], default="both")
    parser.add_argument("--hands", type=int, default=15_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for betting in FAMILIES if given.betting == "both" else [given.betting]:
        made = make(betting, given.without, given.hands, given.seed, given.out)
        print(f"wrote {made} ({made.stat().st_size / 1000:,.0f} kB)")


if __name__ == "__main__":
    main()
