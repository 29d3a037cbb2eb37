#include "place/workload.h"

namespace mynah::place {

StageGroup group_of(const ModelFile& file) {
  if (std::holds_alternative<DetectorFile>(file)) {
    return StageGroup::Vad;
  }
  return std::holds_alternative<WindowsFile>(file) ? StageGroup::Stt : StageGroup::Tts;
}

const std::string& path_of(const ModelFile& file) {
  return std::visit([](const auto& one) -> const std::string& { return one.path; }, file);
}

ModelFile with_precision(ModelFile file, Precision precision) {
  if (auto* const windows = std::get_if<WindowsFile>(&file)) {
    windows->precision = precision;
  } else if (auto* const voice = std::get_if<VoiceModelFile>(&file)) {
    voice->precision = precision;
  }
  return file;
}

}  // namespace mynah::place
