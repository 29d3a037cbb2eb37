// What `mynah doctor plan` and `mynah doctor compare` found, for people and for programs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "doctor/plans/compare.h"
#include "doctor/plans/stack_plan.h"
#include "doctor/reports/report_text.h"

namespace mynah::doctor {

enum class PlanShape : uint8_t { Requirements, Dockerfile };

// The plan as a file of that shape; where there is none, comments that say why, and what would make
// one.
[[nodiscard]] std::string plan_text(const StackAnswer& answer, PlanShape shape);

// Every field, the files of both shapes besides; null for what is empty.
[[nodiscard]] nlohmann::ordered_json plan_json(const StackAnswer& answer);

// What differs, what becomes of frameworks, what breaks and what is mended, and the steps in order.
[[nodiscard]] std::string comparison_text(const Comparison& comparison, const TextStyle& style);

[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace mynah::doctor
