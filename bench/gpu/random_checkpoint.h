// A Whisper model of any size with weights from a seed: speed does not depend on what they are.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "formats/tensor_file.h"
#include "models/whisper/config.h"
#include "text/vocabulary.h"

namespace mynah::gpucheck {

// Matrices in f16, spread so that a layer's output is about as large as its input; norms are those
// of a model before training.
std::shared_ptr<const TensorFile> random_checkpoint(const whisper::Config& config,
                                                    ThreadPool& pool);

// Some vocabulary of the right size; its words mean nothing.
Vocabulary some_vocabulary(const whisper::Config& config);

}  // namespace mynah::gpucheck
