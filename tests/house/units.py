"""The translation units of a build, each as the sources that it compiles."""
import json
import pathlib
import re


def units_of(commands):
    """Of the build's compile_commands.json: a source, or the sources of a group (cmake/groups.cmake) in their order."""
    for command in json.loads(commands.read_text()):
        unit = pathlib.Path(command["file"])
        group = re.findall(r'^#include "([^"]+)"', unit.read_text(), re.MULTILINE) if "Unity" in unit.parts else []
        yield [pathlib.Path(source) for source in group] or [unit]
