"""The npm packages: one that everybody installs, and one for each platform, of which npm installs the right one."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from packing.platform import Platform
from packing.release import LICENCES, ROOT, Release

# The platforms that a release has; packaging/npm/bin/backstory.js names them, too.
PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"]


def write_main(release: Release, out: Path) -> Path:
    manifest = common(release, "backstory") | {
        "mcpName": "io.github.backstory-sessions/backstory",
        "bin": {"backstory": "bin/backstory.js"},
        "files": ["bin"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"@backstory-sessions/{platform}": release.version for platform in PLATFORMS},
    }
    return pack(manifest, {"bin/backstory.js": ROOT / "packaging/npm/bin/backstory.js"}, "", out)


def write_platform(program: Path, third_party: str, platform: Platform, release: Release, out: Path) -> Path:
    manifest = common(release, platform.npm_name) | {
        "description": f"The program of the package backstory, for {platform.system} on {platform.npm_cpu}.",
        "os": [platform.system],
        "cpu": [platform.npm_cpu],
        "files": ["bin", "LICENSES-THIRD-PARTY.txt", *LICENCES],
        "preferUnplugged": True,
    }
    if platform.system == "linux":
        manifest["libc"] = ["glibc"]
    return pack(manifest, {"bin/backstory": program}, third_party, out)


def common(release: Release, name: str) -> dict:
    return {
        "name": name,
        "version": release.version,
        "description": release.summary,
        "license": release.licence,
        "repository": {"type": "git", "url": f"git+{release.repository}.git"},
        "homepage": release.repository,
        "keywords": ["claude-code", "sessions", "search", "mcp"],
        # Scoped packages are private unless they say otherwise; provenance says which workflow built them.
        "publishConfig": {"access": "public", "provenance": True},
    }


def pack(manifest: dict, files: dict[str, Path], third_party: str, out: Path) -> Path:
    with tempfile.TemporaryDirectory(prefix="backstory-npm-") as scratch:
        tree = Path(scratch) / "package"
        tree.mkdir()
        (tree / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
        shutil.copyfile(ROOT / "packaging/description.md", tree / "README.md")
        for licence in LICENCES:
            shutil.copyfile(ROOT / licence, tree / licence)
        if third_party:
            (tree / "LICENSES-THIRD-PARTY.txt").write_text(third_party)
        for path, source in files.items():
            (tree / path).parent.mkdir(exist_ok=True)
            shutil.copyfile(source, tree / path)
            (tree / path).chmod(0o755)
        # npm gives every file the same time.
        command = ["npm", "pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", str(out.resolve())]
        said = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout
    packed = json.loads(said)
    # npm 12 lists packages by their names.
    [about] = packed.values() if isinstance(packed, dict) else packed
    return out / about["filename"].replace("@", "").replace("/", "-")
