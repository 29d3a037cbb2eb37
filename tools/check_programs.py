#!/usr/bin/env python3
"""Assembles every program of mynah's (the kernels' PTX) for every architecture that it can run on.

Usage: check_programs.py PTXAS FOLDER BUDGET PROGRAMS [--traffic FILE] [--all | --write | --count]

FOLDER holds GROUP.smLEVEL.ptx, as the build leaves them. BUDGET (docs/kernels.tsv) says what each kernel takes: a spill, more
registers or shared memory, less occupancy, less of what is moved wanted, more conflicts in shared memory, fewer products by
matrix units, a kernel that is not in it or no longer there, and a program that is refused are failures. PROGRAMS
(docs/kernel_programs.tsv) has the digests of the programs that the budget is of: what has the same instructions takes the same of
a card, and is assembled with --all alone. --traffic is what mynah_bench_traffic prints; --count prints how many programs are to
be assembled, for who makes that only where it is wanted. --write assembles all and makes both files anew from what is found,
spills excepted.
"""

import argparse
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import tempfile

# Level of a program -> architectures whose driver may be given it: every later one; for the first levels the next level's
# program takes over where there is one (programs.cpp), but an older program must run there too.
ARCHITECTURES = [60, 61, 70, 75, 80, 86, 89, 90, 100, 120, 121]

# Per multiprocessor: registers, threads, blocks, bytes of shared memory, bytes the system takes of each block's shared
# memory. CUDA C++ Programming Guide, "Features and Technical Specifications per Compute Capability".
LIMITS = {
    60: (65536, 2048, 32, 64 << 10, 0),
    61: (65536, 2048, 32, 96 << 10, 0),
    70: (65536, 2048, 32, 96 << 10, 0),
    75: (65536, 1024, 16, 64 << 10, 0),
    80: (65536, 2048, 32, 164 << 10, 1 << 10),
    86: (65536, 1536, 16, 100 << 10, 1 << 10),
    89: (65536, 1536, 24, 100 << 10, 1 << 10),
    90: (65536, 2048, 32, 228 << 10, 1 << 10),
    100: (65536, 2048, 32, 228 << 10, 1 << 10),
    120: (65536, 1536, 24, 100 << 10, 1 << 10),
    121: (65536, 1536, 24, 100 << 10, 1 << 10),
}


# A level that is one architecture's own: no later one runs it.
OWN = {90: "sm_90a"}


def architectures_of(level):
    return [arch for arch in ARCHITECTURES if (arch == level if level in OWN else arch >= level)]


def occupancy(arch, registers, shared, threads):
    """Percent of a multiprocessor's threads that can be there at once; dynamic shared memory is not counted."""
    all_registers, all_threads, most_blocks, all_shared, reserved = LIMITS[arch]
    warps = threads // 32
    # Registers are given to warps in units of 256, so 8 for each of 32 lanes.
    of_warp = -(-max(registers, 1) // 8) * 8 * 32
    blocks = min(most_blocks, all_threads // threads, (all_registers // of_warp) // warps)
    if shared + reserved > 0:
        blocks = min(blocks, all_shared // (shared + reserved))
    return 100 * blocks * threads // all_threads


def assemble(ptxas, path, level, arch):
    """Facts of each kernel: {entry: (registers, shared bytes, spilled bytes, stack bytes)}; or the error."""
    with tempfile.NamedTemporaryFile() as out:
        run = subprocess.run([ptxas, "-v", f"-arch={OWN.get(level, f'sm_{arch}')}", path, "-o", out.name], capture_output=True, text=True)
    if run.returncode != 0:
        return None, (run.stderr + run.stdout).strip()
    facts, entry, stack, spilled = {}, None, 0, 0
    for line in run.stderr.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            entry, stack, spilled = match.group(1), 0, 0
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            stack, spilled = int(match.group(1)), int(match.group(2)) + int(match.group(3))
        elif entry and (match := re.search(r"Used (\d+) registers", line)):
            shared = re.search(r"(\d+) bytes smem", line)
            facts[entry.removeprefix("mynah_")] = (int(match.group(1)), int(shared.group(1)) if shared else 0, spilled, stack)
            entry = None
    return facts, None


def threads_of(path):
    """Threads of a block at most, by entry: what MYNAH_KERNEL was told."""
    threads, entry = {}, None
    for line in open(path, encoding="utf-8"):
        if match := re.search(r"\.entry (\w+)\(", line):
            entry = match.group(1).removeprefix("mynah_")
        elif match := re.search(r"\.maxntid (\d+)", line):
            threads[entry] = int(match.group(1))
    return threads


def instructions(path):
    """The text but for comments and the lines that say what it is for."""
    lines = (line.split("//")[0].rstrip() for line in open(path, encoding="utf-8"))
    return "\n".join(line for line in lines if line and not line.startswith((".version", ".target")))


def carried(folder):
    """The programs that mynah carries, {path: (group, level, digest)}: a level that has the same instructions as a lower one is left
    out, as src/backend/cuda/programs/pack_programs.cpp does."""
    programs, known = {}, set()
    for name in os.listdir(folder):
        if match := re.fullmatch(r"(\w+)\.sm(\d+)\.ptx", name):
            programs[os.path.join(folder, name)] = (match.group(1), int(match.group(2)))
    kept = {}
    for path, (group, level) in sorted(programs.items(), key=lambda item: item[1]):
        digest = hashlib.sha256(instructions(path).encode()).hexdigest()[:16]
        if (group, digest) not in known:
            known.add((group, digest))
            kept[path] = (group, level, digest)
    return kept


def read_programs(path):
    """{(group, level): digest}."""
    rows = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8") if not line.startswith("#")]
    return {(group, int(level)): known for group, level, known in rows}


def write_programs(path, programs):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# The programs that docs/kernels.tsv is of: group, level, the first digits of SHA-256 of its instructions. Made\n"
                  "# and read by tools/check_programs.py.\n")
        for group, level, digest in sorted(programs.values()):
            out.write(f"{group}\t{level}\t{digest}\n")


def as_budgeted(programs, known, allowed):
    """The rows that the budget has of the kernels of programs that are known by their digests, and the paths of the others, whose
    level they are of: to be assembled."""
    found, changed = {}, {}
    for path, (group, level, digest) in programs.items():
        keys = [(kernel, level, arch) for kernel in threads_of(path) for arch in architectures_of(level)]
        if known.get((group, level)) == digest and all(key in allowed for key in keys):
            found |= {key: allowed[key] for key in keys}
        else:
            changed[path] = level
    return found, changed


def measure(ptxas, changed):
    """{(kernel, level, arch): (threads, registers, shared, occupancy)}, what is wrong, and how many were assembled."""
    found, wrong = {}, []
    jobs = [(path, level, arch) for path, level in changed.items() for arch in architectures_of(level)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (path, level, arch), (facts, error) in zip(jobs, pool.map(lambda job: assemble(ptxas, *job), jobs)):
            if error:
                wrong.append(f"{os.path.basename(path)} for sm_{arch}: {error}")
                continue
            threads = threads_of(path)
            for kernel, (registers, shared, spilled, stack) in facts.items():
                if spilled:
                    wrong.append(f"{kernel}, level {level}, sm_{arch}: spills {spilled} bytes of registers")
                if stack:
                    wrong.append(f"{kernel}, level {level}, sm_{arch}: keeps {stack} bytes in local memory")
                found[kernel, level, arch] = (
                    threads[kernel], registers, shared, occupancy(arch, registers, shared, threads[kernel]))
    return found, wrong, len(jobs)


HEADER = ["kernel", "level", "threads", "shared"] + [f"sm_{arch}" for arch in ARCHITECTURES]



def read_traffic(path):
    """{(kernel, level): cells} of the columns after the first two, and their names."""
    lines = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]
    return {(cells[0], int(cells[1])): cells[2:] for cells in lines[1:]}, lines[0][2:]


def write_budget(path, found, traffic, columns):
    """A line a kernel and level: registers/occupancy in percent, on each architecture; then what it pays in traffic."""
    rows = {}
    for (kernel, level, arch), (threads, registers, shared, percent) in found.items():
        rows.setdefault((kernel, level), {})[arch] = (threads, registers, shared, percent)
    with open(path, "w", encoding="utf-8") as out:
        out.write("# What each kernel takes on each architecture, registers/occupancy in percent: made and checked by\n"
                  "# tools/check_programs.py. threads: of a block at most; shared: bytes, those of the launch not counted.\n"
                  "# Then what it pays in one operation (row), counted by mynah_bench_traffic: percent of the moved bytes that were\n"
                  "# wanted, wavefronts a request to shared memory, products of matrix units a block; and what that operation's\n"
                  "# launch would take on cards at best, in microseconds, by the roofline of bench/traffic/cards.h: an estimate,\n"
                  "# no measurement.\n")
        out.write("\t".join(HEADER + columns) + "\n")
        for (kernel, level), by_arch in sorted(rows.items()):
            threads, _, _, _ = next(iter(by_arch.values()))
            shared = max(facts[2] for facts in by_arch.values())
            cells = [f"{by_arch[a][1]}/{by_arch[a][3]}" if a in by_arch else "" for a in ARCHITECTURES]
            cells += traffic.get((kernel, level), [])
            out.write("\t".join([kernel, str(level), str(threads), str(shared)] + cells).rstrip("\t") + "\n")


def read_budget(path):
    """What is allowed, in the shapes of measure() and read_traffic()."""
    allowed, traffic = {}, {}
    for line in open(path, encoding="utf-8"):
        cells = line.rstrip("\n").split("\t")
        if line.startswith("#") or cells[:len(HEADER)] == HEADER:
            continue
        for arch, cell in zip(ARCHITECTURES, cells[4:]):
            if cell:
                registers, percent = cell.split("/")
                allowed[cells[0], int(cells[1]), arch] = (int(cells[2]), int(registers), int(cells[3]), int(percent))
        if len(cells) > len(HEADER):
            traffic[cells[0], int(cells[1])] = cells[len(HEADER):]
    return allowed, traffic


def compare(found, allowed):
    wrong = []
    for key in sorted(found.keys() | allowed.keys()):
        kernel, level, arch = key
        name = f"{kernel}, level {level}, sm_{arch}"
        if key not in allowed:
            wrong.append(f"{name}: not in the budget")
        elif key not in found:
            wrong.append(f"{name}: in the budget, and not there any more")
        else:
            (threads, registers, shared, percent), (threads_allowed, most, most_shared, least) = found[key], allowed[key]
            if registers > most:
                wrong.append(f"{name}: {registers} registers, the budget has {most}")
            if shared > most_shared:
                wrong.append(f"{name}: {shared} bytes of shared memory, the budget has {most_shared}")
            if percent < least:
                wrong.append(f"{name}: {percent} percent of the threads at once, the budget has {least}")
            if threads != threads_allowed:
                wrong.append(f"{name}: blocks of {threads} threads, the budget has {threads_allowed}")
    return wrong


def compare_traffic(found, allowed, columns, kernels):
    """Of kernels and levels that were compiled: each kernel has been counted, at one level at least, and pays no more than it
    may."""
    wrong = [f"{kernel}: no operation of the table runs it"
             for kernel in sorted({kernel for kernel, _ in kernels} - {kernel for kernel, _ in found})]
    for key in sorted(kernels & found.keys()):
        name = f"{key[0]}, level {key[1]}"
        if key not in allowed:
            wrong.append(f"{name}: its traffic is not in the budget")
            continue
        now, then = (dict(zip(columns, cells[key])) for cells in (found, allowed))
        if now["row"] != then["row"]:
            wrong.append(f"{name}: counted in '{now['row']}', the budget in '{then['row']}'")
            continue
        if int(now["coalesced"]) < int(then["coalesced"]):
            wrong.append(f"{name}: {now['coalesced']} percent of the moved bytes are wanted, the budget has {then['coalesced']}")
        if float(now["conflicts"]) > float(then["conflicts"]):
            wrong.append(f"{name}: {now['conflicts']} wavefronts a request, the budget has {then['conflicts']}")
        if int(now["units"]) < int(then["units"]):
            wrong.append(f"{name}: {now['units']} products of matrix units a block, the budget has {then['units']}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptxas")
    parser.add_argument("folder")
    parser.add_argument("budget")
    parser.add_argument("programs")
    parser.add_argument("--traffic", help="what mynah_bench_traffic printed")
    parser.add_argument("--count", action="store_true", help="only print how many programs changed")
    parser.add_argument("--all", action="store_true", help="assemble those, too, that did not change")
    parser.add_argument("--write", action="store_true", help="make the budget and the list of programs anew")
    options = parser.parse_args()
    programs = carried(options.folder)
    if not programs:
        sys.exit(f"check_programs: no programs in {options.folder}")
    allowed, allowed_traffic = read_budget(options.budget)
    every = options.all or options.write
    known = {} if every else read_programs(options.programs)
    budgeted, changed = as_budgeted(programs, known, allowed)
    if options.count:
        print(len(changed))
        return
    if options.write and not options.traffic:
        parser.error("--write wants --traffic")
    found, wrong, assembled = measure(options.ptxas, changed)
    found |= budgeted
    traffic, columns = read_traffic(options.traffic) if options.traffic else (None, None)
    if options.write:
        write_budget(options.budget, found, traffic, columns)
        write_programs(options.programs, programs)
    else:
        wrong += compare(found, allowed)
        if traffic is not None:
            wrong += compare_traffic(traffic, allowed_traffic, columns, {(kernel, level) for kernel, level, _ in found})
        if wrong:
            wrong.append("if that is what it should be: tools/check_programs.py ... --write, and look at the difference")
    for line in wrong:
        print(f"check_programs: {line}", file=sys.stderr)
    kernels = len({kernel for kernel, _, _ in found})
    print(f"{assembled} of {sum(len(architectures_of(level)) for _, level, _ in programs.values())} programs assembled, "
          f"{kernels} kernels: {'not ' if wrong else ''}within their budget")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
