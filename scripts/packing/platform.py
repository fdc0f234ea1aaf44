"""For which machines a built program is, read from the program itself."""

import re
from dataclasses import dataclass
from pathlib import Path

# Of an ELF header, and of a Mach-O header.
ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
MACH_CPUS = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
# Installers know packages for this one under its number; older ones are of interest to nobody.
OLDEST_GLIBC = (2, 17)
# The oldest macOS that Rust's targets support.
MACOS = {"x86_64": "10_12", "aarch64": "11_0"}


@dataclass(frozen=True)
class Platform:
    system: str
    machine: str
    # The newest version of glibc of which a symbol is used, such as (2, 17); none on macOS.
    glibc: tuple[int, int] | None

    @property
    def triple(self) -> str:
        return f"{self.machine}-{'unknown-linux-gnu' if self.system == 'linux' else 'apple-darwin'}"

    @property
    def wheel_tag(self) -> str:
        if self.system == "darwin":
            return f"py3-none-macosx_{MACOS[self.machine]}_{'arm64' if self.machine == 'aarch64' else self.machine}"
        major, minor = self.glibc
        return f"py3-none-manylinux_{major}_{minor}_{self.machine}"

    @property
    def npm_cpu(self) -> str:
        return {"x86_64": "x64", "aarch64": "arm64"}[self.machine]

    @property
    def npm_name(self) -> str:
        return f"@backstory-sessions/{self.system}-{self.npm_cpu}"

    @property
    def debian(self) -> str:
        return {"x86_64": "amd64", "aarch64": "arm64"}[self.machine]


def platform_of(program: Path) -> Platform:
    content = program.read_bytes()
    if content[:6] == b"\x7fELF\x02\x01":
        machine = ELF_MACHINES.get(int.from_bytes(content[18:20], "little"))
        if machine:
            return Platform("linux", machine, newest_glibc(content))
    if content[:4] == b"\xcf\xfa\xed\xfe":
        machine = MACH_CPUS.get(int.from_bytes(content[4:8], "little"))
        if machine:
            return Platform("darwin", machine, None)
    raise SystemExit(f"{program} is no program for Linux or macOS on x86_64 or aarch64")


def newest_glibc(content: bytes) -> tuple[int, int]:
    """The versions of symbols are strings of their own in an ELF file."""
    versions = {(int(major), int(minor)) for major, minor in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)", content)}
    if not versions:
        raise SystemExit("the program names no version of glibc: link it dynamically")
    return max(OLDEST_GLIBC, *versions)
