// A text spoken for a client, as the bytes of a sound file.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "audio/byte_sink.h"
#include "server/http/exchange.h"
#include "server/models/service.h"
#include "server/speak/speech_request.h"
#include "speech/synthesizer.h"

namespace mynah::server {

// Takes the bytes, and is told of what is spoken in them.
class SoundTaker : public ByteSink {
 public:
  // The first clause comes, so long after the synthesizer was asked.
  virtual void on_first_sound(std::chrono::duration<double> /*took*/) {}

  // Its samples are written next.
  virtual Status on_clause(const SpokenClause& clause) = 0;

  // They were written.
  virtual Status on_clause_written() { return {}; }

  [[nodiscard]] bool keeps() const override { return false; }

  Status overwrite(uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {
    return fail(ErrorCode::Unsupported, "what was sent cannot be changed");
  }
};

// Keeps all of them: InvalidInput where they are more than an answer of one piece has.
class WholeSound final : public SoundTaker {
 public:
  Status write(std::span<const std::byte> bytes) override;
  Status on_clause(const SpokenClause& clause) override;

  [[nodiscard]] bool keeps() const override { return true; }

  Status overwrite(uint64_t offset, std::span<const std::byte> bytes) override;

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

  [[nodiscard]] std::string take_bytes() { return std::move(bytes_); }

  [[nodiscard]] const std::vector<SpokenWord>& words() const { return words_; }

 private:
  std::string bytes_;
  std::vector<SpokenWord> words_;
};

// Speaks it, as long as the client is there; gives the seconds of its sound. InvalidInput where
// nothing in it can be spoken, what the options are refused for; the taker's errors.
// `media_program`: mynah-media, for AAC; "": beside this program.
[[nodiscard]] Result<double> speak_sound(const SpeechRequest& request, const Speaking& speaking,
                                         const std::string& media_program, SoundTaker& taker,
                                         Exchange& exchange);

// "audio/mpeg".
[[nodiscard]] std::string sound_type(const SpeechRequest& request);

// Nobody here speaks so: the field that is wrong is the model, the language or the voice.
[[nodiscard]] Response speaking_error(const Error& error);

// The field that a text is not spoken for; "": the one that the error begins with.
[[nodiscard]] std::string refused_field(const SpeechRequest& request, const Error& error);

// Names who speaks, and what of the request does nothing.
void name_speaking(const SpeechRequest& request, const Speaking& speaking, Response& response);

}  // namespace mynah::server
