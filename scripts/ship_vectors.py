"""Write the vectors of the present index to ``data/vectors``, so that a fresh clone's first index takes seconds.

python scripts/ship_vectors.py
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import Settings
from core.ingestion.fragments import embedding_text
from core.retrieval.adapter import IDENTITY
from core.retrieval.shipped import SHIPPED_DIR, save_shipped
from core.retrieval.snapshot import take_snapshot
from core.services import build_services


def main() -> None:
    """Read the index and write both files."""
    services = build_services(Settings())
    snapshot = take_snapshot(services.store, services.questions, IDENTITY)
    fingerprint = services.embedder.fingerprint
    save_shipped("passages", [embedding_text(f) for f in snapshot.fragments], snapshot.passages, fingerprint)
    save_shipped("questions", list(snapshot.question_texts), snapshot.questions, fingerprint)
    for path in sorted(SHIPPED_DIR.glob("*.npz")):
        print(f"{path.name}: {path.stat().st_size / 2**20:.1f} MB")
    print(f"{len(snapshot.fragments)} fragments, {len(snapshot.question_texts)} questions")


if __name__ == "__main__":
    main()
