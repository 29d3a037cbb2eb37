// What a server is started with of models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/chat.h"
#include "engine/open_placer.h"

namespace mynah::server {

// A name that clients use, and what is meant by it here: OpenAI's names for models, for one, or a
// voice's.
struct Alias {
  std::string name;
  std::string model;
};

struct ServiceOptions {
  engine::PlacementWish placement;
  std::string model = "auto";      // that hears, where a request names none that is here
  std::string vad_model = "auto";  // that it hears with
  std::string voice_model = "auto";
  std::string voice;                     // where a request names none that is here
  std::string chat_model = "auto";       // that writes, where a request names none that is here
  std::string embedding_model = "auto";  // that makes vectors, likewise
  // Positions that a conversation may have, as ChatWish::context.
  std::optional<int64_t> chat_context{};
  std::string lexicon;  // the user's own words, to hear and to say: a file's path; "": none
  bool offline = false;
  bool share_texts = true;     // a recording that is sent again is heard once
  bool strict = false;         // a name that is not known is refused; else the default is taken
  std::vector<Alias> aliases;  // besides those that everybody uses
};

}  // namespace mynah::server
