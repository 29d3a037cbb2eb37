#include "doctor/verdicts/memory_rules.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mynah::doctor {

namespace {

// One way to hold a model.
struct Way {
  std::string text;  // "int8"; empty: on the processor
  uint64_t least_mib = 0;
  uint64_t most_mib = 0;
  std::string engine = {};  // that was measured; empty: the facts say it
  std::string source = {};
  uint64_t worse = 0;  // than what was asked for
};

// A model and what it takes.
struct Held {
  std::string name;
  Way wanted;
  bool certain = false;  // the facts say what it takes, or a source that was read does
  std::vector<Evidence> evidence;
  std::vector<Way> others;
};

constexpr std::string_view kAsItIs = "as it is";

// More models than this in one plan are not tried in all ways together.
constexpr size_t kMostPlanned = 8;

std::string gib(uint64_t mib) {
  return fmt::format("{:.1f} GiB", static_cast<double>(mib) / 1024);
}

std::string gib_range(const Way& way) {
  return way.least_mib == way.most_mib
             ? gib(way.most_mib)
             : fmt::format("{:.1f} to {}", static_cast<double>(way.least_mib) / 1024,
                           gib(way.most_mib));
}

std::string source_of(const ModelMemory& known) {
  const std::string& from = known.source.empty() ? known.note : known.source;
  return known.verified ? from : from + "; nobody verified it";
}

std::optional<Held> held(const WantedModel& model, const Knowledge& knowledge) {
  Held held;
  held.name = model.name;
  const ModelMemory* known = knowledge.model(model.name, model.storage);
  if (model.least_mib || model.most_mib) {
    held.wanted.least_mib = model.least_mib ? *model.least_mib : *model.most_mib;
    held.wanted.most_mib =
        std::max(held.wanted.least_mib, model.most_mib.value_or(held.wanted.least_mib));
    held.certain = true;
    held.evidence.push_back(
        {fmt::format("{} takes {}", model.name, gib_range(held.wanted)), "as it was said"});
  } else if (known != nullptr) {
    held.wanted.least_mib = known->least_mib;
    held.wanted.most_mib = known->most_mib;
    held.certain = known->verified;
    held.evidence.push_back(
        {fmt::format("{} takes {} with {}", model.name, gib_range(held.wanted), known->engine),
         known->source});
  } else {
    return std::nullopt;
  }
  if (!model.least_mib && !model.most_mib) {
    held.wanted.engine = known->engine;
    held.wanted.source = source_of(*known);
  }
  held.wanted.text = !model.storage.empty() ? model.storage
                     : known != nullptr     ? known->storage
                                            : std::string(kAsItIs);
  for (const ModelMemory& other : knowledge.models) {
    if (other.name == model.name && other.storage != held.wanted.text &&
        other.most_mib < held.wanted.most_mib) {
      held.others.push_back({.text = other.storage,
                             .least_mib = other.least_mib,
                             .most_mib = other.most_mib,
                             .engine = other.engine,
                             .source = source_of(other),
                             .worse = 1});
    }
  }
  // The bigger a model, the slower it is on the processor.
  held.others.push_back(
      {.text = "", .least_mib = 0, .most_mib = 0, .worse = 2 + held.wanted.most_mib / 1024});
  return held;
}

// The ways that fit together and are least worse than what was asked for; empty: none.
struct Search {
  const std::vector<Held>& models;
  uint64_t memory;
  std::vector<const Way*> now = {};
  std::vector<const Way*> best = {};
  uint64_t best_worse = UINT64_MAX;

  void run(size_t at, uint64_t taken, uint64_t worse) {
    if (taken > memory || worse >= best_worse) {
      return;
    }
    if (at == models.size()) {
      best = now;
      best_worse = worse;
      return;
    }
    const auto take = [&](const Way& way) {
      now.push_back(&way);
      run(at + 1, taken + way.most_mib, worse + way.worse);
      now.pop_back();
    };
    take(models[at].wanted);
    for (const Way& way : models[at].others) {
      take(way);
    }
  }
};

std::optional<MemoryPlan> plan(const Card& card, const std::vector<Held>& models,
                               uint64_t headroom) {
  const uint64_t memory = *card.memory_mib;
  if (models.size() > kMostPlanned || headroom > memory) {
    return std::nullopt;
  }
  Search search{.models = models, .memory = memory - headroom};
  search.run(0, 0, 0);
  if (search.best.empty()) {
    return std::nullopt;
  }
  MemoryPlan plan{.card = card.name,
                  .memory_mib = memory,
                  .headroom_mib = headroom,
                  .taken_mib = 0,
                  .models = {}};
  for (size_t i = 0; i < models.size(); ++i) {
    const Way& way = *search.best[i];
    plan.taken_mib += way.most_mib;
    plan.models.push_back({.model = models[i].name,
                           .on_card = !way.text.empty(),
                           .storage = way.text == kAsItIs ? "" : way.text,
                           .engine = way.engine,
                           .least_mib = way.least_mib,
                           .most_mib = way.most_mib,
                           .source = way.source,
                           .as_asked_for = &way == &models[i].wanted});
  }
  return plan;
}

// What faster-whisper is told; empty: another engine, or nothing says how it is told.
std::string command_of(const PlannedModel& model) {
  constexpr std::string_view kWhisper = "whisper ";
  const bool known = model.engine == "faster-whisper" && model.model.starts_with(kWhisper) &&
                     model.model.find_first_of("\"\\") == std::string::npos;
  return known ? fmt::format("WhisperModel(\"{}\", device=\"cuda\", compute_type=\"{}\")",
                             model.model.substr(kWhisper.size()), model.storage)
               : std::string();
}

Remedy remedy_of(const MemoryPlan& plan) {
  Remedy remedy;
  const uint64_t limit = plan.memory_mib - plan.headroom_mib;
  remedy.text = plan.headroom_mib == 0
                    ? fmt::format("Hold at most {} MiB on the card, which has {}:", plan.taken_mib,
                                  plan.memory_mib)
                    : fmt::format(
                          "Hold at most {} MiB on the card, of {} ({} less {} that stay "
                          "free):",
                          plan.taken_mib, limit, plan.memory_mib, plan.headroom_mib);
  for (const PlannedModel& model : plan.models) {
    std::string text;
    if (!model.on_card) {
      text = fmt::format("{} on the processor: nothing of the card.", model.model);
    } else {
      text = fmt::format("{}{}{} on the card: {} to {} MiB.", model.model,
                         model.storage.empty() ? "" : " as " + model.storage,
                         model.engine.empty() ? "" : ", with " + model.engine + ",",
                         model.least_mib, model.most_mib);
    }
    remedy.steps.push_back(
        {.command = model.on_card ? command_of(model) : std::string(), .text = std::move(text)});
  }
  return remedy;
}

void judge_card(const Card& card, const std::vector<Held>& models, Diagnosis& diagnosis) {
  const uint64_t memory = *card.memory_mib;
  const uint64_t headroom = diagnosis.facts.headroom_mib.value_or(0);
  uint64_t least = headroom;
  uint64_t most = headroom;
  bool certain = true;
  Finding& finding = diagnosis.report.findings.emplace_back();
  finding.rule = "memory of the card";
  finding.card = card.name;
  std::vector<std::string> names;
  for (const Held& model : models) {
    least += model.wanted.least_mib;
    most += model.wanted.most_mib;
    certain &= model.certain;
    names.push_back(model.name);
    finding.evidence.insert(finding.evidence.end(), model.evidence.begin(), model.evidence.end());
  }
  finding.evidence.push_back({fmt::format("the card has {}", gib(memory)), card.pci});
  finding.subject = fmt::format("{}", fmt::join(names, " with "));
  finding.certainty = certain ? Certainty::Certain : Certainty::Likely;
  const std::string free =
      headroom == 0 ? "" : fmt::format(", with {} that are to stay free", gib(headroom));
  if (most <= memory) {
    finding.level = Level::Good;
    finding.text = fmt::format("They fit: at most {}{}, of {}.", gib(most), free, gib(memory));
    if (auto as_wanted = plan(card, models, headroom)) {
      diagnosis.report.plans.push_back(*std::move(as_wanted));
    }
    return;
  }
  // A card without a byte to spare does not hold what takes all of it.
  const bool fails = least >= memory;
  finding.level = !fails ? Level::Warning : certain ? Level::Fail : Level::Unknown;
  finding.text =
      fails ? fmt::format("They do not fit: {} to {}{}, and the card has {}.", gib(least),
                          gib(most), free, gib(memory))
            : fmt::format("They may not fit at their peak: {} to {}{}, and the card has {}.",
                          gib(least), gib(most), free, gib(memory));
  finding.error = "CUDA out of memory";
  if (auto fits = plan(card, models, headroom)) {
    for (const PlannedModel& model : fits->models) {
      if (model.on_card && !model.as_asked_for) {
        finding.evidence.push_back(
            {fmt::format("{} as {} takes {} to {} MiB with {}", model.model, model.storage,
                         model.least_mib, model.most_mib, model.engine),
             model.source});
      }
    }
    finding.remedies.push_back(remedy_of(*fits));
    diagnosis.report.plans.push_back(*std::move(fits));
  }
}

}  // namespace

void judge_memory(Diagnosis& diagnosis) {
  std::vector<Held> models;
  for (const WantedModel& wanted : diagnosis.facts.wanted) {
    if (auto model = held(wanted, diagnosis.knowledge)) {
      models.push_back(*std::move(model));
      continue;
    }
    Finding& finding = diagnosis.report.findings.emplace_back();
    finding.rule = "memory of a model";
    finding.level = Level::Unknown;
    finding.subject = wanted.name;
    finding.text =
        "How much of a card's memory it takes is not known: say so (least_mib, most_mib).";
  }
  if (models.empty()) {
    return;
  }
  for (const Card& card : diagnosis.facts.machine.cards) {
    if (card.memory_mib && (card.vendor.empty() || card.vendor == "10de")) {
      judge_card(card, models, diagnosis);
    }
  }
}

}  // namespace mynah::doctor
