"""What a source calls is what it would call alone: in a group (cmake/groups.cmake) it meets functions of its neighbours.

A function of one name and of the same parameters does not compile. One whose parameters are of other types that the same
arguments fit (numbers of any kind, text of any kind) does, and is called in its place without a word. So a function of an
unnamed namespace has no namesake of that sort in its group, nor in a header that a neighbour alone includes.
"""
import itertools
import json
import os
import pathlib
import re
import sys

from includes import included_by, read

NUMBERS = re.compile(r"bool|char|char32_t|short|int|long|float|double|size_t|ssize_t|u?int\d+_t|unsigned( \w+)?|(std::)?byte")
TEXTS = re.compile(r"std::string(_view)?|char ?\*|std::filesystem::path")
FUNCTION = re.compile(r"^(?!return|else|using|namespace|class|struct|enum|#|//)[\w\[][^\n;{}()=]*?[\s&*]([a-z_]\w*)\(((?:[^()]|\([^()]*\))*)\)", re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)


def sort_of(parameter):
    """'number', 'text', or the type itself; the same of two that one argument may fit."""
    type_ = re.sub(r"/\*.*?\*/", "", parameter.split("=")[0])
    type_ = re.sub(r"\bconst\b|\bconstexpr\b", "", type_).replace("&", "").strip()
    bare = re.sub(r"\s+\w+$", "", type_).strip()  # without its name
    for sort, known in (("number", NUMBERS), ("text", TEXTS)):
        if known.fullmatch(bare) or known.fullmatch(type_):
            return sort
    return re.sub(r"\s+", "", bare)


def parameters_of(text):
    """The sorts of a list of parameters, and how many of them an argument must be given for."""
    depth, parts = 0, [""]
    for letter in text:
        depth += letter in "<({["
        depth -= letter in ">)}]"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    parts = [part for part in parts if part.strip()]
    return [sort_of(part) for part in parts], sum("=" not in part for part in parts)


def functions_of(text):
    return {(match[1], match[2]) for match in FUNCTION.finditer(text)}


def may_stand_in(one, other):
    """Whether arguments of one may fit the other."""
    if one == other:
        return False  # the compiler refuses it, or it is the same declaration
    (first, first_needs), (second, second_needs) = parameters_of(one), parameters_of(other)
    count = min(len(first), len(second))
    return count > 0 and max(first_needs, second_needs) <= count and first[:count] == second[:count]


def headers_of(path, root):
    """Every header of the project's that a file includes, itself or by another."""
    return included_by(path, (f"{root}/src", f"{root}/tests", f"{root}/bench"))[0]


def faults_of(group, root):
    own = {source: functions_of("".join(UNNAMED.findall(read(source)))) for source in group}
    met = {source: own[source] for source in group}
    for header in set().union(*(headers_of(source, root) for source in group)):
        met[header] = functions_of(read(header))
    for source, other in itertools.product(group, met):
        if other == source or other in headers_of(source, root):
            continue
        for (name, mine), (namesake, its) in itertools.product(own[source], met[other]):
            if name == namesake and may_stand_in(mine, its):
                yield (f"{os.path.relpath(source, root)}: {name}({mine}) meets {name}({its}) of "
                       f"{os.path.relpath(other, root)} in its group: call one of them otherwise")


def units_of(commands):
    """The translation units in a build's compile_commands.json: each the sources of a group in their order, or a source."""
    for command in json.loads(commands.read_text()):
        unit = pathlib.Path(command["file"])
        group = re.findall(r'^#include "([^"]+)"', unit.read_text(), re.MULTILINE) if "Unity" in unit.parts else []
        yield [pathlib.Path(source) for source in group] or [unit]


def main():
    root, commands = sys.argv[1], pathlib.Path(sys.argv[2])
    groups = [[str(source) for source in unit] for unit in units_of(commands) if len(unit) > 1]
    faults = sorted({fault for group in groups for fault in faults_of(group, root)})
    print("\n".join(faults) or f"{len(groups)} groups: every function has its name for itself")
    sys.exit(1 if faults else 0)


main()
