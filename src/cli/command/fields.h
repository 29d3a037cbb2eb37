// Fields: the one list of a verb's options. Flags, environment names, keys of the configuration
// file, --help, completion, the man page and docs/configuration.md all come from it.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mynah::cli {

// Where an option's value came from; later ones win.
enum class Origin : uint8_t { Default, File, Environment, Flag };

[[nodiscard]] std::string_view name(Origin origin);

// What a shell should offer as a value.
enum class Complete : uint8_t { Nothing, Files, Folders, Models, Voices, Languages };

// One option, without its C++ type.
struct Field {
  std::string name;     // "max-line-width"; a positional argument: "FILE"
  std::string help;     // one sentence
  std::string section;  // heading in --help
  std::string value;    // placeholder of the value; empty: a switch
  std::string initial;  // the default, as text
  char short_name = '\0';
  std::vector<std::string> aliases;  // other long names
  std::vector<std::string> choices;
  std::vector<std::string> offers;  // what a shell offers besides; other values may be good too
  Complete complete = Complete::Nothing;
  bool positional = false;
  bool optional = false;   // a positional argument that need not be there
  bool repeated = false;   // takes several values
  bool negatable = false;  // a switch that is on by default: --no-NAME is the useful form
  bool flag_only = false;  // means something for one run only: no environment, no file

  Origin origin = Origin::Default;
  // Takes a value's text; a switch takes "true" and "false". Says what was wanted where it cannot.
  std::function<Status(const std::string&)> set;
  // Forgets values, so that a stronger origin replaces a list and does not add to it.
  std::function<void()> clear;
  // The present value as text.
  std::function<std::string()> print;

  Field& shorter(char letter) {
    short_name = letter;
    return *this;
  }

  Field& also(std::string alias) {
    aliases.push_back(std::move(alias));
    return *this;
  }

  Field& completes(Complete what) {
    complete = what;
    return *this;
  }

  Field& offering(std::vector<std::string> words) {
    offers = std::move(words);
    return *this;
  }

  Field& once() {
    flag_only = true;
    return *this;
  }

  Field& as_optional() {
    optional = true;
    return *this;
  }

  // Numbers of [least, most] alone.
  Field& within(double least, double most);

  // The environment's name: MYNAH_MAX_LINE_WIDTH.
  [[nodiscard]] std::string environment_name() const;
};

// Text to value and back, for each type an option may have. parse_value says what was wanted.
Result<int64_t> parse_integer(const std::string& text, int64_t least, int64_t most);
Result<double> parse_number(const std::string& text);
// Seconds of "75", "75.5", "1:15" (minutes and seconds) or "0:01:15.5" (hours too); a comma may
// stand for the last point, as in SubRip's times.
Result<double> parse_time(const std::string& text);
Result<bool> parse_switch(const std::string& text);
// The shortest text that reads back as the same number.
[[nodiscard]] std::string print_number(double value);
[[nodiscard]] std::string print_number(float value);
// Splits at commas; "" is no values.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text);

Status parse_value(const std::string& text, std::string& out);

template <std::integral T>
  requires(!std::same_as<T, bool>)
Status parse_value(const std::string& text, T& out) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<T>::max());
  constexpr auto kInt64Most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  MYNAH_TRY(const int64_t number,
            parse_integer(text, static_cast<int64_t>(std::numeric_limits<T>::min()),
                          static_cast<int64_t>(kMost < kInt64Most ? kMost : kInt64Most)));
  out = static_cast<T>(number);
  return {};
}

template <std::floating_point T>
Status parse_value(const std::string& text, T& out) {
  MYNAH_TRY(const double number, parse_number(text));
  out = static_cast<T>(number);
  return {};
}

template <class T>
std::string print_value(const T& value) {
  if constexpr (std::same_as<T, std::string>) {
    return value;
  } else if constexpr (std::floating_point<T>) {
    return print_number(value);
  } else {
    return std::to_string(value);
  }
}

// A verb's options, bound to the members that hold them.
class Fields {
 public:
  // Options declared after this stand under `title` in --help.
  void section(std::string title) { section_ = std::move(title); }

  // --NAME and --no-NAME.
  Field& flag(std::string name, bool& target, std::string help);

  // --NAME VALUE.
  template <class T>
  Field& option(std::string name, std::string value, T& target, std::string help) {
    Field& field = add(std::move(name), std::move(value), std::move(help));
    field.initial = print_value(target);
    field.set = [&target](const std::string& text) { return parse_value(text, target); };
    field.print = [&target] { return print_value(target); };
    return field;
  }

  // --NAME VALUE, where no value, or "none", means none.
  template <class T>
  Field& option(std::string name, std::string value, std::optional<T>& target, std::string help) {
    Field& field = add(std::move(name), std::move(value), std::move(help));
    const auto print = [&target] { return target ? print_value(*target) : std::string("none"); };
    field.initial = print();
    field.print = print;
    field.set = [&target](const std::string& text) -> Status {
      if (text == "none") {
        target.reset();
        return {};
      }
      T parsed{};
      MYNAH_TRY_STATUS(parse_value(text, parsed));
      target = parsed;
      return {};
    };
    return field;
  }

  // --NAME TIME: seconds, minutes and seconds, or hours too (parse_time).
  template <class T>
  Field& time(std::string name, T& target, std::string help) {
    Field& field = option(std::move(name), "TIME", target, std::move(help));
    field.set = [&target](const std::string& text) -> Status {
      if constexpr (!std::floating_point<T>) {
        if (text == "none") {
          target.reset();
          return {};
        }
      }
      MYNAH_TRY(const double seconds, parse_time(text));
      if constexpr (std::floating_point<T>) {
        target = static_cast<T>(seconds);
      } else {
        target = static_cast<typename T::value_type>(seconds);
      }
      return {};
    };
    return field;
  }

  // --NAME A,B or repeated.
  template <class T>
  Field& list(std::string name, std::string value, std::vector<T>& target, std::string help) {
    Field& field = add(std::move(name), std::move(value), std::move(help));
    field.repeated = true;
    const auto print = [&target] {
      std::string text;
      for (const T& item : target) {
        text += (text.empty() ? "" : ",") + print_value(item);
      }
      return text;
    };
    field.initial = print();
    field.print = print;
    field.clear = [&target] { target.clear(); };
    field.set = [&target](const std::string& text) -> Status {
      for (const std::string& part : split_list(text)) {
        T parsed{};
        MYNAH_TRY_STATUS(parse_value(part, parsed));
        target.push_back(parsed);
      }
      return {};
    };
    return field;
  }

  // --NAME VALUE, repeated: each as it is written, commas too.
  Field& names(std::string name, std::string value, std::vector<std::string>& target,
               std::string help);

  // --NAME WORD, one of a few words that stand for values.
  template <class E>
  Field& choice(std::string name, std::string value, E& target,
                std::initializer_list<std::pair<std::string_view, E>> words, std::string help) {
    Field& field = add(std::move(name), std::move(value), std::move(help));
    std::vector<std::pair<std::string, E>> table(words.begin(), words.end());
    for (const auto& [word, meaning] : table) {
      field.choices.push_back(word);
    }
    field.print = [&target, table] {
      for (const auto& [word, meaning] : table) {
        if (meaning == target) {
          return word;
        }
      }
      return std::string();
    };
    field.initial = field.print();
    field.set = [&target, table, choices = field.choices](const std::string& text) -> Status {
      for (const auto& [word, meaning] : table) {
        if (word == text) {
          target = meaning;
          return {};
        }
      }
      return unknown_choice(text, choices);
    };
    return field;
  }

  // What is named without an option: files, names.
  Field& positional(const std::string& name, std::vector<std::string>& target, std::string help);

  // A list keeps its elements where they are: references from option() stay good.
  [[nodiscard]] std::deque<Field>& all() { return fields_; }

  [[nodiscard]] const std::deque<Field>& all() const { return fields_; }

  // The field by long name or alias; null where there is none.
  [[nodiscard]] Field* find(std::string_view name);
  [[nodiscard]] const Field* find(std::string_view name) const;

 private:
  Field& add(std::string name, std::string value, std::string help);
  static Status unknown_choice(const std::string& text, const std::vector<std::string>& choices);

  std::string section_;
  std::deque<Field> fields_;
};

}  // namespace mynah::cli
