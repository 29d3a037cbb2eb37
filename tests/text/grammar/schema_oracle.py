"""Compares mynah's reading of JSON schemas with the Python package jsonschema: by hand, outside ctest.

    ninja -C build/release constraint_check
    python3 schema_oracle.py build/release/tests/text/grammar/constraint_check [--suite FOLDER] [--seed N] [--count N]

Random schemas of the supported parts, and documents made for them and then changed: what mynah takes must be valid, and what is
valid must be taken, since every document is written as json.dumps writes it and has its properties in the schema's order. With
--suite (json/tests/draft2020-12 of jsonschema's source package) also the official test suite: what mynah takes must be valid;
what it refuses is counted.
"""
import argparse
import copy
import itertools
import json
import pathlib
import random
import subprocess

import jsonschema

NAMES = ["a", "b", "name", "naïve", "n", "na", "a b", 'q"uote', "ключ", "x\ty", "😀"]
TEXTS = ["", "a", "abc", "é", "😀x", 'say "hi"', "back\\slash", "tab\there", "line\nbreak", "\u007f", "x" * 12, "日本語", "/"]
PATTERNS = ["^[a-c]+$", "b", "^a|c$", r"^\d{2,3}-\w*$", "^(foo|ba[rz])?é+$", r"^[^a-z]$", r"x{2}$", "^.$"]
FORMATS = {"date": ["2024-02-29", "2023-02-29", "1999-12-31", "2024-4-1"], "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123e4567"],
           "time": ["12:00:00Z", "24:00:00Z"], "date-time": ["2024-01-31T10:11:12.5Z", "2024-01-32T10:11:12Z"],
           "ipv4": ["127.0.0.1", "256.0.0.1"], "email": ["a.b@c.de", "nobody"]}
CHECKED = {"date", "ipv4"}  # those that jsonschema looks at without more packages


def random_schema(rng, depth, definitions):
    kinds = ["null", "boolean", "integer", "number", "string", "enum", "const", "format", "pattern", "any"]
    if depth > 0:
        kinds += ["object", "object", "object", "array", "array", "tuple", "anyOf", "allOf", "oneOf", "ref", "map"]
    kind = rng.choice(kinds)
    inner = lambda: random_schema(rng, depth - 1, definitions)
    if kind in ("null", "boolean"):
        return {"type": kind}
    if kind in ("integer", "number"):
        low, high = sorted(rng.choice([-1000, -100, -12, -1, 0, 1, 7, 10, 99, 12345]) + rng.randint(-3, 3) for _ in range(2))
        schema = {"type": kind}
        if rng.random() < 0.5:
            schema[rng.choice(["minimum", "exclusiveMinimum"])] = low
        if rng.random() < 0.5:
            schema[rng.choice(["maximum", "exclusiveMaximum"])] = high
        return schema
    if kind == "string":
        schema = {"type": rng.choice(["string", ["string", "null"]])}
        if rng.random() < 0.4:
            schema["minLength"] = rng.randint(0, 3)
        if rng.random() < 0.4:
            schema["maxLength"] = rng.randint(2, 12)
        return schema
    if kind == "format":
        return {"type": "string", "format": rng.choice(sorted(CHECKED))}
    if kind == "pattern":
        return {"type": "string", "pattern": rng.choice(PATTERNS)}
    if kind == "enum":
        return {"enum": rng.sample([1, 2.5, "a", "é", None, True, [1, "x"], {"k": []}, "long text", -3], rng.randint(1, 5))}
    if kind == "const":
        return {"const": rng.choice([0, "x", "naïve", False, [], {}])}
    if kind == "any":
        return rng.choice([{}, True, {"title": "anything"}])
    if kind == "object":
        names = rng.sample(NAMES, rng.randint(0, 5))
        schema = {"type": "object", "properties": {name: inner() for name in names},
                  "required": [name for name in names if rng.random() < 0.5]}
        others = rng.random()
        if others < 0.5:
            schema["additionalProperties"] = False
        elif others < 0.7:
            schema["additionalProperties"] = inner()
        return schema
    if kind == "map":
        schema = {"type": "object", "additionalProperties": inner()}
        if rng.random() < 0.5:
            schema.update(minProperties=1, maxProperties=rng.randint(1, 3))
        return schema
    if kind in ("array", "tuple"):
        schema = {"type": "array"}
        if kind == "tuple":
            schema["prefixItems"] = [inner() for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.7:
            schema["items"] = rng.choice([inner(), False]) if kind == "tuple" else inner()
        if rng.random() < 0.4:
            schema["minItems"] = rng.randint(0, 3)
        if rng.random() < 0.4:
            schema["maxItems"] = rng.randint(2, 5)
        return schema
    if kind == "anyOf":
        return {"anyOf": [inner() for _ in range(rng.randint(1, 3))]}
    if kind == "oneOf":
        return {"oneOf": [{"type": "object", "properties": {"kind": {"const": key}, "v": inner()}, "required": ["kind"],
                           "additionalProperties": False} for key in rng.sample("xyz", 2)]}
    if kind == "allOf":
        first, second = ({"type": "object", "properties": {name: inner() for name in rng.sample(NAMES, 2)}} for _ in range(2))
        second["required"] = rng.sample(list(second["properties"]), 1)
        return {"allOf": [first, second]}
    return {"$ref": "#/$defs/" + rng.choice(definitions)}


def random_document(rng, schema, root, depth=0):
    """One that often fits; the caller asks jsonschema."""
    if depth > 8 or isinstance(schema, bool):
        return rng.choice([None, 1, "x", [], {}])
    inner = lambda part: random_document(rng, part, root, depth + 1)
    if "$ref" in schema:
        return inner(root["$defs"][schema["$ref"].rsplit("/", 1)[1]])
    for key in ("enum", "anyOf", "oneOf"):
        if key in schema:
            part = rng.choice(schema[key])
            return part if key == "enum" else inner(part)
    if "const" in schema:
        return schema["const"]
    if "allOf" in schema:
        merged = {}
        for part in schema["allOf"]:
            for name, value in part["properties"].items():
                merged[name] = inner(value)
        return merged
    kind = schema.get("type", rng.choice(["null", "string", "object", "array", "number"]))
    kind = rng.choice(kind) if isinstance(kind, list) else kind
    if kind == "null":
        return None
    if kind == "boolean":
        return rng.random() < 0.5
    if kind in ("integer", "number"):
        bounds = [schema.get(key) for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if key in schema] or [0]
        value = rng.choice(bounds) + rng.randint(-2, 2)
        return value if kind == "integer" or rng.random() < 0.5 else value + rng.choice([0.0, 0.5, 0.25, -0.001])
    if kind == "string":
        if "format" in schema:
            return rng.choice(FORMATS[schema["format"]])
        if "pattern" in schema:
            return rng.choice(["a", "abc", "b", "xbx", "ac", "12-", "123-a_1", "fooé", "bazéé", "é", "A", "zzxx", "xx", "\n", '"', "😀"])
        return rng.choice(TEXTS)
    if kind == "array":
        prefix = schema.get("prefixItems", [])
        items = schema.get("items", {})
        count = rng.randint(0, 5)
        return [inner(prefix[i] if i < len(prefix) else items) for i in range(count)]
    made = {}
    for name, part in schema.get("properties", {}).items():
        if name in schema.get("required", []) or rng.random() < 0.6:
            made[name] = inner(part)
    others = schema.get("additionalProperties", {})
    if others is not False and "properties" not in schema or rng.random() < 0.3:
        for name in rng.sample(NAMES, rng.randint(0, 3)):
            if name not in schema.get("properties", {}):
                made[name] = inner(others)
    return made


def changed(rng, document):
    document = copy.deepcopy(document)
    if isinstance(document, dict) and document and rng.random() < 0.8:
        name = rng.choice(list(document))
        if rng.random() < 0.4:
            del document[name]
        else:
            document[name] = changed(rng, document[name])
        return document
    if isinstance(document, list) and document and rng.random() < 0.8:
        place = rng.randrange(len(document))
        document[place] = changed(rng, document[place])
        return document
    return rng.choice([None, True, 0, -1, 3, 0.5, "", "x", [], {}, [1], {"z": 1}])


class Checker:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, schema, texts, **options):
        line = json.dumps({"kind": "schema", "source": schema, "options": options, "texts": texts})
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def texts_of(document):
    return [json.dumps(document), json.dumps(document, ensure_ascii=False, separators=(",", ":")), json.dumps(document, indent=2)]


def fits_in_another_order(checker, schema, document):
    if not isinstance(document, dict) or len(document) > 5:
        return False
    orders = [json.dumps(dict(order)) for order in itertools.permutations(document.items())]
    return any(checker.ask(schema, orders, open_objects=True)["fits"])


def compare_random(checker, seed, count):
    rng = random.Random(seed)
    refused, taken, left, faults = 0, 0, 0, 0
    for number in range(count):
        definitions = ["d0", "d1"]
        schema = random_schema(rng, 3, definitions)
        schema = schema if isinstance(schema, dict) else {}
        schema["$defs"] = {name: random_schema(rng, 2, definitions) for name in definitions}
        validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
        documents = []
        for _ in range(12):
            document = random_document(rng, schema, schema)
            documents += [document, changed(rng, document)]
        texts = [text for document in documents for text in texts_of(document)]
        answer = checker.ask(schema, texts, open_objects=True)
        if "error" in answer:
            refused += 1
            if refused <= 5:
                print("refused:", answer["error"])
            continue
        for place, fits in enumerate(answer["fits"]):
            document = documents[place // 3]
            try:
                valid = validator.is_valid(document)
            except RecursionError:
                continue
            if fits:
                taken += 1
            else:
                left += 1
            # 1.0 is an integer for JSON Schema; mynah writes 1. A document of one alternative may fit another in another order.
            if fits != valid and not (valid and (".0" in texts[place] or fits_in_another_order(checker, schema, document))):
                faults += 1
                if faults <= 10:
                    print("FAULT", "taken though not valid:" if fits else "valid and not taken:", texts[place], json.dumps(schema))
    print(f"seed {seed}: {count} schemas, {refused} refused; {taken} texts taken, {left} not, {faults} faults")
    return faults


def compare_suite(checker, folder):
    faults, schemas, refused, valid_count, valid_taken = 0, 0, 0, 0, 0
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        for group in json.loads(path.read_text()):
            schemas += 1
            answer = checker.ask(group["schema"], [json.dumps(test["data"]) for test in group["tests"]], open_objects=True)
            if "error" in answer:
                refused += 1
                continue
            for test, fits in zip(group["tests"], answer["fits"]):
                valid_count += test["valid"]
                valid_taken += test["valid"] and fits
                if fits and not test["valid"]:
                    faults += 1
                    print("FAULT", path.name, group["description"], "|", test["description"], json.dumps(test["data"]), json.dumps(group["schema"]))
    print(f"suite: {schemas} schemas, {refused} refused; {valid_taken} of {valid_count} valid texts taken, {faults} taken though not valid")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--suite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args()
    checker = Checker(options.program)
    faults = compare_random(checker, options.seed, options.count)
    if options.suite:
        faults += compare_suite(checker, options.suite)
    raise SystemExit(1 if faults else 0)


main()
