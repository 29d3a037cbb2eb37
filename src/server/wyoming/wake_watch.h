// WakeWatch: what a client of Wyoming sends behind "detect" is listened to for wake words.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/models/service.h"
#include "server/wyoming/message.h"
#include "server/wyoming/mono_reader.h"
#include "speech/wake/wake_spotter.h"

namespace mynah::server {

// One request: "detect", then the sound's messages. Everything it answers is an Event.
class WakeWatch {
 public:
  // Words of `detect` ("names"; without them all that are here) on this machine, which the model
  // that hears where none is named confirms, if there is one. Errors: engine::open_wake_words().
  static Result<std::unique_ptr<WakeWatch>> begin(const WyomingMessage& detect, Service& service);

  // The sound begins, perhaps once more: what was heard before is forgotten. InvalidInput for a
  // format that nobody has.
  [[nodiscard]] Status start(const SampleFormat& format);

  // Listens to a piece; returns a "detection" for each word that ends in it, with its model's name
  // and the piece's own timestamp, or the time since the start, in milliseconds.
  [[nodiscard]] Result<std::vector<std::string>> push(const WyomingMessage& chunk);

  // The sound has ended: "not-detected", where nothing was; else nothing.
  [[nodiscard]] std::string stop();

  [[nodiscard]] bool is_listening() const { return reader_.has_value(); }

 private:
  using Lease = engine::Leases<engine::OpenedRecognizer>::Lease;

  WakeWatch(std::vector<std::shared_ptr<const WakeWord>> words, std::optional<Lease> hearing,
            std::shared_ptr<WakeCheck> check)
      : hearing_(std::move(hearing)),
        check_(std::move(check)),
        spotter_(std::move(words), {}, check_ != nullptr) {}

  std::optional<Lease> hearing_;      // what the check stands on
  std::shared_ptr<WakeCheck> check_;  // null: nobody looks again
  WakeSpotter spotter_;
  std::optional<MonoReader> reader_;
  bool detected_ = false;
};

}  // namespace mynah::server
