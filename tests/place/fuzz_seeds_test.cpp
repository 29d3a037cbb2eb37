// The seeds of the fuzzers place_answer, elsewhere and kept_proof: good messages and files, from
// which a fuzzer goes astray. They are written by
//   MYNAH_WRITE_SEEDS=1 build/release/tests/place/place_wire_test --gtest_filter='FuzzSeeds.*'
// when a field is added, and this test holds them to be good.
#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "place/kinds/embed/embed_wire.h"
#include "place/kinds/kinds.h"
#include "place/kinds/llm/llm_wire.h"
#include "place/kinds/voice/voice_questions.h"
#include "place/kinds/windows/windows_questions.h"
#include "place/made_up_values.h"
#include "place/proofs/kept_file.h"
#include "place/wire/possible.h"
#include "temporary_folder.h"

namespace mynah::place {
namespace {

using Seeds = std::map<std::string, std::string>;

template <class... T>
std::string seed(uint8_t first, const T&... fields) {
  const auto bytes = test::wire_bytes(fields...);
  return std::string(1, static_cast<char>(first))
      .append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

template <class... T>
std::string answer(Ask what, const T&... fields) {
  return seed(static_cast<uint8_t>(what), fields...);
}

template <class... T>
std::string request(Ask what, const T&... fields) {
  return seed(static_cast<uint8_t>(static_cast<uint32_t>(what) | 0x80U), fields...);
}

HeardWindow some_text() {
  HeardWindow heard;
  Segment segment;
  segment.end_s = 1;
  segment.text = " a b";
  segment.tokens = {5, 7};
  segment.token_log_probabilities = {-1, -0.1F};
  segment.opening = {.token = 50400, .log_probability = -0.5F, .position = 36};
  heard.segments = {segment};
  heard.next_s = 1;
  heard.words = {{.text = " a", .tokens = {5}, .start_s = 0, .end_s = 0.5, .probability = 1},
                 {.text = " b", .tokens = {7}, .start_s = 0.5, .end_s = 1, .probability = 0.5F}};
  return heard;
}

ClauseSound some_sound() {
  ClauseSound sound;
  sound.samples.assign(60, 0.25F);
  sound.words = {{{.symbol = "a", .span = {.begin = 0, .end = 20}}},
                 {},
                 {{.symbol = "b", .span = {.begin = 20, .end = 60}}}};
  return sound;
}

ProbeReport some_probe() {
  ProbeReport report;
  report.probe.sound_s = 1;
  report.probe.stages = {{.stage = "stt.encoder", .values = {1, 2}},
                         {.stage = "stt.decoder", .values = {0.5F}}};
  report.times = {{.stage = kSttEncoder, .milliseconds = 3, .longest_step_ms = 1},
                  {.stage = kSttDecoder, .milliseconds = 5, .longest_step_ms = 2}};
  return report;
}

std::vector<Measurement> some_measurements() {
  std::vector<Measurement> all(2);
  all[0].stage = kSttEncoder;
  all[1].stage = kSttDecoder;
  for (Measurement& measured : all) {
    measured.device = "cpu";
    measured.storage = DType::I8;
    measured.passed = true;
    measured.ms_per_unit = 12;
  }
  return all;
}

Seeds answers() {
  const std::vector<float> sound{0, 0.5F, -0.5F};
  const std::vector<std::byte> state(12);
  const StageDevice card{.device = "cuda:0", .storage = DType::F16};
  const WindowTask task{.samples = sound,
                        .prompts = {"names"},
                        .previous = {5, 7},
                        .language = "en",
                        .hotwords = {"Kaito"}};
  return {
      {"answer_error", seed(0, Error{ErrorCode::Device, "device lost"})},
      {"answer_open_detector",
       answer(Ask::OpenDetector, DetectorFacts{.rate_hz = 16000, .frame_s = 0.032, .name = "v6"})},
      {"answer_open_voice",
       answer(Ask::OpenVoice, VoiceModelFacts{.name = "kokoro",
                                              .rate_hz = 24000,
                                              .voices = {{"af_heart", "en-US", "female"}},
                                              .most_phonemes = 510,
                                              .phonemes = "aə",
                                              .reading = {ReadBy::Espeak, "en-us", "en-us"}})},
      {"answer_open_language", answer(Ask::OpenLanguage, LanguageFacts{.architecture = "llama",
                                                                       .vocabulary = 100,
                                                                       .trained_context = 2048,
                                                                       .context = 512,
                                                                       .position_bytes = 64})},
      {"answer_open_embedder", answer(Ask::OpenEmbedder, EmbeddingFacts{.architecture = "bert",
                                                                        .vocabulary = 100,
                                                                        .longest = 32,
                                                                        .width = 2,
                                                                        .normalized = true})},
      {"answer_embed", answer(Ask::Embed, std::vector<float>{0.5F, -1, 0, 1})},
      {"answer_write",
       answer(Ask::Write,
              std::vector<ChosenToken>{
                  {.token = 5, .log_probability = -1, .alternatives = {{5, -1}}}, ChosenToken{}})},
      {"answer_new_decoder", answer(Ask::NewDecoder, uint64_t{1})},
      {"answer_decode", answer(Ask::Decode, std::vector<HeardWindow>{some_text(), HeardWindow{}},
                               WindowTimings{.mel_ms = 1, .encoder_ms = 2})},
      {"answer_draft", answer(Ask::Draft, some_text())},
      {"answer_listen", answer(Ask::Listen, sound, state)},
      {"answer_probabilities",
       answer(Ask::Probabilities, std::vector<std::vector<float>>{sound, {}})},
      {"answer_speak", answer(Ask::Speak, some_sound())},
      {"answer_find_voice", answer(Ask::FindVoice, VoiceFacts{"anna", "en-US", "female"})},
      {"answer_report", answer(Ask::Report, std::vector<StageReport>{{.stage = kSttDecoder,
                                                                      .device = "cuda:0",
                                                                      .architecture = "sm_89",
                                                                      .bytes = 1000,
                                                                      .operations = 5}})},
      {"answer_probe", answer(Ask::Probe, some_probe())},
      {"answer_operations",
       answer(Ask::Operations, std::vector<OperationOutcome>{{.name = "add", .values = sound}})},
      {"request_settings",
       request(Ask::Settings, DeviceSettings{.image_folder = "/tmp", .threads = 2},
               std::vector<Fault>{{.stage = kSttDecoder}})},
      {"request_open_windows", request(Ask::OpenWindows, WindowsFile{.path = "/m"}, card, card)},
      {"request_open_voice",
       request(Ask::OpenVoice, VoiceModelFile{.family = "kokoro", .path = "/m"}, card, card)},
      {"request_open_language",
       request(Ask::OpenLanguage, LanguageFile{.path = "/m", .context = 512}, card, card)},
      {"request_open_embedder", request(Ask::OpenEmbedder, EmbeddingFile{.path = "/m"}, card)},
      {"request_embed", request(Ask::Embed, TokenTexts{{1, 2}, {3}})},
      {"request_write",
       request(Ask::Write, uint64_t{1},
               StepRequest{.forks = {{.from = 1, .to = 2, .length = 3}},
                           .forgotten = {4},
                           .steps = {{.text = 2,
                                      .begin = 3,
                                      .tokens = {7, 8},
                                      .wishes = {TokenWish{.penalties = {{.token = 3}}}}}}})},
      {"request_new_decoder", request(Ask::NewDecoder, DecodingOptions{})},
      {"request_decode", request(Ask::Decode, uint64_t{1}, std::vector<WindowTask>{task})},
      {"request_listen", request(Ask::Listen, state, sound, true)},
      {"request_speak",
       request(Ask::Speak, std::vector<PhonemeWord>{{.text = "a", .phonemes = "ə"}},
               VoiceSettings{.voice = "anna"})},
      {"request_probe", request(Ask::Probe, kSttGroup)},
      {"request_close", request(Ask::CloseGroup, kTtsGroup)},
  };
}

Seeds kept() {
  const WakeState wake{.boot_id = "0f", .suspended_ms = 5};
  const Proof proof{.measurements = some_measurements(), .made_at = 1'700'000'000};
  const Distrust distrust{.failures = 2, .last_at = 1'700'000'000, .reason = "lost"};
  Reference reference;
  reference.exact = some_probe().probe;
  reference.cpu = some_measurements();
  reference.cpu_exact = some_measurements();
  reference.error_bound = {0.01, 0.02};
  const int64_t number = 1'700'000'000;
  const auto file = kept_bytes(kDistrustKind, "cuda:0\nRTX", distrust, number);
  return {{"proof", seed(0, wake, proof)},
          {"distrust", seed(1, distrust, number)},
          {"reference", seed(2, reference)},
          {"file",
           std::string(1, '\1').append(reinterpret_cast<const char*>(file.data()), file.size())}};
}

Seeds questions() {
  static const std::vector<float> sound{0, 0.5F, -0.5F};
  const WindowTask task{.samples = sound,
                        .prompts = {"names"},
                        .previous = {5, 7},
                        .language = "en",
                        .hotwords = {"Kaito"},
                        .begun = some_text().segments};
  return {{"windows", seed('w', WindowsQuestion{.digest = std::string(64, 'a'),
                                                .urgent = true,
                                                .options = {},
                                                .tasks = {task, WindowTask{}}})},
          {"voice", seed('v', VoiceQuestion{.digest = std::string(64, 'a'), .voice = "anna"})},
          {"clause", seed('c', ClauseQuestion{.digest = std::string(64, 'a'),
                                              .words = {{.text = "a", .phonemes = "ə"}},
                                              .settings = {.voice = "anna"}})},
          {"probe", seed('p', ProbeQuestion{.digest = std::string(64, 'a'), .sound = sound})}};
}

void expect_seeds(const std::string& corpus, const Seeds& seeds) {
  const std::string folder = std::string(MYNAH_SOURCE_DIR) + "/tests/fuzz/corpus/" + corpus + "/";
  for (const auto& [name, bytes] : seeds) {
    if (std::getenv("MYNAH_WRITE_SEEDS") != nullptr) {
      mynah::test::write_file(folder + name, bytes);
    }
    EXPECT_TRUE(mynah::test::read_file(folder + name) == bytes) << folder << name;
  }
}

TEST(FuzzSeeds, OfAnswersAreThoseOfThisProgram) {
  expect_seeds("place_answer", answers());
}

TEST(FuzzSeeds, OfQuestionsAreThoseOfThisProgram) {
  expect_seeds("elsewhere", questions());
}

TEST(FuzzSeeds, OfKeptFilesAreThoseOfThisProgram) {
  expect_seeds("kept_proof", kept());
}

}  // namespace
}  // namespace mynah::place
