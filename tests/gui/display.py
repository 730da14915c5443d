"""A virtual X display."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess


def start_display(size: str = "1600x1200") -> tuple[subprocess.Popen[bytes], str]:
    """Start one under a number that is free. Returns its process and its name."""
    reading, writing = os.pipe()
    # Without -noreset it starts anew whenever its last window has gone, and refuses the next one meanwhile.
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=(writing,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=_end_with_parent,
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        number = pipe.readline().strip()  # written once the server takes connections
    assert number, "Xvfb did not start"
    return server, f":{number}"


def _end_with_parent() -> None:
    """Let Linux end the display when the tests end, however they do."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)
