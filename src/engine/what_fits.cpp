#include "engine/what_fits.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/chat.h"
#include "engine/open_placer.h"
#include "place/terms/device_name.h"
#include "place/terms/growing_memory.h"
#include "store/families.h"
#include "store/files.h"

namespace mynah::engine {

namespace {

// As many tokens as `bytes` hold; told in steps, since what is free changes from one moment to the
// next.
int64_t tokens_in(uint64_t bytes, const place::GrowingMemory& growing) {
  constexpr int64_t kStep = 256;
  const int64_t most = growing.units.front();
  const int64_t tokens = growing.units_in(bytes, most);
  return tokens == most ? tokens : tokens / kStep * kStep;
}

}  // namespace

bool WritingRoom::fits() const {
  return std::ranges::any_of(devices, [](const DeviceRoom& one) { return one.context > 0; });
}

WritingRoom room_for(const WritingNeeds& needs, const std::vector<place::DeviceMemory>& memory) {
  const place::GrowingMemory growing =
      place::memory_of_texts(needs.memory, {needs.trained_context});
  const int64_t usual = std::min(ChatWish::kUsualContext, needs.trained_context);
  const int64_t least = std::min(ChatWish::kLeastContext, needs.trained_context);
  WritingRoom room{.bytes = growing.unmeasured_bytes + growing.grown_bytes(usual),
                   .context = usual,
                   .devices = {}};
  for (const place::DeviceMemory& one : memory) {
    if (!place::is_for_auto(one.device)) {
      continue;
    }
    const uint64_t spare = one.free_bytes - std::min(one.free_bytes, one.headroom_bytes);
    const uint64_t beside = spare - std::min(spare, growing.unmeasured_bytes);
    const int64_t tokens = tokens_in(beside, growing);
    room.devices.push_back({.device = one.device,
                            .spare_bytes = spare,
                            .context = beside > 0 && tokens >= least ? tokens : 0});
  }
  return room;
}

std::optional<WritingRoom> WhatFits::of(const CatalogueEntry& entry) {
  if (!entry.writing) {
    return std::nullopt;
  }
  return room({.memory = {.weight_bytes = entry.download_bytes,
                          .position_bytes = entry.writing->position_bytes,
                          .token_bytes = entry.writing->token_bytes,
                          .state_bytes = 0,
                          .window_bytes = entry.writing->window_bytes,
                          .window_positions = window_positions(entry.writing->window)},
               .trained_context = entry.writing->context});
}

std::optional<WritingRoom> WhatFits::of(const StoredModel& model) {
  if (!is_for(model.family, FamilyKind::Language)) {
    return std::nullopt;
  }
  const auto file = open_writing(model.path());
  if (!file) {
    return std::nullopt;
  }
  return room(
      {.memory = (*file)->memory(Precision::Fast), .trained_context = (*file)->trained_context()});
}

std::optional<WritingRoom> WhatFits::room(const WritingNeeds& needs) {
  if (!memory_) {
    const auto placer = open_placer({}, surroundings_);
    if (!placer) {
      return std::nullopt;
    }
    memory_ = (*placer)->state().planner().memory(true);
  }
  return room_for(needs, *memory_);
}

std::string describe(const WritingRoom& room) {
  std::string text = fmt::format("needs {} with {} tokens", human_bytes(room.bytes), room.context);
  std::vector<std::string> devices;
  for (const DeviceRoom& one : room.devices) {
    if (one.context > 0) {
      devices.push_back(fmt::format("{} ({} tokens)", one.device, one.context));
    } else if (!room.fits()) {
      devices.push_back(
          fmt::format("{} has {} to spare", one.device, human_bytes(one.spare_bytes)));
    }
  }
  return fmt::format("{}; {} {}", text,
                     room.fits() ? "fits" : "does not fit:", fmt::join(devices, ", "));
}

nlohmann::ordered_json to_json(const WritingRoom& room) {
  using Json = nlohmann::ordered_json;
  Json json = {{"bytes", room.bytes}, {"context", room.context}, {"room", Json::array()}};
  for (const DeviceRoom& one : room.devices) {
    json["room"].push_back(
        {{"device", one.device}, {"spare_bytes", one.spare_bytes}, {"context", one.context}});
  }
  return json;
}

}  // namespace mynah::engine
