#include "server/models/openai_names.h"

#include "base/embedded_file.h"
#include "base/tsv_lines.h"

MYNAH_EMBEDDED_FILE(openai_model_table, MYNAH_OPENAI_MODELS)
MYNAH_EMBEDDED_FILE(openai_voice_table, MYNAH_OPENAI_VOICES)
MYNAH_EMBEDDED_FILE(kokoro_voice_table, MYNAH_KOKORO_VOICES)

namespace mynah::server {

bool is_openai_model(std::string_view name) {
  return kind_of_openai_model(name).has_value();
}

std::optional<FamilyKind> kind_of_openai_model(std::string_view name) {
  std::optional<FamilyKind> kind;
  for_each_tsv_line<2>(openai_model_table(), [&](const auto& fields) {
    if (fields[0] == name) {
      kind = fields[1] == "hear"    ? FamilyKind::SpeechToText
             : fields[1] == "speak" ? FamilyKind::Speech
             : fields[1] == "write" ? FamilyKind::Language
                                    : FamilyKind::Embeddings;
    }
  });
  return kind;
}

std::vector<std::string> voices_like(std::string_view name) {
  constexpr size_t kFields = 4;
  std::vector<std::string> voices;
  for (const std::string_view table : {openai_voice_table(), kokoro_voice_table()}) {
    for_each_tsv_line<kFields>(table, [&](const auto& fields) {
      for (size_t i = 1; fields[0] == name && i < kFields; ++i) {
        if (!fields[i].empty()) {
          voices.emplace_back(fields[i]);
        }
      }
    });
  }
  return voices;
}

std::vector<std::string> openai_voices() {
  std::vector<std::string> voices;
  for_each_tsv_line<1>(openai_voice_table(),
                       [&](const auto& fields) { voices.emplace_back(fields[0]); });
  return voices;
}

}  // namespace mynah::server
