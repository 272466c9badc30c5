"""Model files: what is saved plays the same, and what is damaged or foreign is refused."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base

from cbr import BadValue, Casebase
from cbr_opponents import (
    PRICE_CLASSES,
    RAISE_SIZES,
    ArrayModel,
    model_maker,
    read_model,
    save_model,
)
from cbr_opponents.array_models import uniform_arrays
from cbr_opponents.learning import fit_trees, observe
from cbr_opponents.model_files import VERSION
from cbr_opponents.opponent_model import described_chances, workspace
from cbr_opponents.testing import check_player_model


@pytest.fixture(scope="module", params=["limit", "nolimit"])
def fitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp(request.param)
    made = limit_base if request.param == "limit" else no_limit_base
    with Casebase.open(made(folder)) as base:
        observed = observe(base)
    arrays = fit_trees(observed, most=8)
    path = folder / "model.npz"
    save_model(path, arrays, request.param, observed.usual)
    return request.param, observed, arrays, path


def rewritten(path: Path, out: Path, **changed: object) -> Path:
    """A copy of a model file with other arrays; None leaves one out."""
    with np.load(path) as found:
        parts = dict(found)
    for name, part in changed.items():
        name = name.replace("__", ".")
        if part is None:
            del parts[name]
        else:
            parts[name] = part(parts[name].copy()) if callable(part) else np.asarray(part)
    np.savez(out, **parts)
    return out


def arrays_in(model: object) -> Iterator[object]:
    """All fields of an array form, those of named tuples inside it too."""
    if isinstance(model, tuple):
        for part in model:
            yield from arrays_in(part)
    else:
        yield model


@pytest.mark.long
class TestSaved:
    def test_it_is_the_same_model(self, fitted) -> None:
        betting, observed, arrays, path = fitted
        saved = read_model(path)
        assert saved.betting == betting
        np.testing.assert_array_equal(saved.usual, observed.usual)
        out = np.empty((2, len(observed), observed.moves))
        for at, one in enumerate((arrays, saved.arrays)):
            args = (observed.place, observed.features, observed.hand_class)
            described_chances(*args, one, workspace(one), out[at])
        np.testing.assert_array_equal(out[0], out[1])
        check_player_model(ArrayModel(saved.arrays), betting=betting)

    def test_a_spec_names_it(self, fitted) -> None:
        _, observed, arrays, path = fitted
        found = model_maker(f"file:{path}")(observed)
        np.testing.assert_array_equal(found.arrays.grid, arrays.grid)
        np.testing.assert_array_equal(found.usual, observed.usual)
        assert model_maker(f"file?path={path}")(observed).arrays.trees.tolist()

    def test_it_is_of_one_game(self, fitted, tmp_path: Path) -> None:
        betting, observed, _, path = fitted
        other = "nolimit" if betting == "limit" else "limit"
        with pytest.raises(BadValue, match="is damaged: "):
            read_model(rewritten(path, tmp_path / "m.npz", betting=np.array(other)))
        save_model(tmp_path / "u.npz", uniform_arrays(2 + len(RAISE_SIZES[other])), other)
        with pytest.raises(BadValue, match=f"a model of {other} hold'em, not of this game"):
            model_maker(f"file:{tmp_path / 'u.npz'}")(observed)

    def test_a_file_of_version_3_has_the_prices_of_then(self, fitted, tmp_path: Path) -> None:
        betting, _, arrays, path = fitted
        old = read_model(rewritten(path, tmp_path / "old.npz", version=np.array(3))).arrays
        for name in ("grid", "average", "support"):
            then = getattr(arrays, name).reshape(4, PRICE_CLASSES, -1)
            now = getattr(old, name).reshape(4, PRICE_CLASSES, -1)
            bounds = [0, 1, 2, 2, 3, 3] if betting == "nolimit" else range(PRICE_CLASSES)
            np.testing.assert_array_equal(now[0], then[0])
            np.testing.assert_array_equal(now[1:], then[1:, list(bounds)])

    def test_a_tilted_one_is_saved_too(self, fitted, tmp_path: Path) -> None:
        from cbr_opponents import Tilt

        betting, _, arrays, _ = fitted
        tilted = arrays.tilted(Tilt("mad", 1.5, 0.3, 0.1))
        save_model(tmp_path / "t.npz", tilted, betting)
        saved = read_model(tmp_path / "t.npz")
        assert saved.usual is None
        assert saved.arrays.calls_raised == tilted.calls_raised
        check_player_model(ArrayModel(saved.arrays), betting=betting)


NAN = float("nan")


def first(value: float):
    def change(part):
        part.flat[0] = value
        return part

    return change


#: What is changed in a file, and what the sentence says.
BAD = [
    ({"format": "something else"}, "no model file"),
    ({"format": None}, "no model file"),
    ({"version": VERSION + 1}, "another version"),
    ({"version": "1"}, "another version"),
    ({"width__seen": 3}, "another version"),
    ({"width__features": None}, "another version"),
    ({"betting": "potlimit"}, "of the game 'potlimit'"),
    ({"betting": 7}, "of the game"),
    ({"grid": None}, "lacks the array 'grid'"),
    ({"grid": lambda g: g.astype(np.float32)}, "grid is float32"),
    ({"grid": lambda g: g[:, :-1]}, "grid is float64"),
    ({"grid": lambda g: g * 2}, "grid has values"),
    ({"grid": first(NAN)}, "grid has values"),
    ({"grid": lambda g: -g}, "grid has values"),
    ({"grid": lambda g: g[..., ::-1]}, "grid has values"),
    ({"average": first(1e-300)}, "average has values"),
    ({"support": first(-1.0)}, "support has values"),
    ({"support": first(float("inf"))}, "support has values"),
    ({"feature": lambda f: f | 255}, "feature has values"),
    ({"leaf": first(NAN)}, "leaf has values"),
    ({"leaf": first(3e38)}, "leaf has values"),
    ({"leaf": lambda x: x[..., :2]}, "leaf is float32"),
    ({"sizes__trees": lambda t: t + 1_000}, "sizes.trees has values"),
    ({"trees": lambda t: t + 10**12}, "trees has values"),
    ({"trees": lambda t: t * 0 - 1}, "trees has values"),
    ({"plain": lambda t: t + 10**6}, "plain has values"),
    ({"public": lambda t: t * 0 - 1}, "public has values"),
    ({"shifted": lambda s: s | 255}, "shifted has values"),
    ({"calls_raised": NAN}, "calls_raised has values"),
    ({"raises_called": 1.5}, "raises_called has values"),
    ({"stranger": lambda s: s[:-1]}, "stranger is uint8"),
    ({"usual": lambda u: u * 0}, "usual has values"),
    ({"usual": first(NAN)}, "usual has values"),
    ({"usual": lambda u: u[::-1].copy()}, "usual has values"),
]


@pytest.mark.long
@pytest.mark.parametrize(("change", "says"), BAD, ids=[says for _, says in BAD])
def test_what_is_refused(fitted, tmp_path: Path, change, says: str) -> None:
    _, _, arrays, path = fitted
    assert arrays.trees.any()
    assert arrays.plain.any()
    with pytest.raises(BadValue, match=re.escape(says)) as error:
        read_model(rewritten(path, tmp_path / "bad.npz", **change))
    assert "\n" not in str(error.value)
    assert "bad.npz" in str(error.value)


def test_trees_of_the_hand_count_where_it_is_known_only(fitted, tmp_path: Path) -> None:
    _, _, arrays, path = fitted
    assert (arrays.plain < arrays.trees).any()
    with pytest.raises(BadValue, match="feature has features of the hand"):
        read_model(rewritten(path, tmp_path / "bad.npz", plain=arrays.trees))


@pytest.mark.long
def test_features_of_hands_stay_where_the_hand_is_known(fitted, tmp_path: Path) -> None:
    from cbr_opponents.decision_features import F_STRENGTH

    path = rewritten(fitted[3], tmp_path / "bad.npz", feature=lambda f: f * 0 + F_STRENGTH)
    with pytest.raises(BadValue, match="features of the hand where it is not known"):
        read_model(path)


class TestFiles:
    def test_what_is_no_model_file(self, tmp_path: Path) -> None:
        bad = {
            "none.npz": None,
            "text.npz": b"hello",
            "empty.npz": b"",
            "zip.npz": _archive({"a.npy": b"xx"}),
            "object.npz": _objects(),
        }
        for name, data in bad.items():
            if data is not None:
                (tmp_path / name).write_bytes(data)
            with pytest.raises(BadValue, match=f"{name}") as error:
                read_model(tmp_path / name)
            assert "\n" not in str(error.value)

    def test_one_that_unpacks_to_more_than_memory(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("grid.npy", b"\0" * (1 << 29) + b"\0")
        assert path.stat().st_size < 1 << 20
        with pytest.raises(BadValue, match="unpack"):
            read_model(path)

    def test_it_appears_when_it_is_complete(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "m.npz"
        save_model(path, uniform_arrays(3), "limit")
        before = path.read_bytes()

        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(np, "savez_compressed", full)
        with pytest.raises(BadValue, match="No space left"):
            save_model(path, uniform_arrays(3), "limit")
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_what_cannot_be_read_is_not_written(self, tmp_path: Path) -> None:
        broken = uniform_arrays(3)
        broken.grid[0, 0, 0, 0] = NAN
        with pytest.raises(BadValue, match="cannot be saved: grid"):
            save_model(tmp_path / "m.npz", broken, "limit")
        with pytest.raises(BadValue, match=r"saved as MODEL.npz"):
            save_model(tmp_path / "m.npy", uniform_arrays(3), "limit")

    def test_every_field_is_saved(self, tmp_path: Path) -> None:
        """Whoever adds a field to the array form has to give it a rule here."""
        save_model(tmp_path / "m.npz", uniform_arrays(3), "limit")
        made, saved = uniform_arrays(3), read_model(tmp_path / "m.npz").arrays
        for one, other in zip(arrays_in(saved), arrays_in(made), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("file", "needs its path: write file:PATH"),
        ("uniform:x", "takes nothing after a colon"),
        ("file:a.npz?path=b.npz", "given twice"),
        ("file:none.npz", "no model file none.npz"),
    ],
)
def test_specs_that_name_no_model(spec: str, says: str) -> None:
    with pytest.raises(BadValue, match=re.escape(says)):
        model_maker(spec)(None)


@pytest.mark.long
def test_the_command_saves_and_uses_one(cbr, tmp_path: Path) -> None:
    base, model = limit_base(tmp_path), tmp_path / "m.npz"
    words = ["predict", base, "--split", "time", "--cards", "0", "--json"]
    answer = cbr(*words, "--model", "frequencies", "--save", model)
    assert answer.code == 0, answer.err
    again = cbr(*words, "--model", f"file:{model}", "--against", "uniform")
    assert again.code == 0, again.err
    assert again.json["all"]["log_loss"] <= answer.json["all"]["log_loss"]
    refused = cbr(*words, "--save", tmp_path / "m.txt")
    assert refused.code != 0
    assert "MODEL.npz" in refused.err


def _archive(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return data.getvalue()


def _objects() -> bytes:
    data = io.BytesIO()
    np.savez(data, format=np.array([object()], object), allow_pickle=True)
    return data.getvalue()
