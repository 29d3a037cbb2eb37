// The type that weights are computed with, as users name it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "tensor/dtype.h"

namespace mynah::engine {

// --storage's word, those of CTranslate2's compute types too; none: none.
Result<std::optional<DType>> parse_storage(const std::optional<std::string>& text);

}  // namespace mynah::engine
