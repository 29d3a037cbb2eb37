#include "server/http/json_members.h"

#include <fmt/format.h>

namespace mynah::server {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const Json* Members::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::expected<const Json*, FieldError> Members::object(const char* name) const {
  const Json* const found = find(name);
  if (found != nullptr && !found->is_object()) {
    return wrong_field(called(name), fmt::format("{}: wanted an object, found {}", called(name),
                                                 shortened(*found)));
  }
  return found;
}

std::expected<std::string, FieldError> Members::text(const char* name) const {
  const Json* const found = find(name);
  if (found == nullptr) {
    return std::string();
  }
  if (!found->is_string()) {
    return wrong_field(called(name),
                       fmt::format("{}: wanted text, found {}", called(name), shortened(*found)));
  }
  return found->get<std::string>();
}

std::expected<double, FieldError> Members::number(const char* name, double least, double most,
                                                  double initial) const {
  const Json* const found = find(name);
  if (found == nullptr) {
    return initial;
  }
  const double value = found->is_number() ? found->get<double>() : least - 1;
  if (!(value >= least) || !(value <= most)) {
    return wrong_field(called(name), fmt::format("{}: wanted a number from {} to {}, found {}",
                                                 called(name), least, most, shortened(*found)));
  }
  return value;
}

std::expected<bool, FieldError> Members::flag(const char* name, bool initial) const {
  const Json* const found = find(name);
  if (found == nullptr) {
    return initial;
  }
  if (!found->is_boolean()) {
    return wrong_field(called(name), fmt::format("{}: wanted true or false, found {}", called(name),
                                                 shortened(*found)));
  }
  return found->get<bool>();
}

}  // namespace mynah::server
