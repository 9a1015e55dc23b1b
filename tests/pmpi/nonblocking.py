"""AYATORI_COLLECTIVES: collective calls that do not block, and persistent ones, by schedules."""

import os
import re
import unittest

from harness import RANKS, ProgramTest
from plans import Plans, write_table

PARTS = ("many", "elsewhere", "freed", "persistent", "tags", "leaks", "arguments", "threads")


class Nonblocking(ProgramTest):
    pass


if __name__ == "__main__":
    unittest.main()
