"""What all packages say about the program: its name, version, time and licence, read from the workspace's manifest."""

import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "THIRD_PARTY.md"]


@dataclass(frozen=True)
class Release:
    version: str
    summary: str
    licence: str
    repository: str
    # Of the commit, in seconds: every file in a package has this time.
    time: int

    @staticmethod
    def of_this_tree() -> "Release":
        package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
        time = os.environ.get("SOURCE_DATE_EPOCH") or commit_time()
        return Release(package["version"], package["description"], package["license"], package["repository"], int(time))


def commit_time() -> str:
    return subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
