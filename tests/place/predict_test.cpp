#include "place/discovery/predict.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::place {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A card where all is well.
DeviceFacts healthy() {
  DeviceFacts facts{.name = "cuda:0",
                    .model = "NVIDIA H200",
                    .memory_total = 8'000'000'000,
                    .memory_free = 7'000'000'000};
  facts.card = CardFacts();
  facts.card->device.compute_major = 9;
  facts.card->device.uuid = "GPU-1";
  facts.card->driver_version = 12040;
  facts.card->driver_release = "550.54.14";
  facts.card->kernel_release = "550.54.14";
  facts.card->driver_path = "/lib/libcuda.so.550.54.14";
  return facts;
}

// What the rules find that is not fine, the worst of it: "OUTLOOK RULE: REASON; REMEDY".
std::string verdict(const DeviceFacts& device) {
  const std::vector<Finding> findings = predict(device);
  EXPECT_EQ(worst(findings), findings.empty() ? Outlook::Fine : findings.front().outlook);
  if (worst(findings) == Outlook::Fine) {
    return "fine";
  }
  const Finding& first = findings.front();
  return std::string(outlook_name(first.outlook)) + " " + first.rule + ": " + first.reason + "; " +
         first.remedy;
}

TEST(Predict, ACardWhereAllIsWell) {
  const std::vector<Finding> findings = predict(healthy());
  std::vector<std::string> rules;
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.outlook, Outlook::Fine) << finding.reason;
    EXPECT_NE(finding.reason, "");
    rules.push_back(finding.rule);
  }
  EXPECT_EQ(findings.front().reason, "compute capability 9.0 runs programs of level 90");
  EXPECT_THAT(rules, ElementsAre("compute capability", "driver version", "compute mode",
                                 "free memory", "driver halves"));
}

TEST(Predict, AProcessorHasNothingToFear) {
  const DeviceFacts cpu{.name = "cpu", .model = {}, .cpu = CpuFacts{}};
  EXPECT_TRUE(predict(cpu).empty());
  EXPECT_EQ(worst({}), Outlook::Fine);
}

TEST(Predict, ComputeCapability) {
  DeviceFacts device = healthy();
  device.card->device.compute_major = 5;
  device.card->device.compute_minor = 2;
  EXPECT_EQ(verdict(device),
            "cannot compute capability: its compute capability is 5.2, and mynah's kernels need "
            "6.0 or newer (Pascal); use another card, or --device cpu");
  device.card->device.compute_major = 6;
  device.card->device.compute_minor = 0;
  EXPECT_EQ(verdict(device), "fine");
  device.card->device.compute_major = 0;  // not known
  EXPECT_EQ(verdict(device), "fine");
}

TEST(Predict, DriverVersion) {
  DeviceFacts device = healthy();
  device.card->driver_version = 10020;
  EXPECT_EQ(verdict(device),
            "cannot driver version: level 80 of mynah's programs needs driver R450 (CUDA 11.0) or "
            "newer; this is CUDA 10.2; update NVIDIA's driver");
  device.card->driver_version = 11000;
  EXPECT_EQ(verdict(device), "fine");
  device.card->driver_version = 0;  // not known
  EXPECT_EQ(verdict(device), "fine");
}

TEST(Predict, ComputeMode) {
  DeviceFacts device = healthy();
  device.card->device.compute_mode = gpu::CU_COMPUTEMODE_PROHIBITED;
  EXPECT_EQ(verdict(device),
            "cannot compute mode: its compute mode is Prohibited: no program may compute on it; "
            "as root: nvidia-smi -i GPU-1 -c DEFAULT");
  device.card->device.compute_mode = gpu::CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  EXPECT_THAT(verdict(device), HasSubstr("may not compute mode: "));
  device.card->processes = {{.pid = 4711, .bytes = {}}};
  EXPECT_THAT(verdict(device), HasSubstr("cannot compute mode: "));
  EXPECT_THAT(verdict(device), HasSubstr("process 4711 has it; end that process, or as root"));
}

TEST(Predict, FreeMemory) {
  DeviceFacts device = healthy();
  device.memory_free = 310'000'000;
  EXPECT_EQ(verdict(device),
            "may not free memory: only 310 MB of its memory are free, and a context alone can "
            "take 479 MB; end what uses the card (nvidia-smi lists it)");
  device.card->processes = {{.pid = 1, .bytes = {}},
                            {.pid = 2, .bytes = 9'000'000},
                            {.pid = 3, .bytes = 7'500'000'000},
                            {.pid = 4, .bytes = 8'000'000}};
  EXPECT_THAT(verdict(device), HasSubstr("; process 3 has 7500 MB; end what"));
  device.memory_free = std::nullopt;
  EXPECT_EQ(verdict(device), "fine") << "not known";
}

TEST(Predict, ADividedCard) {
  DeviceFacts device = healthy();
  device.card->divided = true;
  EXPECT_THAT(verdict(device),
              HasSubstr("cannot slices: it is divided (MIG is on), but has no slice"));
  EXPECT_THAT(verdict(device), HasSubstr("nvidia-smi -i GPU-1 -mig 0"));
  device.card->slices = 2;
  EXPECT_THAT(verdict(device), HasSubstr("may not slices: it is divided into 2 slices"));
  device.card->device.mig = true;
  EXPECT_EQ(verdict(device), "fine") << "a slice itself";
  device.card->device.mig = false;
  device.card->divided = false;
  EXPECT_EQ(verdict(device), "fine");
}

TEST(Predict, DriverHalves) {
  DeviceFacts device = healthy();
  device.card->kernel_release = "535.288.01";
  EXPECT_EQ(verdict(device),
            "may not driver halves: the two halves of NVIDIA's driver differ: "
            "/lib/libcuda.so.550.54.14 is 550.54.14, the driver in the kernel 535.288.01; reboot, "
            "as after every update of the driver");
  device.card->kernel_release.clear();  // WSL2 has none
  EXPECT_EQ(verdict(device), "fine");
}

TEST(Predict, ACardThatNoLongerAnswers) {
  DeviceFacts device = healthy();
  device.card->failure = gpu::NVML_ERROR_GPU_IS_LOST;
  EXPECT_THAT(verdict(device), HasSubstr("cannot answers: asking the card: the card has fallen "
                                         "off the bus (NVML error 15); reboot"));
  device.card->failure = gpu::NVML_ERROR_NO_PERMISSION;
  EXPECT_THAT(verdict(device), HasSubstr("may not answers: asking the card: this user may not"));
}

TEST(Predict, ACardThatTheDriverDoesNotShow) {
  DeviceFacts device = healthy();
  device.absence = gpu::Absence{.reason = "a reason", .remedy = "a remedy"};
  EXPECT_EQ(verdict(device), "cannot presence: a reason; a remedy");
  // What is nearer to the cause goes first.
  device.card->divided = true;
  EXPECT_THAT(verdict(device), HasSubstr("cannot slices: "));
  const DeviceFacts none{.name = {}, .model = {}, .absence = device.absence};
  EXPECT_EQ(verdict(none), "cannot presence: a reason; a remedy");
}

// A card that the driver does not show, of which nothing told more than its name.
DeviceFacts not_shown(const std::string& model) {
  DeviceFacts device = healthy();
  device.model = device.card->device.name = model;
  device.card->device.compute_major = 0;
  device.card->device.pci_bus_id = "0000:01:00.0";
  device.card->driver_version = 0;
  device.card->driver_release.clear();
  device.card->driver_path.clear();
  device.absence = gpu::Absence{.reason = "a reason", .remedy = "a remedy"};
  return device;
}

// "OUTLOOK RULE", of all that is not fine.
std::vector<std::string> complaints(const DeviceFacts& device) {
  std::vector<std::string> rules;
  for (const Finding& finding : predict(device)) {
    if (finding.outlook != Outlook::Fine) {
      rules.push_back(std::string(outlook_name(finding.outlook)) + " " + finding.rule);
    }
  }
  return rules;
}

TEST(Predict, TheDoctorKnowsByItsNameThatACardIsTooOld) {
  // A remedy for the driver would help nothing.
  const DeviceFacts device = not_shown("Quadro K2200");
  EXPECT_THAT(complaints(device), ElementsAre("cannot doctor", "cannot presence"));
  EXPECT_EQ(verdict(device),
            "cannot doctor: mynah: it has neither machine code for sm_50 nor PTX that the driver "
            "could compile for it: the first kernel fails; use another card, or --device cpu");
}

TEST(Predict, TheDoctorKnowsByItsNameThatADriverIsNotForTheCard) {
  DeviceFacts device = not_shown("NVIDIA GeForce GTX 1080");
  device.card->kernel_release = "590.44.01";
  EXPECT_THAT(complaints(device), ElementsAre("cannot presence", "may not doctor"))
      << "the driver has the card, whatever is known of it";
  EXPECT_THAT(predict(device)[1].reason,
              HasSubstr("driver 590.44.01 ignores NVIDIA GeForce GTX 1080 (Pascal, 6.1)"));
  EXPECT_THAT(predict(device)[1].remedy, HasSubstr("install NVIDIA's driver (R580"));
  device.card->kernel_release = "580.95.05";
  EXPECT_THAT(complaints(device), ElementsAre("cannot presence"));
}

TEST(Predict, TheDoctorSaysNothingThatMynahsOwnRulesSay) {
  DeviceFacts old_card = healthy();
  old_card.model = "Quadro K2200";
  old_card.card->device.compute_major = 5;
  EXPECT_THAT(complaints(old_card), ElementsAre("cannot compute capability"));
  DeviceFacts old_driver = healthy();
  old_driver.card->driver_version = 10020;
  old_driver.card->driver_release = old_driver.card->kernel_release = "440.33.01";
  EXPECT_THAT(complaints(old_driver), ElementsAre("cannot driver version"));
  DeviceFacts halves = healthy();
  halves.card->kernel_release = "535.288.01";
  EXPECT_THAT(complaints(halves), ElementsAre("may not driver halves"));
  DeviceFacts divided = healthy();
  divided.card->divided = true;
  EXPECT_THAT(complaints(divided), ElementsAre("cannot slices"));
}

TEST(Predict, TheDoctorDoesNotContradictADriverThatShowsTheCard) {
  DeviceFacts dropped = healthy();  // by drivers after R580
  dropped.model = "NVIDIA GeForce GTX 1080";
  dropped.card->device.compute_major = 6;
  dropped.card->device.compute_minor = 1;
  dropped.card->driver_release = dropped.card->kernel_release = "590.44.01";
  EXPECT_THAT(complaints(dropped), ElementsAre());
  DeviceFacts windows = healthy();
  windows.card->wsl = true;
  windows.card->kernel_release.clear();
  EXPECT_THAT(complaints(windows), ElementsAre());
  DeviceFacts container = healthy();
  container.card->container = true;
  EXPECT_THAT(complaints(container), ElementsAre());
  DeviceFacts slice = healthy();
  slice.card->divided = slice.card->device.mig = true;
  EXPECT_THAT(complaints(slice), ElementsAre());
}

TEST(Predict, TheDoctorKnowsNothingOfACardWithoutANameOrThatNobodyKnows) {
  EXPECT_THAT(complaints(not_shown("")), ElementsAre("cannot presence"));
  EXPECT_THAT(complaints(not_shown("NVIDIA Graphics Device")), ElementsAre("cannot presence"));
}

// Another's rules stand beside mynah's.
class NeverRule final : public Rule {
 public:
  [[nodiscard]] std::string_view name() const override { return "never"; }

  [[nodiscard]] std::optional<Finding> judge(const DeviceFacts& device) const override {
    return Finding{.outlook = Outlook::Cannot, .rule = {}, .reason = device.name, .remedy = {}};
  }
};

TEST(Predict, TakesOthersRules) {
  const NeverRule never;
  std::vector<const Rule*> rules(own_rules().begin(), own_rules().end());
  rules.push_back(&never);
  const std::vector<Finding> findings = predict(healthy(), rules);
  EXPECT_EQ(findings.front().rule, "never") << "the worst first";
  EXPECT_EQ(findings.front().reason, "cuda:0");
  EXPECT_EQ(findings.size(), predict(healthy()).size() + 1);
}

}  // namespace
}  // namespace mynah::place
