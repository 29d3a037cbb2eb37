#include "place/workers/open_device.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "place/terms/device_name.h"

namespace mynah::place {

namespace {

struct FoundCard {
  std::shared_ptr<const gpu::Driver> driver;
  gpu::GpuDevice card;
};

Result<FoundCard> find_card(int index, const DeviceSettings& settings) {
  auto found = find_cards(settings);
  if (!found) {
    return std::unexpected(
        std::move(found).error().while_doing(fmt::format("--device cuda:{}", index)));
  }
  const auto card = std::ranges::find(found->devices, index, &gpu::GpuDevice::index);
  if (card == found->devices.end()) {
    std::string names;
    for (const gpu::GpuDevice& device : found->devices) {
      names += fmt::format("{}cuda:{} ({})", names.empty() ? "" : ", ", device.index, device.name);
    }
    return fail(ErrorCode::Device,
                fmt::format("--device cuda:{}: there is {} alone{}{}", index, names,
                            found->hidden.empty() ? "" : "; ", found->hidden));
  }
  return FoundCard{.driver = std::move(found->driver), .card = *card};
}

Result<OpenedDevice> open_card(int index, const DeviceSettings& settings) {
  MYNAH_TRY(const FoundCard found, find_card(index, settings));
  MYNAH_TRY(auto backend, make_cuda_backend(found.driver, found.card,
                                            {.image_folder = settings.image_folder,
                                             .level = settings.cuda_level}));
  return OpenedDevice{.pool = nullptr, .backend = std::move(backend)};
}

}  // namespace

Result<gpu::Gpus> find_cards(const DeviceSettings& settings) {
  gpu::GpuSearch search;
  search.driver.file = settings.cuda_driver;
  search.visible_devices = settings.visible_devices;
  return gpu::find_gpus(search);
}

Status check_there(const std::string& name, const DeviceSettings& settings) {
  if (const std::optional<int> card = card_index(name)) {
    MYNAH_TRY(const FoundCard found, find_card(*card, settings));
  }
  return {};
}

std::shared_ptr<ThreadPool> DeviceThreads::get(int threads) {
  const std::lock_guard lock(mutex_);
  if (pool_ == nullptr) {
    pool_ = std::make_shared<ThreadPool>(threads);
  }
  return pool_;
}

Result<OpenedDevice> open_device(const std::string& name, const DeviceSettings& settings) {
  DeviceThreads own;
  return open_device(name, settings, own);
}

Result<OpenedDevice> open_device(const std::string& name, const DeviceSettings& settings,
                                 DeviceThreads& threads) {
  if (const std::optional<int> card = card_index(name)) {
    return open_card(*card, settings);
  }
  OpenedDevice opened;
  if (name == "ref") {
    opened.backend = make_ref_backend();
    return opened;
  }
  opened.pool = threads.get(settings.threads);
  if (name == "simt:0") {
    opened.backend = make_simt_backend(*opened.pool, {.check_shared = false});
    return opened;
  }
  MYNAH_TRY(opened.backend, make_cpu_backend(*opened.pool));
  return opened;
}

}  // namespace mynah::place
