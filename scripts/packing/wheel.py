"""The wheel for PyPI: pip, pipx and uv put what is in its `scripts` on the PATH. `wheel pack` writes it."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from packing.platform import Platform
from packing.release import LICENCES, ROOT, Release


def write(program: Path, third_party: str, platform: Platform, release: Release, tools: Path, out: Path) -> Path:
    name = f"backstory-{release.version}"
    with tempfile.TemporaryDirectory(prefix="backstory-wheel-") as scratch:
        tree = Path(scratch) / name
        scripts = tree / f"{name}.data" / "scripts"
        scripts.mkdir(parents=True)
        shutil.copyfile(program, scripts / "backstory")
        (scripts / "backstory").chmod(0o755)
        info = tree / f"{name}.dist-info"
        (info / "licenses").mkdir(parents=True)
        for licence in LICENCES:
            shutil.copyfile(ROOT / licence, info / "licenses" / licence)
        (info / "licenses" / "LICENSES-THIRD-PARTY.txt").write_text(third_party)
        (info / "METADATA").write_text(metadata(release))
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: scripts/pack\nRoot-Is-Purelib: false\nTag: {platform.wheel_tag}\n")
        environment = {**os.environ, "PYTHONPATH": str(tools), "SOURCE_DATE_EPOCH": str(release.time)}
        command = [sys.executable, "-m", "wheel", "pack", "--dest-dir", str(out), str(tree)]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return out / f"{name}-{platform.wheel_tag}.whl"


def metadata(release: Release) -> str:
    fields = {
        "Metadata-Version": "2.4",
        "Name": "backstory",
        "Version": release.version,
        "Summary": release.summary,
        "License-Expression": release.licence,
        "Requires-Python": ">=3.8",
        "Description-Content-Type": "text/markdown",
    }
    lines = [f"{name}: {value}" for name, value in fields.items()]
    lines += [f"License-File: {licence}" for licence in [*LICENCES, "LICENSES-THIRD-PARTY.txt"]]
    lines += [f"Project-URL: {name}, {release.repository}{path}" for name, path in [("Source", ""), ("Changelog", "/blob/main/CHANGELOG.md")]]
    description = (ROOT / "packaging" / "description.md").read_text()
    return "\n".join(lines) + "\n\n" + description
