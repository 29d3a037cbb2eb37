#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/mapped_file.h"
#include "cli/doctor_knowledge.h"
#include "cli/doctor_options.h"
#include "cli/doctor_style.h"
#include "doctor/errors/explain.h"
#include "doctor/reports/report_json.h"
#include "doctor/reports/report_text.h"

namespace mynah::cli {

namespace {

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
  std::error_code ignored;
  if (words.size() == 1 && std::filesystem::is_regular_file(words.front(), ignored)) {
    MYNAH_TRY(const auto file, MappedFile::open(words.front()));
    const auto bytes = file->bytes();
    const auto end = bytes.last(std::min(bytes.size(), doctor::kMostLogBytes));
    return std::string(reinterpret_cast<const char*>(end.data()), end.size());
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
