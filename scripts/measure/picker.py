"""Types questions into the picker on a terminal of its own, and tells how long every key takes until it is answered."""

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass

from measure.process import Failed

ROWS, COLUMNS = 30, 120
# The head of the list counts the sessions once they are found; while they are searched it has `…` there. A key that is
# answered before the screen is drawn changes neither where the count stays the same.
COUNTED, SEARCHING = b"session", "…".encode()
# All is drawn when nothing follows for so long. A key that is not answered in the longer time took that time.
QUIET, PATIENCE = 0.15, 10.0
CLEAR, QUIT = b"\x15", b"\x03"
WHERE, HERE = b"\x1b[6n", b"\x1b[1;1R"


@dataclass
class Key:
    """What one key took, in seconds."""

    listed: float
    drawn: float


def typed(program, questions):
    """A key for every letter of the questions, and for clearing each."""
    picker = Picker(program)
    try:
        return [picker.press(key) for question in questions for key in [*letters(question), CLEAR]]
    finally:
        picker.close()


def is_still(drawn):
    return drawn and SEARCHING not in drawn


def letters(question):
    return [letter.encode() for letter in question]


class Picker:
    def __init__(self, program):
        self.terminal, other = os.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environment = program.environment | {"TERM": "xterm-256color"}
        self.child = subprocess.Popen([program.path], stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True)
        os.close(other)
        self.answered(time.perf_counter())

    def press(self, key):
        began = time.perf_counter()
        os.write(self.terminal, key)
        return self.answered(began)

    def answered(self, began):
        drawn, listed, last = b"", None, PATIENCE
        while select.select([self.terminal], [], [], QUIET if listed or is_still(drawn) else PATIENCE)[0]:
            drawn += self.read()
            last = time.perf_counter() - began
            if listed is None and COUNTED in drawn:
                listed = last
        if listed is None and is_still(drawn):
            listed = last
        return Key(listed or PATIENCE, last if listed else PATIENCE)

    def read(self):
        try:
            drawn = os.read(self.terminal, 1 << 16)
        except OSError as gone:
            raise Failed("the picker has ended") from gone
        # It asks where the cursor is, as a terminal knows.
        if WHERE in drawn:
            os.write(self.terminal, HERE)
        return drawn

    def close(self):
        if self.child.poll() is None:
            os.write(self.terminal, QUIT)
        self.child.wait(timeout=10)
        os.close(self.terminal)
