#include "gpu/visible_devices.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"

namespace mynah::gpu {
namespace {

std::string_view without_leading_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// An entry understood: its name in `shown`, or why it is not valid.
struct Entry {
  std::string name;
  std::string fault;
};

Entry fault(std::string text) {
  return {.name = {}, .fault = std::move(text)};
}

// As strtol reads it: "1gpu" is 1, "+1" is 1, "gpu1" is none.
Entry read_index(std::string_view text, const KnownCards& cards) {
  std::string_view digits = without_leading_blanks(text);
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  long number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::invalid_argument) {
    return fault(fmt::format("'{}' is no number of a card", text));
  }
  if (number < 0) {
    return fault(fmt::format("'{}' is no card and ends the list", text));
  }
  if (error != std::errc() || (cards.count && static_cast<size_t>(number) >= *cards.count)) {
    return fault(cards.count
                     ? fmt::format("there is no card {}: this machine has {}", digits, *cards.count)
                     : fmt::format("there is no card {}", digits));
  }
  return {.name = std::to_string(number), .fault = {}};
}

Entry read_uuid(std::string_view text, const KnownCards& cards) {
  if (!text.starts_with("GPU-")) {
    return fault(fmt::format("'{}' is no UUID, as the entries before it are", text));
  }
  if (cards.uuids.empty()) {
    return {.name = std::string(text), .fault = {}};
  }
  const auto matches = std::ranges::count_if(
      cards.uuids, [&](const std::string& uuid) { return uuid.starts_with(text); });
  if (matches == 0) {
    return fault(fmt::format("no card of this machine has a UUID that begins with {}", text));
  }
  if (matches > 1) {
    return fault(fmt::format("{} cards have a UUID that begins with {}", matches, text));
  }
  return {.name = *std::ranges::find_if(
              cards.uuids, [&](const std::string& uuid) { return uuid.starts_with(text); }),
          .fault = {}};
}

// "MIG-UUID", or "MIG-GPU-UUID/GPU INSTANCE/COMPUTE INSTANCE" of drivers before R470. Which slices
// there are only the driver knows; the card of the second form is known.
Entry read_slice(std::string_view text, const KnownCards& cards) {
  if (!text.starts_with("MIG-")) {
    return fault(fmt::format("'{}' is no MIG slice, as the entries before it are", text));
  }
  const std::string_view card = text.substr(4, text.find('/') - 4);
  if (card.starts_with("GPU-") && !cards.uuids.empty() &&
      std::ranges::find(cards.uuids, card) == cards.uuids.end()) {
    return fault(fmt::format("no card of this machine has the UUID {}", card));
  }
  return {.name = std::string(text), .fault = {}};
}

// What is said behind the entries that count, where that is not all.
std::string explain(std::string_view value, const std::vector<std::string>& shown,
                    const std::string& reason, const KnownCards& cards) {
  if (shown.empty()) {
    return fmt::format("CUDA_VISIBLE_DEVICES='{}' hides every card: {}", value, reason);
  }
  if (!reason.empty()) {
    return fmt::format("CUDA_VISIBLE_DEVICES='{}' shows only {}: {}", value, fmt::join(shown, ", "),
                       reason);
  }
  if (cards.count && shown.size() < *cards.count) {
    return fmt::format("CUDA_VISIBLE_DEVICES='{}' shows {} of {} cards", value, shown.size(),
                       *cards.count);
  }
  return {};
}

}  // namespace

std::string VisibleDevices::remedy() const {
  if (explanation.empty()) {
    return {};
  }
  return none() ? "unset it, or set it to 0" : "unset it, or name in it what is wanted";
}

VisibleDevices read_visible_devices(std::optional<std::string_view> value,
                                    const KnownCards& cards) {
  VisibleDevices result;
  if (!value) {
    return result;
  }
  result.all = false;
  if (without_leading_blanks(*value).empty()) {
    result.explanation = explain(*value, {}, "it is set but names none", cards);
    return result;
  }
  const std::vector<std::string_view> entries = split(*value, ',');
  Entry (*read)(std::string_view, const KnownCards&) =
      entries.front().starts_with("GPU-")   ? read_uuid
      : entries.front().starts_with("MIG-") ? read_slice
                                            : read_index;
  std::string reason;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry entry = read(entries[i], cards);
    if (!entry.fault.empty()) {
      // A comma at the end hides nothing.
      if (!entries[i].empty() || i + 1 < entries.size() || result.shown.empty()) {
        reason = entry.fault;
      }
      break;
    }
    if (std::ranges::find(result.shown, entry.name) != result.shown.end()) {
      result.shown.clear();
      reason = fmt::format("it names {} twice", entry.name);
      break;
    }
    result.shown.push_back(std::move(entry.name));
  }
  if (read == read_slice && result.shown.size() > 1) {
    result.shown.resize(1);
    reason = "a process can use one MIG slice";
  }
  const KnownCards slices;  // how many there are is not known
  result.explanation = explain(*value, result.shown, reason, read == read_slice ? slices : cards);
  return result;
}

}  // namespace mynah::gpu
