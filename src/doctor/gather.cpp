#include "doctor/gather.h"

#include <system_error>

#include "formats/byte_reader.h"

namespace mynah::doctor {

Result<Facts> gather_facts(const GatherRequest& request, const Knowledge& /*knowledge*/) {
  for (const std::filesystem::path& place : request.places) {
    std::error_code error;
    if (!std::filesystem::exists(place, error)) {
      return fail(ErrorCode::NotFound, in_quotes(place.string()) + ": there is no such place");
    }
  }
  return Facts();
}

}  // namespace mynah::doctor
