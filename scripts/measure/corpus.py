"""Folders of transcripts to measure on: made by our generator, a tenth of another, one long session."""

import itertools
import os
import re
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


def one_repository(corpus, scratch, sessions, size):
    """So many sessions of one repository with `size` bytes in all, from the lines of the corpus; answers the
    config folder and the repository. Every copy has ids of its own, or all would be forks of a few."""
    repository = scratch / "repository"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    folder = scratch / "one" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(repository))
    folder.mkdir(parents=True)
    sources = itertools.cycle(sorted(corpus.glob("projects/*/*.jsonl")))
    for number in range(sessions):
        session = f"{number:08x}-0b0a-4908-8706-050403020100"
        text = b""
        while len(text) < size / sessions:
            with open(next(sources), "rb") as lines:
                for line in lines:
                    text += line
                    if len(text) >= size / sessions:
                        break
        for pattern, new in rewritten(repository, session):
            text = re.sub(pattern, new, text)
        (folder / f"{session}.jsonl").write_bytes(text)
    return folder.parents[1], repository


def rewritten(repository, session):
    """What a copy of a session says in its own way."""
    mark = session[:8]
    return [
        (rb'"cwd":"[^"]*"', b'"cwd":"%s"' % str(repository).encode()),
        (rb'"sessionId":"[^"]*"', b'"sessionId":"%s"' % session.encode()),
        (rb'"(uuid|parentUuid)":"[^"]{8}', rb'"\1":"' + mark.encode()),
        (rb'"id":"msg_', b'"id":"msg_%s' % mark.encode()),
    ]


def measure(corpus):
    """How many files, and how many bytes in them; reads every one, so that all are in memory after.

    What was written before is on the disk then: its writing would be measured with whatever comes next.
    """
    os.sync()
    files = [path for path in corpus.glob("projects/**/*.jsonl") if path.is_file()]
    for path in files:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass
    return len(files), sum(path.stat().st_size for path in files)
