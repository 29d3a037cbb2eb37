#include "text/grammar/schema_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "text/grammar/schema_values.h"

namespace mynah::grammar {
namespace {

// Keywords that say nothing of which values fit (JSON Schema 2020-12: Core, section 8; Validation,
// sections 8 and 9; OpenAPI's discriminator), and those that only hold other schemas.
constexpr std::array<std::string_view, 20> kSilent = {
    "$schema",         "$id",           "id",
    "$comment",        "$anchor",       "$defs",
    "definitions",     "title",         "description",
    "default",         "example",       "examples",
    "deprecated",      "readOnly",      "writeOnly",
    "$vocabulary",     "discriminator", "contentMediaType",
    "contentEncoding", "contentSchema"};

// Read with another keyword of theirs.
constexpr std::array<std::string_view, 6> kReadWithOthers = {
    "properties", "additionalProperties", "items", "prefixItems", "additionalItems", "required"};

// Schemas in one conjunction, or references behind each other, at most.
constexpr size_t kMostConjuncts = 1000;

bool is_silent(std::string_view key) {
  return std::ranges::find(kSilent, key) != kSilent.end() || key.starts_with("x-");
}

}  // namespace

SchemaPlace SchemaPlace::at(const std::string& key) const {
  return {.schema = &schema->at(key), .path = path + "/" + key};
}

SchemaPlace SchemaPlace::at(const std::string& key, size_t index) const {
  return {.schema = &schema->at(key).at(index), .path = fmt::format("{}/{}/{}", path, key, index)};
}

const SchemaPlace* MemberRules::find(const std::string& name) const {
  const auto found =
      std::ranges::find(properties, name, [](const auto& property) { return property.first; });
  return found == properties.end() ? nullptr : &found->second;
}

bool MemberRules::is_closed() const {
  return others && *others->schema == Json(false);
}

bool SchemaFacts::requires_member(const std::string& name) const {
  return std::ranges::find(required, name) != required.end();
}

JsonTypes JsonTypes::of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return JsonType::Null;
    case Json::value_t::boolean:
      return JsonType::Boolean;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return JsonType::Integer;
    case Json::value_t::number_float:
      return std::trunc(value.get<double>()) == value.get<double>() ? JsonType::Integer
                                                                    : JsonType::Fraction;
    case Json::value_t::string:
      return JsonType::String;
    case Json::value_t::array:
      return JsonType::Array;
    case Json::value_t::object:
      return JsonType::Object;
    default:
      return {};
  }
}

// Goes into depth, and knows by an empty path where it comes back out of a schema.
Result<SchemaFacts> SchemaReader::facts(const Conjunction& schemas) const {
  SchemaFacts facts;
  facts.path = schemas.places.front().path;
  std::vector<SchemaPlace> more(schemas.places.rbegin(), schemas.places.rend());
  std::set<const Json*> open;
  while (!more.empty()) {
    const SchemaPlace place = std::move(more.back());
    more.pop_back();
    if (place.path.empty()) {
      open.erase(place.schema);
    } else if (open.contains(place.schema)) {
      return wrong_schema(place.path, "it refers to itself and to nothing else");
    } else if (facts.sources.insert(place.schema).second) {
      if (facts.sources.size() > kMostConjuncts) {
        return refuse_schema(place.path, "more schemas at once than are followed");
      }
      open.insert(place.schema);
      more.push_back({.schema = place.schema, .path = ""});
      MYNAH_TRY_STATUS(add(place, facts, more));
    }
  }
  std::erase_if(facts.alternatives,
                [&](const Alternatives& one) { return schemas.settled.contains(one.owner); });
  return facts;
}

Result<SchemaPlace> SchemaReader::resolved(SchemaPlace place) const {
  for (size_t steps = 0; steps < kMostConjuncts; ++steps) {
    if (!place.schema->is_object() || !place.schema->contains("$ref") ||
        !std::ranges::all_of(place.schema->items(), [](const auto& item) {
          return item.key() == "$ref" || is_silent(item.key());
        })) {
      return place;
    }
    MYNAH_TRY(place, target_of(place));
  }
  return wrong_schema(place.path, "it refers to itself and to nothing else");
}

Status SchemaReader::add(const SchemaPlace& place, SchemaFacts& facts,
                         std::vector<SchemaPlace>& more) const {
  if (place.schema->is_boolean()) {
    if (!place.schema->get<bool>()) {
      facts.types = {};
      facts.has_type = true;
    }
    return {};
  }
  if (!place.schema->is_object()) {
    return wrong_schema(place.path, "wanted a schema: an object, true or false");
  }
  for (const auto& [key, value] : place.schema->items()) {
    if (!is_silent(key) && std::ranges::find(kReadWithOthers, key) == kReadWithOthers.end()) {
      MYNAH_TRY_STATUS(add_keyword(place, key, facts, more));
    }
  }
  MYNAH_TRY_STATUS(add_members(place, facts));
  return add_items(place, facts);
}

Status SchemaReader::add_keyword(const SchemaPlace& place, const std::string& key,
                                 SchemaFacts& facts, std::vector<SchemaPlace>& more) const {
  const SchemaPlace at = place.at(key);
  const Json& value = *at.schema;
  const auto count = [&](CountBounds& bounds, bool is_least, JsonTypes hint) -> Status {
    MYNAH_TRY(const int32_t number, schema_count(at));
    is_least ? bounds.raise(number) : bounds.lower(number);
    facts.hinted = facts.hinted | hint;
    return {};
  };
  if (key == "type") {
    MYNAH_TRY(const JsonTypes types, schema_types(at));
    facts.types = facts.types & types;
    facts.has_type = true;
    return {};
  }
  if (key == "enum" || key == "const") {
    if (key == "enum" && !value.is_array()) {
      return wrong_schema(at.path, "wanted a list");
    }
    const std::vector<Json> values =
        key == "const" ? std::vector<Json>{value} : std::vector<Json>(value.begin(), value.end());
    if (facts.values) {
      std::erase_if(*facts.values, [&](const Json& known) {
        return std::ranges::find(values, known) == values.end();
      });
    } else {
      facts.values = values;
    }
    return {};
  }
  if (key == "$ref") {
    MYNAH_TRY(SchemaPlace target, target_of(place));
    more.push_back(std::move(target));
    return {};
  }
  if (key == "allOf" || key == "anyOf" || key == "oneOf") {
    if (!value.is_array() || value.empty()) {
      return wrong_schema(at.path, "wanted a list of schemas");
    }
    std::vector<SchemaPlace> places;
    places.reserve(value.size());
    for (size_t i = 0; i < value.size(); ++i) {
      places.push_back(place.at(key, i));
    }
    if (key == "allOf") {
      more.insert(more.end(), places.rbegin(), places.rend());
    } else {
      facts.alternatives.push_back({.path = at.path,
                                    .owner = place.schema,
                                    .places = std::move(places),
                                    .is_one_of = key == "oneOf"});
    }
    return {};
  }
  if (key == "minLength" || key == "maxLength") {
    return count(facts.length, key == "minLength", JsonType::String);
  }
  if (key == "minItems" || key == "maxItems") {
    return count(facts.item_count, key == "minItems", JsonType::Array);
  }
  if (key == "minProperties" || key == "maxProperties") {
    return count(facts.member_count, key == "minProperties", JsonType::Object);
  }
  if (key == "pattern" || key == "format") {
    std::optional<std::string>& text = key == "pattern" ? facts.pattern : facts.format;
    if (!value.is_string()) {
      return wrong_schema(at.path, "wanted a text");
    }
    if (text && *text != value.get<std::string>()) {
      return refuse_schema(at.path, fmt::format("a second {} for one value", key));
    }
    text = value.get<std::string>();
    facts.hinted = facts.hinted | JsonType::String;
    return {};
  }
  if (key == "minimum" || key == "maximum" || key == "exclusiveMinimum" ||
      key == "exclusiveMaximum") {
    facts.hinted = facts.hinted | JsonTypes::numbers();
    return add_number_bound(place, key, facts.numbers);
  }
  if (key == "uniqueItems" && value == Json(false)) {
    return {};
  }
  if (key == "multipleOf" && value == Json(1)) {
    facts.types = facts.types & without_fractions();
    return {};
  }
  return refuse_schema(at.path, is_known_keyword(key) ? "this keyword is not supported"
                                                      : "this keyword is not known");
}

Status SchemaReader::add_members(const SchemaPlace& place, SchemaFacts& facts) const {
  const Json& schema = *place.schema;
  MemberRules rules;
  if (schema.contains("properties")) {
    const SchemaPlace properties = place.at("properties");
    if (!properties.schema->is_object()) {
      return wrong_schema(properties.path, "wanted an object of schemas");
    }
    for (const auto& [name, inner] : properties.schema->items()) {
      rules.properties.emplace_back(name, properties.at(name));
    }
  }
  if (schema.contains("required")) {
    const SchemaPlace required = place.at("required");
    if (!required.schema->is_array()) {
      return wrong_schema(required.path, "wanted a list of names");
    }
    for (const Json& name : *required.schema) {
      if (!name.is_string()) {
        return wrong_schema(required.path, "wanted a list of names");
      }
      if (!facts.requires_member(name.get<std::string>())) {
        facts.required.push_back(name.get<std::string>());
      }
    }
  }
  if (schema.contains("additionalProperties")) {
    rules.others = place.at("additionalProperties");
  }
  if (strict_ &&
      (schema.contains("properties") || JsonTypes(JsonType::Object) == stated_types(place))) {
    if (!rules.is_closed()) {
      return wrong_schema(place.path, "strict wants \"additionalProperties\": false");
    }
    for (const auto& [name, inner] : rules.properties) {
      if (!facts.requires_member(name)) {
        return wrong_schema(place.path,
                            fmt::format("strict wants \"{}\" among the required ones: make what "
                                        "may be missing null instead",
                                        name));
      }
    }
  }
  if (schema.contains("properties") || schema.contains("required") || rules.others) {
    facts.hinted = facts.hinted | JsonType::Object;
    facts.members.push_back(std::move(rules));
  }
  return {};
}

// A list as `items`, with `additionalItems` behind it, is what drafts before 2020-12 call
// prefixItems and items.
Status SchemaReader::add_items(const SchemaPlace& place, SchemaFacts& facts) const {
  const Json& schema = *place.schema;
  ItemRules rules;
  const bool is_old = schema.contains("items") && schema.at("items").is_array();
  const std::string first = is_old ? "items" : "prefixItems";
  const std::string others = is_old ? "additionalItems" : "items";
  if (schema.contains("additionalItems") && !is_old) {
    return refuse_schema(place.path + "/additionalItems", "it stands without a list of items");
  }
  if (schema.contains("prefixItems") && is_old) {
    return refuse_schema(place.path + "/prefixItems", "it stands beside a list of items");
  }
  if (schema.contains(first)) {
    if (!schema.at(first).is_array()) {
      return wrong_schema(place.path + "/" + first, "wanted a list of schemas");
    }
    for (size_t i = 0; i < schema.at(first).size(); ++i) {
      rules.first.push_back(place.at(first, i));
    }
  }
  if (schema.contains(others)) {
    rules.others = place.at(others);
  }
  if (!rules.first.empty() || rules.others) {
    facts.hinted = facts.hinted | JsonType::Array;
    facts.items.push_back(std::move(rules));
  }
  return {};
}

// RFC 6901 in a fragment: ~1 is "/", ~0 is "~", and %XX a byte.
Result<SchemaPlace> SchemaReader::target_of(const SchemaPlace& place) const {
  const SchemaPlace at = place.at("$ref");
  if (!at.schema->is_string()) {
    return wrong_schema(at.path, "wanted a text");
  }
  const auto pointer = at.schema->get<std::string>();
  if (pointer != "#" && !pointer.starts_with("#/")) {
    return refuse_schema(
        at.path, fmt::format("\"{}\": wanted a place in this schema (\"#/$defs/NAME\")", pointer));
  }
  SchemaPlace target = {.schema = &document_, .path = pointer};
  for (size_t first = 2; pointer.size() > 1 && first <= pointer.size();) {
    const size_t end = std::min(pointer.find('/', first), pointer.size());
    const std::string key = unescaped_key(std::string_view(pointer).substr(first, end - first));
    const Json* next = nullptr;
    if (target.schema->is_object() && target.schema->contains(key)) {
      next = &target.schema->at(key);
    } else if (const auto index = list_index(key);
               index && target.schema->is_array() && *index < target.schema->size()) {
      next = &target.schema->at(*index);
    }
    if (next == nullptr) {
      return wrong_schema(at.path, fmt::format("\"{}\" is not in this schema", pointer));
    }
    target.schema = next;
    first = end + 1;
  }
  return target;
}

Result<bool> SchemaReader::are_disjoint(const std::vector<SchemaPlace>& first,
                                        const std::vector<SchemaPlace>& second, int depth) const {
  MYNAH_TRY(const SchemaFacts one, facts({.places = first}));
  MYNAH_TRY(const SchemaFacts other, facts({.places = second}));
  const auto allows = [](const SchemaFacts& facts, const Json& value) {
    return !(facts.types & JsonTypes::of(value)).empty() &&
           (!facts.values || std::ranges::find(*facts.values, value) != facts.values->end());
  };
  const auto rules_out = [&](const SchemaFacts& valued, const SchemaFacts& rest) {
    return valued.values && std::ranges::none_of(*valued.values, [&](const Json& value) {
             return allows(valued, value) && allows(rest, value);
           });
  };
  const JsonTypes common = one.types & other.types;
  if (common.empty() || rules_out(one, other) || rules_out(other, one)) {
    return true;
  }
  if (common != JsonTypes(JsonType::Object) || depth == 0) {
    return false;
  }
  // A member that both must have and that tells them apart, or that one must have and the other
  // may not.
  const auto place_of = [](const SchemaFacts& facts, const std::string& name) {
    std::vector<SchemaPlace> places;
    for (const MemberRules& rules : facts.members) {
      if (const SchemaPlace* place = rules.find(name); place != nullptr) {
        places.push_back(*place);
      }
    }
    return places;
  };
  for (const auto* pair : {&one, &other}) {
    const SchemaFacts& rest = pair == &one ? other : one;
    for (const std::string& name : pair->required) {
      const auto mine = place_of(*pair, name);
      const auto theirs = place_of(rest, name);
      if (theirs.empty() && std::ranges::any_of(rest.members, &MemberRules::is_closed)) {
        return true;
      }
      if (mine.empty() || theirs.empty() || !rest.requires_member(name)) {
        continue;
      }
      MYNAH_TRY(const bool tells_apart, are_disjoint(mine, theirs, depth - 1));
      if (tells_apart) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace mynah::grammar
