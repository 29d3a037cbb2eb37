#include "text/spoken/formulas.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "text/spoken/cardinals.h"
#include "text/spoken/quantity.h"
#include "text/spoken/reading.h"

namespace mynah {
namespace {

// A formula of more tokens than this is no inline formula.
constexpr size_t kMostTokens = 160;

// Braces nest so deep; what is deeper is left out.
constexpr int kDeepest = 8;

struct Command {
  std::string_view name;
  std::string_view words;
};

// Names of LaTeX's mathematical commands (L. Lamport, "LaTeX: A Document Preparation System",
// tables 3.3 to 3.11) whose reading is not their name.
constexpr auto kCommands = std::to_array<Command>({
    {"times", "times"},
    {"cdot", "times"},
    {"div", "divided by"},
    {"pm", "plus or minus"},
    {"mp", "minus or plus"},
    {"le", "is less than or equal to"},
    {"leq", "is less than or equal to"},
    {"ge", "is greater than or equal to"},
    {"geq", "is greater than or equal to"},
    {"ll", "is much less than"},
    {"gg", "is much greater than"},
    {"ne", "is not equal to"},
    {"neq", "is not equal to"},
    {"approx", "is approximately"},
    {"sim", "is similar to"},
    {"equiv", "is equivalent to"},
    {"propto", "is proportional to"},
    {"to", "to"},
    {"rightarrow", "to"},
    {"mapsto", "maps to"},
    {"Rightarrow", "implies"},
    {"implies", "implies"},
    {"iff", "if and only if"},
    {"Leftrightarrow", "if and only if"},
    {"infty", "infinity"},
    {"sum", "the sum of"},
    {"prod", "the product of"},
    {"int", "the integral of"},
    {"partial", "partial"},
    {"nabla", "del"},
    {"in", "in"},
    {"notin", "not in"},
    {"subset", "is a subset of"},
    {"subseteq", "is a subset of"},
    {"cup", "union"},
    {"cap", "intersection"},
    {"emptyset", "the empty set"},
    {"forall", "for all"},
    {"exists", "there is"},
    {"neg", "not"},
    {"land", "and"},
    {"lor", "or"},
    {"ldots", "and so on"},
    {"cdots", "and so on"},
    {"dots", "and so on"},
    {"circ", "degrees"},
    {"prime", "prime"},
    {"ln", "natural log"},
    {"sin", "sine"},
    {"cos", "cosine"},
    {"tan", "tangent"},
    {"exp", "exp"},
    {"lim", "the limit of"},
    {"max", "max"},
    {"min", "min"},
    {"hbar", "H bar"},
    {"ell", "L"},
    {"varepsilon", "epsilon"},
    {"varphi", "phi"},
    {"vartheta", "theta"},
    {"hat", ""},
    {"bar", ""},
    {"vec", ""},
    {"tilde", ""},
    {"dot", ""},
    {"left", ""},
    {"right", ""},
    {"big", ""},
    {"Big", ""},
    {"quad", ""},
    {"qquad", ""},
    {"displaystyle", ""},
    {"limits", ""},
    {"mathrm", ""},
    {"mathbf", ""},
    {"mathit", ""},
    {"mathcal", ""},
    {"mathbb", ""},
    {"operatorname", ""},
});

constexpr auto kTextCommands =
    std::to_array<std::string_view>({"text", "mbox", "textrm", "textbf", "textit", "mathsf"});

constexpr auto kSigns = std::to_array<std::pair<char, std::string_view>>({{'+', "plus"},
                                                                          {'-', "minus"},
                                                                          {'=', "equals"},
                                                                          {'<', "is less than"},
                                                                          {'>', "is greater than"},
                                                                          {'/', "over"},
                                                                          {'*', "times"},
                                                                          {'!', "factorial"},
                                                                          {'\'', "prime"}});

class FormulaReader {
 public:
  FormulaReader(std::string_view tex, EnglishDialect dialect) : tex_(tex), dialect_(dialect) {}

  // What comes up to the brace that closes, or the end.
  std::string run(int depth = 0) {
    std::string words;
    while (at_ < tex_.size() && tex_[at_] != '}') {
      add(words, item(depth));
    }
    return words;
  }

  // The rest behind a brace too many.
  std::string all() {
    std::string words = run();
    while (at_ < tex_.size()) {
      ++at_;
      add(words, run());
    }
    return words;
  }

 private:
  static void add(std::string& words, const std::string& more) {
    words = more == "," ? words + more : join_words(words, more);
  }

  std::string item(int depth) {
    const char c = tex_[at_];
    if (is_ascii_digit(c)) {
      return number();
    }
    if (is_ascii_letter(c)) {
      return letters();
    }
    if (c == '\\') {
      return command(depth);
    }
    ++at_;
    if (c == '{') {
      std::string words = depth < kDeepest ? run(depth + 1) : std::string();
      at_ += at_ < tex_.size() ? 1 : 0;
      return words;
    }
    if (c == '^' || c == '_') {
      const std::string script = argument(depth);
      return c == '_' ? (script.empty() ? "" : "sub " + script) : power(script);
    }
    const auto* const sign =
        std::ranges::find(kSigns, c, &std::pair<char, std::string_view>::first);
    if (sign != kSigns.end()) {
      return std::string(sign->second);
    }
    return c == ',' ? "," : "";
  }

  // What a script or a command takes: a group, or one sign.
  std::string argument(int depth) {
    while (at_ < tex_.size() && is_ascii_space(tex_[at_])) {
      ++at_;
    }
    if (at_ == tex_.size() || tex_[at_] == '}') {
      return {};
    }
    if (is_ascii_digit(tex_[at_])) {
      return digit_words(tex_.substr(at_++, 1));
    }
    if (is_ascii_letter(tex_[at_])) {
      return spell(tex_.substr(at_++, 1));
    }
    return item(depth);
  }

  static std::string power(const std::string& script) {
    if (script == "two" || script == "three") {
      return script == "two" ? "squared" : "cubed";
    }
    if (script == "degrees" || script == "prime" || script.empty()) {
      return script;
    }
    return script == "times" ? "star" : "to the power of " + script;
  }

  std::string number() {
    const size_t begin = at_;
    at_ = std::min(tex_.find_first_not_of("0123456789", at_), tex_.size());
    const std::string_view whole = tex_.substr(begin, at_ - begin);
    std::string words = whole.size() > 9 ? digit_words(whole) : cardinal_words(whole, dialect_);
    if (at_ + 1 < tex_.size() && tex_[at_] == '.' && is_ascii_digit(tex_[at_ + 1])) {
      const size_t end = std::min(tex_.find_first_not_of("0123456789", at_ + 1), tex_.size());
      words += " point " + digit_words(tex_.substr(at_ + 1, end - at_ - 1));
      at_ = end;
    }
    return words;
  }

  // Letters beside each other are factors, three of them and more a word.
  std::string letters() {
    const size_t begin = at_;
    while (at_ < tex_.size() && is_ascii_letter(tex_[at_])) {
      ++at_;
    }
    const std::string_view run = tex_.substr(begin, at_ - begin);
    const bool applied = run.size() == 1 && at_ < tex_.size() && tex_[at_] == '(' &&
                         std::string_view("fghFGHPp").find(run[0]) != std::string_view::npos;
    return (run.size() > 2 ? std::string(run) : spell(run)) + (applied ? " of" : "");
  }

  std::string command(int depth) {
    const size_t begin = ++at_;
    while (at_ < tex_.size() && is_ascii_letter(tex_[at_])) {
      ++at_;
    }
    if (at_ == begin) {  // "\,", "\{"
      at_ += at_ < tex_.size() ? 1 : 0;
      return {};
    }
    const std::string_view name = tex_.substr(begin, at_ - begin);
    if (name == "frac" || name == "dfrac" || name == "tfrac") {
      return fraction(depth);
    }
    if (name == "sqrt") {
      return join_words("the square root of", argument(depth));
    }
    if (among(kTextCommands, name) && at_ < tex_.size() && tex_[at_] == '{') {
      const size_t close = std::min(tex_.find('}', at_), tex_.size());
      const std::string words(tex_.substr(at_ + 1, close - at_ - 1));
      at_ = std::min(close + 1, tex_.size());
      return words;
    }
    const auto* const known = std::ranges::find(kCommands, name, &Command::name);
    if (known == kCommands.end()) {
      return ascii_lower(name);  // "\alpha", "\Omega", "\log"
    }
    return std::string(known->words);
  }

  std::string fraction(int depth) {
    const size_t begin = at_;
    const std::string above = argument(depth);
    const std::string below = argument(depth);
    // "\frac{1}{2}" is one half.
    const std::string_view written = tex_.substr(begin, at_ - begin);
    const size_t middle = written.find("}{");
    if (middle != std::string_view::npos && written.starts_with('{') && written.ends_with('}')) {
      const std::string_view top = written.substr(1, middle - 1);
      const std::string_view bottom = written.substr(middle + 2, written.size() - middle - 3);
      const auto number = [](std::string_view text) {
        return !text.empty() && text.size() < 4 && std::ranges::all_of(text, is_ascii_digit);
      };
      if (number(top) && number(bottom)) {
        return fraction_words(top, bottom, false, dialect_);
      }
    }
    return above.empty() || below.empty() ? above + below : above + " over " + below;
  }

  std::string_view tex_;
  EnglishDialect dialect_;
  size_t at_ = 0;
};

// Whether what stands between two dollar signs is a formula, and not prose between two amounts.
bool is_formula(const Tokens& tokens, size_t begin, size_t end) {
  const std::string_view tex = tokens.text(begin, end);
  if (tex.find_first_of("\\^_=<>+") != std::string_view::npos) {
    return true;
  }
  return tex.find(' ') == std::string_view::npos;
}

}  // namespace

std::string formula_words(std::string_view tex, EnglishDialect dialect) {
  return FormulaReader(tex, dialect).all();
}

// "$E = mc^2$", "$$x$$", "\(x\)": pandoc's rule tells them from amounts of money (no space inside
// the dollar signs, no digit behind the last).
std::optional<Reading> read_formula(const Tokens& tokens, size_t at, const SpokenOptions& options) {
  const bool bracket = tokens.is(at, "\\") && tokens.is(at + 1, "(");
  const bool twice = tokens.is(at, "$") && tokens.is(at + 1, "$");
  if (!bracket && !(tokens.is(at, "$") && tokens.begins_word(at))) {
    return std::nullopt;
  }
  const size_t signs = bracket || twice ? 2 : 1;
  const size_t begin = at + signs;
  if (tokens.is_space(begin) && signs == 1) {
    return std::nullopt;
  }
  for (size_t i = begin; i < begin + kMostTokens && !tokens.is_end(i); ++i) {
    const bool closes = bracket ? tokens.is(i, "\\") && tokens.is(i + 1, ")")
                                : tokens.is(i, "$") && (!twice || tokens.is(i + 1, "$"));
    if (!closes) {
      continue;
    }
    const bool inside = i > begin && (signs == 2 || !tokens.is_space(i - 1)) &&
                        tokens.ends_word(i + signs) && is_formula(tokens, begin, i);
    if (!inside) {
      return std::nullopt;
    }
    std::string words = formula_words(tokens.text(begin, i), options.dialect);
    // "$3 \times 10^8$ m/s"
    const auto unit =
        tokens.is_digits(begin)
            ? unit_at(tokens, i + signs, tokens.text(begin, i) == "1", options.dialect)
            : std::nullopt;
    return unit ? Reading{unit->end, words + " " + unit->words}
                : Reading{i + signs, std::move(words)};
  }
  return std::nullopt;
}

}  // namespace mynah
