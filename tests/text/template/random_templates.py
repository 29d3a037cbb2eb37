"""Random expressions as cases for compare_templates.py --cases, where what is wrong is as good as what is right.

    random_templates.py COUNT SEED > cases.json
"""
import json
import random
import sys

CONTEXT = {
    "s": " Hello, World <b>\n", "u": "Ünï 日本 😀'\"\\", "e": "", "w": "one two  three", "n": None, "t": True, "f": False, "i": 7, "z": 0, "m": -3,
    "x": 2.5, "y": 1e20, "l": [3, 1, 2], "k": ["b", "A", "c", "a"], "v": [], "d": {"b": 1, "a": [1, 2], "items": 5, "C": None},
    "o": [{"r": "user", "c": "x", "n": 2}, {"r": "tool", "n": 1}, {"r": "user", "c": None, "n": 2}], "g": {},
}
NAMES = list(CONTEXT) + ["missing"]
LITERALS = ["1", "0", "-2", "3.0", "0.1", "1e3", "'a'", "'b,c,a'", "\"q'\"", "'%s-%d'", "' '", "true", "none", "[]", "[1, 'a', 2.0]", "(1, 2)", "()", "{}",
            "{'a': 1, 'b': [2]}", "'A\\n\\tb'", "'éß'"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
FILTERS = ["abs", "attr('a')", "batch(2)|list", "batch(2, 'x')|list", "capitalize", "center(9)", "count", "d('z')", "default('z', true)", "dictsort",
           "dictsort(by='value')", "dictsort(reverse=true)", "e", "escape", "first", "float", "float(1.5)", "forceescape", "format(1, 'a')", "groupby('r')",
           "groupby('n')|map(attribute='list')|list", "indent", "indent(2, true, true)", "int", "int(9)", "items|list", "join", "join(', ')", "join('-', attribute='n')",
           "last", "length", "list", "lower", "map('upper')|list", "map(attribute='n')|list", "map(attribute='q', default='-')|list", "max", "min",
           "reject('none')|list", "rejectattr('c')|list", "replace('a', 'bb')", "replace('', '.')", "replace('l', 'L', 1)", "reverse|list", "round", "round(1)", "round(1, 'floor')",
           "safe", "select|list", "select('string')|list", "selectattr('r', 'equalto', 'user')|list", "selectattr('c', 'defined')|list", "slice(2)|list", "sort", "sort(reverse=true)", "sort(attribute='n')",
           "sort(case_sensitive=true)", "string", "sum", "sum(attribute='n')", "title", "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)", "tojson(sort_keys=true)",
           "tojson(separators=(',', ':'))", "trim", "trim('H')", "string|truncate(5)", "string|truncate(5, true, '…')", "unique|list", "upper", "wordcount"]
TESTS = ["boolean", "callable", "defined", "undefined", "divisibleby 3", "eq 1", "escaped", "even", "odd", "false", "true", "float", "ge 1", "gt('a')", "in [1, 'a']", "integer",
         "iterable", "le 2.5", "lower", "upper", "lt 3", "mapping", "ne 1", "none", "number", "sameas none", "sequence", "string", "filter", "test"]
METHODS = ["capitalize()", "center(8, '*')", "count('l')", "count(1)", "endswith('a')", "endswith(('a', 'b'))", "find('l')", "find('o', 6)", "format(1, a='x')", "get('a')", "get('q', 3)", "index('l')", "index(1)", "isalpha()",
           "isdigit()", "isspace()", "items()", "join(k)", "keys()", "keys()|list", "ljust(9)", "lower()", "lstrip()", "lstrip(' H')", "partition(' ')", "removeprefix(' ')",
           "replace('l', '')", "replace('l', 'LL', 1)", "rfind('o')", "rjust(9, '.')", "rpartition(' ')", "rsplit(' ', 1)", "rsplit()", "rsplit(none, 1)", "rstrip()", "split()", "split(',')", "split(' ', 1)", "split(none, 1)",
           "splitlines()", "splitlines(true)", "startswith(' ')", "startswith('o', 5)", "strip()", "strip('\\n >')", "swapcase()", "title()", "upper()", "values()|list", "zfill(9)", "copy()", "a", "b", "0", "q"]
FORMATS = ["'%s|%r' % (A, B)", "'%5d|%-5d|%05d' % (A, A, B)", "'%.2f %x' % (A, B)", "'{}-{}'.format(A, B)", "'{0:>8}|{1!r}'.format(A, B)", "'{:,}|{:05.1f}'.format(A, B)", "'{a[0]}{b.a}'.format(a=A, b=B)",
           "'%s' % A", "'%(a)s' % A", "'{:^9}|{:<4}'.format(A, B)"]


def expression(pick, depth):
    kind = pick.random()
    if depth == 0 or kind < 0.12:
        return pick.choice(NAMES) if pick.random() < 0.7 else pick.choice(LITERALS)
    sub = lambda: expression(pick, depth - 1)  # noqa: E731
    if kind < 0.30:
        return f"({sub()} {pick.choice(BINARY)} {sub()})"
    if kind < 0.52:
        return f"({sub()})|{pick.choice(FILTERS)}"
    if kind < 0.66:
        return f"({sub()}).{pick.choice(METHODS)}"
    if kind < 0.74:
        return f"(({sub()}) is {pick.choice(['', 'not '])}{pick.choice(TESTS)})"
    if kind < 0.80:
        return f"({sub()})[{sub()}]"
    if kind < 0.86:
        bounds = [str(pick.choice(["", 0, 1, 2, -1, -2, 9])) for _ in range(3)]
        return f"({pick.choice(NAMES)})[{bounds[0]}:{bounds[1]}{':' + bounds[2] if pick.random() < 0.4 else ''}]"
    if kind < 0.90:
        return f"({sub()} if {sub()} else {sub()})"
    if kind < 0.94:
        return pick.choice(FORMATS).replace("A", f"({sub()})").replace("B", f"({sub()})")
    return pick.choice(["not {0}", "-({0})", "[{0}, {1}]", "{{'k': {0}, 'l': {1}}}", "({0}, {1})", "range({0})|list", "dict(a={0})", "{0} ~ {1} ~ {0}", "({0} < {1} <= {0})", "({0})['a']"]).format(sub(), sub())


def main():
    count, pick = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    cases = {}
    for number in range(count):
        text = expression(pick, pick.randint(1, 3))
        template = "{{ " + text + " }}"
        if pick.random() < 0.15:
            template = "{% for a in " + text + " %}{{ loop.index }}/{{ loop.last }}:{{ a }};{% else %}none{% endfor %}"
        cases[f"{number}: {template}"] = template
    json.dump({"context": CONTEXT, "templates": cases}, sys.stdout)


main()
