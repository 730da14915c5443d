"""The current weather in a line."""

from __future__ import annotations

from imgui_bundle import imgui

from app.model.climate import ClimateParameters, Weather, weather_of
from app.model.snapshot import Snapshot
from app.picture.style import FAINT_TEXT

WINDS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
SEASONS = ("spring", "summer", "autumn", "winter")
LEAST_STORM = 0.05  # weaker storms are not mentioned


def weather_line(snapshot: Snapshot | None, climate: ClimateParameters) -> None:
    """The weather of the shown cycle."""
    if snapshot is None:
        return
    text = weather_text(weather_of(climate, snapshot.seed, snapshot.cycle), climate, snapshot.cycle)
    imgui.push_text_wrap_pos(0.0)
    imgui.text_colored(imgui.ImVec4(*FAINT_TEXT), text)
    imgui.pop_text_wrap_pos()


def weather_text(weather: Weather, climate: ClimateParameters, cycle: int) -> str:
    """The weather in words: season, temperature, rain, wind, storm."""
    wind = WINDS[round(weather.wind_direction / 45.0) % len(WINDS)]
    words = [
        f"{weather.temperature:.0f} °C",
        f"rain {weather.rain:.0%}",
        f"wind {weather.wind_speed:.1f} cells/t from {wind}" if weather.wind_speed > 0.0 else "no wind",
    ]
    if climate.year:
        # A year begins in the middle of spring.
        part = (cycle % climate.year) / climate.year
        words.insert(0, SEASONS[int(4.0 * part + 0.5) % 4])
    if weather.storm > LEAST_STORM:
        words.append(f"storm {weather.storm:.0%}")
    return "now: " + ", ".join(words)
