#include "cli/placement/placement_answer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mynah::cli {

nlohmann::ordered_json placement_json(const place::Placer* placer) {
  return placer != nullptr ? to_json(placer->report()) : nlohmann::ordered_json(nullptr);
}

void say_each(const Context& context, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    context.say(line);
  }
}

std::string stage_time_line(std::string_view stage, std::string_view device, double milliseconds) {
  return fmt::format("  {:<14} {:<6} {:10.1f} ms", stage, device, milliseconds);
}

void say_times(const Context& context, const place::Placer* placer) {
  if (placer == nullptr) {
    return;
  }
  for (const StagePlacement& stage : placer->report().stages) {
    context.err.line(stage_time_line(stage.stage, stage.device, stage.milliseconds));
  }
  context.err.flush();
}

}  // namespace mynah::cli
