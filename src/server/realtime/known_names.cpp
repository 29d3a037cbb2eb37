#include "server/realtime/known_names.h"

#include <algorithm>

#include "base/ascii.h"

namespace mynah::server {

nlohmann::ordered_json known_part(const nlohmann::ordered_json& object, std::string_view known,
                                  const std::string& within, std::vector<std::string>& unknown) {
  if (!object.is_object()) {
    return object;
  }
  const auto names = split_words(known);
  auto part = nlohmann::ordered_json::object();
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(names, name) != names.end()) {
      part[name] = value;
    } else {
      unknown.push_back(within + name);
    }
  }
  return part;
}

}  // namespace mynah::server
