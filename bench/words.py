#!/usr/bin/env python3
"""./dev bench words: how a lexicon of names helps hearing them, and whether other speech is heard as before.

A corpus is made once (seed 33): sentences with 40 rare names, spoken by our own voices with the lexicon below, which also rules speaking.
It is heard without a lexicon, with its words as a prompt, and with it; then with a long one, in which 160 other words stand that nobody says.
A name counts as heard where it is written as the lexicon has it, whatever its case. The 96 English recordings of the shared folder and its
noises, in which no name of it is said, are heard in the same ways too: what is written of a noise is told.

usage: words.py [--clips N] [--model NAME] [--skip-clips] [--ways LIST] [--arguments "..."]   --ways: some of without, prompt, lexicon and
long; --arguments: of all ways, such as "--beam 1"
"""
import argparse
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("MYNAH_SHARED", ROOT / "../shared"))
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build/release"))
WEIGHTS = pathlib.Path(os.environ.get("MYNAH_WEIGHTS", ROOT / ".cache/weights"))
MYNAH = os.environ.get("BENCH_MYNAH", str(BUILD / "mynah"))
CORPUS = ROOT / ".cache/bench/words"

NAMES = """Kaito ˈkaɪtoʊ|Zbigniew ˈzbɪɡnjɛf|Siobhan ʃɪˈvɔːn|Xiomara ziəˈmɑːɹə|Aoife ˈiːfə|Thibault tiˈboʊ|Saoirse ˈsɪɹʃə|Wojciech ˈvɔɪtʃɛk
Okonkwo əˈkɑːŋkwoʊ|Adebayo ɑːdəˈbaɪoʊ|Hrvoje ˈhɝːvɔɪə|Eilidh ˈeɪli|Niamh ˈniːv|Caoimhe ˈkiːvə|Tadhg ˈtaɪɡ|Yggdrasil ˈɪɡdɹəsɪl
Kubernetes kuːbɚˈnɛtiːz|Grafana ɡɹəˈfɑːnə|Zigbee ˈzɪɡbiː|Kokoro koʊˈkɔːɹoʊ|Hibari hɪˈbɑːɹi|Silero sɪˈlɛɹoʊ|Obihiro oʊbɪˈhɪɹoʊ
Llandudno lænˈdʌdnoʊ|Ouagadougou wɑːɡəˈduːɡuː|Dvorak ˈdvɔːɹʒæk|Bjarne ˈbjɑːɹnə|Ruairi ˈɹʊɹi|Mbappe əmˈbɑːpeɪ|Chukwuemeka tʃuːkwuːˈmɛkə
Anneliese ˈænəliːs|Mynah ˈmaɪnə|Quillbray ˈkwɪlbɹeɪ|Torvik ˈtɔːɹvɪk|Zephyrine ˈzɛfɚiːn|Maribelvo mæɹɪˈbɛlvoʊ|Oskarre ˈɑːskɑːɹ|Velmora vɛlˈmɔːɹə
Draxton ˈdɹækstən|Ilsabet ˈɪlsəbɛt"""

# Of a long lexicon: nobody says them.
OTHERS = ("Aberystwyth Achterberg Aethelstan Akinfenwa Albuquerque Alcuin Amaterasu Anfernee Arbuthnot Arrhenius Astrakhan Auchtermuchty Balthazar Bartholdi "
          "Beauchamp Berenice Bhattacharya Bialystok Bogdanovic Bournville Braithwaite Brzezinski Buonarroti Cadwallader Calliope Camorra Canandaigua Cassiopeia "
          "Chihuahua Cholmondeley Cienfuegos Clytemnestra Coatzacoalcos Cuauhtemoc Czestochowa Dalhousie Damocles Dionysius Djokovic Donnchadh Dostoevsky Drouhin "
          "Duquesne Dzhugashvili Eisteddfod Elagabalus Emmerich Eriksdotter Eurydice Eyjafjalla Farquhar Featherstone Fiachra Fotheringay Gaetano Galahad Gbadamosi "
          "Gdansk Ghirlandaio Gjirokaster Goebbert Gruffudd Guadalupe Gwendolen Haarlem Habsburg Halcyon Hephaestus Hermione Hieronymus Hjalmar Hlohovec Huitzilo "
          "Iacopo Ibrahimovic Idunn Ioannina Iphigenia Isambard Ixtapa Izanagi Jacinthe Jaroslav Jokkmokk Jormungandr Kaczynski Kalevala Kazimierz Kierkegaard "
          "Kilimanjaro Kirkcudbright Kowalczyk Krzysztof Kvothe Kyrgyzstan Laocoon Leominster Lakshmi Llewellyn Lobachevsky Ludovico Maastricht Machiavel Maeve "
          "Magdeburg Malatesta Marseille Massachusset Mephisto Mnemosyne Montesquieu Mstislav Nabokov Nausicaa Nebuchad Nietzsche Nijmegen Njord Nkrumah Novgorod "
          "Nyarlath Odysseus Oehlenschl Ojibwe Olaudah Orpheus Osnabruck Ouroboros Paderewski Papillon Penelope Persephone Phaedrus Pietrasanta Poughkeepsie "
          "Przewalski Ptolemy Quetzal Quirinal Rachmaninoff Ragnarok Reykjavik Roethlis Ruaridh Sadako Schenectady Schwarzenegger Scipione Sforza Shostakovich "
          "Sigrid Sisyphus Skagerrak Solzhenitsyn Szczecin Tchaikovsky Tegucigalpa").split()

TEMPLATES = """Please call {0} before noon.|I had lunch with {0} and {1} yesterday.|Did {0} answer the letter from {1}?|The next train to town leaves without {0}.
Ask {0} whether the kitchen light is on.|We will meet {0} at the station tomorrow.|{0} said that {1} would bring the cake.|Turn on {0} in the living room, please.
My neighbour {0} has a new bicycle.|Send the photographs to {0} and to {1}.|Nobody in the office had heard of {0} before.|Play the song that {0} likes so much."""

MODELS = {"english-phonemes": WEIGHTS / "phonemes", "hibari": WEIGHTS / "hibari", "joe": WEIGHTS / "piper/en_US-joe-medium.onnx",
          "kokoro-voices": SHARED / "weights/kokoro-voices", "kokoro": WEIGHTS / "kokoro", "silero": WEIGHTS / "silero/silero_vad_16k.safetensors"}
HOME = {**os.environ, "MYNAH_HOME": str(CORPUS / "home")}


def names():
    return [entry.split(" ") for entry in NAMES.replace("\n", "|").split("|")]


def lexicon(folder, long):
    """The file of it; what nobody says is written last and first."""
    path = folder / ("long.tsv" if long else "short.tsv")
    own = [f"{name}\t{phonemes}" for name, phonemes in names()]
    others = [f"{word}\tə" for word in OTHERS[:160]] if long else []
    path.write_text("\n".join(others[:80] + own + others[80:]) + "\n")
    return path


def sentences(count):
    """Each name as often as any other, within one."""
    dice, templates = random.Random(33), TEMPLATES.replace("\n", "|").split("|")
    waiting = []
    for number in range(count):
        template = templates[number % len(templates)]
        chosen = []
        while len(chosen) < template.count("{"):
            if not waiting:
                waiting = dice.sample([name for name, _ in names()], len(names()))
            chosen.append(waiting.pop())
        yield template.format(*chosen), chosen


def make_corpus(count):
    """The table of recordings and the names said in each, made where they are not there yet."""
    folder = CORPUS / str(count)
    table = folder / "said.tsv"
    said = list(sentences(count))
    if not table.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = lexicon(folder, False)
        for name, path in MODELS.items():
            subprocess.run([MYNAH, "import", path, "--name", name, "--force"], env=HOME, check=True, stdout=subprocess.DEVNULL)
        # A fifth is spoken by the largest voice, the rest by two quick ones.
        shares = [[i for i in range(count) if i % 5 in (0, 2)], [i for i in range(count) if i % 5 in (1, 3)], [i for i in range(count) if i % 5 == 4]]
        for name, share in zip(("hibari", "joe", "kokoro"), shares):
            lines = "".join(json.dumps({"text": said[i][0], "output_file": f"{i:03}.wav"}) + "\n" for i in share)
            subprocess.run([MYNAH, "speak", "--json-input", "-f", "-", "--output-dir", folder, "--lexicon", words, "-m", name, "-q"], input=lines,
                           text=True, env=HOME, check=True, stdout=subprocess.DEVNULL)
            print(f"{len(share)} sentences spoken by {name}", file=sys.stderr)
        table.write_text("clip\tlang\ttext\n" + "".join(f"{i:03}.wav\ten\t{text}\n" for i, (text, _) in enumerate(said)))
    return table, [chosen for _, chosen in said]


def hear(table, model, arguments):
    """Texts of the clips, and the word errors that `mynah wer` counts."""
    with tempfile.TemporaryDirectory() as folder:
        texts = pathlib.Path(folder) / "texts.tsv"
        out = subprocess.run([MYNAH, "wer", table, "-m", model, "--only-language", "en", "--vad-model", "silero",
                              "--write-hypotheses", texts, "--json", *arguments], check=True, capture_output=True, text=True,
                             env=HOME).stdout
        heard = [line.split("\t") for line in texts.read_text().splitlines()]
    column = heard[0].index("text")
    words = json.loads(out.splitlines()[-1])["total"]["words"]
    return [row[column] for row in heard[1:]], f"{words['errors']}/{words['length']} ({100 * words['rate']:.1f} %)"


def written_of_noise(model, arguments):
    noises = sorted((SHARED / "speech/noise").iterdir())
    out = subprocess.run([MYNAH, "transcribe", *noises, "-m", model, "--vad-model", "silero", "--format", "txt", "-q", *arguments], check=True,
                         capture_output=True, text=True, env=HOME).stdout
    return " ".join(out.split())


def plain(text):
    return re.sub(r"[^a-z0-9 ]", " ", text.lower().replace("'s", " ")).split()


def names_heard(texts, said):
    right = sum(name.lower() in plain(text) for text, chosen in zip(texts, said) for name in chosen)
    return right, sum(map(len, said))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clips", type=int, default=120)
    parser.add_argument("--model", default=str(WEIGHTS / "tiny.en"))
    parser.add_argument("--skip-clips", action="store_true")
    parser.add_argument("--ways", default="without,prompt,lexicon,long")
    parser.add_argument("--arguments", default="")
    options = parser.parse_args()
    table, said = make_corpus(options.clips)
    folder = table.parent
    prompt = ", ".join(name for name, _ in names())
    ways = {"without": [], "prompt": ["--initial-prompt", prompt, "--carry-initial-prompt"], "lexicon": ["--lexicon", lexicon(folder, False)],
            "long": ["--lexicon", lexicon(folder, True)]}
    ways = {name: [*ways[name], *shlex.split(options.arguments)] for name in options.ways.split(",")}
    for name, arguments in ways.items():
        texts, counts = hear(table, options.model, arguments)
        right, of = names_heard(texts, said)
        print(f"{name:8} names wrong {of - right}/{of} ({100 * (of - right) / of:.1f} %), word errors {counts}", flush=True)
    if not options.skip_clips:
        for name, arguments in ways.items():
            _, counts = hear(SHARED / "speech/transcripts.tsv", options.model, arguments)
            noise = written_of_noise(options.model, arguments)
            print(f"{name:8} the 96 recordings: word errors {counts}; of nine noises: {noise or 'nothing'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
