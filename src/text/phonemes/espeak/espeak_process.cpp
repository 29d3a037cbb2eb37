#include "text/phonemes/espeak/espeak_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/check.h"
#include "base/nearest_name.h"

namespace mynah::espeak {

namespace {

using Clock = std::chrono::steady_clock;

// Far beyond the phonemes of one line.
constexpr size_t kLongestAnswer = 1 << 16;

std::unexpected<Error> no_answer(const std::string& what) {
  return fail(ErrorCode::Environment,
              fmt::format("espeak-ng, which reads this language, {}: try `echo hello | espeak-ng "
                          "-q --ipa`; `apt install --reinstall espeak-ng espeak-ng-data` mends it",
                          what));
}

struct Terminal {
  UniqueFd ours;
  UniqueFd theirs;
};

// A terminal that changes no byte and repeats none.
Result<Terminal> open_terminal() {
  const auto failed = [] {
    return fail(ErrorCode::Environment,
                fmt::format("no pseudo-terminal for espeak-ng: {}; is /dev/pts mounted?",
                            std::strerror(errno)));
  };
  Terminal terminal;
  terminal.ours = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!terminal.ours || ::grantpt(terminal.ours.get()) != 0 ||
      ::unlockpt(terminal.ours.get()) != 0 ||
      ::ptsname_r(terminal.ours.get(), name.data(), name.size()) != 0) {
    return failed();
  }
  terminal.theirs = UniqueFd(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  if (!terminal.theirs || ::tcgetattr(terminal.theirs.get(), &settings) != 0) {
    return failed();
  }
  ::cfmakeraw(&settings);
  if (::tcsetattr(terminal.theirs.get(), TCSANOW, &settings) != 0) {
    return failed();
  }
  return terminal;
}

// Nothing of ours that would change what it says, and where its files are, if that is set.
std::vector<std::string> environment() {
  std::vector<std::string> variables = {"LC_ALL=C.UTF-8"};
  for (const std::string& variable : inherited_environment()) {
    if (variable.starts_with("ESPEAK_DATA_PATH=") || variable.starts_with("PATH=")) {
      variables.push_back(variable);
    }
  }
  return variables;
}

bool is_voice_name(std::string_view name) {
  const auto allowed = [](char c) { return is_ascii_alnum(c) || c == '-' || c == '_' || c == '+'; };
  return !name.empty() && name.size() <= 64 && is_ascii_alnum(name[0]) &&
         std::ranges::all_of(name, allowed);
}

// Phonemes that no text is read as: consonants that every language has, none of them voiced, in an
// order that nobody can know. Between brackets, which text never has here, they are given as they
// are, and take espeak-ng a tenth of the time of a sentence.
std::string random_consonants() {
  constexpr std::string_view kConsonants = "ktps";
  constexpr int kCount = 16;
  std::random_device device;
  std::uniform_int_distribution<size_t> choice(0, kConsonants.size() - 1);
  std::string text;
  for (int i = 0; i < kCount; ++i) {
    text += kConsonants[choice(device)];
  }
  return "[[" + text + "]]";
}

}  // namespace

Result<std::string> find_espeak(const std::string& program) {
  const auto path = find_program(program);
  if (!path) {
    return fail(ErrorCode::Environment,
                fmt::format("{} is not installed, which turns other languages than English into "
                            "phonemes: `apt install espeak-ng`",
                            program));
  }
  return *path;
}

Result<std::vector<Language>> list_languages(const std::string& program,
                                             std::chrono::milliseconds patience) {
  MYNAH_TRY(const std::string path, find_espeak(program));
  MYNAH_TRY(Pipe pipe, Pipe::create());
  MYNAH_TRY(Process process, Process::spawn({.program = path,
                                             .arguments = {"--voices"},
                                             .descriptors = {{pipe.write_end.get(), STDOUT_FILENO}},
                                             .environment = environment(),
                                             .group = ProcessGroup::Own}));
  pipe.write_end.reset();
  const auto until = Clock::now() + patience;
  std::string text;
  while (text.size() < kLongestAnswer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    MYNAH_TRY(const bool ready, wait_readable(pipe.read_end.get(), std::max(left, left.zero())));
    std::array<char, 4096> block{};
    const ssize_t got = ready ? ::read(pipe.read_end.get(), block.data(), block.size()) : -1;
    if (got < 0) {
      return no_answer("did not list its voices");
    }
    if (got == 0) {
      break;
    }
    text.append(block.data(), static_cast<size_t>(got));
  }
  // "Pty Language Age/Gender VoiceName File Other Languages"
  std::vector<Language> languages;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string priority;
    Language language;
    std::string gender;
    if (words >> priority >> language.code >> gender >> language.name) {
      languages.push_back(std::move(language));
    }
  }
  return languages;
}

Result<EspeakProcess> EspeakProcess::start(ProgramOptions options) {
  if (!is_voice_name(options.voice)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("'{}' is no name of a voice of espeak-ng", options.voice));
  }
  EspeakProcess process(std::move(options));
  MYNAH_TRY(process.path_, find_espeak(process.options_.program));
  if (const Status learned = process.begin(); !learned) {
    const auto languages = list_languages(process.options_.program, process.options_.patience);
    std::vector<std::string> codes;
    for (const Language& language : languages.value_or(std::vector<Language>())) {
      codes.push_back(language.code);
    }
    const std::string& voice = process.options_.voice;
    if (!codes.empty() && std::ranges::find(codes, voice) == codes.end()) {
      return fail(ErrorCode::NotFound,
                  fmt::format("espeak-ng has no voice '{}'{}; `espeak-ng --voices` lists them",
                              voice, suggestion(voice, codes)));
    }
    return std::unexpected(learned.error());
  }
  return process;
}

Status EspeakProcess::begin() {
  MYNAH_TRY_STATUS(spawn());
  return learn_end();
}

Status EspeakProcess::spawn() {
  process_.reset();
  unread_.clear();
  MYNAH_TRY(Terminal terminal, open_terminal());
  // UTF-8 in; "--" has no meaning to it and is not needed, since text comes by its input alone.
  MYNAH_TRY(process_, Process::spawn(
                          {.program = path_,
                           .arguments = {"-q", "--ipa", "--tie=^", "-b", "1", "-v", options_.voice},
                           .descriptors = {{terminal.theirs.get(), STDIN_FILENO},
                                           {terminal.theirs.get(), STDOUT_FILENO}},
                           .environment = environment(),
                           .group = ProcessGroup::Own}));
  terminal_ = std::move(terminal.ours);
  return {};
}

Status EspeakProcess::learn_end() {
  end_question_ = random_consonants();
  MYNAH_TRY_STATUS(write(end_question_ + "\n" + end_question_ + "\n"));
  const auto until = Clock::now() + options_.patience;
  MYNAH_TRY(end_answer_, read_line(until));
  MYNAH_TRY(const std::string again, read_line(until));
  if (end_answer_.empty() || again != end_answer_) {
    return no_answer(fmt::format("says '{}' and '{}' of the same phonemes", end_answer_, again));
  }
  return {};
}

Result<std::string> EspeakProcess::ask(std::string_view line) {
  MYNAH_CHECK(line.size() < kLongestLine && line.find("[[") == std::string_view::npos,
              "[espeak] wants a short line without commands");
  auto answer = process_ ? ask_once(line) : no_answer("has ended");
  if (answer) {
    return answer;
  }
  // Tries once more, with a new one.
  const Status restarted = begin();
  answer = restarted ? ask_once(line) : Result<std::string>(std::unexpected(restarted.error()));
  if (!answer) {
    process_.reset();
  }
  return answer;
}

Result<std::string> EspeakProcess::ask_once(std::string_view line) {
  MYNAH_TRY_STATUS(write(fmt::format("{}\n{}\n", line, end_question_)));
  const auto until = Clock::now() + options_.patience;
  std::string answer;
  while (true) {
    MYNAH_TRY(const std::string part, read_line(until));
    if (part == end_answer_) {
      return answer;
    }
    if (!part.empty()) {
      answer += answer.empty() ? "" : " ";
      answer += part;
    }
    if (answer.size() > kLongestAnswer) {
      return no_answer("never ends its answer");
    }
  }
}

Status EspeakProcess::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(terminal_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return no_answer("has ended");
    }
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  return {};
}

// A line without the space that clauses begin with.
Result<std::string> EspeakProcess::read_line(Clock::time_point until) {
  while (true) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      const size_t begin = std::min(unread_.find_first_not_of(' '), end);
      std::string line = unread_.substr(begin, end - begin);
      unread_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    MYNAH_TRY(const bool ready, wait_readable(terminal_.get(), std::max(left, left.zero())));
    if (!ready) {
      return no_answer(fmt::format("gave no answer within {} ms", options_.patience.count()));
    }
    std::array<char, 4096> block{};
    const ssize_t got = ::read(terminal_.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return no_answer("has ended");
    }
    unread_.append(block.data(), static_cast<size_t>(got));
    if (unread_.size() > kLongestAnswer) {
      return no_answer("never ends its line");
    }
  }
}

}  // namespace mynah::espeak
