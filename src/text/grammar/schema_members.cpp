// Objects and arrays of a JSON schema.
#include <algorithm>

#include <fmt/format.h>

#include "text/grammar/schema_grammar.h"
#include "text/grammar/schema_values.h"

namespace mynah::grammar {
namespace {

// The schema that everything fits.
SchemaPlace anything(const std::string& path) {
  static const Json kTrue = true;
  return {.schema = &kTrue, .path = path};
}

// Each schema's word on members that it does not list.
std::vector<SchemaPlace> others_of(const SchemaFacts& facts) {
  std::vector<SchemaPlace> places;
  for (const MemberRules& rules : facts.members) {
    if (rules.others) {
      places.push_back(*rules.others);
    }
  }
  return places;
}

bool has_properties(const SchemaFacts& facts) {
  return std::ranges::any_of(facts.members,
                             [](const MemberRules& rules) { return !rules.properties.empty(); });
}

// What an item has to fit; nothing where there may be none at this place.
std::vector<SchemaPlace> item_places(const SchemaFacts& facts, size_t index) {
  std::vector<SchemaPlace> places;
  for (const ItemRules& rules : facts.items) {
    if (index < rules.first.size()) {
      places.push_back(rules.first[index]);
    } else if (rules.others) {
      places.push_back(*rules.others);
    }
  }
  if (places.empty()) {
    places.push_back(anything(facts.path));
  }
  return places;
}

size_t listed_items(const SchemaFacts& facts) {
  size_t count = 0;
  for (const ItemRules& rules : facts.items) {
    count = std::max(count, rules.first.size());
  }
  return count;
}

}  // namespace

Result<ExprId> SchemaGrammar::array(const SchemaFacts& facts) {
  if (facts.item_count.are_empty()) {
    return grammar_.choice({});
  }
  if (facts.items.empty() && facts.item_count.is_free()) {
    return rules_.array();
  }
  if (listed_items(facts) == 0) {
    MYNAH_TRY(const ExprId one, value({.places = item_places(facts, 0)}));
    return rules_.list("[", one, "]", facts.item_count.min, facts.item_count.max);
  }
  std::vector<ExprId> ways;
  if (facts.item_count.min == 0) {
    ways.push_back(grammar_.literal("]"));
  }
  if (facts.item_count.max != 0) {
    MYNAH_TRY(const ExprId first, value({.places = item_places(facts, 0)}));
    MYNAH_TRY(const ExprId rest, item(facts, 1));
    ways.push_back(rules_.sequence({first, rest}));
  }
  return rules_.sequence({grammar_.literal("["), rules_.space(), grammar_.choice(ways)});
}

// From the last listed item back to `index`, each a rule that the one before ends with.
Result<ExprId> SchemaGrammar::item(const SchemaFacts& facts, size_t index) {
  const size_t listed = listed_items(facts);
  const CountBounds& count = facts.item_count;
  const ExprId end = rules_.sequence({rules_.space(), grammar_.literal("]")});
  const auto past = [&](int32_t bound) {
    return std::max(bound - static_cast<int32_t>(listed), 0);
  };
  MYNAH_TRY(const ExprId other, value({.places = item_places(facts, listed)}));
  ExprId rest =
      rules_.sequence({grammar_.repeat(rules_.comma_then(other), past(count.min),
                                       count.max == kUnbounded ? kUnbounded : past(count.max)),
                       end});
  for (size_t place = listed; place-- > index;) {
    std::vector<ExprId> ways;
    if (static_cast<size_t>(count.min) <= place) {
      ways.push_back(end);
    }
    if (count.max == kUnbounded || static_cast<size_t>(count.max) > place) {
      MYNAH_TRY(const ExprId one, value({.places = item_places(facts, place)}));
      ways.push_back(rules_.sequence({rules_.comma_then(one), rest}));
    }
    rest = rule_of(grammar_.choice(ways));
  }
  return rest;
}

Result<ExprId> SchemaGrammar::object(const SchemaFacts& facts) {
  if (facts.members.empty() && facts.member_count.is_free()) {
    return rules_.object();
  }
  std::vector<std::string> names;
  MYNAH_TRY(const std::vector<Property> listed, properties(facts, names));
  MYNAH_TRY(const std::optional<ExprId> other, other_member(facts, names));
  const CountBounds& count = facts.member_count;
  if (listed.empty() && other) {
    return count.are_empty() ? grammar_.choice({})
                             : rules_.list("{", *other, "}", count.min, count.max);
  }
  const auto required = static_cast<int32_t>(std::ranges::count_if(listed, &Property::is_required));
  const bool is_sure_to_fit =
      count.min <= required &&
      (count.max == kUnbounded || (!other && static_cast<size_t>(count.max) >= listed.size()));
  if (!is_sure_to_fit) {
    return refuse_schema(facts.path,
                         "minProperties or maxProperties beside properties is not supported");
  }
  return rules_.sequence({grammar_.literal("{"), rules_.space(), members(listed, other)});
}

// In the order in which they are first named; those that are required and not listed behind.
Result<std::vector<SchemaGrammar::Property>> SchemaGrammar::properties(
    const SchemaFacts& facts, std::vector<std::string>& names) {
  std::set<std::string> known;
  const auto add_name = [&](const std::string& name) {
    if (known.insert(name).second) {
      names.push_back(name);
    }
  };
  for (const MemberRules& rules : facts.members) {
    for (const auto& property : rules.properties) {
      add_name(property.first);
    }
  }
  std::ranges::for_each(facts.required, add_name);
  const std::set<std::string> required(facts.required.begin(), facts.required.end());
  std::vector<Property> properties;
  for (const std::string& name : names) {
    Conjunction schemas;
    bool is_forbidden = false;
    for (const MemberRules& rules : facts.members) {
      if (const SchemaPlace* place = rules.find(name); place != nullptr) {
        schemas.places.push_back(*place);
      } else if (rules.others) {
        is_forbidden = is_forbidden || rules.is_closed();
        schemas.places.push_back(*rules.others);
      }
    }
    const bool is_required = required.contains(name);
    if (is_forbidden && is_required) {
      return wrong_schema(
          facts.path, fmt::format("\"{}\" is required and additionalProperties forbids it", name));
    }
    if (is_forbidden) {
      continue;
    }
    if (schemas.places.empty()) {
      schemas.places.push_back(anything(facts.path));
    }
    MYNAH_TRY(const ExprId made, value(std::move(schemas)));
    properties.push_back(
        {.member = rules_.member(rules_.text(name), made), .is_required = is_required});
  }
  return properties;
}

Result<std::optional<ExprId>> SchemaGrammar::other_member(const SchemaFacts& facts,
                                                          const std::vector<std::string>& names) {
  std::vector<SchemaPlace> places = others_of(facts);
  if (std::ranges::any_of(facts.members, &MemberRules::is_closed) ||
      (places.empty() && has_properties(facts) && !options_.open_objects)) {
    return std::nullopt;
  }
  if (places.empty()) {
    places.push_back(anything(facts.path));
  }
  MYNAH_TRY(const ExprId made, value({.places = std::move(places)}));
  return rules_.member(names.empty() ? rules_.string() : rules_.text_except(names), made);
}

// Up to the first member that has to come, whether a comma is due depends on what was written: two
// chains of rules, one for each case, from the end back.
ExprId SchemaGrammar::members(const std::vector<Property>& properties,
                              std::optional<ExprId> other) {
  const ExprId end = rules_.sequence({rules_.space(), grammar_.literal("}")});
  ExprId behind = end;  // the rest where something was written
  ExprId first = grammar_.literal("}");
  if (other) {
    const ExprId more = grammar_.repeat(rules_.comma_then(*other), 0, kUnbounded);
    behind = rules_.sequence({more, end});
    first = rules_.choice({first, rules_.sequence({*other, behind})});
  }
  const auto due = std::ranges::find_if(properties, &Property::is_required) - properties.begin();
  for (auto place = static_cast<ptrdiff_t>(properties.size()) - 1; place >= 0; --place) {
    const Property& property = properties[static_cast<size_t>(place)];
    const ExprId rest = rule_of(behind);
    const ExprId item = rules_.comma_then(property.member);
    behind = rules_.sequence({property.is_required ? item : grammar_.optional(item), rest});
    if (place <= due) {
      const ExprId written = rules_.sequence({property.member, rest});
      first = property.is_required ? written : rules_.choice({written, rule_of(first)});
    }
  }
  return first;
}

}  // namespace mynah::grammar
