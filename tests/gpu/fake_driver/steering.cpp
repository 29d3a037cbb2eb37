#include "steering.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "gpu/driver_api.h"

namespace mynah::gpu::fake {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// 16 TiB: more than any card has, and far from what 64 bits hold.
constexpr uint64_t kMostMiB = uint64_t{1} << 24;

#define MYNAH_NAME(name, symbol, since, parameters) #name,
constexpr std::array kFunctions = {MYNAH_DRIVER_FUNCTIONS(MYNAH_NAME)};
#undef MYNAH_NAME

// These ask nothing of the driver: they cannot fail on command.
constexpr std::array<std::string_view, 2> kNeverFail = {"cuGetErrorName", "cuGetErrorString"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) {
      return parts;
    }
    begin = end + 1;
  }
}

// Before and after the first separator; none where there is no separator.
std::optional<std::pair<std::string_view, std::string_view>> cut(std::string_view text,
                                                                 char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

// All of the text as a whole number from `least` to `most`.
std::optional<uint64_t> whole(std::string_view text, uint64_t least, uint64_t most, int base = 10) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const bool good = error == std::errc() && end == text.data() + text.size();
  return good && number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::unexpected<Error> wrong(std::string_view what, std::string_view wanted) {
  return fail(ErrorCode::InvalidInput, fmt::format("\"{}\": wanted {}", what, wanted));
}

Result<uint64_t> mebibytes(std::string_view field, std::string_view text) {
  const auto number = whole(text, 1, kMostMiB);
  if (!number) {
    return wrong(field, fmt::format("MiB, from 1 to {}", kMostMiB));
  }
  return *number * kMiB;
}

Status read_field(std::string_view field, FakeCard& card, std::optional<uint64_t>& free) {
  const auto named = cut(field, '=');
  if (!named) {
    return wrong(field, "NAME=VALUE");
  }
  const auto& [name, value] = *named;
  if (name == "name") {
    card.name = value;
  } else if (name == "cc") {
    const auto numbers = cut(value, '.');
    const auto major = numbers ? whole(numbers->first, 1, 99) : std::nullopt;
    const auto minor = numbers ? whole(numbers->second, 0, 9) : std::nullopt;
    if (!major || !minor) {
      return wrong(field, "a compute capability such as cc=8.9");
    }
    card.compute_major = static_cast<int>(*major);
    card.compute_minor = static_cast<int>(*minor);
  } else if (name == "memory") {
    MYNAH_TRY(card.memory_bytes, mebibytes(field, value));
  } else if (name == "free") {
    MYNAH_TRY(free, mebibytes(field, value));
  } else if (name == "uuid") {
    const bool hexadecimal = value.starts_with("0x");
    const auto byte = whole(value.substr(hexadecimal ? 2 : 0), 0, 255, hexadecimal ? 16 : 10);
    if (!byte) {
      return wrong(field, "a byte, 0 to 255 or 0x00 to 0xff");
    }
    card.uuid = static_cast<uint8_t>(*byte);
  } else if (name == "mode") {
    if (value != "exclusive") {
      return wrong(field, "mode=exclusive");
    }
    card.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_MODE] = CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  } else {
    return wrong(field, "name, cc, memory, free, uuid or mode");
  }
  return {};
}

Result<std::vector<FakeCard>> read_cards(std::string_view text) {
  std::vector<FakeCard> cards;
  if (text == "none") {
    return cards;
  }
  for (const std::string_view part : split(text, ';')) {
    FakeCard card;
    std::optional<uint64_t> free;
    for (const std::string_view field : split(part, ',')) {
      MYNAH_TRY_STATUS(read_field(field, card, free));
    }
    if (free && *free > card.memory_bytes) {
      return wrong(part, fmt::format("no more free than the card's {} MiB of memory",
                                     card.memory_bytes / kMiB));
    }
    card.held_bytes = free ? card.memory_bytes - *free : 0;
    cards.push_back(std::move(card));
  }
  return cards;
}

Status read_what(std::string_view what, FakeFailure& failure) {
  constexpr std::array<std::pair<std::string_view, FakeFault>, 4> kFaults = {{
      {"hang", FakeFault::Hang},
      {"crash", FakeFault::Crash},
      {"nan", FakeFault::NoNumbers},
      {"wrong", FakeFault::Wrong},
  }};
  for (const auto& [name, fault] : kFaults) {
    if (what == name) {
      failure.fault = fault;
    }
  }
  if (failure.fault == FakeFault::Result) {
    const auto number = whole(what, 1, CUDA_ERROR_UNKNOWN);
    if (!number) {
      return wrong(what, "the number of a result, from 1 to 999, or hang, crash, nan or wrong");
    }
    failure.result = static_cast<CUresult>(*number);
  }
  const bool damages = failure.fault == FakeFault::NoNumbers || failure.fault == FakeFault::Wrong;
  if (damages && failure.function != "cuMemcpyDtoHAsync") {
    return wrong(what, "that of cuMemcpyDtoHAsync alone");
  }
  return {};
}

Result<FakeFailure> read_failure(std::string_view text) {
  FakeFailure failure;
  const auto function = cut(text, ':');
  const auto place = function ? cut(function->second, '@') : std::nullopt;
  if (!place) {
    return wrong(text, "FUNCTION:WHAT@N, such as cuLaunchKernel:719@200");
  }
  failure.function = function->first;
  if (std::ranges::find(kFunctions, function->first) == kFunctions.end() ||
      std::ranges::find(kNeverFail, function->first) != kNeverFail.end()) {
    return wrong(function->first, "a function of the driver that can fail, without suffix");
  }
  MYNAH_TRY_STATUS(read_what(place->first, failure));
  std::string_view nth = place->second;
  constexpr std::string_view kKills = ":kills";
  if (failure.fault == FakeFault::Result && nth.ends_with(kKills)) {
    failure.kills_context = true;
    nth.remove_suffix(kKills.size());
  }
  const auto number = whole(nth, 1, INT32_MAX);
  if (!number) {
    return wrong(place->second, "which call it is, from 1 on, and :kills behind a result at most");
  }
  failure.nth = static_cast<int>(*number);
  return failure;
}

Result<std::vector<FakeFailure>> read_failures(std::string_view text) {
  std::vector<FakeFailure> failures;
  for (const std::string_view part : split(text, ',')) {
    MYNAH_TRY(FakeFailure failure, read_failure(part));
    for (const FakeFailure& other : failures) {
      if (other.function == failure.function && other.nth == failure.nth) {
        return wrong(part, "one failure of a call");
      }
    }
    failures.push_back(std::move(failure));
  }
  // FakeCuda does not count a call for the failures behind the one that it meets.
  std::ranges::stable_sort(failures, {}, &FakeFailure::nth);
  std::map<std::string, int> earlier;
  for (FakeFailure& failure : failures) {
    failure.nth -= earlier[failure.function]++;
  }
  return failures;
}

}  // namespace

Result<Steering> read_steering(const std::function<const char*(const char* name)>& value) {
  const auto text_of = [&](const char* name) -> std::string_view {
    const char* const text = value(name);
    return text == nullptr ? std::string_view() : text;
  };
  Steering steering;
  steering.machine.memory_file = text_of("MYNAH_FAKE_MEMORY_FILE");
  if (const std::string_view text = text_of("MYNAH_FAKE_CARDS"); !text.empty()) {
    auto cards = read_cards(text);
    if (!cards) {
      return std::unexpected(std::move(cards).error().while_doing("MYNAH_FAKE_CARDS"));
    }
    steering.machine.cards = *std::move(cards);
  }
  if (const std::string_view text = text_of("MYNAH_FAKE_FAILURES"); !text.empty()) {
    auto failures = read_failures(text);
    if (!failures) {
      return std::unexpected(std::move(failures).error().while_doing("MYNAH_FAKE_FAILURES"));
    }
    steering.failures = *std::move(failures);
  }
  if (const std::string_view text = text_of("MYNAH_FAKE_VERSION"); !text.empty()) {
    const auto version = whole(text, 1000, 99990);
    if (!version) {
      return std::unexpected(
          wrong(text, "a version as cuDriverGetVersion counts, such as 12040 for CUDA 12.4")
              .error()
              .while_doing("MYNAH_FAKE_VERSION"));
    }
    steering.machine.version = static_cast<int>(*version);
  }
  return steering;
}

}  // namespace mynah::gpu::fake
