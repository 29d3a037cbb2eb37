// What the rules about the machine share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/rules.h"
#include "gpu/visible_devices.h"

namespace mynah::doctor {

// Rules by what they are about; each adds to the report.
void judge_driver(Diagnosis& diagnosis);        // machine_driver_rules.cpp
void judge_nodes(Diagnosis& diagnosis);         // machine_access_rules.cpp
void judge_containers(Diagnosis& diagnosis);    // machine_container_rules.cpp
void judge_variables(Diagnosis& diagnosis);     // machine_variable_rules.cpp
void judge_driver_files(Diagnosis& diagnosis);  // machine_library_rules.cpp
void judge_kernel_log(Diagnosis& diagnosis);    // machine_log_rules.cpp

inline constexpr std::string_view kNvidiaVendor = "10de";

// Cards of NVIDIA; a card of no known maker is one if it has a compute capability.
[[nodiscard]] std::vector<const Card*> nvidia_cards(const Machine& machine);

// A card's name, or where it is: "the card at 0000:01:00.0".
[[nodiscard]] std::string label_of(const Card& card);

// Certain where the source was read, else likely; a null one is likely.
[[nodiscard]] Certainty certainty_of(const Source* source);

// Fail where it is certain, else unknown.
[[nodiscard]] Level fail_level(Certainty certainty);

// The branch of a driver, 580 of "580.95.05"; none where it is no such number.
[[nodiscard]] std::optional<int> branch_of(std::string_view driver);

// The release of a driver's library, "580.95.05" of ".../libcuda.so.580.95.05"; empty where the
// name has none, as WSL2's.
[[nodiscard]] std::string release_in(std::string_view library);

// Whether anything in the facts wants a card: a framework or a recipe made for CUDA.
[[nodiscard]] bool wants_card(const Facts& facts);

// The cards that CUDA_VISIBLE_DEVICES chooses from. Of a divided card its slices count, of which
// the facts need not have all; a container may have fewer than PCI shows.
[[nodiscard]] gpu::KnownCards known_cards(const Machine& machine);

// Whether a value of CUDA_VISIBLE_DEVICES is meant to hide all cards.
[[nodiscard]] bool hides_all(std::string_view value);

// How packages come onto a machine, by its release.
enum class Packages : uint8_t { Debian, Ubuntu, Fedora, Arch, Other };

[[nodiscard]] Packages packages_of(const Machine& machine);

// Installs a driver that runs these cards, for this system.
[[nodiscard]] Remedy install_driver(const Diagnosis& diagnosis,
                                    const std::vector<const Card*>& cards);

// Whether a card needs the open kernel module, and whether it cannot use it.
[[nodiscard]] bool needs_open_module(const Card& card);
[[nodiscard]] bool needs_closed_module(const Card& card);

}  // namespace mynah::doctor
