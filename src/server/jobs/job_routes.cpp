#include "server/jobs/job_routes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "server/hear/hear_file.h"
#include "server/hear/transcription_request.h"
#include "server/http/errors.h"
#include "server/http/events.h"
#include "server/http/form.h"
#include "server/http/json_text.h"
#include "server/jobs/job_json.h"
#include "server/jobs/job_request.h"

namespace mynah::server {
namespace {

using jobs::Job;
using jobs::JobState;
using jobs::JobStore;
using JobJson = nlohmann::ordered_json;

constexpr std::array<Field, 2> kListFields = {
    {{.name = "limit",
      .type = FieldType::Whole,
      .help = "How many; 20 where nothing is said.",
      .least = 1,
      .most = 100},
     {.name = "after", .help = "The last id of the page before."}}};

constexpr std::array<Field, 1> kResultFields = {{{.name = "format",
                                                  .help = "None: as was asked for.",
                                                  .choices = "json text srt vtt verbose_json"}}};

// Besides those of a transcription.
constexpr std::array<Field, 2> kWebhookFields = {
    {{.name = "webhook", .help = "A URL that is told of a job's end."},
     {.name = "webhook_text", .type = FieldType::Flag, .help = "It is told the text too."}}};

constexpr std::array<Field, 1> kTaskFields = {
    {{.name = "task", .help = "transcribe.", .choices = "transcribe translate"}}};

constexpr std::array<Field, 1> kAsyncFields = {
    {{.name = "async",
      .type = FieldType::Flag,
      .help = "It is a job: 202 with its id, and its text is kept (right: jobs)."}}};

std::vector<Field> joined(FieldTable first, FieldTable second) {
  std::vector<Field> fields(first.begin(), first.end());
  fields.insert(fields.end(), second.begin(), second.end());
  return fields;
}

// Of a transcription that may be a job.
FieldTable hearing_fields() {
  static const std::vector<Field> all = joined(transcription_fields(), kWebhookFields);
  return all;
}

FieldTable creation_fields() {
  static const std::vector<Field> all = joined(hearing_fields(), kTaskFields);
  return all;
}

// What is answered that can be answered: an error of the store's, as OpenAI tells it.
void refuse(Exchange& exchange, const Error& error, const std::string& field = {}) {
  exchange.answer(openai_error(error, field));
}

Response job_answer(const Job& job) {
  Response response;
  response.body = json_text(job_json(job, WithText::Yes)) + "\n";
  return response;
}

// A job's request, as far as it can be known to be good before the recording is heard.
std::expected<jobs::JobRequest, FieldError> read_request(const JobService& jobs, Task task,
                                                         const FormFile& file,
                                                         const Exchange& exchange) {
  const auto wrong = [](std::string field, Error error) {
    return std::unexpected(FieldError{.field = std::move(field), .error = std::move(error)});
  };
  const Body& body = exchange.body();
  const auto transcription = parse_transcription(body, task);
  if (!transcription) {
    return std::unexpected(transcription.error());
  }
  if (transcription->stream) {
    return wrong("stream",
                 {ErrorCode::InvalidInput,
                  "stream: a job answers at once with its id, and GET /v1/jobs/ID/events has its "
                  "text as it is heard; wanted false"});
  }
  const auto form = FieldValues::of_form(creation_fields(), body.fields);
  if (!form) {
    return std::unexpected(form.error());
  }
  jobs::JobRequest request;
  request.owner = exchange.head().owner;
  request.webhook = form->text("webhook");
  request.webhook_text = form->flag("webhook_text", false);
  if (!request.webhook.empty()) {
    if (Status checked = jobs.webhook_rule().check(request.webhook); !checked) {
      return wrong("webhook", std::move(checked).error());
    }
  }
  const auto hearing = jobs.service().hearing(transcription->model);
  if (!hearing) {
    return wrong("model", hearing.error());
  }
  const Recognizer& recognizer = *hearing->lease->recognizer;
  if (Status checked = recognizer.check(transcription->options); !checked) {
    return wrong(refused_field(recognizer, transcription->options), std::move(checked).error());
  }
  request.parameters = job_parameters(task, name_of(file), body);
  return request;
}

void create_job(const JobService& jobs, Task task, Exchange& exchange) {
  const auto store = jobs.store();
  if (!store) {
    refuse(exchange, store.error());
    return;
  }
  const FormFile* const file = recording_of(exchange.body(), "file");
  if (file == nullptr) {
    refuse(exchange,
           {ErrorCode::InvalidInput, "file: wanted a recording, such as curl -F file=@talk.mp3"},
           "file");
    return;
  }
  const auto request = read_request(jobs, task, *file, exchange);
  if (!request) {
    refuse(exchange, request.error().error, request.error().field);
    return;
  }
  // What is no recording is told now, not when its turn comes.
  AudioOpenOptions audio;
  audio.media_program = jobs.media_program();
  audio.stop = exchange.stop();
  const auto length_s = length_of(*file, audio);
  const auto recording = file->bytes.open(name_of(*file));
  if (!length_s || !recording) {
    refuse(exchange, length_s ? recording.error() : length_s.error(), "file");
    return;
  }
  const auto job = (*store)->add(*request, *recording);
  if (!job) {
    refuse(exchange, job.error());
    return;
  }
  if (const auto work = RequestWork::here()) {
    work->spend(*length_s);  // whoever leaves it here may come back for its text alone
  }
  Response response = job_answer(*job);
  response.status = 202;
  response.headers.set("Location", "/v1/jobs/" + job->id);
  exchange.answer(std::move(response));
}

// Does something with the store, or says that there is none.
template <class Work>
auto with_store(JobService& jobs, Work work) {
  return [&jobs, work](Exchange& exchange) {
    const auto store = jobs.store();
    const Status done = store ? work(**store, exchange) : Status(std::unexpected(store.error()));
    if (!done) {
      refuse(exchange, done.error());
    }
  };
}

Status answer_list(JobStore& store, Exchange& exchange) {
  constexpr int kUsual = 20;
  const RequestHead& head = exchange.head();
  const auto query = FieldValues::of_form(kListFields, head.query);
  if (!query) {
    refuse(exchange, query.error().error, query.error().field);
    return {};
  }
  const int most = static_cast<int>(query->number("limit", kUsual));
  int64_t before = 0;
  if (const std::string after = query->text("after"); !after.empty()) {
    MYNAH_TRY(const Job last, store.find(head.owner, after));
    before = last.number;
  }
  // One more tells whether there is more.
  MYNAH_TRY(auto found, store.list(head.owner, before, most + 1));
  const bool more = found.size() > static_cast<size_t>(most);
  found.resize(std::min(found.size(), static_cast<size_t>(most)));
  JobJson list = {{"object", "list"}, {"data", JobJson::array()}, {"has_more", more}};
  for (const Job& job : found) {
    list["data"].push_back(job_json(job, WithText::No));
  }
  Response response;
  response.body = json_text(list) + "\n";
  exchange.answer(std::move(response));
  return {};
}

Status answer_job(JobStore& store, Exchange& exchange) {
  MYNAH_TRY(const Job job, store.find(exchange.head().owner, exchange.head().part));
  exchange.answer(job_answer(job));
  return {};
}

// What was asked for when the job was made.
TranscriptAnswer asked_answer(const Job& job) {
  const auto parameters = parse_job_parameters(job.request.parameters);
  const std::string asked =
      parameters ? FormValues(parameters->body.fields).text("response_format") : std::string();
  return parse_answer(asked).value_or(TranscriptAnswer::Json);
}

Status answer_result(JobStore& store, Exchange& exchange) {
  const RequestHead& head = exchange.head();
  MYNAH_TRY(const Job job, store.find(head.owner, head.part));
  if (job.state == JobState::Failed && job.error) {
    return std::unexpected(*job.error);
  }
  if (job.state != JobState::Done) {
    Response early = openai_error(
        {ErrorCode::InvalidInput, fmt::format("the job is {}: it has no result", name(job.state))},
        "", "no_result");
    early.status = 409;
    exchange.answer(std::move(early));
    return {};
  }
  const auto query = FieldValues::of_form(kResultFields, head.query);
  if (!query) {
    refuse(exchange, query.error().error, query.error().field);
    return {};
  }
  const auto format = parse_answer(query->text("format")).value_or(asked_answer(job));
  MYNAH_TRY(jobs::Rendition result, store.result(head.owner, head.part, name(format)));
  Response response;
  response.type = std::move(result.type);
  response.body = std::move(result.text);
  response.headers.set("X-Mynah-Model", job.model);
  response.headers.set("X-Mynah-Device", "stt=" + job.device);
  exchange.answer(std::move(response));
  return {};
}

// What a watcher has not been told yet of a job.
std::string news_of(const Job& job, std::string& told_text, double& told_s) {
  std::string news;
  const std::string& text = job.progress.text;
  if (!text.starts_with(told_text)) {
    news += event(json_text({{"type", "job.text.reset"}}));  // it is heard anew
    told_text.clear();
  }
  if (text.size() > told_text.size()) {
    news +=
        event(json_text({{"type", "job.text.delta"}, {"delta", text.substr(told_text.size())}}));
    told_text = text;
  }
  if (job.progress.heard_s != told_s) {
    told_s = job.progress.heard_s;
    JobJson progress = {{"type", "job.progress"}};
    progress.update(job_json(job, WithText::No)["progress"]);
    news += event(json_text(progress));
  }
  if (jobs::has_ended(job.state)) {
    JobJson end = {{"type", fmt::format("job.{}", name(job.state))}};
    end["job"] = job_json(job, WithText::Yes);
    news += event(json_text(end));
  }
  return news;
}

Status watch(const JobService& jobs, JobStore& store, Exchange& exchange) {
  constexpr std::chrono::hours kPatience{1};  // a change, a stop, and the server's end come before
  const RequestHead& head = exchange.head();
  MYNAH_TRY(Job job, store.find(head.owner, head.part));
  exchange.fill_with(event_stream(), [] { return std::string(": waiting\n\n"); }, true);
  exchange.begin(event_stream());
  std::string told_text;
  double told_s = 0;
  uint64_t seen = 0;
  while (true) {
    const std::string news = news_of(job, told_text, told_s);
    if (!exchange.write(news) || jobs::has_ended(job.state) || jobs.is_stopping()) {
      break;
    }
    seen = store.wait_for_change(job.id, seen, kPatience, exchange.stop());
    auto now = store.find(head.owner, head.part);
    if (!now) {  // it was removed meanwhile
      static_cast<void>(exchange.write(event(openai_error_text(now.error()))));
      break;
    }
    job = *std::move(now);
  }
  exchange.end();
  return {};
}

Status cancel(JobService& jobs, JobStore& store, Exchange& exchange) {
  MYNAH_TRY(const Job job, store.cancel(exchange.head().owner, exchange.head().part));
  jobs.let_go(job.id);
  exchange.answer(job_answer(job));
  return {};
}

Status remove(JobService& jobs, JobStore& store, Exchange& exchange) {
  const std::string& id = exchange.head().part;
  MYNAH_TRY_STATUS(store.remove(exchange.head().owner, id));
  jobs.let_go(id);
  Response response;
  response.body = json_text({{"id", id}, {"object", "job"}, {"deleted", true}}) + "\n";
  exchange.answer(std::move(response));
  return {};
}

}  // namespace

std::vector<Route> job_routes(JobService& jobs) {
  const auto watching = [&jobs](JobStore& store, Exchange& exchange) {
    return watch(jobs, store, exchange);
  };
  const auto cancelling = [&jobs](JobStore& store, Exchange& exchange) {
    return cancel(jobs, store, exchange);
  };
  const auto removing = [&jobs](JobStore& store, Exchange& exchange) {
    return remove(jobs, store, exchange);
  };
  return {
      {.method = "POST",
       .path = "/v1/jobs",
       .help = "Speech to text as a job: a recording is left here, and its text kept.",
       .handler =
           [&jobs](Exchange& exchange) {
             const std::string task = FormValues(exchange.body().fields).text("task");
             create_job(jobs, task == "translate" ? Task::Translate : Task::Transcribe, exchange);
           },
       .accepts = Accepts::Form,
       .rights = {Right::Jobs, Right::Hear},
       .fields = creation_fields()},
      {.method = "GET",
       .path = "/v1/jobs",
       .help = "The jobs of whoever asks, the newest first.",
       .handler = with_store(jobs, answer_list),
       .rights = {Right::Jobs},
       .fields = kListFields,
       .in_query = true},
      {.method = "GET",
       .path = "/v1/jobs/webhook-secret",
       .help = "What webhooks of whoever asks are signed with, for libraries that check them.",
       .handler =
           [&jobs](Exchange& exchange) {
             const auto store = jobs.store();
             if (!store) {
               refuse(exchange, store.error());
               return;
             }
             exchange.answer(
                 {.body =
                      json_text({{"secret", jobs.webhook_secret(exchange.head().owner)}}) + "\n"});
           },
       .rights = {Right::Jobs}},
      {.method = "GET",
       .path = "/v1/jobs/{id}/result",
       .help = "A job's text, in any format.",
       .handler = with_store(jobs, answer_result),
       .rights = {Right::Jobs},
       .fields = kResultFields,
       .in_query = true,
       .answers = "application/json text/plain text/vtt"},
      {.method = "GET",
       .path = "/v1/jobs/{id}/events",
       .help = "A job's progress and text as they come.",
       .handler = with_store(jobs, watching),
       .rights = {Right::Jobs},
       .answers = "text/event-stream"},
      {.method = "POST",
       .path = "/v1/jobs/{id}/cancel",
       .help = "Ends a job.",
       .handler = with_store(jobs, cancelling),
       .rights = {Right::Jobs}},
      {.method = "GET",
       .path = "/v1/jobs/{id}",
       .help = "A job's state, progress and text so far.",
       .handler = with_store(jobs, answer_job),
       .rights = {Right::Jobs}},
      {.method = "DELETE",
       .path = "/v1/jobs/{id}",
       .help = "Ends a job and removes all that is known of it.",
       .handler = with_store(jobs, removing),
       .rights = {Right::Jobs}}};
}

std::vector<Route> or_as_jobs(JobService& jobs, std::vector<Route> routes) {
  for (Route& route : routes) {
    const Task task = route.path.ends_with("translations") ? Task::Translate : Task::Transcribe;
    route.fields = hearing_fields();
    route.query = kAsyncFields;
    route.handler = [&jobs, task, otherwise = std::move(route.handler)](Exchange& exchange) {
      const auto query = FieldValues::of_form(kAsyncFields, exchange.head().query);
      if (!query) {
        refuse(exchange, query.error().error, query.error().field);
      } else if (!query->flag("async", false)) {
        otherwise(exchange);
      } else if (!exchange.head().rights.has(Right::Jobs)) {
        Response refused = openai_error({ErrorCode::InvalidInput, "the key has no right to jobs"});
        refused.status = 403;
        exchange.answer(std::move(refused));
      } else {
        create_job(jobs, task, exchange);
      }
    };
  }
  return routes;
}

}  // namespace mynah::server
