// Which releases of a framework a column brings, as far as that is known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"
#include "doctor/knowledge/knowledge.h"
#include "doctor/recipes/recipe_columns.h"

namespace mynah::doctor {

// What a column brings of a framework.
struct Brought {
  std::vector<Framework> frameworks;  // the newest first; one where it is pinned
  const Asked* by = nullptr;          // null: an image brings it
  bool range = false;                 // it is not pinned: the first of these comes
  bool no_older = true;               // a range lets in none that is older than these
  std::string ended = {};             // the variant of a closed index that bounds it alone
  bool open = false;                  // others may come: this is the newest that is known
  std::string through = {};           // the package `by` asks for it: "kokoro 0.9.4"; empty: itself
  std::string asks = {};              // for one version, as `through` does: "==2.4.0"; empty: any
  bool exact = false;                 // and no other comes: open is as good as a pin
};

// A pin, or a range of which all that it lets in is known. No frameworks: it brings none, or more
// than is known.
[[nodiscard]] Brought brought_by(const RecipeColumn& column, std::string_view package,
                                 System system, const Knowledge& knowledge);

// The newest release that a range lets in of which something is known, for the indexes and the
// Python that the column names, and for what else it asks for: a new environment gets that one, or
// one that is newer still. A torch may be what another package asks for. No frameworks: it is a
// pin, or something else may be there already.
[[nodiscard]] Brought newest_of_range(const RecipeColumn& column, std::string_view package,
                                      System system, const Knowledge& knowledge);

}  // namespace mynah::doctor
