#include "fake_nvml.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace mynah::gpu::fake {
namespace {

FakeNvml& fake() {
  static FakeNvml one;
  return one;
}

// A handle is a number: of a card, or of a card and a slice of it.
constexpr size_t kSlices = 100;

NvmlHandle* handle_of(size_t card, size_t slice = 0) {
  return reinterpret_cast<NvmlHandle*>((card + 1) * kSlices + slice);
}

FakeNvmlCard& card_of(NvmlHandle* handle) {
  return fake().cards.at(reinterpret_cast<size_t>(handle) / kSlices - 1);
}

// None: the handle is of a whole card.
FakeNvmlSlice* slice_of(NvmlHandle* handle) {
  const size_t place = reinterpret_cast<size_t>(handle) % kSlices;
  return place == 0 ? nullptr : &card_of(handle).slices.at(place - 1);
}

std::string address_of(const FakeNvmlCard& card) {
  return fmt::format("0000:{:02x}:00.0", card.bus);
}

NvmlResult copy_text(std::string_view text, char* out, unsigned room) {
  if (text.size() >= room) {
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return NVML_SUCCESS;
}

// Writes the call down; answers as the test has it.
template <class Answer>
NvmlResult call(const char* name, Answer&& answer) {
  fake().calls.emplace_back(name);
  if (const auto failure = fake().failures.find(name); failure != fake().failures.end()) {
    return failure->second;
  }
  if (fake().initialised <= 0 && std::string_view(name) != "nvmlInit_v2") {
    return NVML_ERROR_UNINITIALIZED;
  }
  return std::forward<Answer>(answer)();
}

// The same about a card, which may be what fails.
template <class Answer>
NvmlResult call(const char* name, NvmlHandle* device, Answer&& answer) {
  return call(name, [&] {
    FakeNvmlCard& card = card_of(device);
    return card.failure != NVML_SUCCESS ? card.failure : std::forward<Answer>(answer)(card);
  });
}

template <class Info>
NvmlResult list_processes(const FakeNvmlCard& card, unsigned* count, Info* infos) {
  const unsigned room = *count;
  *count = static_cast<unsigned>(card.processes.size());
  if (room < *count) {
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  for (unsigned i = 0; i < *count; ++i) {
    infos[i].pid = card.processes[i].pid;
    infos[i].usedGpuMemory = card.processes[i].bytes;
  }
  return NVML_SUCCESS;
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

FakeNvml* mynah_fake_nvml() {
  return &fake();
}

NvmlResult nvmlInit_v2() {
  return call("nvmlInit_v2", [] {
    ++fake().initialised;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlShutdown() {
  return call("nvmlShutdown", [] {
    --fake().initialised;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlSystemGetDriverVersion(char* version, unsigned room) {
  return call("nvmlSystemGetDriverVersion",
              [&] { return copy_text(fake().release, version, room); });
}

NvmlResult nvmlDeviceGetCount_v2(unsigned* count) {
  return call("nvmlDeviceGetCount_v2", [&] {
    *count = static_cast<unsigned>(fake().cards.size());
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlHandle** device) {
  return call("nvmlDeviceGetHandleByIndex_v2", [&] {
    if (index >= fake().cards.size()) {
      return NVML_ERROR_INVALID_ARGUMENT;
    }
    fake().woken.push_back(address_of(fake().cards[index]));
    *device = handle_of(index);
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetPciInfo_v3(NvmlHandle* device, NvmlPciInfo* info) {
  return call("nvmlDeviceGetPciInfo_v3", device, [&](const FakeNvmlCard& card) {
    *info = NvmlPciInfo{};
    info->bus = card.bus;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetName(NvmlHandle* device, char* name, unsigned room) {
  return call("nvmlDeviceGetName", device,
              [&](const FakeNvmlCard& card) { return copy_text(card.name, name, room); });
}

NvmlResult nvmlDeviceGetUUID(NvmlHandle* device, char* uuid, unsigned room) {
  return call("nvmlDeviceGetUUID", device, [&](const FakeNvmlCard& card) {
    const FakeNvmlSlice* const slice = slice_of(device);
    return copy_text(slice == nullptr ? card.uuid : slice->uuid, uuid, room);
  });
}

NvmlResult nvmlDeviceGetMemoryInfo(NvmlHandle* device, NvmlMemoryInfo* memory) {
  return call("nvmlDeviceGetMemoryInfo", device, [&](const FakeNvmlCard& card) {
    const FakeNvmlSlice* const slice = slice_of(device);
    *memory = slice == nullptr ? card.memory : slice->memory;
    return NVML_SUCCESS;
  });
}

#ifdef FAKE_NVML_OLD

NvmlResult nvmlSystemGetCudaDriverVersion(int* version) {
  return call("nvmlSystemGetCudaDriverVersion", [&] {
    *version = fake().cuda_version;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetComputeRunningProcesses(NvmlHandle* device, unsigned* count,
                                                NvmlProcessInfo1* infos) {
  return call("nvmlDeviceGetComputeRunningProcesses", device,
              [&](const FakeNvmlCard& card) { return list_processes(card, count, infos); });
}

#else

NvmlResult nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return call("nvmlSystemGetCudaDriverVersion_v2", [&] {
    *version = fake().cuda_version;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetComputeRunningProcesses_v2(NvmlHandle* device, unsigned* count,
                                                   NvmlProcessInfo2* infos) {
  return call("nvmlDeviceGetComputeRunningProcesses_v2", device,
              [&](const FakeNvmlCard& card) { return list_processes(card, count, infos); });
}

NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char* address, NvmlHandle** device) {
  return call("nvmlDeviceGetHandleByPciBusId_v2", [&] {
    const auto found = std::ranges::find(fake().cards, std::string(address), address_of);
    if (found == fake().cards.end()) {
      return NVML_ERROR_NOT_FOUND;
    }
    fake().woken.emplace_back(address);
    *device = handle_of(static_cast<size_t>(found - fake().cards.begin()));
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetCudaComputeCapability(NvmlHandle* device, int* major, int* minor) {
  return call("nvmlDeviceGetCudaComputeCapability", device, [&](const FakeNvmlCard& /*card*/) {
    *major = 8;
    *minor = 9;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetComputeMode(NvmlHandle* device, CUcomputemode* mode) {
  return call("nvmlDeviceGetComputeMode", device, [&](const FakeNvmlCard& card) {
    *mode = card.compute_mode;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetMigMode(NvmlHandle* device, unsigned* current, unsigned* pending) {
  return call("nvmlDeviceGetMigMode", device, [&](const FakeNvmlCard& card) {
    if (!card.divided) {
      return NVML_ERROR_NOT_SUPPORTED;
    }
    *current = *pending = *card.divided ? 1 : 0;
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetMaxMigDeviceCount(NvmlHandle* device, unsigned* count) {
  return call("nvmlDeviceGetMaxMigDeviceCount", device, [&](const FakeNvmlCard& /*card*/) {
    *count = 7;  // of an A100 or H100
    return NVML_SUCCESS;
  });
}

NvmlResult nvmlDeviceGetMigDeviceHandleByIndex(NvmlHandle* device, unsigned index,
                                               NvmlHandle** slice) {
  return call("nvmlDeviceGetMigDeviceHandleByIndex", device, [&](const FakeNvmlCard& card) {
    if (index >= card.slices.size()) {
      return NVML_ERROR_NOT_FOUND;
    }
    *slice = handle_of(static_cast<size_t>(&card - fake().cards.data()), index + 1);
    return NVML_SUCCESS;
  });
}

#endif

#pragma GCC visibility pop

}  // extern "C"

}  // namespace mynah::gpu::fake
