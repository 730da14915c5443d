"""When Python looks for garbage. What a start loads stays: looking through it time and again takes a tenth of it."""

import atexit
import gc

LOADED = 300_000  # objects, of which a start makes about two thirds


def collect_late() -> None:
    """Let the first collection come once all is loaded, and leave out from then on what was there.

    At the end, nothing is looked through.
    """
    usual = gc.get_threshold()

    def go_on_as_usual(phase: str, _: dict[str, int]) -> None:
        if phase == "stop":
            gc.callbacks.remove(go_on_as_usual)
            gc.freeze()
            gc.set_threshold(*usual)

    gc.callbacks.append(go_on_as_usual)
    gc.set_threshold(LOADED, *usual[1:])
    atexit.register(gc.freeze)
