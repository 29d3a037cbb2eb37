#include "place/kinds/windows/windows_elsewhere.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/turns.h"
#include "place/elsewhere/shared_digest.h"
#include "place/kinds/windows/windows_questions.h"

namespace mynah::place {
namespace {

// What the decoders of a model share. The worker's lane is one thread.
struct There {
  std::unique_ptr<MynahCaller> mynah;
  std::shared_ptr<const HearingHeader> header;
  std::string digest;
};

std::unexpected<Error> no_answer(const char* what) {
  return fail(ErrorCode::Device, what);
}

class ElsewhereDecoder final : public WindowDecoder {
 public:
  ElsewhereDecoder(std::shared_ptr<There> there, const DecodingOptions& options)
      : there_(std::move(there)), options_(options) {}

  [[nodiscard]] Result<std::vector<HeardWindow>> decode(std::span<const WindowTask> tasks,
                                                        const std::stop_token& stop) override {
    std::vector<HeardWindow> heard;
    while (heard.size() < tasks.size()) {
      const std::span<const WindowTask> some = first_that_fit(tasks.subspan(heard.size()));
      MYNAH_TRY(auto texts, ask(some, false, stop));
      heard.insert(heard.end(), std::make_move_iterator(texts.begin()),
                   std::make_move_iterator(texts.end()));
    }
    return heard;
  }

  [[nodiscard]] Result<HeardWindow> draft(const WindowTask& task,
                                          const std::stop_token& stop) override {
    MYNAH_TRY(auto texts, ask({&task, 1}, true, stop));
    return std::move(texts.front());
  }

  [[nodiscard]] const WindowTimings& timings() const override { return timings_; }

 private:
  static std::span<const WindowTask> first_that_fit(std::span<const WindowTask> tasks) {
    size_t count = 0;
    size_t bytes = 0;
    while (count < std::min(tasks.size(), kMostTasks)) {
      bytes += tasks[count].samples.size_bytes();
      if (count > 0 && bytes > kMostSampleBytes) {
        break;
      }
      ++count;
    }
    return tasks.first(count);
  }

  Result<std::vector<HeardWindow>> ask(std::span<const WindowTask> tasks, bool draft,
                                       const std::stop_token& stop) {
    std::vector<std::optional<HeardWindow>> texts(tasks.size());
    const auto take = [&](std::span<const std::byte> bytes) -> Status {
      HeardAnswer answer;
      if (!read_wire(bytes, answer) || answer.task >= texts.size() || texts[answer.task] ||
          !is_possible(answer.heard, there_->header->facts(), tasks[answer.task].samples.size())) {
        return fail(ErrorCode::InvalidInput, "it answers with a text that cannot be");
      }
      timings_.add(answer.spent);
      texts[answer.task] = std::move(answer.heard);
      return {};
    };
    WireWriter question;
    question(WindowsQuestion{.digest = there_->digest,
                             .draft = draft,
                             .urgent = urgency() == Urgency::Interactive,
                             .options = options_,
                             .tasks = {tasks.begin(), tasks.end()}});
    const Status asked = there_->mynah->ask(kWindowsRoute, question.bytes(), take, stop);
    std::vector<HeardWindow> heard(tasks.size());
    if (stop.stop_requested()) {
      return heard;  // which mean nothing
    }
    MYNAH_TRY_STATUS(asked);
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!texts[i]) {
        return no_answer("it left a window out");
      }
      heard[i] = *std::move(texts[i]);
    }
    return heard;
  }

  std::shared_ptr<There> there_;
  DecodingOptions options_;
  WindowTimings timings_;
};

class ElsewhereWindows final : public WindowModel {
 public:
  explicit ElsewhereWindows(There there) : there_(std::make_shared<There>(std::move(there))) {}

  // Has the model opened there.
  Status open(const std::stop_token& stop) const {
    WireWriter question;
    question(WindowsQuestion{.digest = there_->digest, .options = {}, .tasks = {}});
    return there_->mynah->ask(
        kWindowsRoute, question.bytes(),
        [](std::span<const std::byte> /*bytes*/) -> Status {
          return fail(ErrorCode::InvalidInput, "it answers what nobody asked");
        },
        stop);
  }

  [[nodiscard]] std::shared_ptr<const HearingHeader> header() const override {
    return there_->header;
  }

  [[nodiscard]] Result<std::unique_ptr<WindowDecoder>> decoder(
      const DecodingOptions& options) const override {
    MYNAH_TRY_STATUS(there_->header->check(options));
    return std::make_unique<ElsewhereDecoder>(there_, options);
  }

  [[nodiscard]] Result<Probe> probe() const override {
    Probe probe;
    bool told = false;
    WireWriter question;
    question(ProbeQuestion{.digest = there_->digest,
                           .sound = probe_sound(static_cast<size_t>(kHearingRate_hz))});
    MYNAH_TRY_STATUS(there_->mynah->ask(
        kProbeRoute, question.bytes(),
        [&](std::span<const std::byte> bytes) -> Status {
          told = read_wire(bytes, probe);
          return told ? Status{} : fail(ErrorCode::InvalidInput, "its probe cannot be read");
        },
        {}));
    return told ? Result<Probe>(std::move(probe)) : no_answer("it did not answer the probe");
  }

  // What a full window takes, on the way there and back as well. The memory is the other's.
  [[nodiscard]] Result<WindowMemory> hear_full_window() const override {
    const std::vector<float> sound =
        probe_sound(static_cast<size_t>(samples_of(there_->header->facts().longest_window_s)));
    WindowTask task;
    task.samples = sound;
    MYNAH_TRY(const auto decoder, this->decoder({}));
    MYNAH_TRY_STATUS(decoder->decode({&task, 1}, {}));
    return WindowMemory{};
  }

  // What they are called by who asked for them.
  [[nodiscard]] WindowDevices devices() const override { return {}; }

 private:
  std::shared_ptr<There> there_;
};

}  // namespace

Result<std::shared_ptr<const WindowModel>> open_windows_elsewhere(
    const WindowsFile& file, std::unique_ptr<MynahCaller> mynah, const std::stop_token& stop) {
  MYNAH_TRY(const auto opened, open_hearing(file.path));
  MYNAH_TRY(std::string digest, shared_digest(file, file.cache_folder));
  auto windows = std::make_shared<const ElsewhereWindows>(
      There{.mynah = std::move(mynah), .header = opened->header(), .digest = std::move(digest)});
  MYNAH_TRY_STATUS(windows->open(stop));
  return windows;
}

}  // namespace mynah::place
