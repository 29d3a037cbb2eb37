#include "engine/store_folders.h"

#include <string>
#include <utility>

#include "base/ascii.h"

namespace mynah::engine {

namespace {

std::string from_either_case(const Environment& environment, const std::string& name) {
  if (const auto value = environment.get(name)) {
    return *value;
  }
  return environment.get(ascii_upper(name)).value_or("");
}

}  // namespace

StoreFolders store_folders(const Environment& environment) {
  return {.home = environment.get("MYNAH_HOME").value_or(environment.data_folder()),
          .cache = environment.cache_folder()};
}

Proxies proxies(const Environment& environment) {
  // HTTP_PROXY in upper case is left alone: in a CGI program it is a header of the request's.
  return {.http = environment.get("http_proxy").value_or(""),
          .https = from_either_case(environment, "https_proxy"),
          .all = from_either_case(environment, "all_proxy"),
          .no_proxy = from_either_case(environment, "no_proxy")};
}

}  // namespace mynah::engine
