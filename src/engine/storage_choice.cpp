#include "engine/storage_choice.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"

namespace mynah::engine {

Result<std::optional<DType>> parse_storage(const std::optional<std::string>& text) {
  if (!text) {
    return std::optional<DType>();
  }
  // The names that CTranslate2's compute types have, as --compute_type passes them on.
  std::string name = *text;
  for (const auto& [theirs, ours] :
       {std::pair{"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}, {"int8", "i8"}}) {
    if (name == theirs || (ours == std::string_view("i8") && name.starts_with("int8_"))) {
      name = ours;
    }
  }
  const auto type = parse_dtype(name);
  if (!type) {
    const std::vector<std::string> known = {"f32",  "f16",  "bf16", "int8", "q4_0", "q4_1", "q5_0",
                                            "q5_1", "q8_0", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"};
    return fail(ErrorCode::Usage,
                fmt::format("--storage: wanted {}, found '{}'{}", fmt::join(known, ", "), *text,
                            suggestion(*text, known)));
  }
  return type;
}

}  // namespace mynah::engine
