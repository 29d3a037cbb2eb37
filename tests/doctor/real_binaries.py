"""What mynah reads of real libraries is what readelf, objdump and cuobjdump read of them, on every file.

Usage: real_binaries.py DOCTOR_BINARY_TOOL FOLDER...

FOLDER holds wheels, or trees that they were unpacked into. cuobjdump is looked for on PATH and in the folders (package
nvidia-cuda-cuobjdump); without it, and for DLLs, the fat binaries are held only against what is inside them. Ends with the figures, and
with 77 (skipped) where there is nothing to look at.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

CONTAINERS = {".nv_fatbin", "__nv_relfatbin", ".nv_fatb"}
PTX, CUBIN = 1, 2
LZ4, ZSTD = 1, 2
SAMPLE = 40  # images of each kind and file that are unpacked and looked into
LIBRARY = re.compile(r"\.(so(\.[0-9.]+)?|dll|pyd)$")


def libraries(folder, scratch):
    """The libraries of a tree, those inside of its wheels too."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".whl" and zipfile.is_zipfile(path):
            target = scratch / path.stem
            with zipfile.ZipFile(path) as wheel:
                for member in wheel.namelist():
                    if LIBRARY.search(member) or member.endswith("/cuobjdump"):
                        wheel.extract(member, target)
            yield from libraries(target, scratch)
            shutil.rmtree(target, ignore_errors=True)
        elif LIBRARY.search(path.name) and path.is_file() and not path.is_symlink():
            yield path


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout


def by_readelf(path):
    found = {"needed": [], "rpath": None, "runpath": None, "soname": "", "version_needs": {}, "version_definitions": []}
    for line in run("readelf", "-dW", path).splitlines():
        match = re.search(r"\((NEEDED|RPATH|RUNPATH|SONAME)\) .*?\[(.*)\]$", line)
        if match and match[1] == "NEEDED":
            found["needed"].append(match[2])
        elif match:
            found[match[1].lower()] = match[2]
    part, file = "", ""
    for line in run("readelf", "-VW", path).splitlines():
        if line.startswith("Version "):
            part = line.split()[1]
        elif part == "needs":
            file_match = re.search(r"Version: \d+  File: (\S+)", line)
            name_match = re.search(r"  Name: (\S+)  Flags:", line)
            if file_match:
                file = file_match[1]
            elif name_match:
                found["version_needs"].setdefault(file, []).append(name_match[1])
        elif part == "definition":
            match = re.search(r"Flags: (.*?) +Index: .* Name: (\S+)", line)
            if match and "BASE" not in match[1]:
                found["version_definitions"].append(match[2])
    count, undefined = 0, []
    for line in run("readelf", "-W", "--dyn-syms", path).splitlines():
        if match := re.match(r" *(\d+): \S+ +\S+ \S+ +\S+ +\S+ +(?:\[.*\] +)?(\S+) (\S+)", line):
            count = int(match[1])
            if match[2] == "UND":
                undefined.append(match[3].split("@")[0])
        elif match := re.match(r" *(\d+): ", line):
            count = int(match[1])
    found["symbols"] = {"count": count, "undefined": undefined}
    return found


def by_objdump(path):
    """DLLs imported and the DLL's own name, as far as objdump tells: some read no PE files, or not all of their tables."""
    text = run("objdump", "-p", path)
    found, name = {}, re.search(r"^Name\s+[0-9a-f]+ (\S+)$", text, re.M)
    if imports := re.findall(r"^\s+DLL Name: (\S+)$", text, re.M):
        found["imports"] = imports
    if name:
        found["export_name"] = name[1]
    return found


def by_ldd(path):
    """Where ld.so finds what the file and its libraries need: real paths by name, "" where it finds none."""
    found = {}
    for line in run("ldd", path).splitlines():
        if match := re.match(r"\s+(\S+) => (not found|/.*?)( \(0x|$)", line):
            found[match[1]] = "" if match[2] == "not found" else os.path.realpath(match[2])
    return found


def by_cuobjdump(cuobjdump, path):
    """(kind, architecture with its variant, version of the PTX language, compressed) and how many of each, and whether
    cuobjdump read the file to its end: that of CUDA 13 gives up at machine code for 9.0 that CUDA 12 compiled, and at
    architectures that it no longer knows."""
    images, image = collections.Counter(), None
    done = subprocess.run([cuobjdump, "--all-fatbin", path], capture_output=True, text=True, errors="replace")

    def close():
        if image:
            images[(image["kind"], image["arch"], image["version"], image["compressed"])] += 1

    for line in done.stdout.splitlines():
        if match := re.match(r"Fatbin (elf|ptx) code:", line):
            close()
            image = {"kind": match[1], "arch": "", "version": "", "compressed": False}
        elif image and line.startswith("arch = "):
            image["arch"] = line.removeprefix("arch = ").strip()
        elif image and line.startswith("code version = [") and image["kind"] == "ptx":
            image["version"] = line.removeprefix("code version = [").strip(" ]").replace(",", ".")
        elif image and line.startswith("compressed"):
            image["compressed"] = True
        elif line.startswith("Fatbin "):
            close()
            image = None
    close()
    return images, "fatal" not in done.stderr


def by_mynah(fatbins):
    images = collections.Counter()
    for fatbin in fatbins:
        for entry in fatbin["entries"]:
            if fatbin["section"] in CONTAINERS and entry["kind"] in (PTX, CUBIN):
                ptx = entry["kind"] == PTX
                images[("ptx" if ptx else "elf", f"sm_{entry['arch']}{entry['variant'].strip()}",
                        ".".join(map(str, entry["ptx"])) if ptx else "", entry["compression"] != 0)] += 1
    return images


def unlz4(block, wanted):
    """The first bytes of an LZ4 block (lz4_Block_format.md)."""
    out, at = bytearray(), 0

    def length(nibble):
        nonlocal at
        size = nibble
        while nibble == 15:
            more = block[at]
            at += 1
            size += more
            if more != 255:
                break
        return size

    while at < len(block) and len(out) < wanted:
        token = block[at]
        at += 1
        literals = length(token >> 4)
        out += block[at:at + literals]
        at += literals
        if at + 2 > len(block):
            break
        distance = struct.unpack_from("<H", block, at)[0]
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-distance])
    return bytes(out[:wanted])


def unpack(payload, compression, wanted):
    if compression == ZSTD:
        done = subprocess.run(["zstd", "-dcq", "--no-check"], input=payload, capture_output=True)
        return done.stdout[:wanted]
    return unlz4(payload, wanted) if compression == LZ4 else payload[:wanted]


def image_faults(path, fatbins):
    """What an image is inside against what its entry says: (how many were looked into, faults)."""
    faults, seen = [], collections.Counter()
    with open(path, "rb") as file:
        for entry in (entry for fatbin in fatbins for entry in fatbin["entries"]):
            kind = (entry["kind"], entry["arch"], entry["variant"], entry["compression"])
            if entry["kind"] not in (PTX, CUBIN) or seen[kind] >= SAMPLE // 4 or sum(seen.values()) >= 4 * SAMPLE:
                continue
            if entry["compression"] == ZSTD and not shutil.which("zstd"):
                continue
            seen[kind] += 1
            file.seek(entry["offset"])
            head = unpack(file.read(entry["size"]), entry["compression"], 4096)
            if entry["kind"] == PTX:
                match = re.search(rb"\.version (\d+)\.(\d+)\s.*?\.target sm_(\d+)([af]?)", head, re.S)
                found = match and (*map(int, match.groups()[:3]), match[4].decode())
                wanted = (*entry["ptx"], entry["arch"], entry["variant"].strip())
            else:
                is_cubin = head[:4] == b"\x7fELF" and struct.unpack_from("<H", head, 18)[0] == 190
                flags = struct.unpack_from("<I", head, 48)[0] if is_cubin else 0
                found = (flags >> 8 if head[7:8] == b"\x41" else flags) & 0xFF if is_cubin else "no cubin"
                wanted = entry["arch"]
            if found != wanted:
                faults.append(f"image at {entry['offset']}: its entry says {wanted}, inside it is {found}")
    return sum(seen.values()), faults


def compare(read, cuobjdump, figures):
    path, faults = read["file"], []
    if "error" in read:
        return [f"mynah does not read it: {read['error']}"]
    if "elf" in read:
        figures["ELF files"] += 1
        for key, value in by_readelf(path).items():
            if read["elf"][key] != value:
                faults.append(f"{key}: mynah {str(read['elf'][key])[:300]}, readelf {str(value)[:300]}")
        theirs = by_ldd(path)
        figures["files that ldd resolves"] += bool(theirs)
        figures["libraries that ldd resolves"] += len(theirs)
        figures["of them missing"] += list(theirs.values()).count("")
        # ldd says nothing of the loader itself, nor of files for another machine.
        mine = {name: found for name, found in read["elf"]["wants"].items() if not name.startswith("ld-linux")}
        if theirs and mine != theirs:
            faults.append(f"mynah finds {sorted(mine.items() - theirs.items())}, ldd {sorted(theirs.items() - mine.items())}")
    if "pe" in read:
        figures["PE files"] += 1
        for key, value in by_objdump(path).items():
            if read["pe"][key] != value:
                faults.append(f"{key}: mynah {read['pe'][key]}, objdump {value}")
    fatbins = read["fatbins"]
    contained = sum(fatbin["section"] in CONTAINERS for fatbin in fatbins)
    figures["fat binaries"] += len(fatbins)
    figures["fat binaries outside of containers"] += len(fatbins) - contained
    figures["images"] += sum(len(fatbin["entries"]) for fatbin in fatbins)
    if read["declared"] > contained:  # cuSPARSE has one that its table leaves out
        faults.append(f"{read['declared']} fat binaries in .nvFatBinSegment, {contained} found")
    if cuobjdump and "elf" in read:
        mine, (theirs, whole) = by_mynah(fatbins), by_cuobjdump(cuobjdump, path)
        figures["files that cuobjdump lists"] += bool(theirs) and whole
        figures["files where cuobjdump gives up"] += not whole
        if mine != theirs if whole else theirs - mine:
            faults.append(f"mynah alone {dict(mine - theirs)}, cuobjdump alone {dict(theirs - mine)}")
    looked_into, wrong = image_faults(path, fatbins)
    figures["images looked into"] += looked_into
    return faults + wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if not shutil.which("readelf"):
        print("skipped: no readelf")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        cuobjdump = shutil.which("cuobjdump")
        for folder in options.folders:
            for path in folder.rglob("bin/cuobjdump"):
                cuobjdump = cuobjdump or str(path)
            for path in folder.glob("nvidia_cuda_cuobjdump-*.whl"):
                with zipfile.ZipFile(path) as wheel:
                    member = next(name for name in wheel.namelist() if name.endswith("/cuobjdump"))
                    cuobjdump = cuobjdump or wheel.extract(member, scratch)
        if cuobjdump:
            os.chmod(cuobjdump, 0o755)
        figures, failed, largest = collections.Counter(), 0, []
        for path in (path for folder in options.folders for path in libraries(folder, pathlib.Path(scratch))):
            read = json.loads(run(options.tool, str(path)))
            faults = compare(read, cuobjdump, figures)
            figures["files"] += 1
            failed += bool(faults)
            largest.append((path.stat().st_size >> 20, path.name, round(read.get("milliseconds", 0)),
                            round(read.get("touched_mib", 0)), len(read.get("fatbins", ()))))
            for fault in faults:
                print(f"{path}: {fault}")
    if not figures["files"]:
        print("skipped: no library in", *options.folders)
        sys.exit(77)
    for size, name, time, touched, count in sorted(largest, reverse=True)[:12]:
        print(f"{name}: {size} MiB, {count} fat binaries in {time} ms, {touched} MiB touched")
    print(", ".join(f"{count} {name}" for name, count in figures.items()))
    print(f"{'cuobjdump agrees' if cuobjdump else 'no cuobjdump'}; {failed} files differ")
    sys.exit(1 if failed else 0)


main()
