"""Homebrew's formula, from packaging/homebrew/backstory.rb: the archives and their digests."""

import hashlib
from pathlib import Path

from packing.release import ROOT, Release

# Where Homebrew says which machine it is on.
PLACES = {
    "aarch64-apple-darwin": ("macos", "arm"),
    "x86_64-apple-darwin": ("macos", "intel"),
    "aarch64-unknown-linux-gnu": ("linux", "arm"),
    "x86_64-unknown-linux-gnu": ("linux", "intel"),
}


def write(archives: dict[str, Path], release: Release, out: Path) -> Path:
    template = (ROOT / "packaging/homebrew/backstory.rb").read_text()
    text = template.replace("@VERSION@", release.version).replace("@ARCHIVES@", "\n".join(systems(archives, release)))
    path = out / "backstory.rb"
    path.write_text(text)
    return path


def systems(archives: dict[str, Path], release: Release) -> list[str]:
    lines = []
    for system in ["macos", "linux"]:
        machines = {PLACES[triple][1]: path for triple, path in archives.items() if PLACES[triple][0] == system}
        if machines:
            lines += [f"  on_{system} do", *(line for machine in sorted(machines.items()) for line in download(*machine, release)), "  end", ""]
    return lines[:-1]


def download(machine: str, path: Path, release: Release) -> list[str]:
    return [
        f"    on_{machine} do",
        f'      url "{release.repository}/releases/download/v{release.version}/{path.name}"',
        f'      sha256 "{hashlib.sha256(path.read_bytes()).hexdigest()}"',
        "    end",
    ]
