// The program open_jtalk, running beside this one: Japanese text in, words with their readings out.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/phonemes/open_jtalk/trace.h"

namespace mynah::open_jtalk {

struct ProgramOptions {
  std::string program = "open_jtalk";
  // Debian's open-jtalk-mecab-naist-jdic.
  std::string dictionary = "/var/lib/mecab/dic/open-jtalk/naist-jdic";
  std::chrono::milliseconds patience{5000};  // for one text; its answers take some hundredths of it
};

// Runs it for each text, since it ends with each: whatever text does to it happens elsewhere, and
// the next one finds it well. Any number of threads may use it.
class OpenJtalkProcess {
 public:
  // Asks it something. Environment where the program or its dictionary is missing, with the
  // packages to install, and where it does not answer.
  static Result<OpenJtalkProcess> start(ProgramOptions options);

  // The words of one text of less than kLongestText bytes, without control characters. Environment
  // where it does not answer twice.
  [[nodiscard]] Result<Trace> ask(std::string_view text) const;

  // Open JTalk reads one line into a buffer of 1024 bytes (Open JTalk 1.11, open_jtalk.c,
  // MAXBUFLEN).
  static constexpr size_t kLongestText = 1000;

 private:
  explicit OpenJtalkProcess(ProgramOptions options) : options_(std::move(options)) {}

  [[nodiscard]] Result<std::string> ask_once(std::string_view text) const;

  ProgramOptions options_;
  std::string path_;
};

// A voice file for open_jtalk that says nothing: it wants one, though its readings need none, and
// those that there are, are not free or large. One state, one leaf a tree, all coefficients zero
// (HTS_engine API 1.10's format).
[[nodiscard]] std::string silent_voice();

}  // namespace mynah::open_jtalk
