"""The .deb and the .rpm, which nfpm writes."""

import json
import os
import subprocess
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from packing.platform import Platform
from packing.release import Release

HOMEPAGE = "https://github.com/backstory-sessions/backstory"


def write(
    program: Path, files: dict[str, bytes], platform: Platform, release: Release, compression: str, nfpm: Path, out: Path
) -> list[Path]:
    with tempfile.TemporaryDirectory(prefix="backstory-linux-") as scratch:
        contents = [{"src": str(program.resolve()), "dst": "/usr/bin/backstory", "file_info": {"mode": 0o755}}]
        for number, (path, content) in enumerate(files.items()):
            source = Path(scratch) / str(number)
            source.write_bytes(content)
            contents.append({"src": str(source), "dst": f"/usr/{path}", "file_info": {"mode": 0o644}})
        # JSON is YAML.
        config = Path(scratch) / "nfpm.yaml"
        config.write_text(json.dumps(described(contents, compression, platform, release)))
        return [package(nfpm, config, kind, name, out, release) for kind, name in names(platform, release).items()]


def described(contents: list[dict], compression: str, platform: Platform, release: Release) -> dict:
    major, minor = platform.glibc
    return {
        "name": "backstory",
        "arch": platform.debian,
        "platform": "linux",
        "version": release.version,
        "release": "1",
        "section": "utils",
        "maintainer": f"Backstory contributors <{HOMEPAGE}>",
        "description": release.summary,
        "homepage": HOMEPAGE,
        "license": release.licence,
        "mtime": timestamp(release.time),
        "contents": contents,
        "overrides": {
            "deb": {"depends": [f"libc6 (>= {major}.{minor})"], "recommends": ["git"]},
            "rpm": {"depends": [f"glibc >= {major}.{minor}"], "recommends": ["git"]},
        },
        "deb": {"compression": compression},
        # Without the name of the machine that made it.
        "rpm": {"compression": "gzip:1" if compression == "none" else compression, "buildhost": "localhost", "group": "Applications/Text"},
    }


def names(platform: Platform, release: Release) -> dict[str, str]:
    return {
        "deb": f"backstory_{release.version}-1_{platform.debian}.deb",
        "rpm": f"backstory-{release.version}-1.{platform.machine}.rpm",
    }


def timestamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat().replace("+00:00", "Z")


def package(nfpm: Path, config: Path, kind: str, name: str, out: Path, release: Release) -> Path:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(release.time)}
    target = out / name
    command = [nfpm.resolve(), "package", "--config", str(config), "--packager", kind, "--target", str(target.resolve())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return target
