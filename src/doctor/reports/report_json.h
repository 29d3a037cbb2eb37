// Reports as JSON, for programs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "doctor/errors/explain.h"
#include "doctor/reports/report_words.h"

namespace mynah::doctor {

// Version of the report's JSON: what reads one reads every later report of the same number, which
// may have more keys.
inline constexpr int kReportVersion = 1;

// One object with every field of the report; null for what is empty.
[[nodiscard]] nlohmann::ordered_json report_json(const ReportFrame& frame);

// A text as JSON; null where it is empty.
[[nodiscard]] nlohmann::ordered_json or_null(const std::string& text);

// The parts of a report, for what is reported apart from one.
[[nodiscard]] nlohmann::ordered_json part_json(const FrameworkVerdict& verdict);
[[nodiscard]] nlohmann::ordered_json part_json(const Finding& finding);
[[nodiscard]] nlohmann::ordered_json part_json(const Remedy& remedy);

// An explanation of a log with every field; null for what is empty.
[[nodiscard]] nlohmann::ordered_json explanation_json(const Explanation& explanation);

// As text in one line; bytes that are no UTF-8 as U+FFFD.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& json);

}  // namespace mynah::doctor
