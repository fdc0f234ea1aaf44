"""Makes table.jsonl: the vectors of a few texts, reckoned from the table by its description alone.

    pip install tokenizers==0.23.3 numpy && python make_table.py
"""

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

HERE = Path(__file__).parent
TABLE = HERE.parent.parent / "table"
COUNT = 30522

TEXTS = [
    "token refresh",
    "Fix the leaking connections in the pool!",
    "HTTPServer2.refreshToken(user_id=42) -> Result<Vec<u8>, Error>",
    "数据库连接失败，请检查网络设置。",
    "Größe, naïveté, مرحبا 🦀",
    "a",
    "the session was rebuilt after the index had been lost " * 60,
]

tokenizer = Tokenizer(WordPiece.from_file(str(TABLE / "vocab.txt"), unk_token="[UNK]"))
tokenizer.normalizer = BertNormalizer(lowercase=True)
tokenizer.pre_tokenizer = BertPreTokenizer()

table = np.fromfile(TABLE / "static-256-i4.bin", dtype=np.uint8)
packed, scales = table[: COUNT * 128].reshape(COUNT, 128), table[COUNT * 128 :].view("<f2").astype(np.float64)
rows = np.stack([packed & 15, packed >> 4], axis=2).reshape(COUNT, 256).astype(np.float64) - 8
rows *= scales[:, None]
telling = scales >= 0.2 * scales.mean()

with open(HERE / "table.jsonl", "w") as file:
    for text in TEXTS:
        ids = np.array(tokenizer.encode(text, add_special_tokens=False).ids)
        vector = rows[ids[telling[ids]] if telling[ids].any() else ids].sum(axis=0)
        vector /= np.linalg.norm(vector)
        file.write(json.dumps([text, [round(float(number), 6) for number in vector]], separators=(",", ":")) + "\n")
