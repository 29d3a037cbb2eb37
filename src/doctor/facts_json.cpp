#include "doctor/facts_json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/fact_fields.h"
#include "formats/byte_reader.h"
#include "formats/json.h"

namespace mynah::doctor {

namespace {

using Out = nlohmann::ordered_json;
using In = nlohmann::json;

// Words of an enum, in the order of its values.
constexpr std::string_view kSystems[] = {"linux", "windows"};
constexpr std::string_view kWants[] = {"needed", "opened", "provided"};

template <class T>
concept Struct = requires(T& fact) { fields_of(fact, [](const char*, auto&) {}); };

Out written(const std::string& value) {
  return value;
}

Out written(bool value) {
  return value;
}

template <std::integral T>
Out written(T value) {
  return value;
}

Out written(System value) {
  return kSystems[static_cast<size_t>(value)];
}

Out written(Want value) {
  return kWants[static_cast<size_t>(value)];
}

template <Struct T>
Out written(const T& fact);

template <class T>
Out written(const std::optional<T>& value) {
  return value ? written(*value) : Out();
}

template <class T>
Out written(const std::vector<T>& values) {
  Out list = Out::array();
  for (const T& value : values) {
    list.push_back(written(value));
  }
  return list;
}

template <class T>
Out written(const std::map<std::string, T>& values) {
  Out object = Out::object();
  for (const auto& [name, value] : values) {
    object[name] = written(value);
  }
  return object;
}

template <Struct T>
Out written(const T& fact) {
  Out object = Out::object();
  const T empty{};
  fields_of(fact, [&](const char* name, const auto& member) { object[name] = written(member); });
  // What says nothing is left out, so that a file is read by people, too.
  fields_of(empty, [&](const char* name, const auto& member) {
    if (object[name] == written(member)) {
      object.erase(name);
    }
  });
  return object;
}

// Reads values, and keeps the first thing that was wrong, with its path.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  template <Struct T>
  void read(const In& json, const std::string& path, T& fact) {
    if (!json.is_object()) {
      return wrong(path, "an object", json);
    }
    size_t known = 0;
    fields_of(fact, [&](const char* name, auto& member) {
      if (const auto found = json.find(name); found != json.end()) {
        ++known;
        read(*found, path.empty() ? std::string(name) : path + "." + name, member);
      }
    });
    if (known == json.size()) {
      return;
    }
    for (const auto& [name, value] : json.items()) {
      bool is_field = false;
      fields_of(fact, [&](const char* field, auto& /*member*/) { is_field |= name == field; });
      if (!is_field) {
        refuse(path, fmt::format("has no field {}", in_quotes(name)));
      }
    }
  }

  template <class T>
  void read(const In& json, const std::string& path, std::vector<T>& values) {
    if (!json.is_array()) {
      return wrong(path, "a list", json);
    }
    values.resize(json.size());
    for (size_t i = 0; i < json.size(); ++i) {
      read(json[i], fmt::format("{}[{}]", path, i), values[i]);
    }
  }

  template <class T>
  void read(const In& json, const std::string& path, std::map<std::string, T>& values) {
    if (!json.is_object()) {
      return wrong(path, "an object", json);
    }
    for (const auto& [name, value] : json.items()) {
      read(value, path + "." + name, values[name]);
    }
  }

  template <class T>
  void read(const In& json, const std::string& path, std::optional<T>& value) {
    if (!json.is_null()) {
      read(json, path, value.emplace());
    }
  }

  void read(const In& json, const std::string& path, std::string& value) {
    if (!json.is_string()) {
      return wrong(path, "text", json);
    }
    value = json.get_ref<const std::string&>();
  }

  void read(const In& json, const std::string& path, bool& value) {
    if (!json.is_boolean()) {
      return wrong(path, "true or false", json);
    }
    value = json.get<bool>();
  }

  void read(const In& json, const std::string& path, uint64_t& value) {
    if (!json.is_number_unsigned()) {
      return wrong(path, "a whole number, not negative", json);
    }
    value = json.get<uint64_t>();
  }

  void read(const In& json, const std::string& path, int& value) {
    constexpr uint64_t kMost = 1'000'000;
    uint64_t wide = 0;
    read(json, path, wide);
    if (wide > kMost) {
      return refuse(path, fmt::format("wanted at most {}, found {}", kMost, wide));
    }
    value = static_cast<int>(wide);
  }

  void read(const In& json, const std::string& path, System& value) {
    read_word(json, path, value, kSystems);
  }

  void read(const In& json, const std::string& path, Want& value) {
    read_word(json, path, value, kWants);
  }

  [[nodiscard]] Status status() const {
    return fault_ ? fail(ErrorCode::InvalidInput, *fault_) : Status{};
  }

 private:
  template <class E, size_t N>
  void read_word(const In& json, const std::string& path, E& value,
                 const std::string_view (&words)[N]) {
    std::string word;
    read(json, path, word);
    for (size_t i = 0; i < N; ++i) {
      if (word == words[i]) {
        value = static_cast<E>(i);
        return;
      }
    }
    refuse(path,
           fmt::format("wanted one of {}, found {}", fmt::join(words, ", "), in_quotes(word)));
  }

  void wrong(const std::string& path, std::string_view wanted, const In& found) {
    refuse(path, fmt::format("wanted {}, found {}", wanted, found.type_name()));
  }

  void refuse(const std::string& path, const std::string& why) {
    if (!fault_) {
      fault_ = path.empty() ? fmt::format("{}: {}", file_, why)
                            : fmt::format("{}: {}: {}", file_, path, why);
    }
  }

  std::string file_;
  std::optional<std::string> fault_;
};

}  // namespace

nlohmann::ordered_json to_json(const Facts& facts) {
  return written(facts);
}

Result<Facts> parse_facts(std::string_view text, const std::string& file) {
  MYNAH_TRY(const In json, parse_json(text, file));
  Reader reader(file);
  Facts facts;
  reader.read(json, "", facts);
  MYNAH_TRY_STATUS(reader.status());
  return facts;
}

}  // namespace mynah::doctor
