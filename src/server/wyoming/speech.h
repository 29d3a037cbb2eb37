// WyomingSpeech: what is spoken for a client of Wyoming, from the first text to the last sound.
#pragma once

#include <memory>
#include <string_view>

#include "audio/sound_writer.h"
#include "base/thread_pool.h"
#include "server/access/key_ring.h"
#include "server/http/outbox.h"
#include "server/metrics/socket_turns.h"
#include "server/models/service.h"
#include "server/wyoming/message.h"

namespace mynah::server {

// Whose limits are those of every client of Wyoming.
inline constexpr const char* kWyomingOwner = "wyoming";

class WyomingSpeech final : public SpeechObserver {
 public:
  // `asked`: synthesize or synthesize-start. Busy where the limits are reached; what
  // Service::speaking() refuses. All but `asked` must outlive it.
  static Result<std::unique_ptr<WyomingSpeech>> begin(Service& service, KeyRing& keys,
                                                      SocketTurns& turns,
                                                      const WyomingMessage& asked, Outbox& outbox);

  Status push(std::string_view text);

  // Speaks what is left of the text, and says that it was all.
  Status finish();

 private:
  class ChunkSink;

  WyomingSpeech(Speaking speaking, std::unique_ptr<Visit> visit, std::unique_ptr<SocketTurn> turn,
                Outbox& outbox);

  Status open(const SpeakOptions& options);
  // Does something of it, and counts what that took and what was spoken.
  Status compute(FunctionRef<Status()> step);
  Status begin_sound();
  Status on_clause(const SpokenClause& clause) override;

  Speaking speaking_;
  std::unique_ptr<Visit> visit_;
  std::unique_ptr<SocketTurn> turn_;
  double counted_s_ = 0;  // of its sound, while something is computed
  Outbox& outbox_;
  int rate_hz_;
  std::unique_ptr<ByteSink> sink_;
  bool begun_ = false;
  std::unique_ptr<SoundWriter> writer_;
  std::unique_ptr<Synthesizer::Session> session_;  // the first to go
};

}  // namespace mynah::server
