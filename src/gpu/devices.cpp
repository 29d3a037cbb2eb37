#include "gpu/devices.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/ascii.h"
#include "gpu/driver_errors.h"

namespace mynah::gpu {
namespace {

// What was asked of the driver, and how it answered: the first failure ends the questions.
class Questions {
 public:
  explicit Questions(const Driver& driver, int index) : driver_(driver), index_(index) {}

  // True while all went well; the call is not made after a failure.
  template <class Call>
  bool ask(std::string_view what, Call&& call) {
    if (status_) {
      if (const CUresult result = std::forward<Call>(call)(driver_.api()); result != CUDA_SUCCESS) {
        status_ = std::unexpected(driver_failure(
            result, fmt::format("asking for the {} of cuda:{}", what, index_), driver_.version()));
      }
    }
    return status_.has_value();
  }

  void attribute(CUdevice device, std::string_view what, CUdeviceAttribute attribute, int& value) {
    ask(what,
        [&](const DriverApi& api) { return api.cuDeviceGetAttribute(&value, attribute, device); });
  }

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  const Driver& driver_;
  int index_;
  Status status_;
};

// 8-4-4-4-12 hexadecimal digits, as nvidia-smi prints them.
std::string uuid_text(std::string_view prefix, const CUuuid& uuid) {
  std::string text(prefix);
  for (size_t i = 0; i < std::size(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

void ask_identity(Questions& questions, GpuDevice& device) {
  // PCI addresses have 13 characters; names of cards are far below 256.
  std::array<char, 256> text{};
  if (questions.ask("name", [&](const DriverApi& api) {
        return api.cuDeviceGetName(text.data(), text.size(), device.handle);
      })) {
    device.name = text.data();
  }
  if (questions.ask("PCI address", [&](const DriverApi& api) {
        return api.cuDeviceGetPCIBusId(text.data(), text.size(), device.handle);
      })) {
    device.pci_bus_id = ascii_lower(text.data());
  }
  CUuuid card{};
  questions.ask("UUID",
                [&](const DriverApi& api) { return api.cuDeviceGetUuid(&card, device.handle); });
  CUuuid slice = card;
  questions.ask("UUID", [&](const DriverApi& api) {
    return api.has_slice_uuid() ? api.cuDeviceGetUuid_v2(&slice, device.handle) : CUDA_SUCCESS;
  });
  // Only a slice has a UUID of its own. A driver too old to tell it names the profile: "... MIG
  // 1g.5gb".
  device.mig = !std::ranges::equal(card.bytes, slice.bytes) ||
               device.name.find(" MIG ") != std::string::npos;
  device.uuid = uuid_text(device.mig ? "MIG-" : "GPU-", slice);
}

void ask_abilities(Questions& questions, GpuDevice& device) {
  const CUdevice handle = device.handle;
  size_t bytes = 0;
  questions.ask("memory",
                [&](const DriverApi& api) { return api.cuDeviceTotalMem(&bytes, handle); });
  device.memory_bytes = bytes;
  const auto ask = [&](std::string_view what, CUdeviceAttribute attribute, int& value) {
    questions.attribute(handle, what, attribute, value);
  };
  const auto ask_whether = [&](std::string_view what, CUdeviceAttribute attribute, bool& value) {
    int number = 0;
    ask(what, attribute, number);
    value = number != 0;
  };
  ask("compute capability", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device.compute_major);
  ask("compute capability", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device.compute_minor);
  ask("multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device.multiprocessors);
  ask("shared memory", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
      device.shared_bytes_per_block);
  ask("shared memory", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
      device.shared_bytes_per_multiprocessor);
  ask("cache", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device.l2_bytes);
  ask("memory clock", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device.memory_clock_khz);
  ask("memory bus", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device.memory_bus_bits);
  ask_whether("kind of memory", CU_DEVICE_ATTRIBUTE_INTEGRATED, device.integrated);
  ask_whether("limit of time", CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, device.launch_timeout);
  int mode = 0;
  ask("compute mode", CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, mode);
  device.compute_mode = static_cast<CUcomputemode>(mode);
  // A driver without the functions does not know the attribute either.
  questions.ask("memory pools", [&](const DriverApi& api) {
    int supported = 0;
    const CUresult result =
        api.has_memory_pools() ? api.cuDeviceGetAttribute(
                                     &supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, handle)
                               : CUDA_SUCCESS;
    device.memory_pools = supported != 0;
    return result;
  });
}

Result<GpuDevice> describe(const Driver& driver, int index) {
  GpuDevice device;
  device.index = index;
  Questions questions(driver, index);
  questions.ask("handle",
                [&](const DriverApi& api) { return api.cuDeviceGet(&device.handle, index); });
  ask_identity(questions, device);
  ask_abilities(questions, device);
  MYNAH_TRY_STATUS(questions.status());
  return device;
}

Result<std::vector<GpuDevice>> describe_all(const Driver& driver, int count) {
  std::vector<GpuDevice> devices;
  for (int index = 0; index < count; ++index) {
    MYNAH_TRY(GpuDevice device, describe(driver, index));
    devices.push_back(std::move(device));
  }
  return devices;
}

// cuInit, and how many devices it found: 0 where it says that there is none.
std::expected<int, CUresult> start(const Driver& driver) {
  int count = 0;
  CUresult result = driver.api().cuInit(0);
  if (result == CUDA_SUCCESS) {
    result = driver.api().cuDeviceGetCount(&count);
  }
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NO_DEVICE) {
    return std::unexpected(result);
  }
  return count;
}

std::vector<std::string> pci_addresses(const std::vector<GpuDevice>& devices) {
  std::vector<std::string> addresses;
  std::ranges::transform(devices, std::back_inserter(addresses), &GpuDevice::pci_bus_id);
  return addresses;
}

}  // namespace

double GpuDevice::theoretical_bandwidth() const {
  return 2.0 * memory_clock_khz * 1e3 * memory_bus_bits / 8;
}

Result<std::vector<GpuDevice>> list_devices(const Driver& driver) {
  const auto count = start(driver);
  if (!count) {
    return std::unexpected(
        driver_failure(count.error(), "starting NVIDIA's driver", driver.version()));
  }
  return describe_all(driver, *count);
}

std::expected<Gpus, Absence> look_for_gpus(const GpuSearch& search) {
  const auto driver = Driver::open(search.driver);
  if (!driver) {
    return std::unexpected(explain_no_driver(driver.error(), read_machine(search.root)));
  }
  const auto count = start(**driver);
  const Machine machine = read_machine(search.root);
  const VisibleDevices visible = read_visible_devices(search.visible_devices, known_cards(machine));
  if (!count || *count == 0) {
    return std::unexpected(explain_no_device({.result = count ? CUDA_SUCCESS : count.error(),
                                              .driver_version = (*driver)->version(),
                                              .driver_release = (*driver)->release(),
                                              .driver_path = (*driver)->path()},
                                             machine, visible));
  }
  auto devices = describe_all(**driver, *count);
  if (!devices) {
    return std::unexpected(Absence{
        .reason = std::move(devices.error().message), .remedy = {}, .code = devices.error().code});
  }
  std::string hidden =
      visible.all ? explain_left_out(machine, pci_addresses(*devices)) : visible.explanation;
  return Gpus{.driver = *driver, .devices = *std::move(devices), .hidden = std::move(hidden)};
}

Result<Gpus> find_gpus(const GpuSearch& search) {
  auto gpus = look_for_gpus(search);
  if (!gpus) {
    return std::unexpected(gpus.error().error());
  }
  return *std::move(gpus);
}

}  // namespace mynah::gpu
