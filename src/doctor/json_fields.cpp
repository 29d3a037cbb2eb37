#include "doctor/json_fields.h"

#include "base/nearest_name.h"

namespace mynah::doctor {

void FieldReader::read(const nlohmann::json& json, const std::string& path, std::string& value) {
  if (!json.is_string()) {
    return wrong(path, "text", json);
  }
  value = json.get_ref<const std::string&>();
}

void FieldReader::read(const nlohmann::json& json, const std::string& path, bool& value) {
  if (!json.is_boolean()) {
    return wrong(path, "true or false", json);
  }
  value = json.get<bool>();
}

void FieldReader::read(const nlohmann::json& json, const std::string& path, uint64_t& value) {
  if (!json.is_number_unsigned()) {
    return wrong(path, "a whole number, not negative", json);
  }
  value = json.get<uint64_t>();
}

void FieldReader::read(const nlohmann::json& json, const std::string& path, int& value) {
  constexpr uint64_t kMost = 1'000'000;
  uint64_t wide = 0;
  read(json, path, wide);
  if (wide > kMost) {
    return refuse(path, fmt::format("wanted at most {}, found {}", kMost, wide));
  }
  value = static_cast<int>(wide);
}

void FieldReader::read(const nlohmann::json& json, const std::string& path, Version& value) {
  std::string text;
  read(json, path, text);
  if (auto version = Version::parse(text)) {
    value = *std::move(version);
  } else {
    refuse(path, version.error().message);
  }
}

void FieldReader::read(const nlohmann::json& json, const std::string& path, SpecifierSet& value) {
  std::string text;
  read(json, path, text);
  if (auto set = SpecifierSet::parse(text)) {
    value = *std::move(set);
  } else {
    refuse(path, set.error().message);
  }
}

void FieldReader::refuse(const std::string& path, const std::string& why) {
  if (!fault_) {
    fault_ = path.empty() ? fmt::format("{}: {}", file_, why)
                          : fmt::format("{}: {}: {}", file_, path, why);
  }
}

Status FieldReader::status() const {
  return fault_ ? fail(ErrorCode::InvalidInput, *fault_) : Status{};
}

void FieldReader::refuse_field(const std::string& path, const std::string& name,
                               const std::vector<std::string>& fields, const std::string& holder) {
  const std::string meant =
      holder.empty() ? suggestion(name, fields) : fmt::format(" (it is one of {})", holder);
  refuse(path, fmt::format("has no field {}{}; there are {}", in_quotes(name), meant,
                           fmt::join(fields, ", ")));
}

void FieldReader::wrong(const std::string& path, std::string_view wanted,
                        const nlohmann::json& found) {
  refuse(path, fmt::format("wanted {}, found {}", wanted, found.type_name()));
}

}  // namespace mynah::doctor
