"""No single fault in a journal goes unnoticed."""

import json
import random

import pytest

from metabo.errors import DataError
from metabo.journal import FORMAT, Damage, Journal, salvage
from metabo.journal.lines import COUNT_AT, parse

N = 6


@pytest.fixture
def path(tmp_path):
    journal = Journal.begin(tmp_path / "run.jsonl", {"seed": 3})
    for number in range(N):
        journal.append({"value": number / 7, "params": {"x": number}})
    return tmp_path / "run.jsonl"


@pytest.fixture
def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def values(content):
    return [entry.record["value"] for entry in content.entries]


@pytest.mark.slow
def test_every_flipped_bit_is_found_but_in_the_number_of_lines_where_it_changes_nothing(path):
    data, expected = path.read_bytes(), values(Journal(path))
    missed = []
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            try:
                content = parse(path, bytes(flipped))
            except DataError:
                continue
            assert values(content) == expected
            missed.append(position)
    assert set(missed) <= set(range(COUNT_AT, COUNT_AT + 19))
    assert values(parse(path, data)) == expected


def test_every_cut_is_found(path):
    data = path.read_bytes()
    for length in range(1, len(data)):
        with pytest.raises(DataError, match=r"lost its end|is damaged|is not a journal"):
            parse(path, data[:length])


@pytest.mark.parametrize("at", range(1, N + 1))
def test_dropped_doubled_and_swapped_lines_are_found_and_named(path, lines, at):
    for changed in (
        [*lines[:at], *lines[at + 1 :]],
        [*lines[:at], lines[at], *lines[at:]],
        [*lines[:at], lines[at] + b"\n", *lines[at + 1 :]],
    ):
        with pytest.raises(Damage, match=rf"Line {at + 1}|Line {at + 2}|has lost its end"):
            parse(path, b"".join(changed))
    if at < N:
        swapped = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
        with pytest.raises(Damage, match=rf"Line {at + 1} .* does not follow the line before"):
            parse(path, b"".join(swapped))


def test_a_line_of_another_journal_is_found(path, lines, tmp_path):
    other = Journal.begin(tmp_path / "other.jsonl", {"seed": 3})
    for number in range(N):
        other.append({"value": number / 7, "params": {"x": number}})
    foreign = (tmp_path / "other.jsonl").read_bytes().splitlines(keepends=True)
    with pytest.raises(Damage, match=r"Line 4 .* its checksum does not match"):
        parse(path, b"".join([*lines[:3], foreign[3], *lines[4:]]))
    with pytest.raises(Damage, match=r"Line 8 .*"):
        parse(path, b"".join([*lines, b'{"value": 1']))


def test_a_half_written_number_of_lines_is_mended_by_the_next_record(path):
    data = bytearray(path.read_bytes())
    data[COUNT_AT : COUNT_AT + 8] = b"00000001"
    path.write_bytes(data)
    journal = Journal(path)
    assert len(journal.entries) == N
    journal.append({"value": 1})
    with pytest.raises(
        Damage, match=r"lost its end: 7 lines were written .* but only 6 are there"
    ):
        parse(path, b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def test_damage_names_the_line_and_the_way_out(path, lines):
    lines[2] = lines[2].replace(b'"x": 1', b'"x": 2')
    with pytest.raises(
        Damage,
        match=r"Line 3 of the journal `.*run.jsonl` is damaged: its checksum does not match. The "
        r"lines before it are intact. Copy .* with `metabo show .*run.jsonl --repair`.",
    ):
        parse(path, b"".join(lines))


def test_newer_formats_are_refused(path):
    path.write_text(json.dumps({"metabo_journal": FORMAT + 1}) + "\n")
    with pytest.raises(
        DataError, match=r"format 3, but .* reads formats 1 and 2. Install a newer metabo"
    ):
        Journal(path)


def test_every_intact_line_is_salvaged_whatever_happened_to_others(path, lines):
    chance = random.Random(0)
    for _ in range(300):
        at, kind = chance.randrange(1, N + 1), chance.choice(["flip", "drop", "double", "swap"])
        changed, lost = list(lines), set()
        if kind == "flip":
            line = bytearray(lines[at])
            line[chance.randrange(len(line) - 1)] ^= 1 << chance.randrange(8)
            changed[at], lost = bytes(line), {at}
            if b"\n" in changed[at][:-1]:
                continue
        elif kind == "drop":
            del changed[at]
            lost = {at}
        elif kind == "double":
            changed.insert(at, lines[at])
        else:
            other = chance.randrange(1, N + 1)
            changed[at], changed[other] = lines[other], lines[at]
        saved = salvage(path, b"".join(changed))
        assert [entry.n for entry in saved.content.entries] == sorted({*range(1, N + 1)} - lost)
        assert values(saved.content) == [(e.n - 1) / 7 for e in saved.content.entries]
        assert set(saved.missing) == lost
        assert {number for number, _ in saved.left_out} == ({at + 1} if kind == "flip" else set())
