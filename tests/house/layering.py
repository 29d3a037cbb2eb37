"""Every include of src/ points up the list of folders, as docs/architecture.md draws it."""
import pathlib
import re
import sys

# From the ground up. A folder includes itself and what stands above it here.
ORDER = ("base gpu tensor ops backend/ref backend/cpu backend/cuda formats doctor audio text nn models store speech chat "
         "place engine jobs talk matrix pipeline server cli").split()

# Narrower than the order: these see nothing but what is listed, and themselves.
ONLY = {
    "backend/ref": {"base", "gpu", "tensor"},
    "backend/cpu": {"base", "gpu", "tensor"},
    "backend/cuda": {"base", "gpu", "tensor"},
    "doctor": {"base", "gpu", "formats"},
}

# Folders of a room, from its ground up; files that stand in the room itself see all of them.
INSIDE = {
    "place": "terms wire elsewhere workers discovery plans proofs state kinds".split(),
    "talk": "memory tools organs turns loop".split(),
    "server": "http access net metrics models operation hear jobs speak chat elsewhere compat wyoming realtime page".split(),
    "cli": "command files models placement hear speak chat talk serve doctor".split(),
}

# Folders of one family of models: none but the family includes from them, and the file that opens a model by its family.
FAMILIES = {"speech/sphinx": "speech/load_hearing.cpp", "speech/whisper": "speech/load_hearing.cpp"}

# Programs beside mynah, apart from the list: mynah-media alone links FFmpeg and sees only these.
BESIDE = {"media": {"base", "audio"}}


def folder_of(path):
    """The folder a path of src/ belongs to: models/whisper/decoder.h to models/whisper."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("backend", "models") and len(parts) > 2 else parts[0]


def rank(folder):
    return ORDER.index("models" if folder.startswith("models/") else folder)


def fault(folder, included):
    if folder == included:
        return None
    if folder in BESIDE:
        return None if included in BESIDE[folder] else f"{folder} may include only {sorted(BESIDE[folder])}"
    if included in BESIDE:
        return f"{included} is a program of its own"
    if folder in ONLY and included not in ONLY[folder]:
        return f"{folder} may include only {sorted(ONLY[folder])} and itself"
    if folder.startswith("models/") and included.startswith("models/"):
        return "a model never includes a sibling"
    if rank(included) >= rank(folder):
        return f"{included} does not stand above {folder}"
    return None


def inner_fault(name, target):
    """`name` includes `target`, both files of src/ by their paths."""
    room, rest = name.split("/", 1)
    if room not in INSIDE or not target.startswith(room + "/"):
        return None
    order = INSIDE[room]
    own, other = (path.split("/")[0] if "/" in path else "" for path in (rest, target.split("/", 1)[1]))
    for folder in (own, other):
        if folder and folder not in order:
            return f"folder {folder} is not in the list of {room}/"
    place = [order.index(folder) if folder else len(order) for folder in (own, other)]
    return f"{other or room} does not stand above {own} in {room}/" if place[1] > place[0] else None


def family_fault(name, target):
    """`name`, a file of src/, includes `target`, another."""
    for family, opener in FAMILIES.items():
        if target.startswith(family + "/") and not name.startswith(family + "/") and name != opener:
            return f"{family}/ is a family's own: {opener} alone may include from it"
    return None


def check(root):
    faults = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".cu", ".inl"):
            continue
        name = path.relative_to(root / "src").as_posix()
        if "/" not in name:
            continue
        folder = folder_of(name)
        if folder not in BESIDE and not folder.startswith("models/") and folder not in ORDER:
            faults.append(f"src/{name}: folder {folder} is not in the list")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1)
            if "/" not in target or not (root / "src" / target).is_file():
                faults.append(f'src/{name}:{number}: "{target}" is not a file of src/ by its path from there')
                continue
            reason = fault(folder, folder_of(target)) or family_fault(name, target) or inner_fault(name, target)
            if reason:
                faults.append(f"src/{name}:{number}: includes {target}: {reason}")
    return faults


def main():
    # The rules themselves first: each must refuse what it is there to refuse.
    assert fault("ops", "tensor") is None and fault("tensor", "ops")
    assert fault("backend/cpu", "ops") and fault("backend/cpu", "backend/ref")
    assert fault("models/silero", "models/whisper") and fault("models/silero", "nn") is None
    assert fault("text", "speech") and fault("cli", "speech") is None
    assert folder_of("models/whisper/decoder.h") == "models/whisper"
    assert family_fault("speech/job.cpp", "speech/whisper/decoder.h") and family_fault("place/x.cpp", "speech/whisper/decoder.h")
    assert family_fault("speech/whisper/a.cpp", "speech/whisper/b.h") is None and family_fault("speech/whisper/a.cpp", "speech/job.h") is None
    assert family_fault("speech/load_hearing.cpp", "speech/whisper/b.h") is None
    assert inner_fault("place/wire/a.h", "place/workers/b.h") and inner_fault("place/terms/a.h", "place/placer.h")
    assert inner_fault("place/workers/a.h", "place/wire/b.h") is None and inner_fault("place/a.h", "place/kinds/x/b.h") is None
    assert inner_fault("place/gone/a.h", "place/terms/b.h") and inner_fault("place/terms/a.h", "speech/b.h") is None
    faults = check(pathlib.Path(sys.argv[1]))
    print("\n".join(faults) or "every include points up the list")
    sys.exit(1 if faults else 0)


main()
