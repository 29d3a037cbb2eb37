// Machines whose processor is no x86-64 one: the wheels that the knowledge base has are not theirs.
#pragma once

#include <string_view>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// Of /proc/cpuinfo's flags, the one that every processor of Arm has on which CUDA runs.
inline constexpr std::string_view kArmFlag = "asimd";

// Whether the processor beside a card is of Arm (aarch64): as its flags say, or, where they are not
// told, as the card does, which is sold with one (Jetson, GH200, GB200, GB10:
// https://developer.nvidia.com/cuda-gpus).
[[nodiscard]] bool is_beside_arm(const Card& card, const Machine& machine,
                                 const Knowledge& knowledge);

}  // namespace mynah::doctor
