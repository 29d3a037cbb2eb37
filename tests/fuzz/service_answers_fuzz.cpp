// Any bytes as what a service answers: a refusal, a list of models, a transcript. What is shown of
// it steers no terminal.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/control_characters.h"
#include "talk/organs/service_answers.h"
#include "talk/organs/service_client.h"

namespace mynah::talk {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ServiceRefusal refusal = read_refusal(bytes);
  for (size_t at = 0; at < refusal.message.size(); ++at) {
    MYNAH_CHECK(control_length(refusal.message, at) == 0, "it is plain");
  }
  constexpr std::array<std::string_view, 2> kFields = {"voice", "max_tokens"};
  static_cast<void>(refused_field(refusal, kFields));
  static_cast<void>(is_too_long(refusal));
  if (const auto models = read_models(bytes)) {
    for (const ServedKind kind : {ServedKind::Hears, ServedKind::Writes, ServedKind::Speaks}) {
      static_cast<void>(choose_model(*models, kind));
    }
  }
  const auto sure = read_transcript(bytes, {.language = {}});
  const auto unsure = read_transcript(bytes, {.language = {}, .surely_speech = false});
  MYNAH_CHECK(sure.has_value() == unsure.has_value(), "doubt makes no transcript of it");
  MYNAH_CHECK(!sure || unsure->text.empty() || unsure->text == sure->text, "nor another text");
  if (const auto address = parse_service_address(bytes)) {
    MYNAH_CHECK(address->target("/models").starts_with('/'), "a path begins so");
    static_cast<void>(address->text());
  }
  return 0;
}

}  // namespace mynah::talk
