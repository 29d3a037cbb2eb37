// Variables of a service or an image that hide cards from what runs there.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/characters.h"
#include "doctor/machine/machine_rule_parts.h"
#include "doctor/recipes/recipe_rule_parts.h"
#include "doctor/recipes/shell_variables.h"
#include "gpu/visible_devices.h"

namespace mynah::doctor {

namespace {

// A variable as what runs in a column sees it.
struct Seen {
  std::string value;
  bool sure = true;  // false: the environment may give another value
  std::string where;
};

// Where a service says a variable; of another file's, only the service is known.
std::string place_of_variable(const RecipeColumn& column, const std::string& name) {
  const auto line = column.service->variable_lines.find(name);
  return place_text(column.root->path, line == column.service->variable_lines.end()
                                           ? column.service->line
                                           : line->second);
}

std::optional<Seen> seen(const RecipeColumn& column, const std::string& name) {
  if (column.service != nullptr) {
    if (const auto found = column.service->variables.find(name);
        found != column.service->variables.end()) {
      return Seen{.value = substituted(found->second, {}),
                  .sure = !found->second.contains('$'),
                  .where = place_of_variable(column, name)};
    }
  }
  const Recipe* const image = column.dockerfile();
  if (image == nullptr) {
    return std::nullopt;
  }
  const auto found = image->variables.find(name);
  // What starts the image may say another.
  return found == image->variables.end() ? std::nullopt
                                         : std::optional(Seen{.value = found->second,
                                                              .sure = column.service != nullptr,
                                                              .where = image->path});
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 4 && std::ranges::all_of(text, is_digit);
}

// Cards that NVIDIA_VISIBLE_DEVICES names where the runtime of a service alone gives it some.
std::vector<std::string> named_cards(const RecipeColumn& column) {
  const auto variable = seen(column, "NVIDIA_VISIBLE_DEVICES");
  std::vector<std::string> named;
  std::string_view left = variable && variable->sure ? std::string_view(variable->value) : "";
  while (!left.empty()) {
    const size_t end = std::min(left.find(','), left.size());
    named.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  const bool cards = std::ranges::all_of(
      named, [](const std::string& name) { return is_number(name) || name.starts_with("GPU-"); });
  return cards ? named : std::vector<std::string>();
}

// How many cards a service has inside: those that it reserves, or that the variable of its runtime
// names. None: all, or it is not known.
std::optional<uint64_t> reserved_cards(const RecipeColumn& column) {
  if (column.service == nullptr || column.service->runtime.empty()) {
    return column.service == nullptr ? std::nullopt : column.service->card_count;
  }
  const std::vector<std::string> named = named_cards(column);
  return named.empty() ? std::nullopt : std::optional<uint64_t>(named.size());
}

// The cards that a variable chooses from are not the machine's.
void name_reserved(std::string& explanation) {
  constexpr std::string_view kMachine = "this machine has";
  if (const size_t at = explanation.find(kMachine); at != std::string::npos) {
    explanation.replace(at, kMachine.size(), "the service is given");
  }
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
  gpu::KnownCards known = known_cards(machine);
  // Inside there are the cards that the service reserves, counted from 0 on.
  const std::optional<uint64_t> reserved = reserved_cards(column);
  const bool fewer = reserved && (!known.count || *reserved <= *known.count);
  if (fewer) {
    known.count = reserved;
    known.uuids.clear();
  }
  gpu::VisibleDevices visible = gpu::read_visible_devices(variable->value, known);
  // That some are left out is what it is for.
  const bool tells = visible.none() || visible.explanation.contains("shows only");
  if (fewer) {
    name_reserved(visible.explanation);
  }
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

// Cards that a service is to get, by numbers that the machine does not have: it does not start.
void judge_absent_cards(Diagnosis& diagnosis, const RecipeColumn& column) {
  const gpu::KnownCards known = known_cards(diagnosis.facts.machine);
  if (column.service == nullptr || !known.count) {
    return;
  }
  const bool by_runtime = !column.service->runtime.empty();
  const std::vector<std::string> ids = by_runtime ? named_cards(column) : column.service->card_ids;
  std::vector<std::string> absent;
  std::ranges::copy_if(ids, std::back_inserter(absent), [&](const std::string& id) {
    return is_number(id) && std::stoul(id) >= *known.count;
  });
  if (absent.empty()) {
    return;
  }
  const std::string what = by_runtime ? "NVIDIA_VISIBLE_DEVICES" : "device_ids";
  const std::string where = by_runtime
                                ? place_of_variable(column, what)
                                : place_text(column.root->path, column.service->cards_line != 0
                                                                    ? column.service->cards_line
                                                                    : column.service->line);
  Finding& finding = add_finding(
      diagnosis, "visible devices", Level::Fail, Certainty::Certain,
      fmt::format("{} in {}", what, column.name),
      fmt::format("The service {} is to get card {}, and this machine has {}, counted from 0 on: "
                  "the container does not start.",
                  column.service->name, fmt::join(absent, " and "), *known.count));
  finding.evidence.push_back({fmt::format("{}: {}", what, fmt::join(ids, ",")), where});
  finding.remedies.push_back(
      {.command = {},
       .text = *known.count == 1 ? fmt::format("Say 0 at {}: it is the only card", where)
                                 : fmt::format("Say one of 0 to {} at {}", *known.count - 1, where),
       .cost = {}});
}

}  // namespace

void judge_hidden_cards(Diagnosis& diagnosis, const RecipeColumn& column) {
  judge_absent_cards(diagnosis, column);
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
