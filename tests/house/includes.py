"""What a file includes, itself or by another."""
import functools
import os
import pathlib
import re

INCLUDE = re.compile(r'^\s*#include ([<"])([^>"]+)[>"]', re.MULTILINE)


@functools.lru_cache(None)
def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


@functools.lru_cache(None)
def included_by(path, folders):
    """(the project's files, the names of libraries' headers): "x.h" is looked for beside who includes it, then in `folders`."""
    own, libraries, todo = set(), set(), [path]
    while todo:
        here = todo.pop()
        for sign, name in INCLUDE.findall(read(here)):
            places = (os.path.normpath(os.path.join(folder, name)) for folder in (os.path.dirname(here), *folders))
            file = next(filter(os.path.isfile, places), None) if sign == '"' else None
            if file is None:
                libraries.add(name)
            elif file not in own:
                own.add(file)
                todo.append(file)
    return frozenset(own), frozenset(libraries)
