#include "gpu/driver_errors.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "gpu/ptx.h"

namespace mynah::gpu {
namespace {

// What helps, where several results share it.
constexpr std::string_view kReport =
    "report this as a bug of mynah, with the line above; `--device cpu` works meanwhile";
constexpr std::string_view kRestart =
    "start mynah again; if it comes back on the same input, report it as a bug, and use `--device "
    "cpu` "
    "meanwhile";
constexpr std::string_view kUpdateDriver = "install a newer NVIDIA driver";
constexpr std::string_view kReinstallDriver =
    "install NVIDIA's driver anew, all of its packages in one version, and reboot";
constexpr std::string_view kRebootDevice =
    "look into the kernel's log (`dmesg`, lines with NVRM or Xid), then reboot the machine";
constexpr std::string_view kMpsControl =
    "look whether nvidia-cuda-mps-control runs and what its log says, or stop it to work without "
    "MPS";

#define MYNAH_ROW(result, scope, code, meaning, remedy)                  \
  DriverError {                                                          \
    result, #result, meaning, remedy, ErrorScope::scope, ErrorCode::code \
  }

// Meanings and scopes after NVIDIA's "CUDA Driver API", enumeration CUresult: where it says that
// the process is left in an inconsistent state, or that the context cannot be used any more, the
// scope is Context. Remedies after what users of other programs met (the issue threads of
// compat/errors.md).
constexpr std::array kErrors = {
    MYNAH_ROW(CUDA_SUCCESS, Call, Device, "it worked", "nothing is to be done"),
    MYNAH_ROW(CUDA_ERROR_INVALID_VALUE, Call, Device, "an argument is out of its range", kReport),
    MYNAH_ROW(
        CUDA_ERROR_OUT_OF_MEMORY, Call, OutOfMemory, "the device has not enough free memory",
        "close other programs that use the card (nvidia-smi lists them), or take a smaller model, "
        "a smaller storage type or a smaller batch"),
    MYNAH_ROW(CUDA_ERROR_NOT_INITIALIZED, Call, Device,
              "the driver was not initialised, or that failed", kReport),
    MYNAH_ROW(CUDA_ERROR_DEINITIALIZED, Context, Device,
              "the driver is shutting down with the process", kReport),
    MYNAH_ROW(CUDA_ERROR_PROFILER_DISABLED, Call, Device, "an outer profiler keeps this one off",
              "run without the profiler"),
    MYNAH_ROW(
        CUDA_ERROR_STUB_LIBRARY, Device, Environment,
        "the libcuda.so that was loaded is a toolkit's stub for linking, not a driver",
        "take the toolkit's folder `stubs` out of LD_LIBRARY_PATH and install NVIDIA's driver"),
    MYNAH_ROW(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, Call, Environment,
              "this call needs a newer driver than the one installed", kUpdateDriver),
    MYNAH_ROW(CUDA_ERROR_DEVICE_UNAVAILABLE, Device, Device,
              "another process holds the device, or its compute mode forbids its use",
              "end the process that holds the card, or set it free with `nvidia-smi -c DEFAULT`"),
    MYNAH_ROW(
        CUDA_ERROR_NO_DEVICE, Device, Environment, "the driver sees no card",
        "look at CUDA_VISIBLE_DEVICES, at /dev/nvidia*, in a container at --gpus, with MIG on at "
        "`nvidia-smi mig -lgi`; if the card was there before, look into the kernel's log (`dmesg`, "
        "lines with NVRM or Xid)"),
    MYNAH_ROW(CUDA_ERROR_INVALID_DEVICE, Device, Device,
              "there is no device of that number, or it cannot do what was asked",
              "name a device that `nvidia-smi -L` lists; if it was there before, reboot"),
    MYNAH_ROW(CUDA_ERROR_DEVICE_NOT_LICENSED, Device, Environment,
              "the virtual card has no valid licence",
              "renew the licence of NVIDIA's vGPU software"),
    MYNAH_ROW(CUDA_ERROR_INVALID_IMAGE, Call, Device,
              "the compiled kernels are damaged or of a form this driver does not know",
              "remove mynah's cache of compiled kernels; if it comes back, report it as a bug"),
    MYNAH_ROW(CUDA_ERROR_INVALID_CONTEXT, Call, Device,
              "the thread has no context, or one that was destroyed", kReport),
    MYNAH_ROW(CUDA_ERROR_MAP_FAILED, Call, Device, "memory could not be mapped", kRestart),
    MYNAH_ROW(CUDA_ERROR_UNMAP_FAILED, Call, Device, "memory could not be unmapped", kRestart),
    MYNAH_ROW(CUDA_ERROR_ARRAY_IS_MAPPED, Call, Device, "the array is mapped", kReport),
    MYNAH_ROW(CUDA_ERROR_ALREADY_MAPPED, Call, Device, "the resource is mapped already", kReport),
    MYNAH_ROW(
        CUDA_ERROR_NO_BINARY_FOR_GPU, Call, Unsupported,
        "no kernel that was handed over runs on this card's architecture",
        "use `--device cpu`; if the card is a Pascal (compute capability 6.0) or newer, report it "
        "as a bug"),
    MYNAH_ROW(CUDA_ERROR_ALREADY_ACQUIRED, Call, Device, "the resource is taken already", kReport),
    MYNAH_ROW(CUDA_ERROR_NOT_MAPPED, Call, Device, "the resource is not mapped", kReport),
    MYNAH_ROW(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, Call, Device,
              "the resource is not mapped as an array", kReport),
    MYNAH_ROW(CUDA_ERROR_NOT_MAPPED_AS_POINTER, Call, Device,
              "the resource is not mapped as memory", kReport),
    MYNAH_ROW(CUDA_ERROR_ECC_UNCORRECTABLE, Device, Device,
              "the card's memory had an error that could not be corrected",
              "reboot; if it comes back (`nvidia-smi -q -d ECC`), the card is failing"),
    MYNAH_ROW(CUDA_ERROR_UNSUPPORTED_LIMIT, Call, Device, "the device has no such limit", kReport),
    MYNAH_ROW(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, Call, Device, "another thread has the context",
              kReport),
    MYNAH_ROW(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, Call, Unsupported,
              "these two cards cannot read each other's memory", "use one card"),
    MYNAH_ROW(CUDA_ERROR_INVALID_PTX, Call, Device, "the driver could not compile the PTX",
              kReport),
    MYNAH_ROW(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, Call, Device, "a graphics context is not valid",
              kReport),
    MYNAH_ROW(CUDA_ERROR_NVLINK_UNCORRECTABLE, Device, Device,
              "the link between cards had an error that could not be corrected", kRebootDevice),
    MYNAH_ROW(
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND, Call, Environment,
        "the driver's compiler for PTX (libnvidia-ptxjitcompiler.so.1) is not installed",
        "install the driver's package that holds it (Debian: libnvidia-ptxjitcompiler1); in a "
        "container, NVIDIA_DRIVER_CAPABILITIES needs `compute`"),
    MYNAH_ROW(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, Call, Environment,
              "the PTX is of a newer version than this driver compiles", kUpdateDriver),
    MYNAH_ROW(CUDA_ERROR_JIT_COMPILATION_DISABLED, Call, Environment,
              "compiling of PTX is switched off",
              "unset CUDA_DISABLE_PTX_JIT and CUDA_DISABLE_JIT"),
    MYNAH_ROW(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, Call, Unsupported,
              "the device cannot share its processors that way", kReport),
    MYNAH_ROW(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, Call, Device,
              "a kernel waits for another in a way that is no longer supported", kReport),
    MYNAH_ROW(CUDA_ERROR_CONTAINED, Context, Device,
              "the card met an error of hardware or of another card's memory and fenced it in",
              "start mynah again; if it comes back, look into the kernel's log for lines with Xid"),
    MYNAH_ROW(CUDA_ERROR_INVALID_SOURCE, Call, Device, "the kernels' source is not valid", kReport),
    MYNAH_ROW(CUDA_ERROR_FILE_NOT_FOUND, Call, Environment,
              "a file that the driver needs is missing", kReinstallDriver),
    MYNAH_ROW(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, Device, Environment,
              "the driver's libraries do not fit each other", kReinstallDriver),
    MYNAH_ROW(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, Device, Environment,
              "one of the driver's libraries could not start", kReinstallDriver),
    MYNAH_ROW(CUDA_ERROR_OPERATING_SYSTEM, Call, Environment,
              "a call of the operating system failed inside the driver",
              "look at the limits on memory and open files (`ulimit -a`) and at the rights to "
              "/dev/nvidia*"),
    MYNAH_ROW(CUDA_ERROR_INVALID_HANDLE, Call, Device,
              "a stream, event or other handle is not valid", kReport),
    MYNAH_ROW(CUDA_ERROR_ILLEGAL_STATE, Call, Device,
              "something is not in the state that this call needs", kReport),
    MYNAH_ROW(CUDA_ERROR_LOSSY_QUERY, Call, Device, "the answer would have been incomplete",
              kReport),
    MYNAH_ROW(CUDA_ERROR_NOT_FOUND, Call, Device, "there is no symbol of that name", kReport),
    MYNAH_ROW(CUDA_ERROR_NOT_READY, Call, Device, "the work has not ended yet", "wait for it"),
    MYNAH_ROW(CUDA_ERROR_ILLEGAL_ADDRESS, Context, Device,
              "a kernel used an address that is not its own", kRestart),
    MYNAH_ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Call, Device,
              "the kernel asks for more threads, registers or shared memory than the card has",
              kReport),
    MYNAH_ROW(CUDA_ERROR_LAUNCH_TIMEOUT, Context, Device,
              "a kernel ran longer than the display's watchdog allows",
              "use a card that drives no display, or a smaller batch"),
    MYNAH_ROW(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, Call, Device,
              "the kernel's textures do not fit", kReport),
    MYNAH_ROW(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, Call, Device,
              "access between the cards is on already", kReport),
    MYNAH_ROW(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, Call, Device,
              "access between the cards was never on", kReport),
    MYNAH_ROW(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, Call, Device,
              "the device's context is in use already", kReport),
    MYNAH_ROW(CUDA_ERROR_CONTEXT_IS_DESTROYED, Context, Device, "the context was destroyed",
              kReport),
    MYNAH_ROW(CUDA_ERROR_ASSERT, Context, Device, "an assertion in a kernel failed", kReport),
    MYNAH_ROW(CUDA_ERROR_TOO_MANY_PEERS, Call, Device,
              "the cards have no room for another connection", "use fewer cards"),
    MYNAH_ROW(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, Call, Device,
              "the host's memory is pinned already", kReport),
    MYNAH_ROW(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, Call, Device,
              "the host's memory was not pinned", kReport),
    MYNAH_ROW(CUDA_ERROR_HARDWARE_STACK_ERROR, Context, Device,
              "a kernel's stack is damaged or too small", kRestart),
    MYNAH_ROW(CUDA_ERROR_ILLEGAL_INSTRUCTION, Context, Device,
              "a kernel met an instruction that the card does not know",
              "remove mynah's cache of compiled kernels and start again"),
    MYNAH_ROW(CUDA_ERROR_MISALIGNED_ADDRESS, Context, Device,
              "a kernel used an address that is not aligned", kRestart),
    MYNAH_ROW(CUDA_ERROR_INVALID_ADDRESS_SPACE, Context, Device,
              "a kernel took one kind of memory for another", kRestart),
    MYNAH_ROW(CUDA_ERROR_INVALID_PC, Context, Device, "a kernel ran out of its own code", kRestart),
    MYNAH_ROW(
        CUDA_ERROR_LAUNCH_FAILED, Context, Device,
        "a kernel failed while it ran, for a reason that the card does not tell",
        "start mynah again; if it comes back, look into the kernel's log (`dmesg`) for lines with "
        "Xid: some name failing hardware"),
    MYNAH_ROW(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, Call, Device,
              "a cooperative launch has more blocks than the card runs at once", kReport),
    MYNAH_ROW(CUDA_ERROR_TENSOR_MEMORY_LEAK, Context, Device,
              "a kernel ended without giving back its tensor memory", kReport),
    MYNAH_ROW(CUDA_ERROR_NOT_PERMITTED, Call, Environment, "the driver does not permit this",
              "look at the rights to /dev/nvidia* and at the container's or MPS's rules"),
    MYNAH_ROW(CUDA_ERROR_NOT_SUPPORTED, Call, Unsupported,
              "the device or the system does not support this", kReport),
    MYNAH_ROW(
        CUDA_ERROR_SYSTEM_NOT_READY, Device, Environment,
        "the system is not ready for CUDA: a service that the cards need does not run",
        "start it: nvidia-fabricmanager where the cards are joined by NVSwitch, in the driver's "
        "own version"),
    MYNAH_ROW(
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, Device, Environment,
        "libcuda.so.1 and the driver in the kernel are of different versions",
        "reboot, as after an update of the driver; in a container, use libraries of the host's "
        "version"),
    MYNAH_ROW(
        CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, Device, Environment,
        "libcuda.so.1 comes from a forward-compatibility package, which works on data-centre cards "
        "only",
        "take /usr/local/cuda/compat out of the loader's path, or update the host's driver"),
    MYNAH_ROW(CUDA_ERROR_MPS_CONNECTION_FAILED, Device, Environment,
              "the Multi-Process Service does not answer", kMpsControl),
    MYNAH_ROW(CUDA_ERROR_MPS_RPC_FAILURE, Device, Environment,
              "the Multi-Process Service answered wrongly", kMpsControl),
    MYNAH_ROW(CUDA_ERROR_MPS_SERVER_NOT_READY, Device, Environment,
              "the Multi-Process Service is not ready, perhaps after another program's failure",
              kMpsControl),
    MYNAH_ROW(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, Device, Environment,
              "the Multi-Process Service has as many clients as it takes", "end some of them"),
    MYNAH_ROW(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, Device, Environment,
              "the device has as many connections as it takes",
              "end some of the programs that use it"),
    MYNAH_ROW(CUDA_ERROR_MPS_CLIENT_TERMINATED, Context, Device,
              "the Multi-Process Service ended this process's work", kRestart),
    MYNAH_ROW(CUDA_ERROR_CDP_NOT_SUPPORTED, Call, Unsupported,
              "kernels cannot start kernels in this setting", kReport),
    MYNAH_ROW(CUDA_ERROR_CDP_VERSION_MISMATCH, Call, Device,
              "kernels that start kernels are of different versions", kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, Call, Device,
              "this is not allowed while a stream is being captured", kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, Call, Device,
              "the capture was spoiled by an earlier error", kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_MERGE, Call, Device, "two captures would have become one",
              kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, Call, Device,
              "the capture did not begin in this stream", kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, Call, Device,
              "a stream that joined the capture was not brought back", kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, Call, Device,
              "the capture would depend on work outside it", kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, Call, Device,
              "the default stream would have waited for a capture", kReport),
    MYNAH_ROW(CUDA_ERROR_CAPTURED_EVENT, Call, Device,
              "the event belongs to a capture and cannot be waited for", kReport),
    MYNAH_ROW(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, Call, Device,
              "the capture was begun by another thread", kReport),
    MYNAH_ROW(CUDA_ERROR_TIMEOUT, Call, Device, "what was waited for did not come in time",
              kRestart),
    MYNAH_ROW(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, Call, Device,
              "the graph cannot be changed like that", kReport),
    MYNAH_ROW(CUDA_ERROR_EXTERNAL_DEVICE, Context, Device,
              "another device that the card waited for reported an error", kRestart),
    MYNAH_ROW(CUDA_ERROR_INVALID_CLUSTER_SIZE, Call, Device,
              "the launch's clusters do not fit the card", kReport),
    MYNAH_ROW(CUDA_ERROR_FUNCTION_NOT_LOADED, Call, Device, "the kernel is not loaded", kReport),
    MYNAH_ROW(CUDA_ERROR_INVALID_RESOURCE_TYPE, Call, Device,
              "the resource is of a kind that does not fit", kReport),
    MYNAH_ROW(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, Call, Device,
              "the resources do not suffice or do not fit", kReport),
    MYNAH_ROW(CUDA_ERROR_KEY_ROTATION, Call, Device,
              "the keys of a card in confidential mode could not be renewed", kRestart),
    MYNAH_ROW(CUDA_ERROR_UNKNOWN, Device, Device, "the driver does not say what went wrong",
              "look into the kernel's log (`dmesg`, lines with NVRM or Xid); after an update of "
              "the driver "
              "or a suspend, reboot; several versions of libcuda.so on the disk do this, too"),
};

#undef MYNAH_ROW

}  // namespace

std::string_view name(ErrorScope scope) {
  switch (scope) {
    case ErrorScope::Call:
      return "call";
    case ErrorScope::Context:
      return "context";
    case ErrorScope::Device:
      return "device";
  }
  return {};
}

DriverError explain(CUresult result) {
  const auto* const known = std::ranges::find(kErrors, result, &DriverError::result);
  if (known != kErrors.end()) {
    return *known;
  }
  return {.result = result,
          .name = {},
          .meaning = "an error of the driver that this version of mynah does not know",
          .remedy =
              "look the number up in NVIDIA's documentation under CUresult, and start mynah again",
          .scope = ErrorScope::Context,
          .code = ErrorCode::Device};
}

std::string failure_reason(CUresult result, std::string_view attempted, int driver_version) {
  const DriverError error = explain(result);
  std::string number = error.name.empty()
                           ? fmt::format("CUDA error {}", static_cast<int>(result))
                           : fmt::format("{} ({})", error.name, static_cast<int>(result));
  if (driver_version > 0) {
    number += fmt::format(" of driver {}", driver_name(driver_version));
  }
  return fmt::format("{}: {}: {}", attempted, number, error.meaning);
}

Error driver_failure(CUresult result, std::string_view attempted, int driver_version) {
  const DriverError error = explain(result);
  return {.code = error.code,
          .message = fmt::format("{}; {}", failure_reason(result, attempted, driver_version),
                                 error.remedy)};
}

}  // namespace mynah::gpu
