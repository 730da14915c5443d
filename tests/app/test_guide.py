"""The guide and the front page: whole, true where tables can say so, and every command in them is one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli import main as cli
from app.cli.guide import plain
from app.cli.scenes import scene_of
from app.cli.table import COMMANDS, find_command
from app.files import guide
from app.files.guide import IMAGE, INDEX, LINK, Page
from app.model.errors import UserError
from app.processes import PROCESSES
from app.scene.scene import DECLARATIONS, GROUPS, Scene, load_preset, presets
from app.sources.generators import GENERATORS
from tests.making.guide import PAGES, PART, PARTS, with_parts

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
LONGEST_README = 250  # lines
FILES = re.compile(r"\.(npz|tif|png|toml)$|^(tiles|maps)$")


def texts() -> Iterator[tuple[Path, str]]:
    """The files of guide and front page, as they lie there."""
    for path in (README, *sorted(PAGES.glob("*.md"))):
        yield path, path.read_text(encoding="utf-8")


def examples() -> Iterator[tuple[str, list[str]]]:
    """All commands of `thalweg` that are shown, each with its words."""
    for path, text in texts():
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["thalweg"]:
                    yield f"{path.name}: {line}", words[1:]


def test_every_page_is_in_the_index_once() -> None:
    listed = [page.name for chapter in guide.chapters() for page in chapter.pages]
    assert sorted([INDEX, *listed]) == sorted(path.stem for path in PAGES.iterdir())


def test_pages_have_a_title_and_a_picture(subtests: pytest.Subtests) -> None:
    for name, page in guide.pages().items():
        with subtests.test(page=name):
            assert re.match(r"# \w.*\n\n", page.text)
            assert IMAGE.search(page.text) or "```mermaid" in page.text


@pytest.mark.slow
def test_derived_parts_are_as_tables_imports_and_examples_are(subtests: pytest.Subtests) -> None:
    there = set[str]()
    for path, text in texts():
        there |= {part[2] for part in PART.finditer(text)}
        with subtests.test(page=path.name):
            assert with_parts(text) == text, "`make guide` writes it anew"
    assert there == PARTS.keys()


def test_links_lead_to_what_is_there(subtests: pytest.Subtests) -> None:
    for path, text in texts():
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
        for _, target in (*LINK.findall(prose), *IMAGE.findall(text)):
            with subtests.test(page=path.name, target=target):
                if not target.startswith("https://"):
                    assert (path.parent / target).is_file()
                    assert target.startswith(("assets/", "../pictures/")) or "/" not in target


def test_commands_that_are_shown_are_commands(subtests: pytest.Subtests) -> None:
    count = 0
    for line, words in examples():
        count += 1
        with subtests.test(line=line):
            name = words[0] if words and words[0] in COMMANDS else ""
            _, parser = find_command(name)
            options = parser.parse_args(words[1:] if name else words)
            source = getattr(options, "source", None) or getattr(options, "file", None)
            is_known = source is None or str(source) in presets() or str(source) in GENERATORS
            assert is_known or FILES.search(str(source)), source
            if is_known and hasattr(options, "set"):
                assert scene_of(options)
            if name == "guide":
                guide.page(options.page)
    assert count > 60


def test_parameters_that_are_named_are_parameters(subtests: pytest.Subtests) -> None:
    for path, text in texts():
        for group, name in re.findall(r"(?:[`']|--set )(\w+)\.(\w+)[`=]", text):
            if group in GROUPS and (group, name) != ("world", "ledger"):  # of the World
                with subtests.test(page=path.name, parameter=f"{group}.{name}"):
                    assert f"{group}.{name}" in DECLARATIONS


def test_presets_with_a_width_of_rivers_of_their_own_are_named_with_the_law() -> None:
    text = guide.pages()["water"].text
    law = text[text.index("A river of *Q*") : text.index("With `droplets.river_transport`")]
    own = {name for name in presets() if load_preset(name).rivers.width != Scene().rivers.width}
    assert own == {name for name in presets() if f"`{name}`" in law}
    for name in ("spring", "rain-shadow", "winter"):  # all rain of the map in one river
        scene = load_preset(name)
        area = scene.world.rows * scene.world.columns * scene.world.cell_size**2
        discharge = area * scene.climate.precipitation * 1e-3 / (365.25 * 24.0 * 3600.0)
        assert Scene().rivers.width * discharge**0.5 < 0.5 * scene.world.cell_size


def test_processes_are_listed_in_the_order_of_a_cycle() -> None:
    rows = re.findall(r"^\d+\. `(\w+)`: ", guide.page("processes").text, re.MULTILINE)
    assert rows == [process.name for process in PROCESSES]


def test_each_system_of_the_articles_names_tests_that_are_there(subtests: pytest.Subtests) -> None:
    text = guide.page("articles").text
    rows = re.findall(r"^- (\w\d): (.*(?:\n  .*)*)$", text, re.MULTILINE)
    assert [number for number, _ in rows] == re.findall(r"^- (\w\d) [A-Z]", text, re.MULTILINE)
    for number, said in rows:
        for named in re.split(r";\s", said):
            with subtests.test(number=number, named=named):
                found = re.fullmatch(r"`(tests/.*?\.py)`((?:,\s+`test_\w+`)+)", named.strip())
                assert found, "a file and tests in it"
                source = (ROOT / found[1]).read_text(encoding="utf-8")
                assert all(f"\ndef {test}(" in source for test in re.findall(r"test_\w+", found[2]))


def test_the_front_page_is_short_and_counts_right() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_README
    assert f"| {len(presets())} presets" in text
    assert f"| {len(PROCESSES)} processes" in text
    assert "Which licence the project has is its owner's to say" in text


def test_the_front_page_links_to_every_chapter() -> None:
    linked = {Path(target).stem for _, target in LINK.findall(README.read_text(encoding="utf-8"))}
    for chapter in guide.chapters():
        assert linked & {page.name for page in chapter.pages}, chapter.title


def test_pages_are_found_by_their_words() -> None:
    found = [name for name, page in guide.pages().items() if page.has("OXBOW lakes")]
    assert "water" in found and "dunes" not in found
    assert not guide.page("dunes").has("sand oxbow"), "all of them"
    (line,) = guide.page("water").lines_with("oxbow lakes")
    assert line.startswith("swales. Bends that are cut off become oxbow lakes")
    assert guide.page("keys").lines_with("undone last") == ["Ctrl+Shift+Z, Ctrl+Y | Redo: redo what was undone last"]


def test_a_page_is_plain_text_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert cli.main(["guide", "Dunes"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Dunes\n=====\n")
    assert "Parcels of wind entrain sand" in text and "    thalweg" not in text
    assert not re.search(r"\]\(|\*\*|`|\.jpg|<!--", text)
    assert max(map(len, text.splitlines())) <= 72
    assert cli.main(["guide", "--search", "oxbow lakes"]) == 0
    assert "\nwater: Water\n    " in capsys.readouterr().out


def test_tables_and_code_keep_their_form() -> None:
    table = "| key | what |\n| --- | --- |\n| `a` | one `|` [two](water.md), [Dunes](dunes.md) |\n"
    page = Page("a", f"# A\n\n{table}\n```sh\nx  # y\n```\n")
    assert plain(page, 60) == "A\n=\n\nkey  what\na    one | two (water), Dunes\n\n    x  # y"


def test_what_is_not_in_the_guide_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["guide", "dune"]) == 1
    assert "dune: the guide has no such page" in (said := capsys.readouterr().err)
    assert "dunes" in said and said.count("\n") == 1
    with pytest.raises(UserError, match="says nothing of zeppelins"):
        from app.cli.guide import found

        found("zeppelins")
