"""The bill of materials, as CycloneDX 1.5: every library that the program is linked with, its digest, licence and own needs."""

import json
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path

from packing.dependencies import foreign, graph
from packing.release import ROOT, Release


def write(release: Release, out: Path) -> Path:
    path = out / "backstory.cdx.json"
    path.write_text(json.dumps(bill(release), indent=2, sort_keys=True) + "\n")
    return path


def bill(release: Release) -> dict:
    packages, linked = graph()
    digests = {(one["name"], one["version"]): one.get("checksum") for one in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}
    program = {"type": "application", "bom-ref": "backstory", "name": "backstory", "version": release.version, **licence(release.licence)}
    own = [package for package in packages.values() if not package["source"]]
    direct = {refer(packages[id]) for package in own for id in linked[package["id"]] if packages[id]["source"]}
    needs = [{"ref": refer(package), "dependsOn": sorted(refer(packages[id]) for id in linked[package["id"]])} for package in foreign()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        # The same for the same libraries of the same release.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{release.repository} {release.time} {sorted(direct)}')}",
        "metadata": {"timestamp": datetime.fromtimestamp(release.time, timezone.utc).isoformat().replace("+00:00", "Z"), "component": program},
        "components": [component(package, digests[package["name"], package["version"]]) for package in foreign()],
        "dependencies": [{"ref": "backstory", "dependsOn": sorted(direct)}, *needs],
    }


def component(package: dict, digest: str) -> dict:
    described = {
        "type": "library",
        "bom-ref": refer(package),
        "name": package["name"],
        "version": package["version"],
        "purl": refer(package),
        "scope": "required",
        "hashes": [{"alg": "SHA-256", "content": digest}],
        **licence(package["license"]),
    }
    if package["repository"]:
        described["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return described


def refer(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}".replace("+", "%2B")


def licence(expression: str | None) -> dict:
    # An old manifest separates with a slash.
    return {"licenses": [{"expression": expression.replace("/", " OR ").replace("  ", " ")}]} if expression else {}
