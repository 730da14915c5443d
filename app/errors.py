"""Errors, and how they are told: in one line."""


class UserError(Exception):
    """An error that a person caused and can mend. Its message is one clear line: it names the file, key or value, and
    what would be right.

    The command line prints it without a traceback, the window shows it in a notice.
    """


def explained(error: Exception) -> str:
    """What a person is told of an error of any kind, in one line."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory; a smaller map needs less"
    reason = " ".join(str(error).split())
    if type(error).__module__.endswith("moderngl"):  # not imported here: it loads OpenGL
        return f"OpenGL: {reason}"
    return f"{type(error).__name__}: {reason}"
