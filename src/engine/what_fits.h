// What fits here: where a language model has room, by what is free now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "chat/language_model.h"
#include "engine/surroundings.h"
#include "place/plans/budget.h"
#include "store/store.h"

namespace mynah::engine {

// What a language model needs, and the longest context that it was trained for.
struct WritingNeeds {
  LanguageMemory memory;
  int64_t trained_context = 0;
};

// A device that `auto` may take.
struct DeviceRoom {
  std::string device;        // "cuda:0"
  uint64_t spare_bytes = 0;  // free, but for what is to stay free
  int64_t context = 0;       // tokens of texts that there is room for; 0: of none that is worth it
};

struct WritingRoom {
  uint64_t bytes = 0;   // that it needs with the usual context
  int64_t context = 0;  // the usual one: ChatWish::kUsualContext, or what it was trained for
  std::vector<DeviceRoom> devices;

  [[nodiscard]] bool fits() const;
};

// `memory`: of each device, as it is now.
[[nodiscard]] WritingRoom room_for(const WritingNeeds& needs,
                                   const std::vector<place::DeviceMemory>& memory);

// What is free is asked for the first model that writes: looking for cards takes a while.
class WhatFits {
 public:
  explicit WhatFits(Surroundings surroundings) : surroundings_(std::move(surroundings)) {}

  // By what the catalogue says. None: it writes no texts.
  [[nodiscard]] std::optional<WritingRoom> of(const CatalogueEntry& entry);

  // By what its file says. None, too, where that cannot be read.
  [[nodiscard]] std::optional<WritingRoom> of(const StoredModel& model);

 private:
  [[nodiscard]] std::optional<WritingRoom> room(const WritingNeeds& needs);

  Surroundings surroundings_;
  std::optional<std::vector<place::DeviceMemory>> memory_;
};

// "needs 1.3 GB with 8192 tokens; fits cuda:0 (40960 tokens), cpu (40960 tokens)".
[[nodiscard]] std::string describe(const WritingRoom& room);

// {"bytes", "context", "room": [{"device", "spare_bytes", "context"}]}.
[[nodiscard]] nlohmann::ordered_json to_json(const WritingRoom& room);

}  // namespace mynah::engine
