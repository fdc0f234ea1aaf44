"""The libraries that the program is linked with, on any of the platforms of a release."""

import functools
import json
import subprocess

from packing.release import ROOT

TARGETS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin"]


@functools.cache
def graph() -> tuple[dict[str, dict], dict[str, set[str]]]:
    """Packages by their ids, the program's own crates included, and what each of them is linked with."""
    packages, linked = {}, {}
    for target in TARGETS:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
        metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        known = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        queue = [id for id, package in known.items() if package["name"] == "backstory-cli"]
        seen = set()
        while queue:
            id = queue.pop()
            if id not in seen:
                seen.add(id)
                packages[id] = known[id]
                needed = {dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])}
                linked.setdefault(id, set()).update(needed)
                queue += needed
    return packages, linked


def foreign() -> list[dict]:
    """Those that others wrote, by name."""
    packages, _ = graph()
    return sorted((package for package in packages.values() if package["source"]), key=lambda package: (package["name"], package["version"]))
