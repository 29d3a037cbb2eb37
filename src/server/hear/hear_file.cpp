#include "server/hear/hear_file.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "text/languages.h"

namespace mynah::server {
namespace {

// Somebody waits for the text of what is no longer; it goes before recordings that are.
constexpr double kShort_s = 30;
// More at once are no longer people who wait, but work: they take turns with all else, and share
// out the device's parts.
constexpr int kMostUrgent = 8;

// One recording more is being heard, as long as it lives.
class UnderWay {
 public:
  explicit UnderWay(std::atomic<int>& count) : count_(count), before_(count.fetch_add(1)) {}

  ~UnderWay() { count_.fetch_sub(1); }

  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  // How many were being heard already.
  [[nodiscard]] int before() const { return before_; }

 private:
  std::atomic<int>& count_;
  int before_;
};

// Counts what becomes of a recording, and tells another all of it.
class CountedHearing final : public RecognizerObserver {
 public:
  CountedHearing(RecognizerObserver& to, Metrics& metrics) : to_(to), metrics_(metrics) {}

  // What is read of the recording: so much was heard of one whose client leaves.
  [[nodiscard]] std::atomic<double>& read_s() { return read_s_; }

  void on_begun() override {
    begun_ = true;
    begun_at_ = Clock::now();
    if (work_ != nullptr) {
      work_->begin();
    }
    to_.on_begun();
  }

  void on_window(size_t job, size_t together) override {
    metrics_.count_window(together);
    to_.on_window(job, together);
  }

  void on_segment(size_t job, const Segment& segment) override { to_.on_segment(job, segment); }

  void on_progress(size_t job, double done_s, std::optional<double> duration_s) override {
    to_.on_progress(job, done_s, duration_s);
  }

  void on_done(size_t job, const Result<Transcript>& result) override {
    const double heard_s = result ? result->duration_s : begun_ ? read_s_.load() : 0;
    const std::chrono::duration<double> took = Clock::now() - begun_at_.load();
    metrics_.count_heard(heard_s, took.count());
    if (work_ != nullptr) {
      work_->spend(heard_s);
    }
    to_.on_done(job, result);
  }

 private:
  using Clock = std::chrono::steady_clock;

  RecognizerObserver& to_;
  Metrics& metrics_;
  std::shared_ptr<RequestWork> work_ = RequestWork::here();
  std::atomic<Clock::time_point> begun_at_{Clock::now()};
  std::atomic<bool> begun_ = false;
  std::atomic<double> read_s_{0};
};

// A recording, of which is counted how much was read.
class CountedSource final : public AudioSource {
 public:
  CountedSource(std::unique_ptr<AudioSource> source, std::atomic<double>& read_s)
      : source_(std::move(source)), read_s_(read_s) {}

  Result<size_t> read(std::span<float> out) override {
    auto count = source_->read(out);
    read_s_ += static_cast<double>(count.value_or(0)) / source_->rate_hz();
    return count;
  }

  [[nodiscard]] int rate_hz() const override { return source_->rate_hz(); }

  [[nodiscard]] std::optional<double> duration_s() const override { return source_->duration_s(); }

  [[nodiscard]] AudioTracks tracks() const override { return source_->tracks(); }

 private:
  std::unique_ptr<AudioSource> source_;
  std::atomic<double>& read_s_;
};

}  // namespace

const FormFile* recording_of(const Body& body, std::string_view field) {
  for (const FormFile& file : body.files) {
    if (file.field == field) {
      return &file;
    }
  }
  return body.files.size() == 1 ? body.files.data() : nullptr;
}

std::string name_of(const FormFile& file) {
  return file.name.empty() ? "the file" : file.name;
}

Result<std::unique_ptr<AudioSource>> open_file(const FormFile& file,
                                               const AudioOpenOptions& audio) {
  MYNAH_TRY(InputFile input, file.bytes.open(name_of(file)));
  return open_audio(std::move(input), audio);
}

Result<double> length_of(const FormFile& file, const AudioOpenOptions& audio) {
  MYNAH_TRY(const auto source, open_file(file, audio));
  return source->duration_s().value_or(0);
}

void expect_words(const Hearing& hearing, RecognizerOptions& options) {
  std::vector<std::string>& words = options.cutting.hotwords;
  words.insert(words.end(), hearing.hotwords->begin(), hearing.hotwords->end());
}

void hear(const RecognizerJob& recording, const RecognizerOptions& options, const Hearing& hearing,
          RecognizerObserver& observer, const std::stop_token& stop) {
  RecognizerOptions how = options;
  expect_words(hearing, how);
  CountedHearing counted(observer, *hearing.metrics);
  const RecognizerJob read{
      .name = recording.name, .open = [&]() -> Result<std::unique_ptr<AudioSource>> {
        MYNAH_TRY(auto source, recording.open());
        return std::make_unique<CountedSource>(std::move(source), counted.read_s());
      }};
  hearing.lease->recognizer->run({&read, 1}, how, counted, stop);
}

void hear_file(const FormFile& file, const AudioOpenOptions& audio,
               const RecognizerOptions& options, const Hearing& hearing,
               RecognizerObserver& observer, const std::stop_token& stop) {
  AudioOpenOptions stoppable = audio;
  stoppable.stop = stop;
  auto source = open_file(file, stoppable);
  if (!source) {
    observer.on_done(0, std::unexpected(std::move(source).error()));
    return;
  }
  RecognizerOptions how = options;
  const UnderWay under_way(*hearing.under_way);
  const bool is_short = (*source)->duration_s().value_or(kShort_s + 1) <= kShort_s;
  how.urgency = is_short && under_way.before() < kMostUrgent ? Urgency::Interactive : Urgency::Bulk;
  const RecognizerJob job{.name = name_of(file), .open = [&source] { return std::move(source); }};
  if (const auto work = RequestWork::here()) {
    how.owner = work->owner();
  }
  hear(job, how, hearing, observer, stop);
}

std::string refused_field(const Recognizer& recognizer, RecognizerOptions options) {
  options.decoding.language = "auto";
  return recognizer.check(options) ? "language" : "";
}

std::string text_of_whole(const Transcript& transcript) {
  return std::string(trimmed(text_of(transcript.segments), " "));
}

std::string language_name(const std::string& code) {
  const auto index = find_language(code);
  return index ? std::string(languages()[*index].name) : code;
}

void name_hearing(const Hearing& hearing, Response& response) {
  response.headers.set("X-Mynah-Model", hearing.name);
  response.headers.set("X-Mynah-Device", "stt=" + hearing.lease->device());
  if (hearing.model_passed_over) {
    response.headers.set(kIgnoredHeader, "model");
  }
}

}  // namespace mynah::server
