"""`python -m memories` is the program."""

from __future__ import annotations

import os
import subprocess
import sys

from memories._errors import MemoriesError
from memories._process import find_program


def main() -> int:
    """Runs the program in place of this process; on Windows, which cannot do that, as its child."""
    try:
        command = [find_program(), *sys.argv[1:]]
    except MemoriesError as error:
        print(f"error: {error}", file=sys.stderr)
        return 4
    if sys.platform == "win32":
        try:
            return subprocess.run(command, check=False).returncode
        except KeyboardInterrupt:
            return 3
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
