"""Folders of transcripts to measure on: made by our generator, a tenth of another, one long session."""

import os
import shutil
import subprocess

from measure.process import ROOT, target


def generated(megabytes):
    """A corpus of that size from the repository's own generator; made once, kept under `target`."""
    folder = target() / "bench" / f"corpus-{megabytes}"
    if not folder.exists():
        making = folder.with_suffix(".making")
        shutil.rmtree(making, ignore_errors=True)
        words = "cargo run --quiet --locked -p backstory-testkit --example corpus --".split()
        subprocess.run([*words, "--out", making, "--megabytes", str(megabytes)], cwd=ROOT, check=True)
        making.rename(folder)
    return folder


def tenth(corpus, scratch):
    """Every tenth session of a corpus with what lies beside it, linked and not copied where that works."""
    small = scratch / "tenth"
    for file in sorted(corpus.glob("projects/*/*.jsonl"))[::10]:
        beside = [path for path in file.with_suffix("").rglob("*") if path.is_file()]
        for path in [file, *beside]:
            copy = small / path.relative_to(corpus)
            copy.parent.mkdir(parents=True, exist_ok=True)
            link(path, copy)
    return small


def link(path, copy):
    try:
        os.link(path, copy)
    except OSError:
        shutil.copyfile(path, copy)


def long_session(corpus, scratch, size):
    """A config folder whose one session has `size` bytes, from the lines of the corpus."""
    file = scratch / "long" / "projects" / "-home-ana-long" / "0f0e0d0c-0b0a-4908-8706-050403020100.jsonl"
    file.parent.mkdir(parents=True)
    with open(file, "wb") as out:
        while out.tell() < size:
            before = out.tell()
            for source in sorted(corpus.glob("projects/*/*.jsonl")):
                with open(source, "rb") as lines:
                    out.writelines(line for line in lines if line.endswith(b"\n"))
                if out.tell() >= size:
                    break
            if out.tell() == before:
                break
    return file


def measure(corpus):
    """How many files, and how many bytes in them; reads every one, so that all are in memory after."""
    files = [path for path in corpus.glob("projects/**/*.jsonl") if path.is_file()]
    for path in files:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass
    return len(files), sum(path.stat().st_size for path in files)
