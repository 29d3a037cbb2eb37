#include "doctor/facts_json.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doctor/characters.h"
#include "doctor/fact_fields.h"
#include "doctor/json_fields.h"
#include "formats/byte_reader.h"
#include "formats/json.h"

namespace mynah::doctor {

namespace {

using Out = nlohmann::ordered_json;
using In = nlohmann::json;

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

template <Worded T>
Out written(T value) {
  return words_of(value)[static_cast<size_t>(value)];
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

// "12.0".
bool is_capability(std::string_view text) {
  const size_t dot = text.find('.');
  const auto is_number = [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, is_digit);
  };
  return dot != std::string_view::npos && is_number(text.substr(0, dot)) &&
         is_number(text.substr(dot + 1));
}

}  // namespace

nlohmann::ordered_json to_json(const Facts& facts) {
  return written(facts);
}

Result<Facts> parse_facts(std::string_view text, const std::string& file) {
  MYNAH_TRY(const In json, parse_json(text, file));
  FieldReader reader(file);
  Facts facts;
  reader.read(json, "", facts);
  for (size_t i = 0; i < facts.machine.cards.size(); ++i) {
    const std::string& capability = facts.machine.cards[i].compute_capability;
    if (!capability.empty() && !is_capability(capability)) {
      reader.refuse(
          fmt::format("machine.cards[{}].compute_capability", i),
          fmt::format("wanted two numbers such as 12.0, found {}", in_quotes(capability)));
    }
  }
  MYNAH_TRY_STATUS(reader.status());
  return facts;
}

}  // namespace mynah::doctor
