#include "place/kinds/kinds.h"

#include <array>
#include <variant>

namespace mynah::place {

std::span<const Kind* const> kinds() {
  // In the order of ModelFile's types.
  static const std::array<const Kind*, std::variant_size_v<ModelFile>> rows = {
      &detector_kind(), &windows_kind(), &voice_kind(), &language_kind(), &embedding_kind()};
  return rows;
}

}  // namespace mynah::place
