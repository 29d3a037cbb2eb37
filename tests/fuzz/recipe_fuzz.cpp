// Recipes of one kind, MYNAH_RECIPE: what is read is within bounds, and every requirement is
// written so that it is read the same again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "doctor/recipes/markers.h"
#include "doctor/recipes/recipe_parts.h"
#include "doctor/recipes/recipe_rules.h"
#include "doctor/recipes/recipes.h"
#include "doctor/recipes/requirement_text.h"
#include "doctor/versions.h"

namespace mynah::doctor {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto recipe = parse_recipe(text, "/recipes/" MYNAH_RECIPE);
  if (!recipe) {
    return 0;
  }
  MYNAH_CHECK(recipe->requirements.size() <= kMostOfARecipe + 1, "too many requirements");
  for (const Requirement& requirement : recipe->requirements) {
    MYNAH_CHECK(requirement.name == normal_name(requirement.name), "a name is not normal");
    MYNAH_CHECK(SpecifierSet::parse(requirement.specifier), "a specifier is none");
    if (const auto marker = Marker::parse(requirement.marker)) {
      MYNAH_CHECK(marker->holds({}) == marker->holds({}), "a marker changes its mind");
    }
  }
  Facts facts;
  facts.machine.driver = "575.57.08";
  Card& card = facts.machine.cards.emplace_back();
  card.name = "NVIDIA GeForce RTX 5090";
  card.vendor = "10de";
  facts.recipes.push_back(*recipe);
  Diagnosis diagnosis{.facts = facts, .knowledge = builtin_knowledge(), .report = {}};
  judge_recipes(diagnosis);
  for (const Finding& finding : diagnosis.report.findings) {
    MYNAH_CHECK(finding.level != Level::Fail || finding.certainty == Certainty::Certain,
                "what is not certain fails");
  }
  return 0;
}

}  // namespace mynah::doctor
