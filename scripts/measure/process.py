"""Runs a program in an environment made from nothing, and tells what it cost."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Cost:
    """What one run took."""

    seconds: float
    cpu: float
    peak_bytes: int
    read_bytes: int
    written_bytes: int


class Failed(Exception):
    """A program ended with something else than 0."""


class Program:
    """A program with its environment; the words it printed last lie in its scratch folder."""

    def __init__(self, path, scratch, **variables):
        self.path = str(path)
        self.printed, self.complained = scratch / "stdout", scratch / "stderr"
        usual = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}
        folders = {"HOME": scratch, "TMPDIR": scratch} | variables
        self.environment = usual | {name: str(path) for name, path in folders.items()}

    def run(self, *words, may_end_with=(0,), given=os.devnull):
        """Runs to the end, with a file as its standard input. `posix_spawn`, because a fork of Python would cost more than a small program.

        To the kernel a child's peak is never below what its parent ever held: so hold little here.
        """
        new = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        streams = [(0, str(given), os.O_RDONLY), (1, self.printed, new), (2, self.complained, new)]
        files = [(os.POSIX_SPAWN_OPEN, stream, path, how, 0o600) for stream, path, how in streams]
        words = [self.path, *map(str, words)]
        began = time.perf_counter()
        child = os.posix_spawn(self.path, words, self.environment, file_actions=files)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        seconds = time.perf_counter() - began
        read, written = bytes_moved(child)
        _, status, usage = os.wait4(child, 0)
        if os.waitstatus_to_exitcode(status) not in may_end_with:
            complaint = self.complained.read_text(errors="replace").strip().splitlines()[:1]
            raise Failed(f"`{' '.join(words)}`: {' '.join(complaint)}")
        cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        return Cost(seconds, cpu, peak, read, written)

    def said(self):
        """What the last run printed."""
        return self.printed.read_text(errors="replace")


def bytes_moved(child):
    """All that a process that has just ended had read from files and written to them; 0 where the system does not tell."""
    try:
        fields = dict(line.split(": ") for line in Path(f"/proc/{child}/io").read_text().splitlines())
        return int(fields["rchar"]), int(fields["wchar"])
    except (OSError, KeyError):
        return 0, 0


def backstory():
    """Builds the released program; answers where it lies."""
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT, check=True)
    return target() / "release" / "backstory"


def target():
    """Cargo's folder for what is built and made."""
    words = ["cargo", "metadata", "--format-version=1", "--no-deps", "--offline"]
    metadata = subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout
    return Path(json.loads(metadata)["target_directory"])


def give_up(message):
    """Ends the script with what is wrong and what to do."""
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")
