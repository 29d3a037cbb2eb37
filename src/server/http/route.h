// Route: a row of the table of all that a server answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/http/fields.h"
#include "server/http/front.h"

namespace mynah::server {

// Whether something is told to everybody.
enum class Open : uint8_t { WithKey, ToAll };

// What every request that wants a model may say of it: in its form, its JSON, its query, or as a
// header.
inline constexpr Field kKeepAlive = {
    .name = "keep_alive",
    .type = FieldType::Any,
    .help =
        "How long its model is kept once nobody uses it: 30s, 10m, 0 (let go at once), -1 (for "
        "ever). Does nothing without the right models."};
inline constexpr const char* kKeepAliveHeader = "X-Mynah-Keep-Alive";

// One row of the server's table.
struct Route {
  std::string method;  // "GET"
  // "/v1/models/{name}": what is in braces is one part of the path, or at the end all that is left
  // of it, and the handler finds it in RequestHead::part.
  std::string path;
  std::string help;  // one line
  Handler handler;
  Accepts accepts = Accepts::Nothing;
  Open open = Open::WithKey;
  Rights rights{};                                // that a key must have
  FieldTable fields = {};                         // that the handler reads
  bool in_query = false;                          // they are those of the query, but for files
  FieldTable query = {};                          // that it reads of its query beside those
  std::string_view answers = "application/json";  // types that an answer may have
  std::string_view takes = {};  // the type of a body that is neither JSON nor a form
  SocketPlan socket{};          // in place of a handler: the route is a WebSocket

  // Whether its requests want a model.
  [[nodiscard]] bool wants_model() const {
    return accepts != Accepts::Nothing &&
           (rights.has(Right::Hear) || rights.has(Right::Speak) || rights.has(Right::Think));
  }
};

}  // namespace mynah::server
