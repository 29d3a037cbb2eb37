// Which knowledge base the doctor uses: the program's own, or a newer one that the user brought.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command/verb.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::cli {

// More than any knowledge base has.
inline constexpr uint64_t kMostKnowledgeBytes = 64U << 20U;

struct UsedKnowledge {
  std::optional<doctor::Knowledge> brought;  // none: the program's own is in use
  std::string file;                          // of `brought`

  [[nodiscard]] const doctor::Knowledge& get() const {
    return brought ? *brought : doctor::builtin_knowledge();
  }
};

// Where what `mynah doctor update` takes is kept.
[[nodiscard]] std::string knowledge_path(const Environment& environment);

// The one that is kept, where it is newer than the program's own. One that cannot be read is told
// to the user, and passed over.
[[nodiscard]] UsedKnowledge used_knowledge(const Context& context);

// The text of a file or of standard input ("-"), at most `most` bytes: of a longer file an error.
[[nodiscard]] Result<std::string> read_input(Context& context, const std::string& path,
                                             uint64_t most);

}  // namespace mynah::cli
