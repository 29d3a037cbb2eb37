#include "server/metrics/metrics.h"

#include <utility>

namespace mynah::server {

void Metrics::count_request(const std::string& route, const Served& served) {
  const std::string known = route.empty() ? "none" : route;
  const std::lock_guard lock(mutex_);
  ++requests_[{known, served.status}];
  request_s_[known] += std::chrono::duration<double>(served.took).count();
  left_ += served.left ? 1 : 0;
  bytes_in_ += served.received;
  bytes_out_ += served.bytes;
}

void Metrics::count_heard(double audio_s, double took_s) {
  const std::lock_guard lock(mutex_);
  heard_.audio_s += audio_s;
  heard_.took_s += took_s;
}

void Metrics::count_spoken(double audio_s, double took_s) {
  const std::lock_guard lock(mutex_);
  spoken_.audio_s += audio_s;
  spoken_.took_s += took_s;
}

void Metrics::count_written(const Tokens& tokens) {
  const std::lock_guard lock(mutex_);
  tokens_.prompt += tokens.prompt;
  tokens_.cached += tokens.cached;
  tokens_.written += tokens.written;
}

void Metrics::count_embedded(int64_t tokens) {
  const std::lock_guard lock(mutex_);
  embedded_tokens_ += tokens;
}

void Metrics::count_window(size_t together) {
  const std::lock_guard lock(mutex_);
  batches_.add(static_cast<double>(together));
}

void Metrics::count_waited(RequestWork::Does does, double waited_s) {
  const std::lock_guard lock(mutex_);
  switch (does) {
    case RequestWork::Does::Speak:
      spoken_waits_.add(waited_s);
      break;
    case RequestWork::Does::Write:
      written_waits_.add(waited_s);
      break;
    case RequestWork::Does::Embed:
      embedded_waits_.add(waited_s);
      break;
    case RequestWork::Does::Hear:
    case RequestWork::Does::Other:
      heard_waits_.add(waited_s);
      break;
  }
}

void Metrics::count_first_sound(double took_s) {
  const std::lock_guard lock(mutex_);
  first_sounds_.add(took_s);
}

void Metrics::count_first_word(double took_s) {
  const std::lock_guard lock(mutex_);
  first_words_.add(took_s);
}

void Metrics::watch(std::function<void(Exposition& to)> tell) {
  const std::lock_guard lock(mutex_);
  watched_.push_back(std::move(tell));
}

void Metrics::tell(Exposition& to) const {
  tell_counted(to);
  std::vector<std::function<void(Exposition&)>> watched;
  {
    const std::lock_guard lock(mutex_);
    watched = watched_;
  }
  // Without the lock: the network's thread counts what is over.
  for (const auto& tell_more : watched) {
    tell_more(to);
  }
}

void Metrics::tell_counted(Exposition& to) const {
  const std::lock_guard lock(mutex_);
  to.counter("mynah_requests_total", "Requests that are over, by the route's path and status.");
  for (const auto& [what, count] : requests_) {
    to.sample(static_cast<double>(count),
              {{"route", what.first}, {"status", std::to_string(what.second)}});
  }
  to.counter("mynah_request_seconds_total", "Time that requests took, from their first byte.");
  for (const auto& [route, seconds] : request_s_) {
    to.sample(seconds, {{"route", route}});
  }
  to.counter("mynah_requests_left_total", "Requests whose client left before their end.");
  to.sample(static_cast<double>(left_));
  to.counter("mynah_body_bytes_total", "Bytes of bodies that were received and sent.");
  to.sample(static_cast<double>(bytes_in_), {{"direction", "in"}});
  to.sample(static_cast<double>(bytes_out_), {{"direction", "out"}});
  to.counter("mynah_audio_seconds_total", "Seconds of sound that were heard and spoken.");
  to.sample(heard_.audio_s, {{"task", "hear"}});
  to.sample(spoken_.audio_s, {{"task", "speak"}});
  to.counter("mynah_audio_work_seconds_total",
             "Time that requests took to hear and to speak, their waiting left out.");
  to.sample(heard_.took_s, {{"task", "hear"}});
  to.sample(spoken_.took_s, {{"task", "speak"}});
  to.gauge("mynah_real_time_factor", "Time that a second of sound took since the start.");
  for (const auto& [task, sound] : {std::pair("hear", heard_), std::pair("speak", spoken_)}) {
    if (sound.audio_s > 0) {
      to.sample(sound.took_s / sound.audio_s, {{"task", task}});
    }
  }
  to.histogram("mynah_wait_seconds", "From a request's arrival until a model computed for it.");
  heard_waits_.tell(to, {{"task", "hear"}});
  spoken_waits_.tell(to, {{"task", "speak"}});
  written_waits_.tell(to, {{"task", "write"}});
  embedded_waits_.tell(to, {{"task", "embed"}});
  to.histogram("mynah_batch_windows", "How many windows were heard together, for each window.");
  batches_.tell(to);
  to.histogram("mynah_first_sound_seconds",
               "From a request's arrival to the first byte of its speech.");
  first_sounds_.tell(to);
  to.counter("mynah_tokens_total",
             "Tokens of prompts, of those what was kept from before, tokens that were "
             "written, and those that vectors were made of.");
  to.sample(static_cast<double>(tokens_.prompt), {{"kind", "prompt"}});
  to.sample(static_cast<double>(tokens_.cached), {{"kind", "cached"}});
  to.sample(static_cast<double>(tokens_.written), {{"kind", "written"}});
  to.sample(static_cast<double>(embedded_tokens_), {{"kind", "embedded"}});
  to.histogram("mynah_first_word_seconds",
               "From a request's arrival to the first word of its reply.");
  first_words_.tell(to);
}

}  // namespace mynah::server
