// Exposition: figures as Prometheus reads them (its text format, version 0.0.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mynah::server {

class Exposition {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  // The samples that follow are of this metric. `help`: one line. Counters end in "_total".
  void counter(std::string_view name, std::string_view help) { begin(name, "counter", help); }

  void gauge(std::string_view name, std::string_view help) { begin(name, "gauge", help); }

  void histogram(std::string_view name, std::string_view help) { begin(name, "histogram", help); }

  void sample(double value, const Labels& labels = {});
  // A sample of a histogram: `counts` are of values up to each bound, none counted twice, and the
  // last one of those above.
  void buckets(std::span<const double> bounds, std::span<const uint64_t> counts, double sum,
               const Labels& labels = {});

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void line(std::string_view suffix, const Labels& labels, double value);

  std::string name_;
  std::string text_;
};

}  // namespace mynah::server
