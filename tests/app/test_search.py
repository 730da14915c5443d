"""The search for parameters."""

from __future__ import annotations

import functools

import pytest

from app.scene.scene import DECLARATIONS
from app.scene.search import found_parameters, words_of
from app.scene.synonyms import SYNONYMS

LONG = 5  # letters of a word that says something


def test_every_parameter_is_found_by_its_name_its_path_and_its_help(subtests: pytest.Subtests) -> None:
    # Labels and words of the help recur, and what is found is a matter of the query alone.
    found = functools.cache(found_parameters)
    for path, declaration in DECLARATIONS.items():
        with subtests.test(path=path):
            by_name = found(declaration.label)
            assert path in by_name
            # What is called so comes before all that only speaks of it.
            before = by_name[: by_name.index(path) + 1]
            assert {DECLARATIONS[other].label for other in before} == {declaration.label}
            assert found(path)[0] == path
            assert found_parameters(path.upper().replace("_", " ")) == found(path)
            assert found_parameters(f"--set {path}=12")[0] == path
            for word in declaration.help.split():
                if bare := word.strip("()':;,|"):
                    assert path in found(bare), word
            several = [word for word in declaration.help.split() if len(word) >= LONG][:3]
            assert not several or path in found_parameters(" ".join(several))


def test_units_and_titles_of_groups_are_found() -> None:
    assert "climate.temperature" in found_parameters("°C")
    assert {"pools.evaporation", "pools.seepage"} < set(found_parameters("lakes and sea"))
    assert "droplets.count" in found_parameters("droplets")
    assert "sand.form" in found_parameters("heap")  # a choice


TYPED = """
rain precipitation, rainfall precipitation, wet precipitation, snow temperature, cold temperature, hot temperature,
ocean sea_level, sea sea_level, tide sea_level, flood sea_level, coast coast, shore coast, storm storms, gale storms,
hardness rock_erodibility, soft rock_erodibility, meander momentum, bends momentum, delta river_transport,
talus settling, landslide settling, thermal settling, repose steepness, angle steepness, uplift uplift,
tectonics uplift, mountains uplift, creep diffusivity, incision erodibility, hydraulic count, particles count,
drops count, balls count, dust suspension, saltation suspension, sandblast abrasion, freeze frost, rockfall breaking,
forest trees, vegetation trees, grow rate, green rate, spread seeds, oxbow migration, gravel transport,
light sun_height, sunset sun_height, shadow sun_direction, noon sun_height, brightness exposure, bright exposure,
gamma exposure, fog haze, mist haze, sky clouds, fps quality, graphics quality, performance quality, layers strata,
resolution columns, size columns, scale cell_size, random seed, speed cycles_per_frame, terrain source, dem source,
heightmap source, rough gain, ridges ridged, surf height, swell height, catchment threshold, lifetime evaporation
"""


def test_what_people_type_is_found_among_the_first(subtests: pytest.Subtests) -> None:
    typed = [line.split() for line in TYPED.replace("\n", " ").split(",")]
    assert len(typed) >= 60
    for word, name in typed:
        with subtests.test(word=word):
            first = [DECLARATIONS[path].name for path in found_parameters(word)[:6]]
            assert name in first, first


def test_synonyms_are_of_parameters_and_say_more_than_their_names(subtests: pytest.Subtests) -> None:
    for path, words in SYNONYMS.items():
        with subtests.test(path=path):
            assert not set(words) & set(DECLARATIONS[path].label.split())
            assert len(set(words)) == len(words)


def test_all_words_are_needed_and_nothing_finds_nothing() -> None:
    assert found_parameters("") == found_parameters("   ") == ()
    assert found_parameters("friction droplets")[0] == "droplets.friction"
    assert found_parameters("friction wind")[0] == "wind.friction"
    assert found_parameters("friction zeppelin") == ()
    assert words_of(" --set Wind_Field.Speed_Up=3") == ("wind", "field.speed", "up")
