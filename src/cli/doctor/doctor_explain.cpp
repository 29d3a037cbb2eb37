#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "base/unique_fd.h"
#include "cli/doctor/doctor_knowledge.h"
#include "cli/doctor/doctor_options.h"
#include "cli/doctor/doctor_style.h"
#include "doctor/errors/explain.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/report_text.h"

namespace mynah::cli {

namespace {

// Whether a word that is no file was meant as one: no message is written so.
bool looks_like_path(const std::string& word) {
  const auto begins = [&](std::string_view with) { return word.starts_with(with); };
  return word.find_first_of(" \n\t") == std::string::npos &&
         (begins("/") || begins("./") || begins("../") || begins("~") || word.ends_with(".log") ||
          word.ends_with(".txt"));
}

// The file's text, of a longer one the end; none where the word is no file's name.
Result<std::optional<std::string>> file_text(const std::string& word) {
  std::error_code ignored;
  const auto status = std::filesystem::status(word, ignored);
  if (!std::filesystem::exists(status)) {
    if (looks_like_path(word)) {
      return fail(ErrorCode::NotFound,
                  fmt::format("explain: there is no file '{}' to read; a text of one word that "
                              "looks like a path is read from standard input: echo TEXT | mynah "
                              "doctor explain -",
                              word));
    }
    return std::nullopt;
  }
  if (std::filesystem::is_directory(status)) {
    if (!looks_like_path(word)) {
      return std::nullopt;
    }
    return fail(ErrorCode::InvalidInput,
                fmt::format("explain: '{}' is a folder, and a log is a file", word));
  }
  if (std::filesystem::is_regular_file(status)) {
    MYNAH_TRY(const auto file, MappedFile::open(word));
    const auto bytes = file->bytes();
    const auto end = bytes.last(std::min(bytes.size(), doctor::kMostLogBytes));
    return std::string(reinterpret_cast<const char*>(end.data()), end.size());
  }
  // A pipe, as <(dmesg) is one.
  const UniqueFd pipe(::open(word.c_str(), O_RDONLY | O_CLOEXEC));
  if (!pipe) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("explain: '{}' cannot be read: {}", word, std::strerror(errno)));
  }
  return InputStream(pipe.get()).read_to_end(doctor::kMostLogBytes);
}

// The log; of a longer one its end.
Result<std::string> log_of(Context& context, const std::vector<std::string>& words) {
  constexpr std::string_view kWanted =
      "explain: wanted the text of an error, a file of it, or - and the log on standard input";
  if (words.empty() || (words.size() == 1 && words.front() == "-")) {
    if (words.empty() && context.in.is_terminal()) {
      return fail(ErrorCode::Usage, std::string(kWanted));
    }
    // Who sits before it and gave nothing yet would wait for an answer, as it waits for him.
    if (context.in.is_terminal()) {
      context.err.line("explain: paste the log, then press Ctrl-D on a line of its own");
    } else if (words.empty() && context.err.is_terminal()) {
      context.err.line("explain: reading the log from standard input, up to its end");
    }
    std::string log = context.in.read_to_end(doctor::kMostLogBytes);
    if (log.empty()) {
      return fail(ErrorCode::Usage, fmt::format("{}; that was empty", kWanted));
    }
    return log;
  }
  if (words.size() == 1) {
    MYNAH_TRY(std::optional<std::string> text, file_text(words.front()));
    if (text) {
      return *std::move(text);
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

Result<int> doctor_explain(Context& context, const std::vector<std::string>& words,
                           const DoctorOptions& options) {
  MYNAH_TRY(const std::string log, log_of(context, words));
  const UsedKnowledge used = used_knowledge(context);
  const std::vector<doctor::Explanation> found = doctor::explain(log, used.get());
  if (found.empty()) {
    return fail(ErrorCode::NotFound,
                "no known error is in this text, and none is near enough for a guess");
  }
  if (!context.json) {
    context.out.write(doctor::explanation_text(found, text_style(context, options)));
    return 0;
  }
  for (const doctor::Explanation& explanation : found) {
    context.out.line(doctor::json_line(doctor::explanation_json(explanation)));
  }
  return 0;
}

}  // namespace mynah::cli
