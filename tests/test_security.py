"""SECURITY.md, sentence by sentence: what you have to trust, or the tests that keep a promise."""

from __future__ import annotations

import ast
import inspect
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from test_walls import PACKAGES, imports

from cbr.files import Damaged, read_arrays

#: A sentence that promises nothing: it says what is trusted, or what something is.
TRUST: tuple[str, ...] = ()

#: The beginning of each sentence, and the tests of its promise, as FILE::NAME in tests/.
SENTENCES: dict[str, tuple[str, ...]] = {
    # Plugins and bots
    "Plugins and bots are code.": TRUST,
    "They run in the process of the command": TRUST,
    "Load only those that you trust": (
        "cbr/test_plugins.py::test_a_folder_of_plugins",
        "cbr/test_plugins.py::test_what_loads_can_be_limited",
        "cbr/test_plugins.py::test_our_own_rooms_come_through_the_entry_points",
    ),
    "A guard turns an exception of a plugin into one line": (
        "cbr/test_attacks.py::test_a_bad_hook_is_named_and_the_command_goes_on",
        "cbr/test_attacks.py::test_it_is_named",
        "plugins/test_arena_attacks.py::test_whatever_a_fast_bot_does",
    ),
    "Bots of others get copies of what their seat may see": (
        "plugins/test_arena_guests.py::test_nothing_that_it_is_given_leads_to_what_it_may_not_know",
        "plugins/test_arena_guests.py::test_arrays_are_read_only_and_copies",
        "plugins/test_arena_guests.py::test_random_numbers_of_a_guest_lead_to_no_deck",
    ),
    "In the process of a match a bot that searches its memory": TRUST,
    "With `cbr match --isolate` it has a process of its own": (
        "plugins/test_arena_isolated.py::test_a_global_never_meets_a_deal_again",
        "plugins/test_arena_isolated.py::test_one_that_remembers_deals_gains_nothing",
        "plugins/test_arena_isolated.py::test_random_bytes",
    ),
    "A bot that is late (`--bot-timeout`)": (
        "plugins/test_arena_isolated.py::test_one_that_never_returns",
        "plugins/test_arena_isolated.py::test_whatever_it_does_it_folds_and_is_told",
    ),
    "Named by its file (`FILE.py:NAME`)": (
        "plugins/test_arena_isolated.py::test_the_command_with_workers_and_a_file",
    ),
    "This keeps a match fair and running": TRUST,
    "It can read the process list": TRUST,
    "A Dask cluster (`--dask`) runs the same code": TRUST,
    # Files
    "Files are data.": TRUST,
    "Casebases, logs, tables, weights, labels": (
        "test_security.py::test_nothing_is_executed",
        "cbr/test_attacks.py::test_check_finds_it_and_nothing_crashes",
    ),
    "None is pickled": (
        "test_walls.py::test_no_pickle",
        "test_security.py::test_arrays_are_read_without_pickle",
        "test_security.py::test_a_pickled_object_does_not_run",
        "cbr/test_faiss.py::test_a_file_of_another_kind_is_not_used",
        "cbr/test_faiss.py::test_an_edited_stamp_is_damage",
        "plugins/test_labels.py::test_damaged_files_of_labels",
        "cbr/test_evolve.py::test_a_run_of_another_version",
        "cbr/test_weights.py::test_weights_of_something_else_are_refused",
    ),
    "A damaged or foreign file is an error in one sentence": (
        "cbr/test_attacks.py::test_a_damaged_casebase_is_named",
        "cbr/test_attacks.py::test_damaged_compression_is_a_reason",
        "cbr/test_cli.py::test_bad_input_gets_one_sentence",
        "cbr/test_evolve.py::test_what_is_no_run_file",
        "plugins/test_model_files.py::test_what_is_no_model_file",
        "plugins/test_remember.py::test_other_files",
        "cbr/test_faiss.py::test_a_damaged_index_is_not_used",
        "plugins/test_fuzz.py::test_mutated_logs",
    ),
    "Handing somebody a casebase is therefore safe": (
        "cbr/test_attacks.py::test_check_finds_it_and_nothing_crashes",
        "test_security.py::test_nothing_is_executed",
    ),
    "A compressed log or an archive that holds more than": (
        "cbr/test_lost_work.py::test_a_compressed_file",
        "cbr/test_lost_work.py::test_members_count_together",
        "plugins/test_build_logs.py::test_odd_members",
    ),
    "Casebases, run files and files of opponents are SQLite.": TRUST,
    "They are opened defensively": (
        "cbr/test_strangers.py::test_a_casebase_has_tables_only",
        "cbr/test_strangers.py::test_so_has_a_run_file",
        "plugins/test_remember.py::test_a_file_that_is_not_as_it_should_be",
        "cbr/test_strangers.py::test_sqlite_trusts_nothing_in_the_file",
    ),
    "Names out of a file are checked where they are read": (
        "cbr/test_strangers.py::test_a_stage_is_that_of_its_case_type",
        "cbr/test_strangers.py::test_identifiers_are_quoted",
    ),
    "SQLite refuses values of more than 64 MB": (
        "cbr/test_strangers.py::test_a_long_body_is_not_read",
        "cbr/test_strangers.py::test_an_archive_says_what_it_unpacks_to",
        "cbr/test_strangers.py::test_no_more_is_unpacked_than_an_archive_says",
        "cbr/test_strangers.py::test_an_array_is_as_large_as_its_bytes",
        "cbr/test_strangers.py::test_what_is_refused",
        "cbr/test_strangers.py::test_every_reader_refuses_it",
    ),
    "Control characters in names are printed as escapes": (
        "cbr/test_strangers.py::test_escapes_in_names_are_shown",
    ),
    "What `cbr check` calls sound, every command can use": (
        "soak/test_soak.py::test_mutated_casebases",
        "soak/test_soak.py::test_mutated_run_files",
        "soak/test_soak.py::test_mutated_files_of_opponents",
    ),
    # The network
    "The network.": TRUST,
    "`cbr dealer` and `cbr acpc` speak the protocol": TRUST,
    "The dealer listens on this machine only": (
        "test_security.py::test_the_dealer_is_not_exposed",
    ),
    "Connections that send anything else are closed": (
        "plugins/test_acpc_hostile.py::test_probes_neither_end_the_match_nor_keep_the_player_out",
        "plugins/test_acpc_hostile.py::test_the_first_to_greet_has_the_seat",
    ),
    "Lines from the other side are parsed": (
        "plugins/test_acpc_hostile.py::test_a_program_that_cannot_go_on",
        "plugins/test_acpc_hostile.py::test_a_dealer_that_talks_nonsense",
        "plugins/test_acpc_hostile.py::test_a_log_is_not_filled_by_nonsense",
    ),
    "No other command opens a connection": ("test_security.py::test_who_opens_connections",),
    # Caches
    "Caches are trusted.": TRUST,
    "The user's cache folder (`cbr cache`) holds": ("cbr/test_cache.py::test_show_and_clear",),
    "Whoever can write there can change results": TRUST,
    "Neither the limit of the cache nor": (
        "cbr/test_cache.py::test_nothing_else_is_ever_removed",
        "cbr/test_cache.py::test_what_was_not_used_for_longest_makes_room",
    ),
    # Your own files
    "Your own files.": TRUST,
    "A command that is killed leaves": (
        "cbr/test_kill.py::test_kill_at_any_time",
        "cbr/test_evolve.py::test_killed_and_resumed",
    ),
    "Other files appear when they are complete": (
        "cbr/test_attacks.py::test_a_bad_place_is_found_at_once_and_nothing_is_left",
        "cbr/test_kill.py::test_a_killed_creation_leaves_nothing_that_looks_like_a_casebase",
        "plugins/test_acpc_hostile.py::test_a_match_that_breaks_off_keeps_what_was_played",
    ),
    "Nothing is written to a folder or a file that is read-only": (
        "cbr/test_places.py::test_read_only_folders_as_an_ordinary_user",
    ),
    "Each sentence here is listed": ("test_security.py::test_every_sentence_is_listed",),
}


def sentences() -> list[str]:
    """The sentences of SECURITY.md about trust, without markup for emphasis."""
    text = (ROOT / "SECURITY.md").read_text("utf-8").replace("**", "")
    text = text.partition("## What is trusted")[2].partition("## Reporting")[0]
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return [one for part in paragraphs if part for one in re.split(r"(?<=\.) (?=[A-Z`])", part)]


def test_every_sentence_is_listed() -> None:
    found = sentences()
    assert len(found) > 20
    unlisted = [one for one in found if sum(map(one.startswith, SENTENCES)) != 1]
    assert unlisted == [], "add the sentence to SENTENCES, with its tests"
    gone = [key for key in SENTENCES if not any(one.startswith(key) for one in found)]
    assert gone == [], "SECURITY.md does not say this any more"


@pytest.mark.parametrize("place", sorted({test for tests in SENTENCES.values() for test in tests}))
def test_the_tests_exist(place: str) -> None:
    file, _, name = place.partition("::")
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    (found,) = [node for node in functions if node.name == name]
    assert any(isinstance(node, ast.Assert | ast.With) for node in ast.walk(found))


# --- promises about the source -------------------------------------------------------------------


def sources() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES.values():
        for path in sorted(package.rglob("*.py")):
            yield str(path.relative_to(package.parent)), path


def calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield node


#: Who may load code or start a program, and why.
MAY_RUN = {
    "cbr/plugging/plugins.py": "loads plugins, which are trusted",
    "cbr/cli/output.py": "asks the C library to write what it holds back",
    "cbr_arena/apart/inside.py": "asks the system to end a bot's process with that of the match",
}


def test_nothing_is_executed() -> None:
    """No data becomes code: nothing is evaluated, and nobody loads modules or starts programs."""
    running = {"subprocess", "runpy", "code", "ctypes", "pty", "importlib", "importlib.util"}
    found = set()
    for name, path in sources():
        for call in calls(path):
            called = ast.unparse(call.func)
            assert called not in {"eval", "exec", "compile", "__import__"}, (name, call.lineno)
            assert not re.match(r"os\.(system|popen|exec|spawn|posix_spawn)", called), name
        if running & {module for module, _ in imports(path)}:
            found.add(name)
    assert found == set(MAY_RUN)


def test_arrays_are_read_without_pickle() -> None:
    found = 0
    for name, path in sources():
        for call in calls(path):
            if isinstance(call.func, ast.Attribute) and ast.unparse(call.func) == "np.load":
                given = {word.arg: ast.unparse(word.value) for word in call.keywords}
                assert given.get("allow_pickle", "False") == "False", (name, call.lineno)
                found += 1
    assert found >= 2


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.path), "w")


def test_a_pickled_object_does_not_run(tmp_path: Path) -> None:
    trap, body = tmp_path / "trap", io.BytesIO()
    np.savez(body, values=np.array([Trap(trap)], object), allow_pickle=True)
    body.seek(0)
    with pytest.raises(Damaged):
        read_arrays(body)
    assert not trap.exists()
    body.seek(0)
    with np.load(body, allow_pickle=True) as found:  # the trap itself works
        found["values"]
    assert trap.exists()


def test_who_opens_connections() -> None:
    network = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "asyncio", "requests"}
    network |= {"socketserver", "xmlrpc", "distributed"}
    found = {
        name
        for name, path in sources()
        if {module.partition(".")[0] for module, _ in imports(path)} & network
    }
    allowed = {name for name in found if name.startswith("cbr_arena/acpc/")}
    assert allowed
    # Processes of isolated bots are at the other end of a pair of sockets without an address.
    apart = {name for name in found if name.startswith("cbr_arena/apart/")}
    for name, path in sources():
        if name in apart:
            made = {ast.unparse(call.func) for call in calls(path)}
            assert not {one for one in made if one.startswith("socket.")} - {"socket.socketpair"}
            assert not {one for one in made if re.search(r"\.(connect|bind|listen)$", one)}, name
    assert found - allowed - apart == {"cbr/workers.py"}


def test_the_dealer_is_not_exposed() -> None:
    from cbr_arena.acpc.commands import dealer
    from cbr_arena.acpc.door import listen

    host = inspect.signature(dealer).parameters["host"].default
    assert host == "127.0.0.1"
    for server in listen(host, 0, 2):
        assert server.getsockname()[0] == "127.0.0.1"
        server.close()
