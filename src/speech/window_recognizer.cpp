#include "speech/window_recognizer.h"

#include <fmt/format.h>

#include "speech/hotwords.h"
#include "speech/job_scheduler.h"
#include "speech/live_session.h"
#include "tensor/device_error.h"

namespace mynah {

Status WindowRecognizer::check(const RecognizerOptions& options) const {
  MYNAH_TRY_STATUS(model_->header()->check(options.decoding));
  MYNAH_TRY_STATUS(check_hotwords(options.cutting.hotwords));
  for (const ClipRange& clip : options.cutting.clips) {
    if (!(clip.start_s >= 0) || !(clip.end_s > clip.start_s)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("a clip wants a start of 0 or more and a later end, found {} to {} s",
                              clip.start_s, clip.end_s));
    }
  }
  return {};
}

Result<std::unique_ptr<Recognizer::Session>> WindowRecognizer::session(
    const RecognizerOptions& options) const {
  return LiveSession::create(queue_, voice_, options);
}

void WindowRecognizer::run(std::span<const RecognizerJob> jobs, const RecognizerOptions& options,
                           RecognizerObserver& observer, const std::stop_token& stop) const {
  const Status checked = check(options);
  if (!checked) {
    for (size_t i = 0; i < jobs.size(); ++i) {
      observer.on_done(i, std::unexpected(checked.error()));
    }
    return;
  }
  JobScheduler scheduler(*queue_, options, voice_.get(), jobs, observer);
  if (const Status ran = or_device_error([&] { return scheduler.run(stop); }); !ran) {
    scheduler.end_all(ran.error());
  }
}

}  // namespace mynah
