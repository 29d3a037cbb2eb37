// Variables of a service or an image that hide cards from what runs there.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "doctor/machine/machine_rule_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/shell_text.h"
#include "gpu/visible_devices.h"

namespace mynah::doctor {

namespace {

// A variable as what runs in a column sees it.
struct Seen {
  std::string value;
  bool sure = true;  // false: the environment may give another value
  std::string where;
};

std::optional<Seen> seen(const RecipeColumn& column, const std::string& name) {
  if (column.service != nullptr) {
    if (const auto found = column.service->variables.find(name);
        found != column.service->variables.end()) {
      return Seen{.value = substituted(found->second, {}),
                  .sure = !found->second.contains('$'),
                  .where = place_text(column.root->path, column.service->line)};
    }
  }
  const auto image = std::ranges::find(column.recipes, "dockerfile", &Recipe::kind);
  if (image == column.recipes.end()) {
    return std::nullopt;
  }
  const auto found = (*image)->variables.find(name);
  // What starts the image may say another.
  return found == (*image)->variables.end() ? std::nullopt
                                            : std::optional(Seen{.value = found->second,
                                                                 .sure = column.service != nullptr,
                                                                 .where = (*image)->path});
}

// What CUDA_VISIBLE_DEVICES hides here.
struct Hidden {
  Seen variable;
  gpu::VisibleDevices visible;
  bool counted = false;  // how many cards there are is known
};

std::optional<Hidden> hidden_by_cuda(const RecipeColumn& column, const Machine& machine) {
  auto variable = seen(column, "CUDA_VISIBLE_DEVICES");
  // Without a value it is the one of whoever starts it.
  if (!variable || variable->value.empty() || variable->value.contains('$') ||
      (column.service != nullptr && column.service->card == false)) {
    return std::nullopt;
  }
  const gpu::KnownCards known = known_cards(machine);
  gpu::VisibleDevices visible = gpu::read_visible_devices(variable->value, known);
  // That some are left out is what it is for.
  const bool tells = visible.none() || visible.explanation.contains("shows only");
  return tells ? std::optional(Hidden{.variable = *std::move(variable),
                                      .visible = std::move(visible),
                                      .counted = known.count.has_value()})
               : std::nullopt;
}

// NVIDIA's runtime gives out no card by these values. Where a service reserves its cards, Docker
// sets the variable itself.
std::optional<Seen> refused_by_runtime(const RecipeColumn& column) {
  constexpr auto kNone = std::to_array<std::string_view>({"none", "void"});
  if (column.service == nullptr || column.service->runtime.empty()) {
    return std::nullopt;
  }
  auto variable = seen(column, "NVIDIA_VISIBLE_DEVICES");
  return variable && std::ranges::find(kNone, variable->value) != kNone.end() ? variable
                                                                              : std::nullopt;
}

}  // namespace

void judge_hidden_cards(Diagnosis& diagnosis, const RecipeColumn& column) {
  if (const auto hidden = hidden_by_cuda(column, diagnosis.facts.machine)) {
    const std::string& value = hidden->variable.value;
    const bool none = hidden->visible.none();
    const bool fails = none && hidden->counted && hidden->variable.sure && !hides_all(value);
    Finding& finding = add_finding(diagnosis, "visible devices",
                                   fails              ? Level::Fail
                                   : hides_all(value) ? Level::Note
                                                      : Level::Warning,
                                   sure(hidden->variable.sure),
                                   fmt::format("CUDA_VISIBLE_DEVICES in {}", column.name),
                                   fmt::format("{}.", hidden->visible.explanation));
    finding.evidence.push_back(
        {fmt::format("CUDA_VISIBLE_DEVICES={}", value), hidden->variable.where});
    if (none) {
      finding.error = "No CUDA GPUs are available";
      finding.remedies.push_back(
          {.command = {},
           .text = fmt::format("Leave CUDA_VISIBLE_DEVICES out at {}, or say 0: inside, cards are "
                               "counted from 0 on",
                               hidden->variable.where),
           .cost = {}});
    }
  }
  if (const auto refused = refused_by_runtime(column)) {
    Finding& finding = add_finding(
        diagnosis, "visible devices", Level::Warning, sure(refused->sure),
        fmt::format("NVIDIA_VISIBLE_DEVICES in {}", column.name),
        fmt::format("The service {} runs by the runtime {}, and NVIDIA_VISIBLE_DEVICES={} gives it "
                    "no card: the processor computes.",
                    column.service->name, column.service->runtime, refused->value));
    finding.error = "torch.cuda.is_available() is False";
    finding.evidence.push_back(
        {fmt::format("NVIDIA_VISIBLE_DEVICES={}", refused->value), refused->where});
    if (const Note* note = diagnosis.knowledge.note("visible devices")) {
      finding.evidence.push_back({note->text, note->source});
    }
    finding.remedies.push_back(
        {.command = "NVIDIA_VISIBLE_DEVICES: all",
         .text = fmt::format("Write this in the environment of the service {} in {}, or in a list "
                             "NVIDIA_VISIBLE_DEVICES=all",
                             column.service->name, column.root->path),
         .cost = {}});
  }
}

void lower_by_hidden_cards(const Diagnosis& diagnosis, const RecipeColumn& column,
                           FrameworkVerdict& verdict) {
  if (verdict.outcome != Outcome::Works) {
    return;
  }
  const auto hidden = hidden_by_cuda(column, diagnosis.facts.machine);
  const auto refused = refused_by_runtime(column);
  const bool none = hidden && hidden->visible.none();
  if (none || refused) {
    const bool certain = none ? hidden->variable.sure && hidden->counted : refused->sure;
    verdict.outcome = certain ? Outcome::WorksSlowly : Outcome::Unknown;
    verdict.reason =
        none ? hidden->visible.explanation
             : fmt::format("NVIDIA_VISIBLE_DEVICES={} gives it no card", refused->value);
  }
}

}  // namespace mynah::doctor
