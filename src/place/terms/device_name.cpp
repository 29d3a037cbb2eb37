#include "place/terms/device_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/nearest_name.h"

namespace mynah::place {

namespace {

// What other engines compute on, by the names that they have there; a number may follow: "cuda:1".
constexpr auto kElsewhere =
    std::to_array<std::string_view>({"gpu", "metal", "mps", "nvidia", "rocm", "vulkan", "xpu"});

// "KIND" or "KIND:NUMBER", taken apart; the number is 0 where there is none. None: neither.
struct NumberedName {
  std::string_view kind;
  int number = 0;
};

std::optional<NumberedName> parse_numbered(std::string_view device) {
  const size_t colon = std::min(device.find(':'), device.size());
  NumberedName name{.kind = device.substr(0, colon)};
  if (colon == device.size()) {
    return name;
  }
  const std::string_view number = device.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), name.number);
  if (number.empty() || error != std::errc() || end != number.data() + number.size() ||
      name.number < 0) {
    return std::nullopt;
  }
  return name;
}

bool is_elsewhere(std::string_view device) {
  const auto name = parse_numbered(device);
  return name && std::ranges::find(kElsewhere, name->kind) != kElsewhere.end();
}

}  // namespace

std::vector<std::string> device_names() {
  return {"auto", "cpu", "cuda", "ref", "simt:0"};
}

std::optional<int> card_index(const std::string& device) {
  const auto name = parse_numbered(device);
  return name && name->kind == "cuda" ? std::optional(name->number) : std::nullopt;
}

bool is_processor(std::string_view device) {
  return device == "cpu" || device == "ref";
}

bool is_for_auto(const std::string& device) {
  return device == "cpu" || card_index(device);
}

bool is_mynah(const std::string& device) {
  const std::vector<std::string> here = device_names();
  return !device.empty() && std::ranges::find(here, device) == here.end() && !card_index(device) &&
         !is_elsewhere(device);
}

std::string full_device_name(const std::string& device) {
  const std::optional<int> card = card_index(device);
  return card ? fmt::format("cuda:{}", *card) : device;
}

Status check_device(const std::string& device) {
  const std::vector<std::string> here = device_names();
  if (std::ranges::find(here, device) != here.end() || card_index(device)) {
    return {};
  }
  if (is_elsewhere(device)) {
    return fail(ErrorCode::Usage,
                fmt::format("--device {}: mynah knows NVIDIA's cards, as --device cuda (the first) "
                            "or cuda:N, and the processor, as --device cpu; wanted {} or cuda:N",
                            device, fmt::join(here, ", ")));
  }
  // Names are written small: "CUDA" is a slip.
  return fail(ErrorCode::Usage,
              fmt::format("--device: wanted {} or cuda:N, found '{}'{}", fmt::join(here, ", "),
                          device, suggestion(ascii_lower(device), here)));
}

std::string without_name(std::string_view message, std::string_view device) {
  const std::string asked = fmt::format("--device {}: ", device);
  if (message.starts_with(asked)) {
    return std::string(message.substr(asked.size()));
  }
  const std::string failed = fmt::format("{} failed: ", device);
  if (message.starts_with(failed)) {
    return std::string(message.substr(failed.size()));
  }
  const std::string name = fmt::format("{} ", device);
  return message.starts_with(name) ? fmt::format("it {}", message.substr(name.size()))
                                   : std::string(message);
}

}  // namespace mynah::place
