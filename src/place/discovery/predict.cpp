#include "place/discovery/predict.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "backend/cuda/programs/programs.h"
#include "gpu/nvml_errors.h"
#include "gpu/ptx.h"
#include "place/discovery/doctor_rule.h"

namespace mynah::place {
namespace {

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
}

// Of the programs that the card runs unasked; 0: it is older than all.
int level_of(const CardFacts& card) {
  const int capability = card.device.compute_major * 10 + card.device.compute_minor;
  return card.driver_version == 0 ? cuda::level_for(capability)
                                  : cuda::level_for(capability, card.driver_version);
}

Finding fine(std::string reason) {
  return {.outlook = Outlook::Fine, .rule = {}, .reason = std::move(reason), .remedy = {}};
}

// What nvidia-smi is told to change a card's settings.
std::string smi(const CardFacts& card, std::string_view setting) {
  return fmt::format("as root: nvidia-smi -i {} {}",
                     card.device.uuid.empty() ? card.device.pci_bus_id : card.device.uuid, setting);
}

// A rule about cards alone.
class CardRule : public Rule {
 public:
  [[nodiscard]] std::optional<Finding> judge(const DeviceFacts& device) const final {
    return device.card ? judge_card(device, *device.card) : std::nullopt;
  }

 private:
  [[nodiscard]] virtual std::optional<Finding> judge_card(const DeviceFacts& device,
                                                          const CardFacts& card) const = 0;
};

class CapabilityRule final : public CardRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "compute capability"; }

 private:
  [[nodiscard]] std::optional<Finding> judge_card(const DeviceFacts& /*device*/,
                                                  const CardFacts& card) const override {
    const gpu::GpuDevice& device = card.device;
    if (device.compute_major == 0) {
      return std::nullopt;
    }
    const int level = level_of(card);
    if (level == 0) {
      return Finding{
          .outlook = Outlook::Cannot,
          .rule = {},
          .reason = fmt::format("its compute capability is {}.{}, and mynah's kernels need 6.0 or "
                                "newer (Pascal)",
                                device.compute_major, device.compute_minor),
          .remedy = "use another card, or --device cpu"};
    }
    return fine(fmt::format("compute capability {}.{} runs programs of level {}",
                            device.compute_major, device.compute_minor, level));
  }
};

// A driver compiles the PTX of its own CUDA version and older (NVIDIA's PTX ISA, "Release Notes";
// the table is gpu/ptx.h's).
class DriverVersionRule final : public CardRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "driver version"; }

 private:
  [[nodiscard]] std::optional<Finding> judge_card(const DeviceFacts& /*device*/,
                                                  const CardFacts& card) const override {
    const gpu::GpuDevice& device = card.device;
    const int level = level_of(card);
    if (card.driver_version == 0 || device.compute_major == 0 || level == 0) {
      return std::nullopt;
    }
    const std::optional<int> needed = cuda::driver_needed_by(level);
    if (needed && card.driver_version < *needed) {
      return Finding{.outlook = Outlook::Cannot,
                     .rule = {},
                     .reason = fmt::format("level {} of mynah's programs {}", level,
                                           gpu::needs_driver(*needed, card.driver_version)),
                     .remedy = "update NVIDIA's driver"};
    }
    return fine(fmt::format("driver {} compiles level {} of mynah's programs",
                            gpu::driver_name(card.driver_version), level));
  }
};

// NVIDIA's CUDA Programming Guide, "Compute Modes".
class ComputeModeRule final : public CardRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "compute mode"; }

 private:
  [[nodiscard]] std::optional<Finding> judge_card(const DeviceFacts& /*device*/,
                                                  const CardFacts& card) const override {
    const std::string remedy = smi(card, "-c DEFAULT");
    switch (card.device.compute_mode) {
      case gpu::CU_COMPUTEMODE_PROHIBITED:
        return Finding{.outlook = Outlook::Cannot,
                       .rule = {},
                       .reason = "its compute mode is Prohibited: no program may compute on it",
                       .remedy = remedy};
      case gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS:
        if (!card.processes.empty()) {
          return Finding{
              .outlook = Outlook::Cannot,
              .rule = {},
              .reason = fmt::format("its compute mode is Exclusive_Process, and process {} has it",
                                    card.processes.front().pid),
              .remedy = "end that process, or " + remedy};
        }
        return Finding{.outlook = Outlook::MayNot,
                       .rule = {},
                       .reason = "its compute mode is Exclusive_Process: one program at a time",
                       .remedy = remedy};
      default:
        return fine("its compute mode lets several programs share it");
    }
  }
};

// A context takes memory before it holds anything: 457 MiB is what ollama found it to need
// (ollama/ollama, gpu.go, cudaMinimumMemory). It differs with card and driver, so that less is no
// proof.
class FreeMemoryRule final : public CardRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "free memory"; }

 private:
  static constexpr uint64_t kContextBytes = 457ULL << 20;

  [[nodiscard]] std::optional<Finding> judge_card(const DeviceFacts& device,
                                                  const CardFacts& card) const override {
    if (!device.memory_free || card.failure != gpu::NVML_SUCCESS) {
      return std::nullopt;
    }
    if (*device.memory_free >= kContextBytes) {
      return fine(megabytes(*device.memory_free) + " of its memory are free");
    }
    std::string users;
    const gpu::NvmlProcess* most = nullptr;
    for (const gpu::NvmlProcess& process : card.processes) {
      if (process.bytes && (most == nullptr || *process.bytes > *most->bytes)) {
        most = &process;
      }
    }
    if (most != nullptr) {
      users = fmt::format("; process {} has {}", most->pid, megabytes(*most->bytes));
    }
    return Finding{
        .outlook = Outlook::MayNot,
        .rule = {},
        .reason = fmt::format("only {} of its memory are free, and a context alone can "
                              "take {}{}",
                              megabytes(*device.memory_free), megabytes(kContextBytes), users),
        .remedy = "end what uses the card (nvidia-smi lists it)"};
  }
};

// NVIDIA's MIG User Guide: a card with MIG on computes in its slices alone.
class SlicesRule final : public CardRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "slices"; }

 private:
  [[nodiscard]] std::optional<Finding> judge_card(const DeviceFacts& /*device*/,
                                                  const CardFacts& card) const override {
    if (!card.divided.value_or(false) || card.device.mig) {
      return std::nullopt;
    }
    if (card.slices == 0) {
      return Finding{.outlook = Outlook::Cannot,
                     .rule = {},
                     .reason = "it is divided (MIG is on), but has no slice that could be used",
                     .remedy = fmt::format(
                         "make one ({}, with a profile of `nvidia-smi mig -lgip`), or switch "
                         "MIG off ({})",
                         smi(card, "mig -cgi PROFILE -C"), smi(card, "-mig 0"))};
    }
    return Finding{
        .outlook = Outlook::MayNot,
        .rule = {},
        .reason =
            fmt::format("it is divided into {} slices, of which a process sees one", card.slices),
        .remedy = "name the slice in CUDA_VISIBLE_DEVICES, by its UUID of `nvidia-smi -L`"};
  }
};

// Library and kernel driver are made to go together; data-centre cards take a newer library of a
// forward-compatibility package (NVIDIA's CUDA Compatibility guide), so that a difference is no
// proof.
class HalvesRule final : public CardRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "driver halves"; }

 private:
  [[nodiscard]] std::optional<Finding> judge_card(const DeviceFacts& device,
                                                  const CardFacts& card) const override {
    if (card.driver_release.empty() || card.kernel_release.empty() || device.absence) {
      return std::nullopt;
    }
    if (card.driver_release == card.kernel_release) {
      return fine(fmt::format("both halves of the driver are {}", card.driver_release));
    }
    gpu::Machine machine;
    machine.kernel_driver = card.kernel_release;
    machine.container = card.container;
    gpu::Absence differ = gpu::explain_halves(card.driver_path, card.driver_release, machine);
    return Finding{.outlook = Outlook::MayNot,
                   .rule = {},
                   .reason = std::move(differ.reason),
                   .remedy = std::move(differ.remedy)};
  }
};

// What NVML says of a card now: what the driver once told of it may be older.
class AnswersRule final : public CardRule {
 public:
  [[nodiscard]] std::string_view name() const override { return "answers"; }

 private:
  [[nodiscard]] std::optional<Finding> judge_card(const DeviceFacts& /*device*/,
                                                  const CardFacts& card) const override {
    if (card.failure == gpu::NVML_SUCCESS) {
      return std::nullopt;
    }
    gpu::Absence absence = gpu::explain_nvml(card.failure, "asking the card");
    return Finding{
        .outlook = gpu::is_failure_of_card(card.failure) ? Outlook::Cannot : Outlook::MayNot,
        .rule = {},
        .reason = std::move(absence.reason),
        .remedy = std::move(absence.remedy)};
  }
};

// What discovery found: the driver does not show the card, or there is none.
class PresenceRule final : public Rule {
 public:
  [[nodiscard]] std::string_view name() const override { return "presence"; }

  [[nodiscard]] std::optional<Finding> judge(const DeviceFacts& device) const override {
    if (!device.absence) {
      return std::nullopt;
    }
    return Finding{.outlook = Outlook::Cannot,
                   .rule = {},
                   .reason = device.absence->reason,
                   .remedy = device.absence->remedy};
  }
};

}  // namespace

std::string_view outlook_name(Outlook outlook) {
  constexpr std::array<std::string_view, 3> kNames = {"fine", "may not", "cannot"};
  return kNames[static_cast<size_t>(outlook)];
}

std::span<const Rule* const> own_rules() {
  static const CapabilityRule kCapability;
  static const AnswersRule kAnswers;
  static const SlicesRule kSlices;
  static const PresenceRule kPresence;
  static const DriverVersionRule kDriverVersion;
  static const ComputeModeRule kComputeMode;
  static const FreeMemoryRule kFreeMemory;
  static const HalvesRule kHalves;
  // The nearest to the cause first: a card that is too old is also one that the driver does not
  // show.
  static const std::array<const Rule*, 8> kRules = {&kCapability, &kAnswers,       &kSlices,
                                                    &kPresence,   &kDriverVersion, &kComputeMode,
                                                    &kFreeMemory, &kHalves};
  return kRules;
}

std::span<const Rule* const> all_rules() {
  static const DoctorRule kDoctor;
  // What is wrong with the card itself is nearer to the cause than what the driver says of it.
  static const std::vector<const Rule*> kRules = [] {
    std::vector<const Rule*> rules = {&kDoctor};
    rules.insert(rules.end(), own_rules().begin(), own_rules().end());
    return rules;
  }();
  return kRules;
}

std::vector<Finding> predict(const DeviceFacts& device, std::span<const Rule* const> rules) {
  std::vector<Finding> findings;
  for (const Rule* rule : rules) {
    if (auto finding = rule->judge(device)) {
      finding->rule = rule->name();
      findings.push_back(*std::move(finding));
    }
  }
  std::ranges::stable_sort(findings, std::ranges::greater(), &Finding::outlook);
  return findings;
}

Outlook worst(std::span<const Finding> findings) {
  Outlook outlook = Outlook::Fine;
  for (const Finding& finding : findings) {
    outlook = std::max(outlook, finding.outlook);
  }
  return outlook;
}

}  // namespace mynah::place
