#!/usr/bin/python3
"""Writes tests/text/data/foreign_numbers.tsv: numbers as languages write them, and their words.

    /usr/bin/python3 tools/foreign_number_cases.py

Both sides are ICU's (Debian: python3-icu): its formats write the numbers, its spell-out rules and names of units and
currencies say them. What ICU has no rule for (times of day, days of Slavic dates, agreement with a noun) is from the
grammar that the last column names.
"""

import pathlib
import re

import icu

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/text/data/foreign_numbers.tsv"
LOCALES = {"de": "de", "fr": "fr", "es": "es", "it": "it", "pt": "pt_BR", "nl": "nl", "pl": "pl", "ru": "ru", "uk": "uk", "cs": "cs",
           "sv": "sv", "tr": "tr", "hi": "hi"}
CASES_OF_EACH = 40


def clean(text):
    for old, new in (("\u00ad", ""), ("\u00a0", " "), ("\u202f", " "), ("\u02bc", "'"), ("\u2019", "'")):
        text = text.replace(old, new)
    return text


def spell(locale, number, rules="%spellout-numbering"):
    formatter = icu.RuleBasedNumberFormat(icu.URBNFRuleSetTag.SPELLOUT, icu.Locale(locale))
    formatter.setDefaultRuleSet(rules)
    words = clean(formatter.format(number))
    if locale == "cs":  # "dva tisíce", one thousand is not counted: Internetová jazyková příručka, "tisíc"
        words = words.replace("jedna tisíc", "tisíc").replace("dvě tisíce", "dva tisíce")
    return words


def named(locale, unit, number, words):
    """A unit's name in the form that it has behind the number."""
    formatter = icu.NumberFormatter.withLocale(icu.Locale(locale)).unitWidth(icu.UNumberUnitWidth.FULL_NAME)
    form = clean(formatter.precision(icu.Precision.unlimited()).unit(unit).formatDouble(number))
    return re.sub(r"[\d][\d., ]*(?<! )", words, form, count=1)


def written(locale, unit, number):
    formatter = icu.NumberFormatter.withLocale(icu.Locale(locale)).unitWidth(icu.UNumberUnitWidth.SHORT)
    return formatter.precision(icu.Precision.unlimited()).unit(unit).formatDouble(number)


def icu_cases(language, locale):
    numbers = icu.NumberFormat.createInstance(icu.Locale(locale))
    numbers.setMaximumFractionDigits(6)
    for number in (7, 16, 48, 71, 99, 234, 1000, 12345, 250000, 1234567):
        yield "cardinal", numbers.format(number), spell(locale, number), "spellout-numbering"
    for number in (22.5, 0.75, 3.14, 12345.6):
        yield "decimal", numbers.format(number), spell(locale, number), "spellout-numbering x.x"
    for number in (-5, -12.5):
        yield "negative", numbers.format(number), spell(locale, number), "spellout-numbering -x"
    percent = icu.MeasureUnit.forIdentifier("percent")
    percents = icu.NumberFormat.createPercentInstance(icu.Locale(locale))
    percents.setMaximumFractionDigits(2)
    for number in (5, 22.5, 100):
        yield "percent", percents.format(number / 100), named(locale, percent, number, spell(locale, number)), "unit percent"
    for unit, number in (("kilometer", 5), ("kilogram", 12), ("celsius", 22.5), ("square-meter", 85), ("liter", 0.5), ("centimeter", 178),
                         ("kilometer-per-hour", 130)):
        if language == "tr" and "per" in unit:
            continue
        measure = icu.MeasureUnit.forIdentifier(unit)
        yield "unit", written(locale, measure, number), named(locale, measure, number, spell(locale, number)), f"unit {unit}"
    euro = icu.NumberFormatter.withLocale(icu.Locale(locale)).unit(icu.CurrencyUnit("EUR"))
    for number in (5, 1250, 12000):
        words = clean(spell(locale, number))
        name = named(locale, icu.CurrencyUnit("EUR"), number, words)
        name = name.lower() if language == "pt" else name.replace("Euro", "avro") if language == "tr" else name
        yield "currency", euro.formatDouble(number), name, "currency EUR"


# What ICU does not have, by the grammar that is named.
GRAMMAR = {
    "de": ("Duden, Zahlen und Ziffern", [
        ("date", "am 3. Oktober 2024", "am dritten Oktober zweitausendvierundzwanzig"), ("date", "am 03.10.2024", "am dritten Oktober zweitausendvierundzwanzig"),
        ("date", "der 1. Mai", "der erste Mai"), ("time", "um 15:30 Uhr", "um fünfzehn Uhr dreißig"), ("time", "ab 9.05 Uhr", "ab neun Uhr fünf"),
        ("year", "im Jahr 1985", "im Jahr neunzehnhundertfünfundachtzig"), ("range", "5–10 Tage", "fünf bis zehn Tage"), ("gender", "1 Stunde", "eine Stunde"),
        ("gender", "1 Kind", "ein Kind"), ("ordinal", "der 2. Versuch", "der zweite Versuch"), ("money", "12,50 €", "zwölf Euro fünfzig"),
        ("millions", "2,5 Mio. €", "zwei Komma fünf Millionen Euro")]),
    "fr": ("Grevisse, Le bon usage, §§ 595-606", [
        ("date", "le 1er mai 2024", "le premier mai deux mille vingt-quatre"), ("date", "le 03/10/2024", "le trois octobre deux mille vingt-quatre"),
        ("time", "à 15h30", "à quinze heures trente"), ("time", "à 9 h 05", "à neuf heures cinq"), ("time", "à 21:00", "à vingt-et-une heures"),
        ("ordinal", "le 3e étage", "le troisième étage"), ("ordinal", "la 1re fois", "la première fois"), ("gender", "21 pages", "vingt-et-une pages"),
        ("range", "5-10 jours", "cinq à dix jours"), ("money", "12,50 €", "douze euros cinquante"), ("millions", "1 000 000 €", "un million d'euros"),
        ("currency", "1 livre", "une livre")]),
    "es": ("RAE, Ortografía de la lengua española, VIII", [
        ("date", "el 3 de octubre de 2024", "el tres de octubre de dos mil veinticuatro"), ("date", "el 03/10/2024", "el tres de octubre de dos mil veinticuatro"),
        ("time", "a las 15:30", "a las quince treinta"), ("time", "a las 9:05", "a las nueve cero cinco"), ("ordinal", "es el 1.º", "es el primero"),
        ("ordinal", "la 2ª vez", "la segunda vez"), ("ordinal", "el 3.er piso", "el tercer piso"), ("gender", "21 casas", "veintiuna casas"),
        ("gender", "200 páginas", "doscientas páginas"), ("gender", "31 libros", "treinta y un libros"), ("money", "12,50 €", "doce euros con cincuenta céntimos"),
        ("millions", "1.000.000 €", "un millón de euros")]),
    "it": ("Serianni, Grammatica italiana, VI", [
        ("date", "il 1º maggio 2024", "il primo maggio duemilaventiquattro"), ("date", "il 03/10/2024", "il tre ottobre duemilaventiquattro"),
        ("time", "alle 15:30", "alle quindici e trenta"), ("time", "alle 9.30", "alle nove e trenta"), ("ordinal", "il 3º posto", "il terzo posto"),
        ("ordinal", "la 2ª volta", "la seconda volta"), ("gender", "1 libro", "un libro"), ("gender", "1 settimana", "una settimana"),
        ("range", "5-10 giorni", "cinque a dieci giorni"), ("money", "12,50 €", "dodici euro e cinquanta centesimi"), ("millions", "2 milioni", "due milioni"),
        ("money", "3.500,00 euro", "tremilacinquecento euro")]),
    "pt": ("Cunha e Cintra, Nova gramática, 13", [
        ("date", "em 1º de maio de 2024", "em primeiro de maio de dois mil e vinte e quatro"), ("date", "03/10/2024", "três de outubro de dois mil e vinte e quatro"),
        ("time", "às 15h30", "às quinze e trinta"), ("time", "às 21h", "às vinte e uma horas"), ("ordinal", "a 2ª vez", "a segunda vez"),
        ("ordinal", "o 3º andar", "o terceiro andar"), ("gender", "2 casas", "duas casas"), ("gender", "200 pessoas", "duzentas pessoas"),
        ("range", "5-10 dias", "cinco a dez dias"), ("money", "R$ 12,50", "doze reais e cinquenta centavos"), ("millions", "R$ 1.000.000", "um milhão de reais"),
        ("currency", "R$ 5", "cinco reais")]),
    "nl": ("Taaladvies.net (Taalunie), getallen", [
        ("date", "op 3 oktober 2024", "op drie oktober tweeduizendvierentwintig"), ("date", "op 03-10-2024", "op drie oktober tweeduizendvierentwintig"),
        ("time", "om 15:30 uur", "om vijftien uur dertig"), ("time", "om 9.05 uur", "om negen uur vijf"), ("ordinal", "de 3e keer", "de derde keer"),
        ("ordinal", "de 20ste eeuw", "de twintigste eeuw"), ("ordinal", "de 2de plaats", "de tweede plaats"), ("year", "in 1985", "in negentienvijfentachtig"),
        ("range", "5-10 dagen", "vijf tot tien dagen"), ("money", "€ 12,50", "twaalf euro vijftig"), ("millions", "2,5 mln. euro", "twee komma vijf miljoen euro"),
        ("currency", "1.250 euro", "duizendtweehonderdvijftig euro")]),
    "pl": ("Bąk, Gramatyka języka polskiego, liczebnik", [
        ("date", "3 października 2024 r.", "trzeciego października dwa tysiące dwudziestego czwartego roku"), ("date", "dnia 1 maja", "dnia pierwszego maja"),
        ("time", "o 15:30", "o piętnastej trzydzieści"), ("year", "w 1985 roku", "w tysiąc dziewięćset osiemdziesiątym piątym roku"),
        ("ordinal", "na 3. miejscu", "na trzecim miejscu"), ("ordinal", "1. klasa", "pierwsza klasa"), ("gender", "2 godziny", "dwie godziny"),
        ("gender", "22 km", "dwadzieścia dwa kilometry"), ("money", "12,50 zł", "dwanaście złotych pięćdziesiąt groszy"), ("currency", "2 zł", "dwa złote"),
        ("currency", "5 zł", "pięć złotych"), ("millions", "3 mln zł", "trzy miliony złotych")]),
    "ru": ("Розенталь, Справочник по правописанию, §§ 164-166", [
        ("date", "3 октября 2024 г.", "третьего октября две тысячи двадцать четвертого года"), ("time", "в 15:30", "в пятнадцать тридцать"),
        ("year", "в 2024 году", "в две тысячи двадцать четвертом году"), ("ordinal", "3-й этаж", "третий этаж"), ("ordinal", "до 3-го этажа", "до третьего этажа"),
        ("gender", "2 книги", "две книги"), ("gender", "1 книга", "одна книга"), ("gender", "21 км", "двадцать один километр"), ("gender", "2 стола", "два стола"),
        ("money", "12,50 ₽", "двенадцать рублей пятьдесят копеек"), ("currency", "2 руб.", "два рубля"), ("millions", "5 млн рублей", "пять миллионов рублей")]),
    "uk": ("Український правопис 2019, § 106-107", [
        ("date", "3 жовтня 2024 року", "третього жовтня дві тисячі двадцять четвертого року"), ("time", "о 15:30", "о п'ятнадцятій тридцять"),
        ("year", "у 2024 році", "у дві тисячі двадцять четвертому році"), ("ordinal", "3-й поверх", "третій поверх"), ("ordinal", "до 3-го поверху", "до третього поверху"),
        ("gender", "2 книги", "дві книги"), ("gender", "1 книга", "одна книга"), ("gender", "21 км", "двадцять один кілометр"), ("gender", "2 дні", "два дні"),
        ("money", "12,50 ₴", "дванадцять гривень п'ятдесят копійок"), ("currency", "2 грн", "дві гривні"), ("millions", "5 млн гривень", "п'ять мільйонів гривень")]),
    "cs": ("Internetová jazyková příručka, číslovky", [
        ("date", "3. října 2024", "třetího října dva tisíce dvacet čtyři"), ("date", "dne 1. 5. 2024", "dne prvního května dva tisíce dvacet čtyři"),
        ("time", "v 15:30", "v patnáct třicet"), ("ordinal", "na 3. místě", "na třetím místě"), ("ordinal", "1. místo", "první místo"), ("ordinal", "2. kapitola", "druhá kapitola"),
        ("gender", "2 knihy", "dvě knihy"), ("gender", "2 města", "dvě města"), ("gender", "3 km", "tři kilometry"),
        ("money", "12,50 Kč", "dvanáct korun padesát haléřů"), ("currency", "2 Kč", "dvě koruny"), ("millions", "5 mil. korun", "pět milionů korun")]),
    "sv": ("Svenska Akademiens grammatik, räkneord", [
        ("date", "den 3 oktober 2024", "den tredje oktober tvåtusen tjugofyra"), ("time", "klockan 15.30", "klockan femton trettio"), ("time", "kl. 9.05", "klockan nio noll fem"),
        ("year", "år 1985", "år nittonhundraåttiofem"), ("ordinal", "3:e gången", "tredje gången"), ("ordinal", "den 2:a", "den andra"), ("gender", "1 bil", "en bil"),
        ("gender", "1 barn", "ett barn"), ("range", "5–10 dagar", "fem till tio dagar"), ("money", "12,50 kr", "tolv kronor och femtio öre"),
        ("currency", "1 kr", "en krona"), ("millions", "2,5 miljoner kronor", "två komma fem miljoner kronor")]),
    "tr": ("TDK, Yazım Kılavuzu, Sayıların yazılışı", [
        ("date", "3 Ekim 2024", "üç Ekim iki bin yirmi dört"), ("date", "03.10.2024", "üç Ekim iki bin yirmi dört"), ("time", "saat 15:30", "saat on beş otuz"),
        ("time", "saat 15:30'da", "saat on beş otuzda"), ("year", "1985'te", "bin dokuz yüz seksen beşte"), ("ordinal", "3. kat", "üçüncü kat"), ("ordinal", "2'nci sınıf", "ikinci sınıf"),
        ("money", "12,50 TL", "on iki lira elli kuruş"), ("currency", "1.250 TL", "bin iki yüz elli lira"), ("currency", "₺5", "beş lira"), ("range", "5-10 gün", "beş ila on gün"),
        ("millions", "2,5 milyon", "iki virgül beş milyon"), ("unit", "90 km/sa", "saatte doksan kilometre")]),
    "hi": ("Kachru, Hindi, numerals", [
        ("date", "3 अक्तूबर 2024", "तीन अक्तूबर दो हज़ार चौबीस"), ("date", "03/10/2024", "तीन अक्तूबर दो हज़ार चौबीस"), ("time", "15:30 बजे", "पन्द्रह बजकर तीस मिनट"),
        ("time", "3 बजे", "तीन बजे"), ("ordinal", "3रा", "तीसरा"), ("ordinal", "5वाँ", "पाँचवाँ"), ("ordinal", "2री", "दूसरी"), ("currency", "1,25,000 रुपये", "एक लाख पच्चीस हज़ार रुपये"),
        ("money", "₹1,250.50", "एक हज़ार दो सौ पचास रुपये पचास पैसे"), ("range", "5-10 दिन", "पाँच से दस दिन"), ("cardinal", "१२३", "एक सौ तेईस"),
        ("millions", "2.5 करोड़", "दो दशमलव पाँच करोड़")]),
}


def main():
    lines = ["# Written by tools/foreign_number_cases.py: language, class, written, said, rule.\n"]
    for language, locale in LOCALES.items():
        grammar, cases = GRAMMAR[language]
        rows = [(*case, f"ICU: {rule}") for *case, rule in icu_cases(language, locale)]
        rows = rows[:CASES_OF_EACH - len(cases)] + [(*case, grammar) for case in cases]
        if len(rows) < CASES_OF_EACH:
            raise SystemExit(f"{language}: wanted {CASES_OF_EACH} cases, have {len(rows)}")
        lines += ["\t".join((language, *row)) + "\n" for row in rows]
    OUT.write_text("".join(lines))


if __name__ == "__main__":
    main()
