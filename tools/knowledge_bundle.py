#!/usr/bin/env python3
"""Writes the knowledge base as the one file that `mynah doctor update FILE` takes.

  python tools/knowledge_bundle.py > knowledge.json
"""
import json
import pathlib

folder = pathlib.Path(__file__).parent.parent / "src/doctor/knowledge"
files = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
print(json.dumps({"format": 1, "date": max(file["date"] for file in files.values()), "files": files}))
