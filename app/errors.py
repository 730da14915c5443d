"""The one kind of error that a person caused and a person can mend."""


class UserError(Exception):
    """An error whose message is one clear line: it names the file, key or value, and what would be right.

    The command line prints it without a traceback, the window shows it in a notice.
    """
