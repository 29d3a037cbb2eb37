// Real recordings with real weights: the text, and what it takes.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audio/wav_header.h"
#include "check.h"
#include "speech/whisper/window_decoder.h"
#include "speech/window_recognizer.h"
#include "text/word_error.h"
#include "whisper/stages.h"

namespace mynah::gpucheck {

namespace {

namespace fs = std::filesystem;

struct Clip {
  std::string name;
  std::string text;  // what was said
  std::vector<float> samples;
};

// 16-bit mono at 16 kHz, as tools/make_gpu_bundle.py writes it.
Result<std::vector<float>> read_wav(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
  const WavProbe probe = probe_wav(std::as_bytes(std::span(bytes)));
  if (probe.state != WavProbe::State::Found || probe.header.rate_hz != 16000 ||
      probe.header.channels != 1 || probe.header.encoding != "s16le") {
    return fail(ErrorCode::InvalidInput,
                path.string() + ": wanted 16-bit mono WAV at 16 kHz, found something else");
  }
  const size_t count = (bytes.size() - probe.header.header_bytes) / sizeof(int16_t);
  std::vector<int16_t> stored(count);
  std::memcpy(stored.data(), bytes.data() + probe.header.header_bytes, count * sizeof(int16_t));
  std::vector<float> samples(count);
  std::ranges::transform(stored, samples.begin(),
                         [](int16_t sample) { return static_cast<float>(sample) / 32768.0F; });
  return samples;
}

Result<std::vector<Clip>> read_clips(const std::string& data) {
  std::ifstream list(fs::path(data) / "clips.tsv");
  std::vector<Clip> clips;
  for (std::string line; std::getline(list, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      return fail(ErrorCode::InvalidInput,
                  data + "/clips.tsv: wanted NAME, tab, TEXT, found " + line);
    }
    Clip clip{.name = line.substr(0, tab), .text = line.substr(tab + 1), .samples = {}};
    MYNAH_TRY(clip.samples, read_wav(fs::path(data) / "clips" / clip.name));
    clips.push_back(std::move(clip));
  }
  if (clips.empty()) {
    return fail(ErrorCode::NotFound, data + "/clips.tsv: no clips there");
  }
  return clips;
}

// Samples that are in memory already.
class MemorySource final : public AudioSource {
 public:
  explicit MemorySource(std::span<const float> samples) : samples_(samples) {}

  Result<size_t> read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size());
    std::ranges::copy(samples_.first(count), out.begin());
    samples_ = samples_.subspan(count);
    return count;
  }

  [[nodiscard]] int rate_hz() const override { return 16000; }

  [[nodiscard]] std::optional<double> duration_s() const override { return std::nullopt; }

 private:
  std::span<const float> samples_;
};

class Texts final : public RecognizerObserver {
 public:
  explicit Texts(size_t jobs) : texts_(jobs) {}

  void on_done(size_t job, const Result<Transcript>& result) override {
    if (!result) {
      failure_ = result.error().message;
      return;
    }
    for (const Segment& segment : result->segments) {
      texts_[job] += segment.text;
    }
  }

  std::vector<std::string> texts_;
  std::string failure_;
};

Result<std::unique_ptr<Recognizer>> load(const std::string& data, Backend& backend) {
  MYNAH_TRY(auto model, bench::load_gguf(data + "/tiny.en.gguf", {}, Precision::Fast, backend));
  return std::make_unique<WindowRecognizer>(
      std::make_shared<const WhisperWindows>(std::move(model)), nullptr);
}

struct Heard {
  std::vector<std::string> texts;
  double seconds = 0;
};

Result<Heard> hear(const Recognizer& recognizer, std::span<const Clip> clips) {
  std::vector<RecognizerJob> jobs;
  for (const Clip& clip : clips) {
    jobs.push_back({.name = clip.name, .open = [&clip]() -> Result<std::unique_ptr<AudioSource>> {
                      return std::make_unique<MemorySource>(clip.samples);
                    }});
  }
  RecognizerOptions options;
  options.decoding.language = "en";
  options.cutting.vad = false;
  Texts texts(clips.size());
  const auto start = std::chrono::steady_clock::now();
  recognizer.run(jobs, options, texts, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!texts.failure_.empty()) {
    return fail(ErrorCode::Device, texts.failure_);
  }
  return Heard{.texts = std::move(texts.texts_), .seconds = took.count()};
}

// Real weights are needed for it, and time: on a simulated card a clip takes a minute.
bool hears(const Options& options, const char* row) {
  if (options.quick || options.data.empty()) {
    say({{"row", row}, {"note", options.quick ? "left out: quick" : "no weights at hand"}});
    return false;
  }
  return true;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Status check_first_use(const Options& options) {
  if (!hears(options, "use")) {
    return {};
  }
  MYNAH_TRY(const auto clips, read_clips(options.data));
  const auto start = std::chrono::steady_clock::now();
  MYNAH_TRY(const Subject subject, open_subject(options));
  const double opened = seconds_since(start);
  MYNAH_TRY(const auto recognizer, load(options.data, *subject.backend));
  const double loaded = seconds_since(start);
  MYNAH_TRY(const Heard heard, hear(*recognizer, std::span(clips).first(1)));
  const double first = seconds_since(start);
  MYNAH_TRY(const Heard again, hear(*recognizer, std::span(clips).first(1)));
  say({{"row", "use"},
       {"opened_s", opened},
       {"loaded_s", loaded},
       {"first_text_s", first},
       {"same_clip_again_s", again.seconds},
       {"text", heard.texts.front()}});
  return {};
}

Status check_clips(const Options& options) {
  if (!hears(options, "clips")) {
    return {};
  }
  MYNAH_TRY(const auto clips, read_clips(options.data));
  MYNAH_TRY(const Subject subject, open_subject(options));
  constexpr int kRuns = 3;
  const TextScorer scorer("en");
  for (Backend* backend : {subject.backend.get(), subject.cpu.get()}) {
    MYNAH_TRY(const auto recognizer, load(options.data, *backend));
    MYNAH_TRY(const Heard warm, hear(*recognizer, clips));
    ErrorCounts errors;
    double seconds = 0;
    for (size_t i = 0; i < clips.size(); ++i) {
      std::vector<double> times;
      std::string text;
      for (int run = 0; run < kRuns; ++run) {
        MYNAH_TRY(Heard alone, hear(*recognizer, std::span(clips).subspan(i, 1)));
        times.push_back(alone.seconds);
        text = std::move(alone.texts.front());
      }
      std::ranges::sort(times);
      const double median = times[times.size() / 2];
      const double length = static_cast<double>(clips[i].samples.size()) / 16000.0;
      errors += scorer.score(clips[i].text, text).counts;
      seconds += length;
      say({{"row", "clip"},
           {"device", backend->device().str()},
           {"name", clips[i].name},
           {"audio_s", length},
           {"seconds", median},
           {"same_text_in_batch", text == warm.texts[i]},
           {"text", text}});
    }
    MYNAH_TRY(const Heard batch, hear(*recognizer, clips));
    say({{"row", "clips"},
         {"device", backend->device().str()},
         {"audio_s", seconds},
         {"batch_seconds", batch.seconds},
         {"errors", errors.errors()},
         {"words", errors.reference_length()}});
  }
  return {};
}

}  // namespace mynah::gpucheck
