// Each way in which a card can be missing, and the one line that is said of it.
#include "gpu/absence.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::gpu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const NoDriver kAbsent = {.reason = NoDriver::Reason::Absent,
                          .error = {.code = ErrorCode::Environment, .message = "no NVIDIA driver"}};
const NoDriver kStub = {.reason = NoDriver::Reason::Refused,
                        .error = {.code = ErrorCode::Environment, .message = "X is a stub"}};

// A machine where all is well.
Machine healthy() {
  Machine machine;
  machine.pci_cards = {{.address = "0000:01:00.0", .driver = "nvidia"}};
  machine.kernel_cards = {{.address = "0000:01:00.0", .model = "Fake", .uuid = "GPU-1111"}};
  machine.kernel_driver = "550.54.14";
  machine.control_node = NodeState::Usable;
  machine.uvm_node = NodeState::Usable;
  machine.card_nodes = {{.path = "/dev/nvidia0", .state = NodeState::Usable}};
  return machine;
}

NoDevice failed(CUresult result) {
  return {.result = result,
          .driver_version = 12040,
          .driver_release = "550.54.14",
          .driver_path = "/usr/lib/libcuda.so.550.54.14"};
}

// One line, and of the environment.
std::string line(const Absence& absence) {
  const Error error = absence.error();
  EXPECT_EQ(error.code, ErrorCode::Environment) << error.message;
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  return error.message;
}

std::string without_device(CUresult result, const Machine& machine) {
  return line(explain_no_device(failed(result), machine, {}));
}

TEST(NoDriverLibrary, OnAMachineWithoutACard) {
  EXPECT_EQ(line(explain_no_driver(kAbsent, {})), "this machine has no NVIDIA card");
  EXPECT_EQ(line(explain_no_driver(kStub, {})), "this machine has no NVIDIA card (X is a stub)");
}

// What the user named is what is wrong, whatever the machine has.
TEST(NoDriverLibrary, AFileThatWasNamed) {
  const NoDriver named{.reason = NoDriver::Reason::Named,
                       .error = {.code = ErrorCode::Environment, .message = "no X"}};
  EXPECT_EQ(line(explain_no_driver(named, {})), "no X");
}

TEST(NoDriverLibrary, WithACardThatNoDriverHas) {
  Machine machine;
  machine.pci_cards = {{.address = "0000:01:00.0", .driver = ""},
                       {.address = "0000:02:00.0", .driver = ""}};
  EXPECT_EQ(
      line(explain_no_driver(kAbsent, machine)),
      "no NVIDIA driver in the kernel runs the NVIDIA cards at 0000:01:00.0, 0000:02:00.0; install "
      "NVIDIA's driver (R450 (CUDA 11.0) or newer) and reboot");
  machine.pci_cards = {{.address = "0000:01:00.0", .driver = "nouveau"}};
  EXPECT_THAT(line(explain_no_driver(kAbsent, machine)),
              StartsWith("no NVIDIA driver in the kernel runs the NVIDIA card at 0000:01:00.0 (the "
                         "driver nouveau has it); "));
  machine.pci_cards = {{.address = "0000:01:00.0", .driver = "vfio-pci"}};
  EXPECT_THAT(line(explain_no_driver(kAbsent, machine)), HasSubstr("handed to a virtual machine"));
}

TEST(NoDriverLibrary, InAContainerThatWasGivenNoCard) {
  Machine machine;
  machine.container = true;
  EXPECT_THAT(
      line(explain_no_driver(kAbsent, machine)),
      StartsWith("this container was given no NVIDIA card (there is no /dev/nvidiactl); start "
                 "the container with the card: `docker run --gpus all`"));
}

TEST(NoDriverLibrary, InAContainerThatWasGivenOnlyTheNodes) {
  Machine machine = healthy();
  machine.container = true;
  EXPECT_THAT(line(explain_no_driver(kAbsent, machine)),
              StartsWith("this container has the card's nodes but no libcuda.so.1; "));
}

TEST(NoDriverLibrary, UnderWsl) {
  Machine machine;
  machine.wsl = true;
  machine.wsl_node = NodeState::Usable;
  EXPECT_THAT(line(explain_no_driver(kAbsent, machine)), StartsWith("WSL2 without libcuda.so.1"));
}

TEST(NoDriverLibrary, WhereTheKernelHasItsHalf) {
  EXPECT_THAT(
      line(explain_no_driver(kAbsent, healthy())),
      StartsWith(
          "NVIDIA's driver is in the kernel (550.54.14), but libcuda.so.1 is not installed"));
  EXPECT_EQ(line(explain_no_driver(kStub, healthy())), "X is a stub");
}

TEST(NoDeviceShown, HiddenByTheVariable) {
  const VisibleDevices hidden = read_visible_devices("-1", known_cards(healthy()));
  const Absence absence{.reason = hidden.explanation, .remedy = hidden.remedy()};
  EXPECT_EQ(explain_no_device(failed(CUDA_SUCCESS), healthy(), hidden), absence);
  EXPECT_EQ(explain_no_device(failed(CUDA_ERROR_NO_DEVICE), {}, hidden), absence);
  EXPECT_EQ(line(absence),
            "CUDA_VISIBLE_DEVICES='-1' hides every card: '-1' is no card and ends the list; unset "
            "it, or set it to 0");
  // The variable does not explain another failure.
  EXPECT_THAT(line(explain_no_device(failed(CUDA_ERROR_SYSTEM_NOT_READY), healthy(), hidden)),
              HasSubstr("nvidia-fabricmanager"));
}

TEST(NoDeviceShown, TheTwoHalvesOfTheDriverDiffer) {
  Machine machine = healthy();
  machine.kernel_driver = "535.288.01";
  EXPECT_EQ(
      without_device(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, machine),
      "the two halves of NVIDIA's driver differ: /usr/lib/libcuda.so.550.54.14 is 550.54.14, the "
      "driver in the kernel 535.288.01 (cuInit answers 803); reboot, as after every update of the "
      "driver");
  EXPECT_THAT(without_device(CUDA_ERROR_UNKNOWN, machine), HasSubstr("differ"));
  machine.container = true;
  EXPECT_THAT(without_device(CUDA_ERROR_UNKNOWN, machine), HasSubstr("restart the container"));
  // A package that is there to differ fails for another reason.
  EXPECT_THAT(without_device(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, machine),
              HasSubstr("forward-compatibility"));
}

TEST(NoDeviceShown, TheLibraryWithoutACard) {
  EXPECT_EQ(without_device(CUDA_ERROR_NO_DEVICE, {}),
            "this machine has no NVIDIA card (cuInit answers 100)");
  EXPECT_EQ(without_device(CUDA_SUCCESS, {}),
            "this machine has no NVIDIA card (the driver lists no card)");
}

TEST(NoDeviceShown, ACardThatTheDriverNoLongerRuns) {
  Machine machine = healthy();
  machine.pci_cards.front().driver = "";
  machine.kernel_cards.clear();
  machine.card_nodes.clear();
  machine.kernel_driver = "550.54.14";
  EXPECT_EQ(
      without_device(CUDA_ERROR_NO_DEVICE, machine),
      "NVIDIA's driver 550.54.14 does not run the NVIDIA card at 0000:01:00.0 (cuInit answers "
      "100); `dmesg` says why (lines with NVRM): R590 and newer ignore cards older than Turing, "
      "which R580 still runs");
}

TEST(NoDeviceShown, ANodeIsMissing) {
  Machine machine = healthy();
  machine.uvm_node = NodeState::Missing;
  EXPECT_THAT(
      without_device(CUDA_ERROR_UNKNOWN, machine),
      StartsWith(
          "the driver's node /dev/nvidia-uvm does not exist (cuInit answers 999); make the nodes: "
          "`nvidia-modprobe -u -c=0`"));
  machine = healthy();
  machine.card_nodes.clear();
  EXPECT_THAT(without_device(CUDA_ERROR_NO_DEVICE, machine),
              StartsWith("the driver's node /dev/nvidia0 does not exist"));
  machine.container = true;
  EXPECT_THAT(without_device(CUDA_ERROR_NO_DEVICE, machine), HasSubstr("--gpus all"));
  machine = healthy();
  machine.control_node = NodeState::Missing;
  EXPECT_THAT(without_device(CUDA_ERROR_NO_DEVICE, machine),
              HasSubstr("/dev/nvidiactl does not exist"));
}

TEST(NoDeviceShown, ANodeMayNotBeOpened) {
  Machine machine = healthy();
  machine.control_node = NodeState::NoPermission;
  EXPECT_THAT(
      without_device(CUDA_ERROR_NO_DEVICE, machine),
      StartsWith("the driver's node /dev/nvidiactl may not be opened by this user (EACCES) (cuInit "
                 "answers 100); give this user the right"));
  machine.control_node = NodeState::Denied;
  EXPECT_THAT(
      without_device(CUDA_ERROR_UNKNOWN, machine),
      StartsWith("the driver's node /dev/nvidiactl may not be opened in this container (EPERM) "
                 "(cuInit answers 999); restart the container"));
  machine.control_node = NodeState::Failed;
  EXPECT_THAT(without_device(CUDA_ERROR_UNKNOWN, machine), HasSubstr("cannot be opened"));
}

TEST(NoDeviceShown, UnderWsl) {
  Machine machine;
  machine.wsl = true;
  EXPECT_THAT(without_device(CUDA_ERROR_NO_DEVICE, machine),
              StartsWith("/dev/dxg does not exist (cuInit answers 100); update Windows's NVIDIA "
                         "driver"));
  machine.wsl_node = NodeState::Usable;
  EXPECT_THAT(without_device(CUDA_ERROR_NO_DEVICE, machine), HasSubstr("CUDA_ERROR_NO_DEVICE"));
}

TEST(NoDeviceShown, WithoutAReasonInTheMachineTheErrorSpeaks) {
  EXPECT_THAT(
      without_device(CUDA_ERROR_NO_DEVICE, healthy()),
      StartsWith("starting NVIDIA's driver: CUDA_ERROR_NO_DEVICE (100) of driver R550 (CUDA "
                 "12.4): the driver sees no card; "));
  const Error unknown = explain_no_device(failed(CUDA_ERROR_UNKNOWN), healthy(), {}).error();
  EXPECT_EQ(unknown.code, ErrorCode::Device);
  EXPECT_THAT(unknown.message, HasSubstr("CUDA_ERROR_UNKNOWN (999)"));
  // What says itself what it is about is not laid to a node.
  Machine machine = healthy();
  machine.uvm_node = NodeState::Missing;
  EXPECT_THAT(without_device(CUDA_ERROR_MPS_CONNECTION_FAILED, machine),
              HasSubstr("Multi-Process Service"));
}

TEST(LeftOut, IsACardThatIsNotShown) {
  Machine machine = healthy();
  EXPECT_EQ(explain_left_out(machine, {"0000:01:00.0"}), "");
  machine.pci_cards.push_back({.address = "0000:02:00.0", .driver = ""});
  EXPECT_THAT(
      explain_left_out(machine, {"0000:01:00.0"}),
      StartsWith("NVIDIA's driver 550.54.14 does not run the NVIDIA card at 0000:02:00.0; "));
  machine.pci_cards.back().driver = "nvidia";
  EXPECT_EQ(explain_left_out(machine, {"0000:01:00.0"}),
            "the driver shows no device of the NVIDIA card at 0000:02:00.0");
  // A container sees the host's others.
  machine.container = true;
  EXPECT_EQ(explain_left_out(machine, {"0000:01:00.0"}), "");
}

TEST(NotShown, IsExplainedCardByCard) {
  Machine machine = healthy();
  const PciCard nouveau{.address = "0000:02:00.0", .driver = "nouveau"};
  const PciCard vfio{.address = "0000:03:00.0", .driver = "vfio-pci"};
  machine.pci_cards.push_back(nouveau);
  machine.pci_cards.push_back(vfio);
  EXPECT_EQ(explain_not_shown(nouveau, machine).reason,
            "NVIDIA's driver 550.54.14 does not run the NVIDIA card at 0000:02:00.0 (the driver "
            "nouveau has it)");
  EXPECT_EQ(explain_not_shown(vfio, machine).remedy, "use it there, or bind it to NVIDIA's driver");
  EXPECT_EQ(explain_not_shown(machine.pci_cards.front(), machine).reason,
            "the driver shows no device of the NVIDIA card at 0000:01:00.0");
}

TEST(KnownCards, AreTheKernelsOrTheNodes) {
  Machine machine = healthy();
  EXPECT_EQ(known_cards(machine).count, 1U);
  EXPECT_EQ(known_cards(machine).uuids, std::vector<std::string>{"GPU-1111"});
  machine.kernel_cards.clear();
  machine.card_nodes.push_back({.path = "/dev/nvidia1", .state = NodeState::Usable});
  EXPECT_EQ(known_cards(machine).count, 2U);
  EXPECT_TRUE(known_cards(machine).uuids.empty());
  EXPECT_EQ(known_cards({}).count, std::nullopt);
}

}  // namespace
}  // namespace mynah::gpu
