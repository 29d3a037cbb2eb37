// Metrics: what a server has done since it began, counted as it does it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/http/front.h"
#include "server/metrics/histogram.h"

namespace mynah::server {

// Thread-safe. What clients send is never a label: their number is bounded.
class Metrics {
 public:
  // A request is over. `route`: the table's path; "": it had none.
  void count_request(const std::string& route, const Served& served);

  // So many seconds of sound were heard, or spoken, in so many seconds.
  void count_heard(double audio_s, double took_s);
  void count_spoken(double audio_s, double took_s);

  // Tokens of a text that was written.
  struct Tokens {
    int64_t prompt = 0;
    int64_t cached = 0;  // of the prompt, that were not read again
    int64_t written = 0;
  };

  void count_written(const Tokens& tokens);

  // Tokens that vectors were made of.
  void count_embedded(int64_t tokens);

  // A window was heard, so many together with it.
  void count_window(size_t together);

  // A request waited so long until a model computed for it.
  void count_waited(RequestWork::Does does, double waited_s);

  // The first byte of speech was sent so long after its request had arrived.
  void count_first_sound(double took_s);

  // The first word of a reply came so long after its request had arrived.
  void count_first_word(double took_s);

  // More that is told when somebody looks, from his thread, which may wait for it; as long as this
  // lives.
  void watch(std::function<void(Exposition& to)> tell);

  void tell(Exposition& to) const;

 private:
  void tell_counted(Exposition& to) const;

  // What was done with sound of one kind.
  struct Sound {
    double audio_s = 0;
    double took_s = 0;
  };

  static constexpr std::array kWaits_s = {0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0,
                                          2.5,   5.0,  10.0, 30., 60.0, 300.};
  static constexpr std::array kFirstSound_s = {0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 5.0};
  static constexpr std::array kBatches = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;  // by route and status
  std::map<std::string, double> request_s_;                   // by route
  uint64_t left_ = 0;
  uint64_t bytes_in_ = 0;
  uint64_t bytes_out_ = 0;
  Sound heard_;
  Sound spoken_;
  Tokens tokens_;
  int64_t embedded_tokens_ = 0;
  Histogram<kWaits_s.size()> heard_waits_{kWaits_s};
  Histogram<kWaits_s.size()> spoken_waits_{kWaits_s};
  Histogram<kWaits_s.size()> written_waits_{kWaits_s};
  Histogram<kWaits_s.size()> embedded_waits_{kWaits_s};
  Histogram<kBatches.size()> batches_{kBatches};
  Histogram<kFirstSound_s.size()> first_sounds_{kFirstSound_s};
  Histogram<kFirstSound_s.size()> first_words_{kFirstSound_s};
  std::vector<std::function<void(Exposition&)>> watched_;
};

}  // namespace mynah::server
