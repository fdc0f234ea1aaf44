"""The licences of every library in the program, with their texts, and of what is built into its page."""

import json
import subprocess
from collections import defaultdict
from pathlib import Path

from packing.release import ROOT

NAMES = ("licen", "copying", "notice", "unlicense", "copyright")
SUFFIXES = ("", ".md", ".txt", ".html")
TARGETS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin"]
LINE = "-" * 80
RUST = "Rust's standard library (MIT OR Apache-2.0) https://github.com/rust-lang/rust"


def third_party() -> str:
    packages = shipped()
    texts = defaultdict(list)
    without = []
    for package in packages:
        found = texts_of(Path(package["manifest_path"]).parent)
        for text in found:
            texts[text].append(title(package))
        if not found:
            without.append(package)
    parts = ["Libraries that are part of the program backstory, and their licences.", "", *(title(package) for package in packages), RUST]
    if without:
        parts += ["", "Of these the text of the licence is at the end:"]
        parts += [f"{title(package)}, by {', '.join(package['authors']) or 'its contributors'}" for package in without]
    for text, users in sorted(texts.items(), key=lambda item: item[1]):
        parts += [LINE, *users, LINE, text]
    parts += [LINE, "MIT License", LINE, (ROOT / "LICENSE-MIT").read_text().split("\n\n", 2)[2].strip()]
    parts += [LINE, "Apache License 2.0", LINE, (ROOT / "LICENSE-APACHE").read_text().strip()]
    parts += [LINE, "What is built into the page of `backstory serve`", LINE, (ROOT / "web/LICENSES.md").read_text().strip()]
    return "\n".join(parts) + "\n"


def shipped() -> list[dict]:
    """The packages that the program is linked with on any of the platforms, without those for building and testing."""
    all_packages, wanted = {}, set()
    for target in TARGETS:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
        metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        all_packages |= {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        wanted |= reachable(nodes, next(id for id, package in all_packages.items() if package["name"] == "backstory-cli"))
    foreign = [all_packages[id] for id in wanted if all_packages[id]["source"]]
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def reachable(nodes: dict, start: str) -> set[str]:
    seen, queue = set(), [start]
    while queue:
        id = queue.pop()
        if id not in seen:
            seen.add(id)
            queue += [dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
    return seen


def title(package: dict) -> str:
    return f"{package['name']} {package['version']} ({package['license'] or 'see its licence file'}) {package['repository'] or ''}".rstrip()


def texts_of(folder: Path) -> list[str]:
    # Deeper ones are those of C libraries: zstd, mimalloc.
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name.lower().startswith(NAMES) and file.suffix in SUFFIXES]
    texts = [file.read_text(errors="replace").replace("\r\n", "\n").strip() for file in files]
    # The long one is in this file once.
    return [text for text in texts if text and not is_plain_apache(text)]


def is_plain_apache(text: str) -> bool:
    return "Apache License" in text[:200] and "END OF TERMS AND CONDITIONS" in text and "LLVM" not in text and "MIT" not in text
