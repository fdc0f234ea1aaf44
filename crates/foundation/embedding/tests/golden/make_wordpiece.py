"""Makes wordpiece.jsonl and wordpiece-characters.txt: what Hugging Face's tokenizer makes of many texts.

    pip install tokenizers==0.23.3 && python make_wordpiece.py

`encode_special_tokens` makes a literal "[CLS]" plain text, as it is for us.
"""

import json
import random
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

HERE = Path(__file__).parent
ROOT = HERE.parents[3]

tokenizer = Tokenizer(WordPiece.from_file(str(HERE.parent.parent / "table" / "vocab.txt"), unk_token="[UNK]"))
tokenizer.normalizer = BertNormalizer(lowercase=True)
tokenizer.pre_tokenizer = BertPreTokenizer()
tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
tokenizer.encode_special_tokens = True


def ids(text):
    return tokenizer.encode(text, add_special_tokens=False).ids


WRITTEN = """Fix the leaking connections in the pool!
[CLS] is plain text here, and so are [SEP], [MASK], [PAD] and [UNK].
HTTPServer2.refreshToken(user_id=42) -> Result<Vec<u8>, Error>
thread 'main' panicked at src/main.rs:17:5: index out of bounds: the len is 3 but the index is 7
/home/sam/my-shop/src/components/Cart.tsx:118 TypeError: Cannot read properties of undefined (reading 'id')
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
C'était déjà l'été, naïveté et œuvre; Ça coûte 3 €.
Größe, Straße, ÄÖÜ, ẞ und ß; Donaudampfschifffahrtsgesellschaftskapitän
El niño comió piñas mañana; ¿por qué no? ¡Claro!
Příliš žluťoučký kůň úpěl ďábelské ódy
Zażółć gęślą jaźń
İstanbul'da ışık ve IŞIK
Γεια σου Κόσμε, ΟΔΥΣΣΕΥΣ και οδυσσεύς
Съешь же ещё этих мягких французских булок, да выпей чаю; Ёлка й
שלום עולם, מָה שְׁלוֹמְךָ
مرحبا بالعالم، كَيْفَ حَالُكَ؟ ١٢٣
สวัสดีชาวโลก ภาษาไทยไม่มีเว้นวรรค ก็ดีอยู่แล้ว
नमस्ते दुनिया, क्षत्रिय हिन्दी
বাংলা ভাষা, தமிழ் மொழி, తెలుగు, ಕನ್ನಡ, മലയാളം, ગુજરાતી, ਪੰਜਾਬੀ
ភាសាខ្មែរ ລາວ မြန်မာ འབྲུག་ཡུལ་
数据库连接失败，请检查网络设置。
データベース接続プールが枯渇しました。ガギグゲゴ パピプペポ ｶﾞｷﾞ
데이터베이스 연결 풀이 고갈되었습니다 한글
𠀀𠀁𪜀𫝀 豈更車 丽
👍🏽 👩‍👩‍👧‍👦 🇩🇪 ❤️ 🦀 it works 🎉🎉
½ ¼ ² ³ ① Ⅷ ﬁ ﬂ Ǆ ǆ ℡ № ™ © ® µ Ω Å
“quoted” ‘single’ «guillemets» – en — em … ‽ ⁂ ¶ § † ‡
a\u0301e\u0301\u0323 o\u0323\u0301 \u1e69 s\u0307\u0323 \u0344
zero\u200bwidth soft\u00adhyphen bom\ufeff lrm\u200e word\u2060joiner
tab\there newline\nthere return\rthen nul\u0000 bell\u0007 escape\u001b[31m
nbsp\u00a0thin\u2009ideographic\u3000line\u2028paragraph\u2029next\u0085end
replacement\ufffd private\ue000 tag\U000e0041 variation\ufe0f
~`!@#$%^&*()_+-={}[]|\\:;"'<>,.?/ ^^ $$ ++ << >> ||
snake_case_name kebab-case-name dotted.name.here camelCaseName PascalCaseName SCREAMING_CASE
1,234,567.89 -3.14e-10 0xDEADBEEF 0b1010 1_000_000 12:34:56 2026-11-21T03:15:02Z
https://example.com/a/b?c=d&e=%20#frag user@example.com
""".split("\n")
WRITTEN += ["", " ", "a" * 100, "a" * 101, "é" * 100, "é" * 101, "e\u0301" * 101, "x" * 5000, "的" * 120, "ab" * 60 + " c", "##ing", "[unused1]"]

RANGES = [(0x20, 0x7E), (0xA0, 0x17F), (0x180, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x590, 0x5FF),
          (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F),
          (0x20A0, 0x2BFF), (0x3000, 0x30FF), (0x3400, 0x34FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF),
          (0xFB00, 0xFDFF), (0xFE00, 0xFFEF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x0, 0x1F)]
WORDS = "the index of a session was rebuilt after refreshToken failed HTTP_500 naïve Größe retry".split()


def mixed(rng):
    parts = []
    for _ in range(rng.randint(1, 8)):
        low, high = rng.choice(RANGES)
        run = "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 8)))
        parts.append(rng.choice([run, run, rng.choice(WORDS), rng.choice(WORDS) + run]))
    return rng.choice(["", " ", " "]).join(parts)


def texts():
    yield from WRITTEN
    for name in ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "docs/search-quality.md", "crates/engines/search/src/words.rs"]:
        yield from (line for line in (ROOT / name).read_text().splitlines() if line.strip())
    rng = random.Random(7)
    yield from (mixed(rng) for _ in range(3000))


def fnv(numbers, value):
    for number in numbers:
        value = ((value ^ number) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def main():
    with open(HERE / "wordpiece.jsonl", "w") as file:
        for text in texts():
            file.write(json.dumps([text, ids(text)], ensure_ascii=True, separators=(",", ":")) + "\n")
    # Every character of Unicode between two letters: one hash for each 256 of them.
    with open(HERE / "wordpiece-characters.txt", "w") as file:
        for block in range(0, 0x110000, 256):
            if 0xD800 <= block < 0xE000:
                continue
            value = 0xCBF29CE484222325
            for character in range(block, block + 256):
                value = fnv([*ids(f"a{chr(character)}b"), 0xFFFFFFFF], value)
            file.write(f"{block:06x} {value:016x}\n")


main()
