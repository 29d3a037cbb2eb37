#include "place/wire/fault.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace mynah::place {
namespace {

std::unexpected<Error> refused(std::string_view word) {
  std::string stages;
  for (const Stage stage : all_stages()) {
    stages += stages.empty() ? "" : ", ";
    stages += stage_name(stage);
  }
  return fail(ErrorCode::Usage,
              fmt::format("MYNAH_FAULT: wanted STAGE:KIND@N, such as stt.decoder:crash@2, of the "
                          "stages {} and the kinds {}; found '{}'",
                          stages, fault_kind_names(), word));
}

}  // namespace

Result<std::vector<Fault>> parse_faults(std::string_view text) {
  std::vector<Fault> faults;
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    const size_t word_end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, word_end - begin);
    begin = word_end + 1;
    const size_t colon = word.find(':');
    const size_t at = word.find('@');
    if (colon == std::string_view::npos || at == std::string_view::npos || at < colon) {
      return refused(word);
    }
    const auto stage = find_stage(word.substr(0, colon));
    const auto kind = parse_fault_kind(word.substr(colon + 1, at - colon - 1));
    uint64_t call = 0;
    const auto [end, error] =
        std::from_chars(word.data() + at + 1, word.data() + word.size(), call);
    if (!stage || !kind || error != std::errc() || end != word.data() + word.size() || call == 0) {
      return refused(word);
    }
    faults.push_back({.stage = *stage, .kind = *kind, .call = call});
  }
  return faults;
}

}  // namespace mynah::place
