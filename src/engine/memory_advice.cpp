#include "engine/memory_advice.h"

#include <array>

#include <fmt/format.h>

#include "speech/window_model.h"
#include "store/files.h"

namespace mynah::engine {

namespace {

constexpr std::array kTypes = {DType::F16, DType::Q8_0, DType::Q5_0, DType::Q4_0};

}  // namespace

Error with_what_fits(Error error, const std::string& model_path, const std::string& device,
                     const DeviceMemory& memory) {
  if (error.code != ErrorCode::OutOfMemory || memory.total == 0) {
    return error;
  }
  const auto file = open_hearing(model_path);
  if (!file) {
    return error;
  }
  const uint64_t beside = (*file)->window_bytes();
  const uint64_t wanted = (*file)->weight_bytes(DType::F16) + beside;
  const bool f16_fits = wanted <= memory.free;  // by this count, which what was tried proved wrong
  std::string fits;
  for (const DType type : kTypes) {
    const uint64_t weights = (*file)->weight_bytes(type);
    if (weights + beside <= memory.free && !(f16_fits && type == DType::F16)) {
      fits = fmt::format("--storage {} --batch 1 would fit ({} of weights)", name(type),
                         human_bytes(weights));
      break;
    }
  }
  if (fits.empty()) {
    fits = "no storage type of this model would fit: take a smaller model";
  }
  const std::string missing =
      f16_fits ? std::string()
               : fmt::format(" ({} are missing)", human_bytes(wanted - memory.free));
  error.message = fmt::format(
      "{} has too little memory for this model: as f16 it takes about {}, {} are free{}; {}, or "
      "compute with --device cpu ({})",
      device, human_bytes(wanted), human_bytes(memory.free), missing, fits, error.message);
  return error;
}

}  // namespace mynah::engine
