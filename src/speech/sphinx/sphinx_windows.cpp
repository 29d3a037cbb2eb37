#include "speech/sphinx/sphinx_windows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/builtin/sphinx.h"

namespace mynah {
namespace {

constexpr std::string_view kNote =
    "recognised by the built-in recogniser (PocketSphinx, US English), which makes far more errors "
    "than Whisper; for better text: mynah pull tiny.en";

// It has no window of its own; turns come whole, and what nobody cut is cut by this.
constexpr double kLongestWindow_s = 30;

// A pause this long between two words begins a segment.
constexpr double kSegmentPause_s = 0.5;

HearingFacts sphinx_facts() {
  return {.model = "pocketsphinx en-us",
          .languages = {"en"},
          .longest_window_s = kLongestWindow_s,
          .full_window_s = kLongestWindow_s,
          .wants_vad = true,
          .takes_prompt = false,
          .takes_hotwords = false,
          .times_words = true,
          .hears_together = false,
          // With thresholds that lean to speech 1,137 of the 2,147 words of the 96 English clips
          // are wrong, with the plain ones 1,110, and more than twice as much is written of noise.
          .knows_silence = false,
          .note = std::string(kNote),
          .sizes = {}};
}

class SphinxHeader final : public HearingHeader {
 public:
  [[nodiscard]] const HearingFacts& facts() const override { return facts_; }

  [[nodiscard]] Status check(const DecodingOptions& options) const override {
    if (options.task == Task::Translate) {
      return fail(ErrorCode::Unsupported,
                  "the built-in recogniser cannot translate; a model that can: mynah pull tiny");
    }
    for (const std::string_view known :
         {"", "auto", "en", "English", "english", "en-us", "en-US"}) {
      if (options.language == known) {
        return {};
      }
    }
    return fail(ErrorCode::Unsupported, "the built-in recogniser knows English only, not \"" +
                                            options.language +
                                            "\"; a model for 99 languages: mynah pull tiny");
  }

  [[nodiscard]] double effort(const DecodingOptions& /*options*/) const override { return 1; }

  [[nodiscard]] std::string token_text(int32_t /*token*/) const override { return {}; }

 private:
  HearingFacts facts_ = sphinx_facts();
};

// Words of one breath. Times stay inside of the window.
Segment segment_of(std::span<const SphinxWord> said, double window_s, bool with_words) {
  Segment segment;
  segment.start_s = said.front().start_s;
  segment.end_s = std::min(window_s, said.back().end_s);
  double log_probability = 0;
  for (const SphinxWord& word : said) {
    constexpr float kLeast = 1e-10F;
    segment.text += " " + word.text;
    log_probability += std::log(std::max(word.probability, kLeast));
    if (with_words) {
      segment.words.push_back({.text = " " + word.text,
                               .start_s = word.start_s,
                               .end_s = std::min(window_s, word.end_s),
                               .probability = word.probability});
    }
  }
  segment.mean_log_probability =
      static_cast<float>(log_probability / static_cast<double>(said.size()));
  return segment;
}

double pause_before(std::span<const SphinxWord> words, size_t word) {
  return words[word].start_s - words[word - 1].end_s;
}

// How many of the words of a full window, which the clock cut, are whole: those up to the longest
// pause of its last third, and one at least, so that it moves on.
size_t count_whole(std::span<const SphinxWord> words) {
  if (words.size() < 2 || kLongestWindow_s - words.back().end_s >= kSegmentPause_s) {
    return words.size();
  }
  size_t whole = words.size() - 1;
  for (size_t i = whole; i > 0 && words[i].start_s > kLongestWindow_s * 2 / 3; --i) {
    whole = pause_before(words, i) > pause_before(words, whole) ? i : whole;
  }
  return whole;
}

HeardWindow silent_window(const WindowTask& task) {
  HeardWindow heard;
  heard.next_s = task.duration_s();
  heard.silent = true;
  return heard;
}

bool is_over(const WindowTask& task, const std::stop_token& stop) {
  return stop.stop_requested() || task.stop.stop_requested();
}

class SphinxWindowDecoder final : public WindowDecoder {
 public:
  explicit SphinxWindowDecoder(const DecodingOptions& options) : words_(options.words) {}

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    std::vector<HeardWindow> heard;
    for (const WindowTask& task : tasks) {
      MYNAH_TRY(const auto said, timed([&](SphinxDecoder& decoder) {
                  return decoder.decode(task.samples, [&] { return is_over(task, stop); });
                }));
      heard.push_back(window_of(task, said));
    }
    return heard;
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    MYNAH_TRY(const std::string said, timed([&](SphinxDecoder& decoder) {
                return decoder.draft(task.samples, [&] { return is_over(task, stop); });
              }));
    HeardWindow heard = silent_window(task);
    if (!said.empty()) {
      heard.silent = false;
      heard.segments.emplace_back();
      heard.segments.back().text = " " + said;
      heard.segments.back().end_s = task.duration_s();
    }
    return heard;
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  // Has the decoder work, which is opened where it was not.
  template <class Work>
  auto timed(Work work) -> decltype(work(std::declval<SphinxDecoder&>())) {
    if (!decoder_) {
      MYNAH_TRY(decoder_, SphinxDecoder::open());
    }
    const auto begin = std::chrono::steady_clock::now();
    auto done = work(*decoder_);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    timings_.decoder_ms += took.count();
    return done;
  }

  [[nodiscard]] HeardWindow window_of(const WindowTask& task,
                                      std::span<const SphinxWord> said) const {
    HeardWindow heard = silent_window(task);
    if (said.empty()) {
      return heard;
    }
    heard.silent = false;
    if (!task.alone && task.duration_s() >= kLongestWindow_s) {
      const size_t whole = count_whole(said);
      heard.next_s =
          whole < said.size() ? (said[whole - 1].end_s + said[whole].start_s) / 2 : heard.next_s;
      said = said.first(whole);
    }
    size_t first = 0;
    for (size_t i = 1; i <= said.size(); ++i) {
      if (i == said.size() || pause_before(said, i) >= kSegmentPause_s) {
        heard.segments.push_back(
            segment_of(said.subspan(first, i - first), task.duration_s(), words_));
        first = i;
      }
    }
    return heard;
  }

  bool words_;
  std::optional<SphinxDecoder> decoder_;  // opened at the first window
  WindowTimings timings_;
};

}  // namespace

Result<std::shared_ptr<const SphinxWindows>> SphinxWindows::create() {
  MYNAH_TRY_STATUS(SphinxDecoder::check_installed());
  return std::shared_ptr<const SphinxWindows>(
      new SphinxWindows(std::make_shared<const SphinxHeader>()));
}

Result<std::unique_ptr<WindowDecoder>> SphinxWindows::decoder(
    const DecodingOptions& options) const {
  MYNAH_TRY_STATUS(header_->check(options));
  return std::make_unique<SphinxWindowDecoder>(options);
}

Result<Probe> SphinxWindows::probe() const {
  return fail(ErrorCode::Unsupported, "the built-in recogniser is placed nowhere");
}

}  // namespace mynah
