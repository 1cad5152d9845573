"""What Python's floats and integers are like: numbers that never change."""

import sys

from s2sad.registry import like_functions

for info in (sys.float_info, sys.int_info):
    like_functions(type(info), holding=type(info).__match_args__)
