#include "doctor/recipes/shell_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "doctor/characters.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/shell_conditions.h"
#include "doctor/recipes/shell_variables.h"

namespace mynah::doctor {

namespace {

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

// Commands that set variables by their words.
constexpr std::array<std::string_view, 6> kSetters = {"export", "declare", "local",
                                                      "read",   "for",     "unset"};

template <size_t kSize>
bool among(const std::array<std::string_view, kSize>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// What commands of one line come to, which "&&" and "||" join. What is not known stays so.
class LineTruth {
 public:
  // Whether the next command of the line runs.
  [[nodiscard]] Truth runs() const {
    return joined_ == Separator::And  ? line_
           : joined_ == Separator::Or ? opposite(line_)
                                      : Truth::Yes;
  }

  // A command that comes to `truth`, where it runs.
  void add(Truth truth) {
    const Truth runs = this->runs();
    const Truth other = joined_ == Separator::Or ? Truth::Yes : Truth::No;
    if (runs == Truth::Yes) {
      line_ = truth;
    } else if (runs == Truth::NotKnown) {
      line_ = truth == other ? truth : Truth::NotKnown;
    }
    any_ = true;
  }

  // Of the commands so far.
  [[nodiscard]] Truth so_far() const { return line_; }

  // What the last line came to that is over.
  [[nodiscard]] Truth last() const { return last_; }

  // "&&", "||", or the line's end.
  void join(Separator separator) {
    joined_ = separator;
    if (separator == Separator::End) {
      last_ = any_ ? line_ : last_;
      line_ = Truth::Yes;
      any_ = false;
    }
  }

 private:
  Truth line_ = Truth::Yes;
  Truth last_ = Truth::NotKnown;
  Separator joined_ = Separator::End;
  bool any_ = false;
};

// Reads commands with what they hang on.
class ScriptReader {
 public:
  explicit ScriptReader(std::map<std::string, std::string> values) : values_(std::move(values)) {}

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
    bool never = false;     // none of it runs
    bool either = false;    // up to the next "&&": "a || b && c" runs c, or fails
    bool tested = false;    // up to the end of the line
    size_t begin = 0;       // of that line's commands
    LineTruth line = {};
    bool branches = false;  // it is of an "if"
    bool outer_doubtful = false;
    bool outer_never = false;
    bool taken = false;  // a branch before runs for sure
    bool maybe = false;  // or may
  };

  [[nodiscard]] bool doubtful() const {
    return lists_.back().doubtful || lists_.back().either || lists_.back().tested;
  }

  [[nodiscard]] bool never() const {
    return lists_.back().never || lists_.back().line.runs() == Truth::No;
  }

  void open(bool condition, bool branches = false) {
    constexpr size_t kDeepest = 200;
    if (lists_.size() >= kDeepest) {
      too_deep_ = true;
      return;
    }
    List list;
    list.outer_doubtful = doubtful();
    list.outer_never = list.never = never();
    list.doubtful = condition || list.outer_doubtful;
    list.begin = commands_.size();
    list.branches = branches;
    lists_.push_back(list);
  }

  void close() {
    if (lists_.size() > 1) {
      lists_.pop_back();
    }
    truth_ = Truth::NotKnown;
  }

  // The next branch of an "if", whose test came to `truth`.
  void branch(Truth truth) {
    List& list = lists_.back();
    if (list.branches) {
      list.never = list.outer_never || list.taken || truth == Truth::No;
      list.doubtful = list.outer_doubtful || list.maybe || truth == Truth::NotKnown;
      list.taken |= truth == Truth::Yes;
      list.maybe |= truth == Truth::NotKnown;
      list.line = {};
    }
  }

  // Its next test.
  void next_test() {
    List& list = lists_.back();
    if (list.branches) {
      list.never = list.outer_never || list.taken;
      list.doubtful = true;
      list.line = {};
    }
  }

  // Words of the shell's own at the beginning of a command.
  bool own_word(const std::string& word, bool& not_so) {
    if (among(kConditions, word)) {
      open(true, word == "if");
    } else if (word == "then") {
      branch(lists_.back().line.last());
    } else if (word == "elif") {
      next_test();
    } else if (word == "else") {
      branch(Truth::Yes);
    } else if (among(kEnds, word) || word == "}") {
      close();
    } else if (word == "{") {
      open(false);
    }
    not_so |= word == "!";
    return among(kShellWords, word) || word == "esac";
  }

  // A variable that the text sets: where it is not known whether, or to what, it is not known.
  void set(const std::string& name, const std::string& value, bool known) {
    constexpr size_t kMostValues = 1000;
    constexpr size_t kLongestValue = 1024;
    if (known && values_.size() < kMostValues && value.size() <= kLongestValue) {
      values_.insert_or_assign(name, value);
    } else {
      values_.erase(name);
    }
  }

  // Variables that a command sets for what follows it.
  void set_by(const ShellCommand& command, bool known) {
    const std::vector<std::string>& words = command.words;
    const std::string_view program = words.empty() ? std::string_view() : words.front();
    known = known && !command.doubtful && !functions_;
    if (words.empty()) {
      for (const auto& [name, value] : command.variables) {
        set(name, value, known);
      }
    }
    const bool sets = among(kSetters, program);
    for (size_t i = 1; sets && i < words.size(); ++i) {
      const size_t equals = std::min(words[i].find('='), words[i].size());
      if (equals < words[i].size() || program != "export") {
        set(words[i].substr(0, equals), words[i].substr(std::min(equals + 1, words[i].size())),
            known && program == "export");
      }
    }
  }

  // All parts together are not made longer than one text may be.
  std::string with_values(std::string_view text) {
    std::string changed = grown_ < kMostGrown ? substituted(text, values_) : std::string(text);
    grown_ += changed.size() - std::min(text.size(), changed.size());
    return changed;
  }

  void part(std::string_view text) {
    ShellCommand command;
    bool not_so = false;
    bool file_follows = false;
    std::vector<std::string> written = words_of(text);
    const bool inner = written.size() > 2 && written[0].ends_with("sh") &&
                       written[1].starts_with('-') && written[1].ends_with('c');
    for (std::string& word : inner ? written : words_of(with_values(text))) {
      if (file_follows) {
        command.written.push_back(std::move(word));
        file_follows = false;
        continue;
      }
      if (command.words.empty()) {
        const size_t name = variable_name_size(word);
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
      take(std::move(command), not_so, has_values(text, values_));
    }
  }

  // `known`: no variable without a value stands in it.
  void take(ShellCommand command, bool not_so, bool known) {
    truth_ = known ? truth_of_test(command.words) : Truth::NotKnown;
    truth_ = not_so ? opposite(*truth_) : *truth_;
    if (never() && !too_deep_) {
      return;
    }
    command.doubtful = doubtful() || not_so || too_deep_;
    // What a function sets is not set before somebody calls it.
    functions_ |= std::ranges::any_of(command.words, [](const std::string& word) {
      return word.ends_with("()") || word == "function";
    });
    set_by(command, known);
    commands_.push_back(std::move(command));
  }

  // "a || exit 1": where a fails, all does.
  static bool gives_up(std::string_view next) {
    const std::vector<std::string> words = words_of(next);
    return !words.empty() &&
           (words[0] == "false" || (words[0] == "exit" && (words.size() < 2 || words[1] != "0")));
  }

  void separator(Separator behind, std::string_view next) {
    last_tests_ &= truth_ == Truth::NotKnown;
    // Of a pipe the last command counts.
    if (truth_ && behind != Separator::Pipe) {
      lists_.back().line.add(*truth_);
    }
    truth_.reset();
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
      list.line.join(behind);
    } else if (behind == Separator::Or) {
      if (!gives_up(next)) {
        for (size_t i = list.begin; i < commands_.size(); ++i) {
          commands_[i].doubtful = true;
        }
        list.begin = commands_.size();  // those are done: a long line is not gone through again
        list.either = list.line.so_far() == Truth::NotKnown;
      }
      list.line.join(behind);
    } else if (behind == Separator::End) {
      list.either = list.tested = false;
      list.begin = commands_.size();
      list.line.join(behind);
    }
  }

  std::vector<ShellCommand> commands_;
  std::map<std::string, std::string> values_;
  std::vector<List> lists_ = {List()};
  size_t grown_ = 0;            // bytes that values added
  std::optional<Truth> truth_;  // of what was read last and is not yet joined to its line
  bool last_tests_ = false;     // and what it comes to is not known
  bool functions_ = false;      // one is defined
  bool too_deep_ = false;
};

}  // namespace

std::vector<ShellCommand> shell_commands(std::string_view text,
                                         std::map<std::string, std::string> values) {
  return ScriptReader(std::move(values)).read(text);
}

}  // namespace mynah::doctor
