"""The archive: the program, manual pages, completions and licences below one folder, which is a prefix."""

import gzip
import io
import tarfile
from pathlib import Path

from packing.platform import Platform
from packing.release import Release


def write(program: Path, files: dict[str, bytes], platform: Platform, release: Release, level: int, out: Path) -> Path:
    folder = f"backstory-{release.version}-{platform.triple}"
    packed = out / f"{folder}.tar.gz"
    entries = {"bin/backstory": (0o755, program.read_bytes()), **{path: (0o644, content) for path, content in files.items()}}
    # An empty name and the release's time in gzip's header: two runs give the same bytes.
    with open(packed, "wb") as file, gzip.GzipFile("", "wb", level, file, mtime=release.time) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path, (mode, content) in sorted(entries.items()):
                archive.addfile(entry(f"{folder}/{path}", mode, len(content), release.time), io.BytesIO(content))
    return packed


def entry(path: str, mode: int, size: int, time: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.mode, info.size, info.mtime = mode, size, time
    info.uname = info.gname = "root"
    return info
