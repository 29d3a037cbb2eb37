// What a worker answers, and what it is asked: a card's driver may scribble over either. The first
// byte says of which request; the rest are the bytes of the message. Whatever is taken for an
// answer is used as mynah uses it.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/check.h"
#include "models/whisper/tiny_model.h"
#include "place/kinds/detector/detector_wire.h"
#include "place/kinds/embed/embed_wire.h"
#include "place/kinds/kinds.h"
#include "place/kinds/llm/llm_wire.h"
#include "place/kinds/voice/voice_wire.h"
#include "place/kinds/windows/windows_wire.h"
#include "place/plans/budget.h"
#include "place/plans/plan.h"
#include "place/proofs/reference.h"
#include "place/wire/possible.h"
#include "place/wire/wire_types.h"
#include "place/workers/driver_wire.h"
#include "place/workers/operation_cases.h"
#include "place/workers/stage_host.h"
#include "speech/clause_edges.h"
#include "speech/whisper/whisper_header.h"
#include "speech/word_times.h"

namespace mynah::place {

namespace {

using Bytes = std::span<const std::byte>;

// What was read is sent as it came, and read as the same.
template <class... T>
bool read(Bytes bytes, T&... values) {
  if (!read_wire(bytes, values...)) {
    return false;
  }
  WireWriter writer;
  writer(values...);
  MYNAH_CHECK(writer.bytes().size() == bytes.size(), "is sent in another length");
  return true;
}

const HearingFacts& facts() {
  static const HearingFacts made = [] {
    const whisper::Config config = test::tiny_config(true);
    return WhisperHeader(
               std::make_shared<const whisper::ModelHeader>(
                   whisper::ModelHeader::create("tiny", config, test::tiny_vocabulary(config), "")
                       .value()))
        .facts();
  }();
  return made;
}

void use_text(const HeardWindow& heard) {
  constexpr size_t kSamples = 16000;
  if (!is_possible(heard, facts(), kSamples)) {
    return;
  }
  std::vector<Segment> segments = segments_at(heard, 3);
  MYNAH_CHECK(segments.size() == heard.segments.size(), "segments were lost");
  static_cast<void>(share_out_words(segments, heard.words, 3, 2));
  static_cast<void>(facts().language_asked(heard.language));
}

void use_clause(ClauseSound& sound) {
  constexpr size_t kWords = 3;
  if (is_possible(sound, kWords)) {
    trim_clause(sound, 24000);
    for (const auto& word : sound.words) {
      for (const PhonemeSound& phoneme : word) {
        MYNAH_CHECK(phoneme.span.end <= sound.samples.size(), "sounds behind its clause");
      }
    }
  }
}

void use_probe(const ProbeReport& report) {
  if (!is_possible(report)) {
    return;
  }
  for (const StageGroup group : all_groups()) {
    const auto measured = measurements_of({.report = report, .stages = {}}, group,
                                          all_on(group, {.device = "cuda:0", .storage = {}}));
    Reference reference;
    reference.exact = report.probe;
    for (const Stage stage : stages_of(group)) {
      static_cast<void>(judge(stage, report.probe, reference));
    }
    PlanInput input;
    input.measurements = measured;
    for (Measurement& one : input.measurements) {
      one.passed = true;
      input.stages.push_back({.stage = one.stage, .storage = {}});
    }
    input.devices = {
        {.device = "cuda:0", .total_bytes = 1 << 30, .free_bytes = 1 << 29, .headroom_bytes = 0}};
    static_cast<void>(make_plan(input));
  }
}

void use_answer(Ask what, Bytes bytes) {
  switch (what) {
    case Ask::OpenDetector: {
      DetectorFacts facts;
      static_cast<void>(read(bytes, facts) && is_possible(facts));
      break;
    }
    case Ask::OpenVoice: {
      VoiceModelFacts facts;
      static_cast<void>(read(bytes, facts) && is_possible(facts));
      break;
    }
    case Ask::NewDecoder: {
      uint64_t number = 0;
      static_cast<void>(read(bytes, number));
      break;
    }
    case Ask::Driver: {
      DriverOutcome outcome;
      static_cast<void>(read(bytes, outcome) && (!outcome.answer || is_possible(*outcome.answer)));
      break;
    }
    case Ask::Cards: {
      gpu::NvmlFacts facts;
      static_cast<void>(read(bytes, facts));
      break;
    }
    case Ask::Decode: {
      std::vector<HeardWindow> texts;
      WindowTimings timings;
      if (read(bytes, texts, timings)) {
        for (const HeardWindow& text : texts) {
          use_text(text);
        }
      }
      break;
    }
    case Ask::Draft: {
      HeardWindow text;
      if (read(bytes, text)) {
        use_text(text);
      }
      break;
    }
    case Ask::Listen: {
      std::vector<float> probabilities;
      std::vector<std::byte> state;
      static_cast<void>(read(bytes, probabilities, state));
      break;
    }
    case Ask::Probabilities: {
      std::vector<std::vector<float>> lists;
      static_cast<void>(read(bytes, lists) && is_possible(lists, 2));
      break;
    }
    case Ask::Speak: {
      ClauseSound sound;
      if (read(bytes, sound)) {
        use_clause(sound);
      }
      break;
    }
    case Ask::OpenLanguage: {
      LanguageFacts facts;
      static_cast<void>(read(bytes, facts) && is_possible(facts));
      break;
    }
    case Ask::Write: {
      static const StepRequest request{
          .forks = {},
          .forgotten = {},
          .steps = {
              {.text = 1, .begin = 0, .tokens = {1}, .wishes = {TokenWish{.alternatives = 2}}},
              {.text = 2, .begin = 0, .tokens = {1}, .wishes = {}}}};
      std::vector<ChosenToken> chosen;
      static_cast<void>(read(bytes, chosen) && is_possible(chosen, request,
                                                           {.architecture = {},
                                                            .vocabulary = 100,
                                                            .trained_context = 100,
                                                            .context = 100,
                                                            .position_bytes = 1}));
      break;
    }
    case Ask::OpenEmbedder: {
      EmbeddingFacts facts;
      static_cast<void>(read(bytes, facts) && is_possible(facts));
      break;
    }
    case Ask::Embed: {
      std::vector<float> vectors;
      static_cast<void>(
          read(bytes, vectors) &&
          is_possible(vectors, {{1, 2}, {3}},
                      {.architecture = {}, .vocabulary = 100, .longest = 100, .width = 2}));
      break;
    }
    case Ask::FindVoice: {
      VoiceFacts facts;
      static_cast<void>(read(bytes, facts));
      break;
    }
    case Ask::Report: {
      std::vector<StageReport> reports;
      if (read(bytes, reports) && is_possible(reports)) {
        static_cast<void>(measurements_of({.report = {}, .stages = reports, .window = {}},
                                          kSttGroup, all_on(kSttGroup, {})));
      }
      break;
    }
    case Ask::Probe: {
      ProbeReport report;
      if (read(bytes, report)) {
        use_probe(report);
      }
      break;
    }
    case Ask::FullWindow: {
      FullWindow window;
      if (read(bytes, window) && is_possible(window)) {
        static_cast<void>(measurements_of({.report = {}, .stages = {}, .window = window}, kSttGroup,
                                          all_on(kSttGroup, {.device = "cuda:0", .storage = {}})));
      }
      break;
    }
    case Ask::Operations: {
      std::vector<OperationOutcome> outcomes;
      if (read(bytes, outcomes)) {
        static_cast<void>(compare_with_definition(outcomes));
      }
      break;
    }
    default: {
      Error error;
      static_cast<void>(read(bytes, error));
    }
  }
}

// What a worker is asked that opens nothing. What would be opened is read alone.
void use_request(Ask what, Bytes bytes) {
  static Pulse pulse;
  static DeviceThreads threads;
  static StageHost host(pulse, threads);
  StageDevice device;
  WireReader reader(bytes);
  switch (what) {
    case Ask::Settings: {
      DeviceSettings settings;
      std::vector<Fault> faults;
      reader(settings, faults);
      break;
    }
    case Ask::OpenDetector: {
      DetectorFile file;
      reader(file, device);
      break;
    }
    case Ask::OpenWindows: {
      WindowsFile file;
      reader(file, device, device);
      break;
    }
    case Ask::OpenVoice: {
      VoiceModelFile file;
      reader(file, device, device);
      break;
    }
    case Ask::OpenLanguage: {
      LanguageFile file;
      reader(file, device, device);
      break;
    }
    case Ask::OpenEmbedder: {
      EmbeddingFile file;
      reader(file, device);
      break;
    }
    case Ask::Driver: {
      gpu::GpuSearch search;
      reader(search);
      break;
    }
    case Ask::Cards: {
      gpu::NvmlSearch search;
      std::vector<std::string> addresses;
      reader(search, addresses);
      break;
    }
    case Ask::Operations:
    case Ask::Check: {
      std::string name;
      reader(name);
      break;
    }
    default:
      RequestStops stops;
      static_cast<void>(host.handle(what, bytes, stops));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto what = static_cast<Ask>(data[0] & 0x3FU);
  // Where messages lie is aligned.
  const std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data + 1),
                                     reinterpret_cast<const std::byte*>(data + size));
  if ((data[0] & 0x80U) != 0) {
    use_request(what, bytes);
  } else {
    use_answer(what, bytes);
  }
  return 0;
}

}  // namespace mynah::place
