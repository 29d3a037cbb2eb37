// The words for one device.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mynah::place {

// The words that are offered behind --device: auto, cpu, cuda, ref, simt:0.
[[nodiscard]] std::vector<std::string> device_names();

// The card that is meant by "cuda" (the first) or "cuda:N"; none: another device.
[[nodiscard]] std::optional<int> card_index(const std::string& device);

// Whether it is the processor, however it computes: mynah trusts it as it trusts itself, and what
// is the device's alone (failures, memory of its own, a ladder to climb down) is not asked of it.
[[nodiscard]] bool is_processor(std::string_view device);

// Whether auto may choose it: ref and simt are there to check others against.
[[nodiscard]] bool is_for_auto(const std::string& device);

// Whether it is none of this machine's: a name that another mynah may have (another_mynah.h).
[[nodiscard]] bool is_mynah(const std::string& device);

// One device by one name: "cuda:0" for "cuda"; any other stays as it is.
[[nodiscard]] std::string full_device_name(const std::string& device);

// One of device_names(), or "cuda:N". Any other word is a slip: Usage, with the name that it most
// likely meant, or what mynah has in place of a device that other engines compute on ("metal").
[[nodiscard]] Status check_device(const std::string& device);

// A failure's message where the device's name stands before it already: "it crashed in stt.decoder"
// of "cuda:0 crashed in stt.decoder".
[[nodiscard]] std::string without_name(std::string_view message, std::string_view device);

}  // namespace mynah::place
