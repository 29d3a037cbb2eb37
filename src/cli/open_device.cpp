#include "cli/open_device.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/ref/ref_backend.h"
#include "cli/cores.h"
#include "cli/device_name.h"
#include "cli/store_access.h"
#include "gpu/devices.h"

namespace mynah::cli {

namespace {

constexpr std::string_view kAsked = "asked for by name";

Result<gpu::Gpus> find_cards(const Environment& environment) {
  gpu::GpuSearch search;
  search.driver.file = environment.get("MYNAH_CUDA_DRIVER").value_or("");
  // Set and empty hides every card.
  constexpr std::string_view kVisible = "CUDA_VISIBLE_DEVICES";
  if (!environment.names_with(kVisible).empty()) {
    search.visible_devices = environment.get(std::string(kVisible)).value_or("");
  }
  return gpu::find_gpus(search);
}

// 0: none is asked for.
Result<int> card_level(const Environment& environment) {
  const std::string text = environment.get("MYNAH_CUDA_LEVEL").value_or("");
  int level = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size() || level <= 0)) {
    return fail(
        ErrorCode::Usage,
        fmt::format("MYNAH_CUDA_LEVEL is \"{}\": it is a level of programs, such as 80 or 90 "
                    "(docs/cuda.md); unset it for what suits the card",
                    text));
  }
  return level;
}

Result<OpenedDevice> open_card(int index, const Environment& environment) {
  auto found = find_cards(environment);
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
  const auto images = std::filesystem::path(store_folders(environment).cache) / "cuda";
  MYNAH_TRY(const int level, card_level(environment));
  auto backend =
      make_cuda_backend(found->driver, *card, {.image_folder = images.string(), .level = level});
  if (!backend) {
    return std::unexpected(std::move(backend).error());
  }
  OpenedDevice opened{.pool = nullptr, .backend = *std::move(backend), .why = {}};
  opened.why = fmt::format("device cuda:{}: {} ({})", index, opened.backend->description(), kAsked);
  return opened;
}

}  // namespace

Result<OpenedDevice> open_device(const std::string& name, int threads,
                                 const Environment& environment) {
  MYNAH_TRY_STATUS(check_device(name));
  if (const std::optional<int> card = card_index(name)) {
    return open_card(*card, environment);
  }
  OpenedDevice opened;
  if (name == "ref") {
    opened.backend = make_ref_backend();
    opened.why = fmt::format("device ref: {}", kAsked);
    return opened;
  }
  opened.pool = std::make_unique<ThreadPool>(threads > 0 ? threads : physical_cores());
  if (name == "simt:0") {
    opened.backend = make_simt_backend(*opened.pool, {.check_shared = false});
    opened.why = fmt::format("device simt:0: {} ({})", opened.backend->description(), kAsked);
    return opened;
  }
  MYNAH_TRY(opened.backend, make_cpu_backend(*opened.pool));
  opened.why =
      fmt::format("device cpu: {} ({})", opened.backend->description(),
                  name == "cpu" ? kAsked : "a card is used where --device cuda asks for it");
  return opened;
}

}  // namespace mynah::cli
