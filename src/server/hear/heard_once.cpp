#include "server/hear/heard_once.h"

#include <condition_variable>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "store/sha256.h"

namespace mynah::server {
namespace {

// What a request asks for, whoever of its owner sends it again. `model`: that hears. Io where the
// recording's bytes cannot be read; Cancelled.
Result<std::string> key_of(const RequestHead& head, const Body& body, const FormFile& file,
                           const std::string& model, const std::stop_token& stop) {
  Digest digest;
  const auto add = [&digest](std::string_view text) {
    digest.update(std::to_string(text.size()) + ":");
    digest.update(text);
  };
  // The end of its name may say what kind of file it is; Open WebUI makes up another name each
  // time.
  const std::string kind = std::filesystem::path(file.name).extension();
  for (const std::string& text : {head.owner, head.path, model, kind}) {
    add(text);
  }
  for (const auto* fields : {&head.query, &body.fields}) {
    add(std::to_string(fields->size()));
    for (const auto& [name, value] : *fields) {
      add(name);
      add(value);
    }
  }
  const auto add_piece = [&digest](std::string_view piece) { digest.update(piece); };
  MYNAH_TRY_STATUS(file.bytes.read(add_piece, stop));
  return digest.hex();
}

}  // namespace

// One recording that is heard, and who waits for it.
class HeardOnce::Flight {
 public:
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

  // False: everybody who waited has left, and nobody may wait any more.
  bool join() {
    const std::lock_guard lock(mutex_);
    if (abandoned_) {
      return false;
    }
    ++waiting_;
    return true;
  }

  // The last who leaves ends it.
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      if (--waiting_ > 0 || result_) {
        return;
      }
      abandoned_ = true;
    }
    stop_.request_stop();  // without the lock: what is asked to stop may be about to add a segment
  }

  void add(const Segment& segment) {
    const std::lock_guard lock(mutex_);
    segments_.push_back(segment);
    changed_.notify_all();
  }

  void end(const Result<Transcript>& result) {
    const std::lock_guard lock(mutex_);
    result_ = std::make_shared<const Result<Transcript>>(result);
    changed_.notify_all();
  }

  // Tells the observer all of it, as it comes. Seconds of the sound that it was told all of.
  double follow(RecognizerObserver& observer, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (size_t told = 0;;) {
      const bool came =
          changed_.wait(lock, stop, [&] { return told < segments_.size() || result_; });
      if (!came) {
        lock.unlock();
        observer.on_done(0, fail(ErrorCode::Cancelled, "stopped"));
        return 0;
      }
      if (told == segments_.size()) {
        const auto result = result_;
        lock.unlock();
        observer.on_done(0, *result);
        return *result ? (*result)->duration_s : 0;
      }
      const Segment segment = segments_[told++];
      lock.unlock();
      observer.on_segment(0, segment);
      lock.lock();
    }
  }

  [[nodiscard]] bool is_text() {
    const std::lock_guard lock(mutex_);
    return result_ && result_->has_value();
  }

  // Of what it keeps, roughly.
  [[nodiscard]] size_t bytes() {
    const std::lock_guard lock(mutex_);
    size_t sum = sizeof(Flight);
    for (const Segment& segment : segments_) {
      sum += sizeof(Segment) + segment.text.size() + segment.words.size() * (sizeof(Word) + 8) +
             segment.tokens.size() * 8;
    }
    return 2 * sum;  // the transcript has them too
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::stop_source stop_;
  int waiting_ = 0;
  bool abandoned_ = false;
  std::vector<Segment> segments_;
  std::shared_ptr<const Result<Transcript>> result_;
};

// Tells those who wait, and the one whose request it was.
class HeardOnce::ToAll final : public RecognizerObserver {
 public:
  ToAll(Flight& flight, RecognizerObserver& own) : flight_(flight), own_(own) {}

  void on_begun() override { own_.on_begun(); }

  void on_window(size_t job, size_t together) override { own_.on_window(job, together); }

  void on_segment(size_t job, const Segment& segment) override {
    flight_.add(segment);
    own_.on_segment(job, segment);
  }

  void on_progress(size_t job, double done_s, std::optional<double> duration_s) override {
    own_.on_progress(job, done_s, duration_s);
  }

  void on_done(size_t /*job*/, const Result<Transcript>& result) override { result_ = result; }

  [[nodiscard]] Result<Transcript> take() { return std::move(result_); }

 private:
  Flight& flight_;
  RecognizerObserver& own_;
  Result<Transcript> result_ = fail(ErrorCode::Cancelled, "nothing was heard");
};

HeardOnce::HeardOnce(Limits limits, std::function<Clock::time_point()> now)
    : limits_(limits), now_(std::move(now)) {}

HeardOnce::~HeardOnce() = default;

void HeardOnce::hear(const std::string& key, Hear hear, RecognizerObserver& observer,
                     const std::stop_token& stop, From& from) {
  std::shared_ptr<Flight> flight;
  std::list<Entry>::iterator own;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    forget();
    const auto known = by_key_.find(key);
    if (known != by_key_.end() && known->second->flight->join()) {
      flight = known->second->flight;
      from = known->second->is_over ? From::Kept : From::AnotherHears;
    } else {
      flight = std::make_shared<Flight>();
      flight->join();
      entries_.push_back({.key = key, .flight = flight});
      own = std::prev(entries_.end());
      by_key_[key] = own;  // in place of one that ends because nobody waits for it
      first = true;
      from = From::Heard;
    }
  }
  // Once, when this one leaves or is done.
  const auto leave = [&flight, left = std::make_shared<std::once_flag>()] {
    std::call_once(*left, [&] { flight->leave(); });
  };
  if (!first) {
    const auto work = RequestWork::here();
    if (work != nullptr) {
      work->begin();  // it waits for no model of its own
    }
    const double heard_s = flight->follow(observer, stop);
    if (work != nullptr) {
      work->spend(heard_s);
    }
    leave();
    return;
  }
  {
    const std::stop_callback on_stop(stop, leave);
    ToAll all(*flight, observer);
    hear(all, flight->stop());
    const Result<Transcript> result = all.take();
    flight->end(result);
    {
      const std::lock_guard lock(mutex_);
      own->is_over = true;
      own->ended = now_();
      own->bytes = flight->bytes();
      bytes_ += own->bytes;
      if (!flight->is_text()) {
        own->ended -= limits_.kept;  // an error is not kept
      }
      forget();
    }
    observer.on_done(0, stop.stop_requested()
                            ? Result<Transcript>(fail(ErrorCode::Cancelled, "stopped"))
                            : result);
  }
  leave();
}

void HeardOnce::forget() {
  const auto now = now_();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const bool old = now - entry->ended >= limits_.kept;
    if (!entry->is_over || (!old && bytes_ <= limits_.most_bytes)) {
      ++entry;
      continue;
    }
    bytes_ -= entry->bytes;
    const auto known = by_key_.find(entry->key);
    if (known != by_key_.end() && known->second == entry) {
      by_key_.erase(known);
    }
    entry = entries_.erase(entry);
  }
}

void hear_once(HeardOnce* once, const Exchange& exchange, const FormFile& file,
               const AudioOpenOptions& audio, const RecognizerOptions& options,
               const Hearing& hearing, RecognizerObserver& observer, HeardOnce::From& from) {
  if (once == nullptr) {
    from = HeardOnce::From::Heard;
    hear_file(file, audio, options, hearing, observer, exchange.stop());
    return;
  }
  const std::string name = fmt::format("{} from {}", hearing.name, audio.start_s);
  const auto key = key_of(exchange.head(), exchange.body(), file, name, exchange.stop());
  if (!key) {
    observer.on_done(0, std::unexpected(key.error()));
    return;
  }
  const auto hear = [&](RecognizerObserver& all, const std::stop_token& stop) {
    hear_file(file, audio, options, hearing, all, stop);
  };
  once->hear(*key, hear, observer, exchange.stop(), from);
}

Result<Transcript> hear_once(HeardOnce* once, const Exchange& exchange, const FormFile& file,
                             const AudioOpenOptions& audio, const RecognizerOptions& options,
                             const Hearing& hearing, HeardOnce::From& from) {
  WholeTranscript whole;
  hear_once(once, exchange, file, audio, options, hearing, whole, from);
  return whole.take();
}

void name_source(HeardOnce::From from, Response& response) {
  if (from != HeardOnce::From::Heard) {
    response.headers.set("X-Mynah-Shared", from == HeardOnce::From::Kept ? "kept" : "running");
  }
}

}  // namespace mynah::server
