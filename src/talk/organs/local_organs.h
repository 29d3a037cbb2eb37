// The organs in this process: leases of an Engine, which hold their models as long as they live.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "talk/organs/organs.h"

namespace mynah::talk {

using RecognizerLease = engine::Leases<engine::OpenedRecognizer>::Lease;
using ChatLease = engine::Leases<engine::OpenedChat>::Lease;
using SynthesizerLease = engine::Leases<engine::OpenedSynthesizer>::Lease;

// `decoding`: how windows are written down; the language is each wish's. `hotwords`: to expect, as
// they are written. Refused as WindowQueue::client() and check_hotwords() refuse; Unsupported for a
// model that hears in no windows.
[[nodiscard]] Result<std::unique_ptr<Ear>> local_ear(RecognizerLease lease,
                                                     const DecodingOptions& decoding = {},
                                                     std::vector<std::string> hotwords = {});

[[nodiscard]] std::unique_ptr<Mind> local_mind(ChatLease lease);

// `options`: how everything is spoken, in the voice that it names or the lease's own; kind,
// language and first_phonemes are each clause's. Refused as Synthesizer::check() refuses.
[[nodiscard]] Result<std::unique_ptr<Mouth>> local_mouth(SynthesizerLease lease,
                                                         SpeakOptions options = {});

}  // namespace mynah::talk
