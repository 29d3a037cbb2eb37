#include "place/report.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "place/terms/kind.h"
#include "place/terms/time_text.h"
#include "store/files.h"

namespace mynah::place {
namespace {

std::string where_text(const StagePlacement& stage) {
  std::string text = stage.architecture;
  if (!stage.storage.empty()) {
    text += ", " + stage.storage;
  }
  if (stage.proven_ago_s) {
    text += fmt::format(", proven {} ago", time_text(*stage.proven_ago_s));
  }
  if (stage.planned) {
    text += fmt::format(", {} planned, {} of it for {} tokens", human_bytes(stage.planned->bytes),
                        human_bytes(stage.planned->text_bytes), stage.planned->context);
  }
  return text;
}

// Whether a text names a device: "cuda:1" is not in "cuda:10 was not asked for".
bool names(std::string_view text, std::string_view device) {
  for (size_t at = text.find(device); at != std::string_view::npos;
       at = text.find(device, at + 1)) {
    const size_t end = at + device.size();
    if (end == text.size() || !is_ascii_digit(text[end])) {
      return true;
    }
  }
  return false;
}

std::string line_of(std::string_view stages, const StagePlacement& stage, const std::string& why,
                    const std::vector<NotChosen>& others) {
  std::string line = fmt::format("{} on {} ({})", stages, stage.device, where_text(stage));
  if (!why.empty()) {
    line += ": " + why;
  }
  for (const NotChosen& other : others) {
    if (names(why, other.device)) {
      continue;  // it was said why
    }
    line += fmt::format("; {} {}", other.device, other.why);
  }
  return line;
}

std::string line_of(std::string_view stages, const StagePlacement& stage) {
  return line_of(stages, stage, stage.why, stage.others);
}

// Of all stages of a group; `model`: which of several, to stand behind the name.
std::string group_line(const StagePlacement& first, const std::string& model) {
  const std::string name = std::string(group_name(group_of(*find_stage(first.stage)))) + model;
  return first.together ? line_of(name, first, first.together->why, first.together->others)
                        : line_of(name, first);
}

std::vector<NotChosen> not_chosen(const std::vector<OtherDevice>& others) {
  std::vector<NotChosen> told;
  told.reserve(others.size());
  for (const OtherDevice& other : others) {
    told.push_back({.device = other.device, .why = other.why});
  }
  return told;
}

bool share_a_line(const StagePlacement& one, const StagePlacement& other) {
  return group_of(*find_stage(one.stage)) == group_of(*find_stage(other.stage)) &&
         one.model == other.model && one.device == other.device && one.storage == other.storage;
}

// What was planned of a stage; of the last one of a model that is in one place with what stands for
// those before that have no work there.
std::optional<StageChoice> choice_of(PlacementState& state, ModelId model, Stage stage,
                                     const StagePlaces& places) {
  auto choice = state.openings().choice(model, stage);
  for (const Stage before : stages_of(model.group)) {
    if (!choice || before == stage || !facts_of(before).only_apart || is_apart(places)) {
      break;
    }
    if (const auto empty = state.openings().choice(model, before)) {
      choice->plan.bytes += empty->plan.bytes;
      choice->plan.grown_bytes += empty->plan.grown_bytes;
      choice->plan.together = empty->plan.together;
    }
  }
  return choice;
}

std::string file_of(PlacementState& state, ModelId model) {
  const auto file = state.context().file(model);
  return file ? path_of(*file) : std::string();
}

// " (/models/b.gguf)" where models of one kind want telling apart; "" where there is one.
std::string model_text(const PlacementReport& report, const StagePlacement& stage) {
  const StageGroup group = group_of(*find_stage(stage.stage));
  const bool has_others = std::ranges::any_of(report.stages, [&](const StagePlacement& other) {
    return group_of(*find_stage(other.stage)) == group && other.model != stage.model;
  });
  return has_others ? fmt::format(" ({})", stage.model) : std::string();
}

}  // namespace

PlacementReport make_report(PlacementState& state) {
  PlacementReport report;
  // Their first stages, by lane of a worker (none: this process), and by device.
  std::map<std::pair<std::optional<ModelId>, std::string>, std::string> pools;
  const auto now = static_cast<int64_t>(::time(nullptr));
  for (const auto& [model, told] : state.openings().reports()) {
    StagePlacement stage;
    stage.stage = stage_name(told.stage);
    stage.model = file_of(state, model);
    stage.device = told.device;
    stage.architecture = told.architecture;
    stage.bytes = told.bytes;
    stage.kernels = told.launches;
    stage.operations = told.operations;
    stage.milliseconds = told.milliseconds;
    const StagePlaces places = state.openings().places(model);
    const auto place = places.find(told.stage);
    if (place == places.end() || place->second.device != told.device) {
      continue;  // of a rung that was left
    }
    // This process has one pool on a device, and so has each lane of a worker.
    const auto lane = is_here(places) ? std::nullopt : std::optional(model);
    const auto [pool, is_first] = pools.try_emplace({lane, told.device}, stage.stage);
    if (!is_first) {
      stage.memory_with = pool->second;
    }
    if (place->second.storage) {
      stage.storage = name(*place->second.storage);
    }
    if (const auto choice = choice_of(state, model, told.stage, places)) {
      stage.why = choice->plan.reason;
      stage.expected_ms = choice->plan.ms_per_unit;
      if (choice->plan.units > 0) {
        stage.planned = PlannedMemory{.bytes = choice->plan.bytes,
                                      .context = choice->plan.units,
                                      .text_bytes = choice->plan.grown_bytes};
      }
      stage.others = not_chosen(choice->plan.others);
      if (const auto& whole = choice->plan.together) {
        stage.together = TogetherReasons{.why = whole->why, .others = not_chosen(whole->others)};
      }
      if (choice->measured && choice->measured->error_bound > 0) {
        stage.worst_error = choice->measured->worst_error;
        stage.error_bound = choice->measured->error_bound;
      }
    }
    if (const auto proven = state.proven_at(model, told.stage)) {
      stage.proven_ago_s = static_cast<double>(std::max<int64_t>(0, now - *proven));
    }
    report.stages.push_back(std::move(stage));
  }
  for (const Move& move : state.openings().moves()) {
    report.moves.push_back({.stages = std::string(group_name(move.model.group)),
                            .model = file_of(state, move.model),
                            .from = move.from,
                            .to = move.to,
                            .reason = move.reason,
                            .doubted = move.doubted});
  }
  if (const auto waited = state.context().prover().waited()) {
    report.proof_ms = std::chrono::duration<double, std::milli>(*waited).count();
  }
  return report;
}

std::vector<std::string> explain_report(const PlacementReport& report) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < report.stages.size(); ++i) {
    const StagePlacement& stage = report.stages[i];
    if (i + 1 < report.stages.size() && share_a_line(stage, report.stages[i + 1])) {
      lines.push_back(group_line(stage, model_text(report, stage)));
      ++i;
    } else {
      lines.push_back(line_of(stage.stage + model_text(report, stage), stage));
    }
  }
  if (report.proof_ms) {
    constexpr double kShort_s = 10;
    const double seconds = *report.proof_ms / 1e3;
    lines.push_back(
        fmt::format("proofs took {} (kept for the next time)",
                    seconds < kShort_s ? fmt::format("{:.1f} s", seconds) : time_text(seconds)));
  }
  return lines;
}

}  // namespace mynah::place
