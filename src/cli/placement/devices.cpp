#include "cli/placement/devices.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/models/store_access.h"
#include "cli/models/surroundings.h"
#include "cli/placement/mynah_views.h"
#include "cli/placement/sound_devices.h"
#include "engine/discovery_search.h"
#include "engine/kept_proofs.h"
#include "engine/model_files.h"
#include "engine/open_placer.h"
#include "engine/store_folders.h"
#include "gpu/ptx.h"
#include "place/terms/device_name.h"
#include "place/terms/kind.h"
#include "place/terms/time_text.h"

namespace mynah::cli {

namespace {

using Json = nlohmann::ordered_json;
using place::CardFacts;
using place::DeviceFacts;
using place::Finding;
using place::Outlook;

double gigabytes(uint64_t bytes) {
  return static_cast<double>(bytes) / 1e9;
}

std::string memory_words(const DeviceFacts& facts) {
  if (!facts.memory_total) {
    return "";
  }
  return facts.memory_free ? fmt::format("{:.1f} of {:.1f} GB", gigabytes(*facts.memory_free),
                                         gigabytes(*facts.memory_total))
                           : fmt::format("? of {:.1f} GB", gigabytes(*facts.memory_total));
}

std::string name_words(const DeviceFacts& facts) {
  if (facts.cpu) {
    return fmt::format("{}, {} core{}, {}", facts.model, facts.cpu->cores,
                       facts.cpu->cores == 1 ? "" : "s", facts.cpu->instruction_set);
  }
  if (!facts.model.empty() || !facts.card) {
    return facts.absence && facts.model.empty() ? "no card" : facts.model;
  }
  return "NVIDIA card";
}

bool is_checked_against(const DeviceFacts& facts) {
  return !facts.name.empty() && !place::is_for_auto(facts.name) && !place::is_mynah(facts.name);
}

std::string_view compute_mode_name(gpu::CUcomputemode mode) {
  switch (mode) {
    case gpu::CU_COMPUTEMODE_DEFAULT:
      return "default";
    case gpu::CU_COMPUTEMODE_PROHIBITED:
      return "prohibited";
    case gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS:
      return "exclusive process";
    default:
      return "unknown";
  }
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

void add_card(Json& json, const CardFacts& card) {
  const gpu::GpuDevice& device = card.device;
  json["pci"] = or_null(device.pci_bus_id);
  json["uuid"] = or_null(device.uuid);
  json["compute_capability"] =
      device.compute_major == 0
          ? Json(nullptr)
          : Json(fmt::format("{}.{}", device.compute_major, device.compute_minor));
  json["driver"] = or_null(card.driver_release);
  json["driver_in_kernel"] = or_null(card.kernel_release);
  json["cuda"] =
      card.driver_version == 0 ? Json(nullptr) : Json(gpu::cuda_version_name(card.driver_version));
  json["compute_mode"] = compute_mode_name(device.compute_mode);
  json["slice"] = device.mig;
  json["divided"] = or_null(card.divided);
  json["slices"] = card.slices;
  json["watchdog"] = device.launch_timeout;
  json["asleep"] = card.asleep;
  json["wsl"] = card.wsl;
  json["container"] = card.container;
  Json processes = Json::array();
  for (const gpu::NvmlProcess& process : card.processes) {
    processes.push_back({{"pid", process.pid}, {"memory_bytes", or_null(process.bytes)}});
  }
  json["processes"] = std::move(processes);
}

Json to_json(const DeviceView& device) {
  const DeviceFacts& facts = device.facts;
  Json json = {{"device", facts.label()},
               {"model", or_null(facts.model)},
               {"outlook", place::outlook_name(place::worst(device.findings))},
               {"state", state_words(device)},
               {"auto", !facts.absence && !is_checked_against(facts)},
               {"memory_bytes", or_null(facts.memory_total)},
               {"free_memory_bytes", or_null(facts.memory_free)}};
  if (facts.cpu) {
    json["cores"] = facts.cpu->cores;
    json["instruction_set"] = facts.cpu->instruction_set;
  }
  if (facts.card) {
    add_card(json, *facts.card);
  }
  Json findings = Json::array();
  for (const Finding& finding : device.findings) {
    findings.push_back({{"outlook", place::outlook_name(finding.outlook)},
                        {"rule", finding.rule},
                        {"reason", finding.reason},
                        {"remedy", or_null(finding.remedy)}});
  }
  json["findings"] = std::move(findings);
  json["proofs"] = Json::array();
  for (const DeviceProof& proof : device.proofs) {
    json["proofs"].push_back(engine::to_json(proof));
  }
  return json;
}

bool has_passed(const DeviceProof& proof) {
  return std::ranges::all_of(proof.measurements, &place::Measurement::passed);
}

double total_ms(const std::vector<place::Measurement>& measurements) {
  double sum = 0;
  for (const place::Measurement& measured : measurements) {
    sum += measured.ms_per_unit;
  }
  return sum;
}

std::string proof_line(const std::string& label, const DeviceProof& proof) {
  const auto bad = std::ranges::find(proof.measurements, false, &place::Measurement::passed);
  if (bad != proof.measurements.end()) {
    return fmt::format("{}: {} failed: {} {}", label, proof.model, place::stage_name(bad->stage),
                       bad->failure);
  }
  const double ms = total_ms(proof.measurements);
  const std::string line =
      fmt::format("{}: {} passed {} s ago, {:.1f} ms for {}", label, proof.model, proof.ago_s, ms,
                  place::kind_of(place::group_of(proof.measurements.front().stage)).unit);
  const std::string speed = place::speed_text(ms, proof.cpu_ms.value_or(0), "the processor");
  return speed.empty() ? line : line + ", " + speed;
}

}  // namespace

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> proof_lines(std::span<const DeviceView> devices) {
  std::vector<std::string> lines;
  for (const DeviceView& device : devices) {
    for (const DeviceProof& proof : device.proofs) {
      lines.push_back(proof_line(device.facts.label(), proof));
    }
  }
  return lines;
}

std::string nothing_to_prove(const std::string& device) {
  if (device == "cpu") {
    return "other devices are compared with what it computes";
  }
  return device == "ref" ? "its plain loops are the definition that operations are compared with"
                         : "";
}

std::string state_words(const DeviceView& device) {
  const Outlook outlook = place::worst(device.findings);
  if (outlook == Outlook::Cannot) {
    return "cannot: " + device.findings.front().reason;
  }
  if (outlook == Outlook::MayNot) {
    return "may not work: " + device.findings.front().reason;
  }
  if (!device.proofs.empty()) {
    const bool passed = std::ranges::all_of(device.proofs, has_passed);
    return passed ? "proven, see below" : "failed its proof, see below";
  }
  if (!device.distrust.empty()) {
    return device.distrust;
  }
  if (!device.facts.card) {
    return is_checked_against(device.facts) ? "to check against" : "usable";
  }
  return device.facts.card->asleep ? "usable, asleep, not proven yet" : "usable, not proven yet";
}

std::vector<std::string> device_table(std::span<const DeviceView> devices) {
  std::vector<std::vector<std::string>> rows = {{"device", "name", "free memory", "state"}};
  for (const DeviceView& device : devices) {
    rows.push_back({device.facts.label(), name_words(device.facts), memory_words(device.facts),
                    state_words(device)});
  }
  return aligned(rows);
}

std::vector<std::string> device_remedies(std::span<const DeviceView> devices) {
  // What helps, with the labels of those that it helps, in the order of the table.
  std::vector<std::pair<std::string, std::vector<std::string>>> remedies;
  for (const DeviceView& device : devices) {
    for (const Finding& finding : device.findings) {
      if (finding.outlook == Outlook::Fine || finding.remedy.empty()) {
        continue;
      }
      // The table has the first one's reason.
      const bool is_first = &finding == &device.findings.front();
      const std::string text =
          is_first ? finding.remedy : fmt::format("{}: {}", finding.reason, finding.remedy);
      const auto known = std::ranges::find(
          remedies, text, &std::pair<std::string, std::vector<std::string>>::first);
      auto& labels = known != remedies.end()
                         ? known->second
                         : remedies.emplace_back(text, std::vector<std::string>()).second;
      labels.push_back(device.facts.label());
    }
  }
  std::vector<std::string> lines;
  lines.reserve(remedies.size());
  for (const auto& [text, labels] : remedies) {
    lines.push_back(fmt::format("{}: {}", fmt::join(labels, ", "), text));
  }
  return lines;
}

void DevicesCommand::fields(Fields& fields) {
  fields
      .positional("DEVICE", names_,
                  "Devices to show; none: all. Another mynah by its address: "
                  "box=mynah://HOST:PORT.")
      .as_optional();
  fields
      .flag("prove", prove_,
            "Prove each card, and each device that is named, with the models that are here, now.")
      .once();
  fields
      .flag("sound", sound_,
            "Show microphones and loudspeakers instead: of PipeWire or PulseAudio, and of ALSA.")
      .once();
}

std::string DevicesCommand::details() const {
  return "Without --prove nothing is computed and no card's memory is taken. What NVIDIA's driver "
         "told is kept in\n"
         "the cache folder until the driver, the cards or this program change; free memory is\n"
         "asked each time. No card is no error: the exit code is 0. With --prove it is 3 where a "
         "device\n"
         "fails, or one that is named cannot be tried.\n";
}

Result<int> DevicesCommand::run(Context& context) {
  if (sound_) {
    if (prove_ || !names_.empty()) {
      return fail(ErrorCode::Usage,
                  "--sound lists microphones and loudspeakers, which nothing computes on: wanted "
                  "neither --prove nor a device beside it");
    }
    show_sound_devices(context);
    return 0;
  }
  place::DiscoverySearch search = engine::discovery_search(context.environment);
  search.gpus.root = root_;
  if (!root_.empty()) {
    search.worker_program.clear();  // a machine that a test made up: its driver is in this process
  }
  const bool named = !names_.empty();
  MYNAH_TRY(std::vector<DeviceView> mynahs, take_mynahs(context, names_, prove_));
  const place::Discovery found = place::discover(search);
  std::vector<DeviceView> devices;
  for (const DeviceFacts& facts : found.devices) {
    std::vector<Finding> findings = place::predict(facts);
    devices.push_back({.facts = facts, .findings = std::move(findings)});
  }
  if (named) {
    MYNAH_TRY_STATUS(check_names(devices));
    std::erase_if(devices, [&](const DeviceView& device) {
      return std::ranges::none_of(names_, [&](const std::string& name) {
        return device.facts.label() == place::full_device_name(name) ||
               device.facts.label() == name;
      });
    });
  }
  MYNAH_TRY_STATUS(add_proofs(context, found, devices));
  std::ranges::move(mynahs, std::back_inserter(devices));
  const bool proved =
      std::ranges::any_of(devices, [](const DeviceView& device) { return !device.proofs.empty(); });
  constexpr std::string_view kNothing =
      "no card to prove; simt:0 can be: mynah devices --prove simt:0";
  const bool nothing = prove_ && !proved && !named;
  // Who names a device wants it: that it cannot be tried at all is no proof either.
  const bool failed =
      prove_ && std::ranges::any_of(devices, [named](const DeviceView& device) {
        const bool out_of_the_question =
            device.facts.absence || place::worst(device.findings) == Outlook::Cannot;
        return (named && out_of_the_question) || !std::ranges::all_of(device.proofs, has_passed);
      });
  const int code = failed ? exit_code(ErrorCode::Device) : 0;
  if (context.json) {
    for (const DeviceView& device : devices) {
      // A driver's text may be no UTF-8.
      context.out.line(to_json(device).dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    if (nothing) {
      context.say(kNothing);
    }
    for (const std::string& line : lines_of_nothing(devices)) {
      context.say(line);
    }
    return code;
  }
  for (const std::string& line : device_table(devices)) {
    context.out.line(line);
  }
  if (const std::vector<std::string> proofs = proof_lines(devices); !proofs.empty()) {
    context.out.line("\nProofs:");
    for (const std::string& line : proofs) {
      context.out.line("  " + line);
    }
  }
  if (nothing) {
    context.out.line(fmt::format("\n{}", kNothing));
  }
  for (const std::string& line : lines_of_nothing(devices)) {
    context.out.line("\n" + line);
  }
  const std::vector<std::string> remedies = device_remedies(devices);
  if (!remedies.empty()) {
    context.out.line("\nWhat helps:");
    for (const std::string& line : remedies) {
      context.out.line("  " + line);
    }
  }
  if (!found.no_memory_known.empty()) {
    context.out.line("\nHow much memory of cards is free is not known: " + found.no_memory_known);
  }
  return code;
}

// Of the devices that were named for --prove those that have nothing to prove.
std::vector<std::string> DevicesCommand::lines_of_nothing(
    const std::vector<DeviceView>& devices) const {
  std::vector<std::string> lines;
  for (const DeviceView& device : devices) {
    if (const std::string why = nothing_to_prove(device.facts.name);
        prove_ && !names_.empty() && !why.empty()) {
      lines.push_back(fmt::format("{} has nothing to prove: {}", device.facts.name, why));
    }
  }
  return lines;
}

Status DevicesCommand::check_names(const std::vector<DeviceView>& devices) const {
  for (const std::string& name : names_) {
    const std::string full = place::full_device_name(name);
    if (std::ranges::any_of(devices, [&](const DeviceView& device) {
          return device.facts.label() == full || device.facts.label() == name;
        })) {
      continue;
    }
    const Status known = place::check_device(name);
    if (known && name == "auto") {
      return fail(ErrorCode::Usage,
                  "auto is no device, but the fastest of those that are proven: `mynah devices` "
                  "lists them all");
    }
    const std::string help =
        known ? std::string() : place::without_name(known.error().message, name) + "; ";
    return fail(
        known ? ErrorCode::Device : ErrorCode::Usage,
        fmt::format("there is no device {}: {}`mynah devices` lists what there is", name, help));
  }
  return {};
}

Status DevicesCommand::add_proofs(const Context& context, const place::Discovery& found,
                                  std::vector<DeviceView>& devices) const {
  const auto wanted = [this](const DeviceView& device) {
    const bool named = !names_.empty() && !place::is_processor(device.facts.name);
    return !device.facts.name.empty() && !device.facts.absence &&
           place::worst(device.findings) != Outlook::Cannot && (device.facts.card || named);
  };
  if (std::ranges::none_of(devices, wanted)) {
    return {};
  }
  const Store store(engine::store_folders(context.environment));
  MYNAH_TRY(const std::vector<engine::NamedModel> models, engine::named_models(store, {}));
  if (prove_ && models.empty()) {
    return fail(
        ErrorCode::Environment,
        "there is no model to prove a device with: bring one, such as `mynah pull tiny.en`");
  }
  MYNAH_TRY(const auto placer, engine::open_placer({}, surroundings_of(context)));
  place::PlacementState& state = placer->state();
  const auto now = static_cast<int64_t>(::time(nullptr));
  for (DeviceView& device : devices) {
    if (!wanted(device)) {
      continue;
    }
    const auto identity = place::identity_of(device.facts.name, found);
    if (const auto lost = state.context().prover().store().distrust(identity); lost && !prove_) {
      device.distrust = fmt::format("failed {} s ago: {}",
                                    std::max<int64_t>(0, now - lost->last_at), lost->reason);
    }
    if (!prove_) {
      device.proofs = engine::kept_proofs(state, device.facts.name, identity, models);
      continue;
    }
    for (const engine::NamedModel& model : models) {
      const place::StageDevice where =
          state.wishes().usual_place(state.context().expect(model.file), device.facts.name);
      DeviceProof proof{
          .model = model.name,
          .measurements = state.context()
                              .prover()
                              .of_device(model.file, where, identity, place::ProofWish::Anew)
                              .measurements};
      if (context.stop.stop_requested()) {  // a proof that was cut short is no failure
        return fail(ErrorCode::Cancelled, "stopped");
      }
      if (const auto cpu = state.context().prover().kept_of_cpu(model.file)) {
        proof.cpu_ms = engine::fastest_ms(*cpu);
      }
      device.proofs.push_back(std::move(proof));
    }
  }
  return {};
}

}  // namespace mynah::cli
