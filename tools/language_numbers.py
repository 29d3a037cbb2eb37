#!/usr/bin/python3
"""Writes src/text/spoken/languages/data/LANGUAGE.cldr.json: rules of number words, forms of units, names of months.

    /usr/bin/python3 tools/language_numbers.py

They are CLDR's, as ICU has them (Debian: python3-icu), under the Unicode licence, of which a copy stands beside
them. Kept is what src/text/spoken/languages reaches. What CLDR 42 has wrong is put right here, each with its reason.
"""

import json
import pathlib
import re

import icu

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "src/text/spoken/languages/data"

# Languages, their locale in ICU, and what of their rules is used besides cardinals and %spellout-numbering.
LOCALES = {
    "de": "de", "fr": "fr", "fr-be": "fr_BE", "fr-ch": "fr_CH", "es": "es", "it": "it", "pt": "pt_BR", "pt-pt": "pt_PT",
    "nl": "nl", "pl": "pl", "ru": "ru", "uk": "uk", "cs": "cs", "sv": "sv", "tr": "tr", "hi": "hi",
}
ROOTS = re.compile(
    r"%spellout-(numbering(-year)?|cardinal|cardinal-(masculine|feminine|neuter|reale|n|m|r)|"
    r"ordinal(-(masculine|feminine|neuter|reale|n|r|m|s|masculine-plural|feminine-plural|masculine-adjective))?|"
    r"ordinal-(masculine|neuter|feminine|plural)(-(genitive|dative|accusative|locative|ablative))?|"
    r"ordinal-(masculine|neuter|feminine|plural)(-(genitive|dative|accusative|locative|ablative))?|"
    r"cardinal-(masculine|feminine)-(genitive|dative|locative|ablative|instrumental)|cardinal-feminine-accusative)$")

UNITS = {
    "km": "kilometer", "m": "meter", "dm": "decimeter", "cm": "centimeter", "mm": "millimeter", "µm": "micrometer",
    "nm": "nanometer", "km²": "square-kilometer", "m²": "square-meter", "cm²": "square-centimeter",
    "km³": "cubic-kilometer", "m³": "cubic-meter", "cm³": "cubic-centimeter", "ha": "hectare",
    "l": "liter", "dl": "deciliter", "cl": "centiliter", "ml": "milliliter", "hl": "hectoliter",
    "t": "tonne", "kg": "kilogram", "g": "gram", "mg": "milligram", "µg": "microgram",
    "°C": "celsius", "°F": "fahrenheit", "°": "degree", "%": "percent", "‰": "permille",
    "km/h": "kilometer-per-hour", "m/s": "meter-per-second", "mph": "mile-per-hour",
    "h": "hour", "min": "minute", "s": "second", "ms": "millisecond",
    "W": "watt", "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt", "kWh": "kilowatt-hour", "V": "volt", "A": "ampere",
    "mA": "milliampere", "Ω": "ohm", "kJ": "kilojoule", "kcal": "kilocalorie", "cal": "calorie",
    "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "Pa": "pascal", "hPa": "hectopascal", "kPa": "kilopascal", "bar": "bar", "mbar": "millibar",
    "kB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte", "Mbit/s": "megabit-per-second",
    "px": "pixel", "ft": "foot", "mol": "mole",
}


# Short signs that are words, or signs of something else.
AMBIGUOUS = ["\"", "'", "″", "′", "m.", "st.", "in", "d", "u", "o", "e", "y", "a", "q", "ha", "с", "г", "год", "pi", "fit",
             "से", "मि", "ट", "ली", "बार", "मोल", "अंश", "х", "п", "мл/год"]

CURRENCIES = "EUR USD GBP CHF JPY CNY PLN CZK SEK NOK DKK RUB UAH TRY INR BRL HUF RON BGN CAD AUD MXN ARS".split()


def clean(text):
    """Without soft hyphens, which say where a word may be broken, with plain spaces and apostrophes."""
    for old, new in (("\u00ad", ""), ("\u00a0", " "), ("\u202f", " "), ("\u02bc", "'"), ("\u2019", "'")):
        text = text.replace(old, new)
    return text


def put_right(language, name, rule):
    """What CLDR 42 has wrong: thousands are masculine in Czech ("dva tisíce"), and one of them is not counted; what is
    counted before a fraction is feminine in Russian ("одна целая"); Hindi's feminine ordinals are nasal ("पाँचवीं")."""
    if language == "cs":
        if re.match(r"(1000|1001): ", rule):
            rule = re.sub(r"<%spellout-cardinal-feminine< tisíc", "tisíc", rule)
        if re.match(r"(2000|2001|5000|5001): ", rule):
            rule = rule.replace("<%spellout-cardinal-feminine< tis", "<%spellout-cardinal-masculine< tis")
        # A thousand millions is feminine there.
        if re.match(r"\d0{8,9}[01]?: ", rule):
            rule = rule.replace("<%spellout-cardinal-masculine< miliard", "<%spellout-cardinal-feminine< miliard")
            rule = rule.replace("miliardů", "miliard")
    if language == "hi" and name == "%spellout-ordinal-feminine":
        rule = re.sub("वी$", "वीं", rule)
    if language == "ru" and name == "%spellout-cardinal-masculine-locative":
        rule = rule.replace("двадцать", "двадцати")  # as in the other genders
    if language == "ru" and rule.startswith("x.x: "):
        rule = rule.replace("{целый}", "{целая}").replace("<%spellout-cardinal-masculine< $", "<%spellout-cardinal-feminine< $")
    return rule


def rules_of(language, locale):
    formatter = icu.RuleBasedNumberFormat(icu.URBNFRuleSetTag.SPELLOUT, locale)
    sets, name = {}, None
    for line in formatter.getRules().splitlines():
        if re.fullmatch(r"%\S+:", line):
            name = line[:-1]
            sets[name] = []
        elif line:
            sets[name].append(put_right(language, name, clean(line).rstrip(";")))
    used, waiting = set(), [name for name in sets if ROOTS.match(name)]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += [inner for rule in sets[name] for inner in re.findall(r"%[\w-]+|%%[\w-]+", rule) if inner in sets]
    return {name: rules for name, rules in sets.items() if name in used}


def forms_of(format_number, rules):
    forms = {}
    for number in (1, 2, 5, 1.5, 1000000):
        category = rules.select(number)
        text = clean(format_number(number))
        form = re.sub(r"[\d][\d., ]*(?<! )", "{0}", text, count=1)
        forms.setdefault(category, form)
    if "other" in forms:
        forms = {category: form for category, form in forms.items() if category == "other" or form != forms["other"]}
    return forms


def units_of(locale):
    rules = icu.PluralRules.forLocale(locale)
    formatter = icu.NumberFormatter.withLocale(locale).unitWidth(icu.UNumberUnitWidth.FULL_NAME)
    units = {}
    for symbol, name in UNITS.items():
        unit = formatter.unit(icu.MeasureUnit.forIdentifier(name))
        units[symbol] = forms_of(unit.formatDouble, rules)
    return units


def unit_signs_of(locale):
    """How units are written short, by the sign of each."""
    signs = {}
    for width in (icu.UNumberUnitWidth.SHORT, icu.UNumberUnitWidth.NARROW):
        formatter = icu.NumberFormatter.withLocale(locale).unitWidth(width)
        for symbol, name in UNITS.items():
            for number in (1, 2, 5):
                text = clean(formatter.unit(icu.MeasureUnit.forIdentifier(name)).formatDouble(number))
                # Western digits, whatever the locale's: what is left is the sign.
                sign = re.sub(r"\d+", "", text, count=1).strip()
                plain_word = sign.isalpha() and sign.isascii() and len(sign) > 3
                if text[0].isdigit() and sign != symbol and sign not in UNITS and not plain_word and sign not in AMBIGUOUS:
                    signs.setdefault(sign, symbol)
    return signs


def currencies_of(locale):
    rules = icu.PluralRules.forLocale(locale)
    formatter = icu.NumberFormatter.withLocale(locale).unitWidth(icu.UNumberUnitWidth.FULL_NAME)
    formatter = formatter.precision(icu.Precision.unlimited())
    return {code: forms_of(formatter.unit(icu.CurrencyUnit(code)).formatDouble, rules) for code in CURRENCIES}


def dates_of(locale):
    symbols = icu.DateFormatSymbols(locale)
    kinds, widths = icu.DateFormatSymbols, icu.DateFormatSymbols
    months = [clean(name) for name in symbols.getMonths(kinds.FORMAT, widths.WIDE)]
    short = [clean(name).rstrip(".॰") for name in symbols.getMonths(kinds.FORMAT, widths.ABBREVIATED)]
    return {"months": months, "short_months": short}


def main():
    for language, name in LOCALES.items():
        locale = icu.Locale(name)
        data = {"source": f"CLDR 42, {name}: copyright 1991-2022 Unicode, Inc., Unicode licence",
                "rules": rules_of(language, locale), "units": units_of(locale), "unit_signs": unit_signs_of(locale),
                "currencies": currencies_of(locale)} | dates_of(locale)
        base = language.split("-")[0]
        if base != language:
            # A country's file has what is different.
            whole = json.loads((FOLDER / f"{base}.cldr.json").read_text())
            data = {key: {k: v for k, v in value.items() if whole[key].get(k) != v} if isinstance(value, dict) else value
                    for key, value in data.items() if whole[key] != value}
        (FOLDER / f"{language}.cldr.json").write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
