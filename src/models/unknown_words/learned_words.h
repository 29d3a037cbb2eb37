// Unknown words said by a network that learned from 225,000 words how espeak-ng reads them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tensor/backend.h"
#include "text/phonemes/phonemizer.h"

namespace mynah::unknown_words {

// Reads the network (oov.onnx of the hibari-tts wheel, British oov_gb.onnx) and its alphabet (the
// same with .json). It computes on `backend`, which must outlive it, and throws DeviceError where
// that dies. A word with more letters than the network takes (24) is said in pieces, ten at most.
[[nodiscard]] Result<std::shared_ptr<const UnknownWords>> load_learned_words(
    const std::string& network, const std::string& alphabet, Backend& backend);

}  // namespace mynah::unknown_words
