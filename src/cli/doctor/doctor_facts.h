// Facts for the doctor's actions: gathered, or written down.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command/verb.h"
#include "doctor/facts.h"
#include "doctor/gather.h"
#include "doctor/knowledge/knowledge.h"

namespace mynah::cli {

// Of places, or of this machine where there are none. Where this machine shows a card, what its
// driver says of it is among them, unless another machine is meant.
[[nodiscard]] Result<doctor::Facts> gathered_facts(
    Context& context, const std::vector<std::string>& places, const doctor::Knowledge& knowledge,
    std::optional<doctor::OtherMachine> other = std::nullopt);

// As --facts wrote them, or somebody by hand; "-": from standard input. Environments of which the
// packages alone are told have the frameworks that those are known to bring.
[[nodiscard]] Result<doctor::Facts> written_facts(Context& context, const std::string& file,
                                                  const doctor::Knowledge& knowledge);

}  // namespace mynah::cli
