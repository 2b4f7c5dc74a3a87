"""What goes wrong: a call that the program refused, or that no program answered."""

from __future__ import annotations


class MemoriesError(Exception):
    """A call that failed.

    `message` says what failed, on what and why; `hint` says what to do next, where there is something to do. `code` is
    the exit code of the program: 2 for wrong arguments, 3 where the same call may succeed later, 4 for what the caller
    can fix, 70 for a mistake of the program. It is `None` where no program answered: it is missing, it broke off, or it
    was ended because it took too long. Then it is not known whether a call that writes has written, but for a turn
    of a session: `stored` says whether the journal has it.
    """

    def __init__(
        self, message: str, hint: str | None = None, code: int | None = None, *, stored: bool | None = None
    ) -> None:
        super().__init__(message, hint, code)
        self.message = message
        self.hint = hint
        self.code = code
        self.stored = stored

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"
