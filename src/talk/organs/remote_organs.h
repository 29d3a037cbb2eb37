// The organs elsewhere: servers with OpenAI's API, each asked over a connection that is kept. What
// was asked for by an address is asked there, or the fault is told: nothing takes its place.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "talk/organs/organs.h"
#include "talk/organs/service_client.h"

namespace mynah::talk {

// Each is asked once before it is given out, as its first turn would: what it does not take of a
// request is found, it loads its model, and who cannot be reached is told at once. The errors are
// those of that; Cancelled once stop is requested.

// How many of them, from the first on, are told in a prompt: servers read no more of it.
[[nodiscard]] size_t words_in_prompt(std::span<const std::string> hotwords);

// POST /v1/audio/transcriptions, a WAV a turn. `hotwords`: to expect, as they are written; a mynah
// is told all of them (`hotwords`), others as many as words_in_prompt() says (`prompt`). Refused as
// check_hotwords() refuses.
[[nodiscard]] Result<std::unique_ptr<Ear>> remote_ear(Service service,
                                                      std::vector<std::string> hotwords,
                                                      const std::stop_token& stop);

// POST /v1/chat/completions, told as it comes. Of a request's choice it sends what OpenAI's API has
// names for.
[[nodiscard]] Result<std::unique_ptr<Mind>> remote_mind(Service service,
                                                        const std::stop_token& stop);

// How a service is to speak.
struct ServedVoice {
  std::string name;  // "": the server's own, or OpenAI's "alloy" where it wants a name
  float speed = 1;
};

// POST /v1/audio/speech. Where it was played is reckoned by how fast it speaks on the average, for
// it tells no times of words.
[[nodiscard]] Result<std::unique_ptr<Mouth>> remote_mouth(Service service, ServedVoice voice,
                                                          const std::stop_token& stop);

}  // namespace mynah::talk
