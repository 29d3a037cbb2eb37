#!/usr/bin/env python3
"""Writes requirements, markers and requirements files with what packaging and pip say of them.

  python tools/requirement_vectors.py > tests/doctor/data/requirements.tsv
"""
import importlib.metadata
import pathlib
import random

from packaging.markers import InvalidMarker, Marker, UndefinedComparison
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from pip._internal.network.session import PipSession
from pip._internal.req import parse_requirements
from pip._internal.req.constructors import install_req_from_parsed_requirement

rng = random.Random(7)
REQUIREMENTS = """torch|torch==2.5.1|Torch_Audio >= 2.4 , < 3|torch[opt,extra.two] ~= 2.4|torch[]|torch (>=2.4,<3)|torch(==1)
torch==2.5.1+cu124 ; python_version < '3.13'|torch>=2;python_version>="3.9" and (sys_platform=='linux' or extra == 'gpu')
torch @ https://host/torch-2.5.1.whl|torch@https://host/a;b.whl|torch @ https://host/x.whl ; python_version<'3'|a|A.b-_c|a1==1.*
torch @|torch ==|torch 2.5|torch>2,|-torch|torch-|torch[a|torch[a,]|torch[,a]|==1.0|torch>=2.4.*|torch===abc|torch=2.0|to rch|
torch; |torch;python_version|torch;python_version<|torch;'3'<'4'|torch;foo=='x'|torch;python_version<'3' or|torch;(python_version<'3'
torch>=1,>=2;os.name=='posix'|torch!=1.0.*,>=0.9|  torch  |torch;platform_machine in 'x86_64 aarch64'|torch;sys_platform not in 'win32'
torch ; "3.8" <= python_version|torch>=1.0+cu126|torch==1.0.post1|x==2024.1|typing_extensions>=4;python_version~='3.8'""".split("|")
REQUIREMENTS = [text for line in REQUIREMENTS for text in line.split("\n")]
VARIABLES = {"python_version": ["3.8", "3.9", "3.11", "3.12", "4", "3"], "sys_platform": ["linux", "win32", "darwin"],
             "os_name": ["posix", "nt"], "platform_system": ["Linux", "Windows"], "platform_machine": ["x86_64", "AMD64", "aarch64"],
             "platform_python_implementation": ["CPython", "PyPy"], "implementation_name": ["cpython"], "python_full_version": ["3.11.4", "3.9.0"]}
PLACES = {"linux": {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"},
          "windows": {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows", "platform_machine": "AMD64"}}


def comparison():
    name = rng.choice(list(VARIABLES))
    versions = name.startswith("python_")
    sign = rng.choice(["==", "!=", "<", "<=", ">", ">=", "~="] if versions else ["==", "!=", "in", "not in"])
    value = rng.choice(VARIABLES[name])
    if sign == "~=" and "." not in value:
        sign = ">="
    if sign.endswith("in"):
        value = " ".join(rng.sample(VARIABLES[name], k=min(2, len(VARIABLES[name]))))
    if versions and "." in value and sign in ("==", "!=") and rng.random() < 0.3:
        value += ".*"
    quote = rng.choice("'\"")
    sides = [name, f"{quote}{value}{quote}"]
    if sign in ("==", "!=") and not value.endswith("*") and rng.random() < 0.2:
        sides.reverse()
    return f"{sides[0]} {sign} {sides[1]}"


def marker(depth=0):
    if depth == 2 or rng.random() < 0.4:
        return comparison()
    text = rng.choice([" and ", " or "]).join(marker(depth + 1) for _ in range(rng.choice([2, 2, 3])))
    return f"({text})" if depth else text


def row(*cells):
    print(*cells, sep="\t")


def main():
    folder = pathlib.Path(__file__).parents[1] / "tests/doctor/data/requirement_files"
    print(f"# packaging {importlib.metadata.version('packaging')}, pip {importlib.metadata.version('pip')}, seed 7")
    print("# requirement TEXT NAME EXTRAS SPECIFIERS URL | marker TEXT PYTHON SYSTEM 0/1 | file NAME LINE NAME SPECIFIERS; - where refused")
    for text in REQUIREMENTS:
        try:
            read = Requirement(text)
        except InvalidRequirement:
            row("requirement", text, "-")
            continue
        row("requirement", text, canonicalize_name(read.name), ",".join(sorted(map(canonicalize_name, read.extras))),
            ",".join(sorted(map(str, read.specifier))), read.url or "")
    for _ in range(300):
        text = marker()
        for system, place in PLACES.items():
            python = rng.choice(["3.8.10", "3.11.4", "3.12.1"])
            environment = dict(place, python_version=python.rsplit(".", 1)[0], python_full_version=python, implementation_name="cpython",
                               implementation_version=python, platform_python_implementation="CPython")
            try:
                row("marker", text, python, system, int(Marker(text).evaluate(environment)))
            except (InvalidMarker, UndefinedComparison):
                row("marker", text, python, system, "-")
    for path in sorted(folder.glob("*.txt")):
        for parsed in parse_requirements(str(path), session=PipSession()):
            if "(line " not in (parsed.line_source or "") and "line " not in parsed.comes_from:
                continue
            source, line = parsed.comes_from.rsplit("(line ", 1)
            if pathlib.Path(source.split(maxsplit=1)[1].strip()).name != path.name:
                continue  # of a file that it includes
            read = install_req_from_parsed_requirement(parsed).req
            if read is not None:
                row("file", path.name, line.rstrip(")"), canonicalize_name(read.name), ",".join(sorted(map(str, read.specifier))))


main()
