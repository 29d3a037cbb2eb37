// The program espeak-ng, running beside this one: a line of text in, a line of phonemes out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace mynah::espeak {

struct ProgramOptions {
  std::string program = "espeak-ng";
  std::string voice;                         // espeak-ng's own name: "en-us", "pt-br"
  std::chrono::milliseconds patience{5000};  // for one line; its answers take well below one
};

// A language that espeak-ng reads.
struct Language {
  std::string code;  // what -v takes, in BCP 47: "fr-fr"
  std::string name;  // "French_(France)"
};

// Where the program is. Environment, with the package to install, where it is not.
Result<std::string> find_espeak(const std::string& program);

// `espeak-ng --voices`.
Result<std::vector<Language>> list_languages(const std::string& program,
                                             std::chrono::milliseconds patience);

// One process that answers many questions: starting one takes thirty times as long as a sentence.
// It is a program of its own since its licence is the GPL, and so that whatever text does to it
// happens elsewhere. Started again once where it dies or hangs; one thread at a time.
class EspeakProcess {
 public:
  // Starts it and asks it something. Errors: Environment where it is not installed, does not answer
  // or no pseudo-terminal can be had (it keeps its answers back from a pipe until it ends);
  // NotFound where it has no such voice.
  static Result<EspeakProcess> start(ProgramOptions options);

  // Phonemes of one line, as `--ipa --tie=^` writes them, clauses with a space between. The line
  // has less than kLongestLine bytes, no control characters and no "[[", which would be a command.
  Result<std::string> ask(std::string_view line);

  // Lines are read into a buffer of 1000 bytes (espeak-ng 1.51, espeak-ng.c), what is longer in
  // pieces that may split a character.
  static constexpr size_t kLongestLine = 900;

 private:
  explicit EspeakProcess(ProgramOptions options) : options_(std::move(options)) {}

  Status begin();
  Status spawn();
  Status learn_end();
  Result<std::string> ask_once(std::string_view line);
  Status write(std::string_view bytes);
  Result<std::string> read_line(std::chrono::steady_clock::time_point until);

  ProgramOptions options_;
  std::string path_;
  std::optional<Process> process_;
  UniqueFd terminal_;
  std::string unread_;
  // Said after each question, so that its answer tells where the question's ends.
  std::string end_question_;
  std::string end_answer_;
};

}  // namespace mynah::espeak
