// The language model that a front asks for, with the device it runs on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_model.h"
#include "engine/open_placer.h"
#include "engine/surroundings.h"
#include "place/placer.h"

namespace mynah::engine {

// Which model, where.
struct ChatWish {
  std::string model = "auto";  // a name of the store or a path; auto: the newest that is here
  PlacementWish placement;
  // Positions that a conversation may have; 0: all that the model was trained for; none: the usual
  // ones, or less where memory is short, which is told.
  std::optional<int64_t> context{};
  // Where a model was trained for less than `context` it has less; else that is refused.
  bool lowers_context = false;

  // What most conversations fit in: the memory of a small model's is some hundred megabytes.
  static constexpr int64_t kUsualContext = 8192;
  // With less a conversation is soon over.
  static constexpr int64_t kLeastContext = 2048;
};

// The model and what it stands on, in the order that they must be destroyed from the end.
struct OpenedChat {
  std::shared_ptr<place::Placer> placer;
  place::ModelId id{};  // of the placer's
  std::shared_ptr<ChatModel> chat;
  std::string model_path;
  std::string name;                      // in the store; of a path its file's
  std::vector<std::string> explanation;  // what was chosen and why, a line each

  // Writes a token, as the first request would.
  [[nodiscard]] Status warm_up() const { return chat->warm_up(); }

  // Where it writes now: "cuda:0".
  [[nodiscard]] std::string device() const { return placer->device(id); }
};

// Opens it. Usage for a context that is longer than the model was trained for. Environment, with
// what to pull, where none is here; Usage for a name that nobody knows and for a model that does
// not write texts; a device that is not there is refused with the reason.
Result<OpenedChat> open_chat(const ChatWish& wish, const Surroundings& surroundings);

// The file of the model that open_chat() takes; "": there is none.
[[nodiscard]] std::string writing_model(const ChatWish& wish, const Environment& environment);

// The same, or why there is none, as open_chat() refuses. Nothing is opened.
[[nodiscard]] Result<std::string> check_writing_model(const ChatWish& wish,
                                                      const Environment& environment);

// Refuses, as open_chat(), a context that is longer than the model was trained for. A model that is
// not here or cannot be read is refused elsewhere.
[[nodiscard]] Status check_context(const ChatWish& wish, const Environment& environment);

}  // namespace mynah::engine
