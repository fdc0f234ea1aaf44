"""What a run of the suite says at its end: what failed, how long each step took, the slowest tests, and one line of
totals. `scripts/test` calls it with the folder of the run, which keeps the same as report.txt."""

import argparse
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

SLOWEST = 20
# What a failed test printed may be a screen of a terminal or a page: more is in the log above.
LINES = 60


@dataclass
class Test:
    name: str
    seconds: float
    # passed, flaky, failed or skipped
    outcome: str
    output: str = ""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--strict", action="store_true", help="a flaky test fails the run")
    arguments.add_argument("failed", nargs="*", help="steps that failed")
    asked = arguments.parse_args()
    tests = read_tests(asked.folder)
    text = "\n".join([*failures(tests), *timings(asked.folder, tests), *conclusion(tests, asked)])
    print(text)
    (asked.folder / "report.txt").write_text(text + "\n")
    return 0 if is_good(tests, asked) else 1


def read_tests(folder: Path) -> list[Test]:
    tests = [test for file in sorted(folder.glob("*.xml")) for test in tests_of(file)]
    log = folder / "rust.log"
    if log.exists():
        # An ignored test is in no JUnit file.
        skipped = re.findall(r"Summary .*?(\d+) skipped", log.read_text(errors="replace"))
        tests += [Test("ignored Rust test", 0, "skipped") for _ in range(int(skipped[-1]) if skipped else 0)]
    examples = folder / "examples.log"
    if examples.exists():
        for passed, failed in re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", examples.read_text()):
            tests += [Test("example", 0, "passed")] * int(passed) + [Test("example", 0, "failed")] * int(failed)
    return tests


def tests_of(file: Path) -> list[Test]:
    return [test_of(case) for case in ET.parse(file).getroot().iter("testcase")]


def test_of(case: ET.Element) -> Test:
    place = case.get("classname", "").removeprefix("backstory-").removesuffix("::integration")
    name = f"{place} {case.get('name')}".strip()
    problem = case.find("failure") if case.find("failure") is not None else case.find("error")
    if problem is not None:
        printed = [case.findtext("system-out"), case.findtext("system-err"), problem.text]
        return Test(name, seconds(case), "failed", "\n".join(text for text in printed if text))
    if case.find("skipped") is not None:
        return Test(name, seconds(case), "skipped")
    flaky = case.find("flakyFailure") is not None or case.find("flakyError") is not None
    return Test(name, seconds(case), "flaky" if flaky else "passed")


def seconds(case: ET.Element) -> float:
    # A test that was tried again took both times.
    tries = sum(float(one.get("time", 0)) for one in case if one.tag in ("flakyFailure", "flakyError", "rerunFailure"))
    return float(case.get("time", 0)) + tries


def failures(tests: list[Test]) -> list[str]:
    lines = []
    for test in tests:
        if test.outcome == "failed":
            lines += [f"FAILED {test.name}", *(f"    {line}" for line in test.output.splitlines()[-LINES:])]
    return lines + [f"FLAKY {test.name}" for test in tests if test.outcome == "flaky"]


def timings(folder: Path, tests: list[Test]) -> list[str]:
    lines = ["", "Steps:"]
    total = 0
    for line in (folder / "steps.tsv").read_text().splitlines():
        name, taken = line.split("\t")
        total += int(taken)
        lines.append(f"  {minutes(int(taken))}  {name}")
    lines.append(f"  {minutes(total)}  in all")
    slowest = sorted(tests, key=lambda test: -test.seconds)[:SLOWEST]
    return [*lines, "", f"The {len(slowest)} slowest tests:", *(f"  {test.seconds:7.1f} s  {test.name}" for test in slowest)]


def minutes(taken: int) -> str:
    return f"{taken // 60:3d} min {taken % 60:02d} s"


def conclusion(tests: list[Test], asked: argparse.Namespace) -> list[str]:
    lines = [""] + [f"The step failed: {step}. Its own lines are above." for step in asked.failed]
    if count(tests, "skipped"):
        lines.append("Tests were skipped; every test must run.")
    if asked.strict and count(tests, "flaky"):
        lines.append("A test that passed only when it was tried again fails a strict run.")
    if not tests:
        lines.append("No test ran.")
    passed = count(tests, "passed") + count(tests, "flaky")
    return [*lines, f"{passed} passed, {count(tests, 'failed')} failed, {count(tests, 'skipped')} skipped"]


def count(tests: list[Test], outcome: str) -> int:
    return sum(test.outcome == outcome for test in tests)


def is_good(tests: list[Test], asked: argparse.Namespace) -> bool:
    unwanted = ["failed", "skipped", *(["flaky"] if asked.strict else [])]
    return bool(tests) and not asked.failed and not any(count(tests, outcome) for outcome in unwanted)


if __name__ == "__main__":
    sys.exit(main())
