#include "doctor/recipes/shell_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_parts.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

namespace {

constexpr size_t kMostGrown = size_t{1} << 14;  // bytes that values may add to one text
constexpr size_t kLongestForm = 4096;           // of "${NAME:-default}"

bool is_name_character(char c) {
  return is_digit(c) || is_small_letter(small_letter(c)) || c == '_';
}

size_t name_size(std::string_view text) {
  if (text.empty() || is_digit(text.front())) {
    return 0;
  }
  return static_cast<size_t>(std::ranges::find_if_not(text, &is_name_character) - text.begin());
}

// What "${...}" stands for; `inner` is what is between the braces.
std::optional<std::string> braced(std::string_view inner,
                                  const std::map<std::string, std::string>& values) {
  const size_t size = name_size(inner);
  const auto found = values.find(std::string(inner.substr(0, size)));
  const bool set = found != values.end();
  const std::string_view form = inner.substr(size);
  if (size == 0) {
    return std::nullopt;
  }
  if (form.empty()) {
    return set ? std::optional(found->second) : std::nullopt;
  }
  const auto is_plain = [](std::string_view text) {
    return text.find('$') == std::string_view::npos;
  };
  if (form.starts_with(":-") && is_plain(form)) {
    return set && !found->second.empty() ? found->second : std::string(form.substr(2));
  }
  if (form.starts_with('-') && is_plain(form)) {
    return set ? found->second : std::string(form.substr(1));
  }
  if (form.starts_with(":+") && is_plain(form)) {
    return set && !found->second.empty() ? std::string(form.substr(2)) : std::string();
  }
  return std::nullopt;
}

// What stands between one command and the next.
enum class Separator : uint8_t { End, And, Or, Pipe, Open, Close };

struct Part {
  std::string_view text;
  Separator behind = Separator::End;
};

// Cuts a script where one command ends, outside of quotes and of commands inside of words.
class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::vector<Part> cut() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\' && quote_ != '\'') {
        ++at_;
      } else if (quote_ != '\0') {
        quote_ = c == quote_ ? '\0' : quote_;
      } else if (c == '"' || c == '\'') {
        quote_ = c;
      } else if (c == '$' && next() == '(') {
        ++at_;
        ++inside_;
      } else if (inside_ > 0) {
        inside_ -= c == ')' ? 1 : 0;
        inside_ += c == '(' ? 1 : 0;
      } else {
        plain(c);
      }
    }
    end(text_.size(), Separator::End, 0);
    return std::move(parts_);
  }

 private:
  [[nodiscard]] char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void plain(char c) {
    if (c == '#' && (at_ == 0 || is_blank(text_[at_ - 1]))) {
      end(at_, Separator::End, 0);
      at_ = std::min(text_.find('\n', at_), text_.size());
      begin_ = std::min(at_ + 1, text_.size());
    } else if (c == '&' && at_ > 0 && text_[at_ - 1] == '>') {
      return;  // ">&2"
    } else if (c == '&' || c == '|') {
      const bool twice = next() == c;
      end(at_,
          c == '&' ? (twice ? Separator::And : Separator::End)
                   : (twice ? Separator::Or : Separator::Pipe),
          twice ? 2 : 1);
    } else if (c == '\n' || c == ';') {
      end(at_, Separator::End, 1);
    } else if (c == '(' && trimmed(text_.substr(begin_, at_ - begin_)).empty()) {
      end(at_, Separator::Open, 1);
      ++open_;
    } else if (c == ')' && open_ > 0) {
      end(at_, Separator::Close, 1);
      --open_;
    }
  }

  void end(size_t at, Separator behind, size_t size) {
    const size_t begin = std::min(begin_, at);
    parts_.push_back({.text = text_.substr(begin, at - begin), .behind = behind});
    begin_ = at + size;
    at_ += size == 2 ? 1 : 0;
  }

  std::string_view text_;
  std::vector<Part> parts_;
  size_t at_ = 0;
  size_t begin_ = 0;
  char quote_ = '\0';
  int inside_ = 0;  // of $( )
  int open_ = 0;    // of ( )
};

constexpr std::array<std::string_view, 13> kShellWords = {
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "("};

// Words that begin something whose commands may run or not, and those that end it.
constexpr std::array<std::string_view, 5> kConditions = {"if", "while", "until", "for", "case"};
constexpr std::array<std::string_view, 3> kEnds = {"fi", "done", "esac"};

// Commands that only look: what stands behind "&&" runs where they find it so.
constexpr std::array<std::string_view, 6> kTests = {"[", "[[", "test", "command", "which", "grep"};

template <size_t kSize>
bool among(const std::array<std::string_view, kSize>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Reads commands with what they hang on.
class ScriptReader {
 public:
  std::vector<ShellCommand> read(std::string_view text) {
    const std::vector<Part> parts = Cutter(text).cut();
    for (size_t i = 0; i < parts.size(); ++i) {
      part(parts[i].text);
      separator(parts[i].behind, i + 1 < parts.size() ? parts[i + 1].text : std::string_view());
    }
    return std::move(commands_);
  }

 private:
  // A list of commands between brackets, in a condition, or the script itself.
  struct List {
    bool doubtful = false;  // all of it
    bool either = false;    // up to the next "&&": "a || b && c" runs c, or fails
    bool tested = false;    // up to the end of the line
    size_t begin = 0;       // of that line's commands
  };

  [[nodiscard]] bool doubtful() const {
    return lists_.back().doubtful || lists_.back().either || lists_.back().tested;
  }

  void open(bool condition) {
    constexpr size_t kDeepest = 200;
    if (lists_.size() < kDeepest) {
      const bool all = condition || doubtful();
      List& list = lists_.emplace_back();
      list.doubtful = all;
      list.begin = commands_.size();
    }
  }

  void close() {
    if (lists_.size() > 1) {
      lists_.pop_back();
    }
  }

  // Words of the shell's own at the beginning of a command.
  bool own_word(const std::string& word, bool& not_so) {
    if (among(kConditions, word)) {
      open(true);
    } else if (among(kEnds, word) || word == "}") {
      close();
    } else if (word == "{") {
      open(false);
    }
    not_so |= word == "!";
    return among(kShellWords, word) || word == "esac";
  }

  void part(std::string_view text) {
    ShellCommand command;
    bool not_so = false;
    bool file_follows = false;
    for (std::string& word : words_of(text)) {
      if (file_follows) {
        command.written.push_back(std::move(word));
        file_follows = false;
        continue;
      }
      if (command.words.empty()) {
        const size_t name = name_size(word);
        if (name > 0 && name < word.size() && word[name] == '=') {
          command.variables.insert_or_assign(word.substr(0, name), word.substr(name + 1));
          continue;
        }
        if (own_word(word, not_so)) {
          continue;
        }
      }
      const size_t sign = word.starts_with('>') ? 0 : 1;
      if (word.starts_with('>') || word.starts_with("1>") || word.starts_with("2>")) {
        // Its output goes elsewhere.
        const size_t file = word.find_first_not_of('>', sign);
        if (file == std::string::npos) {
          file_follows = true;
        } else if (word[file] != '&') {
          command.written.push_back(word.substr(file));
        }
        continue;
      }
      command.words.push_back(std::move(word));
    }
    last_tests_ = !command.words.empty() && among(kTests, command.words.front());
    if (!command.words.empty() || !command.written.empty() || !command.variables.empty()) {
      command.doubtful = doubtful() || not_so;
      commands_.push_back(std::move(command));
    }
  }

  // "a || exit 1": where a fails, all does.
  static bool gives_up(std::string_view next) {
    const std::vector<std::string> words = words_of(next);
    return !words.empty() &&
           (words[0] == "false" || (words[0] == "exit" && (words.size() < 2 || words[1] != "0")));
  }

  void separator(Separator behind, std::string_view next) {
    List& list = lists_.back();
    if (behind == Separator::Open) {
      open(false);
    } else if (behind == Separator::Close) {
      close();
    } else if (behind == Separator::Pipe && !commands_.empty()) {
      commands_.back().piped = true;
    } else if (behind == Separator::And) {
      list.either = false;
      list.tested |= last_tests_;
    } else if (behind == Separator::Or && !gives_up(next)) {
      for (size_t i = list.begin; i < commands_.size(); ++i) {
        commands_[i].doubtful = true;
      }
      list.begin = commands_.size();  // those are done: a long line is not gone through again
      list.either = true;
    } else if (behind == Separator::End) {
      list.either = list.tested = false;
      list.begin = commands_.size();
    }
  }

  std::vector<ShellCommand> commands_;
  std::vector<List> lists_ = {List()};
  bool last_tests_ = false;
};

}  // namespace

std::string substituted(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      result += text.substr(i, 2);
      ++i;
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    std::optional<std::string> value;
    size_t taken = 0;
    if (text[i] == '$' && rest.starts_with('{')) {
      const size_t end = rest.substr(0, kLongestForm).find('}');
      if (end != std::string_view::npos) {
        value = braced(rest.substr(1, end - 1), values);
        taken = end + 1;
      }
    } else if (text[i] == '$') {
      taken = name_size(rest);
      if (const auto found = values.find(std::string(rest.substr(0, taken)));
          taken > 0 && found != values.end()) {
        value = found->second;
      }
    }
    if (value && result.size() + value->size() < text.size() + kMostGrown) {
      result += *value;
      i += taken;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<ShellCommand> shell_commands(std::string_view text) {
  return ScriptReader().read(text);
}

}  // namespace mynah::doctor
