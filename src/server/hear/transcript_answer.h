// A transcript as clients get it.
#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include "server/hear/transcription_request.h"
#include "server/http/message.h"
#include "speech/recognizer.h"

namespace mynah::server {

// In that form, which need not be the one that the request names; `recognizer` heard it.
[[nodiscard]] Response transcript_answer(const Transcript& transcript, TranscriptAnswer answer,
                                         const TranscriptionRequest& request,
                                         const Recognizer& recognizer);

// Of each token of the text, as OpenAI's include[]=logprobs.
[[nodiscard]] nlohmann::ordered_json log_probabilities(std::span<const Segment> segments,
                                                       const Recognizer& recognizer);

}  // namespace mynah::server
