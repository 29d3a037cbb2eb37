// JSON objects as structs and back, by the fields that fields_of(struct, field) names
// (fact_fields.h, knowledge_fields.h): field(name, member) for what may be missing, and
// field(name, member, Presence::Wanted) for what may not.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "doctor/versions.h"
#include "formats/byte_reader.h"

namespace mynah::doctor {

// Whether an object may lack a field.
enum class Presence : uint8_t { Free, Wanted };

// T or const T: fields_of serves what reads and what writes.
template <class Fact, class T>
concept FactOf = std::same_as<std::remove_const_t<Fact>, T>;

template <class T>
concept Struct =
    requires(T& fact) { fields_of(fact, [](const char*, auto&, Presence = Presence::Free) {}); };

// An enum whose words, in the order of its values, are words_of(E{}).
template <class T>
concept Worded = std::is_enum_v<T> && requires(T value) {
  { words_of(value) } -> std::convertible_to<std::span<const std::string_view>>;
};

// Fills structs from parsed JSON, and keeps the first thing that was wrong, with its path:
// "machine.cards[0].memory_mib: wanted a number, found text".
class FieldReader {
 public:
  // `file` names the JSON in messages.
  explicit FieldReader(std::string file) : file_(std::move(file)) {}

  template <Struct T>
  void read(const nlohmann::json& json, const std::string& path, T& fact) {
    if (!json.is_object()) {
      return wrong(path, "an object", json);
    }
    size_t known = 0;
    fields_of(fact, [&](const char* name, auto& member, Presence presence = Presence::Free) {
      if (const auto found = json.find(name); found != json.end()) {
        ++known;
        read(*found, path.empty() ? std::string(name) : path + "." + name, member);
      } else if (presence == Presence::Wanted) {
        refuse(path, fmt::format("wanted the field \"{}\", found none", name));
      }
    });
    if (known == json.size()) {
      return;
    }
    for (const auto& [name, value] : json.items()) {
      std::vector<std::string> fields;
      std::string holder;  // a field that is an object with this one in it
      fields_of(fact, [&](const char* field, auto& member, Presence = Presence::Free) {
        fields.emplace_back(field);
        if constexpr (Struct<std::remove_cvref_t<decltype(member)>>) {
          fields_of(member, [&](const char* inner, auto& /*member*/, Presence = Presence::Free) {
            holder = name == inner ? field : holder;
          });
        }
      });
      if (std::ranges::find(fields, name) == fields.end()) {
        refuse_field(path, name, fields, holder);
      }
    }
  }

  template <class T>
  void read(const nlohmann::json& json, const std::string& path, std::vector<T>& values) {
    if (!json.is_array()) {
      return wrong(path, "a list", json);
    }
    values.resize(json.size());
    for (size_t i = 0; i < json.size(); ++i) {
      read(json[i], fmt::format("{}[{}]", path, i), values[i]);
    }
  }

  template <class T>
  void read(const nlohmann::json& json, const std::string& path, std::map<std::string, T>& values) {
    if (!json.is_object()) {
      return wrong(path, "an object", json);
    }
    for (const auto& [name, value] : json.items()) {
      read(value, fmt::format("{}.{}", path, name), values[name]);
    }
  }

  template <class T>
  void read(const nlohmann::json& json, const std::string& path, std::optional<T>& value) {
    if (!json.is_null()) {
      read(json, path, value.emplace());
    }
  }

  template <Worded E>
  void read(const nlohmann::json& json, const std::string& path, E& value) {
    std::string word;
    read(json, path, word);
    const std::span<const std::string_view> words = words_of(value);
    for (size_t i = 0; i < words.size(); ++i) {
      if (word == words[i]) {
        value = static_cast<E>(i);
        return;
      }
    }
    refuse(path,
           fmt::format("wanted one of {}, found {}", fmt::join(words, ", "), in_quotes(word)));
  }

  void read(const nlohmann::json& json, const std::string& path, std::string& value);
  void read(const nlohmann::json& json, const std::string& path, bool& value);
  void read(const nlohmann::json& json, const std::string& path, uint64_t& value);
  void read(const nlohmann::json& json, const std::string& path, int& value);
  void read(const nlohmann::json& json, const std::string& path, Version& value);
  void read(const nlohmann::json& json, const std::string& path, SpecifierSet& value);

  // Says that what stands at `path` will not do. Only the first is kept.
  void refuse(const std::string& path, const std::string& why);

  // The first thing that was wrong.
  [[nodiscard]] Status status() const;

 private:
  void wrong(const std::string& path, std::string_view wanted, const nlohmann::json& found);
  void refuse_field(const std::string& path, const std::string& name,
                    const std::vector<std::string>& fields, const std::string& holder);

  std::string file_;
  std::optional<std::string> fault_;
};

}  // namespace mynah::doctor
