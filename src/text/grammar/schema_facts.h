// What a JSON schema says of one value: internal to json_schema.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "text/grammar/json_rules.h"

namespace mynah::grammar {

using Json = nlohmann::ordered_json;

// A schema within the whole one.
struct SchemaPlace {
  const Json* schema = nullptr;
  std::string path;  // "#/properties/name"

  [[nodiscard]] SchemaPlace at(const std::string& key) const;
  [[nodiscard]] SchemaPlace at(const std::string& key, size_t index) const;
};

// Schemas that a value has to fit, all of them.
struct Conjunction {
  std::vector<SchemaPlace> places;
  // Those of which one of anyOf and oneOf each is already among the places.
  std::set<const Json*> settled = {};
};

// JSON's types, as bits; a whole number is a number too, and has a bit of its own.
enum class JsonType : uint8_t {
  Null = 1,
  Boolean = 2,
  Integer = 4,
  Fraction = 8,  // a number that is not whole
  String = 16,
  Array = 32,
  Object = 64
};

// A set of types.
class JsonTypes {
 public:
  constexpr JsonTypes() = default;

  // NOLINTNEXTLINE(google-explicit-constructor): a type is a set of one
  constexpr JsonTypes(JsonType type) : bits_(static_cast<uint8_t>(type)) {}

  static constexpr JsonTypes all() { return of_bits(127); }

  static constexpr JsonTypes numbers() {
    return JsonTypes(JsonType::Integer) | JsonTypes(JsonType::Fraction);
  }

  // Of a value; nothing of one that JSON does not have.
  static JsonTypes of(const Json& value);

  constexpr JsonTypes operator|(JsonTypes other) const {
    return of_bits(static_cast<uint8_t>(bits_ | other.bits_));
  }

  constexpr JsonTypes operator&(JsonTypes other) const {
    return of_bits(static_cast<uint8_t>(bits_ & other.bits_));
  }

  [[nodiscard]] constexpr bool has(JsonTypes other) const {
    return (bits_ & other.bits_) == other.bits_;
  }

  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

  constexpr bool operator==(const JsonTypes&) const = default;

 private:
  static constexpr JsonTypes of_bits(uint8_t bits) {
    JsonTypes types;
    types.bits_ = bits;
    return types;
  }

  uint8_t bits_ = 0;
};

// How many of something.
struct CountBounds {
  int32_t min = 0;
  int32_t max = kUnbounded;

  void raise(int32_t least) { min = std::max(min, least); }

  void lower(int32_t most) { max = max == kUnbounded ? most : std::min(max, most); }

  [[nodiscard]] bool is_free() const { return min == 0 && max == kUnbounded; }

  [[nodiscard]] bool are_empty() const { return max != kUnbounded && max < min; }
};

// What one schema says of an object's members, and of an array's items.
struct MemberRules {
  std::vector<std::pair<std::string, SchemaPlace>> properties;
  std::optional<SchemaPlace> others;  // additionalProperties

  [[nodiscard]] const SchemaPlace* find(const std::string& name) const;
  // Whether it has no other members than its properties.
  [[nodiscard]] bool is_closed() const;
};

struct ItemRules {
  std::vector<SchemaPlace> first;     // prefixItems
  std::optional<SchemaPlace> others;  // items
};

// anyOf or oneOf: one of these.
struct Alternatives {
  std::string path;
  const Json* owner = nullptr;
  std::vector<SchemaPlace> places;
  bool is_one_of = false;
};

// A conjunction's keywords, put together.
struct SchemaFacts {
  std::string path;  // of the first schema, for messages
  JsonTypes types = JsonTypes::all();
  // What keywords that speak of one type make likely where `type` is not said.
  JsonTypes hinted;
  bool has_type = false;
  std::optional<std::vector<Json>> values;  // enum and const
  NumberBounds numbers;
  CountBounds length;
  std::optional<std::string> pattern;
  std::optional<std::string> format;
  std::vector<ItemRules> items;
  CountBounds item_count;
  std::vector<MemberRules> members;
  std::vector<std::string> required;  // each once
  CountBounds member_count;
  std::vector<Alternatives> alternatives;
  // The schemas that it is made of, each once.
  std::set<const Json*> sources;

  // Types that are written: those that are said, or else hinted, or else all.
  [[nodiscard]] JsonTypes written_types() const {
    return has_type || hinted.empty() ? types : types & hinted;
  }

  [[nodiscard]] bool requires_member(const std::string& name) const;
};

// Reads the schemas of one document.
class SchemaReader {
 public:
  // Requires a document that lives longer.
  SchemaReader(const Json& document, bool strict) : document_(document), strict_(strict) {}

  // Follows $ref and allOf. Errors as grammar_of_json_schema has them.
  [[nodiscard]] Result<SchemaFacts> facts(const Conjunction& schemas) const;

  // What a schema refers to that has nothing but a reference; any other one itself.
  [[nodiscard]] Result<SchemaPlace> resolved(SchemaPlace place) const;

  // Whether it is certain that no value fits both, whatever is hinted; looks into properties
  // `depth` levels deep.
  [[nodiscard]] Result<bool> are_disjoint(const std::vector<SchemaPlace>& first,
                                          const std::vector<SchemaPlace>& second, int depth) const;

 private:
  [[nodiscard]] Status add(const SchemaPlace& place, SchemaFacts& facts,
                           std::vector<SchemaPlace>& more) const;
  [[nodiscard]] Status add_keyword(const SchemaPlace& place, const std::string& key,
                                   SchemaFacts& facts, std::vector<SchemaPlace>& more) const;
  [[nodiscard]] Status add_members(const SchemaPlace& place, SchemaFacts& facts) const;
  [[nodiscard]] Status add_items(const SchemaPlace& place, SchemaFacts& facts) const;
  [[nodiscard]] Result<SchemaPlace> target_of(const SchemaPlace& place) const;

  const Json& document_;
  bool strict_;
};

}  // namespace mynah::grammar
