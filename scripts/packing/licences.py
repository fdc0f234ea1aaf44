"""The licences of every library in the program, with their texts, and of what is built into its page."""

from collections import defaultdict
from pathlib import Path

from packing.dependencies import foreign
from packing.release import ROOT

NAMES = ("licen", "copying", "notice", "unlicense", "copyright")
SUFFIXES = ("", ".md", ".txt", ".html")
LINE = "-" * 80
RUST = "Rust's standard library (MIT OR Apache-2.0) https://github.com/rust-lang/rust"


def third_party() -> str:
    packages = foreign()
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
