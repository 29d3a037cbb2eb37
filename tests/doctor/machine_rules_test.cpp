#include "doctor/machine/machine_rules.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "doctor/facts_json.h"
#include "doctor/machine/machine_gather.h"

namespace mynah::doctor {
namespace {

std::vector<Finding> judged(const Facts& facts) {
  Diagnosis diagnosis{.facts = facts, .knowledge = builtin_knowledge(), .report = {}};
  judge_machine(diagnosis);
  return diagnosis.report.findings;
}

std::vector<Finding> judged(const char* json) {
  const auto facts = parse_facts(json, "facts.json");
  EXPECT_TRUE(facts) << facts.error().message;
  return facts ? judged(*facts) : std::vector<Finding>();
}

const Finding* find(const std::vector<Finding>& findings, std::string_view rule) {
  const auto found = std::ranges::find(findings, rule, &Finding::rule);
  return found == findings.end() ? nullptr : &*found;
}

Level worst(const std::vector<Finding>& findings) {
  Level level = Level::Good;
  for (const Finding& finding : findings) {
    level = std::max(level, finding.level);
  }
  return level;
}

// A machine that works, as it would be gathered.
Facts healthy() {
  Facts facts;
  Machine& machine = facts.machine;
  machine.release = "Ubuntu 24.04.1 LTS";
  machine.kernel = "6.8.0-45-generic";
  machine.glibc = "2.39";
  machine.processor_flags = {"sse2", "avx", "avx2"};
  machine.driver = "580.95.05";
  machine.open_kernel_module = true;
  machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"};
  machine.library_folders = {"/usr/lib/x86_64-linux-gnu"};
  for (const char* path : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"}) {
    machine.nodes.push_back({.path = path, .state = "usable", .group = "root"});
  }
  Card& card = machine.cards.emplace_back();
  card.name = "NVIDIA GeForce RTX 5090";
  card.compute_capability = "12.0";
  card.pci = "0000:01:00.0";
  card.vendor = "10de";
  card.kernel_driver = "nvidia";
  card.uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
  return facts;
}

// One finding of that rule and level, with evidence and a remedy or an explanation.
void expect_one(const Facts& facts, std::string_view rule, Level level) {
  const std::vector<Finding> findings = judged(facts);
  const Finding* const finding = find(findings, rule);
  ASSERT_NE(finding, nullptr) << rule;
  EXPECT_EQ(finding->level, level) << rule << ": " << finding->text;
  EXPECT_FALSE(finding->text.empty());
  if (level == Level::Fail) {
    EXPECT_EQ(finding->certainty, Certainty::Certain);
    EXPECT_FALSE(finding->remedies.empty());
    EXPECT_FALSE(finding->evidence.empty());
  }
}

void expect_none(const Facts& facts, std::string_view rule) {
  EXPECT_EQ(find(judged(facts), rule), nullptr) << rule;
}

TEST(MachineRules, AHealthyMachineIsGoodAndNothingElse) {
  const std::vector<Finding> findings = judged(healthy());
  ASSERT_EQ(findings.size(), 1U) << findings.back().text;
  EXPECT_EQ(findings[0].level, Level::Good);
  EXPECT_EQ(
      findings[0].text,
      "Driver 580.95.05 is there for NVIDIA GeForce RTX 5090; it is made for CUDA up to 13.0.");
}

TEST(MachineRules, ThisMachineDoesNotFail) {
  Facts facts;
  facts.machine = gather_machine({}, builtin_knowledge());
  for (const Finding& finding : judged(facts)) {
    EXPECT_NE(finding.level, Level::Fail) << finding.text;
  }
}

TEST(MachineRules, FactsThatTellLittleDoNotFail) {
  EXPECT_LT(worst(judged(R"({})")), Level::Unknown);
  EXPECT_LT(worst(judged(R"({"machine": {"cards": [{"name": "NVIDIA GeForce RTX 5090",
      "compute_capability": "12.0"}]}})")),
            Level::Fail);
  EXPECT_LT(worst(judged(R"({"machine": {"driver": "580.95.05", "cards": [{
      "name": "NVIDIA GeForce RTX 5090", "compute_capability": "12.0"}]}})")),
            Level::Fail);
}

TEST(MachineRules, AnotherMakersCardOrNoneIsAPlainNote) {
  const auto findings = judged(R"({"machine": {"cards": [{"name": "AMD Radeon RX 7900 XTX",
      "vendor": "1002", "pci": "0000:03:00.0", "kernel_driver": "amdgpu"}]}})");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "other maker's card");
  EXPECT_EQ(findings[0].level, Level::Note);
  EXPECT_NE(findings[0].text.find("AMD Radeon RX 7900 XTX (of AMD)"), std::string::npos);
  EXPECT_EQ(judged("{}")[0].rule, "no card");
}

TEST(MachineRules, TheHalvesOfTheDriverHaveToBeOfOneRelease) {
  Facts facts = healthy();
  facts.machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.580.105.08"};
  expect_one(facts, "driver halves", Level::Fail);
  facts.machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1"};
  expect_none(facts, "driver halves");
  facts.machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05",
                                    "/usr/lib64/libcuda.so.550.78"};
  expect_none(facts, "driver halves");
  expect_one(facts, "several driver libraries", Level::Warning);
}

TEST(MachineRules, AMissingHalfIsSaidOnlyWhereItWasLookedFor) {
  Facts facts = healthy();
  facts.machine.driver_libraries.clear();
  facts.machine.no_driver_library = true;
  expect_one(facts, "driver library missing", Level::Fail);
  facts.machine.driver_libraries = {"", "/run/opengl-driver/lib/libcuda.so.580.95.05"};
  expect_one(facts, "driver library missing", Level::Unknown);
  // Facts by hand that do not mention it say nothing of it.
  facts.machine.driver_libraries.clear();
  facts.machine.no_driver_library = false;
  expect_none(facts, "driver library missing");
}

// A distribution's newest libraries need not be of the module's release.
TEST(MachineRules, TheMissingHalfIsInstalledOfTheKernelsRelease) {
  Facts facts = healthy();
  facts.machine.driver_libraries.clear();
  facts.machine.no_driver_library = true;
  const auto command = [&](const char* release) {
    facts.machine.release = release;
    return find(judged(facts), "driver library missing")->remedies.front().command;
  };
  EXPECT_EQ(command("Ubuntu 24.04.1 LTS"),
            "sudo apt-get install -y 'libnvidia-compute-580=580.95.05*'");
  EXPECT_EQ(command("Debian GNU/Linux 12 (bookworm)"),
            "sudo apt-get install -y 'libcuda1=580.95.05*'");
  EXPECT_EQ(command("Fedora Linux 42"),
            "sudo dnf install -y xorg-x11-drv-nvidia-cuda-libs-580.95.05");
}

TEST(MachineRules, ADriverThatDroppedTheCardFails) {
  Facts facts = healthy();
  Card& card = facts.machine.cards[0];
  card.name = "NVIDIA TITAN Xp";
  card.compute_capability = "6.1";
  card.kernel_driver = "";
  facts.machine.driver = "595.71.05";
  facts.machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.595.71.05"};
  expect_one(facts, "driver dropped card", Level::Fail);
  EXPECT_EQ(find(judged(facts), "driver dropped card")->remedies[0].command,
            "sudo apt-get install -y nvidia-driver-580");
  card.kernel_driver = "nvidia";
  expect_one(facts, "driver dropped card", Level::Unknown);
  facts.machine.driver = "580.95.05";
  expect_none(facts, "driver dropped card");
}

TEST(MachineRules, AnRtx50NeedsTheOpenModule) {
  Facts facts = healthy();
  facts.machine.open_kernel_module = false;
  expect_none(facts, "closed kernel module");  // nobody said that it is closed
  facts.machine.closed_kernel_module = true;
  expect_one(facts, "closed kernel module", Level::Fail);
  facts.machine.cards[0].name = "NVIDIA RTX PRO 6000 Blackwell";
  expect_one(facts, "closed kernel module", Level::Unknown);
  facts.machine.kernel_log = {
      "NVRM: installed in this system requires use of the NVIDIA open kernel modules."};
  expect_one(facts, "closed kernel module", Level::Fail);
  facts.machine.cards[0].compute_capability = "8.9";
  expect_none(facts, "closed kernel module");
}

TEST(MachineRules, ADriverThatIsOlderThanTheCardFails) {
  Facts facts = healthy();
  facts.machine.driver = "550.54.14";
  facts.machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14"};
  expect_one(facts, "driver too old", Level::Fail);
  // Of the first branch that lists it.
  facts.machine.driver = "570.86.16";
  facts.machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.16"};
  EXPECT_EQ(find(judged(facts), "driver too old"), nullptr);
}

TEST(MachineRules, NouveauAndNoDriverFailWithThisSystemsCommand) {
  Facts facts = healthy();
  facts.machine.driver = "";
  facts.machine.driver_libraries.clear();
  facts.machine.nodes.clear();
  facts.machine.cards[0].kernel_driver = "nouveau";
  expect_one(facts, "other kernel driver", Level::Fail);
  EXPECT_EQ(find(judged(facts), "other kernel driver")->remedies[0].command,
            "sudo apt-get install -y nvidia-driver-580-open");
  facts.machine.release = "Fedora Linux 42";
  EXPECT_EQ(find(judged(facts), "other kernel driver")->remedies[0].command,
            "sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda");
  facts.machine.cards[0].kernel_driver = "";
  expect_one(facts, "driver missing", Level::Fail);
  facts.machine.kernel_log = {"nvidia: Loading of unsigned module is rejected"};
  EXPECT_NE(find(judged(facts), "driver missing")->text.find("Secure Boot"), std::string::npos);
  EXPECT_EQ(find(judged(facts), "driver missing")->remedies[0].command,
            "sudo mokutil --import /etc/pki/akmods/certs/public_key.der");
  // Of a card that nobody knows, whether any driver could use it is not known.
  facts.machine.cards[0].compute_capability = "";
  expect_one(facts, "driver missing", Level::Unknown);
  facts.machine.cards[0].kernel_driver = "vfio-pci";
  expect_one(facts, "card of a virtual machine", Level::Note);
  // Inside of a container the host's drivers are not this container's affair.
  facts.machine.container.inside = true;
  facts.machine.cards[0].kernel_driver = "nouveau";
  expect_none(facts, "other kernel driver");
}

TEST(MachineRules, NodesThatTheUserMayNotOpenFailWithTheirGroup) {
  Facts facts = healthy();
  facts.machine.nodes[0].state = "no permission";
  facts.machine.nodes[0].group = "video";
  expect_one(facts, "node permission", Level::Fail);
  EXPECT_EQ(find(judged(facts), "node permission")->remedies[0].command,
            "sudo usermod -aG video \"$USER\"");
  facts = healthy();
  facts.machine.nodes[1].state = "denied";
  expect_one(facts, "node denied", Level::Fail);
  facts.machine.nodes[1].state = "missing";
  expect_one(facts, "node missing", Level::Warning);
  // Of several cards one is left.
  facts = healthy();
  facts.machine.nodes.push_back({.path = "/dev/nvidia1", .state = "no permission", .group = "a"});
  expect_one(facts, "node permission", Level::Warning);
}

TEST(MachineRules, AContainerWithoutTheHostsCardFailsWhereOneIsWanted) {
  Facts facts = healthy();
  facts.machine.container.inside = true;
  facts.machine.driver_libraries.clear();
  facts.machine.nodes.clear();
  expect_one(facts, "container without card", Level::Warning);
  facts.machine.variables["NVIDIA_VISIBLE_DEVICES"] = "all";
  expect_one(facts, "container without card", Level::Fail);
  facts.machine.variables["NVIDIA_VISIBLE_DEVICES"] = "none";
  expect_one(facts, "container without card", Level::Warning);
  facts.environments.emplace_back().frameworks.emplace_back().cuda = "12.6";
  facts.machine.variables.clear();
  expect_one(facts, "container without card", Level::Fail);
  // The host's card is not seen.
  facts.machine.cards.clear();
  facts.machine.driver = "";
  expect_one(facts, "container without card", Level::Unknown);
}

TEST(MachineRules, AContainerWithNodesAndWithoutTheLibraryFails) {
  Facts facts = healthy();
  facts.machine.container.inside = true;
  facts.machine.driver_libraries.clear();
  facts.machine.no_driver_library = true;
  facts.machine.variables["NVIDIA_DRIVER_CAPABILITIES"] = "utility";
  expect_one(facts, "driver library missing", Level::Fail);
}

TEST(MachineRules, DockerWithoutTheToolkitFailsWhereARecipeReservesACard) {
  Facts facts = healthy();
  facts.machine.container.docker = true;
  facts.machine.container.toolkit = false;
  expect_one(facts, "container toolkit", Level::Note);
  facts.recipes.emplace_back().services.emplace_back().card = true;
  expect_one(facts, "container toolkit", Level::Fail);
  facts.machine.container.toolkit = true;
  expect_none(facts, "container toolkit");
  facts.machine.container.docker_snap = true;
  expect_one(facts, "docker snap", Level::Unknown);
}

TEST(MachineRules, DockerWhoseToolkitNobodyToldOfIsUnknown) {
  Facts facts = healthy();
  facts.machine.container.docker = true;
  expect_none(facts, "container toolkit");
  facts.recipes.emplace_back().services.emplace_back().card = true;
  expect_one(facts, "container toolkit", Level::Unknown);
  // A snap may bring a toolkit of its own.
  facts.machine.container.toolkit = false;
  facts.machine.container.docker_snap = true;
  expect_none(facts, "container toolkit");
  expect_one(facts, "docker snap", Level::Unknown);
}

TEST(MachineRules, VisibleDevicesThatHideEveryCardAreSaid) {
  Facts facts = healthy();
  std::string& value = facts.machine.variables["CUDA_VISIBLE_DEVICES"];
  expect_one(facts, "visible devices", Level::Warning);  // empty: meant so
  value = "-1";
  expect_one(facts, "visible devices", Level::Warning);
  value = "1";
  expect_one(facts, "visible devices", Level::Fail);
  value = "GPU-8932f937";
  expect_none(facts, "visible devices");
  value = "GPU-9932f937";
  expect_one(facts, "visible devices", Level::Fail);
  value = "\"0\"";
  expect_one(facts, "visible devices", Level::Fail);
  value = "0";
  expect_none(facts, "visible devices");
  // Two cards by their nodes, of which the driver shows one: it may be the second.
  facts.machine.nodes.push_back({.path = "/dev/nvidia1", .state = "usable", .group = "root"});
  value = "1";
  expect_none(facts, "visible devices");
  facts.machine.nodes.pop_back();
  value = "0,7";
  expect_one(facts, "visible devices", Level::Warning);
  // How many a container has is not known.
  value = "1";
  facts.machine.container.inside = true;
  expect_none(facts, "visible devices");
}

TEST(MachineRules, LdLibraryPathsTrapsAreSaid) {
  Facts facts = healthy();
  facts.machine.variables["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64/stubs:/opt/x";
  expect_one(facts, "library path stubs", Level::Warning);
  facts.machine.driver_libraries.insert(facts.machine.driver_libraries.begin(),
                                        "/usr/local/cuda/lib64/stubs/libcuda.so.1");
  expect_one(facts, "library path stubs", Level::Fail);
  facts = healthy();
  facts.machine.path_libraries = {"/opt/cudnn/libcudnn.so.9.1.0"};
  Framework& framework = facts.environments.emplace_back().frameworks.emplace_back();
  framework.name = "torch";
  framework.cudnn = "9.10.2";
  expect_one(facts, "library path cudnn", Level::Warning);
  framework.cudnn = "8.9.7";
  expect_none(facts, "library path cudnn");
}

TEST(MachineRules, ACompatLibcudaOnAGeForceFails) {
  Facts facts = healthy();
  facts.machine.driver = "570.86.10";
  facts.machine.driver_libraries = {"/usr/local/cuda-13.0/compat/libcuda.so.580.65.06"};
  facts.machine.compat_libraries = facts.machine.driver_libraries;
  expect_one(facts, "compat libcuda", Level::Fail);
  expect_none(facts, "driver halves");
  facts.machine.cards[0].name = "NVIDIA H100 80GB HBM3";
  expect_one(facts, "compat libcuda", Level::Note);
}

TEST(MachineRules, ADividedCardWithoutSlicesFails) {
  Facts facts = healthy();
  facts.machine.cards[0].divided = true;
  expect_one(facts, "no slice of a divided card", Level::Fail);
  facts.machine.mig_instances = {"gpu0/mig/gi1/ci0"};
  expect_none(facts, "no slice of a divided card");
}

TEST(MachineRules, XidsAreExplainedOnceForEachCardAndNumber) {
  Facts facts = healthy();
  facts.machine.kernel_log = {
      "NVRM: Xid (PCI:0000:01:00): 31, pid=1", "NVRM: Xid (PCI:0000:01:00): 79, pid=2",
      "NVRM: Xid (PCI:0000:01:00): 31, pid=3", "NVRM: Xid (PCI:0000:01:00): 4711, pid=3"};
  std::vector<Finding> findings = judged(facts);
  EXPECT_EQ(std::ranges::count(findings, "xid", &Finding::rule), 3);
  const Finding* const first = find(findings, "xid");
  EXPECT_EQ(
      first->text,
      "The driver reported Xid 31, 2 times: a program reached for memory that is not its own.");
  EXPECT_EQ(first->level, Level::Note);
  EXPECT_EQ(worst(findings), Level::Warning);
}

TEST(MachineRules, SleepIsATrapUnlessTheCardsMemoryIsKept) {
  Facts facts = healthy();
  facts.machine.slept = true;
  expect_one(facts, "slept", Level::Warning);
  facts.machine.keeps_memory_asleep = true;
  expect_none(facts, "slept");
}

TEST(MachineRules, UnderWslTheLibraryHasToBeWindowss) {
  Facts facts = healthy();
  Machine& machine = facts.machine;
  machine.wsl = true;
  machine.nodes = {{.path = "/dev/dxg", .state = "usable", .group = "root"}};
  machine.cards[0].pci = "";
  machine.cards[0].kernel_driver = "";
  expect_one(facts, "wsl driver", Level::Fail);
  machine.driver_libraries = {"/usr/lib/wsl/lib/libcuda.so.1.1"};
  EXPECT_EQ(worst(judged(facts)), Level::Good);
  machine.driver_libraries = {"", "/usr/lib/wsl/lib/libcuda.so.1.1"};
  expect_one(facts, "driver library missing", Level::Warning);
  // The card need not be known.
  machine.cards.clear();
  machine.driver = "";
  machine.driver_libraries = {"/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01"};
  expect_one(facts, "wsl driver", Level::Fail);
}

TEST(MachineRules, VariablesThatChangeHowTheDriverCompilesAreSaid) {
  Facts facts = healthy();
  facts.machine.variables = {{"CUDA_FORCE_PTX_JIT", "1"}, {"CUDA_LAUNCH_BLOCKING", "0"}};
  expect_one(facts, "variable", Level::Warning);
  EXPECT_EQ(find(judged(facts), "variable")->subject, "CUDA_FORCE_PTX_JIT");
}

TEST(MachineRules, OldProcessorsAndLibrariesAreWarnedOf) {
  Facts facts = healthy();
  facts.machine.processor_flags = {"sse2", "avx"};
  expect_one(facts, "old processor", Level::Warning);
  facts.machine.processor_flags = {"asimd"};
  expect_none(facts, "old processor");
  facts.machine.glibc = "2.27";
  expect_one(facts, "old C library", Level::Warning);
  facts.machine.glibc = "";
  expect_none(facts, "old C library");
  facts.machine.release = "Alpine Linux v3.20";
  expect_one(facts, "musl", Level::Warning);
}

TEST(MachineRules, CardsThatNoOneModuleRunsAreSaid) {
  Facts facts = healthy();
  Card old = facts.machine.cards[0];
  old.name = "NVIDIA TITAN Xp";
  old.compute_capability = "6.1";
  old.pci = "0000:02:00.0";
  facts.machine.cards.push_back(old);
  expect_one(facts, "one driver for all cards", Level::Warning);
}

}  // namespace
}  // namespace mynah::doctor
