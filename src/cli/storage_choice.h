// The type that weights are computed with, as users name it and as it is chosen for them.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "tensor/backend.h"

namespace mynah::cli {

// --storage's word, those of CTranslate2's compute types too; none: none.
Result<std::optional<DType>> parse_storage(const std::optional<std::string>& text);

// The type when nobody says: on a CPU int8, which is several times as fast as a file's own f16 or
// f32 and is heard as well (bench/hear.py, bench/speak.py), on a card f16; the file's own where
// exact arithmetic is wanted, or a device that is there to check others against.
[[nodiscard]] std::optional<DType> fast_storage(Precision precision, const Backend& backend);

}  // namespace mynah::cli
