"""Which of many alike checks run every day: told by names alone, by a checksum of them.

Neither the order of collection nor what is added elsewhere changes the choice. `make test-full`
runs all: it sets S2SAD_FULL, and leaves no test out for its marker `full`.
"""

import os
import zlib

FULL = bool(os.environ.get("S2SAD_FULL"))


def is_of_every_day(name: str, of: int) -> bool:
    """Say whether what has a name is among the one in `of` that runs every day."""
    return FULL or zlib.crc32(name.encode()) % of == 0
