#include "cli/placement/profile_texts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "place/terms/kind.h"
#include "place/terms/stage.h"
#include "place/terms/time_text.h"
#include "store/files.h"

namespace mynah::cli {
namespace {

using Json = nlohmann::ordered_json;
using place::Measurement;
using place::Profile;
using place::Stage;

const Measurement* find_stage(const Profile& profile, Stage stage) {
  const auto found = std::ranges::find(profile.stages, stage, &Measurement::stage);
  return found == profile.stages.end() ? nullptr : &*found;
}

std::vector<Stage> stages_of_either(const Profile& from, const Profile& to) {
  std::vector<Stage> stages;
  for (const Stage stage : place::all_stages()) {
    if (find_stage(from, stage) != nullptr || find_stage(to, stage) != nullptr) {
      stages.push_back(stage);
    }
  }
  return stages;
}

// "cuda:0 as f16".
std::string place_text(const Measurement* stage) {
  if (stage == nullptr) {
    return "not placed";
  }
  return stage->storage ? fmt::format("{} as {}", stage->device, name(*stage->storage))
                        : stage->device;
}

std::string_view unit_of(const Measurement& stage) {
  return place::kind_of(place::group_of(stage.stage)).unit;
}

std::string time_text(const Measurement* stage) {
  return stage == nullptr ? std::string("-") : fmt::format("{:.3g} ms", stage->ms_per_unit);
}

// ", 4.0 times faster"; "": as fast, or nothing to compare.
std::string gain_text(double from_ms, double to_ms) {
  const std::string text = place::speed_text(to_ms, from_ms, "");
  return text.empty() ? text : ", " + text;
}

Json place_json(const Measurement* stage) {
  if (stage == nullptr) {
    return nullptr;
  }
  return {{"device", stage->device},
          {"storage", stage->storage ? Json(name(*stage->storage)) : Json()},
          {"ms_per_second", stage->ms_per_unit}};
}

}  // namespace

std::string placement_text(const Profile& profile) {
  std::vector<std::string> stages;
  stages.reserve(profile.stages.size());
  for (const Measurement& stage : profile.stages) {
    stages.push_back(fmt::format("{} on {}", place::stage_name(stage.stage), place_text(&stage)));
  }
  return fmt::format("{}", fmt::join(stages, ", "));
}

std::vector<std::string> profile_lines(const Profile& profile, bool pinned) {
  std::vector<std::string> lines = {profile.name + (pinned ? " (in use)" : "")};
  const auto line = [&lines](std::string_view label, std::string_view value) {
    lines.push_back(fmt::format("  {:<13} {}", label, value));
  };
  line("model", fmt::format("{} (SHA-256 {})", profile.model, profile.model_sha256));
  line("measured", fmt::format("{}, by {}", profile.created, profile.build));
  line("batch", std::to_string(profile.batch));
  for (const place::DeviceIdentity& device : profile.devices) {
    line(device.device,
         fmt::format("{}{}{}", device.name,
                     device.driver.empty() ? "" : fmt::format(", driver {}", device.driver),
                     device.uuid.empty() ? "" : ", " + device.uuid));
  }
  for (const Measurement& stage : profile.stages) {
    line(place::stage_name(stage.stage),
         fmt::format("{}: {} for {}, {}", place_text(&stage), time_text(&stage), unit_of(stage),
                     human_bytes(stage.bytes)));
  }
  for (const Measurement& other : profile.others) {
    line("not chosen",
         fmt::format("{} on {}: {}", place::stage_name(other.stage), place_text(&other),
                     other.passed ? time_text(&other) : "failed: " + other.failure));
  }
  if (!profile.stages.empty()) {
    line("whole",
         fmt::format("{:.3g} ms for {}", total_ms(profile), unit_of(profile.stages.front())));
  }
  return lines;
}

std::vector<std::string> difference_lines(const Profile& from, const Profile& to) {
  std::vector<std::string> lines;
  if (from.model_sha256 != to.model_sha256) {
    lines.push_back(fmt::format("model         {} -> {}{}", from.model, to.model,
                                from.model == to.model ? " (another file)" : ""));
  }
  if (from.batch != to.batch) {
    lines.push_back(fmt::format("batch         {} -> {}", from.batch, to.batch));
  }
  for (const Stage stage : stages_of_either(from, to)) {
    const Measurement* was = find_stage(from, stage);
    const Measurement* is = find_stage(to, stage);
    const std::string before = place_text(was);
    const std::string after = place_text(is);
    lines.push_back(fmt::format(
        "{:<13} {}: {} -> {}{}", place::stage_name(stage),
        before == after ? before + " in both" : fmt::format("{} -> {}", before, after),
        time_text(was), time_text(is),
        was != nullptr && is != nullptr ? gain_text(was->ms_per_unit, is->ms_per_unit) : ""));
  }
  const double before = total_ms(from);
  const double after = total_ms(to);
  lines.push_back(fmt::format("whole         {:.3g} ms -> {:.3g} ms{}", before, after,
                              gain_text(before, after)));
  return lines;
}

Json difference_json(const Profile& from, const Profile& to) {
  Json stages = Json::array();
  for (const Stage stage : stages_of_either(from, to)) {
    const Measurement* was = find_stage(from, stage);
    const Measurement* is = find_stage(to, stage);
    stages.push_back({{"stage", place::stage_name(stage)},
                      {"from", place_json(was)},
                      {"to", place_json(is)},
                      {"same_place", place_text(was) == place_text(is)}});
  }
  const auto side = [](const Profile& profile) -> Json {
    return {{"name", profile.name},
            {"model", profile.model},
            {"model_sha256", profile.model_sha256},
            {"batch", profile.batch},
            {"ms_per_second", total_ms(profile)}};
  };
  return {{"from", side(from)}, {"to", side(to)}, {"stages", std::move(stages)}};
}

}  // namespace mynah::cli
