"""Which passes derive reverse mode: tests that hold for those on the program alone wait for these.

The marks go when reverse mode on the program replaces the tree's.
"""

import pytest

from s2sad.requests import Request

ON_PROGRAM = Request.__dataclass_fields__["on_program"].default
of_the_program = pytest.mark.skipif(not ON_PROGRAM, reason="the tree's passes cannot")
of_the_tree = pytest.mark.skipif(ON_PROGRAM, reason="the program's passes do otherwise")
