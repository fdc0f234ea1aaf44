"""What every package holds besides the program: manual pages, completions, licences."""

import os
import subprocess
import tempfile
from pathlib import Path

from packing.release import LICENCES, ROOT

# Where each shell looks below a prefix such as /usr.
COMPLETIONS = {
    "bash": "share/bash-completion/completions/backstory",
    "zsh": "share/zsh/site-functions/_backstory",
    "fish": "share/fish/vendor_completions.d/backstory.fish",
}


def content(program: Path, third_party: str) -> dict[str, bytes]:
    """Files by their path below a prefix; `program` is one that runs on this machine."""
    files = {f"share/doc/backstory/{name}": (ROOT / name).read_bytes() for name in ["README.md", "CHANGELOG.md", *LICENCES]}
    files["share/doc/backstory/LICENSES-THIRD-PARTY.txt"] = third_party.encode()
    with tempfile.TemporaryDirectory(prefix="backstory-content-") as home:
        for shell, path in COMPLETIONS.items():
            files[path] = run(program, home, "completions", shell)
        pages = Path(home) / "man1"
        run(program, home, "man", str(pages))
        for page in sorted(pages.iterdir()):
            files[f"share/man/man1/{page.name}"] = page.read_bytes()
    return dict(sorted(files.items()))


def run(program: Path, home: str, *words: str) -> bytes:
    environment = {"HOME": home, "PATH": os.environ["PATH"], "BACKSTORY_HOME": f"{home}/state"}
    return subprocess.run([program.resolve(), *words], check=True, stdout=subprocess.PIPE, env=environment, cwd=home).stdout
