#include "cli/doctor/doctor_facts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "cli/doctor/doctor_knowledge.h"
#include "doctor/facts_json.h"
#include "doctor/verdicts/told_packages.h"
#include "engine/discovery_search.h"
#include "place/discovery/discover.h"

namespace mynah::cli {

namespace {

// What discovery knows of a card from NVML, or as well as NVML would tell it. A slice tells of its
// card that it is divided, and nothing else.
gpu::NvmlCard nvml_card(const place::DeviceFacts& device) {
  const place::CardFacts& facts = *device.card;
  gpu::NvmlCard card;
  card.pci_bus_id = facts.device.pci_bus_id;
  card.failure = facts.failure;
  card.divided = facts.divided;
  if (facts.device.mig) {
    return card;
  }
  card.uuid = facts.device.uuid;
  card.name = device.model;
  card.compute_major = facts.device.compute_major;
  card.compute_minor = facts.device.compute_minor;
  if (device.memory_total) {
    card.memory = gpu::NvmlMemory{.total = *device.memory_total};
  }
  return card;
}

// Asks the driver and NVML, in a process of their own, as `mynah devices` does: what the driver
// told is kept, and where nothing of a card is to be seen nobody is asked. Says of each card that
// the driver does not show why, as far as that is known.
std::vector<std::string> ask_driver(const Environment& environment,
                                    doctor::GatherRequest& request) {
  const place::Discovery found = place::discover(engine::discovery_search(environment));
  std::vector<std::string> not_shown;
  for (const place::DeviceFacts& device : found.devices) {
    if (device.absence) {
      not_shown.push_back(fmt::format("{}: {}", device.label(), device.absence->reason));
    }
    if (!device.card) {
      continue;
    }
    if (!device.absence) {
      request.devices.push_back(device.card->device);
    }
    request.nvml.driver_release = device.card->driver_release;
    request.nvml.cards.push_back(nvml_card(device));
  }
  return not_shown;
}

}  // namespace

Result<doctor::Facts> gathered_facts(Context& context, const std::vector<std::string>& places,
                                     const doctor::Knowledge& knowledge,
                                     std::optional<doctor::OtherMachine> other) {
  doctor::GatherRequest request;
  request.places.assign(places.begin(), places.end());
  for (const std::string& name : context.environment.names_with("")) {
    request.variables.emplace(name, context.environment.get(name).value_or(""));
  }
  request.other = std::move(other);
  if (request.other) {
    return doctor::gather_facts(request, knowledge);
  }
  std::vector<std::string> not_shown = ask_driver(context.environment, request);
  MYNAH_TRY(doctor::Facts facts, doctor::gather_facts(request, knowledge));
  // Where there is no driver the rules say so.
  if (!facts.machine.driver.empty() || context.environment.get("MYNAH_CUDA_DRIVER")) {
    std::ranges::move(not_shown, std::back_inserter(facts.skipped));
  }
  return facts;
}

Result<doctor::Facts> written_facts(Context& context, const std::string& file,
                                    const doctor::Knowledge& knowledge) {
  // More than the facts of a machine with many environments.
  constexpr uint64_t kMostFactBytes = 256U << 20U;
  MYNAH_TRY(const std::string text, read_input(context, file, kMostFactBytes));
  MYNAH_TRY(doctor::Facts facts, doctor::parse_facts(text, file == "-" ? "standard input" : file));
  doctor::add_told_frameworks(facts, knowledge);
  return facts;
}

}  // namespace mynah::cli
