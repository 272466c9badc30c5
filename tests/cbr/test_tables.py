"""Tables as people have them: read in their dialect, described, and built without a plugin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cbr import BadValue, CbrError, build, describe
from cbr.building.from_tables import look_at, proposal_of
from cbr.cli import main
from cbr.store import Casebase
from cbr.tables import read_description, read_rows
from cbr.tables.columns import columns_of

CLASSES = ["red", "blue"]


def table(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_text(text, encoding)
    return path


def rows_like(path: Path, header: str, form, count: int = 30, encoding: str = "utf-8") -> Path:
    lines = [header, *(form(i) for i in range(count))]
    return table(path, "\n".join(lines) + "\n", encoding)


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    def row(i: int) -> str:
        return f"{4 + i % 7 / 10},{i % 5},{('small', 'large', 'medium')[i % 3]},{CLASSES[i % 2]}"

    return rows_like(tmp_path / "flowers.csv", "Leaf Length (cm),spots,Size,colour", row)


def test_a_table_becomes_a_casebase_with_its_own_names(flowers: Path) -> None:
    with build(flowers, flowers.with_suffix(".db"), solution="colour") as base:
        case_type = base.case_types[0]
        assert [(f.name, f.label, f.unit) for f in case_type.features] == [
            ("leaf_length", "Leaf Length (cm)", "cm"),
            ("spots", "", ""),
            ("size", "Size", ""),
        ]
        assert case_type.feature("Leaf length (CM)").range == (4.0, 4.6)
        assert case_type.feature("size").similarity == "ordered"
        assert case_type.feature("size").values == ("small", "medium", "large")
        assert (case_type.name, case_type.solution_label) == ("flowers", "colour")
        assert case_type.solutions == ("blue", "red")
        assert len(base) == 30
        answer = base.nearest({"LEAF LENGTH (cm)": "4.2", "Size": "large"}, k=4)
        assert answer.target == {"leaf_length": 4.2, "size": "large"}


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("comma.csv", "x,y\n1.5,a\n", {"x": "1.5", "y": "a"}),
        ("german.csv", "x;y\n1.234,5;a\n3,5;b,c\n", {"x": "1234.5", "y": "a"}),
        ("bars.csv", "x|y\n1|a\n", {"x": "1", "y": "a"}),
        ("tabs.tsv", "x\ty\n1,5\ta\n2,5\tb\n", {"x": "1.5", "y": "a"}),
        ("quoted.csv", 'x,y\n"1,5","a, b"\n', {"x": "1.5", "y": "a, b"}),
        ("decimal.csv", 'x,y\n"1,5","a"\n', {"x": "1.5", "y": "a"}),
        ("lines.jsonl", '{"x": 1.5, "y": {"z": [1]}}\n', {"x": 1.5, "y": '{"z": [1]}'}),
    ],
)
def test_delimiter_and_decimal_mark_are_detected(
    tmp_path: Path, name: str, content: str, values: dict
) -> None:
    first = next(read_rows(table(tmp_path / name, content)))
    assert first.cells == values


def test_text_that_is_not_utf8_is_read_and_said(tmp_path: Path) -> None:
    lines = [f"{i};{'Köln' if i % 2 else 'Ürgel'};{CLASSES[i % 2]}\n" for i in range(20)]
    path = tmp_path / "towns.csv"
    encoded = [line.encode("cp1252" if i % 4 else "utf-8") for i, line in enumerate(lines)]
    path.write_bytes(b"size;town;colour\n" + b"".join(encoded))
    look = look_at([path])
    assert set(look.columns["town"].texts) == {"Köln", "Ürgel"}
    assert "not all UTF-8" in look.notes[0]
    assert "semicolon" in look.notes[1]
    with build(path, tmp_path / "towns.db", solution="colour") as base:
        assert {case.values["town"] for case in base} == {"Köln", "Ürgel"}


def test_parquet_excel_and_utf16_are_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    import pyarrow
    import pyarrow.parquet as parquet

    columns = {"x": [1.5, None, 2.0], "y": ["a", "b", None], "flag": [True, False, True]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    book = openpyxl.Workbook()
    for row in (list(columns), *zip(*columns.values(), strict=True)):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    wide = table(tmp_path / "t.csv", "x,y,flag\n1.5,a,true\n,b,false\n2.0,,true\n", "utf-16")
    found = [[r.cells for r in read_rows(tmp_path / n)] for n in ("t.parquet", "t.xlsx")]
    assert found[0] == found[1]
    assert found[0][:2] == [
        {"x": 1.5, "y": "a", "flag": "true"},
        {"x": "", "y": "b", "flag": "false"},
    ]
    assert next(read_rows(wide)).cells == {"x": "1.5", "y": "a", "flag": "true"}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1.5, 2.5, 3.5, ""], "number"),
        (["$1,200.50", "$7.00", "?"], "number"),
        (["12 kg", "7 kg", "8 kg"], "number"),
        (["12 kg", "7 g", "8 kg", "12 kg"] * 3, "category"),
        (["yes", "no", "yes"], "boolean"),
        (["low", "high", "medium"] * 4, "ordered"),
        (["20-29", "30-39", "<20", "20-29"] * 4, "ordered"),
        (["class_2", "class_1"] * 9, "category"),
        (["01234", "01235", "01234", "01235"] * 3, "category"),
        (["2024-01-31", "2024-02-01"], "date"),
        (["31.01.2024", "2024-02-01"], "date"),
        ([f"key{i}" for i in range(30)], "identifier"),
        ([f"a long text {i}" for i in range(30)], "text"),
        ([7, 7, 7], "constant"),
        (["", None, "NA"], "empty"),
    ],
)
def test_what_is_in_a_column(cells: list, kind: str) -> None:
    [column] = columns_of({"x": cell} for cell in cells).values()
    assert column.kind == kind


def test_columns_that_number_the_rows_are_not_compared(tmp_path: Path) -> None:
    path = rows_like(
        tmp_path / "t.csv", ",customer_id,x,c", lambda i: f"{i},{91 - i},{i % 7},{CLASSES[i % 2]}"
    )
    found = proposal_of(look_at([path]), "c")
    assert [f.name for f in found.case_type.indexed] == ["x"]
    assert [f.name for f in found.case_type.features] == ["unnamed_column_1", "customer_id", "x"]
    assert any("names the rows" in note for note in found.notes)


def test_a_few_extreme_numbers_do_not_make_the_scale() -> None:
    [column] = columns_of({"x": x} for x in [*range(100), 10**9]).values()
    assert column.span() == (0.0, 99.0)
    assert column.high == 10**9


def test_missing_cells_are_kept_as_missing(tmp_path: Path) -> None:
    path = rows_like(
        tmp_path / "t.csv",
        "age,sex,c",
        lambda i: f"{'?' if i % 5 == 0 else i % 9},{('m', 'f', 'NA')[i % 3]},{CLASSES[i % 2]}",
    )
    with build(path, tmp_path / "t.db", solution="c") as base:
        assert base.case_type("t").feature("sex").values == ("f", "m")
        assert base[0].values == {"sex": "m"}
        assert base[2].values == {"age": 2.0}
        assert len(base) == 30


def test_rows_of_json_may_lack_columns(tmp_path: Path) -> None:
    lines = [
        {"x": i % 4, "c": CLASSES[i % 2]} | ({"y": i, "z": "t"} if i % 3 else {}) for i in range(12)
    ]
    path = table(tmp_path / "t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    with build(path, tmp_path / "t.db", solution="c") as base:
        assert base[0].values == {"x": 0.0, "z": ""}
        assert base.case_type("t").feature("y").is_number


def test_numbers_are_solutions_if_they_are_amounts(tmp_path: Path) -> None:
    path = rows_like(
        tmp_path / "t.csv", "x,stars,Price (EUR)", lambda i: f"{i % 7},{i % 5 + 1},{i * 1.5}", 40
    )
    with build(path, tmp_path / "price.db", solution="price") as base:
        assert base.case_types[0].solution.unit == "EUR"
        assert base[1].solution == 1.5
        assert len(base.predict({"x": [1, 2]})) == 2
    with build(path, tmp_path / "stars.db", solution="stars") as base:
        assert base.case_types[0].solutions == ("1", "2", "3", "4", "5")


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_description_is_written_edited_and_built_by(flowers: Path, suffix: str) -> None:
    file = flowers.with_suffix(f".{suffix}")
    describe(flowers, "colour", out=file)
    fields, _ = read_description(file)
    assert [f.label for f in fields["features"]] == ["Leaf Length (cm)", "", "Size"]
    text = file.read_text("utf-8")
    assert '"small",' in text
    edited = text.replace("4.6", "5.6").replace("top?k=10", "top?k=3")
    file.write_text(edited, "utf-8")
    with build(flowers, flowers.with_suffix(".db"), case_type=file) as base:
        assert base.case_types[0].features[0].range == (4.0, 5.6)
        assert base.case_types[0].retrieval == "top?k=3"
        assert base.case_types[0].solutions == ("blue", "red")


def test_a_description_without_solution_takes_it_from_the_command(flowers: Path) -> None:
    file = flowers.with_suffix(".toml")
    describe(flowers, out=file)
    with pytest.raises(BadValue, match="names no solution"):
        build(flowers, flowers.with_suffix(".db"), case_type=file)
    with build(flowers, flowers.with_suffix(".db"), case_type=file, solution="Size") as base:
        assert base.case_types[0].solutions == ("small", "medium", "large")
        assert [f.name for f in base.case_types[0].features] == ["leaf_length", "spots", "colour"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("wight = 2", "no field of feature 'x' named 'wight'; did you mean 'weight'"),
        ("range = [5, 1]", "range of 'x' must be two finite numbers"),
        ("similarity = 3", "similarity of feature 'x' is 3; it must be a text"),
        ("= 3", "is not TOML"),
    ],
)
def test_a_wrong_description_is_told_in_one_sentence(
    tmp_path: Path, flowers: Path, line: str, said: str
) -> None:
    file = table(tmp_path / "d.toml", f'solution = "colour"\n[features.x]\n{line}\n')
    with pytest.raises(BadValue, match=said.replace("[", r"\[")) as raised:
        build(flowers, tmp_path / "x.db", case_type=file)
    assert str(file) in str(raised.value)
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "has no rows"),
        ("x,c\n", "has no rows"),
        ("x,c\n1,a\n", "has one row; there must be two or more"),
        ("c\na\nb\n", "has one column, 'c'"),
        ("x,c\n1,a\n2,a\n", "column 'c' of .* is 'a' in all rows"),
        ("x,c\n1,\n2,\n", "column 'c' of .* is empty"),
        ("x,c\n5,a\n5,b\n", "no column to compare by beside 'c' .*'x': it is the same in all rows"),
        ("x,x,c\n1,2,a\n3,4,b\n", "column 'x' appears twice; rename one"),
        ("1.5,c\n1,a\n2,b\n", "no column for --solution named"),
        (
            "x,c\n" + "".join(f"{i % 9},n{i}\n" for i in range(50)),
            "names the rows and is no solution",
        ),
        (
            ",".join(f"c{i}" for i in range(1100))
            + ",c\n"
            + "\n".join(f"{i}.5," * 1100 + "ab"[i % 2] for i in range(3)),
            "has 1,100 columns to compare by, and 1,000 are the most",
        ),
    ],
)
def test_a_table_that_cannot_be_used_is_told_in_one_sentence(
    tmp_path: Path, content: str, said: str
) -> None:
    path = table(tmp_path / "t.csv", content)
    solution = "d" if content.startswith("1.5") else "c"
    with pytest.raises(CbrError, match=said):
        build(path, tmp_path / "t.db", solution=solution)
    assert not (tmp_path / "t.db").exists()


def test_names_of_columns_that_are_numbers_are_no_names(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "5.1,3.5\n4.9,3.0\n4.7,3.2\n")
    with pytest.raises(BadValue, match="begins with a row of numbers"):
        build(path, tmp_path / "t.db", solution="3.5")


def test_build_without_a_solution_names_the_next_step(flowers: Path, capsys) -> None:
    with pytest.raises(SystemExit) as left:
        main(["build", str(flowers)])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert f"cbr build {flowers} --solution colour (or Size," in said
    assert not flowers.with_suffix(".db").exists()


def test_two_commands_from_a_table_to_an_answer(flowers: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(flowers.parent)
    with pytest.raises(SystemExit) as left:
        main(["build", "flowers.csv", "--solution", "colour"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    [command] = [line for line in shown.splitlines() if line.startswith("Ask it: cbr ")]
    with pytest.raises(SystemExit) as left:
        main(command.removeprefix("Ask it: cbr ").split())
    assert left.value.code == 0
    assert "Retrieved 10 cases" in capsys.readouterr().out


def test_new_rows_of_a_table_are_added_later(flowers: Path) -> None:
    out = flowers.with_suffix(".db")
    build(flowers, out, solution="colour").close()
    table(flowers, flowers.read_text() + "4.9,9,huge,red\n4.1,2,small,blue\n")
    with build(flowers, out) as base:
        assert (base.report.records, len(base)) == (1, 31)
        assert dict(base.report.skipped) == {
            "Size is 'huge'; it must be one of small, medium, large": 1
        }
    with pytest.raises(BadValue, match="its solution is 'colour'"):
        build(flowers, out, solution="Size")


def test_describe_lists_columns(flowers: Path, capsys) -> None:
    with pytest.raises(SystemExit) as left:
        main(["describe", str(flowers), "--solution", "colour", "--json"])
    assert left.value.code == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["solutions"] == ["blue", "red"]
    assert plain["features"]["size"]["similarity"] == "ordered"


def test_a_casebase_of_a_table_is_rebuilt_and_sound(flowers: Path) -> None:
    from cbr.building import rebuild
    from cbr.upkeep import check

    out = flowers.with_suffix(".db")
    with build(flowers, out, solution="colour") as base:
        before = base.digest("flowers")
    rebuild(out)
    with Casebase.open(out) as stored:
        assert stored.digest("flowers") == before
        assert len(stored.case_type("flowers").indexed) == 3
    assert list(check(out)) == []


def test_decimal_commas_are_numbers_even_in_a_short_table(tmp_path: Path) -> None:
    mixed = table(
        tmp_path / "tea.csv", 'minutes,note,taste\n"1,5","a, b",x\n"4.5",c,y\n"2,5",d,x\n'
    )
    look = look_at([mixed])
    assert look.columns["minutes"].kind == "number"
    assert sorted(look.columns["minutes"].numbers) == [1.5, 2.5, 4.5]
    assert set(look.columns["note"].texts) == {"a, b", "c", "d"}


def test_words_among_numbers_are_said_and_can_be_missing(tmp_path: Path) -> None:
    rents = table(tmp_path / "rents.csv", "rent,room\n820,a\n590,b\nask us,a\n700,b\n")
    with pytest.raises(BadValue, match="no column of numbers because of 'ask us'; --na"):
        build(rents, tmp_path / "rents.db", solution="rent")
    with build(rents, tmp_path / "rents.db", solution="rent", na="Ask us") as base:
        assert [case.solution for case in base] == [820.0, 590.0, 700.0]


def test_spellings_of_one_word_are_one_value(tmp_path: Path) -> None:
    row = ["yes,AA", "YES,Aa", "No,aA", "no,AA", "Yes,Aa", "no,aA"]
    made = table(tmp_path / "t.csv", "keen,genes,y\n" + "".join(f"{r},{r[0]}\n" for r in row))
    with build(made, tmp_path / "t.db", solution="y") as base:
        keen, genes = base.case_types[0].features
        assert (keen.values, genes.values) == (("no", "yes"), ("AA", "Aa", "aA"))
        assert base.case_types[0].solutions == ("Y", "n")
        assert [case.values["keen"] for case in base] == ["yes", "yes", "no", "no", "yes", "no"]
        assert base.nearest({"keen": "YES"}, k=1).target == {"keen": "yes"}


def test_a_list_of_json_objects_is_a_table(tmp_path: Path) -> None:
    made = table(tmp_path / "t.json", '\n[{"x": 1, "y": "a"}, {"x": 2}, 3]')
    first, second, third = read_rows(made)
    assert (first.cells, second.cells) == ({"x": 1, "y": "a"}, {"x": 2})
    assert third.reason == "not a JSON object"
