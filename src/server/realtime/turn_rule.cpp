#include "server/realtime/turn_rule.h"

#include <utility>

namespace mynah::server {

std::vector<TurnStep> TurnRule::take(std::span<const VoiceEvent> events, int64_t now) {
  std::vector<TurnStep> steps;
  const auto look = [this, &steps](int64_t at) {
    if (!open_ && began_ && silent_.value_or(at) - *began_ >= times_.least_speech) {
      open_ = true;
      waiting_since_.reset();
      steps.push_back({TurnStep::Kind::Started, *began_});
    }
    if (open_ && silent_ && at - *silent_ >= times_.silence) {
      const int64_t ended = *silent_;
      end(at);
      steps.push_back({TurnStep::Kind::Stopped, ended});
    }
  };
  for (const VoiceEvent& event : events) {
    look(event.at);
    switch (event.kind) {
      case VoiceEvent::Kind::Began:
        began_ = open_ ? began_ : event.at;
        silent_.reset();
        break;
      case VoiceEvent::Kind::WentOn:
        silent_.reset();
        break;
      case VoiceEvent::Kind::Paused:
      case VoiceEvent::Kind::Ended:
        silent_ = silent_.value_or(event.at);
        look(event.at);
        if (!open_ && event.kind == VoiceEvent::Kind::Ended) {
          began_.reset();
        }
        break;
    }
  }
  look(now);
  if (times_.waiting && waiting_since_ && !began_ && now - *waiting_since_ >= *times_.waiting) {
    steps.push_back({TurnStep::Kind::WaitedInVain, *std::exchange(waiting_since_, std::nullopt)});
  }
  return steps;
}

void TurnRule::end(int64_t now) {
  open_ = false;
  began_.reset();
  silent_.reset();
  waiting_since_ = now;
}

}  // namespace mynah::server
