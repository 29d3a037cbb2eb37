// HeardOnce: the same recording, asked for again, is heard once: by those who ask while it is
// heard, and for a while after. Bazarr sends whole films three times, and libraries send again what
// took long.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/thread_pool.h"
#include "server/hear/hear_file.h"
#include "server/http/exchange.h"
#include "speech/recognizer.h"

namespace mynah::server {

// Thread-safe. Texts are kept in memory alone.
class HeardOnce {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    Clock::duration kept = std::chrono::minutes(10);  // behind its end
    size_t most_bytes = size_t{32} << 20;             // of all that is kept, roughly
  };

  HeardOnce() : HeardOnce(Limits()) {}

  explicit HeardOnce(Limits limits, std::function<Clock::time_point()> now = Clock::now);
  HeardOnce(const HeardOnce&) = delete;
  HeardOnce& operator=(const HeardOnce&) = delete;
  ~HeardOnce();

  // Where a text comes from.
  enum class From : uint8_t { Heard, AnotherHears, Kept };

  // Hears from this thread.
  using Hear = FunctionRef<void(RecognizerObserver& observer, const std::stop_token& stop)>;

  // What `key` stands for: told to the observer from the first segment on, as it is heard. `hear`
  // is called where nobody hears that yet, and then goes on as long as one of those who wait for it
  // has not left, this one or another. `from` is set before anything is told. Errors are for those
  // who waited, and are not kept.
  void hear(const std::string& key, Hear hear, RecognizerObserver& observer,
            const std::stop_token& stop, From& from);

 private:
  class Flight;
  class ToAll;

  struct Entry {
    std::string key;
    std::shared_ptr<Flight> flight;
    Clock::time_point ended{};  // of one that is kept
    size_t bytes = 0;
    bool is_over = false;
  };

  // Lets go of what is too old, and of the oldest where it is too much.
  void forget();

  const Limits limits_;
  const std::function<Clock::time_point()> now_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the oldest first
  std::map<std::string, std::list<Entry>::iterator> by_key_;
  size_t bytes_ = 0;
};

// Hears a request's recording as hear_file() does, from this thread, once for all requests of its
// owner that are the same: path, fields, and the recording's bytes. Null: for each of them.
void hear_once(HeardOnce* once, const Exchange& exchange, const FormFile& file,
               const AudioOpenOptions& audio, const RecognizerOptions& options,
               const Hearing& hearing, RecognizerObserver& observer, HeardOnce::From& from);

// The same, for the text as a whole.
[[nodiscard]] Result<Transcript> hear_once(HeardOnce* once, const Exchange& exchange,
                                           const FormFile& file, const AudioOpenOptions& audio,
                                           const RecognizerOptions& options, const Hearing& hearing,
                                           HeardOnce::From& from);

// What handlers that hear share.
struct HearingParts {
  Service* service;
  std::shared_ptr<HeardOnce> once;  // null: nothing is shared
  std::string media_program;        // mynah-media; "": beside this program
};

// Says so where a text was not heard for this request.
void name_source(HeardOnce::From from, Response& response);

}  // namespace mynah::server
