"""From a first start to a recorded clip, with the mouse alone, as somebody does who has read nothing."""

from __future__ import annotations

from pathlib import Path

import imageio_ffmpeg

from tests.gui.program import Program, own_screen
from tests.gui.test_recording import is_finished

SMALL_SCREEN = (1024, 600)
FIRST_CARD = (200, 200)
MOST_PRESSES = 10
PICTURES = 5  # that the clip has at least


def test_the_first_clip_takes_a_few_presses(tmp_path: Path) -> None:
    """The gallery is there, a card opens its land, which runs, and one button begins a clip and ends it."""
    with own_screen(SMALL_SCREEN) as display:
        program = Program(tmp_path, display, "--set", "view.quality=lowest", waits=True)
        presses = 0

        def press(x: int, y: int) -> None:
            nonlocal presses
            program.do(*program.at(x, y), "click", "1")
            presses += 1

        try:
            program.wait_for(lambda: program.note["typing"], "the gallery, whose search has the keyboard")
            assert program.size == SMALL_SCREEN and program.cycle == 0
            world = program.note["world"]
            press(*FIRST_CARD)
            program.wait_for(lambda: program.note["world"] != world and program.cycle > 0, "its land, which runs")
            program.wait_for(lambda: "record" in program.note["places"], "the button")
            press(*program.note["places"]["record"])
            recorded = {-1}

            def are_recorded() -> bool:
                """More are drawn than a recording takes; each that it takes is another frame."""
                recorded.add(program.note["recorded"])
                return len(recorded) > PICTURES

            program.wait_for(are_recorded, "pictures of the clip")
            press(*program.note["places"]["record"])
            program.wait_for(lambda: bool(list(tmp_path.glob("thalweg-*.mp4"))), "the file")
            (clip,) = tmp_path.glob("thalweg-*.mp4")
            program.wait_for(lambda: is_finished(clip), "the clip")
            assert imageio_ffmpeg.count_frames_and_secs(str(clip))[0] >= PICTURES
            assert presses <= MOST_PRESSES
            program.close()
            program.ends_well()
        finally:
            program.kill()
