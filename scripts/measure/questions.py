"""A hundred mixed questions from a corpus: words, identifiers, phrases, paths, CJK, filters.

They are drawn from what was said and done in it, or from its labelled questions; always the same ones.
"""

import json
import random
import re

# Of each kind, how many in a hundred.
MIX = {"words": 30, "identifier": 20, "phrase": 15, "path": 10, "cjk": 10, "filter": 15}
WORD = re.compile(r"[a-z]{4,14}")
IDENTIFIER = re.compile(r"\b(?:[a-z]+_[a-z_]+[a-z]|[a-z]+[A-Z][a-zA-Z]+)\b")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2,6}")
FILTERS = ["project:{project}", "role:user", "since:2026-01-01", "branch:main"]
# Bytes looked at in each of the files that are drawn.
LOOK = 1 << 20


def mixed(corpus, seed=7):
    """The questions, in a mixed order."""
    draw = random.Random(seed)
    material = Material(corpus, draw)
    questions = [getattr(material, kind)() for kind, count in MIX.items() for _ in range(count)]
    draw.shuffle(questions)
    return questions


class Material:
    """What questions are made of."""

    def __init__(self, corpus, draw):
        self.draw, self.labelled = draw, labelled(corpus)
        files = sorted(corpus.glob("projects/*/*.jsonl"))
        self.texts, self.paths, self.projects = [], [], []
        for file in draw.sample(files, min(60, len(files))):
            self.look(file)
        long = [text for text in self.texts if len(WORD.findall(text)) > 5]
        self.texts = long or ["nothing was said here about those tests"]

    def look(self, file):
        with open(file, "rb") as lines:
            for line in lines.read(LOOK).splitlines()[:-1]:
                record = as_object(line)
                self.projects += {str(record["cwd"]).rsplit("/", 1)[-1]} if record.get("cwd") else ()
                for block in blocks(record):
                    if block.get("type") == "text":
                        self.texts.append(str(block.get("text"))[:4000])
                    elif path := as_dict(block.get("input")).get("file_path"):
                        self.paths.append(str(path))

    def words(self):
        if self.labelled and self.draw.random() < 0.7:
            return self.draw.choice(self.labelled)
        words = WORD.findall(self.draw.choice(self.texts))
        at = self.draw.randrange(len(words) - 3)
        return " ".join(words[at : at + self.draw.randint(1, 4)])

    def identifier(self):
        return self.from_texts(IDENTIFIER) or "parse_record"

    def phrase(self):
        text = self.draw.choice(self.texts)
        three = re.findall(r"(?=\b([a-z]+ [a-z]+ [a-z]+)\b)", text)
        return f'"{self.draw.choice(three)}"' if three else '"in the file"'

    def path(self):
        parts = self.draw.choice(self.paths or ["src/main.rs"]).split("/")
        return "/".join(parts[-self.draw.randint(1, 3) :])

    def cjk(self):
        return self.from_texts(CJK) or "登录令牌"

    def filter(self):
        project = self.draw.choice(self.projects or ["project"])
        return self.words() + " " + self.draw.choice(FILTERS).format(project=project)

    def from_texts(self, pattern):
        """A match in one of a few hundred texts."""
        for _ in range(300):
            if found := pattern.findall(self.draw.choice(self.texts)):
                return self.draw.choice(found)
        return None


def labelled(corpus):
    """The questions of a labelled corpus."""
    for name in ["queries.jsonl", "qrels.jsonl"]:
        if (corpus / name).exists():
            with open(corpus / name, encoding="utf-8") as lines:
                return [as_object(line)["query"] for line in lines if line.strip()]
    return []


def blocks(record):
    content = as_dict(record.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def as_object(line):
    try:
        return as_dict(json.loads(line))
    except ValueError:
        return {}


def as_dict(value):
    return value if isinstance(value, dict) else {}
