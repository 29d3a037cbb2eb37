// What is written without spaces and is no prose: links (RFC 3986), e-mail addresses (RFC 5322),
// files and paths, IP addresses.
#include "text/spoken/addresses.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/spoken/cardinals.h"
#include "text/spoken/characters.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

// The most tokens of one address; what is longer is read as text.
constexpr size_t kMostTokens = 256;

constexpr auto kTopDomains = std::to_array<std::string_view>(
    {"com", "org", "net",  "edu",  "gov",  "mil",    "int",  "info", "biz", "io", "ai",
     "dev", "app", "co",   "me",   "tv",   "uk",     "us",   "eu",   "de",  "fr", "it",
     "es",  "nl",  "be",   "ch",   "at",   "se",     "no",   "dk",   "fi",  "pl", "cz",
     "ru",  "ua",  "cn",   "jp",   "kr",   "in",     "au",   "nz",   "ca",  "br", "mx",
     "ar",  "za",  "ie",   "pt",   "gr",   "tr",     "il",   "hk",   "tw",  "sg", "ly",
     "gg",  "xyz", "tech", "blog", "shop", "online", "cloud"});

struct Extension {
  std::string_view written;
  std::string_view spoken;  // empty: letter by letter
};

constexpr std::array kExtensions = std::to_array<Extension>({
    {"txt", ""},
    {"md", ""},
    {"pdf", ""},
    {"doc", "doc"},
    {"docx", "doc X"},
    {"xls", ""},
    {"xlsx", ""},
    {"ppt", ""},
    {"pptx", ""},
    {"csv", ""},
    {"tsv", ""},
    {"json", "jason"},
    {"jsonl", "jason L"},
    {"yaml", "yammel"},
    {"yml", ""},
    {"toml", "tommel"},
    {"xml", ""},
    {"html", ""},
    {"htm", ""},
    {"css", ""},
    {"js", ""},
    {"ts", ""},
    {"jsx", ""},
    {"tsx", ""},
    {"mjs", ""},
    {"c", ""},
    {"h", ""},
    {"cc", ""},
    {"cpp", ""},
    {"hpp", ""},
    {"cu", ""},
    {"rs", ""},
    {"go", "go"},
    {"py", ""},
    {"pyc", ""},
    {"ipynb", ""},
    {"rb", ""},
    {"java", "java"},
    {"kt", ""},
    {"swift", "swift"},
    {"sh", ""},
    {"bat", "bat"},
    {"exe", ""},
    {"dll", ""},
    {"so", ""},
    {"bin", "bin"},
    {"dat", "dat"},
    {"log", "log"},
    {"cfg", ""},
    {"conf", "conf"},
    {"ini", ""},
    {"lock", "lock"},
    {"bak", "bak"},
    {"tmp", ""},
    {"zip", "zip"},
    {"tar", "tar"},
    {"gz", ""},
    {"xz", ""},
    {"bz2", ""},
    {"deb", "deb"},
    {"rpm", ""},
    {"iso", "eye so"},
    {"img", ""},
    {"png", ""},
    {"jpg", "J peg"},
    {"jpeg", "J peg"},
    {"gif", "gif"},
    {"svg", ""},
    {"bmp", ""},
    {"webp", "web P"},
    {"ico", ""},
    {"mp3", ""},
    {"mp4", ""},
    {"wav", "wave"},
    {"flac", "flack"},
    {"ogg", "og"},
    {"opus", "opus"},
    {"m4a", ""},
    {"m4b", ""},
    {"mkv", ""},
    {"avi", ""},
    {"mov", ""},
    {"epub", "E pub"},
    {"srt", ""},
    {"vtt", ""},
    {"onnx", "onyx"},
    {"gguf", ""},
    {"bashrc", ""},
    {"gitignore", ""},
    {"sql", ""},
    {"php", ""},
    {"cmake", "C make"},
    {"nemo", "nemo"},
    {"safetensors", "safe tensors"},
});

const Extension* find_extension(std::string_view written) {
  const std::string lower = ascii_lower(written);
  const auto* const found = std::ranges::find(kExtensions, lower, &Extension::written);
  return found == kExtensions.end() ? nullptr : found;
}

bool is_name_byte(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Letters and digits by name: "mp3" is "M P 3", for the reader of digits.
std::string spell_mixed(std::string_view name) {
  std::string words;
  for (const char c : name) {
    if (is_ascii_digit(c)) {
      words = join_words(words, digit_words(std::string_view(&c, 1)));
    } else {
      words = join_words(words, spell(std::string_view(&c, 1)));
    }
  }
  return words;
}

// Names of what is no letter.
std::string_view sign_name(char c) {
  constexpr std::array<std::pair<char, std::string_view>, 21> kNames = {
      {{'.', "dot"},
       {'/', "slash"},
       {'-', "dash"},
       {'_', "underscore"},
       {':', "colon"},
       {'?', "question mark"},
       {'=', "equals"},
       {'&', "and"},
       {'#', "hash"},
       {'%', "percent"},
       {'~', "tilde"},
       {'+', "plus"},
       {'@', "at"},
       {'\\', "backslash"},
       {',', "comma"},
       {';', "semicolon"},
       {'*', "star"},
       {'!', "exclamation mark"},
       {'$', "dollar"},
       {'(', "open parenthesis"},
       {')', "close parenthesis"}}};
  const auto* const found = std::ranges::find(kNames, c, &std::pair<char, std::string_view>::first);
  return found == kNames.end() ? std::string_view{} : found->second;
}

// A run of letters inside an address: a word, or letters where nobody could say it.
std::string name_words(std::string_view run) {
  const bool plain = std::ranges::all_of(run, is_ascii_letter);
  const bool sayable = std::ranges::any_of(run, is_vowel_letter);
  if (plain && ((!sayable && run.size() <= 5) || run.size() == 1 || run == "etc" || run == "usr" ||
                run == "api" || run == "url" || run == "ui" || run == "io" || run == "ai" ||
                (is_all_capitals(run) && run.size() <= 3))) {
    return spell(run);
  }
  return is_all_capitals(run) ? ascii_lower(run) : std::string(run);
}

// An address in words: names at their capitals apart, digits, and the names of signs.
std::string address_words(std::string_view text, EnglishDialect dialect) {
  std::string words;
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    size_t end = at + 1;
    if (is_ascii_digit(c)) {
      while (end < text.size() && is_ascii_digit(text[end])) {
        ++end;
      }
      const std::string_view digits = text.substr(at, end - at);
      const bool amount = digits.size() <= 4 && (digits[0] != '0' || digits.size() == 1);
      words = join_words(words, amount ? (digits.size() == 4 ? year_words(digits, dialect)
                                                             : cardinal_words(digits, dialect))
                                       : digit_words(digits));
    } else if (is_ascii_letter(c) || static_cast<unsigned char>(c) >= 0x80) {
      while (end < text.size() &&
             (is_ascii_letter(text[end]) || static_cast<unsigned char>(text[end]) >= 0x80) &&
             !(is_ascii_upper(text[end]) && is_ascii_lower(text[end - 1]))) {
        ++end;
      }
      words = join_words(words, name_words(text.substr(at, end - at)));
    } else {
      words = join_words(words, sign_name(c));
    }
    at = end;
  }
  return words;
}

// "example.com" and "main.cpp": what is behind the last dot has a reading of its own.
std::string dotted_words(std::string_view name, EnglishDialect dialect) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) {
    return address_words(name, dialect);
  }
  const std::string_view last = name.substr(dot + 1);
  const Extension* const extension = find_extension(last);
  std::string end;
  if (extension != nullptr && !extension->spoken.empty()) {
    end = with_letter_names(extension->spoken);
  } else if (extension != nullptr) {
    end = spell_mixed(last);
  } else {
    constexpr auto kSpelled = std::to_array<std::string_view>(
        {"uk", "us", "eu", "io", "ai", "edu", "in", "it", "is", "at", "es", "au"});
    end = among(kSpelled, last) || last.size() == 2 ? spell(last) : address_words(last, dialect);
    constexpr auto kWords = std::to_array<std::string_view>({"co", "me", "go", "no"});
    end = among(kWords, last) ? std::string(last) : end;
  }
  const std::string_view front = name.substr(0, dot);
  return join_words(join_words(front.empty() ? "" : dotted_words(front, dialect), "dot"), end);
}

// A link without its scheme: host, then the rest.
std::string link_words(std::string_view link, EnglishDialect dialect) {
  if (link.starts_with("www.")) {
    link.remove_prefix(4);
  }
  const size_t host_end = std::min(link.find_first_of("/?#:"), link.size());
  const std::string host = dotted_words(link.substr(0, host_end), dialect);
  std::string_view rest = link.substr(host_end);
  while (rest.ends_with('/')) {
    rest.remove_suffix(1);
  }
  if (link.size() > kLongLink) {
    return "a link to " + host;
  }
  return rest.empty() ? host : join_words(host, dotted_words(rest, dialect));
}

std::optional<std::string> read_link(std::string_view text, EnglishDialect dialect) {
  constexpr auto kSchemes = std::to_array<std::string_view>(
      {"https://", "http://", "ftp://", "ssh://", "git://", "wss://", "ws://"});
  const std::string lower = ascii_lower(text.substr(0, 10));
  for (const std::string_view scheme : kSchemes) {
    if (lower.starts_with(scheme) && text.size() > scheme.size()) {
      return link_words(text.substr(scheme.size()), dialect);
    }
  }
  if (lower.starts_with("www.") && text.size() > 4) {
    return link_words(text, dialect);
  }
  const size_t host = host_length(text);
  const bool whole =
      host == text.size() ||
      (host > 0 && std::string_view("/?#:").find(text[host]) != std::string_view::npos);
  return whole ? std::optional(link_words(text, dialect)) : std::nullopt;
}

std::optional<std::string> read_mail(std::string_view text, EnglishDialect dialect) {
  if (text.starts_with("mailto:")) {
    text.remove_prefix(7);
  }
  if (!is_mail(text)) {
    return std::nullopt;
  }
  const size_t at = text.find('@');
  return address_words(text.substr(0, at), dialect) + " at " +
         dotted_words(text.substr(at + 1), dialect);
}

// "192.168.0.1", with a port or a mask.
std::optional<std::string> read_ip(std::string_view text, EnglishDialect dialect) {
  std::string words;
  int groups = 0;
  size_t at = 0;
  while (at < text.size() && is_ascii_digit(text[at]) && groups < 4) {
    size_t end = at;
    while (end < text.size() && is_ascii_digit(text[end])) {
      ++end;
    }
    if (end - at > 3) {
      return std::nullopt;
    }
    const std::string_view digits = text.substr(at, end - at);
    words = join_words(words,
                       digits.size() > 2 ? digit_words(digits) : cardinal_words(digits, dialect));
    ++groups;
    at = end;
    if (groups < 4 && at < text.size() && text[at] == '.') {
      words += " dot";
      ++at;
    }
  }
  const std::string_view rest = text.substr(at);
  const bool tail = rest.size() > 1 && (rest[0] == ':' || rest[0] == '/') &&
                    std::ranges::all_of(rest.substr(1), is_ascii_digit);
  if (groups != 4 || (!rest.empty() && !tail)) {
    return std::nullopt;
  }
  if (rest.empty()) {
    return words;
  }
  return words + (rest[0] == ':' ? " port " : " slash ") + address_words(rest.substr(1), dialect);
}

bool is_path_byte(char c) {
  return is_name_byte(c) || c == '.' || c == '/' || c == '~' || c == '\\' || c == ':' || c == '*' ||
         c == '+';
}

// "D.C", "N.B.C", "LL.H": letters with stops between them are no source file in C.
bool is_initialism(std::string_view text, size_t dot) {
  const size_t first = text.find('.');
  return dot + 2 == text.size() && is_ascii_upper(text[dot + 1]) && is_ascii_upper(text[0]) &&
         first <= 2;
}

std::optional<std::string> read_file(std::string_view text, EnglishDialect dialect) {
  if (!std::ranges::all_of(text, is_path_byte)) {
    return std::nullopt;
  }
  const bool root = text.size() > 2 && text[0] == '/' && is_ascii_letter(text[1]);
  const bool relative = text.starts_with("~/") || text.starts_with("./") || text.starts_with("../");
  const bool drive = text.size() > 2 && is_ascii_letter(text[0]) && text[1] == ':' &&
                     (text[2] == '\\' || (text[2] == '/' && text.size() > 3 && text[3] != '/'));
  const bool share = text.size() > 3 && text.starts_with("\\\\") && is_name_byte(text[2]);
  const size_t dot = text.rfind('.');
  const bool named = dot != std::string_view::npos &&
                     find_extension(text.substr(dot + 1)) != nullptr &&
                     text.find(':') == std::string_view::npos &&
                     (dot == 0 || is_name_byte(text[dot - 1]) || text[dot - 1] == '/') &&
                     !is_initialism(text, dot);
  if (!root && !relative && !drive && !share && !named) {
    return std::nullopt;
  }
  // The end of a folder is not said, but for a drive's own: "C:\".
  while (text.size() > 1 && (text.ends_with('/') || (text.ends_with('\\') && text.size() > 3))) {
    text.remove_suffix(1);
  }
  return dotted_words(text, dialect);
}

}  // namespace

size_t host_length(std::string_view text) {
  size_t end = 0;
  size_t dot = 0;
  while (end < text.size() && (is_name_byte(text[end]) || text[end] == '.')) {
    if (text[end] == '.') {
      if (end == 0 || text[end - 1] == '.') {
        return 0;
      }
      dot = end;
    }
    ++end;
  }
  return dot > 0 && dot + 1 < end && among(kTopDomains, text.substr(dot + 1, end - dot - 1)) ? end
                                                                                             : 0;
}

bool is_mail(std::string_view text) {
  const size_t at = text.find('@');
  if (at == 0 || at == std::string_view::npos || at + 3 > text.size() ||
      text.find('@', at + 1) != std::string_view::npos) {
    return false;
  }
  const std::string_view local = text.substr(0, at);
  const std::string_view host = text.substr(at + 1);
  const auto allowed = [](char c) { return is_name_byte(c) || c == '.' || c == '+' || c == '%'; };
  const auto allowed_before = [&](char c) { return allowed(c) || c == '\''; };
  return std::ranges::all_of(local, allowed_before) && std::ranges::all_of(host, allowed) &&
         host.find('.') != std::string_view::npos;
}

size_t address_end(const Tokens& tokens, size_t at) {
  size_t end = at;
  while (end - at < kMostTokens && !tokens.is_end(end) && !tokens.is_space(end)) {
    ++end;
  }
  if (end - at == kMostTokens) {
    return at;
  }
  const bool opened = tokens.text(at, end).find('(') != std::string_view::npos;
  while (end > at && tokens.kind(end - 1) == Token::Kind::Mark && !tokens.is(end - 1, "/") &&
         !tokens.is(end - 1, "\\")) {
    if (opened && tokens.is(end - 1, ")")) {
      break;
    }
    --end;
  }
  return end;
}

std::optional<Reading> read_address(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  if (tokens.is_space(at) || (at > 0 && !tokens.begins_word(at))) {
    return std::nullopt;
  }
  const bool first = at == 0 || tokens.is_space(at - 1) ||
                     is_opener(static_cast<unsigned char>(tokens.text(at - 1)[0])) ||
                     tokens.is(at - 1, "\u201C") || tokens.is(at - 1, "<") ||
                     tokens.is(at - 1, "=");
  const bool may_begin = tokens.is_word(at) || tokens.is_digits(at) || tokens.is(at, "/") ||
                         tokens.is(at, "~") || tokens.is(at, ".") || tokens.is(at, "\\");
  if (!first || !may_begin) {
    return std::nullopt;
  }
  const size_t end = address_end(tokens, at);
  if (end < at + 2) {
    return std::nullopt;
  }
  const std::string_view text = tokens.text(at, end);
  for (const auto reader : {read_link, read_mail, read_ip, read_file}) {
    if (auto words = reader(text, options.dialect)) {
      return Reading{end, std::move(*words)};
    }
  }
  return std::nullopt;
}

}  // namespace mynah
