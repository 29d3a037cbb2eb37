#include "server/elsewhere/windows.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "place/kinds/windows/windows_questions.h"
#include "server/elsewhere/answer_frames.h"
#include "server/elsewhere/questions.h"
#include "server/http/request_work.h"
#include "server/metrics/metrics.h"
#include "speech/window_queue.h"
#include "tensor/device_error.h"

namespace mynah::server {
namespace {

// Opens the model of the question, and checks that it can be asked that.
Result<Hearing> open_for(Service& service, const place::WindowsQuestion& question) {
  MYNAH_TRY(Hearing hearing, service.hearing_of(question.digest));
  MYNAH_TRY_STATUS(check_here(hearing.name, hearing.lease->device()));
  if (hearing.lease->model == nullptr || hearing.lease->recognizer->windows() == nullptr) {
    return fail(ErrorCode::Unsupported, "the model does not hear in windows");
  }
  const auto header = hearing.lease->model->header();
  MYNAH_TRY_STATUS(place::check_question(question, header->facts()));
  MYNAH_TRY_STATUS(header->check(question.options));
  return hearing;
}

// Has the tasks heard through the queue that everybody's windows are heard through.
Status hear(Service& service, const place::WindowsQuestion& question, AnswerFrames& frames,
            const std::stop_token& stop) {
  MYNAH_TRY(const Hearing hearing, open_for(service, question));
  if (question.tasks.empty()) {
    return {};
  }
  const std::shared_ptr<WindowQueue> queue = hearing.lease->recognizer->windows();
  std::mutex mutex;
  std::condition_variable changed;
  size_t left = question.tasks.size();
  std::optional<Error> failed;
  const std::shared_ptr<RequestWork> work = RequestWork::here();
  WindowQueue::Asking asking{.urgency = question.urgent ? Urgency::Interactive : Urgency::Bulk,
                             .together = static_cast<int>(question.tasks.size())};
  if (work != nullptr) {
    asking.owner = work->owner();
    asking.begun = [work] { work->begin(); };
  }
  MYNAH_TRY(const auto client, queue->client(question.options, std::move(asking)));
  client->submit(
      question.tasks, stop,
      [&](size_t task, WindowQueue::Outcome outcome) {
        if (outcome.heard) {
          hearing.metrics->count_window(outcome.together);
          if (work != nullptr) {
            work->spend(question.tasks[task].duration_s());
          }
          frames.send(place::HeardAnswer{.task = static_cast<uint32_t>(task),
                                         .heard = *std::move(outcome.heard),
                                         .spent = outcome.spent});
        }
        const std::lock_guard lock(mutex);
        if (!outcome.heard && !failed) {
          failed = std::move(outcome.heard).error();
        }
        --left;
        changed.notify_all();
      },
      question.draft);
  const std::stop_callback on_stop(stop, [&client] { client->drop_stopped(); });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == 0; });
  return failed ? Status(std::unexpected(*failed)) : Status{};
}

Status probe(Service& service, const place::ProbeQuestion& question, AnswerFrames& frames) {
  MYNAH_TRY(const Hearing hearing, service.hearing_of(question.digest));
  MYNAH_TRY_STATUS(check_here(hearing.name, hearing.lease->device()));
  if (hearing.lease->model == nullptr) {
    return fail(ErrorCode::Unsupported, "the model does not hear in windows");
  }
  MYNAH_TRY(const Probe made, or_device_error([&] { return hearing.lease->model->probe(); }));
  frames.send(made);
  return {};
}

}  // namespace

Handler windows_for_others(Service& service) {
  return [&service](Exchange& exchange) {
    const std::vector<std::byte> bytes = bytes_of(exchange);
    place::WindowsQuestion question;
    if (read_question(exchange, bytes, question)) {
      AnswerFrames frames(exchange);
      frames.answer(
          [&](const std::stop_token& stop) { return hear(service, question, frames, stop); });
    }
  };
}

Handler probe_for_others(Service& service) {
  return [&service](Exchange& exchange) {
    const std::vector<std::byte> bytes = bytes_of(exchange);
    place::ProbeQuestion question;
    if (read_question(exchange, bytes, question)) {
      AnswerFrames frames(exchange);
      frames.answer(
          [&](const std::stop_token& /*stop*/) { return probe(service, question, frames); });
    }
  };
}

}  // namespace mynah::server
