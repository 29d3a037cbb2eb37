#include "doctor/binaries/device_code.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "formats/fatbin.h"

namespace mynah::doctor {
namespace {

auto order_of(const DeviceImage& image) {
  return std::tie(image.ptx, image.architecture, image.variant, image.ptx_version, image.zstd);
}

struct InOrder {
  bool operator()(const DeviceImage& a, const DeviceImage& b) const {
    return order_of(a) < order_of(b);
  }

  bool operator()(const std::vector<DeviceImage>& a, const std::vector<DeviceImage>& b) const {
    return std::ranges::lexicographical_compare(a, b, *this);
  }
};

std::vector<DeviceImage> images_of(const Fatbin& fatbin) {
  std::vector<DeviceImage> images;
  for (const FatbinEntry& entry : fatbin.entries) {
    if (entry.kind != FatbinKind::Ptx && entry.kind != FatbinKind::Cubin) {
      continue;
    }
    DeviceImage& image = images.emplace_back();
    image.ptx = entry.kind == FatbinKind::Ptx;
    // A number that no card has, rather than a negative one.
    image.architecture = static_cast<int>(std::min<uint32_t>(entry.architecture, 1U << 20));
    if (entry.variant != ' ') {
      image.variant = entry.variant;
    }
    if (image.ptx) {
      image.ptx_version = fmt::format("{}.{}", entry.ptx_major, entry.ptx_minor);
    }
    image.zstd = entry.compression == FatbinCompression::Zstd;
  }
  std::ranges::sort(images, InOrder());
  const auto repeated = std::ranges::unique(images);
  images.erase(repeated.begin(), repeated.end());
  return images;
}

}  // namespace

Result<DeviceCode> read_device_code(const std::string& path) {
  MYNAH_TRY(const auto file, MappedFile::open(path));
  MYNAH_TRY(const std::vector<Fatbin> fatbins, read_fatbins(file));
  std::map<std::vector<DeviceImage>, uint64_t, InOrder> counts;
  for (const Fatbin& fatbin : fatbins) {
    if (auto images = images_of(fatbin); !images.empty()) {
      ++counts[std::move(images)];
    }
  }
  DeviceCode code;
  code.file = path;
  for (const auto& [images, count] : counts) {
    code.units.push_back({count, images});
  }
  std::ranges::stable_sort(code.units, std::ranges::greater(), &DeviceUnits::count);
  return code;
}

}  // namespace mynah::doctor
