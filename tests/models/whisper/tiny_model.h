// Whisper models with weights from a seeded generator: tools/export_whisper_golden.py makes the
// same ones with the reference library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/whisper/config.h"
#include "models/whisper/model.h"

namespace mynah::test {

// Values in [-1, 1): SplitMix64 of FNV-1a of the name.
std::vector<float> seeded_uniform(std::string_view name, int64_t count);

// Two layers of width 16 with 50 audio positions: n_mels 80 and 51864 tokens, or 128 and 51866.
whisper::Config tiny_config(bool multilingual);

// The checkpoint as a file of that producer would give it: "openai", "ctranslate2", "huggingface".
std::shared_ptr<const TensorFile> tiny_checkpoint(const whisper::Config& config,
                                                  const std::string& producer);

// Some vocabulary of the right size; its words mean nothing.
Vocabulary tiny_vocabulary(const whisper::Config& config);

std::shared_ptr<const whisper::Model> tiny_model(bool multilingual, Backend& backend,
                                                 const std::string& producer = "openai");

// Its stages as these options say.
std::shared_ptr<const whisper::Model> tiny_model(bool multilingual,
                                                 const whisper::StageOptions& encoder,
                                                 const whisper::StageOptions& decoder,
                                                 const std::string& producer = "openai");

}  // namespace mynah::test
