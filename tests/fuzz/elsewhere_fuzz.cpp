// Any bytes as what passes between two mynahs: a question of windows, a probe, a voice or a clause,
// an answer in frames, what one tells of itself, and a word of --device that names one. The first
// byte says which.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "place/elsewhere/frames.h"
#include "place/elsewhere/mynah_facts.h"
#include "place/kinds/voice/voice_questions.h"
#include "place/kinds/windows/windows_questions.h"
#include "place/terms/device_request.h"

namespace {

using namespace mynah;         // NOLINT(google-build-using-namespace): a program of its own
using namespace mynah::place;  // NOLINT(google-build-using-namespace)

HearingFacts facts() {
  HearingFacts made;
  made.languages = {"en", "de"};
  made.longest_window_s = 30;
  made.sizes.n_vocab = 51865;
  made.sizes.n_text_ctx = 448;
  return made;
}

// What was read is written as it came.
template <class T>
bool read_question(std::span<const std::byte> bytes, T& question) {
  if (!read_wire(bytes, question)) {
    return false;
  }
  WireWriter writer;
  writer(question);
  MYNAH_CHECK(writer.bytes().size() == bytes.size(), "is written in another length");
  return true;
}

std::pair<std::string, bool> read_frames(std::span<const std::byte> bytes, size_t piece) {
  std::string told;
  FrameReader reader([&told](FrameKind kind, std::span<const std::byte> of) -> Status {
    told += frame(kind, of);
    return {};
  });
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!reader.take(bytes.subspan(at, std::min(piece, bytes.size() - at)))) {
      return {told, false};
    }
  }
  return {told, true};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1,
                                     reinterpret_cast<const std::byte*>(data) + size);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'w': {
      WindowsQuestion question;
      if (read_question(bytes, question) && check_question(question, facts())) {
        for (const WindowTask& task : question.tasks) {
          MYNAH_CHECK(task.duration_s() <= facts().longest_window_s, "a window is no longer");
        }
      }
      break;
    }
    case 'v': {
      VoiceQuestion question;
      if (read_question(bytes, question)) {
        static_cast<void>(check_voice(question.voice));
      }
      break;
    }
    case 'c': {
      ClauseQuestion question;
      if (read_question(bytes, question)) {
        static_cast<void>(check_question(question, 510));
      }
      break;
    }
    case 'p': {
      ProbeQuestion question;
      static_cast<void>(read_question(bytes, question));
      break;
    }
    case 'f': {
      const auto [whole, good] = read_frames(bytes, bytes.size() + 1);
      const auto [pieces, good_too] = read_frames(bytes, 3);
      MYNAH_CHECK(good == good_too, "pieces are as good as the whole");
      MYNAH_CHECK(!good || whole == pieces, "and say the same");
      break;
    }
    case 'j': {
      if (const auto told = parse_facts(text)) {
        MYNAH_CHECK(parse_facts(facts_json(*told)).has_value(), "what is told is told again");
      }
      break;
    }
    default:
      static_cast<void>(parse_device_request(text));
  }
  return 0;
}
