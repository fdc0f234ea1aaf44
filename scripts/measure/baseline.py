"""Plain BM25 to compare with: SQLite's FTS5 over passages of what was said; a session is as good as its best."""

import re
import sqlite3

from measure.questions import as_object, blocks

PASSAGE = 1600
# Passages that are looked at; enough for 20 sessions.
DEEP = 200
TABLE = "create virtual table passage using fts5 (session unindexed, said, tokenize = 'porter unicode61')"
BEST = "select session from passage where passage match ? order by rank limit ?"


class Baseline:
    def __init__(self, projects):
        self.passages = sqlite3.connect(":memory:")
        self.passages.execute(TABLE)
        for file in sorted(projects.glob("*/*.jsonl")):
            said = "\n".join(texts(file))
            rows = ((file.stem, said[at : at + PASSAGE]) for at in range(0, len(said), PASSAGE))
            self.passages.executemany("insert into passage values (?, ?)", rows)

    def rank(self, question):
        words = re.findall(r"\w+", question)
        if not words:
            return []
        any_of = " OR ".join(f'"{word}"' for word in words)
        found = self.passages.execute(BEST, (any_of, DEEP))
        return list(dict.fromkeys(session for (session,) in found))[:20]


def texts(file):
    """What the person and the model said in a transcript."""
    with open(file, encoding="utf-8", errors="replace") as lines:
        for record in map(as_object, lines):
            if record.get("type") in ("user", "assistant"):
                yield from (str(block.get("text", "")) for block in blocks(record) if block.get("type") == "text")
