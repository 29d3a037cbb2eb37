// One table for everybody's names of Whisper's tensors: OpenAI, Hugging Face, CTranslate2,
// whisper.cpp, mynah.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor_file.h"
#include "models/whisper/config.h"

namespace mynah::whisper {

// A Whisper checkpoint under OpenAI's names ("encoder.blocks.0.attn.query.weight"), whoever wrote
// it.
struct Checkpoint {
  Config config;
  // Views of the file's bytes: they live as long as the TensorFile. Fused projections (CTranslate2)
  // are split, vectors have rank 1, tied copies of the token embedding are left out.
  std::vector<StoredTensor> tensors;
};

// Maps the names of any of the producers and derives the configuration from metadata where the file
// has it, else from shapes. `model_name` helps to choose the alignment heads ("tiny.en"); it may be
// empty. Fails with InvalidInput when the file does not hold a Whisper model, naming the first
// tensor that is missing or has a wrong shape.
Result<Checkpoint> read_checkpoint(const TensorFile& file, std::string_view model_name);

// The tensors that play a part, under their canonical names, fused projections split:
// read_checkpoint without the checks.
Result<std::vector<StoredTensor>> canonical_tensors(const TensorFile& file);

// The canonical name of one tensor, or empty when it plays no part. Fused CTranslate2 projections
// are not covered: they become several tensors.
std::string canonical_name(std::string_view name);

}  // namespace mynah::whisper
