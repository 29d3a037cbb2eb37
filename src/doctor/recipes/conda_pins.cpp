#include "doctor/recipes/conda_pins.h"

#include <vector>

#include "doctor/versions.h"

namespace mynah::doctor {

Resolved resolve_any_build(const RecipeColumn& column, std::string_view package) {
  Resolved resolved = resolve(column, package);
  const std::vector<Specifier>& clauses = resolved.range.clauses;
  if (resolved.by != nullptr && !resolved.version && resolved.by->requirement->url == "conda" &&
      clauses.size() == 1 && clauses.front().relation == Specifier::Relation::Equal &&
      clauses.front().version.release.size() > 2) {
    resolved.version = clauses.front().version;
  }
  return resolved;
}

}  // namespace mynah::doctor
