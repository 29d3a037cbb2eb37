#include "cli/device_name.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/nearest_name.h"

namespace mynah::cli {

namespace {

// What other engines compute on, by the names that they have there; a number may follow: "cuda:1".
constexpr auto kElsewhere =
    std::to_array<std::string_view>({"cuda", "gpu", "metal", "mps", "rocm", "vulkan", "xpu"});

bool is_elsewhere(std::string_view device) {
  const size_t colon = std::min(device.find(':'), device.size());
  const std::string_view number = device.substr(std::min(colon + 1, device.size()));
  const bool numbered =
      !number.empty() && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return std::ranges::find(kElsewhere, device.substr(0, colon)) != kElsewhere.end() &&
         (colon == device.size() || numbered);
}

}  // namespace

std::vector<std::string> device_names() {
  return {"auto", "cpu", "ref"};
}

Status check_device(const std::string& device) {
  const std::vector<std::string> here = device_names();
  if (std::ranges::find(here, device) != here.end()) {
    return {};
  }
  if (is_elsewhere(device)) {
    return fail(ErrorCode::Device,
                fmt::format("--device {}: this build computes on cpu and ref alone; leave --device "
                            "out",
                            device));
  }
  return fail(ErrorCode::Usage,
              fmt::format("--device: wanted {}, found '{}'{}", fmt::join(here, ", "), device,
                          suggestion(device, here)));
}

}  // namespace mynah::cli
