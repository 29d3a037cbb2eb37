"""Expressions with what Python's fractions make of them: tests/talk_tools/arithmetic_cases.tsv.

usage: arithmetic_cases.py > tests/talk_tools/arithmetic_cases.tsv. Of a stated seed, so that it writes the same file again.
"""
import fractions
import random

SEED = 33
Fraction = fractions.Fraction


def number(chance):
    if chance.random() < 0.5:
        text = str(chance.randrange(0, 10 ** chance.choice((1, 2, 5, 12, 30))))
    else:
        text = f"{chance.randrange(0, 1000)}.{chance.randrange(0, 10 ** chance.choice((1, 2, 6))):03d}"
    return text, Fraction(text)


def expression(chance, depth):
    """A text and its value; None where it divides by zero. What stands in brackets is always written so."""
    if depth == 0 or chance.random() < 0.2:
        return number(chance)
    kind = chance.choice("+-*/^%nf")
    left, a = expression(chance, depth - 1)
    if a is None:
        return left, None
    if kind == "%":
        return f"({left})%", a / 100
    if kind == "n":
        return f"-({left})", -a
    if kind == "f":
        name, function = chance.choice((("abs", abs), ("floor", lambda x: Fraction(x.__floor__())), ("ceil", lambda x: Fraction(x.__ceil__()))))
        return f"{name}({left})", function(a)
    if kind == "^":
        power = chance.randrange(-3, 6)
        return f"({left})^{power}", None if a == 0 and power < 0 else a**power
    right, b = expression(chance, depth - 1)
    if b is None or (kind == "/" and b == 0):
        return left, None
    value = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}[kind]
    space = chance.choice(("", " "))
    return f"({left}){space}{kind}{space}({right})", value


def flat(chance):
    """Without brackets, for what binds more: Python's own order of + - * / and of ** is the same."""
    words = [number(chance)[0]]
    for _ in range(chance.randrange(2, 6)):
        words += [chance.choice("+-*/"), number(chance)[0]]
        if chance.random() < 0.3:
            words += ["^", str(chance.randrange(0, 4))]
    text = " ".join(words)
    try:
        value = eval(" ".join("**" if word == "^" else word if word in "+-*/" else f"Fraction('{word}')" for word in words))
    except ZeroDivisionError:
        value = None
    return text, value


def main():
    chance = random.Random(SEED)
    written = 0
    while written < 300:
        text, value = expression(chance, chance.randrange(1, 5)) if written % 3 else flat(chance)
        fits = value is not None and max(abs(Fraction(value).numerator), Fraction(value).denominator) < 10**60
        if fits and len(text) < 300:
            print(f"{text}\t{Fraction(value)}")
            written += 1


main()
