// The knowledge base as files.
#pragma once

#include <span>

#include "doctor/knowledge/knowledge.h"

namespace mynah::doctor {

// The files that the program holds (src/doctor/knowledge).
[[nodiscard]] std::span<const KnowledgeFile> builtin_files();

// Looks at what one field cannot show: whether names that stand for others exist, and versions,
// compute capabilities and patterns are such. `file` names the knowledge base in the message.
[[nodiscard]] Status check_knowledge(const Knowledge& knowledge);

}  // namespace mynah::doctor
