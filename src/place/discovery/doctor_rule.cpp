#include "place/discovery/doctor_rule.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "doctor/characters.h"
#include "doctor/machine/machine_rules.h"
#include "doctor/verdicts/known_framework.h"
#include "doctor/verdicts/verdict.h"

namespace mynah::place {
namespace {

constexpr std::string_view kNvidiaVendor = "10de";

// A rule of the doctor's, and that of mynah's own which answers the same question.
struct SameQuestion {
  std::string_view doctor;
  std::string_view own;
};

constexpr SameQuestion kSameQuestions[] = {
    {"kernel image", "compute capability"},
    {"driver too old", "driver version"},
    {"ptx too new", "driver version"},
    {"driver dropped card", "driver version"},
    {"no slice of a divided card", "slices"},
    // That little is known of a card that cannot be used anyway says nothing.
    {"card not known", "presence"},
    {"driver not known", "driver version"},
    {"driver not known", "presence"},
};

// Capability by name where neither the driver nor NVML told it.
std::string capability_of(const DeviceFacts& device, const doctor::Knowledge& knowledge) {
  const gpu::GpuDevice& card = device.card->device;
  if (card.compute_major != 0) {
    return fmt::format("{}.{}", card.compute_major, card.compute_minor);
  }
  const doctor::Product* const product = knowledge.card(device.model);
  // Of a name that nobody verified the doctor makes no failure, if he looks it up himself.
  return product != nullptr && product->verified ? product->compute_capability : std::string();
}

// What discovery found, as the doctor takes it; whatever it did not look at is not known.
doctor::Machine machine_of(const DeviceFacts& device, const doctor::Knowledge& knowledge) {
  const CardFacts& facts = *device.card;
  doctor::Machine machine;
  // Under WSL2 the kernel's half is Windows's, of the same release.
  machine.driver =
      facts.kernel_release.empty() && facts.wsl ? facts.driver_release : facts.kernel_release;
  machine.wsl = facts.wsl;
  machine.container.inside = facts.container;
  doctor::Card& card = machine.cards.emplace_back();
  card.name = device.model;
  card.compute_capability = capability_of(device, knowledge);
  if (device.memory_total) {
    card.memory_mib = *device.memory_total >> 20U;
  }
  card.vendor = kNvidiaVendor;
  card.pci = facts.device.pci_bus_id;
  card.kernel_driver = "nvidia";  // who else would have told its name
  card.uuid = facts.device.uuid;
  card.slice = facts.device.mig;
  card.divided = facts.divided.value_or(false);
  return machine;
}

Outlook outlook_of(const doctor::Finding& finding) {
  switch (finding.level) {
    case doctor::Level::Good:
    case doctor::Level::Note:
      return Outlook::Fine;
    case doctor::Level::Unknown:
    case doctor::Level::Warning:
      return Outlook::MayNot;
    case doctor::Level::Fail:
      break;
  }
  return finding.certainty == doctor::Certainty::Certain ? Outlook::Cannot : Outlook::MayNot;
}

// A sentence as a clause; a name at its beginning stays as it is.
std::string clause(std::string text, std::string_view name) {
  while (text.ends_with('.')) {
    text.pop_back();
  }
  const bool is_word = text.size() > 1 && (text[1] == ' ' || doctor::is_small_letter(text[1]));
  if (is_word && (name.empty() || !text.starts_with(name))) {
    text.front() = doctor::small_letter(text.front());
  }
  return text;
}

std::string remedy_of(const doctor::Finding& finding) {
  if (finding.remedies.empty()) {
    return "use another card, or --device cpu";
  }
  const doctor::Remedy& best = finding.remedies.front();
  std::string text = clause(best.text, {});
  return best.command.empty() ? text : fmt::format("{}: {}", text, best.command);
}

// Of the machine the doctor's findings about its card, of mynah all.
std::vector<doctor::Finding> ask(const doctor::Machine& machine,
                                 const doctor::Knowledge& knowledge) {
  doctor::Facts facts;
  facts.machine = machine;
  doctor::Diagnosis diagnosis{.facts = facts, .knowledge = knowledge, .report = {}};
  doctor::judge_machine(diagnosis);
  std::vector<doctor::Finding> findings = std::move(diagnosis.report.findings);
  const doctor::Card& card = machine.cards.front();
  std::erase_if(findings, [&](const auto& finding) { return finding.card != card.name; });
  doctor::Judged mynah =
      doctor::judge_framework(doctor::mynah_framework(), &card, machine, knowledge);
  for (doctor::Finding& finding : mynah.findings) {
    // The machine's own rule on that doubts it of a card that the driver in the kernel holds.
    if (finding.rule == "card dropped by driver") {
      continue;
    }
    finding.text = fmt::format("mynah: {}", clause(std::move(finding.text), card.name));
    findings.push_back(std::move(finding));
  }
  return findings;
}

bool is_answered(const doctor::Finding& finding, std::span<const Finding> own) {
  return std::ranges::any_of(kSameQuestions, [&](const SameQuestion& same) {
    return same.doctor == finding.rule &&
           std::ranges::find(own, same.own, &Finding::rule) != own.end();
  });
}

}  // namespace

std::optional<Finding> DoctorRule::judge(const DeviceFacts& device) const {
  if (!device.card || device.model.empty()) {
    return std::nullopt;
  }
  const doctor::Knowledge& knowledge = doctor::builtin_knowledge();
  std::vector<doctor::Finding> findings = ask(machine_of(device, knowledge), knowledge);
  const std::vector<Finding> own = predict(device, own_rules());
  std::erase_if(findings, [&](const doctor::Finding& finding) {
    return outlook_of(finding) == Outlook::Fine || is_answered(finding, own);
  });
  const auto first = std::ranges::max_element(findings, {}, outlook_of);
  if (first == findings.end()) {
    return std::nullopt;
  }
  return Finding{.outlook = outlook_of(*first),
                 .rule = {},
                 .reason = clause(first->text, device.model),
                 .remedy = remedy_of(*first)};
}

}  // namespace mynah::place
