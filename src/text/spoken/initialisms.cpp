// Which letters are said as letters: initialisms, single letters, letters beside digits.
#include <array>
#include <string>

#include "text/spoken/abbreviations.h"
#include "text/spoken/characters.h"
#include "text/spoken/reading.h"
#include "text/spoken/sayable.h"

namespace mynah {
namespace {

// Said as words though in capitals: acronyms, which lexicons have as they are written.
constexpr auto kAcronyms = std::to_array<std::string_view>(
    {"NASA",   "NATO",  "UNESCO", "UNICEF",  "OPEC",  "AIDS",   "SARS",  "COVID", "LASER",
     "RADAR",  "SCUBA", "SWAT",   "NAFTA",   "ASCII", "RAM",    "ROM",   "GIF",   "JPEG",
     "PIN",    "SIM",   "ZIP",    "LAN",     "WAN",   "NVIDIA", "LEGO",  "FIFA",  "UEFA",
     "NASDAQ", "ESA",   "FEMA",   "OSHA",    "HIPAA", "PETA",   "BASIC", "COBOL", "REST",
     "LIDAR",  "MIDI",  "ACID",   "CAPTCHA", "SONAR"});

// Said as letters though they have vowels.
constexpr auto kInitialisms = std::to_array<std::string_view>(
    {"FBI",  "CIA",  "USA",  "UAE",    "API",  "URL",  "URI",   "CEO",  "CFO",  "CTO",   "COO",
     "AI",   "UI",   "UX",   "EU",     "UK",   "UN",   "US",    "IT",   "WHO",  "IBM",   "IQ",
     "ID",   "OS",   "IOS",  "IP",     "ISP",  "IDE",  "ISBN",  "IEEE", "IEC",  "ISO",   "FAQ",
     "FIQ",  "DIY",  "DNA",  "RNA",    "MRNA", "AC",   "AM",    "PA",   "CEO",  "ATM",   "MIT",
     "UCLA", "USC",  "NYU",  "LSE",    "USB",  "CPU",  "GPU",   "TPU",  "NPU",  "IO",    "AWS",
     "SUV",  "VIP",  "MVP",  "RIP",    "ETA",  "EST",  "EDT",   "UTC",  "CET",  "CEST",  "AEST",
     "IST",  "JST",  "PIE",  "AES",    "RSA",  "SSH",  "SAT",   "ACT",  "GPA",  "BBC",   "CNN",
     "ABC",  "NBC",  "CBS",  "ESPN",   "HBO",  "UFO",  "AKA",   "ASAP", "BYOB", "TBA",   "TBD",
     "OECD", "IMF",  "EPA",  "FDA",    "FAA",  "IRS",  "NSA",   "DEA",  "ACLU", "NAACP", "AFAIK",
     "IMO",  "IMHO", "ROI",  "KPI",    "IPO",  "LLC",  "NGO",   "UHD",  "LED",  "OLED",  "CEP",
     "AUX",  "EUR",  "BMI",  "FYI",    "AMD",  "AOL",  "EKG",   "ICU",  "NBA",  "UFC",   "EV",
     "ISS",  "IVF",  "ADHD", "USDA",   "UPS",  "ETF",  "SEO",   "CLI",  "UDP",  "OCR",   "ECC",
     "EEG",  "MRI",  "OTC",  "VRAM",   "GDP",  "EOF",  "IPA",   "SSML", "ASR",  "AMA",   "AWOL",
     "NYSE", "YMCA", "YWCA", "LOL",    "SOS",  "DOJ",  "DOE",   "NIH",  "CES",  "CIO",   "IOC",
     "OEM",  "UBS",  "SEC",  "EBITDA", "IAEA", "ICAO", "UNHCR", "EOD",  "DOB",  "DUI",   "ROFL",
     "TIA",  "POV",  "OCD",  "ALS",    "IUD",  "HIV",  "IRL"});

// Also words in capitals where somebody shouts.
constexpr auto kAlsoWords = std::to_array<std::string_view>(
    {"US", "IT", "WHO", "AM", "ID", "PIE", "SAT", "ACT", "LED", "SEC", "DOE"});

// Words that nobody says as they are written, however they are written.
struct Respelled {
  std::string_view written;  // lower case; a capital counts where there is one
  std::string_view spoken;
};

constexpr std::array kRespelled = std::to_array<Respelled>({
    {"json", "jason"},
    {"yaml", "yammel"},
    {"toml", "tommel"},
    {"cuda", "cooda"},
    {"YoY", "year over year"},
    {"QoQ", "quarter over quarter"},
    {"MoM", "month over month"},
    {"btw", "by the way"},
    {"etc", "et cetera"},
});

// Initialisms that people also write in small letters, and that are no words.
constexpr auto kSmallInitialisms =
    std::to_array<std::string_view>({"asap", "faq", "url", "api", "fyi", "diy", "imho", "afaik",
                                     "idk", "omg", "wtf", "tbh", "nsfw", "rsvp", "tba", "tbd"});

constexpr auto kShortWords = std::to_array<std::string_view>(
    {"AM", "AN", "AS", "AT", "BE", "BY", "DO", "GO", "HE", "HI", "IF", "IN",
     "IS", "IT", "ME", "MY", "NO", "OF", "OH", "OK", "ON", "OR", "SO", "TO",
     "UP", "US", "WE", "YE", "YO", "HA", "AH", "EH", "UH", "UM"});

bool has_vowel(std::string_view word) {
  return word.find_first_of("AEIOU") != std::string_view::npos;
}

// Somebody shouts where a neighbour in capitals is a word.
bool is_shouted(const Tokens& tokens, size_t at) {
  const auto shouts = [](std::string_view word) {
    return is_all_capitals(word) && has_vowel(word) && !among(kInitialisms, word) &&
           !among(kAcronyms, word) && (word.size() > 2 || among(kShortWords, word));
  };
  return shouts(tokens.word_before(at)) || shouts(tokens.word_behind(at + 1));
}

// How a word in capitals is said.
std::string capitals_words(const Tokens& tokens, size_t at, std::string_view word) {
  if (among(kAcronyms, word)) {
    return std::string(word);
  }
  if (tokens.is(at + 1, "&") || (at > 0 && tokens.is(at - 1, "&"))) {
    return spell(word);
  }
  if (among(kAlsoWords, word) || among(kShortWords, word)) {
    const bool letters = among(kInitialisms, word) && !is_shouted(tokens, at);
    return letters ? spell(word) : ascii_lower(word);
  }
  if (among(kInitialisms, word) || word.size() == 2 || !has_vowel(word)) {
    const bool sayable = word.find('Y') != std::string_view::npos && is_shouted(tokens, at);
    return sayable && !among(kInitialisms, word) ? ascii_lower(word) : spell(word);
  }
  // "AAPL" is no word; longer ones are names that somebody can say.
  constexpr size_t kLongestLetters = 5;
  if (word.size() <= kLongestLetters && !is_sayable(word) && !is_shouted(tokens, at)) {
    return spell(word);
  }
  return ascii_lower(word);
}

// "asap", "FAQs": how a word is said that is not as its letters are.
std::optional<Reading> read_respelled(const Tokens& tokens, size_t at) {
  const std::string_view word = tokens.text(at);
  const std::string lower = ascii_lower(word);
  for (const Respelled& respelled : kRespelled) {
    if (word == respelled.written || lower == respelled.written) {
      return Reading{at + 1, std::string(respelled.spoken)};
    }
  }
  const bool plural = word.ends_with('s');
  const std::string_view core = word.substr(0, word.size() - (plural ? 1 : 0));
  if (among(kSmallInitialisms, core)) {
    return Reading{at + 1, spell(core) + (plural ? "'s" : "")};
  }
  return std::nullopt;
}

// "U.S.A.", "J.R.R.", "a.m."
std::optional<Reading> read_dotted(const Tokens& tokens, size_t at) {
  std::string letters;
  size_t end = at;
  while (tokens.text(end).size() == 1 && tokens.is_word(end) && tokens.is(end + 1, ".") &&
         letters.size() < 12) {
    letters += tokens.text(end);
    end += 2;
  }
  // "U.S" without its last stop.
  if (end > at && tokens.is_word(end) && tokens.text(end).size() == 1) {
    letters += tokens.text(end);
    ++end;
  }
  if (letters.size() < 2 || !tokens.ends_word(end)) {
    return std::nullopt;
  }
  if (tokens.is(end - 1, ".") && tokens.ends_text(end)) {
    --end;
  }
  return Reading{end, spell(letters)};
}

bool beside_digits(const Tokens& tokens, size_t at) {
  return tokens.is_digits(at + 1) || (at > 0 && tokens.is_digits(at - 1)) ||
         (tokens.is(at + 1, "-") && tokens.is_digits(at + 2));
}

// "5 cm x 7 cm", 5" x 7": measures around it.
bool is_by(const Tokens& tokens, size_t at) {
  if (at < 2 || !tokens.is_space(at - 1) || !tokens.is_digits(tokens.skip_space(at + 1))) {
    return false;
  }
  const size_t unit = at - 2;
  const size_t number = tokens.is_space(unit - 1) ? unit - 2 : unit - 1;
  const bool measured = tokens.is_word(unit) || tokens.is(unit, "\"") || tokens.is(unit, "'");
  return unit > 0 && measured && tokens.is_digits(number);
}

// "S. aureus", "E. coli": a genus cut short before its species, whose stop is not heard. "A. milk"
// where the text begins is a list's item.
bool is_genus(const Tokens& tokens, size_t at) {
  const std::string_view letter = tokens.text(at);
  const std::string_view species = tokens.text(at + 3);
  return is_ascii_upper(letter[0]) && letter != "I" && (at > 0 || letter[0] > 'D') &&
         tokens.is(at + 1, ".") && tokens.is_space(at + 2) && tokens.is_word(at + 3) &&
         is_ascii_lower(species[0]) && species.size() > 2 && !is_sentence_starter(species) &&
         !is_lettered(ascii_lower(tokens.word_before(at)));
}

std::optional<Reading> read_letter(const Tokens& tokens, size_t at) {
  const std::string_view letter = tokens.text(at);
  if (is_genus(tokens, at)) {
    return Reading{at + 2, spell(letter)};
  }
  if (letter == "x" && is_by(tokens, at)) {
    return Reading{at + 1, "by"};
  }
  // "X-ray", "e-mail" and "T-shirt" are in the lexicons.
  if (tokens.is(at + 1, "-") && tokens.is_word(at + 2) && tokens.text(at + 2).size() > 1 &&
      is_ascii_lower(tokens.text(at + 2)[0])) {
    return Reading{at + 3, std::string(tokens.text(at, at + 3))};
  }
  if (beside_digits(tokens, at)) {
    return Reading{at + 1, spell(letter)};
  }
  const std::string_view next = tokens.word_behind(at + 1);
  if (letter == "I" || letter == "i" || letter == "O") {
    return std::nullopt;
  }
  if (letter == "A" || letter == "a") {
    // The article has a word behind it; "grade A" has none.
    const bool article =
        at == 0 || !next.empty() || letter == "a" || tokens.word_before(at).empty();
    return article ? std::nullopt : std::optional(Reading{at + 1, spell(letter)});
  }
  // "J. Smith": the stop of an initial is not heard.
  const bool initial = is_ascii_upper(letter[0]) && tokens.is(at + 1, ".") &&
                       tokens.is_space(at + 2) && tokens.is_word(at + 3) &&
                       is_ascii_upper(tokens.text(at + 3)[0]);
  return Reading{initial ? at + 2 : at + 1, spell(letter)};
}

}  // namespace

std::optional<Reading> read_initialism(const Tokens& tokens, size_t at, const SpokenOptions&) {
  const std::string_view word = tokens.text(at);
  if (!tokens.is_word(at) || !is_ascii_letter(word[0])) {
    return std::nullopt;
  }
  if (word.size() == 1) {
    if (auto dotted = read_dotted(tokens, at)) {
      return dotted;
    }
    return read_letter(tokens, at);
  }
  if (auto respelled = read_respelled(tokens, at)) {
    return respelled;
  }
  // "CPUs" and "FBI's" keep their s.
  std::string_view core = word;
  std::string_view tail;
  for (const std::string_view suffix : {"'s", "'S", "s"}) {
    const std::string_view front =
        word.substr(0, word.size() - std::min(word.size(), suffix.size()));
    if (word.ends_with(suffix) && is_all_capitals(front)) {
      core = front;
      tail = "'s";
      break;
    }
  }
  if (word == "WWI" || word == "WWII") {
    return Reading{at + 1, word == "WWI" ? "World War one" : "World War two"};
  }
  if (is_all_capitals(core)) {
    const std::string words = beside_digits(tokens, at) && (core.size() <= 3 || !has_vowel(core)) &&
                                      !among(kAcronyms, core)
                                  ? spell(core)
                                  : capitals_words(tokens, at, core);
    const bool letters = words.find(kLetterName) != std::string::npos;
    return Reading{
        at + 1, words + std::string(tail.empty() || letters || word.ends_with("'s") ? tail : "s")};
  }
  // "mp3", "h264", "utf8": small letters beside digits that make no word.
  const bool no_word = word.find_first_of("aeiouyAEIOUY") == std::string_view::npos;
  if (word.size() <= 4 && no_word && beside_digits(tokens, at) &&
      std::ranges::all_of(word, is_ascii_letter)) {
    return Reading{at + 1, spell(word)};
  }
  return std::nullopt;
}

}  // namespace mynah
